"""Asks every subject until enough rows were compared, and keeps what other environments found."""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import record
from benchmarks.replay.subjects import LIBRARIES, Library, Subject
from elbowroom.errors import ReplayMismatch
from elbowroom.importers import ReadModel, open_model
from elbowroom.importers.replay import _certain, _points
from elbowroom.importers.replay_points import neighbours
from elbowroom.models import TreeEnsemble

POINTS = 200_000
CHUNK = 20_000
PARTS = ("on_cuts", "missing", "unseen")


def run_replay(families: list[str] | None = None, points: int = POINTS) -> dict[str, Any]:
    """One record per library, version and model; those of other versions that are stored already stay."""
    found: list[dict[str, Any]] = []
    beside = f"Python {platform.python_version()}, numpy {np.__version__}, commit {record.commit()[:10]}"
    for name, library in LIBRARIES.items():
        release = _release(library)
        if (families and name not in families) or release is None:
            continue
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            for entry in _library(library, points):
                found.append({"library": name, "version": release, "beside": beside, **entry})
                print(_line(found[-1]), flush=True)
    new = {(entry["library"], entry["version"]) for entry in found}
    kept = [entry for entry in _stored() if (entry["library"], entry["version"]) not in new]
    entries = sorted([*kept, *found], key=lambda e: (list(LIBRARIES).index(e["library"]), _order(e["version"])))
    table = summary(entries)
    for line in table:
        print(_line(line))
    failures = [f"{e['library']} {e['version']}: {e['name']}: {e['fault']}" for e in entries if e["fault"]]
    return {"table": table, "failures": failures, "instances": entries}


def summary(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A line per library and version."""
    keys = list(dict.fromkeys((e["library"], e["version"]) for e in entries))
    table = []
    for library, release in keys:
        own = [e for e in entries if (e["library"], e["version"]) == (library, release)]
        counted = {name: sum(e[name] for e in own) for name in ("points", *PARTS, "open", "mismatches")}
        table.append({"library": library, "version": release, "beside": own[0]["beside"], "cases": len(own), "least_points": min(e["points"] for e in own), **counted})  # fmt: skip
    return table


def _library(library: Library, points: int) -> Iterator[dict[str, Any]]:
    for subject in library.subjects():
        yield {"name": subject.name, **_compared(subject, points)}


def _compared(subject: Subject, points: int) -> dict[str, Any]:
    """Rows of the replay, and, in turn, rows on what the library itself stores. Scores are compared first, when the model
    is opened, labels on every row."""
    count = dict.fromkeys(("points", *PARTS, "open", "mismatches"), 0)
    try:
        opened = open_model(subject.model, known=subject.known, data=subject.data)
    except ReplayMismatch as error:
        return {**count, "mismatches": 1, "fault": str(error)}
    seed = 0
    while count["points"] < points:
        if subject.stored is not None and seed % 2:
            rows = subject.stored(opened, CHUNK, seed)
        else:
            rows = _points(opened.model, opened.original, subject.data, seed, CHUNK)
        _add(count, opened, subject, rows)
        seed += 1
    fault = f"{count['mismatches']} labels differ" if count["mismatches"] else ""
    return {**count, "fault": fault}


def _add(count: dict[str, int], opened: ReadModel, subject: Subject, rows: np.ndarray) -> None:
    """Compare labels; where only rounding settles a tie, either label will do, and the row counts as open."""
    parsed, inputs = opened.model, opened.original.inputs
    scores = parsed.scores(rows)
    ours, theirs = parsed.info.labels_of(scores), opened.original.class_indices(rows, parsed.info.classes)
    differ = np.flatnonzero(ours != theirs)
    certain = _certain(parsed, rows[differ], scores[differ], ours[differ]) if differ.size else differ.astype(bool)
    certain |= theirs[differ] < 0
    count["points"] += len(rows)
    count["mismatches"] += int(certain.sum())
    count["open"] += int((~certain).sum())
    count["missing"] += int(np.isnan(rows).any(axis=1).sum())
    if isinstance(parsed, TreeEnsemble):
        near = [np.unique(neighbours(cuts[np.isfinite(cuts)])) for cuts in parsed.cuts]
        count["on_cuts"] += int(np.any([np.isin(rows[:, f], near[f]) for f in range(len(near))], axis=0).sum())
    strange = np.zeros(len(rows), dtype=bool)
    for v, column in enumerate(inputs.columns):
        places = [
            i for i, label in zip(inputs.members(v), column.categories or (), strict=False) if label in subject.unseen
        ]
        strange |= (rows[:, places] == 1.0).any(axis=1)
    count["unseen"] += int(strange.sum())


def _release(library: Library) -> str | None:
    for name in library.distributions:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None


def _order(release: str) -> list[int]:
    return [int(part) for part in release.partition("+")[0].split(".") if part.isdigit()]


def _stored() -> list[dict[str, Any]]:
    path = record.RESULTS / "replay.json"
    found: list[dict[str, Any]] = json.loads(path.read_text())["instances"] if path.exists() else []
    return found


def _line(entry: dict[str, Any]) -> str:
    return "  ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in entry.values())
