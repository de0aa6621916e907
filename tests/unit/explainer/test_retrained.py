"""The same pipeline fitted again: one region for all fits, and fresh ones that are counted by the judge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from elbowroom import AllOf, Box, Explainer, InputError, Retrained
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


@pytest.mark.parametrize("share", [None, 0.5])
def test_the_model_as_it_is_says_what_a_row_is(share: float | None) -> None:
    again = Retrained(TREE, X, Y, n=4, share=share)
    fits = [TREE, *(again.fit(i) for i in range(4))]
    said = np.array([fit.predict(X) for fit in fits])
    explainer = Explainer(again, X)
    for own in (0, 1):
        row = X[(said[0] == own) & (said[1:] != own).any(axis=0)].iloc[0]
        region, asked = explainer.explain(row, Box(0.02)), explainer.explain(row, Box(0.02), target=1 - own)
        assert region.target == asked.target and region.target.each[0].label == 1 - own
        assert region and region.certificate.seal == asked.certificate.seal
        for i in region.certificate.keepers or range(5):
            attack(lambda rows, fit=fits[i]: fit.predict(pd.DataFrame(rows, columns=["a", "b"])), region.body, 1 - own)
        assert f" said {own} (model 1 among them)" in region.sentence()
        assert region.sentence().startswith("Of the 5 models ") and sum(region.predicted) == said[:, row.name].sum()
        with pytest.raises(InputError, match="do not agree about the row"):
            Explainer(fits, X).explain(row, Box(0.02))
        speaking = Explainer(AllOf(fits, speaker="model 2"), X).explain(row, Box(0.02))
        assert speaking.target.each[0].label == 1 - said[1, row.name]
    with pytest.raises(InputError, match="speaker='model 9': give one of the names"):
        AllOf(fits, speaker="model 9")


def test_refusals_by_name() -> None:
    linear = LogisticRegression().fit(X, Y)
    with pytest.raises(InputError, match="how"):
        Retrained(TREE, X, Y, how="tomorrow")
    with pytest.raises(InputError, match="share"):
        Retrained(TREE, X, Y, share=0.0)
    with pytest.raises(InputError, match="at least 1"):
        Retrained(TREE, X, Y, n=0)
    with pytest.raises(InputError, match="150 rows, y has 149"):
        Retrained(TREE, X, Y[:-1])
    with pytest.raises(InputError, match="later="):
        Retrained(TREE, X, Y, how="later data")
    with pytest.raises(InputError, match="cannot be cloned"):
        Retrained(object(), X, Y)
    with pytest.raises(InputError, match="takes a Region"):
        Retrained(linear, X, Y).kept(None)


def test_a_bootstrap_sample_has_every_class_and_every_word() -> None:
    rows = pd.DataFrame({"a": RNG.normal(size=30), "job": ["clerk"] * 29 + ["baker"]})
    said = np.array(["no"] * 15 + ["yes"] * 14 + ["perhaps"])
    steps = ColumnTransformer([("job", OneHotEncoder(), ["job"])], remainder="passthrough")
    model = make_pipeline(steps, LogisticRegression()).fit(rows, said)
    again = Retrained(model, rows, said, n=4)
    for i in range(12):
        assert list(again.fit(i).classes_) == ["no", "perhaps", "yes"]
        assert list(again.fit(i)[0].named_transformers_["job"].categories_[0]) == ["baker", "clerk"]
    region = Explainer(again, rows).explain(rows.iloc[0], Box(0.01), target="yes")
    assert region is not None and (not region or 0 <= again.kept(region, 3) <= 3)


def test_words_too_rare_for_any_sample_are_named() -> None:
    rows = pd.DataFrame({"a": RNG.normal(size=40), "id": [f"word {i}" for i in range(40)]})
    model = make_pipeline(
        ColumnTransformer([("id", OneHotEncoder(handle_unknown="ignore"), ["id"])], remainder="passthrough"),
        DecisionTreeClassifier(max_depth=2, random_state=0),
    ).fit(rows, (rows.a > 0).to_numpy())
    region = Explainer(model, rows).explain(rows.iloc[0], Box(0.0))
    with pytest.raises(InputError, match="fit 3 knows other categories"):
        Retrained(model, rows, (rows.a > 0).to_numpy(), n=2).kept(region, 2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n": True}, "whole number"),
        ({"n": 2.0}, "whole number"),
        ({"seed": -1}, "seed"),
        ({"seed": "x"}, "seed"),
        ({"X": X[["a"]]}, r"columns \['a'\], the model was fitted on \['a', 'b'\]"),
        ({"X": X[["a"]].to_numpy()}, "1 columns, the model was fitted on 2"),
        ({"X": None}, "a table and its outcomes"),
        ({"y": 3}, "a table and its outcomes"),
        ({"X": X[:0], "y": Y[:0]}, "0 rows"),
        ({"y": np.where(Y, "a", "b")}, "the model's are"),
        ({"y": np.zeros(len(Y), int)}, "the model's are"),
        ({"model": DecisionTreeClassifier}, "cannot be cloned"),
        ({"how": "later data", "later": X}, "rows and outcomes"),
        ({"how": "later data", "later": (X[:0], Y[:0])}, "later X has 0 rows"),
        ({"how": "later data", "later": (X, Y[:3])}, "later X has 150 rows, later y has 3"),
        ({"how": "later data", "later": (X[["a"]], Y)}, "later X has the columns"),
        ({"how": "later data", "later": (X.to_numpy(), Y)}, "as X is"),
    ],
)
def test_nonsense_is_refused(given: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Retrained(**{"model": TREE, "X": X, "y": Y, **given})


def test_numbers_of_fits_and_a_fit_that_fails() -> None:
    again = Retrained(TREE, X, Y, n=np.int64(2))
    assert again.n == 2 and len(again.together.models) == 3
    region = Explainer(TREE, X).explain(X.iloc[0], Box(0.01))
    for wrong in (0, -3, "a", True, 1.5):
        with pytest.raises(InputError, match="kept n"):
            again.kept(region, wrong)
    with pytest.raises(InputError, match="Retrained fit"):
        again.fit(-1)
    gone = Retrained(LogisticRegression(C=1.0).fit(X, Y), X.mask(X.a > 1.0), Y, n=1)
    with pytest.raises(InputError, match="fit 1 of LogisticRegression failed: Input X contains NaN"):
        gone.fit(0)
