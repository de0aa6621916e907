"""Questions about values, end to end: the closest region against brute force, ties at the threshold, files and words."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.stats import norm
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from typer.testing import CliRunner

from elbowroom import Ball, Box, Diamond, Explainer, Feature, NoRegion, Region, Space, Status, Target
from elbowroom.models import Decision, ObliqueEnsemble
from elbowroom.present.cli import app
from elbowroom.problem import RecourseProblem, Room
from tests.support.brute import closest
from tests.support.regressors import attack_values

NAMES = ("income", "age")


def grown(model: Any, seed: int, features: int = 2, whole: bool = True) -> tuple[Any, np.ndarray]:
    """A model fitted on values that are whole numbers (their sums need no rounding) or not."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(60, features))
    y = np.round(1000 * X[:, 0] + 300 * np.sin(6 * X[:, -1])) + (0.0 if whole else rng.normal(size=60))
    return model.fit(X, y), X


def plain_space(features: int = 2) -> Space:
    return Space(tuple(Feature(f"x{f}", lower=0, upper=1) for f in range(features)))


def targets(values: np.ndarray, rng: np.random.Generator) -> list[Target]:
    """Ends that some point reaches exactly, and the next floats."""
    some = np.sort(rng.choice(np.unique(values), 2, replace=False))
    low, high = float(some[0]), float(some[1])
    return [
        Target(at_least=high),
        Target(at_most=low),
        Target(at_least=low, at_most=high),
        Target(at_least=math.nextafter(low, math.inf), at_most=high),
        Target(at_least=low, at_most=math.nextafter(high, -math.inf)),
        Target(at_least=high, at_most=high),
    ]


def kept(model: Any, target: Target) -> Any:
    wanted = target.values
    assert wanted is not None
    return lambda X: wanted.contains(model.predict(X))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["tree", "forest of whole numbers", "forest", "boosting"])
def test_trees_against_brute_force(kind: str, seed: int) -> None:
    """The truth is what the model's own predict says in every cell. Where sums are exact, ties at the threshold are decided
    as well; elsewhere the answer may be farther than the truth, and the lower bound never is."""
    rng = np.random.default_rng(seed)
    made = {
        "tree": DecisionTreeRegressor(max_depth=4),
        "forest of whole numbers": RandomForestRegressor(7, min_samples_leaf=1, max_leaf_nodes=None, random_state=seed),
        "forest": RandomForestRegressor(5, max_depth=3, random_state=seed),
        "boosting": GradientBoostingRegressor(n_estimators=4, max_depth=2, random_state=seed),
    }[kind]
    model, X = grown(made, seed, whole=kind != "forest")
    explainer = Explainer(model, plain_space())
    exact = kind in ("tree", "forest of whole numbers")
    for target in targets(model.predict(X), rng):
        row = X[int(rng.integers(len(X)))]
        problem = RecourseProblem.ask(explainer.model, explainer.space, row, Box(0.01), target)
        truth = closest(problem, kept(model, target))
        answer = explainer.explain(row, Box(0.01), target, time_limit=20.0)
        assert answer.lower_bound <= truth * (1 + 1e-9) + 1e-12
        if exact:
            assert answer.status in (Status.OPTIMAL, Status.NONE_EXISTS)
            assert (answer.distance if isinstance(answer, Region) else math.inf) == pytest.approx(truth, abs=1e-9)
        if isinstance(answer, Region):
            assert answer.distance >= truth * (1 - 1e-9) - 1e-12
            attack_values(model.predict, answer.body, target, explainer.model.cuts)  # type: ignore[union-attr]


def test_a_leaf_that_equals_the_threshold_is_good_and_the_next_float_is_not() -> None:
    X = np.array([[0.1], [0.2], [0.8], [0.9]])
    model = DecisionTreeRegressor().fit(X, [1.0, 1.0, 0.1 + 0.2, 0.1 + 0.2])
    explainer, mean = Explainer(model, plain_space(1)), 0.1 + 0.2
    for target, good in (
        (Target(at_most=mean), True),
        (Target(at_most=math.nextafter(mean, 0.0)), False),
        (Target(at_least=mean, at_most=mean), True),
        (Target(at_least=math.nextafter(mean, 1.0), at_most=0.9), False),
    ):
        answer = explainer.explain(X[0], Box(0.05), target)
        assert isinstance(answer, Region) is good
        assert answer.status is (Status.OPTIMAL if good else Status.NONE_EXISTS)
        assert bool(explainer.certify([0.8], Box(0.05), target)) is good


