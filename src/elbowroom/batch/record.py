"""What is kept of one row: its answer as exact JSON, or the error that it met; and the same as one row of a flat table."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from elbowroom.errors import ElbowroomError
from elbowroom.problem.space import Space
from elbowroom.result import NoRegion, Region
from elbowroom.result.schema import read_answer, write_answer
from elbowroom.result.standing import Standing
from elbowroom.visible import visible

if TYPE_CHECKING:
    from elbowroom.batch.question import BatchQuestion
    from elbowroom.explainer import Explainer

ERROR: Final = "ERROR"  # in the column of statuses: the row could not be asked
NOT_ASKED: Final = "NOT_ASKED"  # the batch ended before it
INTERRUPTED: Final = "interrupted"  # the method of an answer whose search was stopped by Ctrl-C
LOST: Final = -1.0  # the limit of a row that was lost with its process: a later run asks it again
AT_ONCE: Final = 4096  # lines that become columns together
SHORT: Final = 60  # characters
PARTS: Final = ("center", "low", "high", "has_to_change")


@dataclass(frozen=True)
class Record:
    """One row of a batch: the place of its row in the table, and either an answer or an error."""

    position: int
    status: str
    seconds: float
    answer: str | None = None  # JSON, exact
    error: str | None = None
    limit: float = math.inf  # the seconds that it had: an answer that is not proven may be asked again with more
    line: str | None = None  # its row of the flat table, as JSON: written where it was asked

    @property
    def is_final(self) -> bool:
        """True if more time would not change it."""
        return self.status in ("OPTIMAL", "NONE_EXISTS", ERROR)

    def read(self) -> Region | NoRegion | None:
        return None if self.answer is None else read_answer(self.answer)


def ask(explainer: Explainer, question: BatchQuestion, position: int, row: pd.DataFrame) -> Record:
    """Ask about one row. Whatever goes wrong with it is its error, and nobody else's; only Ctrl-C ends the batch."""
    start = time.perf_counter()
    try:
        answer = question.ask(explainer, as_series(row))
        if answer.method == INTERRUPTED:
            raise KeyboardInterrupt
        text = write_answer(answer, compact=True)
        line = json.dumps(flat(explainer.space, answer))
    except ElbowroomError as error:
        return failed(position, str(error), time.perf_counter() - start, question.time_limit)
    except Exception as fault:
        said = f"{type(fault).__name__}: {fault}"
        return failed(position, said, time.perf_counter() - start, question.time_limit)
    return Record(position, answer.status.name, answer.seconds, text, None, question.time_limit, line)


def as_series(row: pd.DataFrame) -> pd.Series:
    """A frame of one row as a Series, every value as its column has it: read once, where `explain` looks several times."""
    return pd.Series(next(row.itertuples(index=False, name=None)), row.columns, object, row.index[0])


def failed(position: int, error: str, seconds: float = 0.0, limit: float = math.inf) -> Record:
    """A row that met an error."""
    return Record(position, ERROR, seconds, error=visible(error), limit=limit)


# ---- the flat table -------------------------------------------------------------------------------------------------
def batch_columns(space: Space) -> dict[str, str]:
    """The columns of the flat table and their types, the same for every batch about this space."""
    columns = {
        "status": "str",
        "distance": "float64",
        "lower_bound": "float64",
        "gap": "float64",
        "changes": "Int64",
    }
    numbers = set(space.position)
    for name in space.columns:
        kind = "float64" if name in numbers else "str"
        columns |= {f"{name}__{part}": kind for part in PARTS[:3]}
        columns[f"{name}__{PARTS[3]}"] = "boolean"
    return columns | {"sentence": "str", "seconds": "float64", "error": "str"}


def flat(space: Space, answer: Region | NoRegion) -> dict[str, Any]:
    """What an answer contributes to its row of the flat table."""
    line: dict[str, Any] = {"lower_bound": answer.lower_bound, "sentence": answer.sentence()}
    if not isinstance(answer, Region):
        return line
    has_to = has_to_change(answer)
    line |= {"distance": answer.distance, "gap": answer.gap, "changes": int(has_to.sum())}
    numbers = set(space.position)
    for name, must in zip(space.columns, has_to, strict=True):
        plain = _number if name in numbers else _words
        line |= {
            f"{name}__center": plain(answer.center[name]),
            f"{name}__low": plain(answer.lower[name]),
            f"{name}__high": plain(answer.upper[name]),
            f"{name}__has_to_change": bool(must),
        }
    return line


def line_of(record: Record | None) -> dict[str, Any]:
    """One row of the flat table, without the columns that have no value; None: it was not asked."""
    if record is None:
        return {"status": NOT_ASKED}
    line: dict[str, Any] = {} if record.line is None else json.loads(record.line)
    return line | {"status": record.status, "seconds": record.seconds, "error": record.error}


def has_to_change(region: Region) -> np.ndarray:
    """Which columns of the user's table lie outside the region now."""
    asked = region.standings.by_table(region.space)
    return np.array([standing is Standing.HAS_TO_CHANGE for standing in asked], dtype=np.bool_)


def _number(value: Any) -> float:
    return float(value)


def _words(value: Any) -> str | None:
    """A category, or several, as text."""
    if isinstance(value, tuple):
        return " | ".join(str(part) for part in value)
    return None if value is None or value != value else str(value)


def table_of(lines: Iterable[dict[str, Any]], space: Space, index: pd.Index) -> pd.DataFrame:
    """Lines as a frame of the fixed schema; text columns hold plain Python text or None. They become columns a few
    thousand at a time: as dictionaries, those of a large batch would take many times the memory of the table."""
    columns, words = batch_columns(space), Words()
    waiting = iter(lines)
    parts = []
    for start in range(0, max(1, len(index)), AT_ONCE):
        some, names = list(islice(waiting, AT_ONCE)), index[start : start + AT_ONCE]
        made = [
            pd.Series([words(line.get(name)) for line in some], names, object if kind == "str" else kind, name)
            for name, kind in columns.items()
        ]
        parts.append(pd.concat(made, axis=1))
    return parts[0] if len(parts) == 1 else pd.concat(parts).set_axis(index)


class Words(dict[str, str]):
    """Equal texts are the same object: most columns of text repeat a few categories."""

    def __call__(self, value: Any) -> Any:
        return self.setdefault(value, value) if type(value) is str and len(value) < SHORT else value


def schema_of(space: Space) -> pd.DataFrame:
    """An empty table with the columns and types of every batch about this space."""
    return table_of([], space, pd.RangeIndex(0))
