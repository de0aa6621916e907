"""The copy against the original: nothing is proven from a parsed model that disagrees with ``predict``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, softmax

from elbowroom.errors import ReplayMismatch
from elbowroom.importers.original import Original
from elbowroom.importers.replay_errors import network_error, off_hyperplanes, tree_error
from elbowroom.importers.replay_points import Range, boundary_rows, cut_rows, data_rows, missing_rows, row_budget
from elbowroom.models.base import Link, Model
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.margins import linear_margins, network_margins, tree_margins
from elbowroom.models.missing import may_miss
from elbowroom.models.network import ReluNetwork
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.models.trees import TreeEnsemble
from elbowroom.models.values import value_error, values_of
from elbowroom.numerics import EPS, TINY, Bools, Floats, Ints

_FLOAT32_LIMIT = 3e38  # originals that cast to float32 refuse larger numbers
_SHOWN_COLUMNS = 20
_MANY = 2_000_000  # pairs of row and tree: beyond this, rows are fewer and sharper
_CLOSE_CALLS = 500
_LEAST_ROWS = 3_000


@dataclass(frozen=True)
class ReplayReport:
    """How many rows were compared, on how many the copy leaves the label open because scores tie within rounding."""

    points: int
    open_points: int


def replay(
    parsed: Model, original: Original, *, data: object = None, seed: int = 0, limit: int = 20_000
) -> ReplayReport:
    """Compare labels (and scores, where the original shows them) on up to ``limit`` rows; raise `ReplayMismatch`. Of a
    regressor, values are compared, within the declared error.

    A tree ensemble must agree on every row, except where only the rounding of a sum or of its own decision settles a tie. A
    linear model or network must agree on every row whose margin exceeds the declared rounding error. On the other rows
    no region will ever be certified.
    """
    X = _points(parsed, original, data, seed, limit)
    if not len(X):
        return ReplayReport(0, 0)
    if parsed.info.is_regressor:
        _compare_values(parsed, original, X)
        return ReplayReport(len(X), 0)
    scores = parsed.scores(X)
    shown = _compare_scores(parsed, original, X, scores)
    count = len(X)
    if shown and isinstance(parsed, TreeEnsemble) and count * parsed.n_trees > _MANY:
        asked = _closest_calls(parsed, scores, seed)  # where scores agree, labels are asked for where they may not
        X, scores = X[asked], scores[asked]
    ours, theirs = parsed.info.labels_of(scores), original.class_indices(X, parsed.info.classes)
    wrong = np.flatnonzero(ours != theirs)
    open_points = 0
    if wrong.size:
        certain = _certain(parsed, X[wrong], scores[wrong], ours[wrong])
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
    return ReplayReport(count, open_points)


def _closest_calls(parsed: TreeEnsemble, scores: Floats, seed: int) -> Ints:
    """Rows whose two best scores are closest, and as many others."""
    if scores.shape[1] > 1:
        best = np.sort(scores, axis=1)
        lead = best[:, -1] - best[:, -2]
    else:
        lead = np.abs(scores[:, 0] - parsed.info.threshold)
    near = np.argsort(lead, kind="stable")[:_CLOSE_CALLS]
    others = np.random.default_rng(seed).permutation(len(scores))[:_CLOSE_CALLS]
    return np.unique(np.concatenate([near, others]))


def _points(parsed: Model, original: Original, data: object, seed: int, limit: int) -> Floats:
    rng = np.random.default_rng(seed)
    inputs = original.inputs
    rows = data_rows(data, inputs)
    usual = Range.of(parsed, original.preprocessing, rows)
    budget = row_budget(limit, parsed.info.n_features)
    large = isinstance(parsed, TreeEnsemble) and budget * parsed.n_trees > _MANY
    if large and isinstance(parsed, TreeEnsemble):
        budget = min(budget, max(_LEAST_ROWS, _MANY // parsed.n_trees))
    parts = [inputs.settled(usual.rows(budget // 10, rng)), inputs.settled(usual.wild_rows(budget // 10, rng))]
    if rows is not None and len(rows):
        parts.append(rows[rng.permutation(len(rows))[: budget // 10]])
    lacking = may_miss(parsed)
    missing = budget // 6 if lacking.any() else 0
    left = budget - missing - sum(len(part) for part in parts)
    if isinstance(parsed, TreeEnsemble):
        parts.append(inputs.settled(cut_rows(parsed, usual, left, rng, inputs.groups, sharp=large)))
    else:
        parts.append(boundary_rows(parsed, np.concatenate(parts), left, rng, inputs.groups))
    X = np.concatenate(parts) + 0.0
    low, high = original.preprocessing.domain
    X = X[(np.isfinite(X) & (X >= low) & (X <= high)).all(axis=1)]
    X = X[(np.abs(np.nan_to_num(original.preprocessing.apply(X))) <= _FLOAT32_LIMIT).all(axis=1)]
    if missing:
        X = np.concatenate([X, missing_rows(X[rng.permutation(len(X))[:missing]], lacking, rng)])
    return X


def _compare_scores(parsed: Model, original: Original, X: Floats, scores: Floats) -> bool:
    """True if the original shows any. Scores are compared within the error that any order of summation may cause; a wrong leaf shows far beyond it.

    An original without scores is compared by its probabilities. Logistic function and softmax enlarge no error.
    """
    if isinstance(parsed, ObliqueEnsemble):
        sure = off_hyperplanes(parsed, X)  # elsewhere rounding chooses the leaf
        X, scores = X[sure], scores[sure]
    allowed = _score_error(parsed, X)
    ours, ask = scores, original.decision_function if parsed.info.shows_scores else None
    if ask is None and parsed.info.link is not Link.NONE:
        ours, ask = _probabilities(parsed.info.link, scores), original.predict_proba
        allowed = allowed.max(axis=-1, keepdims=True) + 16 * EPS + parsed.info.evaluation_error
    if ask is None:
        return False
    theirs = ask(X)
    if not theirs.size:
        return False  # this model shows none
    theirs = theirs.reshape(len(X), -1)
    if theirs.shape != ours.shape:
        raise ReplayMismatch(
            f"{parsed.info.source}: the original gives {theirs.shape[1]} scores, the copy {ours.shape[1]}"
        )
    close = (np.abs(theirs - ours) <= allowed) | np.isinf(allowed)  # NaN counts as wrong, unless the original overflows
    wrong = np.flatnonzero(~close.all(axis=1))
    if wrong.size:
        row = int(wrong[0])
        raise ReplayMismatch(
            f"{parsed.info.source}: on {wrong.size} of {len(X)} rows the scores differ by more than rounding. At "
            f"{_describe(parsed, X[row])} the original gives {theirs[row].tolist()}, the copy {ours[row].tolist()}"
        )
    return True


def _score_error(parsed: Model, X: Floats) -> Floats:
    """How far the original's scores may be from ours, whatever the order of summation."""
    match parsed:
        case TreeEnsemble() | ObliqueEnsemble():
            return tree_error(parsed)
        case LinearModel():
            return network_error((parsed.affine,), X)[1] + TINY
        case ReluNetwork():
            return network_error(parsed.layers, X)[1] + TINY


