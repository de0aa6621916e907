"""Questions about raw columns, from the table to the region: against the truth by trying everything, for all engines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from elbowroom import AtMost, Box, Explainer, InputError, Region, Space, Status
from elbowroom.problem import Missing, RecourseProblem
from tests.support.hostile import attack
from tests.support.raw_tables import FAMILIES, closest_by_trying, fitted, raw_table

ROOMS = (
    Box(0),
    Box({"months": 1}),
    Box({"months": 1}, categories={"housing": "any"}),
    Box(0, categories={"housing": ["own", "rent"], "grade": [1, 3]}),
    Box(0, categories={"job": "any"}),
    Box(0, categories={"grade": (4,), "branch": "any"}),
)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_the_closest_region_is_found_in_raw_columns(family: str, seed: int) -> None:
    frame, labels = raw_table(seed)
    filled: dict[str, Missing | str] = {"job": "may be filled"} if seed % 2 else {}
    space = Space.from_frame(frame, immutable=["grade"] if seed == 2 else [], missing=filled)
    explainer = Explainer(fitted(family, space, frame, labels, seed), space)
    absent = np.flatnonzero(frame["job"].isna())[0]
    outcomes = set()
    for number, room in enumerate(ROOMS):
        row = frame.iloc[int(absent) if number % 2 else 3 + number]
        wanted = "good" if explainer.predict(space.row(row)[None])[0] == "bad" else "bad"
        rules = (AtMost(2),) if number == 1 else ()
        problem = RecourseProblem.ask(explainer.model, space, row, room, wanted, rules=rules)
        answer = explainer.explain(row, room, wanted, rules=rules)
        outcomes.add(answer.status)
        truth = _with_rules(problem, explainer) if rules else closest_by_trying(problem, explainer.predict)
        if truth == np.inf:
            assert answer.status is Status.NONE_EXISTS, (number, answer)
            continue
        assert isinstance(answer, Region), (number, answer)
        assert answer.status is Status.OPTIMAL
        assert answer.distance == pytest.approx(truth, rel=1e-4)
        attack(explainer.predict, answer.body, wanted)
        _never_turns_missing(answer, row)
        for name, taken in (room.categories or {}).items():
            if not isinstance(taken, str):
                seen = set(space.table(answer.body.sample(300))[name].tolist())
                assert seen == (set(taken) if seed != 2 or name != "grade" else {row["grade"]})  # immutable wins
    assert Status.OPTIMAL in outcomes


def _with_rules(problem: RecourseProblem, explainer: Explainer) -> float:
    """The truth by trying, where a rule limits the centre but not its room, which is one month wide."""
    far = replace(problem, rules=())
    space = problem.space
    best = np.inf
    for months in np.arange(problem.lower[0], problem.upper[0] + 1):
        for picks in np.ndindex(*(m.size for m in space.members)):
            center = problem.factual.copy()
            center[0] = months
            for members, pick in zip(space.members, picks, strict=True):
                center[members] = np.eye(members.size)[pick]
            if problem.admissible(center) and far.measure(center) < best:
                points = center + np.outer([-1.0, 0.0, 1.0], np.eye(center.size)[0])
                points = points[problem.body(center).contains(points)]
                if (explainer.predict(points) == problem.target.label).all():
                    best = far.measure(center)
    return float(best)


def _never_turns_missing(region: Region, row: pd.Series) -> None:
    inside = region.space.table(region.body.sample(200))["job"].isna()
    filled = all(f.missing is Missing.FILL for f in region.space.features)
    if pd.isna(row["job"]):
        assert inside.all() or filled or not inside.any()
    else:
        assert not inside.any()


def test_what_is_missing_stays_missing_unless_it_may_be_filled() -> None:
    frame, labels = raw_table(0)
    rows = frame[frame["job"].isna()]
    for missing in ("keep", "may be filled"):
        space = Space.from_frame(frame, missing=missing, immutable=["months", "housing", "grade"])
        explainer = Explainer(fitted("linear", space, frame, labels, 0), space)
        found = 0
        for i in range(len(rows)):
            answer = explainer.explain(rows.iloc[i], Box(0))
            found += bool(answer) and bool(answer.distance > 0)
        assert (found > 0) == (missing == "may be filled")


def test_a_room_that_does_not_take_the_category_of_an_immutable_column_leaves_nothing() -> None:
    frame, labels = raw_table(0)
    space = Space.from_frame(frame, immutable=["housing"])
    explainer = Explainer(fitted("linear", space, frame, labels, 0), space)
    row = frame[frame["housing"] == "rent"].iloc[0]
    answer = explainer.explain(row, Box(0, categories={"housing": ["own"]}), "good")
    assert answer.status is Status.NONE_EXISTS
    assert "'housing' cannot change" in answer.reason  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ({"housing": ["own", "castle"]}, r"categories\['housing'\]: 'castle' is not one of its categories"),
        ({"housing": ["owm"]}, "did you mean 'own'"),
        ({"job": ["smith", None]}, "never turns missing"),
        ({"housing": []}, "names no category"),
        ({"housing": "own"}, r"= 'own' is unknown; use \"any\", \"fixed\" or a list"),
        ({"months": "any"}, "'months' holds numbers"),
        ({"city": "any"}, r"'city' is unknown; there are \['housing', 'grade', 'job', 'branch'\]"),
    ],
)
def test_rooms_that_name_what_is_not_there(categories: dict[str, object], message: str) -> None:
    space = Space.from_frame(raw_table(0)[0])
    with pytest.raises(InputError, match=message):
        Box(0, categories=categories).walls(space)  # type: ignore[arg-type]


def test_a_radius_for_a_category_is_refused_by_name() -> None:
    space = Space.from_frame(raw_table(0)[0])
    with pytest.raises(InputError, match="column 'housing' holds categories; use categories="):
        Box({"housing": 1}).walls(space)
    with pytest.raises(InputError, match="unknown column 'mnths'; did you mean 'months'"):
        Box({"mnths": 1}).walls(space)
    assert Box([2, 0, 0, 0, 0]).walls(space).up.tolist() == [2.0] + [0.0] * 11
