"""The outcome of a model over two columns: cell by cell for trees, on a grid for all others."""

from __future__ import annotations

import numpy as np

from elbowroom.errors import InputError
from elbowroom.models import Model, TreeEnsemble
from elbowroom.numerics import Floats, Ints
from elbowroom.problem.kinds import Kind
from elbowroom.result.plane import Plane
from elbowroom.result.region import Region
from elbowroom.visible import listed

GRID = 161  # points per side where no exact cells are known
MOST_CELLS = 200_000  # more are not drawn one by one
MARGIN = 0.5  # beyond region and value now, in widths of what is between them


def outcome_plane(model: Model, region: Region, first: str, second: str) -> Plane:
    """Everything but the two columns is at the centre of the region."""
    f, g = (_column(region, name) for name in (first, second))
    if f == g:
        raise InputError(f"map({first!r}, {second!r}): give two different columns")
    limits = _limits(region, f), _limits(region, g)
    edges, exact = _edges(model, (f, g), limits)
    firsts, seconds = (_inside(each, exact) for each in edges)
    X = np.tile(region.body.center, (firsts.size * seconds.size, 1))
    X[:, f], X[:, g] = np.tile(firsts, seconds.size), np.repeat(seconds, firsts.size)
    outcomes, cells = _outcomes(model, region, X)
    return Plane(region, (f, g), edges, outcomes, cells.reshape(seconds.size, firsts.size), exact)


def _column(region: Region, name: str) -> int:
    """A column of numbers that the row has."""
    space = region.space
    numbers = [
        feature.name
        for feature, g in zip(space.features, space.group_of, strict=True)
        if g < 0 and feature.kind is not Kind.BINARY and feature.name not in region.missing
    ]
    if name not in numbers:
        raise InputError(f"map: {name!r} is no column of numbers that this row has; choose two of {listed(numbers)}")
    return int(space.position[name])


def _limits(region: Region, f: int) -> tuple[float, float]:
    """Region and value now with a margin, within the bounds of the column."""
    body, space = region.body, region.space
    scale = float(space.scale[f])
    low, high = max(body.lower[f], body.center[f] - 2.0 * scale), min(body.upper[f], body.center[f] + 2.0 * scale)
    known = [float(low), float(high)]
    if space.names[f] not in region.filled:
        known.append(float(region.factual_values[f]))
    pad = MARGIN * (max(known) - min(known)) or scale
    ends = max(min(known) - pad, float(space.lower[f])), min(max(known) + pad, float(space.upper[f]))
    return ends if ends[0] < ends[1] else (min(known) - pad, max(known) + pad)


def _edges(
    model: Model, columns: tuple[int, int], limits: tuple[tuple[float, float], tuple[float, float]]
) -> tuple[tuple[Floats, Floats], bool]:
    if isinstance(model, TreeEnsemble):
        inner = [model.cuts[f] for f in columns]
        inner = [cuts[(low <= cuts) & (cuts < high)] for cuts, (low, high) in zip(inner, limits, strict=True)]
        if (inner[0].size + 1) * (inner[1].size + 1) <= MOST_CELLS:
            one, two = (np.array([low, *cuts, high]) for cuts, (low, high) in zip(inner, limits, strict=True))
            return (one, two), True
    one, two = (_around(np.linspace(low, high, GRID)) for low, high in limits)
    return (one, two), False


def _around(points: Floats) -> Floats:
    half = (points[1:] + points[:-1]) / 2.0
    return np.array([points[0], *half, points[-1]])


def _inside(edges: Floats, exact: bool) -> Floats:
    """One point of each cell: its upper edge, which belongs to it; for a grid, the point that the cell stands for."""
    return edges[1:] if exact else np.linspace(edges[0], edges[-1], edges.size - 1)


def _outcomes(model: Model, region: Region, X: Floats) -> tuple[tuple[object, ...], Ints]:
    said = model.info.says(model.scores(X))
    target = region.target
    if target.each:
        return (False, True), np.array([target.is_met(label) for label in said], dtype=np.int64)
    if target.values is not None:
        low = -np.inf if target.at_least is None else target.at_least
        high = np.inf if target.at_most is None else target.at_most
        values = np.array(said, dtype=np.float64)
        return (False, True), ((low <= values) & (values <= high)).astype(np.int64)
    names = list(model.info.classes)
    place = {label: i for i, label in enumerate(names)}
    return tuple(names), np.array([place[label] for label in said], dtype=np.int64)