def test_a_mean_of_a_forest_ties_as_the_model_divides() -> None:
    """0.7 of ten votes: fl(7 / 10) is compared with 0.7, whatever fl(0.7 * 10) is."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(80, 2))
    model = RandomForestRegressor(10, max_features=1, random_state=0).fit(X, (X[:, 0] > 0.5).astype(float))
    values = np.unique(model.predict(X))
    explainer, decided = Explainer(model, plain_space()), 0
    for end in values[(values > 0) & (values < 1)]:
        for target in (
            Target(at_least=float(end)),
            Target(at_most=float(end)),
            Target(at_least=float(end), at_most=float(end)),
        ):
            row = X[int(np.argmax(model.predict(X) != end))]
            answer = explainer.explain(row, Box(0.001), target)
            problem = RecourseProblem.ask(explainer.model, explainer.space, row, Box(0.001), target)
            truth = closest(problem, kept(model, target))
            assert (answer.distance if isinstance(answer, Region) else math.inf) == pytest.approx(truth, abs=1e-9)
            decided += isinstance(answer, Region)
    assert decided >= 6


@pytest.mark.parametrize("seed", range(8))
def test_linear_models_against_a_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model, X = grown(LinearRegression(), seed, features=3)
    w, b, values = model.coef_, float(model.intercept_), model.predict(X)
    explainer, row, r = Explainer(model, plain_space(3)), X[int(rng.integers(60))], 0.02
    low, high = np.sort(rng.uniform(values.min(), values.max(), 2))
    for target in (
        Target(at_least=float(high)),
        Target(at_most=float(low)),
        Target(at_least=float(low), at_most=float(high)),
    ):
        rows, ends = [], []
        lost = r * np.abs(w).sum()
        if target.at_least is not None:
            rows.append(-w), ends.append(w @ row + b - lost - target.at_least)
        if target.at_most is not None:
            rows.append(w), ends.append(target.at_most - lost - w @ row - b)
        split = [np.concatenate([a, -a]) for a in rows]
        # rooms are clipped to [0, 1], so that the room may only be smaller at the edge: centres stay inside here
        inside = [(0.0, max(0.0, 1 - r - x)) for x in row] + [(0.0, max(0.0, x - r)) for x in row]
        solved = linprog(np.ones(6), A_ub=split, b_ub=ends, bounds=inside)
        answer = explainer.explain(row, Box(r), target)
        if isinstance(answer, Region):
            attack_values(model.predict, answer.body, target)
            assert answer.status is Status.OPTIMAL
            assert answer.distance <= solved.fun + 1e-9 if solved.success else True
            if solved.success and ((answer.body.center >= r) & (answer.body.center <= 1 - r)).all():
                assert answer.distance == pytest.approx(solved.fun, abs=1e-7)
        else:
            assert answer.status is Status.NONE_EXISTS and not solved.success


@pytest.mark.parametrize("seed", range(4))
def test_networks_against_a_fine_grid(seed: int) -> None:
    """On a line: the nearest grid point whose whole room is good, and nothing much nearer."""
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(size=(80, 1)), axis=0)
    y = np.sin(9 * X[:, 0]) + 0.3 * X[:, 0]
    model = MLPRegressor(hidden_layer_sizes=(8,), solver="lbfgs", max_iter=500, random_state=seed).fit(X, y)
    explainer, values = Explainer(model, plain_space(1)), model.predict(X)
    grid, step = np.linspace(0, 1, 20_001), 1 / 20_000
    on_grid, r = model.predict(grid[:, None]), 0.01
    for target in (
        Target(at_least=float(np.quantile(values, 0.7))),
        Target(at_least=float(np.quantile(values, 0.3)), at_most=float(np.quantile(values, 0.6))),
    ):
        good = target.values.contains(on_grid)  # type: ignore[union-attr]
        width = round(r / step)
        bad = np.concatenate([[0], np.cumsum(~good)])
        at = np.arange(grid.size)
        whole = bad[np.minimum(at + width + 1, grid.size)] - bad[np.maximum(at - width, 0)] == 0
        row = X[int(rng.integers(80))]
        truth = float(np.abs(grid[whole] - row[0]).min()) if whole.any() else math.inf
        answer = explainer.explain(row, Box(r), target, time_limit=20.0)
        assert answer.lower_bound <= truth + 1e-9
        if isinstance(answer, Region):
            attack_values(model.predict, answer.body, target)
            assert answer.status is Status.OPTIMAL and answer.distance >= truth - 3 * step
        else:
            assert answer.status is Status.NONE_EXISTS and truth > 1


@pytest.mark.parametrize("room", [Ball(0.02), Diamond(0.03)])
def test_balls_and_diamonds(room: Room) -> None:
    model, X = grown(RandomForestRegressor(5, max_depth=4, random_state=0), 3)
    explainer = Explainer(model, plain_space())
    for target in targets(model.predict(X), np.random.default_rng(0))[:3]:
        answer = explainer.explain(X[0], room, target, time_limit=20.0)
        if isinstance(answer, Region):
            attack_values(model.predict, answer.body, target, explainer.model.cuts)  # type: ignore[union-attr]
            assert closest(answer_problem(explainer, X[0], target), kept(model, target)) <= answer.distance + 1e-9


def answer_problem(explainer: Explainer, row: np.ndarray, target: Target) -> RecourseProblem:
    return RecourseProblem.ask(explainer.model, explainer.space, row, Box(0.0), target)


# ---- everything else that can be asked --------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def ridge() -> tuple[Any, Explainer, pd.DataFrame]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(200, 2)), columns=list(NAMES))
    model = Ridge(alpha=1e-3).fit(X, 1000 * X["income"] + 100 * X["age"])
    return model, Explainer(model, Space.from_frame(X, bounds="none", scale="none")), X


def test_certify_radius_frontier_and_widen(ridge: tuple[Any, Explainer, pd.DataFrame]) -> None:
    model, explainer, X = ridge
    target, row = Target(at_least=600, at_most=900), pd.Series({"income": 0.7, "age": 0.5})
    value, slope = float(model.predict(row.to_frame().T)[0]), float(np.abs(model.coef_).sum())
    assert explainer.certify(row, Box(0.01), target)
    refused = explainer.certify(row, Box(0.9), target)
    assert not refused and not target.is_met(refused.label)  # type: ignore[union-attr]
    assert float(model.predict(refused.point[None])[0]) == pytest.approx(refused.label)  # type: ignore[union-attr]
    radius = explainer.radius(row, target=target)
    assert radius.lower == pytest.approx(min(value - 600, 900 - value) / slope, rel=1e-9)
    assert explainer.radius(X.iloc[0], target=Target(at_least=1e6)).upper == 0.0
    front = explainer.frontier(X.iloc[0], [0.01, 0.05, 0.5], target=target)
    assert list(front["certified"]) == [True, True, False]
    region = explainer.explain(X.iloc[0], Box(0.01), target)
    assert isinstance(region, Region)
    wide = region.widen()
    attack_values(lambda rows: model.predict(pd.DataFrame(rows, columns=list(NAMES))), wide.region.body, target)
    assert (wide.region.body.upper - wide.region.body.lower).sum() > (region.body.upper - region.body.lower).sum()


def test_the_chance_to_keep_a_value(ridge: tuple[Any, Explainer, pd.DataFrame]) -> None:
    model, explainer, _ = ridge
    row = pd.Series({"income": 0.7, "age": 0.5})
    value, spread = float(model.predict(row.to_frame().T)[0]), 0.05 * float(np.linalg.norm(model.coef_))
    for target in (Target(at_least=700), Target(at_most=760), Target(at_least=700, at_most=800)):
        low = -math.inf if target.at_least is None else (target.at_least - value) / spread
        high = math.inf if target.at_most is None else (target.at_most - value) / spread
        truth = float(norm.cdf(high) - norm.cdf(low))
        found = explainer.probability_kept(row, 0.05, target)
        assert found.lower <= truth + 1e-9 and truth - 1e-9 <= found.upper
        assert found.upper - found.lower <= 1.1e-3
    trees, X = grown(DecisionTreeRegressor(max_depth=3), 5)
    middle = float(trees.predict(X[:1])[0])
    for target in (Target(at_least=middle), Target(at_most=middle), Target(at_least=middle, at_most=middle)):
        found = Explainer(trees, plain_space()).probability_kept(X[0], 0.1, target, tolerance=1e-9)
        slipped = np.clip(X[0] + 0.1 * np.random.default_rng(0).normal(size=(100_000, 2)), 0, 1)
        share = float(kept(trees, target)(slipped).mean())
        assert found.exact and found.lower == pytest.approx(share, abs=0.01)


def test_methods_of_the_paper_answer_too() -> None:
    model, X = grown(DecisionTreeRegressor(max_depth=4), 2)
    explainer, target = Explainer(model, plain_space()), Target(at_least=500, at_most=900)
    answers = {m: explainer.explain(X[1], Box(0.01), target, method=m) for m in ("auto", "adversarial", "one_leaf")}
    assert all(isinstance(answer, Region) for answer in answers.values())
    assert answers["adversarial"].distance == pytest.approx(answers["auto"].distance, abs=1e-6)  # type: ignore[union-attr]


def test_oblique_trees_of_values() -> None:
    """x0 + x1 <= 1: 100, else 200 or, from x0 > 0.9 on, 300; every number is a leaf's own, so that ends are reached."""
    model = ObliqueEnsemble.from_arrays(
        weight=[[1, 1], [0, 0], [1, 0], [0, 0], [0, 0]], threshold=[1, 0, 0.9, 0, 0], left=[1, -1, 3, -1, -1],
        right=[2, -1, 4, -1, -1], value=[[0], [100], [0], [200], [300]], decision=Decision.VALUE,
    )  # fmt: skip
    explainer, row = Explainer(model, plain_space()), np.array([0.3, 0.4])
    for target, distance in (
        (Target(at_least=200), 0.3 + 0.02),
        (Target(at_least=200, at_most=200), 0.3 + 0.02),
        (Target(at_least=300), 0.6 + 0.01),
        (Target(at_most=100), 0.0),
    ):
        region = explainer.explain(row, Box(0.01), target, time_limit=20.0)
        assert isinstance(region, Region) and region.distance == pytest.approx(distance, abs=1e-6)
        attack_values(explainer.predict, region.body, target)
    assert explainer.explain(row, Box(0.01), Target(at_least=301)).status is Status.NONE_EXISTS


