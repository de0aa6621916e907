"""The program that suggests multipliers: a relaxation that cuts tighten, and suggestions that prove what it says."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from elbowroom.certify.box_program import BoxProgram, quiet_solver
from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import Interval
from elbowroom.certify.network_boxes import Neuron, proven_value
from elbowroom.models import Affine
from elbowroom.numerics import Floats
from elbowroom.problem import Shape
from tests.support.small_models import body_of


class Setting:
    """One hidden layer on the unit cube, where t = x, and its program with cuts at the middle."""

    def __init__(self, weight: Floats, bias: Floats, out: Floats) -> None:
        self.f = Neuron(Affine.exact(weight, bias), out, 0.0)
        n = weight.shape[1]
        self.inputs = InputSet.all_of(body_of(np.full(n, 0.5), Shape.BOX, 0.5))
        low, high = np.minimum(weight, 0.0).sum(axis=1) + bias, np.maximum(weight, 0.0).sum(axis=1) + bias
        self.at = Interval(low, high)
        P, N = np.flatnonzero((out > 0) & self.at.unstable), np.flatnonzero((out < 0) & self.at.unstable)
        none = np.zeros(0, dtype=np.int64)
        self.program = BoxProgram(quiet_solver(), bias, weight, out, self.at, P, N, none, np.zeros((0, n)))

    @classmethod
    def random(cls, seed: int) -> Setting:
        rng = np.random.default_rng(seed)
        n, q = int(rng.integers(1, 4)), int(rng.integers(1, 6))
        weight = rng.normal(size=(q, n))
        return cls(weight, -weight @ rng.random(n), rng.normal(size=q))

    def proven(self) -> float | None:
        """Solve, and what the suggestion proves."""
        found = self.program.solve()
        if found is None:
            return None
        beta = np.zeros(self.f.layer.weight.shape)
        beta[self.program.N] = found.mixed
        return proven_value(self.f, self.at, self.inputs, found.theta, beta)

    def lowest(self) -> float:
        n = self.inputs.lower.size
        X = np.vstack([np.array(list(product((0.0, 1.0), repeat=n))), np.random.default_rng(0).random((2000, n))])
        return float((np.maximum(self.f.layer(X), 0.0) @ self.f.out).min())


def test_rounds_of_cuts_only_ever_tighten_and_never_pass_the_truth() -> None:
    risen = 0
    for seed in range(40):
        setting = Setting.random(seed)
        setting.program.cut(everywhere=True)
        values = [setting.proven()]
        for _ in range(6):
            if not setting.program.cut():
                break
            values.append(setting.proven())
        known = [value for value in values if value is not None]
        assert (known and known == sorted(known)) or np.allclose(known, sorted(known), atol=1e-7)
        assert known[-1] <= setting.lowest()
        risen += known[-1] > known[0] + 1e-6
    assert risen > 5


def test_the_suggestion_proves_the_value_of_the_program() -> None:
    """Strong duality: what the multipliers prove is the optimum of the relaxation, v.y + what is linear, up to rounding."""
    for seed in range(40):
        setting = Setting.random(seed)
        program = setting.program
        program.cut(everywhere=True)
        proven = setting.proven()
        f, sure = setting.f, setting.at.low >= 0.0
        linear = float((f.out * sure) @ (f.layer.weight @ program.t + f.layer.bias))
        above = np.maximum(f.layer.weight @ program.t + f.layer.bias, 0.0)
        value = linear + float(f.out[program.P] @ above[program.P]) + float(f.out[program.N] @ program.heights)
        assert proven == pytest.approx(value, abs=1e-6)


def test_one_concave_neuron_ends_at_its_minimum() -> None:
    """-relu(x0 + x1 - 1) is least at the corner (1, 1): -1. The envelope of the neuron is min(x0, x1): two cuts, y <= x0
    and y <= x1, after which the point lies on it."""
    setting = Setting(np.ones((1, 2)), -np.ones(1), -np.ones(1))
    setting.program.cut(everywhere=True)
    cuts = 1
    while setting.proven() is not None and setting.program.cut():
        cuts += 1
        assert cuts < 5
    assert setting.proven() == pytest.approx(-1.0, abs=1e-9)
    assert setting.program.t.tolist() == [1.0, 1.0]
    assert sorted(setting.program.slopes.tolist()) == [[0.0, 1.0], [1.0, 0.0]]


def test_without_cuts_a_concave_neuron_stays_at_its_upper_limit() -> None:
    setting = Setting(np.ones((1, 2)), -np.ones(1), -np.ones(1))
    assert setting.program.solve() is not None
    assert setting.program.heights == pytest.approx([1.0])
    assert setting.program.neurons.size == 0


def test_tight_cuts_hold_with_equality_and_lie_above_the_neuron() -> None:
    kept = 0
    for seed in range(40):
        setting = Setting.random(seed)
        program = setting.program
        program.cut(everywhere=True)
        program.solve()
        program.cut()
        program.solve()
        neurons, slopes = program.tight()
        kept += neurons.size
        for neuron, slope in zip(neurons, slopes, strict=True):
            (row,) = np.flatnonzero((program.neurons == neuron) & (program.slopes == slope).all(axis=1))[:1]
            height = program.heights[list(program.N).index(neuron)]
            assert program.tops[row] + slope @ program.t == pytest.approx(height, abs=1e-6)
            X = np.random.default_rng(seed).random((200, program.n))
            real = np.maximum(X @ setting.f.layer.weight[neuron] + setting.f.layer.bias[neuron], 0.0)
            assert (program.tops[row] + X @ slope >= real - 1e-9).all()
    assert kept > 10
