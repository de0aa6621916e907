"""Plausible answers: the guarantee is the forest's own predict, the counts in leaves, and the hull of rows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Box, Diamond, Explainer, InputError, Plausible, Region, Space
from elbowroom.problem.rules.plausible import InForest, InHull, OnLeaves
from elbowroom.result import Certificate, Counterexample
from tests.support.hostile import attack, hostile_points


def table(seed: int = 0, rows: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows), "n": rng.integers(0, 9, rows)})
    return X, (X["a"] + X["b"] + 0.3 * X["n"] > 1.4).to_numpy().astype(int)


def small_forest(X: pd.DataFrame, seed: int = 0, **more: object) -> IsolationForest:
    return IsolationForest(n_estimators=6, max_samples=24, random_state=seed, **more).fit(X.to_numpy())  # type: ignore[arg-type]


def asked(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, Explainer, pd.Series]:
    X, y = table(seed)
    model = GradientBoostingClassifier(n_estimators=15, max_depth=2, random_state=0).fit(X, y)
    return X, y, Explainer(model, Space.from_frame(X)), X.iloc[int(np.flatnonzero(model.predict(X) == 0)[seed])]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("everywhere", [False, True])
def test_the_forest_itself_calls_it_usual(seed: int, everywhere: bool) -> None:
    X, _, explainer, row = asked(seed)
    forest = small_forest(X, seed, contamination=0.2, max_features=2)
    region = explainer.explain(row, Box(0.03), rules=[Plausible(forest=forest, everywhere=everywhere)])
    assert isinstance(region, Region) and region.status.name == "OPTIMAL"
    (rule,) = region.rules
    assert isinstance(rule, InForest)
    attack(explainer.predict, region.body, 1, explainer.model.cuts)  # type: ignore[union-attr]
    assert forest.predict(region.body.center[None])[0] == 1
    if everywhere:
        attack(forest.predict, region.body, 1, rule.votes.cuts)
    free = explainer.explain(row, Box(0.03))
    assert isinstance(free, Region) and region.distance >= free.distance - 1e-12


def test_everywhere_is_never_closer_than_at_the_centre() -> None:
    X, y, explainer, row = asked(1)
    rules = {kind: Plausible(X, y, everywhere=kind, trees=8, sample=32) for kind in (False, True)}
    found = {kind: explainer.explain(row, Box(0.05), rules=[rule]) for kind, rule in rules.items()}
    assert all(isinstance(region, Region) for region in found.values())
    assert found[True].distance >= found[False].distance - 1e-9  # type: ignore[union-attr]
    assert explainer.explain(row, Box(0.05), rules=[rules[True]]).rules[0] is found[True].rules[0]  # fitted once


@pytest.mark.parametrize("everywhere", [False, True])
def test_leaves_hold_enough_rows(everywhere: bool) -> None:
    X, y = table(2, 300)
    model = RandomForestClassifier(n_estimators=4, max_depth=4, random_state=0).fit(X, y)
    explainer = Explainer(model, Space.from_frame(X))
    row = X.iloc[int(np.flatnonzero(model.predict(X) == 0)[0])]
    region = explainer.explain(row, Box(0.02), rules=[Plausible(X, how="leaves", everywhere=everywhere, least=12)])
    assert isinstance(region, Region)
    assert isinstance(region.rules[0], OnLeaves)
    points = hostile_points(region.body, explainer.model.cuts) if everywhere else region.body.center[None]  # type: ignore[union-attr]
    leaf_of_rows, leaf_of_points = model.apply(X), model.apply(pd.DataFrame(points, columns=X.columns))
    for tree in range(4):
        counts = {leaf: int((leaf_of_rows[:, tree] == leaf).sum()) for leaf in np.unique(leaf_of_points[:, tree])}
        assert min(counts.values()) >= 12
    attack(explainer.predict, region.body, 1, explainer.model.cuts)  # type: ignore[union-attr]


@pytest.mark.parametrize("shape", [Box(0.02), Diamond(0.02)], ids=["box", "diamond"])
@pytest.mark.parametrize("kind", ["linear", "network"])
def test_the_centre_lies_in_the_hull_of_the_nearest_rows(shape: Box, kind: str) -> None:
    from scipy.optimize import linprog

    X, y = table(3, 200)
    inner = LogisticRegression() if kind == "linear" else MLPClassifier((3,), max_iter=600, random_state=0)
    model = make_pipeline(StandardScaler(), inner).fit(X, y)
    explainer = Explainer(model, Space.from_frame(X, integer=[]))
    row = X.iloc[int(np.flatnonzero(model.predict(X) == 0)[1])]
    rule = Plausible(X, y, how="hull", nearest=12)
    region = explainer.explain(row, shape, rules=[rule], time_limit=20.0)
    assert isinstance(region, Region)
    (settled,) = region.rules
    assert isinstance(settled, InHull) and len(settled.points) == 12
    free = explainer.explain(row, shape, time_limit=20.0)
    assert isinstance(free, Region) and region.lower_bound >= free.lower_bound - 1e-9
    place = [region.space.position[name] for name in settled.columns]
    target = region.body.center[place]
    inside = linprog(
        np.zeros(12), A_eq=np.vstack([settled.points.T, np.ones(12)]), b_eq=np.append(target, 1.0), method="highs"
    )
    assert inside.status == 0
    attack(explainer.predict, region.body, 1)
    nobody = rule.__class__(X[y == 1], how="hull", nearest=12)
    assert isinstance(explainer.explain(row, shape, rules=[nobody], time_limit=20.0), Region)


def test_a_hull_that_no_room_fits_is_proven_to_have_none() -> None:
    X, y = table(4, 200)
    model = LogisticRegression().fit(X[["a", "b"]], y)
    explainer = Explainer(model, Space.from_frame(X[["a", "b"]]))
    bad = X[["a", "b"]][model.predict(X[["a", "b"]]) == 0]
    told = np.ones(len(bad), dtype=int)  # rows that the model refuses, said to be accepted
    answer = explainer.explain(bad.iloc[0], Box(0.01), rules=[Plausible(bad, told, how="hull", nearest=10)])
    assert answer.status.name == "NONE_EXISTS"


def test_files_keep_what_the_judge_needs(tmp_path: object) -> None:
    X, y, explainer, row = asked(2)
    for rule in (
        Plausible(X, y, trees=5, sample=16, everywhere=True),
        Plausible(X, y, trees=5, sample=16),
        Plausible(X, how="leaves", least=3),
    ):
        region = explainer.explain(row, Box(0.02), rules=[rule])
        assert isinstance(region, Region)
        text = region.to_json()
        again = Region.from_json(text)
        assert again.certificate.further == region.certificate.further
        assert again.to_json() == text
        verdict = explainer.certify(again)
        assert isinstance(verdict, Certificate) and verdict.further == region.certificate.further
        assert again.rules[0].words == region.rules[0].words


def test_a_file_with_another_forest_or_none_in_its_certificate_is_refused() -> None:
    from elbowroom.result.schema import _checksum

    X, y, explainer, row = asked(2)
    region = explainer.explain(row, Box(0.02), rules=[Plausible(X, y, trees=5, sample=16, everywhere=True)])
    for change in ("need", "certificate", "tree", "leaf"):
        document = json.loads(region.to_json())
        document.pop("checksum")
        rule = document["rules"][0]
        if change == "need":
            rule["need"] = -100.0
        elif change == "certificate":
            document["certificate"]["further"] = []
        elif change == "tree":
            rule["feature"][-1] = 0
        else:
            rule["leaf"].pop()
        document["checksum"] = _checksum(document)
        with pytest.raises(InputError):
            Region.from_json(json.dumps(document))


def test_the_judge_refuses_a_region_that_the_forest_does_not_like() -> None:
    X, y, explainer, row = asked(3)
    rule = Plausible(X, y, trees=8, sample=32, everywhere=True)
    good = explainer.explain(row, Box(0.02), rules=[rule])
    bare = explainer.explain(row, Box(0.02))
    assert isinstance(good, Region) and isinstance(bare, Region)
    if good.distance > bare.distance:
        forged = replace(good.certificate, body=bare.body)
        verdict = explainer.certify(replace(good, certificate=forged))
        assert isinstance(verdict, Counterexample) and "isolation forest" in verdict.reason
    with pytest.raises(ValueError, match="further margins"):
        replace(bare, rules=good.rules)


def test_widening_keeps_the_promise_of_the_forest() -> None:
    X, _, explainer, row = asked(1)
    forest = small_forest(X, contamination=0.2)
    region = explainer.explain(row, Box(0.02), rules=[Plausible(forest=forest, everywhere=True)])
    assert isinstance(region, Region)
    widened = explainer.widen(region).region
    rule = widened.rules[0]
    assert isinstance(rule, InForest)
    attack(forest.predict, widened.body, 1, rule.votes.cuts)
    # every side is maximal: one value further there is a point that the model or the forest does not like
    body = widened.body
    for f in range(2):
        for end, limit in ((body.upper, widened.space.upper[f]), (body.lower, widened.space.lower[f])):
            if end[f] == limit:
                continue
            beyond = replace(
                body,
                **{
                    "upper" if end is body.upper else "lower": end
                    + (np.arange(3) == f) * (1 if end is body.upper else -1) * 1e-6
                },
            )
            points = hostile_points(
                beyond, [np.union1d(a, b) for a, b in zip(explainer.model.cuts, rule.votes.cuts, strict=True)]
            )  # type: ignore[union-attr]
            assert (explainer.predict(points) == 0).any() or (forest.predict(points) == -1).any()


def test_categories_are_columns_of_the_forest() -> None:
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.normal(size=200), "c": rng.choice(["x", "y", "z"], 200)})
    y = ((X["a"] > 0.3) | (X["c"] == "z")).astype(int)
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    steps = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    model = make_pipeline(steps, DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y)
    explainer = Explainer(model, Space.from_frame(X))
    row = X.iloc[int(np.flatnonzero(model.predict(X) == 0)[0])]
    region = explainer.explain(row, Box(0.05), rules=[Plausible(X, y, trees=10, sample=32)])
    assert isinstance(region, Region)
    own = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough"),
        IsolationForest(n_estimators=5, random_state=0),
    ).fit(X)
    mine = explainer.explain(row, Box(0.05), rules=[Plausible(forest=own, everywhere=True)])
    assert isinstance(mine, Region)
    assert (own.predict(mine.sample(300)) == 1).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X: Plausible(), "a table"),
        (lambda X: Plausible(X, forest=small_forest(X)), "one of them"),
        (lambda X: Plausible(X, how="trees"), "how"),
        (lambda X: Plausible(X, how="hull", everywhere=True), "too many corners"),
        (lambda X: Plausible(X, outliers=0.9), "at most 0.5"),
        (lambda X: Plausible(X, trees=0), "trees=0"),
        (lambda X: Plausible(forest=small_forest(X), how="leaves"), "is for how='forest'"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(table()[0])  # type: ignore[operator]


def test_what_a_family_does_not_take_is_refused_with_the_cure() -> None:
    X, y, explainer, row = asked()
    linear = Explainer(LogisticRegression().fit(X, y), Space.from_frame(X))
    with pytest.raises(InputError, match="how='hull'"):
        linear.explain(row, rules=[Plausible(X)])
    with pytest.raises(InputError, match="how='hull'"):
        linear.explain(row, rules=[Plausible(X, how="leaves")])
    with pytest.raises(InputError, match="how='forest'"):
        explainer.explain(row, rules=[Plausible(X, how="hull")])
    with pytest.raises(InputError, match="no isolation forest"):
        explainer.explain(row, rules=[Plausible(forest=DecisionTreeClassifier(max_depth=1).fit(X, y))])
    with pytest.raises(InputError, match="2 entries"):
        explainer.explain(row, rules=[Plausible(X, [0, 1])])
    with pytest.raises(InputError, match="further trees"):
        explainer.explain(row, rules=[Plausible(X)], method="adversarial")


def test_check_proves_the_forest_again_from_the_file(tmp_path: Path) -> None:
    import joblib

    from elbowroom.present.checking import check_region

    X, y = table(6)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    explainer = Explainer(model, Space.from_frame(X))
    joblib.dump(model, tmp_path / "model.joblib")
    row = X.iloc[int(np.flatnonzero(model.predict(X) == 0)[0])]
    for rule, proven in (
        (Plausible(X, y, trees=5, sample=16, everywhere=True), "InForest"),
        (Plausible(X, how="leaves", least=2), "OnLeaves"),
    ):
        region = explainer.explain(row, Box(0.01), rules=[rule])
        assert isinstance(region, Region)
        region.to_json(tmp_path / "region.json")
        report = check_region(tmp_path / "region.json", tmp_path / "model.joblib", trust_pickle=True)
        assert report.holds is True
        told = [finding.what for finding in report.findings]
        assert any(what.startswith("proven again from the trees") and proven in what for what in told)
        assert any("the file's own" in what and "plausible" in what for what in told)
    region.to_json(tmp_path / "region.json")
    other = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    joblib.dump(other, tmp_path / "other.joblib")
    report = check_region(tmp_path / "region.json", tmp_path / "other.joblib", trust_pickle=True, any_model=True)
    assert any(finding.good is False and "another model" in finding.what for finding in report.findings)
