"""What all parsed models share: class labels, the rule that turns scores into a label, and a fingerprint.

A model computes K scores. K = 1 (binary): the sign of the score decides, or whether it reaches a threshold. K >= 2: the
first largest score wins. A regressor has one score and no classes: what it predicts is the score, or a function of it (see
`values`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from elbowroom.numerics import Floats, Ints

if TYPE_CHECKING:
    from elbowroom.models.linear import LinearModel
    from elbowroom.models.network import ReluNetwork
    from elbowroom.models.oblique import ObliqueEnsemble
    from elbowroom.models.trees import TreeEnsemble

Label: TypeAlias = Hashable


class Decision(Enum):
    """How scores become a class."""

    POSITIVE = "second class iff score > threshold"
    NONNEGATIVE = "second class iff score >= threshold"
    ARGMAX = "first class with the largest score"
    VALUE = "no class: the score is the predicted value, or a growing function of it"
    EACH = "several models at once: each of them decides for itself"


class Link(Enum):
    """How scores become probabilities, or the values of a regressor."""

    NONE = "the model has no probabilities"
    LOGISTIC = "p = 1 / (1 + exp(-score)) of the second class"
    SOFTMAX = "p = exp(score) / sum exp(scores)"
    IDENTITY = "the scores are the probabilities, or the values"
    EXPONENTIAL = "value = exp(score)"
    EXPONENTIAL_MINUS_ONE = "value = exp(score) - 1"


@dataclass(frozen=True)
class ModelInfo:
    """Names and rules, the same for every family."""

    names: tuple[str, ...]
    classes: tuple[Label, ...]
    decision: Decision
    link: Link
    source: str  # what was read, human-readable: "sklearn Pipeline(StandardScaler, LogisticRegression)"
    evaluation_error: float = 0.0  # error of a score that the model's own arithmetic adds after the last sum
    own_names: bool = True  # False: the model knows its columns by position alone, and the names are someone else's
    fused_products: bool = False  # contributions are rounded products that the original may add without that rounding
    ties_last: bool = False  # scores that are equal after the last sum (or one that is 0) tie all the same
    single: bool = False  # probabilities, or values through a link, are computed in float32
    threshold: float = 0.0  # what the only score of a binary decision is compared with
    shows_scores: bool = True  # False: the original's decision_function, if any, is another number than the scores
    members: tuple[ModelInfo, ...] = ()  # of several models at once (`Decision.EACH`): theirs, in order
    called: tuple[str, ...] = ()  # and what they are called
    least: int | None = None  # how many of them have to say what is wanted; None: each of them
    always: tuple[int, ...] = ()  # which of them have to be among these
    speaker: int | None = None  # which of them says what a row is, where they disagree and no target is given
    nearby: str = ""  # of a model with all models near it: which these are, in words
    spread: tuple[float, ...] = ()  # how far each score of these may be from the model's own

    def __post_init__(self) -> None:
        values = (Link.IDENTITY, Link.EXPONENTIAL, Link.EXPONENTIAL_MINUS_ONE)
        if self.is_regressor and (self.classes or self.link not in values):
            raise ValueError(
                f"{self.source}: a regressor has no classes, and values through {[v.name for v in values]}"
            )

    @classmethod
    def regressor(
        cls,
        names: tuple[str, ...],
        source: str,
        link: Link = Link.IDENTITY,
        evaluation_error: float = 0.0,
        fused_products: bool = False,
        single: bool = False,
    ) -> ModelInfo:
        """Of a model with one score and no classes. ``evaluation_error`` is in units of the score; ``single``: a link is
        computed in float32."""
        return cls(
            names, (), Decision.VALUE, link, source, evaluation_error, fused_products=fused_products, single=single
        )

    @property
    def n_features(self) -> int:
        return len(self.names)

    @property
    def is_regressor(self) -> bool:
        return self.decision is Decision.VALUE

    def says(self, scores: Floats) -> list[Label]:
        """What the model says, row by row of an (m, K) array of scores: labels, the values of a regressor, or (several models)
        what each of them says."""
        if self.members:
            return list(
                zip(*(each.says(own) for each, own in zip(self.members, self.parted(scores), strict=True)), strict=True)
            )
        if self.is_regressor:
            from elbowroom.models.values import values_of

            return [float(value) for value in values_of(self, scores)]
        return [self.classes[index] for index in self.labels_of(scores)]

    @property
    def n_scores(self) -> int:
        if self.members:
            return sum(each.n_scores for each in self.members)
        return len(self.classes) if self.decision is Decision.ARGMAX else 1

    def parted(self, columns: Floats) -> list[Floats]:
        """One column per score of several models, cut into those of each."""
        ends = np.cumsum([each.n_scores for each in self.members])[:-1]
        return np.split(columns, ends, axis=1)

    def labels_of(self, scores: Floats) -> Ints:
        """Class indices for an (m, K) array of scores; a regressor has none."""
        match self.decision:
            case Decision.POSITIVE:
                return np.asarray(scores[:, 0] > self.threshold, dtype=np.int64)
            case Decision.NONNEGATIVE:
                return np.asarray(scores[:, 0] >= self.threshold, dtype=np.int64)
            case Decision.ARGMAX:
                return np.asarray(np.argmax(scores, axis=1), dtype=np.int64)
            case Decision.VALUE:
                raise TypeError(f"{self.source} is a regressor: it has values, not labels")
            case Decision.EACH:
                raise TypeError(f"{self.source}: each has a label of its own")


def class_index(info: ModelInfo, label: object) -> int | None:
    """Position of a label among the classes, by equality (1 == 1.0 == np.int64(1), but "1" is another label)."""
    for index, known in enumerate(info.classes):
        if type(known) is bool and type(label) not in (bool, np.bool_):
            continue  # True must not be found by asking for 1
        if type(label) in (bool, np.bool_) and type(known) is not bool:
            continue
        same = known == label
        if isinstance(same, (bool, np.bool_)) and same:  # labels may refuse to be compared, as pandas.NA does
            return index
    return None


def fingerprint_of(info: ModelInfo, *arrays: npt.NDArray[np.generic]) -> str:
    """SHA-256 over everything that decides a label; equal models have equal fingerprints.

    Names are part of it where they are the model's own. Other names decide nothing: they count as x0, x1, ...
    """
    digest = hashlib.sha256()
    names = info.names if info.own_names else tuple(f"x{i}" for i in range(info.n_features))
    head = (names, tuple(repr(label) for label in info.classes), info.decision.name, info.link.name)
    digest.update(repr(head if info.threshold == 0.0 else (*head, info.threshold)).encode())
    if info.spread:
        digest.update(repr(("spread", info.spread)).encode())
    for array in arrays:
        plain = np.ascontiguousarray(array)
        digest.update(f"{plain.dtype.str}{plain.shape}".encode())
        digest.update(plain.tobytes())
    return digest.hexdigest()


Model: TypeAlias = "LinearModel | TreeEnsemble | ObliqueEnsemble | ReluNetwork"
