"""Layers with their errors, against exact rational arithmetic and against float32 in many orders."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from elbowroom.certify.inputs import InputSet
from elbowroom.certify.intervals import evaluation_error, propagate
from elbowroom.errors import UnsupportedModel
from elbowroom.importers.arithmetic import DOUBLE, SINGLE, Chain
from elbowroom.models import Decision, LinearModel, Link, ModelInfo, ReluNetwork
from elbowroom.problem.body import Body
from elbowroom.problem.shapes import Shape


def _info(width: int, outputs: int) -> ModelInfo:
    names = tuple(f"x{i}" for i in range(width))
    return ModelInfo(names, tuple(range(max(outputs, 2))), Decision.ARGMAX, Link.NONE, "test")


def _exact(weight: np.ndarray, x: np.ndarray, bias: np.ndarray) -> list[Fraction]:
    rows = [[Fraction(float(w)) * Fraction(float(v)) for w, v in zip(row, x, strict=True)] for row in weight]
    return [sum(row, Fraction(float(b))) for row, b in zip(rows, bias, strict=True)]


def _float32_sum(weight: np.ndarray, x: np.ndarray, bias: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """W x + b with every operation rounded to float32, terms in random order and random blocks."""
    out = []
    for row, b in zip(weight.astype(np.float32), bias.astype(np.float32), strict=True):
        terms = [*(row * x.astype(np.float32)).tolist(), float(b)]
        parts = [np.float32(t) for t in rng.permutation(terms)]
        while len(parts) > 1:
            i = int(rng.integers(len(parts) - 1))
            parts[i : i + 2] = [np.float32(parts[i] + parts[i + 1])]
        out.append(parts[0])
    return np.array(out, dtype=np.float64)


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e-38, 1e15])
def test_one_layer_of_float32_is_within_its_error_in_any_order(scale: float) -> None:
    rng = np.random.default_rng(0)
    used = 0.0
    for _ in range(60):
        n = int(rng.integers(1, 40))
        weight, bias = rng.normal(size=(2, n)).astype(np.float32), (rng.normal(size=2) * scale).astype(np.float32)
        chain = Chain(n, SINGLE)
        chain.cast()
        chain.linear(weight, bias)
        affine = chain.model(_info(n, 2))
        assert isinstance(affine, LinearModel)
        x = rng.normal(size=n) * scale
        error = affine.affine.error(np.abs(x))
        exact = _exact(weight, x, bias)
        theirs = _float32_sum(weight, x, bias, rng)
        for t, e, bound in zip(theirs, exact, error, strict=True):
            assert abs(Fraction(float(t)) - e) <= Fraction(float(bound))
            used = max(used, float(abs(Fraction(float(t)) - e)) / float(bound))
    assert scale == 1e-38 or used > 0.02


def test_numbers_below_the_normal_ones_may_vanish() -> None:
    chain = Chain(1, SINGLE)
    chain.cast()
    chain.linear(np.array([[1e-40]]), np.array([1e-42]))
    affine = chain.model(_info(1, 1)).affine  # type: ignore[union-attr]
    assert affine.error(np.array([1e30]))[0] >= 1e-10  # the weight is cut to 0
    assert affine.error(np.array([0.0]))[0] >= 1e-42


def test_what_leaves_the_range_of_float32_has_no_bound() -> None:
    chain = Chain(2, SINGLE)
    chain.cast()
    chain.linear(np.array([[1e20, -1e20]]))
    chain.linear(np.array([[1e-10]]))
    affine = chain.model(_info(2, 1)).affine  # type: ignore[union-attr]
    assert np.isfinite(affine.error(np.array([1e15, 1e15]))).all()
    assert np.isinf(
        affine.error(np.array([1e19, 1e19]))
    ).all()  # the first product overflows, the small weights do not show it
    assert np.isinf(affine.error(np.array([0.0, 1e39]))).all()
    double = Chain(2, DOUBLE)
    double.linear(np.array([[1e20, -1e20]]))
    assert np.isfinite(double.model(_info(2, 1)).affine.error(np.array([1e100, 1e39]))).all()  # type: ignore[union-attr]


@pytest.mark.parametrize("arithmetic", [SINGLE, DOUBLE], ids=lambda a: a.name)
def test_leaky_units_and_scales_are_what_they_are_in_real_numbers(arithmetic: object) -> None:
    rng = np.random.default_rng(2)
    w, b, v = rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=(3, 6))
    factor, offset, slope = rng.normal(size=6), rng.normal(size=6), rng.uniform(-0.5, 1.5, 6)
    chain = Chain(4, arithmetic)  # type: ignore[arg-type]
    chain.linear(w, b)
    chain.scale(factor, offset, np.abs(offset), 4)
    chain.leaky(slope)
    chain.linear(v)
    model = chain.model(_info(4, 3))
    assert isinstance(model, ReluNetwork) and model.layers[0].bias.size == 12
    X = rng.normal(size=(200, 4))
    z = (X @ w.T + b) * factor + offset
    np.testing.assert_allclose(model.scores(X), np.where(z > 0, z, slope * z) @ v.T, rtol=1e-12, atol=1e-12)


def test_activations_that_change_nothing_add_no_layer() -> None:
    chain = Chain(3, SINGLE)
    chain.linear(np.eye(3))
    chain.relu()
    chain.relu()
    chain.leaky(np.full(3, 0.1))
    chain.linear(np.ones((1, 3)))
    model = chain.model(_info(3, 1))
    assert isinstance(model, ReluNetwork) and len(model.layers) == 2


def test_layers_that_do_not_fit_are_refused() -> None:
    chain = Chain(3, SINGLE)
    with pytest.raises(UnsupportedModel, match="do not fit"):
        chain.linear(np.ones((2, 4)))
    with pytest.raises(UnsupportedModel, match="do not fit"):
        chain.scale(np.ones(2), np.ones(2), np.ones(2), 2)
    with pytest.raises(UnsupportedModel, match="too wide"):
        SINGLE.gamma(10**6)
    chain.linear(np.full((1, 3), 1e300))
    chain.linear(np.full((1, 1), 1e300))
    with pytest.raises(UnsupportedModel, match="too large"):
        chain.model(_info(3, 1))


def _deep(sizes: tuple[int, ...], seed: int) -> tuple[ReluNetwork, list[tuple[np.ndarray, np.ndarray]]]:
    rng = np.random.default_rng(seed)
    chain, parts = Chain(sizes[0], SINGLE), []
    chain.cast()
    for k, (n, m) in enumerate(itertools.pairwise(sizes)):
        weight, bias = (rng.normal(size=(m, n)) / np.sqrt(n)).astype(np.float32), rng.normal(size=m).astype(np.float32)
        if k:
            chain.relu()
        chain.linear(weight, bias)
        parts.append((weight, bias))
    model = chain.model(_info(sizes[0], sizes[-1]))
    assert isinstance(model, ReluNetwork)
    return model, parts


@pytest.mark.parametrize("sizes", [(5, 8, 2), (20, 60, 40, 20, 3), (10, 200, 100, 50, 2)])
def test_the_error_of_a_deep_network_covers_float32_and_is_not_the_plain_product_of_sizes(
    sizes: tuple[int, ...],
) -> None:
    """The judge's error at a point: above what float32 does, and for deep networks far below |W| ... |W| e."""
    model, parts = _deep(sizes, 0)
    rng = np.random.default_rng(1)
    for _ in range(20):
        x = rng.normal(size=sizes[0]) * 10.0 ** rng.uniform(-2, 2)
        inputs = _inputs(x)
        phases = [np.zeros(layer.bias.size) for layer in model.layers[:-1]]
        intervals = propagate(model.layers[:-1], inputs, phases)
        assert intervals is not None
        bound = evaluation_error(model.layers, inputs, intervals)
        hidden = x.astype(np.float32)
        plain, size = np.zeros(x.size), np.abs(x)
        for k, (weight, bias) in enumerate(parts):
            hidden = _float32_sum(weight, hidden.astype(np.float64), bias, rng).astype(np.float32)
            hidden = np.maximum(hidden, 0) if k < len(parts) - 1 else hidden
            layer = model.layers[k]
            plain = np.abs(layer.weight) @ plain + layer.error_slope @ (size + plain) + layer.error_constant
            if k < len(parts) - 1:
                size = intervals[k].activation
        real = model.scores(x[None])[0]  # float64: its own error is a millionth of the bound
        assert (np.abs(hidden - real) <= bound).all()
        assert (bound <= plain * 1.1).all()
        if len(sizes) > 3:
            assert (bound < plain * 0.7).all()


def _inputs(x: np.ndarray) -> InputSet:
    return InputSet.all_of(Body(x, x, x, Shape.BOX, np.zeros(x.size), np.zeros(x.size, dtype=bool)))
