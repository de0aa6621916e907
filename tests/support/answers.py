"""Answers made by hand, for tests of what is shown and written. Their certificates come from no judge."""

from __future__ import annotations

import numpy as np

from elbowroom.problem import Body, Box, Distance, Room, Rule, Space, Target
from elbowroom.problem.distances import Metric
from elbowroom.problem.space import Feature, Group
from elbowroom.result import Certificate, NoRegion, Origin, Region, Status, Step

ORIGIN = Origin("f" * 64, 7, 60.0, 1e-9, {"elbowroom": "0.1.0", "python": "3.11.7", "numpy": "2.0.0"}, "0" * 64)


def credit_space() -> Space:
    """Numbers with units, a whole number, a 0/1 column, an immutable and a one-way feature, a one-hot group."""
    return Space(
        (
            Feature("age", "integer", 18, 90, immutable=True, scale=72, unit="years"),
            Feature("salary", lower=0, upper=200_000, scale=200_000, unit="DM"),
            Feature("duration", "integer", 4, 72, direction="decreasing", scale=68, unit="months"),
            Feature("telephone", "binary"),
            Feature("housing_own", "binary"),
            Feature("housing_rent", "binary"),
            Feature("housing_for free", "binary"),
            Feature("rate", lower=0, upper=1),
        ),
        (Group("housing", ("housing_own", "housing_rent", "housing_for free")),),
    )


FACTUAL = np.array([35.0, 40_123.75, 48.0, 0.0, 0.0, 1.0, 0.0, 0.25])
CENTER = np.array([35.0, 52_104.123456789, 14.0, 1.0, 1.0, 0.0, 0.0, 0.25])


def make_region(
    space: Space | None = None,
    factual: np.ndarray = FACTUAL,
    center: np.ndarray = CENTER,
    room: Room | None = None,
    target: Target | None = None,
    predicted: object = "rejected",
    status: Status = Status.OPTIMAL,
    distance: Distance = Distance.L1,
    gap: float = 0.0,
    trace: tuple[Step, ...] = (),
    rules: tuple[Rule, ...] = (),
    origin: Origin | None = ORIGIN,
    missing: tuple[str, ...] = (),
) -> Region:
    space = space or credit_space()
    room = room or Box(0.01)
    target = target or Target("approved")
    lower, upper = space.lower.copy(), space.upper.copy()
    for f, feature in enumerate(space.features):
        if feature.immutable:
            lower[f] = upper[f] = factual[f]
    body = Body.around(np.asarray(center), room.walls(space), lower, upper, space.whole_room, space.members)
    certificate = Certificate("f" * 64, target, body, "hand-made proof", 0.125, 0.01, ("nothing was proven",))
    measured = Metric.of(space, distance)(np.asarray(factual), body.center)
    return Region(
        status=status,
        space=space,
        factual_values=np.asarray(factual),
        predicted=predicted,
        target=target,
        room=room,
        metric=distance,
        distance=measured,
        lower_bound=measured * (1 - gap),
        certificate=certificate,
        method="by hand",
        seconds=0.5,
        source="a model made by hand",
        trace=trace,
        rules=rules,
        origin=origin,
        missing=missing,
    )


def raw_space() -> Space:
    """Columns of categories between columns of numbers: text, numbers with one for missing values, truth values."""
    return Space(
        (
            Feature("age", "integer", 18, 90, immutable=True, scale=72, unit="years"),
            *(Feature(f"purpose={label}", "binary") for label in ("car", "radio", "repairs")),
            Feature("salary", lower=0, upper=200_000, scale=200_000, unit="DM", missing="may be filled"),
            *(Feature(f"grade={label}", "binary", missing="may be filled") for label in (1, 2.5, "missing")),
            *(Feature(f"owner={label}", "binary") for label in (False, True)),
            Feature("branch=the only one", "binary", 1, 1),
            Feature("debt", lower=-1e6, upper=1e6),
        ),
        (
            Group("purpose", ("purpose=car", "purpose=radio", "purpose=repairs"), 1.5, ("car", "radio", "repairs")),
            Group("grade", ("grade=1", "grade=2.5", "grade=missing"), 1.0, (1, 2.5, None), True),
            Group("owner", ("owner=False", "owner=True"), 1.0, (False, True)),
            Group("branch", ("branch=the only one",), 1.0, ("the only one",)),
        ),
    )


RAW_FACTUAL = np.array([35.0, 0, 0, 1, 40_123.75, 1, 0, 0, 1, 0, 1, 0.0])
RAW_CENTER = np.array([35.0, 1, 0, 0, 52_104.5, 0, 1, 0, 1, 0, 1, 0.0])


def make_raw_region(
    room: Room | None = None, missing: tuple[str, ...] = ("debt",), center: np.ndarray = RAW_CENTER
) -> Region:
    """Of a row in which the debt is missing: the purpose and the grade change, and so does the salary."""
    if missing:
        room = room or Box({"salary": 500.0}, categories={"purpose": ["car", "radio"]})
    return make_region(raw_space(), RAW_FACTUAL, center, room, missing=missing)


def make_no_region(
    status: Status = Status.NONE_EXISTS, lower_bound: float = float("inf"), rules: tuple[Rule, ...] = ()
) -> NoRegion:
    return NoRegion(
        status=status,
        reason="every leaf is 'rejected'",
        space=credit_space(),
        factual_values=FACTUAL,
        target=Target("approved", probability=0.7),
        room=Box(0.05),
        metric=Distance.L2,
        lower_bound=lower_bound,
        method="by hand",
        seconds=0.25,
        rules=rules,
        predicted="rejected",
        source="a model made by hand",
        origin=ORIGIN,
    )