def test_raw_columns_with_categories() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.uniform(20, 120, 300), "town": rng.choice(["Bonn", "Ulm", "Kiel"], 300)})
    y = 10 * X["size"] + X["town"].map({"Bonn": 300, "Ulm": 0, "Kiel": -200})
    front = ColumnTransformer([("town", OneHotEncoder(), ["town"])], remainder=StandardScaler())
    for model in (Ridge(), RandomForestRegressor(9, max_depth=5, random_state=0)):
        piped = make_pipeline(front, model).fit(X, y)
        explainer, row = Explainer(piped, Space.from_frame(X)), X.iloc[int(np.argmin(piped.predict(X)))]
        target = Target(at_least=900, at_most=1200)
        region = explainer.explain(row, Box(0.02), target, time_limit=20.0)
        assert isinstance(region, Region)
        points = explainer.space.table(region.body.sample(500, 1))
        assert target.values is not None and target.values.contains(piped.predict(points)).all()


@pytest.mark.parametrize(
    "made", [DecisionTreeRegressor(max_depth=4), RandomForestRegressor(5, max_depth=4, random_state=0)]
)
def test_rows_that_lack_a_number(made: Any) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.uniform(20, 120, 200), "age": rng.uniform(0, 1, 200)})
    y = 10 * X["size"] + 500 * np.sin(7 * X["age"])
    X.loc[::2, "size"] = np.nan
    model = made.fit(X, y)
    explainer, values = Explainer(model, Space.from_frame(X)), model.predict(X[::2])
    row, target = X.iloc[2 * int(np.argmin(values))], Target(at_least=float(np.median(values)) + 0.5)
    region = explainer.explain(row, Box(0.01), target)
    assert isinstance(region, Region) and not target.is_met(region.predicted)
    attack_values(
        lambda rows: model.predict(pd.DataFrame({"size": np.nan, "age": rows[:, 1]})),
        region.body,
        target,
        explainer.model.cuts,  # type: ignore[union-attr]
    )
    alone = type(made)(**made.get_params()).fit(X[["size"]], y)
    answer = Explainer(alone, Space.from_frame(X[["size"]])).explain(X[["size"]].iloc[0], Box(0.01), Target(at_least=0))
    assert answer.sentence().endswith("If everything stays as it is, the model predicts at least 0.")