def _compare_values(parsed: Model, original: Original, X: Floats) -> None:
    with np.errstate(over="ignore"):  # rows far from the data, behind an exponential
        theirs = np.asarray(original.predict(X), dtype=np.float64).reshape(len(X), -1)
    if theirs.shape[1] != 1:
        raise ReplayMismatch(f"{parsed.info.source}: the original predicts {theirs.shape[1]} numbers, the copy one")
    wrong = np.flatnonzero(~values_agree(parsed, X, theirs[:, 0]))
    if wrong.size:
        row = int(wrong[0])
        ours = parsed.info.says(parsed.scores(X[row : row + 1]))[0]
        raise ReplayMismatch(
            f"{parsed.info.source}: on {wrong.size} of {len(X)} rows the values differ by more than rounding. At "
            f"{_describe(parsed, X[row])} the original predicts {float(theirs[row, 0])!r}, the copy {ours!r}"
        )


def values_agree(parsed: Model, X: Floats, theirs: Floats) -> Bools:
    """Which of a regressor's values are within the declared error of the copy's; a NaN is not."""
    scores = parsed.scores(X)
    allowed = value_error(parsed.info, scores, _score_error(parsed, X) + 2 * parsed.info.evaluation_error)[:, 0]
    ours = values_of(parsed.info, scores)
    with np.errstate(invalid="ignore"):
        close = (np.abs(theirs - ours) <= allowed) | (theirs == ours)  # both may be infinite: exponentials overflow
    if isinstance(parsed, ObliqueEnsemble):  # near a hyperplane rounding chooses the leaf
        close |= ~off_hyperplanes(parsed, X)
    return np.asarray(close)


def _probabilities(link: Link, scores: Floats) -> Floats:
    if link is Link.LOGISTIC:
        second = expit(scores[:, 0])
        return np.column_stack([1.0 - second, second])
    return np.asarray(softmax(scores, axis=1)) if link is Link.SOFTMAX else scores


def _certain(model: Model, X: Floats, scores: Floats, label: Ints) -> Bools:
    """True where the copy's label is beyond all declared errors: the original must say the same."""
    if isinstance(model, TreeEnsemble):
        return _decided(model, X, label)
    if isinstance(model, ObliqueEnsemble):
        return off_hyperplanes(model, X)
    certain = np.zeros(len(X), dtype=np.bool_)
    for target in np.unique(label):
        rows = label == target
        match model:
            case LinearModel():
                linear = linear_margins(model, int(target))
                layers: tuple[Affine, ...] = (linear.affine,)
                slack = linear.slack
            case ReluNetwork():
                network = network_margins(model, int(target))
                layers, slack = network.layers, network.slack
        value, error = network_error(layers, X[rows])
        certain[rows] = (value >= error + slack).all(axis=1)
    return certain


def _decided(model: TreeEnsemble, X: Floats, label: Ints) -> Bools:
    """True where the leaves prove the label, whatever the order in which the original adds them up."""
    decided = np.zeros(len(X), dtype=np.bool_)
    terms = model.value[model.apply(X)]  # (rows, trees, scores)
    for target in np.unique(label):
        rows = label == target
        of = terms[rows]
        margins = tree_margins(model, int(target), of=of.reshape(-1, of.shape[2]))
        sums = margins.base + margins.value.reshape(*of.shape[:2], -1).sum(axis=1)
        decided[rows] = (sums >= margins.slack).all(axis=1)
    return decided


def _describe(model: Model, row: Floats) -> str:
    shown = [f"{name}={float(x)!r}" for name, x in zip(model.info.names, row, strict=True)][:_SHOWN_COLUMNS]
    more = len(row) - len(shown)
    return "(" + ", ".join(shown) + (f", and {more} more columns)" if more else ")")
