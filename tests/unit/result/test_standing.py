"""What a region asks of each feature, against the definition tried out value by value."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from elbowroom.problem import Ball, Box, Diamond, Feature, Group, Space
from elbowroom.result import Region
from tests.support.answers import CENTER, FACTUAL, make_raw_region, make_region

HAS, STAYS, FREE = "has to change", "must stay within", "does not matter"


def kinds(region: Region) -> dict[str, str]:
    return dict(zip(region.intervals["feature"], region.intervals["kind"], strict=True))


def test_the_three_kinds_of_a_box() -> None:
    region = make_region(room=Box({"salary": 200_000.0, "rate": 0.1, "duration": 2}))
    assert kinds(region) == {
        "age": STAYS, "salary": FREE, "duration": HAS, "telephone": HAS, "housing_own": HAS, "housing_rent": HAS,
        "housing_for free": STAYS, "rate": STAYS,
    }  # fmt: skip
    assert region.intervals["has_to_change"].tolist() == [kind == HAS for kind in kinds(region).values()]
    assert region.changes == 3  # the three columns of a group are one feature
    assert "3 features have to change" in repr(region)


def test_a_changed_centre_that_need_not_change() -> None:
    """The value now lies inside the room around another centre: it may stay."""
    center = FACTUAL.copy()
    center[1] += 1_000.0
    region = make_region(center=center, room=Box({"salary": 1_500.0}))
    assert region.changed.sum() == 1 and region.changes == 0
    assert "Nothing has to change. If you keep salary between" in region.sentence()
    assert ">has to change<" not in region.to_html() and "→" not in str(region)


def test_categories() -> None:
    room = {"salary": 500.0}
    assert kinds(make_raw_region(Box(room, categories={"purpose": ["car", "radio"]})))["purpose"] == HAS
    assert kinds(make_raw_region(Box(room, categories={"purpose": ["car", "repairs"]})))["purpose"] == STAYS
    free = make_raw_region(Box(room, categories={"purpose": "any"}))
    assert kinds(free)["purpose"] == FREE and kinds(free)["branch"] == STAYS and kinds(free)["debt"] == STAYS
    assert "purpose does not matter" in free.sentence() and "purpose becomes" not in free.sentence()


def test_what_cannot_move_is_never_called_free() -> None:
    space = Space(
        (
            Feature("fixed", lower=0, upper=1, immutable=True),
            Feature("only", lower=2, upper=2),
            Feature("x", lower=0, upper=1),
        )
    )
    region = make_region(space, np.array([0.5, 2.0, 0.0]), np.array([0.5, 2.0, 0.5]), Box(0.5))
    assert list(kinds(region).values()) == [STAYS, STAYS, FREE]


@pytest.mark.parametrize(("way", "now", "expected"), [("increasing", 0.25, FREE), ("decreasing", 0.25, STAYS)])
def test_one_way_features_are_free_where_they_may_go(way: str, now: float, expected: str) -> None:
    space = Space((Feature("x", lower=0, upper=1, direction=way), Feature("y")))
    region = make_region(
        space, np.array([now, 0.0]), np.array([now + 0.25, 1.0]), Box(low={"x": 0.25}, high={"x": 0.5})
    )
    assert kinds(region)["x"] == expected


@pytest.mark.parametrize("room", [Ball(1.0), Diamond(1.0)])
def test_columns_that_share_a_budget(room: Ball | Diamond) -> None:
    space = Space((Feature("x", lower=0, upper=1), Feature("y", lower=-5, upper=5)))
    corner = make_region(space, np.array([0.9, 0.9]), np.array([0.0, 0.0]), room)
    assert list(kinds(corner).values()) == [STAYS, STAYS]  # the extents take both, the shape does not
    assert "No single feature has to change, but not all can stay as they are. If together x (" in corner.sentence()
    far = make_region(space, np.array([0.9, 3.0]), np.array([0.5, 0.0]), room)
    assert list(kinds(far).values()) == [STAYS, HAS]
    assert "instead of 3" in far.sentence() and ", now 0.9)" in far.sentence()
    inside = make_region(space, np.array([0.5, 0.1]), np.array([0.5, 0.0]), room)
    assert "Nothing has to change. " in inside.sentence()


def test_against_the_definition_on_grids() -> None:
    """On a grid: has to change if no point of the region has the value now; does not matter if replacing the value by any
    allowed one never leaves the region."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        names = ["a", "b", "c", "d"]
        space = Space(
            tuple(Feature(name, "integer", 0, 3) for name in names[:2])
            + tuple(Feature(name, "binary") for name in names[2:]),
            (Group("g", ("c", "d")),) if rng.random() < 0.5 else (),
        )
        grouped = bool(space.groups)
        points = [
            np.array(p, dtype=float)
            for p in itertools.product(range(4), range(4), (0, 1), (0, 1))
            if not grouped or p[2] + p[3] == 1
        ]
        now, center = points[rng.integers(len(points))], points[rng.integers(len(points))]
        widths = {name: float(rng.integers(0, 4)) for name in (names[:2] if grouped else names)}
        free = {"g": "any"} if grouped and rng.random() < 0.5 else None
        region = make_region(space, now, center, Box(widths, categories=free))
        inside = [p for p in points if region.body.contains(p[None])[0]]
        columns = [[0], [1], [2, 3]] if grouped else [[0], [1], [2], [3]]
        standings = region.standings
        for j, column in enumerate(columns):
            found = standings.groups[0].value if grouped and j == 2 else standings.columns[column[0]].value
            values = {tuple(p[column]) for p in inside}
            everything = {tuple(p[column]) for p in points}
            expected = HAS if tuple(now[column]) not in values else FREE if values == everything else STAYS
            assert found == expected
        assert (region.changes == 0) == any((p == now).all() for p in inside)


def test_the_table_of_a_hand_made_region_counts_what_has_to_change() -> None:
    region = make_region(center=CENTER, room=Box(0.01))
    assert region.changes == 4
    assert region.to_html().count(">has to change<") == 4 and str(region).count("→") == 4
