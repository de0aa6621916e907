"""The widest box: brute force on small trees, exact ends on linear models, honest ends everywhere else."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from elbowroom import (
    Ball,
    Box,
    Diamond,
    End,
    Explainer,
    Feature,
    InputError,
    Region,
    Space,
    Status,
    TreeEnsemble,
    Widening,
)
from elbowroom.certify import certify
from elbowroom.models import Affine, Decision, LinearModel
from elbowroom.models.margins import tree_margins
from elbowroom.problem import Body, RecourseProblem, Target
from elbowroom.result import Certificate, Undecided
from elbowroom.search.contract import Clock
from elbowroom.search.widen import widest_box
from tests.support.hostile import attack
from tests.support.small_models import every_cell, info, random_network, random_trees
from tests.support.small_questions import random_question


def _question(explainer: Explainer, region: Region) -> RecourseProblem:
    """The question that the region says it answers: what a check from a file asks."""
    return RecourseProblem.ask(
        explainer.model, region.space, region.factual_values, region.room, region.target, region.metric
    )


def _longer(body: Body, f: int, low: bool, to: float) -> Body:
    ends = (body.lower if low else body.upper).copy()
    ends[f] = to
    return replace(body, lower=ends) if low else replace(body, upper=ends)


def _check(explainer: Explainer, region: Region, wide: Widening) -> None:
    """What every widening must satisfy, whatever the model."""
    body, old = wide.region.body, region.body
    assert isinstance(certify(explainer.model, region.target, body, 20.0), Certificate)
    assert wide.region.certificate.body is body
    assert (body.lower <= old.lower).all() and (body.upper >= old.upper).all()
    assert np.array_equal(body.center, old.center) and wide.region.distance == region.distance
    assert _question(explainer, wide.region).is_room(body)
    for sides, ends, limits in (
        (wide.lows, body.lower, explainer.space.lower),
        (wide.highs, body.upper, explainer.space.upper),
    ):
        for f, side in enumerate(sides):
            if side.end is End.MAXIMAL:
                assert side.witness is not None
            if side.witness is not None:
                beyond = side.witness[f] < body.lower[f] or side.witness[f] > body.upper[f]
                others = np.arange(body.center.size) != f
                inside = (body.lower <= side.witness) & (side.witness <= body.upper)
                assert beyond and inside[others].all()
            if side.end is End.BOUND and explainer.space.features[f].direction.value == "any":
                assert ends[f] == limits[f]


def _good(model: TreeEnsemble, target: Target, points: np.ndarray) -> np.ndarray:
    """Points whose margins reach the slack that is asked of a certified point."""
    index = target.index(model.info)
    margins, leaves = tree_margins(model, index, target.probability), model.leaves
    reached = ((leaves.lower[None] < points[:, None]) & (points[:, None] <= leaves.upper[None])).all(axis=2)
    return (margins.base + reached.astype(float) @ margins.value >= margins.slack).all(axis=1)


def test_small_trees_against_every_cell() -> None:
    """All cells of the wide box are good, and one value beyond each maximal end there is a bad one."""
    seen = dict.fromkeys(End, 0)
    for seed in range(140):
        problem = random_question(np.random.default_rng(seed))
        model = problem.model
        assert isinstance(model, TreeEnsemble)
        explainer = Explainer(model, problem.space)
        region = explainer.explain(problem.factual, problem.room, problem.target, problem.distance, problem.rules)
        if not region:
            continue
        wide = region.widen()
        _check(explainer, region, wide)
        assert wide.proved
        body = wide.region.body
        near = replace(body, lower=np.maximum(body.lower, -30.0), upper=np.minimum(body.upper, 30.0))
        cells = every_cell(model, near)
        if problem.target.probability is None:
            assert (model.info.labels_of(model.scores(cells)) == problem.target_index).all()
        assert _good(model, problem.target, cells).all()
        for low, sides in ((True, wide.lows), (False, wide.highs)):
            for f, side in enumerate(sides):
                seen[side.end] += 1
                if side.end is not End.MAXIMAL:
                    continue
                assert side.witness is not None and not _good(model, problem.target, side.witness[None])[0]
                end = body.lower[f] if low else body.upper[f]
                outward = -1.0 if low else 1.0
                following = end + outward if body.whole[f] else side.witness[f]
                assert not _good(model, problem.target, every_cell(model, _longer(near, f, low, following))).all()
                if not body.whole[f]:  # the witness is the first float of the next cell, or one of its later ones
                    cuts = model.cuts[f]
                    assert ((cuts >= min(end, following)) & (cuts < max(end, following))).sum() == 1
    assert min(seen[End.MAXIMAL], seen[End.BOUND], seen[End.FIXED], seen[End.OPEN]) > 20
    assert seen[End.UNPROVED] == 0


def test_every_direction_of_a_linear_model_ends_at_neighbouring_floats() -> None:
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 5))
        model = LinearModel(info(n), Affine.exact(rng.normal(size=(1, n)), rng.normal(size=1)))
        features = tuple(
            Feature(f"x{f}", "integer" if rng.random() < 0.3 else "numeric", -9.0, 9.0, scale=float(rng.choice([1, 5])))
            for f in range(n)
        )
        space = Space(features)
        explainer = Explainer(model, space)
        row = np.where(space.whole_center, np.round(rng.uniform(-4, 4, n)), rng.uniform(-4, 4, n))
        region = explainer.explain(row, room=Box(0.02))
        if not region:
            continue
        wide = region.widen()
        _check(explainer, region, wide)
        assert wide.proved
        attack(explainer.predict, wide.region.body, region.target.label)
        weight = model.affine.weight[0] * (1.0 if region.target.label == 1 else -1.0)
        worst = np.where(weight > 0, wide.region.body.lower, wide.region.body.upper)
        for f in np.flatnonzero(weight > 0):  # the side that cannot hurt goes to the limit
            assert wide.highs[f].end is End.BOUND
        for f in np.flatnonzero(~space.whole_center):  # and the other one uses up the margin
            side = wide.lows[f] if weight[f] > 0 else wide.highs[f]
            if side.end is End.MAXIMAL:
                beyond = worst.copy()
                beyond[f] += -np.sign(weight[f]) * 1e-9
                sign = 1.0 if region.target.label == 1 else -1.0
                assert sign * model.scores(beyond[None])[0, 0] < 0


def test_networks_say_what_they_do_not_prove() -> None:
    rng = np.random.default_rng(3)
    model = random_network(rng, (3, 6))
    space = Space(tuple(Feature(f"x{f}", lower=-3.0, upper=3.0) for f in range(3)))
    explainer = Explainer(model, space)
    region = explainer.explain(np.zeros(3), room=Box(0.05))
    assert region
    wide = region.widen(time_limit=20.0)
    _check(explainer, region, wide)
    attack(explainer.predict, wide.region.body, region.target.label)
    doubtful = [side for side in (*wide.lows, *wide.highs) if side.end is End.UNPROVED]
    assert doubtful and not wide.proved
    assert "neither found nor ruled out" in wide.sentence()
    refuted = [side.witness for side in doubtful if side.witness is not None]
    assert refuted and (explainer.predict(np.array(refuted)) != region.target.label).all()
    assert ((wide.region.body.upper - wide.region.body.lower) > (region.body.upper - region.body.lower)).any()


@pytest.fixture(scope="module")
def boosting() -> tuple[Explainer, pd.DataFrame]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.uniform(0, 100, (300, 5)), columns=["a", "b", "c", "d", "e"]).round(2)
    frame["children"] = rng.integers(0, 5, 300)
    label = np.where(frame["a"] + 0.5 * frame["b"] - 8 * frame["children"] > 60, "yes", "no")
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(frame, label)
    return Explainer(model, Space.from_frame(frame, immutable=["e"], increasing=["b"])), frame


def _region(boosting: tuple[Explainer, pd.DataFrame], room: object = None) -> Region:
    explainer, frame = boosting
    row = frame[explainer.predict(frame.to_numpy(float)) == "no"].iloc[0]
    region = explainer.explain(row, room=Box(0.02) if room is None else room)
    assert isinstance(region, Region)
    return region


def test_a_fitted_model_is_attacked(boosting) -> None:
    explainer, _ = boosting
    region = _region(boosting)
    wide = region.widen()
    _check(explainer, region, wide)
    assert wide.proved
    attack(explainer.predict, wide.region.body, "yes", explainer.model.cuts)
    witnesses = np.array([s.witness for s in (*wide.lows, *wide.highs) if s.witness is not None])
    assert len(witnesses) and (explainer.predict(witnesses) == "no").all()
    table = wide.table.set_index("feature")
    assert table.loc["e", "low_end"] == End.FIXED.value
    assert table.loc["b", "low"] >= region.factual["b"]
    assert {"low", "high", "low_maximal", "high_maximal", "low_fails_at", "high_fails_at"} <= set(table.columns)
    assert (table["low_fails_at"].dropna() <= table["low"][table["low_fails_at"].notna()]).all()
    assert region.status is wide.region.status and wide.region.lower_bound == region.lower_bound
    assert "can be moved further" in str(wide) and "ends maximal" in repr(wide)


def test_an_end_much_smaller_than_the_centre_is_found_to_the_last_float() -> None:
    for far in (1e9, 1e12, 1e15):
        for sign in (1.0, -1.0):
            X = sign * np.array([[-1.0], [0.1], [0.5], [far]])
            explainer = Explainer(DecisionTreeClassifier().fit(X, [0, 0, 1, 1]), Space((Feature("x0", scale=far),)))
            wide = explainer.explain([sign * far], Box(0.001), target=1).widen()
            side, end = (wide.lows[0], wide.region.body.lower) if sign > 0 else (wide.highs[0], wide.region.body.upper)
            assert side.end is End.MAXIMAL and side.witness is not None
            assert np.nextafter(end, -sign * np.inf) == side.witness
            assert explainer.predict(end[None])[0] == 1 and explainer.predict(side.witness[None])[0] == 0
            assert _question(explainer, wide.region).is_room(wide.region.body)
            again = explainer.widen(Region.from_json(wide.to_json()))
            assert again.region.body.same_as(wide.region.body)


def test_a_box_beyond_the_next_width_is_not_the_room_asked_for(boosting) -> None:
    explainer, _ = boosting
    region = _region(boosting)
    problem, body = _question(explainer, region), region.body
    assert problem.is_room(body)
    f = int(np.flatnonzero(body.lower < body.upper)[0])
    for low, to in ((True, body.lower[f] - 1e-6), (False, body.upper[f] + 1e-6), (False, body.center[f])):
        assert not problem.is_room(_longer(body, f, low, to))
    assert not problem.is_room(replace(body, axes=body.axes + 1.0))
    ball = replace(problem, room=Ball(0.05)).body(body.center)
    assert replace(problem, room=Ball(0.05)).is_room(ball)
    assert not replace(problem, room=Ball(0.05)).is_room(
        _longer(ball, f, True, float(np.nextafter(ball.lower[f], -9e9)))
    )


def test_widening_again_changes_nothing(boosting) -> None:
    region = _region(boosting)
    once = region.widen()
    twice = once.region.widen()
    assert np.array_equal(once.region.body.lower, twice.region.body.lower)
    assert np.array_equal(once.region.body.upper, twice.region.body.upper)
    assert [s.end for s in once.lows] == [s.end for s in twice.lows]


def test_the_first_in_order_gets_the_most() -> None:
    """x + y >= 0 within [-3, 3]: what one feature takes, the other one lacks."""
    model = LinearModel(info(2), Affine.exact(np.ones((1, 2)), np.zeros(1)))
    explainer = Explainer(model, Space((Feature("x0", lower=-3, upper=3), Feature("x1", lower=-3, upper=3))))
    region = explainer.explain(np.array([2.0, 1.0]), room=Box(0.01), target=1)
    lows = {name: region.widen(order=[name]).region.lower for name in ("x0", "x1")}
    assert lows["x0"].round(6).tolist() == [-0.99, 0.99] and lows["x1"].round(6).tolist() == [1.99, -1.99]
    fair = region.widen().region
    assert (fair.lower < [1.9, 0.9]).all()


def test_json_and_check_from_a_file(boosting) -> None:
    explainer, _ = boosting
    wide = _region(boosting).widen()
    back = Region.from_json(wide.to_json())
    assert np.array_equal(back.body.lower, wide.region.body.lower)
    assert _question(explainer, back).is_room(back.body)
    with pytest.raises(InputError, match=r"explainer\.widen\(region\)"):
        back.widen()
    again = explainer.widen(back)
    assert np.array_equal(again.region.body.upper, back.body.upper)


def test_pickles_leave_the_model_behind(boosting) -> None:
    region = _region(boosting)
    copy = pickle.loads(pickle.dumps(region))
    with pytest.raises(InputError, match="copied"):
        copy.widen()
    assert "_widen" not in region.to_json() and "_widen" not in repr(region)


@pytest.mark.parametrize("room", [Ball(0.02), Diamond(0.02)])
def test_round_rooms_are_refused_by_name(room) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    explainer = Explainer(LogisticRegression().fit(X, X[:, 0] > 0))
    region = explainer.explain(X[0], room=room)
    with pytest.raises(InputError, match=r"Box\(\.\.\.\)"):
        region.widen()


def test_nonsense_is_refused(boosting) -> None:
    explainer, _ = boosting
    region = _region(boosting)
    with pytest.raises(InputError, match="did you mean 'children'"):
        region.widen(order=["childern"])
    with pytest.raises(InputError, match="list of column names"):
        region.widen(order=3)
    with pytest.raises(InputError, match="time_limit"):
        region.widen(time_limit=-1)
    with pytest.raises(InputError, match="takes a Region"):
        explainer.widen(region.center)


def test_another_model_is_told_apart(boosting) -> None:
    explainer, frame = boosting
    region = _region(boosting)
    swapped = np.where(explainer.predict(frame.to_numpy(float)) == "yes", "no", "yes")
    judged = Explainer(GradientBoostingClassifier(n_estimators=30, random_state=0).fit(frame, swapped), region.space)
    with pytest.raises(InputError, match="does not hold for this model"):
        judged.widen(region)
    with pytest.raises(InputError, match="columns"):
        Explainer(LogisticRegression().fit([[0.0], [1.0]], [0, 1])).widen(region)


def test_what_was_proven_optimal_for_one_model_is_not_optimal_for_another() -> None:
    """The second model gives the class from 0.3 on, the first from 1.0 on: its closest region is nearer."""
    strict, lenient = (
        Explainer(LinearModel(info(1), Affine.exact(np.ones((1, 1)), np.array([-cut])))) for cut in (1.0, 0.3)
    )
    region = strict.explain([-1.0], Box(0.1))
    nearest = lenient.explain([-1.0], Box(0.1))
    wide = lenient.widen(region).region
    assert region.status is Status.OPTIMAL
    assert nearest.distance < region.distance == wide.distance
    assert wide.status is Status.CERTIFIED
    assert wide.lower_bound <= nearest.distance
    attack(lenient.predict, wide.body, wide.target.label)
    with pytest.raises(InputError, match=r"explainer\.widen"):
        wide.widen()  # the region no longer speaks of the model that it came from


def test_without_time_the_region_stays_as_it_is(boosting) -> None:
    region = _region(boosting)
    wide = region.widen(time_limit=0.0)
    assert np.array_equal(wide.region.body.lower, region.body.lower)
    assert not wide.proved


def _problem(boosting, region: Region) -> RecourseProblem:
    return RecourseProblem.ask(boosting[0].model, region.space, region.factual_values, region.room, region.target)


def test_a_judge_who_tires_costs_width_never_truth(boosting) -> None:
    """Whole boxes beyond a size are undecided: the last certified box is the answer, and refusals met on the way to a
    larger one count only if they also speak about the box that is returned."""
    explainer, _ = boosting
    region = _region(boosting)
    problem = _problem(boosting, region)
    volume = float(np.prod(region.widen().region.body.upper - region.widen().region.body.lower + 1.0))

    def tired(body: Body, seconds: float, looks: float):
        if np.array_equal(body.center, region.body.center) and np.prod(body.upper - body.lower + 1.0) > 0.2 * volume:
            return Undecided("tired")
        return certify(explainer.model, problem.target, body, 10.0)

    wide = widest_box(region, problem, None, tired, Clock(60.0))
    assert isinstance(certify(explainer.model, region.target, wide.region.body, 10.0), Certificate)
    assert not wide.proved
    _check(explainer, region, wide)


def test_an_interrupt_returns_the_last_certified_box(boosting) -> None:
    explainer, _ = boosting
    region = _region(boosting)
    problem = _problem(boosting, region)
    calls = 0

    def interrupted(body: Body, seconds: float, looks: float):
        nonlocal calls
        calls += 1
        if calls == 20:
            raise KeyboardInterrupt
        return certify(explainer.model, problem.target, body, 10.0)

    wide = widest_box(region, problem, None, interrupted, Clock(60.0))
    assert not wide.proved
    _check(explainer, region, wide)


def test_ties_and_three_classes() -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        cuts = [np.arange(-4, 5) / 2.0 for _ in range(2)]
        model = random_trees(rng, 2, 3, 3, cuts, 3, Decision.ARGMAX)
        explainer = Explainer(model)
        region = explainer.explain(np.zeros(2), room=Box(0.1), target=int(rng.integers(3)))
        if not region:
            continue
        wide = region.widen()
        _check(explainer, region, wide)
        assert wide.proved
        attack(explainer.predict, wide.region.body, region.target.label, model.cuts)
