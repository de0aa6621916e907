"""What a user calls the classes of a model: 0 is 'malignant'. Names are for reading; questions and files keep labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Final

from elbowroom.errors import InputError
from elbowroom.models.base import ModelInfo, class_index
from elbowroom.visible import listed

EXAMPLE: Final = 'labels={0: "rejected", 1: "approved"}'


@dataclass(frozen=True)
class ClassNames:
    """Pairs of a class and its name; classes without one are called by their label."""

    pairs: tuple[tuple[Hashable, str], ...] = ()

    @classmethod
    def parse(cls, given: object, info: ModelInfo) -> ClassNames:
        """Checked against the classes of a model: each is one of them, and no two are called the same."""
        if given is None:
            return NO_NAMES
        if not isinstance(given, Mapping):
            raise InputError(f"labels={given!r}: give a mapping from class to name, for example {EXAMPLE}")
        return cls.of([*given.items()], info)

    @classmethod
    def of(cls, pairs: list[tuple[object, object]], info: ModelInfo) -> ClassNames:
        if info.is_regressor and pairs:
            raise InputError(f"labels: {info.source} is a regressor, whose values have no names; leave labels out")
        found: dict[int, str] = {}
        for label, name in pairs:
            place = class_index(info, label)
            if place is None:
                raise InputError(
                    f"labels: {label!r} is not a class of the model; the classes are {listed(info.classes)}"
                )
            if not isinstance(name, str) or not name.strip():
                raise InputError(f"labels[{label!r}] = {name!r}: the name of a class is text, for example {EXAMPLE}")
            if place in found:
                raise InputError(f"labels: the class {info.classes[place]!r} is named twice")
            found[place] = str(name)
        called = [found.get(i, str(label)) for i, label in enumerate(info.classes)]
        twice = sorted({name for name in found.values() if called.count(name) > 1})
        if twice:
            raise InputError(f"labels: two classes are called {twice[0]!r}; give each a name of its own")
        return cls(tuple((info.classes[i], name) for i, name in sorted(found.items())))

    def __call__(self, label: object) -> object:
        """What a class is called: its name, or else its label."""
        for known, name in self.pairs:
            if type(known) is type(label) and known == label:
                return name
        return label

    def __bool__(self) -> bool:
        return bool(self.pairs)


NO_NAMES: Final = ClassNames()
