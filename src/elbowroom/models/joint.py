"""Several models of one family as one: what is asked of each becomes rows that stand side by side.

Trees share their cells, linear rows add up, networks stand side by side. The margins of each member are made from the member
alone (see `margins`), so that each keeps its own rule of rounding, ties, base, link and precision; the others add 0 to them.
The judge does not use any of this: it asks one member after the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import block_diag

from elbowroom.models.base import Decision, Label, Link, Model, ModelInfo
from elbowroom.models.linear import Affine, LinearModel
from elbowroom.models.network import ReluNetwork
from elbowroom.models.oblique import ObliqueEnsemble
from elbowroom.models.trees import TreeEnsemble
from elbowroom.models.union import join_oblique, join_trees
from elbowroom.numerics import Bools, Floats


@dataclass(frozen=True, eq=False)
class JointTrees(TreeEnsemble):
    """All trees of all members, over common cells."""

    members: tuple[TreeEnsemble, ...] = ()

    def scores(self, X: Floats) -> Floats:
        return np.hstack([member.scores(X) for member in self.members])

    def with_missing(self, missing: Bools) -> TreeEnsemble:
        return join_as_trees(self.info, [member.with_missing(missing) for member in self.members])

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of_all(self.members)


@dataclass(frozen=True, eq=False)
class JointOblique(ObliqueEnsemble):
    """All trees of all members."""

    members: tuple[ObliqueEnsemble, ...] = ()

    def scores(self, X: Floats) -> Floats:
        return np.hstack([member.scores(X) for member in self.members])

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of_all(self.members)


@dataclass(frozen=True, eq=False)
class JointLinear(LinearModel):
    """All rows of all members."""

    members: tuple[LinearModel, ...] = ()

    def scores(self, X: Floats) -> Floats:
        return np.hstack([member.scores(X) for member in self.members])

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of_all(self.members)


@dataclass(frozen=True, eq=False)
class JointNetwork(ReluNetwork):
    """Members side by side: the first layers read the same inputs, all others only what is their own."""

    members: tuple[ReluNetwork, ...] = ()

    def scores(self, X: Floats) -> Floats:
        return np.hstack([member.scores(X) for member in self.members])

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint_of_all(self.members)


Joint: TypeAlias = JointTrees | JointOblique | JointLinear | JointNetwork


def members_of(model: Model) -> tuple[Model, ...]:
    """The members of several models at once; none for a single model."""
    found: tuple[Model, ...] = getattr(model, "members", ())
    return found


def fingerprint_of_all(members: Sequence[Model]) -> str:
    """SHA-256 over the fingerprints of all, in order."""
    return hashlib.sha256(repr(tuple(member.fingerprint for member in members)).encode()).hexdigest()


def info_of_all(members: Sequence[Model], called: Sequence[str]) -> ModelInfo:
    """Names and rules of several models at once; the classes are those of any of them."""
    infos = tuple(member.info for member in members)
    classes: dict[Label, None] = {}
    for info in infos:
        classes |= dict.fromkeys(info.classes)
    kinds = list(dict.fromkeys(info.source for info in infos))
    return ModelInfo(
        infos[0].names,
        tuple(classes),
        Decision.EACH,
        Link.NONE,
        f"{len(infos)} models ({', '.join(kinds)})",
        own_names=any(info.own_names for info in infos),
        members=infos,
        called=tuple(called),
    )


def join(members: Sequence[Model], called: Sequence[str]) -> Joint | None:
    """Several models over the same columns as one; None if they are not of one family."""
    info = info_of_all(members, called)
    trees = [member for member in members if isinstance(member, TreeEnsemble)]
    if len(trees) == len(members):
        return join_as_trees(info, trees)
    oblique = [member for member in members if isinstance(member, ObliqueEnsemble)]
    if len(oblique) == len(members):
        made = join_oblique(info, oblique, _blocks([part.value for part in oblique]), _bases(oblique))
        return JointOblique(**_fields(made), members=tuple(oblique))
    linear = [member for member in members if isinstance(member, LinearModel)]
    if len(linear) == len(members):
        return JointLinear(info, stacked([member.affine for member in linear]), tuple(linear))
    networks = [member for member in members if isinstance(member, ReluNetwork)]
    if len(networks) == len(members):
        return JointNetwork(info, side_by_side([member.layers for member in networks]), tuple(networks))
    return None


def asked_for(joint: Joint, least: int | None, always: tuple[int, ...] = (), speaker: int | None = None) -> Joint:
    """The same models, of which at least so many have to say what is wanted, with these positions among them; the speaker says
    what a row is where they disagree."""
    if least is None and speaker is None:
        return joint
    return replace(joint, info=replace(joint.info, least=least, always=always, speaker=speaker))


def some_of(model: Model, chosen: Sequence[int]) -> Model:
    """The members at these positions as one model; a single one as it is."""
    members = members_of(model)
    if len(chosen) == 1:
        return members[chosen[0]]
    joined = join([members[i] for i in chosen], [model.info.called[i] for i in chosen])
    assert joined is not None  # of one family, as all of them are
    return joined


def join_as_trees(info: ModelInfo, members: Sequence[TreeEnsemble]) -> JointTrees:
    plain = [replace(member, single=False) for member in members]  # sums in float32 are a matter of their own margins
    made = join_trees(info, plain, _blocks([part.value for part in plain]), _bases(plain))
    return JointTrees(**_fields(made), members=tuple(members))


def stacked(maps: Sequence[Affine]) -> Affine:
    """Maps of the same inputs, one below the other. Where each leaves the range of its numbers is left to the judge."""
    missing = [_or_nan(each) for each in maps]
    some = any(each.missing_value is not None for each in maps)
    return Affine(
        np.vstack([each.weight for each in maps]),
        np.concatenate([each.bias for each in maps]),
        np.vstack([each.error_slope for each in maps]),
        np.concatenate([each.error_constant for each in maps]),
        np.vstack([value for value, _ in missing]) if some else None,
        np.vstack([error for _, error in missing]) if some else None,
    )


def side_by_side(networks: Sequence[Sequence[Affine]]) -> tuple[Affine, ...]:
    """Layers of several networks as those of one. A shallow one hands its last hidden values on, which are not negative, so
    that ReLU keeps them exactly."""
    depth = max(len(layers) for layers in networks)
    deep = []
    for layers in networks:
        size = layers[-1].weight.shape[1]
        passed = Affine(np.eye(size), np.zeros(size), np.zeros((size, size)), np.zeros(size))
        deep.append((*layers[:-1], *[passed] * (depth - len(layers)), layers[-1]))
    first, *rest = zip(*deep, strict=True)
    return (stacked(first), *(_diagonal(layers) for layers in rest))


def _diagonal(maps: Sequence[Affine]) -> Affine:
    return Affine(
        block_diag(*(each.weight for each in maps)),
        np.concatenate([each.bias for each in maps]),
        block_diag(*(each.error_slope for each in maps)),
        np.concatenate([each.error_constant for each in maps]),
    )


def _or_nan(affine: Affine) -> tuple[Floats, Floats]:
    if affine.missing_value is None or affine.missing_error is None:
        return np.full(affine.weight.shape, np.nan), np.zeros(affine.weight.shape)
    return affine.missing_value, affine.missing_error


def _blocks(values: Sequence[Floats]) -> list[Floats]:
    """What the leaves of each add to the scores of all: nothing to those of the others."""
    widths = [value.shape[1] for value in values]
    before = np.cumsum([0, *widths])
    return [
        np.pad(value, ((0, 0), (int(start), int(before[-1] - start) - value.shape[1])))
        for value, start in zip(values, before, strict=False)
    ]


def _bases(members: Sequence[TreeEnsemble | ObliqueEnsemble]) -> Floats:
    return np.concatenate([member.base for member in members])


def _fields(made: TreeEnsemble | ObliqueEnsemble) -> dict[str, Any]:
    return {each.name: getattr(made, each.name) for each in fields(made) if each.init}
