"""Networks and the stranger's checker: its bounds are never above the truth, answers are confirmed, damage is refused or harmless."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from elbowroom.models import ReluNetwork
from elbowroom.problem import Ball, Body, Box, Diamond, Distance, Feature, RecourseProblem, Space
from elbowroom.proof.duality import widened
from elbowroom.proof.model_file import model_bytes
from elbowroom.proof.prover import Prover
from elbowroom.proof.question_file import question_document
from elbowroom_checker import Refused, check
from elbowroom_checker.maps import Maps
from elbowroom_checker.model import Affine, read_model
from elbowroom_checker.question import Box as Cell
from elbowroom_checker.question import Margin, Question, margins, read_question
from elbowroom_checker.reading import Budget, parsed
from tests.support.hostile import hostile_points
from tests.support.proofs import Proven, about, damaged, packed, places
from tests.support.small_networks import network, solve
from tests.support.small_questions import random_question

HIDDEN = ((5,), (4, 3), (3, 3, 2))


def question(seed: int) -> RecourseProblem:
    """Every kind of feature, of room and of depth; two or three classes."""
    rng = np.random.default_rng(seed)
    space = (like := random_question(rng)).space
    classes = int(rng.integers(2, 4))
    model = network(rng, len(space.names), HIDDEN[seed % 3], classes)
    target = int((model.info.labels_of(model.scores(like.factual[None]))[0] + 1) % classes)
    categories = {group.name: "any" for group in space.groups} if rng.random() < 0.4 else None
    room = [Box, Ball, Diamond][int(rng.integers(3))](float(rng.choice([0.05, 0.2, 0.5])), categories=categories)
    return RecourseProblem.ask(model, space, like.factual, room, target, str(rng.choice(["l1", "l2", "linf"])))


# ---- bounds ------------------------------------------------------------------------------------------------------------
def before_relu(layers: list[Affine], x: np.ndarray) -> list[list[Fraction]]:
    """All sums of a network at one point, exactly."""
    hidden, found = [Fraction(float(v)) for v in x], []
    for layer in layers:
        rows = zip(layer.weight, layer.bias, strict=True)
        found.append([sum((Fraction(w) * h for w, h in zip(row, hidden, strict=True)), Fraction(b)) for row, b in rows])
        hidden = [max(z, Fraction(0)) for z in found[-1]]
    return found


def margin_at(margin: Margin, scores: list[Fraction]) -> Fraction:
    return sum((s * scores[k] for k, s in margin.signs.items()), -margin.goal)


def opened(problem: RecourseProblem, body: Body | None) -> tuple[list[Affine], Question, list[Margin]]:
    model = read_model(parsed(model_bytes(problem.model)))
    asked = read_question(question_document(problem, body), model)
    assert isinstance(model.parts, list)
    return model.parts, asked, margins(model, asked)


@pytest.mark.parametrize("seed", range(30))
def test_no_bound_is_above_the_truth(seed: int) -> None:
    """Any region, any part of it, any multipliers; every sum is computed again in rational numbers."""
    problem, rng = question(seed), np.random.default_rng(seed)
    if problem.trouble is not None:
        pytest.skip("nothing is within the limits")
    center = np.where(problem.space.group_of >= 0, problem.factual, np.clip(problem.factual, *problem.limits))
    body = problem.body(center)
    layers, asked, rows = opened(problem, body)
    points = hostile_points(body)
    points = points[rng.permutation(len(points))[:60]]
    sums, region = [before_relu(layers, x) for x in points], Cell(body.lower.tolist(), body.upper.tolist())
    for sharp in (0.0, 0.3, 3.0):
        some, decided = points[int(rng.integers(len(points)))], {}
        about = [Maps(layers, asked, rows).region(j, body.center.tolist()) for j in range(len(rows))]
        cell, name = widened(region, about[0].neurons), some.size
        for f in range(some.size):
            if rng.random() < 0.5:
                cell.cut(f, float(some[f]) - 0.1, float(some[f]) + 0.1)
        here = before_relu(layers, some)
        for k, layer in enumerate(layers[:-1]):
            for i in range(len(layer.bias)):
                if rng.random() < 0.3:  # at a random value, mostly 0
                    at = float(rng.choice([0.0, 0.0, rng.normal()]))
                    decided[k, i] = at, here[k][i] >= at
                    cell = asked.halves(cell, name + i, at)[int(here[k][i] >= at)]
            name += len(layer.bias)
        assert asked.narrow(cell)
        part = about[0].part(cell, 0)
        assert not part.empty
        multipliers: list[dict[int, Any]] = [
            {i: float(rng.normal(scale=sharp)) for i in range(len(layer.bias)) if rng.random() < sharp}
            for layer in layers[:-1]
        ]
        for i in multipliers[0]:
            if rng.random() < 0.5:  # a plane over the inputs
                multipliers[0][i] = rng.normal(scale=sharp, size=some.size).tolist()
        met = 0
        for x, z in zip(points, sums, strict=True):
            if any(z[k][i] < at if above else z[k][i] > at for (k, i), (at, above) in decided.items()) or not np.all(
                (cell.low[: x.size] <= x) & (x <= cell.high[: x.size])
            ):
                continue
            met += 1
            for k in range(len(layers) - 1):
                assert all(a <= v <= b for a, v, b in zip(part.low[k], z[k], part.high[k], strict=True))
            for row in rows:
                for scale in (Fraction(1), Fraction(-3, 10)):
                    slopes, constant = part.bound([(row, scale)], multipliers)
                    value = sum(a * Fraction(float(v)) for a, v in zip(slopes, x, strict=True)) + constant
                    assert value < scale * margin_at(row, z[-1])
        assert met


def test_the_errors_of_the_original_are_counted() -> None:
    """The float64 scores of a network, in any order of summation, stay within the errors of its file."""
    for seed in range(20):
        problem = question(seed)
        if problem.trouble is not None:
            continue
        body = problem.body(np.clip(problem.factual, *problem.limits))
        layers, asked, rows = opened(problem, body)
        region = Cell(body.lower.tolist(), body.upper.tolist())
        assert asked.narrow(region)
        duality = Maps(layers, asked, rows).region(0, body.center.tolist())
        errors = duality.part(widened(region, duality.neurons), 0).errors
        for x in body.sample(20, seed):
            exact = before_relu(layers, x)[-1]
            for turned in (slice(None), slice(None, None, -1)):
                hidden = x
                for layer in layers:
                    w = np.array(layer.weight)[:, turned]
                    z = np.array([sum((a * b for a, b in zip(row, hidden[turned], strict=True)), 0.0) for row in w])
                    z = z + np.array(layer.bias)
                    hidden = np.maximum(z, 0.0)
                off = [abs(Fraction(float(a)) - b) for a, b in zip(z, exact, strict=True)]
                assert all(a <= b for a, b in zip(off, errors, strict=True))


# ---- answers -----------------------------------------------------------------------------------------------------------
@cache
def answered(seed: int) -> Proven | None:
    """An answer with its proof; None without a region."""
    problem = question(seed)
    run = solve(problem, seconds=1.0)
    if run.referee.certificate is None:
        return None
    body = run.referee.certificate.body
    bound = min(run.lower_bound, run.referee.distance)
    proof = Prover(problem.model).prove(problem, body, bound, 15.0)
    return Proven(problem, body, run.referee.distance, bound, proof, model_bytes(problem.model))


@pytest.mark.parametrize("seed", range(24))
def test_every_answer_has_a_validity_proof_that_is_confirmed(seed: int) -> None:
    found = answered(seed)
    if found is None:
        return
    said = check(found.proof.text.encode(), found.model_file)
    assert said.valid
    if found.proof.missing:
        assert found.proof.missing.startswith("optimality: ") and said.bound is None
        assert any("Nothing is proven about closer centres" in each for each in said.sentences)
    else:
        assert said.bound is not None and found.lower_bound * (1.0 - 1e-8) <= said.bound <= found.distance
    assert found.body is not None
    assert all_good(found.problem.model, found.body, found.problem.target_index)  # type: ignore[arg-type]


def test_most_answers_have_both_halves() -> None:
    """(Not with distance l2.)"""
    found = [each for each in with_answers(24) if each.problem.distance is not Distance.L2]
    assert len(found) > 5 and sum(each.proof.is_complete for each in found) > 0.7 * len(found), [
        each.proof.missing for each in found
    ]


@pytest.mark.parametrize("seed", range(30))
def test_no_multipliers_rule_out_a_good_centre(seed: int) -> None:
    """Any shifts of the room, any part of the centres, any signs of neurons that are true at the good one, any leaf: none of
    them proves that no centre costs as little."""
    found = answered(seed)
    if found is None or found.body is None:
        return
    rng, center = np.random.default_rng(seed), found.body.center
    layers, asked, rows = opened(found.problem, None)
    shifts = [some_shift(rng, asked) for _ in range(3)]
    duality = Maps(layers, asked, rows).centers({"shifts": shifts}, found.distance * (1.0 + 1e-9), Budget(9.0))
    near, at = asked.limits.copy(), len(center)
    for f, c in enumerate(center.tolist()):
        near.cut(f, c - float(rng.choice([0.0, 0.1, 1.0])), c + float(rng.choice([0.0, 0.1, 1.0])))
    assert asked.narrow(near)
    cell = widened(near, duality.neurons)
    for shift in shifts:
        named = np.array([asked.is_free(f) for f in range(len(center))])
        x = np.where(named, shift, np.clip(center + shift, asked.limits.low, asked.limits.high))
        for z in before_relu(layers, x)[:-1]:
            for value in z:
                if rng.random() < 0.3:
                    side = int(value > 0)
                    if abs(value) > 1e-9:  # the input of a shift is rounded in another way here
                        cell.cut(at, *((-np.inf, 0.0), (0.0, np.inf))[side])
                at += 1
    good = 0
    for _ in range(20):
        entries = []
        for k in rng.permutation(3)[: int(rng.integers(1, 4))]:
            scale = float(np.exp(rng.normal(-1.0, 2.0)))
            lines = [
                [[i, float(rng.normal(scale=scale))] for i in range(len(layer.bias)) if rng.random() < 0.3]
                for layer in layers[:-1]
            ]
            entries.append([int(k), [scale * float(rng.integers(2)) for _ in rows], lines if rng.random() < 0.5 else 0])
        weights = rng.uniform(0.0, 1.0, len(center) + len(asked.groups))
        good += 1
        assert duality.excess([weights.tolist(), entries], cell) <= 0
    assert good


def some_shift(rng: np.random.Generator, asked: Question) -> list[float]:
    shift = rng.uniform(-1.0, 1.0, len(asked.factual))
    shift /= {"ball": np.sqrt(shift @ shift), "diamond": np.abs(shift).sum()}.get(asked.shape, 1.0) * 1.001
    shift *= np.where(shift < 0, asked.down, asked.up)
    shift = np.where(asked.whole, np.trunc(shift), shift) + 0.0
    for group in asked.groups:
        if group.free:
            shift[rng.choice(sorted(asked.categories(group, asked.limits)))] = 1.0
    return [float(s) for s in shift]


@pytest.mark.parametrize("seed", range(6))
def test_one_hidden_layer_over_a_box_is_split_at_its_neurons(seed: int) -> None:
    """As deep as there are neurons at most, however many columns the box has: with every neuron on one side nothing is lost."""
    rng = np.random.default_rng(seed)
    model = network(rng, 30, (10,), 2)
    columns = [Feature(name) for name in model.info.names]
    row = rng.normal(size=30)
    target = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
    problem = RecourseProblem.ask(model, Space(columns), row, Box(0.3), target, "l1")
    run = solve(problem, seconds=5.0)
    assert run.referee.certificate is not None
    proof = Prover(model).prove(problem, run.referee.certificate.body, 0.0, 60.0)
    assert proof.document is not None, proof.missing
    (steps,) = proof.document["validity"]
    splits = [step for step in steps if step != 0 and not isinstance(step[1], list)]
    assert all(column >= 30 for column, _ in splits) and len(splits) < 2**10
    assert check(proof.text.encode(), model_bytes(model)).valid


@pytest.mark.parametrize(("seed", "room"), [(25, Ball(0.2)), (27, Ball(0.5))])
def test_multipliers_of_all_layers_are_climbed_together(seed: int, room: Ball) -> None:
    """Every neuron is on one side, and the bound of a ball does not follow halves of its box: without the climb, splits of
    inputs would not end."""
    rng = np.random.default_rng(seed)
    model, row = network(rng, 20, (6, 6, 6), 2), rng.normal(size=20)
    target = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
    problem = RecourseProblem.ask(model, Space([Feature(name) for name in model.info.names]), row, room, target, "l1")
    run = solve(problem, seconds=5.0)
    assert run.referee.certificate is not None
    proof = Prover(model).prove(problem, run.referee.certificate.body, 0.0, 30.0)
    assert proof.document is not None, proof.missing
    assert len(proof.document["validity"][0]) < 100
    assert check(proof.text.encode(), model_bytes(model)).valid


def all_good(model: ReluNetwork, body: Body, wanted: int) -> bool:
    return bool((model.info.labels_of(model.scores(hostile_points(body))) == wanted).all())


def with_answers(most: int) -> list[Proven]:
    return [found for seed in range(most) if (found := answered(seed)) is not None]


def test_a_false_region_has_no_proof() -> None:
    """Rooms twice as large, or moved a little: where a bad point is known, whatever is written is refused."""
    tried = 0
    for found in with_answers(24):
        assert found.body is not None and found.proof.document is not None
        problem = found.problem
        for step in (0.05, 0.2):
            center = found.body.center + step * (problem.factual - found.body.center) * (problem.space.group_of < 0)
            body = problem.body(np.where(problem.space.whole_room, np.round(center), center))
            if problem.why_inadmissible(body.center) or all_good(problem.model, body, problem.target_index):  # type: ignore[arg-type]
                continue
            tried += 1
            assert Prover(problem.model).prove(problem, body, 0.0, 5.0).document is None
            region = {"center": body.center.tolist(), "lower": body.lower.tolist(), "upper": body.upper.tolist()}
            asked = question_document(problem, body)
            forged = {**found.proof.document, "region": region, "question": asked}
            with pytest.raises(Refused):
                check(packed(forged), found.model_file)
    assert tried >= 5


def confirmed_is_true(found: Proven, document: dict[str, Any], file: bytes) -> bool:
    """False if the checker refuses; asserts that what it confirms is so."""
    assert found.proof.document is not None
    try:
        said = check(packed(document), file)
    except Refused:
        return False
    if file == found.model_file and document["question"] == found.proof.document["question"] and said.bound is not None:
        assert said.bound <= found.distance
    model, region, asked = json.loads(file), document["region"], document["question"]
    layers = read_model(parsed(file)).parts
    assert isinstance(layers, list)
    center, lower, upper = (np.array(region[key], dtype=float) for key in ("center", "lower", "upper"))
    whole, axes = np.zeros(center.size, dtype=bool), np.array(asked["room"]["up"], dtype=float)
    whole[asked["whole"]] = True
    members = [np.array(group["members"]) for group in asked["groups"]]
    for each in members:
        whole[each] = True
    free = tuple(each for each in members if (lower[each] < upper[each]).any())
    shape = {kind.value: kind for kind in type(found.body.shape)}[asked["room"]["shape"]]  # type: ignore[union-attr]
    points = hostile_points(Body(center, lower, upper, shape, np.where(axes > 0, axes, 1.0), whole, free))
    wanted = asked["target"]["class"]
    for x in points[np.random.default_rng(0).permutation(len(points))[:40]]:
        scores = before_relu(layers, x)[-1]
        if model["rule"] == "ARGMAX":
            assert max(range(len(scores)), key=lambda k: (scores[k], -k)) == wanted
        else:
            assert (scores[0] > Fraction(model["threshold"])) == (wanted == 1)
    return True


@pytest.mark.parametrize("tries", [200, pytest.param(20_000, marks=[pytest.mark.long, pytest.mark.timeout(3600)])])
def test_damaged_proofs_are_refused_or_true(tries: int) -> None:
    rng, found = np.random.default_rng(tries), with_answers(24)
    refused = 0
    for _ in range(tries):
        each = found[int(rng.integers(len(found)))]
        kind = str(rng.choice(["validity", "optimality", "optimality", "region", "question", "network"]))
        document, file = each.proof.document, each.model_file
        assert document is not None
        kind = "validity" if isinstance(document.get(kind), str) else kind
        if kind == "network":
            file = packed(damaged(rng, json.loads(file), ("network",)))
            document = about(document, file)
        else:
            document = damaged(rng, document, (kind,))
        refused += not confirmed_is_true(each, document, file)
    assert refused > tries / 4


# ---- hostile files -----------------------------------------------------------------------------------------------------
def test_every_missing_part_of_a_network_is_named() -> None:
    found = with_answers(10)[0]
    model = json.loads(found.model_file)
    unread = {"own_names", "missing_value", "missing_error"}
    for path in places(model):
        if not isinstance(path[-1], str) or path[-1] in unread:
            continue
        without = holder = json.loads(found.model_file)
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
        file = packed(without)
        with pytest.raises(Refused, match="is missing"):
            check(packed(about(found.proof.document, file)), file)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1e308, -1e308, 1e200, "1", None, True, [], {}])
def test_numbers_of_a_network_that_are_none_or_too_large(value: object) -> None:
    found = with_answers(10)[0]
    for key in ("weight", "bias", "error_slope", "error_constant"):
        model = json.loads(found.model_file)
        holder = model["network"][0][key]
        if isinstance(holder[0], list):
            holder = holder[0]
        holder[0] = value
        file = packed(model)
        with pytest.raises(Refused):
            check(packed(about(found.proof.document, file)), file)  # type: ignore[arg-type]


LEAVES: list[Any] = [
    1, -1, None, "0", {}, [0], [99, 0.0], [-1, 0.0], [0, None], [0.0, 0.0], [None, 0.0], ["0", 0.0], [0, "0"], [True, 0.0],
    [], [[]] * 9, [[[0]]], [[[0, None]]], [[[99, 0.0]]], [[[0, 1e308]]], [[0]], [None],
    [[], 0], [[], []], [[], [0]], [[], [[0]]], [[], [[0, [1.0]]]], [[], [[9, [1.0], 0]]], [[], [[-1, [1.0], 0]]],
    [[], [[0, [-1.0], 0]]], [[], [[0, [None], 0]]], [[], [[0, [1.0] * 9, 0]]], [[], [[0, [0.0], [[[0, None]]]]]],
    [[], [[0, [1.0], [[[99, 0.0]]]]]], [[], [[0, [1.0], [[[0, 1e308]]]]]], [[], [[0, [1.0], [[[0, 0.0], [0, 0.0]]]]]],
    [["0"], []], [[-1.0], []], [[1e308], []], [None, []],
]  # fmt: skip


@pytest.mark.parametrize("leaf", LEAVES, ids=str)
def test_steps_that_mean_nothing_are_refused(leaf: object) -> None:
    found = next(each for each in with_answers(24) if len(each.problem.model.layers) == 2)  # type: ignore[union-attr]
    assert found.proof.document is not None
    rows = len(found.proof.document["validity"])
    for steps in ([leaf], [leaf, 0], [0, leaf]):
        with pytest.raises(Refused):
            check(packed({**found.proof.document, "validity": [steps] * rows}), found.model_file)


def test_endless_splits_end() -> None:
    """A chain of a hundred thousand splits, and one that never closes."""
    found = with_answers(10)[0]
    assert found.proof.document is not None
    rows = len(found.proof.document["validity"])
    columns = len(found.problem.factual)
    for steps in ([[columns, 0.0]] * 100_000, [[0, 0.0]] * 100_000):
        with pytest.raises(Refused, match=r"too early|too deep|within 5 seconds"):
            check(packed({**found.proof.document, "validity": [steps] * rows}), found.model_file, seconds=5.0)
