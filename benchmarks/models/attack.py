"""Attacks on a region through the original's own predict, on rows of the newcomer's own table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.support.hostile import hostile_points

from benchmarks.models.case import Given
from benchmarks.models.frames import gaps_of, rows_like
from elbowroom import Region

BATCH = 10_000
SAMPLED = 200


@dataclass(frozen=True)
class Attacked:
    points: int
    wrong: int
    first: str = ""  # the first wrong row in words
    fault: str = ""  # what else is not as it should be


def attack(given: Given, region: Region, cuts: Any, points: int, row: Any = None, seed: int = 0) -> Attacked:
    """Ask ``points`` rows of the region in large batches, some of them again in sevens and alone."""
    inner = _members(region, cuts, points, seed)
    gaps, odd_gaps = gaps_of(region, row)
    asked, wrong, first = 0, 0, ""
    fault: str | None = odd_gaps
    for start in range(0, len(inner), BATCH):
        rows = rows_like(region.space, inner[start : start + BATCH], given.X, gaps)
        bad = ~given.is_good(given.outputs(rows))
        asked, wrong = asked + len(rows), wrong + int(bad.sum())
        if bad.any() and not first:
            first = _shown(rows, int(np.flatnonzero(bad)[0]), given)
        fault = fault or (given.check(region, rows) if given.check else None)
    for batch, many in ((7, 140), (1, 20)):
        some = inner[:: max(1, len(inner) // many)][:many]
        rows = rows_like(region.space, some, given.X, gaps)
        for start in range(0, len(some), batch):
            part = rows[start : start + batch]
            bad = ~given.is_good(given.outputs(part))
            asked, wrong = asked + len(part), wrong + int(bad.sum())
            if bad.any() and not first:
                first = f"in a batch of {batch}: {_shown(part, int(np.flatnonzero(bad)[0]), given)}"
    sampled, bad_samples, odd = _samples(given, region, gaps)
    first = first or odd if bad_samples else first
    return Attacked(asked + sampled, wrong + bad_samples, first, fault or ("" if bad_samples else odd))


def _members(region: Region, cuts: Any, points: int, seed: int) -> np.ndarray:
    """Hostile points first (a random choice of them if there are too many), then random members."""
    hostile = hostile_points(region.body, cuts, seed)
    rng = np.random.default_rng(seed)
    most = max(1, 3 * points // 4)
    if len(hostile) > most:
        hostile = hostile[np.sort(rng.choice(len(hostile), most, replace=False))]
    return np.concatenate([hostile, region.body.sample(points - len(hostile), seed + 1)])


def _samples(given: Given, region: Region, gaps: tuple[str, ...]) -> tuple[int, int, str]:
    """What a newcomer does first: predict what ``region.sample`` returns."""
    try:
        return _sampled(given, region, gaps)
    except Exception as error:  # the points that were asked before this still count
        return 0, 0, f"predict(region.sample({SAMPLED})) raises {type(error).__name__}: {error}"


def _sampled(given: Given, region: Region, gaps: tuple[str, ...]) -> tuple[int, int, str]:
    sample = region.sample(SAMPLED)
    rows = sample if hasattr(given.X, "columns") else sample.to_numpy().copy()
    if hasattr(given.X, "columns") and list(map(str, sample.columns)) == list(map(str, given.X.columns)):
        rows = sample.set_axis(given.X.columns, axis=1)
    bad = ~given.is_good(given.outputs(rows))
    if bad.any():
        return SAMPLED, int(bad.sum()), f"of region.sample: {_shown(rows, int(np.flatnonzero(bad)[0]), given)}"
    filled = [name for name in gaps if not sample[name].isna().all()]
    if filled:
        return SAMPLED, 0, f"region.sample fills in {filled}, which the row lacks"
    if not region.contains(sample).all():
        return SAMPLED, 0, "region.contains denies a row of region.sample"
    return SAMPLED, 0, ""


def _shown(rows: Any, i: int, given: Given) -> str:
    row = rows.iloc[i].to_dict() if hasattr(rows, "iloc") else rows[i].tolist()
    return f"{row!r} gets {given.outputs(rows[i : i + 1])[0]!r}"
