"""Calibrated scores of one model: sigmoid and temperature are affine in its scores, up to the curve at the end."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from elbowroom.importers.parts import probability_trees, single_score
from elbowroom.importers.sklearn_common import PROBABILITY_ERROR
from elbowroom.models.base import Decision, Link, Model, ModelInfo
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.trees import TreeEnsemble
from elbowroom.models.union import join_trees
from elbowroom.numerics import EPS, Floats, gamma

_STEEPEST = 20.0  # from scores of this size on, probabilities of several classes crowd too close to 1


def sigmoid_scores(info: ModelInfo, part: Model, slope: Floats, offset: Floats) -> Model | None:
    """Scores -(a f + b), one for two classes (whose logistic function is the probability), else one per class.

    Of several classes the largest 1 / (1 + exp(-score)) wins: near 1 these crowd together, so that a lead in the score counts
    only from 16 eps (1 + exp(score)) on. That is a bound for trees, whose scores are bounded, and none for linear models.
    """
    binary = len(info.classes) == 2
    score = single_score(part, 1) if binary else part
    if score is None or len(slope) != (1 if binary else len(info.classes)):
        return None
    if binary:
        info = replace(info, decision=Decision.POSITIVE, link=Link.LOGISTIC, evaluation_error=PROBABILITY_ERROR)
        return _scaled(info, score, -slope, -offset)
    if not isinstance(score, TreeEnsemble) or score.base.size != len(info.classes):
        return None
    parsed = _scaled(replace(info, link=Link.NONE), score, -slope, -offset)
    if not isinstance(parsed, TreeEnsemble):
        return None
    top = float((np.maximum.reduceat(_leaves(parsed), parsed.roots, axis=0).sum(axis=0) + parsed.base).max())
    if top > _STEEPEST:
        return None
    error = 16 * EPS * (1.0 + math.exp(max(top, 0.0)))
    return replace(parsed, info=replace(parsed.info, evaluation_error=parsed.info.evaluation_error + error))


def temperature_scores(info: ModelInfo, part: Model, beta: float) -> Model | None:
    """softmax(beta f), for one score softmax(-beta f, beta f); of probabilities softmax(beta log(p + 1e-12)).

    The label is that of the model inside. Probabilities keep their order: a lead of 16 eps (2 + 1 / beta) outweighs all
    roundings of logarithm, product and softmax, and equal ones stay equal.
    """
    if not beta > 0.0:
        return None
    trees = probability_trees(part)
    if trees is not None:
        error = 16 * EPS * (2.0 + 1.0 / beta)
        link = replace(
            info, link=Link.NONE, evaluation_error=error, ties_last=True, fused_products=trees.info.fused_products
        )
        return replace(trees, info=link)
    info = replace(info, evaluation_error=PROBABILITY_ERROR)
    if part.info.decision is Decision.ARGMAX:
        several = np.full(len(info.classes), beta)
        return _scaled(replace(info, link=Link.SOFTMAX), part, several, np.zeros(several.size))
    score = single_score(part, 1)
    if score is None:
        return None
    info = replace(info, decision=Decision.POSITIVE, link=Link.LOGISTIC)
    return _scaled(info, score, np.array([2.0 * beta]), np.zeros(1))


def _scaled(info: ModelInfo, score: Model, factor: Floats, offset: Floats) -> Model | None:
    """factor * score + offset, score by score; a product and a sum, each rounded."""
    if isinstance(score, LinearModel):
        if len(score.affine.weight) != len(factor):
            return None
        return LinearModel(info, score.affine.then(Affine.exact(np.diag(factor), offset)))
    if not isinstance(score, TreeEnsemble) or score.base.size != len(factor):
        return None
    value = score.value / score.divisor * factor
    base = score.base / score.divisor * factor + offset
    size = np.maximum.reduceat(np.abs(_leaves(score)), score.roots, axis=0).sum(axis=0) + np.abs(score.base)
    error = 2 * gamma(8) * float((size / score.divisor * np.abs(factor) + np.abs(offset)).max())
    info = replace(info, evaluation_error=info.evaluation_error + error, fused_products=True)
    return join_trees(info, [score], [value], base)


def _leaves(trees: TreeEnsemble) -> Floats:
    """Leaf values; 0 at other nodes."""
    return np.where(trees.feature[:, None] < 0, trees.value, 0.0)
