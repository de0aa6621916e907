"""Deep networks on two features: the tree's programs and bounds against the truth on fine grids."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.numerics import TOLERANCES
from elbowroom.problem import Ball, Box, Feature, RecourseProblem, Space
from elbowroom.result import Certificate
from elbowroom.search.contract import Clock
from elbowroom.search.network import deep_program
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.deep import DeepTree, Node
from elbowroom.search.network.deep_program import Blocks, Copies
from elbowroom.search.network.engine import first_bound
from elbowroom.search.network.part import Part
from tests.support.hostile import attack
from tests.support.referee import Referee
from tests.support.small_networks import network, solve

DISTANCES = ("l1", "l2", "linf")


def problem_of(seed: int, distance: str, bounded: bool = False) -> RecourseProblem:
    """A factual of the other class; box or ball in turn."""
    rng = np.random.default_rng(3000 + seed)
    model = network(rng, 2, ((4, 4), (3, 3, 3))[seed % 2])
    low, high = (-1.5, 1.5) if bounded else (-np.inf, np.inf)
    space = Space(tuple(Feature(f"x{i}", lower=low, upper=high, weight=w) for i, w in enumerate((1.0, 0.6))))
    row = rng.uniform(-1.0, 1.0, 2)
    wanted = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
    return RecourseProblem.ask(model, space, row, (Box, Ball)[seed % 3 == 2](0.08), wanted, distance=distance)


def closest_on_rays(problem: RecourseProblem) -> float:
    """The distance of the closest centre on many rays that the judge accepts: never below the optimum."""
    angles = np.linspace(0.0, 2.0 * np.pi, 121)[:-1]
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    X = (problem.factual + np.geomspace(0.01, 4.0, 120)[:, None, None] * rays).reshape(-1, 2)
    X = X[((X >= problem.lower) & (X <= problem.upper)).all(axis=1)]
    grid = np.array(np.meshgrid(np.linspace(-1.0, 1.0, 5), np.linspace(-1.0, 1.0, 5))).reshape(2, -1).T
    if problem.body(problem.factual).shape.value != "box":
        grid /= np.maximum(np.sqrt(np.square(grid).sum(axis=1, keepdims=True)), 1.0)
    shift = grid * np.maximum(problem.walls.up, problem.walls.down)
    Y = np.clip(X[:, None] + shift, problem.lower, problem.upper)
    labels = problem.model.info.labels_of(problem.model.scores(Y.reshape(-1, 2))).reshape(len(X), -1)
    good = X[(labels == problem.target_index).all(axis=1)]
    nearest = np.argsort([problem.measure(x) for x in good], kind="stable")
    for x in good[nearest]:
        if isinstance(Referee(problem)(x), Certificate):
            return problem.measure(x)
    return np.inf


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("seed", range(4))
def test_two_features(seed: int, distance: str, bounded: bool) -> None:
    problem = problem_of(seed, distance, bounded)
    outcome = solve(problem)
    rays = closest_on_rays(problem)
    assert outcome.lower_bound <= rays * (1.0 + 1e-9)
    if outcome.center is None:
        assert outcome.lower_bound == np.inf or outcome.lower_bound > 1e6
        return
    found = problem.measure(outcome.center)
    assert found <= rays * (1.0 + TOLERANCES.continuous_gap)
    assert outcome.lower_bound >= found * (1.0 - TOLERANCES.continuous_gap) - 1e-12
    info = problem.model.info
    attack(lambda X: info.labels_of(problem.model.scores(X)), problem.body(outcome.center), problem.target_index)


class Loaded:
    """A tree whose root program holds three scenarios, and all centres of a grid within the cutoff."""

    def __init__(self, problem: RecourseProblem, cutoff: float) -> None:
        self.search = NetworkSearch.begin(problem, Referee(problem), Clock(60.0), 0)
        search, moves = self.search, self.search.moves
        for shift in ([0.08, 0.08], [-0.08, 0.05]):
            search.scenarios.add(problem.factual, np.clip(problem.factual + shift, problem.lower, problem.upper))
        self.copies = tuple(range(len(search.scenarios)))
        search.set_cutoff(cutoff)
        self.tree = DeepTree(search)
        self.tree.cutoff = cutoff
        self.tree.bounds.refresh()
        self.part = Part.everything(moves)
        reach = self.part.within(moves, cutoff)
        assert reach is not None
        self.reach = reach
        line = np.linspace(-cutoff, cutoff, 61) / min(problem.metric.factor)
        X = problem.factual + np.array(np.meshgrid(line, line)).reshape(2, -1).T
        X = X[((X >= problem.lower) & (X <= problem.upper)).all(axis=1)]
        self.distance = np.array([problem.measure(x) for x in X])
        margin = np.array([search.network.worst(search.scenarios.points(x)).min() for x in X])
        good = (self.distance <= cutoff) & (margin >= 0.0)
        self.X, self.distance = X[good], self.distance[good]

    def signals(self, x: np.ndarray, j: int) -> list[np.ndarray]:
        """z of all hidden layers of scenario j at a centre."""
        hidden, found = self.search.scenarios.points(x)[j], []
        for weight, bias in zip(self.search.network.weights[:-1], self.search.network.biases[:-1], strict=True):
            found.append(weight @ hidden + bias)
            hidden = np.maximum(found[-1], 0.0)
        return found

    def columns(self, made: Copies, x: np.ndarray) -> np.ndarray:
        """What the program's columns are at a real centre (open features: scenarios move as the centre does)."""
        parts = [self.search.moves.of_center(x)]
        for copy in made.parts:
            z = self.signals(x, copy.scenario)
            own = np.zeros(copy.block.high.size)
            for layer, q, column in zip(copy.block.layer, copy.block.neuron, copy.block.column, strict=True):
                own[column - self.search.moves.size] = max(z[layer][q], 0.0)
            parts.append(own)
        return np.concatenate(parts)


