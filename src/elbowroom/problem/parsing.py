"""What users hand in, checked once: numbers, names, lists, mappings and columns, with errors that name the cure."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from enum import Enum
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.visible import listed

E = TypeVar("E", bound=Enum)
Radius: TypeAlias = "float | Mapping[str, float] | Sequence[float] | Floats"  # one for all columns, or one each


def parse_enum(enum: type[E], value: E | str, what: str) -> E:
    if isinstance(value, enum):
        return value
    try:
        return enum(value)
    except ValueError:
        raise InputError(f"{what}={value!r} is unknown; use one of {[e.value for e in enum]}") from None


ENCODE: Final = "encode categories as 0/1 columns first"
PLAIN_NUMBER: Final = "give a plain number, for example 0.05"


def number(value: object, what: str, cure: str = ENCODE) -> float:
    if isinstance(value, (bool, np.bool_, int, float, np.integer, np.floating)):
        try:
            return float(value)
        except OverflowError:
            raise InputError(f"{what}: a number with {len(str(value))} digits is beyond float64") from None
    raise InputError(f"{what}: {value!r} is not a number; {cure}")


def plain_number(value: object, what: str, cure: str = PLAIN_NUMBER) -> float:
    """A number that is not a truth value: what stands for a size or a share."""
    if isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what}={value!r}: a truth value is not a number; {cure}")
    return number(value, what, cure)


def unknown(name: object, known: Sequence[str]) -> str:
    import difflib

    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"unknown column {name!r}" + (
        f"; did you mean {close[0]!r}?" if close else f"; the columns are {listed(known)}"
    )


def is_list(given: object) -> bool:
    """Something to iterate over, but neither a string nor a single number wrapped in an array."""
    single = isinstance(given, (str, bytes)) or (isinstance(given, np.ndarray) and given.ndim == 0)
    return isinstance(given, Iterable) and not single


def is_sequence(given: object) -> bool:
    """A list in which order counts and every entry is itself: neither a mapping nor a set."""
    return is_list(given) and not isinstance(given, (Mapping, Set))


def by_position(row: Mapping[int, object], what: str) -> list[object]:
    """Values under whole-number keys, for columns that have other names: 0, 1, ... are positions in any order; other
    keys carry no position, so they must at least be in order."""
    keys = [int(k) for k in row]
    if sorted(keys) == list(range(len(keys))):
        return [row[k] for k in range(len(keys))]
    if keys != sorted(keys):
        raise InputError(f"{what}: the labels {keys[:8]} are neither column names nor positions; name the values")
    return list(row.values())


def by_name(given: object, known: Sequence[str], what: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise InputError(f"{what}={given!r}: give a mapping from column name to value")
    known_names(given, known, what)
    return {str(name): value for name, value in given.items()}


def known_names(given: Iterable[str], known: Sequence[str], what: str) -> set[str]:
    if not is_list(given):
        raise InputError(f"{what}={given!r}: give a list of column names")
    names = {str(g) for g in given}
    for name in sorted(names):
        if name not in known:
            raise InputError(f"{what}: {unknown(name, known)}")
    return names


def check_run(seed: object, on_progress: object) -> None:
    """What every search takes besides its question."""
    if on_progress is not None and not callable(on_progress):
        raise InputError(f"on_progress={on_progress!r} must be a function of one Step (or, for explain, True)")
    check_seed(seed)


def check_seed(seed: object) -> None:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"seed={seed!r} must be a whole number of at least 0")


def parse_jobs(n_jobs: object) -> int:
    """How many processes or threads; negative numbers count from all cores."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise InputError(f"n_jobs={n_jobs!r} must be a whole number: 1, 2, ..., or -1 for all cores")
    return int(n_jobs)


def parse_threads(n_jobs: object) -> int:
    """`parse_jobs`, with all cores counted."""
    jobs = parse_jobs(n_jobs)
    return jobs if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs)


def seconds_of(time_limit: object) -> float:
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float, np.integer, np.floating)):
        raise InputError(f"time_limit={time_limit!r} must be a number of seconds")
    if time_limit != time_limit or time_limit < 0:  # a whole number may be too large for math.isnan
        raise InputError(f"time_limit={time_limit!r} must be a number of seconds of at least 0")
    return number(time_limit, "time_limit")


def parse_bool(value: object, what: str) -> bool:
    """A yes or a no; anything else that Python could read as one is a mistake."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what}={value!r} must be True or False")
    return bool(value)
