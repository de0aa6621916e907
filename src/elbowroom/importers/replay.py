"""The copy against the original: nothing is proven from a parsed model that disagrees with ``predict``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.errors import ReplayMismatch
from elbowroom.importers.original import Original
from elbowroom.importers.replay_points import Range, boundary_rows, cut_rows, data_rows, row_budget
from elbowroom.models.base import Link, Model
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.margins import AffineMargins, NetworkMargins, TreeMargins, margins_of
from elbowroom.models.network import ReluNetwork
from elbowroom.models.trees import TreeEnsemble
from elbowroom.numerics import TINY, Bools, Floats, Ints, gamma

_FLOAT32_LIMIT = 3e38  # originals that cast to float32 refuse larger numbers
_SHOWN_COLUMNS = 20


@dataclass(frozen=True)
class ReplayReport:
    """How many rows were compared, on how many the copy leaves the label open because scores tie within rounding."""

    points: int
    open_points: int


def replay(
    parsed: Model, original: Original, *, data: object = None, seed: int = 0, limit: int = 20_000
) -> ReplayReport:
    """Compare labels (and scores, where the original shows them) on up to ``limit`` rows; raise `ReplayMismatch`.

    A tree ensemble must agree on every row. A linear model or network must agree on every row whose margin exceeds the
    declared rounding error; on the others no region will ever be certified.
    """
    X = _points(parsed, original, data, seed, limit)
    if not len(X):
        return ReplayReport(0, 0)
    scores = parsed.scores(X)
    ours, theirs = parsed.info.labels_of(scores), original.class_indices(X)
    _compare_scores(parsed, original, X, scores)
    wrong = np.flatnonzero(ours != theirs)
    open_points = 0
    if wrong.size and not isinstance(parsed, TreeEnsemble):
        certain = _certain(parsed, X[wrong], ours[wrong])
        open_points = int((~certain & (theirs[wrong] >= 0)).sum())
        wrong = wrong[certain | (theirs[wrong] < 0)]
    if wrong.size:
        row = int(wrong[0])
        known = theirs[row] >= 0
        label = parsed.info.classes[theirs[row]] if known else original.predict(X[row : row + 1])[0]
        raise ReplayMismatch(
            f"{parsed.info.source}: on {wrong.size} of {len(X)} rows the parsed copy and the original disagree. At "
            f"{_describe(parsed, X[row])} the original says {label!r}, the copy {parsed.info.classes[ours[row]]!r}"
        )
    return ReplayReport(len(X), open_points)


def _points(parsed: Model, original: Original, data: object, seed: int, limit: int) -> Floats:
    rng = np.random.default_rng(seed)
    rows = data_rows(data, parsed.info.names)
    usual = Range.of(parsed, original.front, rows)
    budget = row_budget(limit, parsed.info.n_features)
    parts = [usual.rows(budget // 10, rng), usual.wild_rows(budget // 10, rng)]
    if rows is not None and len(rows):
        parts.append(rows[rng.permutation(len(rows))[: budget // 10]])
    left = budget - sum(len(part) for part in parts)
    if isinstance(parsed, TreeEnsemble):
        parts.append(cut_rows(parsed, usual, left, rng))
    else:
        parts.append(boundary_rows(parsed, np.concatenate(parts), left, rng))
    X = np.concatenate(parts) + 0.0
    X = X[np.isfinite(X).all(axis=1)]
    return X[(np.abs(original.front.apply(X)) <= _FLOAT32_LIMIT).all(axis=1)]


def _compare_scores(parsed: Model, original: Original, X: Floats, scores: Floats) -> None:
    """Scores are compared within the error that any order of summation may cause; a wrong leaf shows far beyond it."""
    ask = original.predict_proba if parsed.info.link is Link.IDENTITY else original.decision_function
    if ask is None:
        return
    theirs = ask(X).reshape(len(X), -1)
    if theirs.shape != scores.shape:
        raise ReplayMismatch(
            f"{parsed.info.source}: the original gives {theirs.shape[1]} scores, the copy {scores.shape[1]}"
        )
    match parsed:
        case TreeEnsemble():
            allowed = _tree_error(parsed)
        case LinearModel():
            allowed = 2 * _affine_error(parsed.affine, np.abs(X)) + TINY
        case ReluNetwork():
            return
    off = np.abs(theirs - scores)
    wrong = np.flatnonzero(~(off <= allowed).all(axis=1))  # NaN counts as wrong
    if wrong.size:
        row = int(wrong[0])
        raise ReplayMismatch(
            f"{parsed.info.source}: on {wrong.size} of {len(X)} rows the scores differ by more than rounding. At "
            f"{_describe(parsed, X[row])} the original gives {theirs[row].tolist()}, the copy {scores[row].tolist()}"
        )


def _tree_error(model: TreeEnsemble) -> Floats:
    total = np.abs(model.base) + np.maximum.reduceat(np.abs(model.value), model.roots).sum(axis=0)
    return np.asarray(2 * gamma(model.n_trees + 8) * total / model.divisor)


def _affine_error(affine: Affine, magnitude: Floats) -> Floats:
    """`Affine.error`, row by row."""
    slack = 1.0 + gamma(magnitude.shape[1] + 4)
    return np.asarray((magnitude @ affine.error_slope.T + affine.error_constant) * slack)


def _certain(model: LinearModel | ReluNetwork, X: Floats, label: Ints) -> Bools:
    """True where the margins of the copy's own label exceed all declared errors: the original must say the same."""
    certain = np.zeros(len(X), dtype=np.bool_)
    for target in np.unique(label):
        rows = label == target
        certain[rows] = _holds(margins_of(model, int(target)), X[rows])
    return certain


def _holds(margins: AffineMargins | NetworkMargins | TreeMargins, X: Floats) -> Bools:
    match margins:
        case AffineMargins():
            layers: tuple[Affine, ...] = (margins.affine,)
        case NetworkMargins():
            layers = margins.layers
        case TreeMargins():
            raise TypeError("trees are compared without any tolerance")
    value, error = X, np.zeros_like(X)
    for i, layer in enumerate(layers):
        if i:
            value = np.maximum(value, 0.0)  # the ReLU enlarges no error
        # the original's rounding and ours, each within the layer's own bound for inputs up to |value| + error
        error = error @ np.abs(layer.weight).T + 2 * _affine_error(layer, np.abs(value) + error)
        value = layer(value)
    return np.asarray((value >= error + margins.slack).all(axis=1))


def _describe(model: Model, row: Floats) -> str:
    shown = [f"{name}={float(x)!r}" for name, x in zip(model.info.names, row, strict=True)][:_SHOWN_COLUMNS]
    more = len(row) - len(shown)
    return "(" + ", ".join(shown) + (f", and {more} more columns)" if more else ")")
