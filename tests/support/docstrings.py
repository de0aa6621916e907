"""What a docstring of a public name lacks.

The rules, for every name of `elbowroom.__all__`:

* a class says under ``Args:`` (what a user builds) or ``Attributes:`` (what a user receives) what each parameter or member
  means, and shows an example with ``>>>`` under ``Examples:``;
* a function does so under ``Args:`` and says under ``Returns:`` what comes back;
* each public method of a class follows the rules of functions, an example apart; each property has words of its own. What
  a base class says of a method counts for those that override it;
* examples run (`tests/unit/test_docstrings.py`), with the names of the first block of docs/reference.md at hand.

Members that a class has from pandas, an enumeration or an exception are not looked at.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

SECTION = re.compile(r"^(Args|Attributes|Returns|Examples):[ \t]*\n", re.MULTILINE)
RECEIVED = ("self", "cls")


def missing(thing: object, name: str) -> list[str]:
    """Everything that the words of a public name do not say, as lines that name the cure."""
    if isinstance(thing, ModuleType):
        inside = [(f"{name}.{part}", getattr(thing, part)) for part in thing.__all__]
        return [] if inspect.getdoc(thing) is None else [line for part, f in inside for line in missing(f, part)]
    if not inspect.isclass(thing):
        return [*_of_function(thing, name, inspect.getdoc(thing) or ""), *_of_example(thing, name)]
    members = [line for member, value in _members(thing) for line in _of_member(thing, member, value, name)]
    return [*_of_class(thing, name), *_of_example(thing, name), *members]


def sections(words: str) -> dict[str, str]:
    """The text under each heading of a docstring."""
    parts, found = SECTION.split(words), dict[str, str]()
    for heading, text in zip(parts[1::2], parts[2::2], strict=True):
        found[heading] = found.get(heading, "") + _indented(text)
    return found


def _indented(text: str) -> str:
    """As far as the section reaches: to the first line at the margin."""
    return re.split(r"^(?=\S)", text, maxsplit=1, flags=re.MULTILINE)[0]


def _named(words: str, *headings: str) -> set[str]:
    found = sections(words)
    return {
        name for heading in headings for name in re.findall(r"^ {4}\**(\w+):", found.get(heading, ""), re.MULTILINE)
    }


def _of_class(kind: type[Any], name: str) -> list[str]:
    words = inspect.cleandoc(kind.__doc__ or "")
    if not words or words.startswith(f"{kind.__name__}("):  # what a dataclass says by itself
        return [f"{name}: a docstring"]
    said = _named(words, "Args", "Attributes")
    return [f"{name}: '{part}: ...' under Args or Attributes" for part in _parts(kind) if part not in said]


def _parts(kind: type[Any]) -> list[str]:
    """What has to be explained of a class itself."""
    if issubclass(kind, enum.Enum):
        return list(kind.__members__)
    if issubclass(kind, Exception):
        return []
    if is_dataclass(kind) or (kind.__init__.__module__ or "").startswith("elbowroom."):
        return [p for p in inspect.signature(kind).parameters if not p.startswith("_")]
    return []


def _members(kind: type[Any]) -> Iterator[tuple[str, object]]:
    """The public methods and properties that elbowroom itself gives a class."""
    for member in sorted(
        {name for base in kind.__mro__ if base.__module__.startswith("elbowroom.") for name in vars(base)}
    ):
        value = inspect.getattr_static(kind, member)
        if not member.startswith("_") and isinstance(
            value, property | cached_property | classmethod | staticmethod | type(_members)
        ):
            yield member, value if isinstance(value, property | cached_property) else getattr(kind, member)


def _of_member(kind: type[Any], member: str, value: object, name: str) -> list[str]:
    said = [getattr(vars(base).get(member), "__doc__", None) or "" for base in kind.__mro__]
    words = "\n\n".join(inspect.cleandoc(text) for text in said if text)
    if isinstance(value, property | cached_property):
        return [] if words else [f"{name}.{member}: a docstring"]
    return _of_function(value, f"{name}.{member}", words)


def _of_function(function: Any, name: str, words: str) -> list[str]:
    if not words:
        return [f"{name}: a docstring"]
    signature = inspect.signature(function)
    said = _named(words, "Args")
    found = [f"{name}: '{p}: ...' under Args" for p in signature.parameters if p not in (*RECEIVED, *said)]
    if signature.return_annotation not in (None, "None") and not sections(words).get("Returns", "").strip():
        found.append(f"{name}: Returns")
    return found


def _of_example(thing: object, name: str) -> list[str]:
    shown = sections(inspect.cleandoc(getattr(thing, "__doc__", None) or "")).get("Examples", "")
    return [] if ">>>" in shown else [f"{name}: an example (>>> ...) under Examples"]
