"""Several models at once: each is read for itself, and all of them are put over common columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.explainer.nearby import Nearby
from elbowroom.explainer.opening import Opened, Predict
from elbowroom.importers import columns_of
from elbowroom.importers.library import versions_of
from elbowroom.models import LinearModel, ObliqueEnsemble, ReluNetwork, TreeEnsemble, asked_for, join
from elbowroom.models.embed import embedded
from elbowroom.models.nearby import NearbyLinear
from elbowroom.numerics import Floats, Ints
from elbowroom.problem import Feature, Space
from elbowroom.problem.features import Group
from elbowroom.problem.parsing import is_list
from elbowroom.visible import listed

FEWEST: Final = 2  # models that are several


class _Together:
    """Several models, in a list or by name."""

    models: Sequence[object] | Mapping[str, object]
    speaker: str | None

    @property
    def called(self) -> tuple[str, ...]:
        """What the models are called: the keys of a mapping, or model 1, model 2, ..."""
        if isinstance(self.models, Mapping):
            return tuple(str(name) for name in self.models)
        return tuple(f"model {i + 1}" for i in range(len(self.models)))

    @property
    def each(self) -> tuple[object, ...]:
        """The models themselves."""
        return tuple(self.models.values() if isinstance(self.models, Mapping) else self.models)

    def _check_models(self) -> None:
        name = type(self).__name__
        if isinstance(self.models, (str, bytes)) or not isinstance(self.models, (Mapping, Sequence)):
            raise InputError(f"{name}({self.models!r}): give a list of models, or a mapping from names to models")
        if len(self.models) < FEWEST:
            raise InputError(f"{name} takes two models or more, not {len(self.models)}; for one, give the model itself")
        twice = [name for name in self.called if self.called.count(name) > 1]
        if twice:
            raise InputError(f"{name}: two models are called {twice[0]!r}; give each a name of its own")
        for model in self.each:
            if isinstance(model, (_Together, list, tuple)):
                raise InputError(f"{name}: give the models themselves, not lists of models")
        if self.speaker is not None and self.speaker not in self.called:
            raise InputError(f"{name} speaker={self.speaker!r}: give one of the names {listed(self.called)}")


@dataclass(frozen=True, eq=False)
class AllOf(_Together):
    """Several models of one family, each of which must say what is wanted of it.

    ``Explainer(AllOf([bank, insurer]), X)`` is ``Explainer([bank, insurer], X)``. The answer is the closest region in which every
    one of them does, at every point, by its own rules of rounding and ties.

    Models may have different classes, and may know different columns of the space. ``target=`` of a question is one label
    that is asked of each, or a list (mapping) with one label or `Target` for each.

    Args:
        models: A list of models, or a mapping from what they are called to the models.
        speaker: Name of the model (those of a list are called model 1, model 2, ...) whose class for a row
            counts where no target is given and the models disagree: then the other class of two is wanted of each. None: such rows need a target.

    Examples:
        >>> both = Explainer(AllOf({"bank": model, "insurer": model}), space)
        >>> both.explain(row, target={"bank": True, "insurer": Target(True, probability=0.6)})
        <Region OPTIMAL, distance 0.216667, 1 feature has to change>
    """

    models: Sequence[object] | Mapping[str, object]
    speaker: str | None = None

    def __post_init__(self) -> None:
        self._check_models()


@dataclass(frozen=True, eq=False)
class AtLeast(_Together):
    """Several models of one family, of which at least ``k`` must say what is wanted of them, the same ones at every point.

    The answer is the closest region throughout which k of the models agree: there is one set of k models, each of which says
    what is wanted of it at every point. That is more than a majority at each point by itself, where one part of the
    region could rest on other models than another part; and whoever holds one of the k models (one of three banks, say)
    keeps the promise in the whole region. The certificate says which models do (``keepers``).

    Args:
        k: How many of the models, at least.
        models: A list of models, or a mapping from what they are called to the models.
        always: Names of models that have to be among them (those of a list are called model 1, model 2, ...).
        speaker: Name of the model whose class for a row counts where no target is given and the models disagree: then the other
            class of two is wanted of each. None: such rows need a target.

    Examples:
        >>> some = Explainer(AtLeast(1, {"bank": model, "insurer": model}), space).explain(row)
        >>> some.target.count, some.certificate.keepers
        (1, (0, 1))
    """

    k: int
    models: Sequence[object] | Mapping[str, object]
    always: Sequence[str] = ()
    speaker: str | None = None

    def __post_init__(self) -> None:
        self._check_models()
        size = len(self.models)
        if isinstance(self.k, bool) or not isinstance(self.k, (int, np.integer)) or not 1 <= self.k <= size:
            raise InputError(f"AtLeast({self.k!r}, ...): give a number of models between 1 and {size}")
        if (
            not is_list(self.always)
            or any(name not in self.called for name in self.always)
            or len(set(self.always)) > self.k
        ):
            raise InputError(
                f"AtLeast always={self.always!r}: give a list of at most {self.k} of the names {listed(self.called)}"
            )


def several(model: object) -> AllOf | AtLeast | None:
    """Several models, if that is what was given."""
    if isinstance(model, (AllOf, AtLeast)):
        return model
    return AllOf(model) if isinstance(model, (list, tuple)) else None


def versions_of_each(model: object) -> dict[str, str]:
    """Of all libraries that the models come from."""
    given = several(model)
    found: dict[str, str] = {}
    for each in (model,) if given is None else given.each:
        found |= versions_of(each.model if isinstance(each, Nearby) else each)
    return found


def opened_together(
    given: AllOf | AtLeast, space: object, data: object, open_one: Callable[[object, object, object], Opened]
) -> Opened:
    """All of them over the columns of all. Each is shown what it knows of the space."""
    found, used, whole = [], set[str](), space
    if isinstance(space, Space):  # causes and covariances are about the columns of all of them
        space = replace(space, causes=None, covariance=None)
    for name, model in zip(given.called, given.each, strict=True):
        try:
            own = _own_columns(model.model if isinstance(model, Nearby) else model, space)
            used |= set(_columns(space) if own is None else own)
            found.append(open_one(model, _only(space, own), _only(data, own)))
        except (InputError, UnsupportedModel) as error:
            raise type(error)(f"{name}: {error}") from error
    unused = [name for name in _columns(space) if name not in used]
    if unused:
        raise InputError(f"the space describes columns {listed(unused)} that no model uses; leave them out")
    common = _common([one.space for one in found], given.called)
    if isinstance(whole, Space):
        common = replace(common, causes=whole.causes, covariance=whole.covariance)
    for name, one in zip(given.called, found, strict=True):
        if isinstance(one.model, NearbyLinear):
            raise UnsupportedModel(f"{name}: Nearby(weights=) is asked by itself, not together with other models")
    joined = join([embedded(one.model, common.names) for one in found], given.called)
    if joined is None:
        kinds = [f"{name}: {type(one.model).__name__}" for name, one in zip(given.called, found, strict=True)]
        raise UnsupportedModel(
            f"several models at once must be of one family, these are {', '.join(kinds)}; ask about models of one family, or "
            "about one of them and certify its region with the others: Explainer(other, space).certify(region)"
        )
    some: int | None = None
    always: tuple[int, ...] = ()
    if isinstance(given, AtLeast) and given.k < len(given.each):
        some, always = int(given.k), tuple(sorted(given.called.index(name) for name in set(given.always)))
    joined = asked_for(joined, some, always, None if given.speaker is None else given.called.index(given.speaker))
    places = [np.array([common.position[name] for name in one.space.names]) for one in found]
    predict = partial(_ask_each, [one.predict for one in found], places)
    return Opened(joined, common, predict, domain=_domain(found, places, len(common.names)))


def _columns(space: object) -> list[str]:
    """Raw columns of a table or space."""
    if isinstance(space, pd.DataFrame):
        return [str(name) for name in space.columns]
    return list(space.columns) if isinstance(space, Space) else []


def _own_columns(model: object, space: object) -> list[str] | None:
    """The columns of the space that a model knows by name; None: all of them."""
    given = _columns(space)
    if not given or isinstance(model, type):
        return None
    if isinstance(model, (LinearModel, TreeEnsemble, ObliqueEnsemble, ReluNetwork)):
        names, own_names = model.info.names, set(model.info.names) < set(given)
    else:
        columns = columns_of(model, dict.fromkeys([*given, *(f"x{i}" for i in range(len(given)))], ("any",)))
        names, own_names = tuple(columns.as_written(given)), columns.own_names
    return [name for name in given if name in names] if own_names and set(names) < set(given) else None


def _only(space: object, names: list[str] | None) -> object:
    """Some columns of a table or space, in its order."""
    if names is None:
        return space
    if isinstance(space, pd.DataFrame):
        return space[[name for name in space.columns if str(name) in names]]
    if not isinstance(space, Space):
        return space
    groups = tuple(group for group in space.groups if group.name in names)
    kept = {*names, *(member for group in groups for member in group.members)}
    return replace(space, features=tuple(f for f in space.features if f.name in kept), groups=groups)


def _ask_each(predicts: Sequence[Predict], places: Sequence[Ints], rows: Floats) -> npt.NDArray[Any]:
    """(rows, models): what each says."""
    said = [np.asarray(predict(rows[:, place])) for predict, place in zip(predicts, places, strict=True)]
    alike = len({labels.dtype.kind for labels in said}) == 1
    return np.column_stack(said if alike else [labels.astype(object) for labels in said])


def _common(spaces: Sequence[Space], called: Sequence[str]) -> Space:
    """The columns of all of them, those of the first model first; limits are those within which all have predictions."""
    features: dict[str, Feature] = {}
    groups: dict[str, Group] = {}
    for space, name in zip(spaces, called, strict=True):
        for group in space.groups:
            known = groups.setdefault(group.name, group)
            if known.members != group.members or known.labels != group.labels:
                raise InputError(
                    f"{name}: column {group.name!r} has the categories {listed(group.labels or group.members)}, for an earlier "
                    f"model {listed(known.labels or known.members)}; fit the models on the same categories"
                )
        for feature in space.features:
            before = features.setdefault(feature.name, feature)
            narrow = replace(before, lower=max(before.lower, feature.lower), upper=min(before.upper, feature.upper))
            if replace(feature, lower=narrow.lower, upper=narrow.upper) != narrow:
                raise InputError(
                    f"{name}: column {feature.name!r} is read as {feature}, for an earlier model as {before}; give a Space that "
                    "says what it is"
                )
            features[feature.name] = narrow
    notes = {name: note for space in spaces for name, note in space.notes.items()}
    return Space(tuple(features.values()), tuple(groups.values()), notes, spaces[0].measure)


def _domain(found: Sequence[Opened], places: Sequence[Ints], width: int) -> tuple[Floats, Floats] | None:
    """Where all of them have predictions."""
    if all(one.domain is None for one in found):
        return None
    low, high = np.full(width, -np.inf), np.full(width, np.inf)
    for one, place in zip(found, places, strict=True):
        if one.domain is not None:
            low[place] = np.maximum(low[place], one.domain[0])
            high[place] = np.minimum(high[place], one.domain[1])
    return low, high
