"""Rules that hold in all rows of a table, offered in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from elbowroom import Implies, InputError, LinearRule, Space


def table(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    mean = rng.uniform(5.0, 20.0, n)
    housing = rng.choice(["own", "rent", "free"], n)
    return pd.DataFrame(
        {
            "mean": mean,
            "worst": mean + rng.uniform(0.0, 4.0, n),
            "noise": rng.uniform(5.0, 20.0, n),
            "tiny": mean / 1e4,
            "far": mean + 100.0,
            "housing": housing,
            "mortgage": np.where(housing == "own", rng.integers(0, 2, n), 0),
        }
    )


def test_orders_and_implications_are_found_and_nothing_else() -> None:
    frame = table()
    space = Space.from_frame(frame)
    found = space.suggest_rules(frame)
    words = [suggestion.rule.words for suggestion in found]
    assert "worst is at least mean" in words
    assert "if mortgage is 1, then housing is 'own'" in words
    assert not any("noise" in w or "tiny" in w or "far" in w for w in words)
    assert all(isinstance(rule, LinearRule | Implies) for rule in found.rules)
    assert "none is applied" in repr(found) and "in all 400 rows" in repr(found)
    row = space.row(frame.iloc[[3]])
    assert all(rule.lower(space, row).broken_by(space, row, row) is None for rule in found.rules)
    assert repr(found[:0]).startswith("No rule") and len(found[:1]) == 1


def test_what_follows_from_two_others_and_what_fails_once_is_left_out() -> None:
    frame = table()
    frame["top"] = frame["worst"] + 1.0
    words = [s.rule.words for s in Space.from_frame(frame).suggest_rules(frame)]
    assert "top is at least worst" in words and "top is at least mean" not in words
    frame.loc[7, "worst"] = frame.loc[7, "mean"] - 0.01
    assert not any(
        w == "worst is at least mean" for w in [s.rule.words for s in Space.from_frame(frame).suggest_rules(frame)]
    )


def test_few_rows_say_nothing_and_wrong_numbers_are_refused() -> None:
    frame = table(12)
    space = Space.from_frame(frame)
    assert len(space.suggest_rules(frame)) == 0
    with pytest.raises(InputError, match="most"):
        space.suggest_rules(frame, most=-1)
