"""What a model says, in words: a class, a probability, a value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from elbowroom.present.numbers import about, exact, percent
from elbowroom.problem.class_names import NO_NAMES, ClassNames
from elbowroom.problem.target import Target
from elbowroom.visible import named

MOST_SINGLE: Final = 3  # models that are told one by one; of more it is said how many say what


def quoted(label: object) -> str:
    """Text in quotes, numbers and truth values bare, so that '1' and 1 look different."""
    return f"'{named(label)}'" if isinstance(label, str) else named(label)


def outcome(target: Target, labels: ClassNames = NO_NAMES) -> str:
    """predicts 'approved' (with a probability of at least 70 %); predicts at least 1,000."""
    if target.values is not None:
        low, high = (None if end is None else exact(end) for end in (target.at_least, target.at_most))
        if low is not None and high is not None:
            return f"predicts {low}" if low == high else f"predicts between {low} and {high}"
        return f"predicts at most {high}" if low is None else f"predicts at least {low}"
    label = quoted(labels(target.label))
    if target.probability is None:
        return f"predicts {label}"
    share = percent(target.probability)
    if target.probability > 0.5:  # at one half another label may win the tie
        return f"predicts {label} with a probability of at least {share}"
    return f"gives {label} a probability of at least {share}"


def promise(target: Target, labels: ClassNames = NO_NAMES, keepers: Sequence[int] = ()) -> str:
    """Who says so: the model predicts 'approved'; each of the 3 models does; each of 2 of 3 models, and which (the
    ``keepers``); or what model 1, model 2, ... predict."""
    if not target.each:
        return f"the model {outcome(target, labels)}"
    alike = all(one == target.each[0] for one in target.each)
    if target.count is not None:
        return _of_some(target, labels, keepers, alike)
    if alike:
        return f"each of the {len(target.each)} models {outcome(target.each[0], labels)}"
    return joined([f"model {i + 1} {outcome(one, labels)}" for i, one in enumerate(target.each)])


def _of_some(target: Target, labels: ClassNames, keepers: Sequence[int], alike: bool) -> str:
    """Once it is known which models keep a region, these are named, all of them."""
    shown = keepers or target.always
    which = f"{'model' if len(shown) == 1 else 'models'} {joined([str(i + 1) for i in shown])}" if shown else ""
    known = which if keepers else f"the same at every point{f', with {which}' if which else ''}"
    some = f"{len(keepers) or target.count} of {len(target.each)} models ({known})"
    if alike:
        return f"{some} {outcome(target.each[0], labels)}".replace(") predicts ", ") predict ").replace(
            ") gives ", ") give "
        )
    each = joined(
        [f"model {i + 1} {outcome(one, labels)}" for i, one in enumerate(target.each) if not keepers or i in keepers]
    )
    return f"{some} say what is wanted of them: {each}"


def told(said: object, target: Target, labels: ClassNames = NO_NAMES) -> str:
    """The model said 'rejected'; of several: what each of them said."""
    if not target.each or not isinstance(said, tuple):
        return f"The model said {spoken(said, target, labels)}"
    if len(set(said)) == 1:
        return f"Each of the {len(said)} models said {spoken(said[0], target.each[0], labels)}"
    alike = all(one == target.each[0] for one in target.each)
    if alike and target.each[0].values is None and len(said) > MOST_SINGLE:
        shares = [
            f"{n} said {spoken(own, target.each[0], labels)}{' (model 1 among them)' if own == said[0] else ''}"
            for own, n in Counter(said).most_common()
        ]
        return f"Of the {len(said)} models {joined(shares)}"
    each = [
        f"model {i + 1} {spoken(own, one, labels)}" for i, (own, one) in enumerate(zip(said, target.each, strict=True))
    ]
    return f"The models said: {joined(each)}"


def spoken(said: object, target: Target, labels: ClassNames = NO_NAMES) -> str:
    """What the model says: a class as `quoted`, a regressor's value as a number that claims nothing beyond its digits;
    of several models what each says."""
    if target.each and isinstance(said, tuple):
        if len(set(said)) == 1:
            return f"{spoken(said[0], target.each[0], labels)}, each of the {len(said)}"
        return joined([spoken(own, one, labels) for own, one in zip(said, target.each, strict=True)])
    return quoted(labels(said)) if target.values is None or not isinstance(said, float) else about(said)


def joined(parts: Sequence[str], last: str = "and") -> str:
    """a; a and b; a, b and c."""
    if len(parts) <= 1:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"
