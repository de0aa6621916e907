"""The wanted outcome: a class, or a class with at least a given probability."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from elbowroom.errors import InputError
from elbowroom.models.base import ModelInfo, class_index
from elbowroom.models.margins import holds_probability
from elbowroom.problem.parsing import number
from elbowroom.visible import listed


@dataclass(frozen=True)
class Target:
    """``Target("approved")``: the model must predict this label. ``Target("approved", probability=0.7)``: the model's
    probability of this label must be at least 0.7 (the paper's tau); then the label itself follows only if tau > 1/2."""

    label: Hashable
    probability: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.label, np.generic):  # np.str_("a") and "a" must be one label, in seals and files as well
            object.__setattr__(self, "label", self.label.item())
        if not isinstance(self.label, Hashable):
            raise InputError(f"Target({self.label!r}): a class label is one word, number or truth value")
        if self.probability is not None:
            tau = number(self.probability, "Target probability")
            if not 0.0 < tau < 1.0:
                raise InputError(f"Target probability {tau} must lie strictly between 0 and 1")
            object.__setattr__(self, "probability", tau)

    def index(self, info: ModelInfo) -> int:
        """The class index of the label in a model; also checks that the probability can be asked for."""
        found = class_index(info, self.label)
        if found is None:
            kind = " (a truth value is not a number)" if isinstance(self.label, bool) else ""
            raise InputError(
                f"target {self.label!r} is not a class of the model{kind}; its classes are {listed(info.classes)}"
            )
        reason = holds_probability(info, self.probability)
        if reason:
            raise InputError(f"target probability {self.probability}: {reason}; ask for the label alone")
        return found

    @classmethod
    def other(cls, info: ModelInfo, predicted: int) -> Target:
        """The other class of a binary model: what is wanted when nothing is said."""
        if len(info.classes) != 2:
            raise InputError(
                f"the model has {len(info.classes)} classes {listed(info.classes)}; say which one is wanted with target="
            )
        return cls(info.classes[1 - predicted])

    @classmethod
    def parse(cls, target: object, info: ModelInfo) -> Target:
        """A label or a target, checked against the model's classes."""
        if isinstance(target, cls):
            target.index(info)
            return target
        if isinstance(target, np.generic):
            target = target.item()
        if not isinstance(target, Hashable):
            raise InputError(f"target {target!r} is not a class label; the classes are {listed(info.classes)}")
        parsed = cls(target)
        return cls(info.classes[parsed.index(info)])
