"""What pickles of the fuzzers call when they are loaded. A trap notes that it was sprung; the others misbehave."""

from __future__ import annotations

import sys
from typing import Any

SPRUNG: list[str] = []


def spring(what: str = "trap") -> str:
    """Whoever unpickles this ran code from a file."""
    SPRUNG.append(what)
    return what


def leave(code: object) -> None:
    sys.exit(code)  # type: ignore[arg-type]


def complain(kind: type[BaseException], text: str) -> None:
    raise kind(text)


class Call:
    """Pickled, it is a call of a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.function, self.arguments


class Pretender:
    """Has the methods of a model, and nothing behind them."""

    classes_ = ("rejected", "approved")
    n_features_in_ = 7

    def __init__(self, fault: type[BaseException] | None = None, text: str = "") -> None:
        self.fault, self.text = fault, text

    def predict(self, rows: Any) -> Any:
        if self.fault is not None:
            raise self.fault(self.text)
        return ["approved"] * len(rows)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.__dict__.get("text", "")
