"""A region for a group of rows, in words and for notebooks."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from markupsafe import escape

from elbowroom.present.few import in_words
from elbowroom.present.numbers import about, interval, percent_up
from elbowroom.present.outcomes import joined, promise, quoted
from elbowroom.problem.shapes import is_round
from elbowroom.problem.tables import RawColumn
from elbowroom.result.common import CommonRegion
from elbowroom.result.region import Region
from elbowroom.result.status import Status
from elbowroom.visible import named, visible


def intervals_for(answer: CommonRegion) -> pd.DataFrame:
    """Ends and centre of each column, and how many rows lie outside."""
    region = answer.region
    if region is None:
        return pd.DataFrame(columns=["feature", "low", "center", "high", "outside"])
    table = region.intervals
    kept = ["feature", "low", "center", "high", *(["categories"] if "categories" in table else [])]
    return table[kept].assign(outside=[_outside(answer, region, column) for column in region.space.raw])


def _outside(answer: CommonRegion, region: Region, column: RawColumn) -> int:
    """Of how many rows the value lies beyond what the region allows there."""
    body, rows = region.body, region.space.inner(answer.rows)
    columns = range(column.start, column.stop)
    beyond = [(rows[:, f] < body.lower[f]) | (rows[:, f] > body.upper[f]) for f in columns]
    return int(np.any(beyond, axis=0).sum())


def common_sentence(answer: CommonRegion) -> str:
    """Wherever these 4 rows come to income between 50 and 54 (3 of them are elsewhere), ..., the model predicts 'yes'."""
    rows = f"{in_words(len(answer.rows))} {'row' if len(answer.rows) == 1 else 'rows'}"
    region = answer.region
    if region is None:
        proven = answer.status is Status.NONE_EXISTS
        how = "exists, and this is proven" if proven else "was found"
        return f"No common region for {rows} {how}: {visible(answer.reason)}."
    said = promise(answer.target, answer.labels, region.certificate.keepers)
    parts = _parts(answer, region)
    if not parts:
        return f"All of {rows} are in the region already: {said} throughout it."
    shape = region.body.shape
    inside = f", all within the {shape.value} of the table"
    within = inside if is_round(shape) else ", and to the ranges of the table in everything else"
    return f"Whichever of {rows} comes to {joined(parts)}{within}: there {said}."


def _parts(answer: CommonRegion, region: Region) -> list[str]:
    """Glucose between 107 and 110 (4 of them lie elsewhere)."""
    found = []
    for column, entry in zip(region.space.raw, answer.intervals.to_dict("records"), strict=True):
        if not entry["outside"]:
            continue
        if column.group is not None and entry.get("categories"):
            where = joined([quoted(label) for label in entry["categories"]], "or")
        else:
            where = _range(region, column.start)
        found.append(
            f"{named(str(entry['feature']))} {where} ({entry['outside']} are elsewhere)".replace("(1 are", "(1 is")
        )
    return found


def _range(region: Region, f: int) -> str:
    """Between 107 and 110 units."""
    body, feature = region.body, region.space.features[f]
    whole = bool(body.whole[f])
    shown = interval(float(body.lower[f]), float(body.center[f]), float(body.upper[f]), whole, feature.decimals)
    unit = f" {named(feature.unit)}" if feature.unit else ""
    if is_round(body.shape):
        return f"about {shown.center}{unit}"
    return f"{shown.low}{unit}" if shown.low == shown.high else f"between {shown.low} and {shown.high}{unit}"


def common_standing(answer: CommonRegion) -> str:
    """How far the rows have to move, and what is proven about closer regions."""
    if answer.region is None:
        return (
            ""
            if math.isinf(answer.lower_bound)
            else f"None is closer on average than {about(answer.lower_bound, 4)}: proven."
        )
    ends = f"{about(float(answer.distances.min()), 4)} to {about(float(answer.distances.max()), 4)}"
    distance = f"Mean distance {about(answer.distance, 4)} ({ends}; l1)"
    if answer.status is Status.OPTIMAL:
        return f"{distance}; no common region of this size is closer on average: proven."
    return f"{distance}; a closer one may exist, by at most {percent_up(answer.gap)}."


def common_text(answer: CommonRegion) -> str:
    """What ``print(answer)`` shows."""
    return "\n".join(filter(None, [common_sentence(answer), common_standing(answer)]))


def common_fragment(answer: CommonRegion) -> str:
    """For notebooks."""
    words = "".join(f"<p>{escape(line)}</p>" for line in common_text(answer).splitlines())
    return words if answer.region is None else words + answer.intervals.to_html(index=False, border=0)
