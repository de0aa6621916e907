"""Counts, intervals and groups."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from elbowroom import Ball, Box, InputError
from elbowroom.batch.audit import median_interval, wilson
from tests.support.batches import portfolio

NO_ENDS = {"low": None, "high": None}


def test_wilson_solves_its_equation() -> None:
    for count, n in ((0, 5), (3, 10), (10, 10), (47, 200)):
        low, high = wilson(count, n)
        p = count / n
        assert low <= p <= high
        for q in (low, high):
            if 0.0 < q < 1.0:
                assert abs(p - q) == pytest.approx(1.959963984540054 * math.sqrt(q * (1 - q) / n), rel=1e-9)
    assert all(math.isnan(end) for end in wilson(0, 0))


def test_the_interval_of_a_median_covers_it() -> None:
    rng = np.random.default_rng(0)
    for n in (7, 20, 101):
        ends = [median_interval(rng.exponential(size=n)) for _ in range(2000)]
        covered = np.mean([low <= math.log(2) <= high for low, high in ends])
        assert covered >= 0.94
    assert median_interval(np.array([1.0, 2.0])) == (-math.inf, math.inf)


def test_groups_add_up() -> None:
    explainer, rejected = portfolio()
    batch = explainer.explain_many(rejected.head(30), Box(0.02))
    audit = batch.audit("purpose")
    groups = audit.table.drop(index="all")
    assert groups["rows"].sum() == 30 and audit.table.loc["all", "rows"] == 30
    for purpose, line in groups.iterrows():
        chosen = batch.frame[(rejected["purpose"].head(30) == purpose).to_numpy()]
        assert line["median_cost"] == chosen["distance"].median()
        assert line["median_cost_low"] <= line["median_cost"] <= line["median_cost_high"]
    assert audit.levers["all"].max() <= 1.0
    assert all(f'<th scope="row">{group}</th>' in audit.to_html() for group in ("all", "car", "house", "radio"))


def test_more_room_and_slips() -> None:
    explainer, rejected = portfolio()
    batch = explainer.explain_many(rejected.head(5), Box(0.02))
    audit = batch.audit(radii=[0.0, 0.02, 0.05], sigma=0.01)
    cost = audit.rooms["cost_50"].to_list()
    assert cost == sorted(cost)
    assert audit.slips.loc["all", "plain_lost"] >= audit.slips.loc["all", "region_lost"]
    page = audit.to_html()
    assert "What more room costs" in page and "Gaussian slip" in page
    assert "cost_50" in repr(audit)
    for radius in (0.0, 0.05):
        alone = [explainer.explain(rejected.iloc[[i]], Box(radius)).distance for i in range(5)]
        assert audit.frontier[radius].tolist() == alone
        line = audit.rooms[audit.rooms["radius"] == radius].iloc[0]
        assert line["cost_50"] == np.median(alone) and line["has_recourse"] == 5


def test_plain_counterfactuals_that_a_slip_ends() -> None:
    """Counted against the model itself, at random slips of each closest point."""
    explainer, rejected = portfolio()
    rows, sigma = rejected.head(6), 0.02
    slips = explainer.explain_many(rows, Box(0.05)).audit(sigma=sigma).slips.loc["all"]
    lost = 0
    for i in range(6):
        plain = explainer.explain(rows.iloc[[i]], Box(0.0))
        kept = explainer.probability_kept(plain, sigma, tolerance=1e-4)
        assert abs(kept.upper - 0.95) > 1e-3 and abs(kept.lower - 0.95) > 1e-3
        lost += kept.upper < 0.95
    assert slips["plain_lost"] == lost > 0 and slips["plain_asked"] == 6 and slips["plain_undecided"] == 0
    assert slips["region_lost"] <= lost


def test_who_has_no_recourse_is_named() -> None:
    explainer, rejected = portfolio()
    wide = {"income": 50.0, "debt": 50.0, "age": 50.0}
    none = explainer.explain_many(rejected.head(3), Box(wide)).audit(radii=[0.02])
    assert list(none.no_recourse) == list(rejected.index[:3]) and len(none.out_of_time) == 0
    assert none.table.loc["all", "no_recourse_proven"] == 3
    assert all(str(label) in none.to_html() for label in rejected.index[:3])
    assert none.rooms["has_recourse"].tolist() == [3]
    hasty = explainer.explain_many(rejected.head(2), Box(0.02), time_limit=0.0)
    out = hasty.frame.index[hasty.frame["status"] == "UNKNOWN"]
    assert list(hasty.audit().out_of_time) == list(out)


def test_the_same_question_with_another_radius_is_otherwise_the_same() -> None:
    explainer, rejected = portfolio()
    for room in (Box(0.02, on="changed"), Box(low=0.0, high=0.1), Ball(0.02), Box({"income": 0.1})):
        other = explainer.explain_many(rejected.head(1), room).again(0.05)
        assert other._with_model()[2].room == replace(room, radius=0.05, **({} if isinstance(room, Ball) else NO_ENDS))


def test_an_audit_that_is_interrupted_is_none() -> None:
    explainer, rejected = portfolio()
    batch = explainer.explain_many(rejected.head(3), Box(0.02))

    def stop(progress: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batch.audit(radii=[0.0, 0.05], on_progress=stop)


def test_groups_of_the_wrong_kind() -> None:
    explainer, rejected = portfolio()
    batch = explainer.explain_many(rejected.head(3), Box(0.02))
    with pytest.raises(InputError, match="not a column"):
        batch.audit("sex")
    with pytest.raises(InputError, match="3 values"):
        batch.audit(["a", "b"])
    with pytest.raises(InputError, match="index"):
        batch.audit(pd.Series(["a", "b", "c"]))
    assert list(batch.audit(["a", None, "a"]).table.index) == ["all", "a", "(missing)"]