def assert_feasible(made: Copies, x: np.ndarray) -> None:
    G = np.zeros((len(made.rows), x.size))
    G[made.rows.row, made.rows.columns] = made.rows.values
    assert (G @ x >= made.row_low - 1e-9).all()
    assert (G @ x <= made.row_high + 1e-9).all()
    assert (x >= made.low - 1e-9).all() and (x <= made.high + 1e-9).all()


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("seed", range(4))
def test_trying_a_neuron_gives_bounds_of_its_children(seed: int, distance: str) -> None:
    """The nearest centre of the grid with the decided sign is not closer than the bound, also when the distance has
    added tangents to the program since it was loaded."""
    loaded = Loaded(problem_of(seed, distance), 2.5)
    tree, moves = loaded.tree, loaded.search.moves
    made = tree.blocks.assemble(loaded.reach, {}, loaded.copies, moves.low)
    if made is None:
        assert not len(loaded.X)
        return
    for x in loaded.X[:: max(len(loaded.X) // 40, 1)]:
        assert_feasible(made, loaded.columns(made, x))
    node = Node(loaded.part, {}, loaded.copies, moves.low)
    made = tree._load(node, loaded.reach, loaded.copies)
    if made is None:  # tightened ranges prove that there is no centre
        assert not len(loaded.X)
        return
    rows = len(tree.program.rows)
    bound = tree.program.nearest().bound
    assert loaded.distance.min(initial=np.inf) >= bound - 1e-9
    if distance == "l2" and np.isfinite(bound):
        assert len(tree.program.rows) > rows
    for copy in made.parts:
        z = np.array([np.concatenate(loaded.signals(x, copy.scenario)) for x in loaded.X])
        first = np.cumsum([0, *(b.size for b in loaded.search.network.biases[:-1])])
        for layer, q in zip(copy.block.layer.tolist(), copy.block.neuron.tolist(), strict=True):
            _, bounds = tree._try(node, made, [(copy.scenario, layer, q)], 0.0)
            sign = z[:, first[layer] + q] if len(z) else np.zeros(0)
            for active, child in zip((False, True), bounds, strict=True):
                there = loaded.distance[(sign >= 0.0) if active else (sign <= 0.0)]
                assert there.min(initial=np.inf) >= child - 1e-9


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_blocks_are_kept_by_scenario_signs_and_reach(seed: int) -> None:
    loaded = Loaded(problem_of(seed, "l1"), 1.2)
    tree, low = loaded.tree, loaded.search.moves.low
    blocks = tree.blocks
    made = blocks.assemble(loaded.reach, {}, loaded.copies, low)
    assert made is not None
    again = blocks.assemble(loaded.reach, {}, loaded.copies[::-1], low)
    assert again is not None
    assert {id(c.block) for c in again.parts} == {id(c.block) for c in made.parts}

    block = made.parts[0].block
    if block.layer.size:  # another sign, another block; the other scenarios' blocks stay
        sign = {0: {(int(block.layer[0]), int(block.neuron[0])): True}}
        signed = blocks.assemble(loaded.reach, sign, loaded.copies, low)
        if signed is not None:
            assert signed.parts[0].block is not block
            assert [c.block for c in signed.parts[1:]] == [c.block for c in made.parts[1:]]
    nearer = loaded.part.within(loaded.search.moves, 1.1)
    assert nearer is not None
    narrowed = blocks.assemble(nearer, {}, loaded.copies, low)
    assert narrowed is None or all(c.block is not d.block for c, d in zip(narrowed.parts, made.parts, strict=True))

    blocks.forget(1)
    after = blocks.assemble(loaded.reach, {}, loaded.copies, low)
    assert after is not None
    assert [c.block is d.block for c, d in zip(after.parts, made.parts, strict=True)] == [True, False, True]


@pytest.mark.parametrize("seed", range(4))
def test_tightened_ranges_reach_the_blocks(seed: int) -> None:
    """After tightening, the kept blocks are those that a fresh cache would make, and no good centre is lost."""
    loaded = Loaded(problem_of(seed, "l1"), 1.2)
    tree, low = loaded.tree, loaded.search.moves.low
    tree.blocks.assemble(loaded.reach, {}, loaded.copies, low)
    for j in loaded.copies:
        tree._tighten(j)
    made = tree.blocks.assemble(loaded.reach, {}, loaded.copies, low)
    fresh = Blocks(tree.bounds).assemble(loaded.reach, {}, loaded.copies, low)
    if made is None or fresh is None:
        assert made is None and fresh is None and not len(loaded.X)
        return
    np.testing.assert_array_equal(made.rows.values, fresh.rows.values)
    np.testing.assert_array_equal(made.row_high, fresh.row_high)
    np.testing.assert_array_equal(made.high, fresh.high)
    for x in loaded.X[:: max(len(loaded.X) // 40, 1)]:
        assert_feasible(made, loaded.columns(made, x))


def test_the_cache_of_blocks_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deep_program, "MOST_BLOCKS", 2)
    loaded = Loaded(problem_of(0, "l1"), 1.2)
    for cutoff in (1.0, 1.05, 1.1, 1.15, 1.2):
        reach = loaded.part.within(loaded.search.moves, cutoff)
        assert reach is not None
        loaded.tree.blocks.assemble(reach, {}, loaded.copies, loaded.search.moves.low)
        assert len(loaded.tree.blocks._known) <= 2


def test_ranges_are_computed_again_for_a_larger_cutoff() -> None:
    loaded = Loaded(problem_of(0, "l1"), 1.2)
    tree = loaded.tree
    tree._tighten(0)
    assert tree.bounds.tight
    tree.cutoff = 1.19
    tree._forget_ranges()
    assert tree.bounds.tight  # they hold for smaller cutoffs
    tree.cutoff = 1.3
    tree._forget_ranges()
    assert not tree.bounds.tight


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_first_bound_is_below_every_region(distance: str) -> None:
    problem = problem_of(1, distance)
    search = NetworkSearch.begin(problem, Referee(problem), Clock(10.0), 0)
    assert 0.0 < first_bound(search) <= closest_on_rays(problem)
