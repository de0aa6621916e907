"""``--categories``: an answer that holds whatever the category, or for those that are named; attacked through predict."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from typer.testing import CliRunner, Result

from elbowroom import Region
from elbowroom.present.cli import app

rng = np.random.default_rng(5)
N = 300
FRAME = pd.DataFrame(
    {
        "income": rng.lognormal(10, 0.5, N).round(2),
        "housing": rng.choice(["own", "rent", "free, of rent"], N),
        "grade": rng.choice([1, 2, 3], N).astype(object),
    }
)
GOOD = np.log(FRAME.income) + 0.3 * (FRAME.housing == "own") + 0.2 * (FRAME.grade == 1) + rng.normal(0, 0.2, N) > 10.2


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Pipeline, list[str]]:
    folder = tmp_path_factory.mktemp("categories")
    encode = ColumnTransformer([("words", OneHotEncoder(), ["housing", "grade"])], remainder="passthrough")
    table = FRAME.assign(grade="g" + FRAME.grade.astype(str))
    model = make_pipeline(encode, RandomForestClassifier(9, max_depth=4, random_state=0)).fit(table, GOOD.astype(int))
    joblib.dump(model, folder / "model.joblib")
    table.to_csv(folder / "data.csv", index=False)
    row = int(np.flatnonzero(model.predict(table) == 0)[0])
    arguments = ["explain", folder / "model.joblib", folder / "data.csv", "--row", row, "--trust-pickle", "--json"]
    return model, [str(argument) for argument in arguments]


def _run(asked: tuple[Pipeline, list[str]], *categories: str) -> Result:
    options = [word for text in categories for word in ("--categories", text)]
    return CliRunner().invoke(app, [*asked[1], "--radius", "0.01", *options])


@pytest.mark.parametrize(
    ("categories", "column", "inside"),
    [
        (["housing=any"], "housing", {"own", "rent", "free, of rent"}),
        (["grade=g2,g3"], "grade", {"g2", "g3"}),
        (["grade=g2", "grade=g3"], "grade", {"g2", "g3"}),
        (["housing=free, of rent"], "housing", {"free, of rent"}),
        (["housing=own", "housing=free, of rent"], "housing", {"own", "free, of rent"}),
    ],
)
def test_the_room_holds_these_categories(
    asked: tuple[Pipeline, list[str]], categories: list[str], column: str, inside: set[str]
) -> None:
    ran = _run(asked, *categories)
    assert ran.exit_code == 0, ran.output
    region = Region.from_json(ran.stdout)
    points = region.sample(400)
    assert set(points[column]) == inside
    assert (asked[0].predict(points) == 1).all()


@pytest.mark.parametrize(
    ("categories", "words"),
    [
        (["income=any"], ["income", "housing"]),
        (["purpose=any"], ["purpose", "housing"]),
        (["grade"], ["NAME=any"]),
        (["grade="], ["grade=any"]),
        (["grade=g2,g7"], ["g7"]),
        (["grade=any", "grade=g2"], ["twice"]),
    ],
)
def test_nonsense_is_refused_with_a_cure(
    asked: tuple[Pipeline, list[str]], categories: list[str], words: list[str]
) -> None:
    ran = _run(asked, *categories)
    assert ran.exit_code == 2
    assert all(word in ran.output for word in words), ran.output
