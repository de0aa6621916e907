"""The wanted outcome: a class, a class with at least a given probability, values of a regressor, or one of these for each of
several models, or for some of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Final, TypeVar

import numpy as np

from elbowroom.errors import InputError
from elbowroom.models.base import ModelInfo, class_index
from elbowroom.models.margins import Each, Need, holds_probability
from elbowroom.models.values import LARGEST, ValueRange, refuses_range
from elbowroom.problem.parsing import number
from elbowroom.visible import listed

SAY_VALUES: Final = "say which values are wanted, for example target=Target(at_least=1000)"

_T = TypeVar("_T")


@dataclass(frozen=True)
class Target:
    """``Target("approved")``: the model must predict this label. ``Target("approved", probability=0.7)``: the model's
    probability of this label must be at least 0.7 (the paper's tau); then the label itself follows only if tau > 1/2.
    ``Target(at_least=1000)``, ``Target(at_most=50)``, ``Target(at_least=10, at_most=20)`` or, the same,
    ``Target(between=(10, 20))``: the value that a regressor predicts, both ends included.

    Args:
        label: The wanted class; None for values.
        probability: At least this probability of ``label``, strictly between 0 and 1.
        at_least: Of a regressor: the smallest wanted value.
        at_most: Of a regressor: the largest wanted value.
        between: Both of these at once.
        each: Of several models at once: the target of each, in their order. ``explain(..., target=...)`` makes it of what it
            is given: one label (or `Target`) for all of them, or a list or mapping with one for each.
        count: Of several models: at least so many of them, the same at every point of the region; None: all (see `AtLeast`).
        always: Positions of models that have to be among these.

    Examples:
        >>> explainer.explain(row, target=Target(True)).target.label
        True
    """

    label: Hashable = None
    probability: float | None = None
    at_least: float | None = field(default=None, kw_only=True)
    at_most: float | None = field(default=None, kw_only=True)
    between: InitVar[tuple[float, float] | None] = field(default=None, kw_only=True)
    each: tuple[Target, ...] = field(default=(), kw_only=True)
    count: int | None = field(default=None, kw_only=True)
    always: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self, between: tuple[float, float] | None) -> None:
        if self.each:
            self._take_each()
        if self.count is not None or self.always:
            self._take_count()
        if between is not None:
            self._take_both(between)
        if isinstance(self.label, np.generic):  # np.str_("a") and "a" must be one label, in seals and files as well
            object.__setattr__(self, "label", self.label.item())
        if not isinstance(self.label, Hashable):
            raise InputError(f"Target({self.label!r}): a class label is one word, number or truth value")
        if self.probability is not None:
            tau = number(self.probability, "Target probability")
            if not 0.0 < tau < 1.0:
                raise InputError(f"Target probability {tau} must lie strictly between 0 and 1")
            object.__setattr__(self, "probability", tau)
        for what in ("at_least", "at_most"):
            if getattr(self, what) is not None:
                object.__setattr__(self, what, _end(getattr(self, what), what))
        if self.values is None:
            return
        if self.label is not None or self.probability is not None:
            raise InputError(
                f"Target({self.label!r}, at_least={self.at_least}, at_most={self.at_most}): ask either for a class (of a "
                "classifier) or for values (of a regressor)"
            )
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise InputError(f"Target: no number is at least {self.at_least} and at most {self.at_most}")

    def _take_both(self, between: object) -> None:
        if (
            not isinstance(between, (tuple, list, np.ndarray))
            or len(between) != 2
            or any(end is None for end in between)
        ):
            raise InputError(f"Target between={between!r}: give two numbers, for example between=(10, 20)")
        if self.at_least is not None or self.at_most is not None:
            raise InputError("Target: between= already says both ends; leave out at_least= and at_most=")
        object.__setattr__(self, "at_least", between[0])
        object.__setattr__(self, "at_most", between[1])

    def _take_each(self) -> None:
        """What all of them say is said of the whole: the label, if it is the same for all."""
        if any(not isinstance(one, Target) or one.each for one in self.each):
            raise InputError("Target each=: give one Target for every model")
        object.__setattr__(self, "each", tuple(self.each))
        labels = tuple(one.label for one in self.each)
        label = labels[0] if len(set(labels)) == 1 else labels
        beyond = self.probability, self.at_least, self.at_most
        if self.label not in (None, label) or beyond != (None, None, None):
            raise InputError(
                "Target each=: what is wanted stands in the targets of the models; leave out everything else"
            )
        object.__setattr__(self, "label", label)

    def _take_count(self) -> None:
        size, always = len(self.each), tuple(sorted(set(self.always)))
        if self.count is None or isinstance(self.count, bool) or not isinstance(self.count, (int, np.integer)):
            raise InputError(f"Target count={self.count!r}: give the number of models that have to say what is wanted")
        if not 1 <= self.count <= size:
            raise InputError(f"Target count={self.count}: there are {size} targets in each=; give a number of them")
        if len(always) > self.count or any(not 0 <= i < size for i in always):
            raise InputError(
                f"Target always={self.always}: give positions of models below {size}, no more than count={self.count} of them"
            )
        everyone = self.count == size
        object.__setattr__(self, "count", None if everyone else int(self.count))
        object.__setattr__(self, "always", () if everyone else always)

    @property
    def words(self) -> str:
        """What is wanted, in short: 'approved'; 'approved' with a probability of at least 0.7; a value of at least 1000."""
        if self.each:
            some = "each" if self.count is None else f"{self.count}"
            return f"what is wanted of {some} of {len(self.each)} models"
        ends = [
            f"at {what} {end:g}" for what, end in (("least", self.at_least), ("most", self.at_most)) if end is not None
        ]
        if ends:
            return f"a value of {' and '.join(ends)}"
        return repr(self.label) + (f" with a probability of at least {self.probability:g}" if self.probability else "")

    def some(self, chosen: Sequence[int]) -> Target:
        """What is wanted of the models at these positions, of each of them.

        Args:
            chosen: Positions in ``each``.

        Returns:
            The target of the only one, or of several at once.
        """
        found = tuple(self.each[i] for i in chosen)
        return found[0] if len(found) == 1 else Target(each=found)

    def is_enough(self, kept: Collection[int]) -> bool:
        """Do these models, each saying what is wanted of it, suffice?

        Args:
            kept: Their positions.

        Returns:
            True if there are enough, with all that have to be among them.
        """
        return len(kept) >= (self.count or len(self.each)) and all(i in kept for i in self.always)

    @property
    def values(self) -> ValueRange | None:
        """The wanted values of a regressor; None if a class is wanted."""
        open_ = self.at_least is None and self.at_most is None
        return None if open_ else ValueRange(self.at_least, self.at_most)

    @property
    def need(self) -> Need:
        """What is asked beyond the label: a probability, or values; margins are made from this and the `index`."""
        if self.count is not None:
            raise InputError(
                f"this is not known for {self.count} of {len(self.each)} models; ask about all of them, or about those that keep "
                "a region (its certificate.keepers), with Explainer([model, model], space)"
            )
        if self.each:
            return Each(tuple((one.label, one.need) for one in self.each))
        return self.probability if self.values is None else self.values

    @property
    def names_nothing(self) -> bool:
        """True for the "other class" of a model that has a single one."""
        return self.label is None and self.values is None and not self.each

    def is_met(self, said: object) -> bool:
        """Is this label, or value, what is wanted? (A probability cannot be seen from it.)

        Args:
            said: By the model; by each, if they are several.

        Returns:
            True if so.
        """
        if self.each:
            met = [one.is_met(own) for one, own in zip(self.each, _several(said), strict=True)]
            return self.is_enough([i for i, good in enumerate(met) if good])
        if self.values is None:
            return bool(said == self.label)
        return bool(self.values.contains(np.asarray(said, dtype=np.float64)))

    def index(self, info: ModelInfo) -> int:
        """The class index of the label in a model (0 for a regressor); also checks that the probability, or the values, can
        be asked for.

        Args:
            info: Of the model.

        Returns:
            A position among its classes; 0 for several models, each of which has its own.
        """
        if info.members or self.each:
            self._of_each(info)
            return 0
        if info.is_regressor:
            return self._of_regressor(info)
        if self.values is not None:
            raise InputError(
                f"{info.source} is a classifier: at_least= and at_most= are for the values of regressors; ask for a class, "
                f"with probability= if it should be likely: Target({info.classes[-1]!r}, probability=0.7)"
            )
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

    def _of_regressor(self, info: ModelInfo) -> int:
        if self.values is None:
            raise _no_classes(info, self.label)
        reason = refuses_range(info, self.values)
        if reason:
            raise InputError(f"target {reason}")
        return 0

    def _of_each(self, info: ModelInfo) -> None:
        if len(self.each) != max(len(info.members), 1) or not info.members:
            raise InputError(
                f"target: {len(self.each)} targets for {len(info.members) or 1} models ({info.source}); give one label for all "
                "of them, or a list with one for each"
            )
        for one, own, called in zip(self.each, info.members, info.called, strict=True):
            _named_by(called, partial(one.index, own))

    @classmethod
    def other(cls, info: ModelInfo, predicted: int) -> Target:
        """The other class of a binary model: what is wanted when nothing is said.

        Args:
            info: Of the model.
            predicted: The position of the class that it gives the row.

        Returns:
            A target.
        """
        if info.is_regressor:
            raise InputError(f"{info.source} is a regressor, which has no other class to ask for; {SAY_VALUES}")
        if len(info.classes) != 2:
            raise InputError(
                f"the model has {len(info.classes)} classes {listed(info.classes)}; say which one is wanted with target="
            )
        return cls(info.classes[1 - predicted])

    @classmethod
    def others(cls, info: ModelInfo, predicted: tuple[Hashable, ...]) -> Target:
        """The other class of several binary models that agree about a row, or whose speaker says what it is.

        Args:
            info: Of the models.
            predicted: What each of them says of the row.

        Returns:
            The same target for each of them.
        """
        agree = len(set(predicted)) == 1 or info.speaker is not None
        if len({own.classes for own in info.members}) != 1 or not agree:
            said = ", ".join(f"{name} says {label!r}" for name, label in zip(info.called, predicted, strict=True))
            raise InputError(
                f"the models do not agree about the row ({said}), so it is not clear what is wanted; say it with target=, one "
                "label for all models or a list with one for each"
            )
        told = predicted[info.speaker or 0]
        each = tuple(cls.other(own, own.classes.index(told) if own.classes else 0) for own in info.members)
        return cls(each=each, count=info.least, always=info.always)

    @classmethod
    def _parse_each(cls, target: object, info: ModelInfo) -> Target:
        asked = zip(_one_by_one(target, info), info.members, info.called, strict=True)
        each = tuple(_named_by(name, partial(cls.parse, one, own)) for one, own, name in asked)
        if (
            isinstance(target, cls) and target.count is not None
        ):  # what is said of it counts, not what the models came with
            return cls(each=each, count=target.count, always=target.always)
        return cls(each=each, count=info.least, always=info.always)

    @classmethod
    def parse(cls, target: object, info: ModelInfo) -> Target:
        """A label or a target, checked against the model's classes.

        Args:
            target: As it was given.
            info: Of the model.

        Returns:
            A target that the model can be asked for; for several models it has one for each.
        """
        if info.members:
            return cls._parse_each(target, info)
        if isinstance(target, cls):
            target.index(info)
            return target
        if isinstance(target, np.generic):
            target = target.item()
        if info.is_regressor:
            raise _no_classes(info, target)
        if not isinstance(target, Hashable):
            raise InputError(f"target {target!r} is not a class label; the classes are {listed(info.classes)}")
        parsed = cls(target)
        return cls(info.classes[parsed.index(info)])


def _several(said: object) -> tuple[object, ...]:
    """What each of several models says, as plain labels."""
    if not isinstance(said, Iterable) or isinstance(said, str):
        raise InputError(f"{said!r}: several models say one label each")
    return tuple(one.item() if isinstance(one, np.generic) else one for one in said)


def _named_by(called: str, ask: Callable[[], _T]) -> _T:
    """What is wrong with the target of one of several models says whose it is."""
    try:
        return ask()
    except InputError as error:
        raise InputError(f"{called}: {error}; a list gives each model a target of its own") from None


def _end(value: object, what: str) -> float:
    """One end of a range, as a plain float."""
    if isinstance(value, (bool, np.bool_)):
        raise InputError(f"Target {what}={value!r}: a truth value is not a number")
    end = number(value, f"Target {what}", f"give a plain number, for example {what}=1000") + 0.0
    if not math.isfinite(end):
        raise InputError(f"Target {what}={end}: give a finite number, or leave {what} out")
    if abs(end) > LARGEST:
        raise InputError(f"Target {what}={end}: numbers beyond {LARGEST:g} leave no room for sums")
    return end


def _one_by_one(target: object, info: ModelInfo) -> list[object]:
    """What is asked of each of several models: the entries of a list or mapping, or the same of all."""
    if isinstance(target, Target):
        return [*target.each] if target.each else [target] * len(info.members)
    if isinstance(target, Mapping):
        unknown = [key for key in target if key not in info.called]
        lacking = [name for name in info.called if name not in target]
        if unknown or lacking:
            raise InputError(
                f"target: the models are called {listed(info.called)}; the mapping has {listed(list(target))}"
            )
        return [target[name] for name in info.called]
    if isinstance(target, (list, tuple, np.ndarray)):
        if len(target) != len(info.members):
            raise InputError(
                f"target: {len(target)} targets for {len(info.members)} models; give one label for all of them, or a list with "
                "one for each"
            )
        return list(target)
    return [target] * len(info.members)


def _no_classes(info: ModelInfo, target: object) -> InputError:
    what = "" if target is None else f"target {target!r}: "
    return InputError(f"{what}{info.source} is a regressor: it predicts numbers, not classes; {SAY_VALUES}")
