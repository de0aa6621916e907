"""How an answer came about: which model was asked, and with what one would have to ask again to get the same answer."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elbowroom.numerics import TOLERANCES
from elbowroom.problem.reader import Reader, number_out
from elbowroom.result.status import Status

Day = datetime.date | str | None  # of a page; None: today
LARGEST_TOLERANCE = max(TOLERANCES.optimal_gap, TOLERANCES.continuous_gap)


@dataclass(frozen=True)
class Origin:
    """``tolerance`` is the relative gap up to which the search calls its answer OPTIMAL; ``model_file`` the SHA-256 of
    the file that the model was read from, where it came from one."""

    fingerprint: str  # of the parsed model: SHA-256 of everything in it that decides a label
    seed: int
    time_limit: float
    tolerance: float
    versions: Mapping[
        str, str
    ]  # of elbowroom, Python, numpy, scipy, numba, highspy and the libraries that the model comes from
    model_file: str | None = None
    members: tuple[str, ...] = ()  # of several models at once: the fingerprint of each


def origin_out(origin: Origin | None) -> dict[str, Any] | None:
    if origin is None:
        return None
    return {
        **({"members": list(origin.members)} if origin.members else {}),
        "fingerprint": origin.fingerprint,
        "model_file": origin.model_file,
        "seed": origin.seed,
        "time_limit": number_out(origin.time_limit),
        "tolerance": number_out(origin.tolerance),
        "versions": dict(origin.versions),
    }


def origin_in(entry: Reader | None) -> Origin | None:
    """None where a file knows nothing of it: those of version 1, and those of version 2 before the field existed."""
    if entry is None:
        return None
    model_file, versions, limit = entry.at("model_file"), entry.at("versions"), entry.at("time_limit")
    if limit.number(infinite=True) < 0.0:
        raise limit.wrong("a number of seconds of at least 0")
    if not 0.0 <= entry.at("tolerance").number() <= LARGEST_TOLERANCE:
        raise entry.at("tolerance").wrong(f"between 0 and {LARGEST_TOLERANCE:g}, the largest that any search has")
    return Origin(
        entry.at("fingerprint").digest(),
        entry.at("seed").whole(low=0),
        limit.number(infinite=True),
        entry.at("tolerance").number(),
        {name: versions.at(name).text() for name in versions.mapping()},
        None if model_file.value is None else model_file.digest(),
        tuple(each.digest() for each in entry.at("members").items()) if "members" in entry.mapping() else (),
    )


def is_closed(distance: float, lower_bound: float, tolerance: float) -> bool:
    """The two bounds are as close as the search promises: then its answer is called OPTIMAL."""
    return distance - lower_bound <= tolerance * distance


def check_bounds(top: Reader, status: Status, distance: float, lower_bound: float, origin: Origin | None) -> None:
    """Refuse bounds that no search can have found: a bound below 0 or above the distance of a region that is there, a
    status that does not follow from them. Nothing is proven by this, least of all that the bound is true."""
    if not 0.0 <= lower_bound <= distance:
        raise top.at("lower_bound").wrong(f"between 0 and the distance {distance!r}, not {lower_bound!r}")
    gap = (distance - lower_bound) / distance if distance > 0.0 else 0.0
    if origin is None:
        if status is Status.OPTIMAL and not is_closed(distance, lower_bound, LARGEST_TOLERANCE):
            raise top.at("status").wrong(f"CERTIFIED, not OPTIMAL: the gap {gap:.3g} is more than any search allows")
        return
    follows = Status.OPTIMAL if is_closed(distance, lower_bound, origin.tolerance) else Status.CERTIFIED
    if status is not follows:
        raise top.at("status").wrong(
            f"{follows.name}, not {status.name}: the gap is {gap:.3g} and the tolerance {origin.tolerance:g}"
        )


def check_no_bounds(top: Reader, status: Status, lower_bound: float) -> None:
    """Without a region the bound is infinite exactly if none exists."""
    if not lower_bound >= 0.0:
        raise top.at("lower_bound").wrong(f"at least 0, not {lower_bound!r}")
    follows = Status.NONE_EXISTS if lower_bound == float("inf") else Status.UNKNOWN
    if status is not follows:
        raise top.at("status").wrong(f"{follows.name}, not {status.name}: the lower bound is {lower_bound!r}")
