"""Rules from the front door: answers obey them, files keep them, `check` looks at them again, growing never breaks them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from elbowroom import (
    Allowed,
    Box,
    Explainer,
    Forbidden,
    Implies,
    InputError,
    LeastChange,
    LinearRule,
    Ordered,
    Region,
    Space,
    Status,
    Steps,
    Together,
    Transitions,
)  # fmt: skip
from elbowroom.present.checking import _room
from tests.support.hostile import attack


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(4)
    n = 400
    mean = rng.uniform(5.0, 15.0, n)
    frame = pd.DataFrame(
        {
            "mean": mean,
            "worst": mean + rng.uniform(0.1, 6.0, n),
            "amount": np.round(rng.uniform(500.0, 9000.0, n)),
            "term": rng.choice([6, 12, 18, 24, 36], n).astype(float),
        }
    )
    score = -frame["mean"] + 0.4 * frame["worst"] + frame["amount"] / 1500.0 - frame["term"] / 8.0
    return frame, (score + rng.normal(0.0, 0.5, n) > score.median()).astype(int).to_numpy()


X, Y = table()
MODELS = {
    "trees": GradientBoostingClassifier(n_estimators=20, max_depth=3, random_state=0).fit(X, Y),
    "linear": LogisticRegression(max_iter=5000).fit(X, Y),
    "network": MLPClassifier((6,), max_iter=800, random_state=0).fit((X - X.mean()) / X.std(), Y),
}
RULES = {
    "order": LinearRule({"worst": 1, "mean": -1}, low=0),
    "order everywhere": LinearRule({"worst": 1, "mean": -1}, low=0, everywhere=True),
    "steps": Steps({"amount": 100}),
    "allowed": Allowed({"term": [6, 12, 18, 24, 36]}),
    "least": LeastChange({"amount": 500, "mean": 0.5}),
    "together": Together(["amount", "term"]),
    "implies everywhere": Implies({"amount": (4000, None)}, {"term": (12, None)}, everywhere=True),
    "forbidden": Forbidden({"mean": (None, 7), "worst": (15, None)}),
}


def explainer(family: str) -> tuple[Explainer, pd.DataFrame]:
    frame = (X - X.mean()) / X.std() if family == "network" else X
    return Explainer(MODELS[family], Space.from_frame(frame, scale="range")), frame


def obeys(name: str, points: pd.DataFrame, row: pd.Series) -> pd.Series:
    """The words of the rule, point by point."""
    match name:
        case "order" | "order everywhere":
            return points["worst"] - points["mean"] >= -1e-8
        case "steps":
            return (points["amount"] % 100 == 0) | (points["amount"] == row["amount"])
        case "allowed":
            return points["term"].isin([6, 12, 18, 24, 36])
        case "least":
            moved = [
                (points[c] == row[c]) | ((points[c] - row[c]).abs() >= m - 1e-9)
                for c, m in (("amount", 500), ("mean", 0.5))
            ]
            return moved[0] & moved[1]
        case "together":
            return (points["amount"] == row["amount"]) == (points["term"] == row["term"])
        case "implies everywhere":
            return (points["amount"] < 4000) | (points["term"] >= 12)
        case _:
            return ~((points["mean"] <= 7) & (points["worst"] >= 15))


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("family", ["trees", "linear"])
def test_answers_obey_and_files_keep_it(family: str, name: str, tmp_path) -> None:
    ask, frame = explainer(family)
    rows = frame[MODELS[family].predict(frame) == 0].iloc[:3]
    found = 0
    for i in range(len(rows)):
        row = rows.iloc[i]
        answer = ask.explain(
            row, Box({"mean": 0.1, "worst": 0.1, "amount": 20.0}), rules=[RULES[name]], time_limit=20.0
        )
        assert answer.status in (Status.OPTIMAL, Status.NONE_EXISTS), answer
        if not isinstance(answer, Region):
            continue
        found += 1
        inside = answer.sample(200, seed=1)
        attack(lambda points: MODELS[family].predict(pd.DataFrame(points, columns=X.columns)), answer.body, 1)
        points = inside if "everywhere" in name else answer.center.to_frame().T.astype(float)
        assert bool(obeys(name, points, row).all())
        text = answer.to_json()
        again = Region.from_json(text)
        assert again.rules == (RULES[name],) and again.to_json() == text
        broken = json.loads(text)
        broken["rules"][0]["rule"] = "Nonsense"
        with pytest.raises(InputError):
            Region.from_json(json.dumps(broken))
        wide = answer.widen(time_limit=5.0).region
        if "everywhere" in name:
            assert bool(obeys(name, wide.sample(500, seed=2), row).all())
            corners = pd.DataFrame([wide.lower, wide.upper])
            corners["worst"] = corners["worst"].to_numpy()[::-1]
            assert bool(obeys(name, corners, row).all()) or name != "order everywhere"
    assert found


def test_networks_take_them_too() -> None:
    ask, frame = explainer("network")
    row = frame[MODELS["network"].predict(frame) == 0].iloc[0]
    for rule in (Steps({"amount": 0.25}), Allowed({"term": [-1.0, 0.0, 1.0]}), Together(["amount", "term"])):
        answer = ask.explain(row, Box(0.01), rules=[rule], time_limit=20.0)
        assert isinstance(answer, Region), answer
        assert (
            rule.lower(ask.space, answer.factual_values).broken_by(ask.space, answer.factual_values, answer.body.center)
            is None
        )


def test_categories_go_where_they_may() -> None:
    rng = np.random.default_rng(0)
    job = rng.choice(["none", "part", "full"], 300)
    frame = pd.DataFrame({"job": job, "age": rng.uniform(20, 60, 300)})
    y = ((job == "full") | ((job == "part") & (frame["age"] > 45))).astype(int)
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough"),
        GradientBoostingClassifier(n_estimators=30, random_state=0),
    ).fit(frame, y)
    ask = Explainer(model, Space.from_frame(frame))
    row = pd.Series({"job": "none", "age": 30.0})
    free = ask.explain(row, Box(0.0))
    assert isinstance(free, Region) and free.center["job"] == "full"
    slow = ask.explain(row, Box(0.0), rules=[Transitions("job", {"none": ["part"]})])
    assert isinstance(slow, Region) and slow.center["job"] == "part" and slow.center["age"] > 44
    down = ask.explain(row, Box(0.0), rules=[Ordered("job", ["none", "part", "full"], never="up")])
    assert not down and down.status is Status.NONE_EXISTS
    tied = ask.explain(row, Box(0.0), rules=[Implies({"job": "full"}, {"age": (50, None)})])
    assert isinstance(tied, Region) and (tied.center["job"] != "full" or tied.center["age"] >= 50)
    with pytest.raises(InputError, match="name every category once"):
        ask.explain(row, Box(0.0), rules=[Ordered("job", ["none", "part"])])


def test_a_file_whose_room_breaks_a_rule_is_found_out() -> None:
    ask, frame = explainer("trees")
    row = frame[MODELS["trees"].predict(frame) == 0].iloc[0]
    answer = ask.explain(row, Box({"mean": 0.1, "worst": 0.1}))
    assert isinstance(answer, Region)
    reach = float(answer.upper["mean"])
    forged = replace(answer, rules=(Allowed({"mean": (None, reach - 0.05)}, everywhere=True),))
    findings = _room(Region.from_json(forged.to_json()), ask)
    assert [finding.good for finding in findings] == [False] and "Allowed" in findings[0].what
    fine = replace(answer, rules=(Allowed({"mean": (None, reach)}, everywhere=True),))
    findings = _room(Region.from_json(fine.to_json()), ask)
    assert all(finding.good for finding in findings) and "at every point of the room" in findings[-1].what
