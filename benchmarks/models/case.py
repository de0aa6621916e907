"""One case of the table: what is brought, how it is asked, and what is expected.

A builder fits the model and returns `Given`; nothing is imported or fitted before a case is run. A case that needs a
library that is not installed is skipped with that reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib.util import find_spec
from typing import Any

import numpy as np

from elbowroom import Box

Judge = Callable[[Any], Any]
SMALL_ROOM = Box(0.02)  # of most cases: two hundredths of each feature's range


class Expected(Enum):
    WORKS = "works"
    REFUSED = "refused"
    EITHER = "works or refused with a cure"


@dataclass(frozen=True, eq=False)
class Given:
    """What the newcomer holds, and the call that is natural for it.

    ``space``: None asks ``Explainer(model, X)``; a mapping asks ``Explainer(model, Space.from_frame(X, **space))``;
    "none" asks ``Explainer(model)``. ``judge`` is the original's own label or number for rows like X; ``good`` says
    which of them were wanted (by default those equal to ``wanted``). ``check`` looks at every attacked frame for what
    no label can tell, such as two categories at once, and returns the fault in words.
    """

    model: Any
    X: Any
    wanted: Any = 1
    space: Mapping[str, Any] | str | None = None
    room: Any = SMALL_ROOM
    target: Any = None
    judge: Judge | None = None
    good: Callable[[np.ndarray], np.ndarray] | None = None
    row: Any = None
    rules: tuple[Any, ...] = ()
    distance: str = "l1"
    check: Callable[[Any, Any], str | None] | None = None

    def outputs(self, rows: Any) -> np.ndarray:
        told = self.model.predict(rows) if self.judge is None else self.judge(rows)
        return np.asarray(told).reshape(len(rows), -1)[:, 0]

    def is_good(self, outputs: np.ndarray) -> np.ndarray:
        return np.asarray(outputs == self.wanted if self.good is None else self.good(outputs), dtype=bool)


@dataclass(frozen=True, eq=False)
class Case:
    family: str
    name: str
    build: Callable[[], Given]
    expected: Expected = Expected.WORKS
    words: tuple[str, ...] = ()  # of a good refusal; each entry holds alternatives, "tree|forest"
    warns: tuple[str, ...] = ()  # of the warning without which the answer is a trap
    needs: tuple[str, ...] = field(default=())

    @property
    def absent(self) -> str | None:
        missing = [name for name in self.needs if find_spec(name) is None]
        return f"{', '.join(missing)} not installed" if missing else None

    def lacks(self, message: str, words: tuple[str, ...] | None = None) -> list[str]:
        """The needed words that a message does not hold."""
        text = message.partition("Supported:")[0].lower()  # a list of all that can be read is no cure
        wanted = self.words if words is None else words
        return [entry for entry in wanted if not any(word.lower() in text for word in entry.split("|"))]


@dataclass(frozen=True)
class Family:
    """Makes the cases of one family: ``family(name, builder)`` works, ``family.refuses`` and ``family.either`` do not
    have to, but must then say the words."""

    name: str
    needs: tuple[str, ...] = ()

    def __call__(self, name: str, build: Callable[[], Given], needs: tuple[str, ...] = ()) -> Case:
        return Case(self.name, name, build, needs=self.needs + needs)

    def traps(self, name: str, build: Callable[[], Given], *warns: str) -> Case:
        """Answered or refused: either way not in silence."""
        return Case(self.name, name, build, Expected.EITHER, warns, warns, self.needs)

    def refuses(self, name: str, build: Callable[[], Given], *words: str, needs: tuple[str, ...] = ()) -> Case:
        return Case(self.name, name, build, Expected.REFUSED, words, needs=self.needs + needs)

    def either(self, name: str, build: Callable[[], Given], *words: str, needs: tuple[str, ...] = ()) -> Case:
        return Case(self.name, name, build, Expected.EITHER, words, needs=self.needs + needs)
