"""Laws of the widest box that hold for every model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom import Box, End, Explainer, Feature, Space, TreeEnsemble, Widening
from tests.support.hostile import attack
from tests.support.small_models import random_trees


def _widened(model: TreeEnsemble, row: np.ndarray, factor: float = 1.0) -> Widening | None:
    features = (
        Feature("x0", lower=-3.0 * factor, upper=3.0 * factor, scale=factor),
        Feature("x1", scale=factor),
        Feature("x2", scale=factor),
    )
    explainer = Explainer(model, Space(features))
    row = row * factor
    label = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
    region = explainer.explain(row, room=Box(0.05), target=label)
    if not region:
        return None
    wide = region.widen()
    attack(explainer.predict, wide.region.body, label, model.cuts)
    for side in (*wide.lows, *wide.highs):
        if side.witness is not None:
            assert explainer.predict(side.witness[None])[0] != label
    return wide


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.25, 2.0, 1024.0]))
def test_scaling_and_the_order_of_trees_change_nothing(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    cuts = [np.round(rng.normal(0.0, 2.0, 6), 2) for _ in range(3)]
    cuts = [np.where(cut == 0.0, 0.01, cut) for cut in cuts]  # the float after 0 cannot be scaled
    model = random_trees(rng, 3, 5, 3, cuts, base=0.125)
    row = rng.uniform(-2, 2, 3)
    wide = _widened(model, row)
    shuffled = _widened(replace(model, roots=model.roots[::-1].copy()), row)
    scaled = _widened(replace(model, cut=model.cut * factor), row, factor)
    if wide is None or shuffled is None or scaled is None:
        assert wide is shuffled is scaled is None
        return
    body = wide.region.body
    for other, unit in ((shuffled, 1.0), (scaled, factor)):
        assert np.array_equal(other.region.body.lower, body.lower * unit)
        assert np.array_equal(other.region.body.upper, body.upper * unit)
        assert [s.end for s in (*other.lows, *other.highs)] == [s.end for s in (*wide.lows, *wide.highs)]
    assert wide.proved
    assert wide.lows[0].end is not End.OPEN and wide.highs[0].end is not End.OPEN


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_one_float_beyond_a_maximal_end_lets_a_bad_point_in(seed: int) -> None:
    """Cuts and centres from 1e-9 to 1e15 in one column: no width could state most of these ends."""
    rng = np.random.default_rng(seed)
    cuts = [rng.choice([-1.0, 1.0], 6) * 10.0 ** rng.uniform(-9, 15, 6) for _ in range(2)]
    model = random_trees(rng, 2, 4, 3, cuts, base=0.125)
    row = rng.choice([-1.0, 1.0], 2) * 10.0 ** rng.uniform(-9, 15, 2)
    label = int(model.info.labels_of(model.scores(row[None]))[0])
    explainer = Explainer(model, Space(tuple(Feature(f"x{f}", scale=abs(float(row[f]))) for f in range(2))))
    region = explainer.explain(row, room=Box(0.0), target=label)
    if not region:
        return
    wide = region.widen()
    body = wide.region.body
    attack(explainer.predict, body, label, model.cuts)
    for f in range(2):
        for side, ends, outwards in ((wide.lows[f], body.lower, -np.inf), (wide.highs[f], body.upper, np.inf)):
            assert side.end in (End.MAXIMAL, End.OPEN)
            if side.end is End.MAXIMAL and side.witness is not None:
                point = side.witness.copy()
                point[f] = np.nextafter(ends[f], outwards)
                assert explainer.predict(point[None])[0] != label