# ---- words and files -------------------------------------------------------------------------------------------------
def test_sentences(ridge: tuple[Any, Explainer, pd.DataFrame]) -> None:
    _, explainer, X = ridge
    row = X.iloc[int(np.argmin(X["income"]))]
    region = explainer.explain(row, Box(0.01), Target(at_least=1000))
    assert isinstance(region, Region) and isinstance(region.predicted, float)
    said = region.sentence()
    assert said.startswith("The model said ≈ ") and said.endswith("the model predicts at least 1,000.")
    assert "'" not in said and "is anywhere between" in said
    assert "Model said" in region.to_html() and "predicts at least 1,000" in region.to_html()
    for target, words in (
        (Target(at_most=-0.5), "the model predicts at most -0.5."),
        (Target(at_least=1000.25, at_most=2000), "the model predicts between 1,000.25 and 2,000."),
    ):
        assert explainer.explain(row, Box(0.001), target).sentence().endswith(words)
    none = explainer.explain(row, Box(5.0), Target(at_least=10, at_most=11))
    assert isinstance(none, NoRegion)
    assert none.sentence().startswith(
        "No region exists in which the model predicts between 10 and 11, and this is proven"
    )


def test_files_keep_every_digit(ridge: tuple[Any, Explainer, pd.DataFrame], tmp_path: Path) -> None:
    _, explainer, X = ridge
    for target in (Target(at_least=1000 + 1 / 3), Target(at_most=0.1), Target(at_least=-1 / 7, at_most=1e17 / 3)):
        answer = explainer.explain(X.iloc[0], Box(0.001), target)
        assert isinstance(answer, Region)
        text = answer.to_json()
        assert set(json.loads(text)["target"]) == {"at_least", "at_most"}
        again = Region.from_json(text)
        assert again.target == target and again.predicted == answer.predicted and again.to_json() == text
        assert again.certificate.seal == answer.certificate.seal
        assert explainer.certify(again)


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture(scope="module")
def files(ridge: tuple[Any, Explainer, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> Path:
    model, _, X = ridge
    folder = tmp_path_factory.mktemp("values")
    joblib.dump(model, folder / "model.joblib")
    joblib.dump(DecisionTreeClassifier(max_depth=2).fit(X, X["income"] > 0.5), folder / "classes.joblib")
    X.sort_values("income").to_csv(folder / "x.csv", index=False)
    return folder


def asked(folder: Path, command: str = "explain", model: str = "model") -> tuple[object, ...]:
    return (command, folder / f"{model}.joblib", folder / "x.csv", "--row", "0", "--trust-pickle")


def test_the_command_line(files: Path) -> None:
    made = run(
        *asked(files),
        "--value-at-least",
        600,
        "--value-at-most",
        700,
        "--radius",
        0.02,
        "--quiet",
        "--output",
        files / "r.json",
    )
    assert made.exit_code == 0 and "predicts between 600 and 700." in " ".join(made.stdout.split())
    checked = run("check", files / "r.json", files / "model.joblib", "--trust-pickle")
    assert checked.exit_code == 0, checked.output
    assert "at every point of the region the model predicts between 600 and 700" in " ".join(checked.stdout.split())
    other = run("check", files / "r.json", files / "classes.joblib", "--trust-pickle")
    assert other.exit_code == 2 and "is a classifier" in other.output
    none = run(*asked(files), "--value-at-least", "1e6", "--output", files / "none.json", "--json")
    assert none.exit_code == 3 and json.loads(none.stdout)["target"] == {"at_least": 1e6, "at_most": None}
    assert run("check", files / "none.json", files / "model.joblib", "--trust-pickle").exit_code == 6
    front = run(*asked(files, "frontier"), "--radii", "0.01,0.02", "--value-at-least", "600", "--json")
    assert front.exit_code == 0
    radius = run(*asked(files, "radius"), "--value-at-most", "700")
    assert radius.exit_code == 0 and radius.stdout.startswith("The model predicts at most 700 here, and everywhere")
    nothing = run(*asked(files, "radius"), "--value-at-least", "700")
    assert nothing.exit_code == 0 and "there is no room" in nothing.stdout


def test_a_forged_threshold_is_refused_or_refuted(files: Path) -> None:
    """Without seal and checksum; with them, see tests/unit/present/test_forgery.py."""
    run(*asked(files), "--value-at-least", "600", "--output", files / "region.json")
    document = json.loads((files / "region.json").read_text())
    for ends in (
        {"at_least": 599.0, "at_most": None},
        {"at_least": None, "at_most": None},
        {"at_least": 9, "at_most": 8},
    ):
        changed = {**document, "target": ends, "certificate": {**document["certificate"], "target": ends}}
        (files / "forged.json").write_text(json.dumps(changed))
        assert run("check", files / "forged.json", files / "model.joblib", "--trust-pickle").exit_code == 2


def test_options_for_the_other_kind_of_model_name_the_cure(files: Path) -> None:
    for words, said in (
        ((), "use --value-at-least, --value-at-most or both"),
        (("--target", "yes"), "--target yes: sklearn Ridge is a regressor; use --value-at-least"),
        (("--at-most", "3"), "is a regressor, which has no other class to ask for; use --value-at-least"),
    ):
        result = run(*asked(files), *words)
        assert result.exit_code == 2 and said in " ".join(result.output.split())
    assert run(*asked(files, "radius")).exit_code == 2
    result = run(*asked(files, model="classes"), "--value-at-least", "1")
    assert (
        result.exit_code == 2
        and "--value-at-least 1: sklearn DecisionTreeClassifier is a classifier; use --target"
        in " ".join(result.output.split())
    )
