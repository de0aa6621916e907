"""Menus, fewest changes and answers of different kinds: equal to enumeration on small problems."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from elbowroom import (
    AtMost,
    Box,
    Explainer,
    InputError,
    LinearRule,
    Menu,
    NoRegion,
    NotAll,
    Region,
    Space,
    Status,
)
from elbowroom.problem import Feature, RecourseProblem
from elbowroom.search.contract import Clock
from elbowroom.search.menu import fewest
from tests.support.few_changes import best_by_kind, kind_of
from tests.support.hostile import attack
from tests.support.small_models import random_trees
from tests.support.small_questions import random_question

CLOSE = 1e-9


def explainer_of(problem: RecourseProblem) -> Explainer:
    return Explainer(problem.model, problem.space)


def small(seed: int) -> RecourseProblem:
    """Without rules of its own: the limits on changes are what is tested."""
    rng = np.random.default_rng([19, seed])
    if seed % 3 == 0:
        return replace(random_question(rng), rules=())
    cuts = [rng.choice(np.arange(-8, 9) / 4.0, 4, replace=False) for _ in range(4)]
    model = random_trees(rng, 4, int(rng.integers(4, 9)), 3, cuts, base=-1.0)
    features = tuple(
        Feature(f"x{f}", str(rng.choice(["numeric", "integer"])), weight=float(rng.choice([1.0, 1.0, 1.5, 0.6])))
        for f in range(4)
    )
    row = rng.integers(-2, 3, 4).astype(float)
    target = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
    room = Box(float(rng.choice([0.0, 0.1, 0.3])))
    distance = str(rng.choice(["l1", "l1", "l2", "linf"]))
    return RecourseProblem.ask(model, Space(features), row, room, target, distance)


def question(problem: RecourseProblem) -> dict[str, object]:
    return {"room": problem.room, "target": problem.target, "distance": problem.distance}


def judged(problem: RecourseProblem, region: Region) -> None:
    info = problem.model.info
    labels = np.array(info.classes)
    attack(
        lambda X: labels[info.labels_of(problem.model.scores(X))], region.body, problem.target.label, problem.model.cuts
    )
    again = Region.from_json(region.to_json())
    assert again.rules == region.rules and again.few == region.few


def check_menu(problem: RecourseProblem) -> int:
    truth = best_by_kind(problem)
    menu = explainer_of(problem).menu(problem.factual, **question(problem))
    best = min(truth.values(), default=math.inf)
    if not truth:
        assert len(menu) == 0 and isinstance(menu.closest, NoRegion) and menu.closest.status is Status.NONE_EXISTS
        return 0
    assert menu[-1].distance == pytest.approx(best, rel=CLOSE, abs=1e-12)
    last = len(kind_of(problem, menu.closest.body.center))
    for k in range(1, last):
        least = min((d for kind, d in truth.items() if len(kind) <= k), default=math.inf)
        answer = menu.limited[k - 1]
        if math.isinf(least):
            assert k in menu.none
        else:
            assert isinstance(answer, Region) and answer.status is Status.OPTIMAL
            assert answer.distance == pytest.approx(least, rel=CLOSE, abs=1e-12)
            assert len(kind_of(problem, answer.body.center)) <= k
    counts = [len(kind_of(problem, region.body.center)) for region in menu]
    distances = [region.distance for region in menu]
    assert counts == sorted(set(counts)) and distances == sorted(set(distances), reverse=True)
    assert list(menu.table["changes"]) == sorted([*counts, *menu.none])
    for region in menu:
        judged(problem, region)
    return len(menu)


def check_diverse(problem: RecourseProblem, k: int = 4) -> int:
    truth = best_by_kind(problem)
    found = explainer_of(problem).explain_diverse(problem.factual, k, **question(problem))
    former: list[frozenset[int]] = []
    for place in range(k):
        left = {kind: d for kind, d in truth.items() if not any(one <= kind for one in former)}
        if not left:
            assert len(found) == place
            break
        region = found[place]
        kind = kind_of(problem, region.body.center)
        assert kind in left
        assert region.status is Status.OPTIMAL
        assert region.distance == pytest.approx(min(left.values()), rel=CLOSE, abs=1e-12)
        assert len(region.rules) == place and all(isinstance(rule, NotAll) for rule in region.rules)
        judged(problem, region)
        former.append(kind)
    return len(found)


def check_fewest(problem: RecourseProblem, share: float) -> bool:
    truth = best_by_kind(problem)
    answer = explainer_of(problem).explain(problem.factual, **question(problem), prefer_few=share)
    if not truth:
        assert isinstance(answer, NoRegion)
        return False
    assert isinstance(answer, Region) and answer.few is not None and answer.few.proven
    best = min(truth.values())
    assert answer.closest_distance == pytest.approx(best, rel=CLOSE, abs=1e-12)
    within = {kind: d for kind, d in truth.items() if d <= (1.0 + share) * best * (1.0 + CLOSE) + 1e-12}
    fewest = min(len(kind) for kind in within)
    assert len(kind_of(problem, answer.body.center)) == fewest
    assert answer.distance == pytest.approx(
        min(d for kind, d in truth.items() if len(kind) == fewest), rel=CLOSE, abs=1e-12
    )
    judged(problem, answer)
    return answer.few.closest_changes > fewest


def test_menus_equal_enumeration() -> None:
    assert sum(check_menu(small(seed)) > 1 for seed in range(30)) >= 3


def test_diverse_answers_equal_enumeration() -> None:
    assert sum(check_diverse(small(seed)) > 1 for seed in range(30)) >= 8


def test_fewest_changes_equal_enumeration() -> None:
    assert sum(check_fewest(small(seed), 0.5) for seed in range(30)) >= 1


@pytest.mark.long
@pytest.mark.parametrize("block", range(6))
def test_many_equal_enumeration(block: int) -> None:
    for seed in range(30 + 50 * block, 80 + 50 * block):
        check_menu(small(seed))
        check_diverse(small(seed))
        check_fewest(small(seed), 0.3)


@pytest.mark.long
def test_rooms_on_some_columns_in_menus_and_diverse_answers() -> None:
    for seed in range(0, 180, 3):  # at most three axes: many centres are tried
        for on in ("changed", "kept"):
            problem = small(seed)
            room = problem.room
            assert isinstance(room, Box)
            problem = replace(problem, room=Box(room.radius, room.low, room.high, on=on))
            check_menu(problem)
            check_diverse(problem)


def several_answers() -> tuple[Explainer, np.ndarray]:
    rng = np.random.default_rng(4)
    cuts = [rng.normal(size=8) for _ in range(5)]
    model = random_trees(rng, n_features=5, n_trees=12, depth=3, cuts=cuts, exact=False)
    space = Space.plain(model.info.names)
    explainer = Explainer(model, space)
    for _ in range(200):
        row = rng.normal(size=5)
        menu = explainer.menu(row, Box(0.05))
        if len(menu) >= 2:
            return explainer, row
    raise AssertionError("no row with a menu of two")


def test_a_menu_is_a_sequence_with_words_a_table_and_a_picture() -> None:
    explainer, row = several_answers()
    menu = explainer.menu(row, Box(0.05))
    assert isinstance(menu, Menu) and menu[0] is next(iter(menu)) and len(menu[:1]) == 1
    table = menu.table
    assert list(table.columns) == ["changes", "distance", "lower_bound", "status", "what changes"]
    assert isinstance(table, pd.DataFrame) and table["changes"].is_monotonic_increasing
    assert "With " in str(menu) and "the closest of all" in str(menu)
    assert "<li>" in menu._repr_html_()
    axes = menu.plot().ax
    assert axes.get_xlabel() == "features that change"
    one = explainer.menu(row, Box(0.05), most=1)
    assert one.closest.distance == menu.closest.distance and len(one.limited) <= 1


def test_fewer_changes_are_said_with_what_they_cost() -> None:
    explainer, row = several_answers()
    closest = explainer.explain(row, Box(0.05))
    few = explainer.explain(row, Box(0.05), prefer_few=10.0)
    assert few.changed.sum() < closest.changed.sum()
    assert few.distance > few.closest_distance == closest.distance == closest.closest_distance
    assert any(isinstance(rule, AtMost) for rule in few.rules)
    assert "Few changes were preferred: the closest answer of all is at" in str(few)
    assert "Few changes" in few.to_html()
    kept = Region.from_json(few.to_json())
    assert kept.few == few.few


def test_a_false_share_is_refused() -> None:
    explainer, row = several_answers()
    text = explainer.explain(row, Box(0.05), prefer_few=10.0).to_json()
    for forged in (text.replace('"share": 10.0', '"share": 1e-06'), text.replace('"share": 10.0', '"share": -1.0')):
        with pytest.raises(InputError):
            Region.from_json(forged)


def test_bad_questions_are_refused_by_name() -> None:
    explainer, row = several_answers()
    for wrong in (True, -0.1, math.nan, "a lot"):
        with pytest.raises(InputError, match="prefer_few"):
            explainer.explain(row, prefer_few=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="k=0"):
        explainer.explain_diverse(row, 0)
    with pytest.raises(InputError, match="most="):
        explainer.menu(row, most=0)
    with pytest.raises(InputError, match="by='colour'"):
        explainer.explain_diverse(row, 2, by="colour")
    with pytest.raises(InputError, match="on='kept'"):
        explainer.explain_diverse(row, 2, Box(0.05, on="kept"), rules=[LinearRule({"x0": 1.0, "x1": 1.0}, high=0.0)])


def test_without_time_nothing_false_is_said() -> None:
    explainer, row = several_answers()
    menu = explainer.menu(row, Box(0.05), time_limit=0.0)
    for answer in (*menu.limited, menu.closest):
        assert answer.lower_bound <= explainer.explain(row, Box(0.05), rules=answer.rules).distance
    found = explainer.explain_diverse(row, 3, Box(0.05), time_limit=0.0)
    assert all(region.lower_bound <= region.distance for region in found)


def test_room_on_changed_columns_is_kept_in_files_and_words() -> None:
    explainer, row = several_answers()
    region = explainer.explain(row, Box(0.05, on="changed"))
    assert isinstance(region, Region)
    assert np.array_equal(region.body.lower < region.body.upper, region.body.center != row)
    assert Region.from_json(region.to_json()).room == region.room
    assert "only in features that change" in region.to_html()
    wide = region.widen().region
    assert wide.status is Status.CERTIFIED and wide.lower_bound == 0.0
    with pytest.raises(InputError, match="factual="):
        explainer.certify(region.center, Box(0.05, on="changed"))
    assert explainer.certify(region.center, Box(0.05, on="changed"), factual=row)
    with pytest.raises(InputError, match='on="kept"'):
        explainer.frontier(row, [0.01], room=Box(1.0, on="kept"))
    radii = explainer.frontier(row, [0.01, 0.05], room=Box(1.0, on="changed"))
    assert radii["distance"].iloc[-1] == pytest.approx(region.distance)


def test_an_answer_with_few_changes_may_be_the_closest_itself() -> None:
    """The closest of all is known up to its gap; a search among fewer changes may end below it."""
    problem = small(1)
    region = explainer_of(problem).explain(problem.factual, **question(problem))  # type: ignore[arg-type]
    assert isinstance(region, Region)
    free = replace(region, distance=region.distance * 1.00005)
    chosen = fewest(free, lambda *_: region, lambda r: 2 if r is free else 1, Clock(10.0), 0.1)
    assert chosen.few is not None
    assert chosen.few.closest_distance == region.distance and chosen.few.closest_changes == 1
    assert Region.from_json(chosen.to_json()).few == chosen.few
