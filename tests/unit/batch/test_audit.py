"""Counts, intervals and groups."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from elbowroom import Box, InputError
from elbowroom.batch.audit import median_interval, wilson
from tests.support.batches import portfolio


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
    assert "purpose" not in audit.to_html().split("<table>")[0]


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
