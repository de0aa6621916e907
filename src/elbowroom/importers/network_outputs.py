"""What networks of libraries without labels share: the label of a row, from its outputs, and normalisation by statistics.

The label is the position of the first largest output. With one output it is 1 where that is positive (behind a Sigmoid: above
one half), and else 0.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.arithmetic import DOUBLE, Chain
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.models.base import Decision, Link, ModelInfo
from elbowroom.numerics import Floats

LAST: Final = ("Sigmoid", "Softmax", "LogSoftmax")  # steps that keep the order of outputs
_BATCH_NORM_ROUNDINGS: Final = (
    16  # variance + eps, root, reciprocal, products, mean: fewer than ten, in any arrangement
)


def labels_of_outputs(values: npt.NDArray[Any], last: str | None) -> npt.NDArray[np.int64]:
    """Labels of (rows, outputs)."""
    if values.shape[1] > 1:
        return np.asarray(values.argmax(axis=1), dtype=np.int64)
    return np.asarray(values[:, 0] > (0.5 if last == "Sigmoid" else 0.0), dtype=np.int64)


def outputs_info(preprocessing: Preprocessing, chain: Chain, last: str | None, source: str) -> ModelInfo:
    """Classes 0, 1, ... and the rule for them; the ``last`` step is left out, and what it may lose is counted."""
    outputs, arithmetic = chain.width, chain.arithmetic
    if outputs > 1 and last == "Sigmoid":
        raise UnsupportedModel(
            f"{source}: a Sigmoid over {outputs} outputs reaches 1.0 for all large scores, where the largest output is "
            "undecided; leave it out, or use Softmax"
        )
    if outputs == 1 and last in ("Softmax", "LogSoftmax"):
        raise UnsupportedModel(f"{source}: {last} over one output is constant; use Sigmoid, or two outputs")
    error = 0.0 if last is None else arithmetic.label_error * (1.0 + float(np.log(outputs)))
    link = Link.NONE  # float32 probabilities are too coarse for a target on them
    if arithmetic is DOUBLE and last is not None:
        link = Link.LOGISTIC if outputs == 1 else Link.SOFTMAX
    decision = Decision.POSITIVE if outputs == 1 else Decision.ARGMAX
    classes = tuple(range(max(outputs, 2)))
    return ModelInfo(preprocessing.names, classes, decision, link, f"{source} ({arithmetic.name})", error)


def batch_norm(
    chain: Chain, name: str, mean: Floats, variance: Floats, eps: float, weight: Floats | None, bias: Floats | None
) -> None:
    """Normalisation with known statistics, as one scale."""
    if not ((variance >= 0.0).all() and eps >= 0.0 and (variance + eps > 0.0).all()):
        raise UnsupportedModel(f"{name} divides by the root of a variance that is not positive; train it again")
    factor = 1.0 / np.sqrt(variance + eps)
    factor = factor if weight is None else factor * weight
    bias = np.zeros_like(mean) if bias is None else bias
    chain.scale(factor, bias - mean * factor, np.abs(bias) + np.abs(mean * factor), _BATCH_NORM_ROUNDINGS)
