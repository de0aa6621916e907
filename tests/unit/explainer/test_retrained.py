"""The same pipeline fitted again: one region for all fits, and fresh ones that are counted by the judge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Box, Explainer, InputError, Retrained
from tests.support.hostile import attack

RNG = np.random.default_rng(1)
X = pd.DataFrame(RNG.normal(size=(150, 2)), columns=["a", "b"])
Y = (X.a + X.b + 0.4 * RNG.normal(size=150) > 0).astype(int)
TREE = DecisionTreeClassifier(max_depth=3, max_features=1, random_state=0).fit(X, Y)


@pytest.mark.parametrize("how", ["bootstrap", "seed", "later data"])
def test_holds_for_every_fit(how: str) -> None:
    again = Retrained(TREE, X[:100], Y[:100], n=3, how=how, later=(X[100:], Y[100:]) if how == "later data" else None)
    fits = [TREE, *(again.fit(i) for i in range(3))]
    row = X[np.all([fit.predict(X) == 0 for fit in fits], axis=0)].iloc[0]
    region = Explainer(again, X).explain(row, Box(0.02))
    assert region and len(region.target.each) == 4
    for fit in fits:
        attack(lambda rows, fit=fit: fit.predict(pd.DataFrame(rows, columns=["a", "b"])), region.body, 1)
    fresh = [again.fit(i) for i in range(3, 11)]
    sampled = sum(
        bool((fit.predict(pd.DataFrame(region.sample(500, 0), columns=["a", "b"])) == 1).all()) for fit in fresh
    )
    assert 0 <= again.kept(region, 8) <= sampled
    assert not np.array_equal(fits[1].tree_.threshold, fits[2].tree_.threshold)
    assert np.array_equal(again.fit(1).tree_.threshold, fits[2].tree_.threshold)  # the same number, the same fit


def test_holds_for_a_share_of_the_fits_and_for_the_model_itself() -> None:
    again, all_of_them = (Retrained(TREE, X, Y, n=4, share=share) for share in (0.5, None))
    fits = [TREE, *(again.fit(i) for i in range(4))]
    row = X[np.all([fit.predict(X) == 0 for fit in fits], axis=0)].iloc[0]
    region, strict = (Explainer(each, X).explain(row, Box(0.02)) for each in (again, all_of_them))
    keepers = region.certificate.keepers
    assert region.target.count == 3 and region.target.always == (0,) and 0 in keepers and len(keepers) >= 3
    for i in keepers:
        attack(lambda rows, fit=fits[i]: fit.predict(pd.DataFrame(rows, columns=["a", "b"])), region.body, 1)
    assert not strict or region.lower_bound <= strict.distance
    assert Retrained(TREE, X, Y, n=4, share=1.0).together.k == 5


def test_refusals_by_name() -> None:
    linear = LogisticRegression().fit(X, Y)
    with pytest.raises(InputError, match="how"):
        Retrained(TREE, X, Y, how="tomorrow")
    with pytest.raises(InputError, match="share"):
        Retrained(TREE, X, Y, share=0.0)
    with pytest.raises(InputError, match="1 or more"):
        Retrained(TREE, X, Y, n=0)
    with pytest.raises(InputError, match="150 rows, y has 149"):
        Retrained(TREE, X, Y[:-1])
    with pytest.raises(InputError, match="later="):
        Retrained(TREE, X, Y, how="later data")
    with pytest.raises(InputError, match="cannot be cloned"):
        Retrained(object(), X, Y)
    with pytest.raises(InputError, match="takes a Region"):
        Retrained(linear, X, Y).kept(None)
