"""Maps of two columns: cells of trees are exact to the float, grids say that they are none, regions are drawn where they are."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression

from elbowroom import Ball, Box, Diamond, Explainer, InputError, Region, Space, Target
from elbowroom.explainer.plane import outcome_plane
from elbowroom.present.map import MapDisplay, section
from tests.support.hostile import attack

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def data() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.uniform(0.0, 10.0, size=(300, 3)), columns=["a", "b", "c"])
    return X, np.where(X["a"] + X["b"] > 11.0, "yes", np.where(X["c"] > 7.0, "perhaps", "no"))


def region_of(model, X, room, row, target="yes") -> tuple[Explainer, Region]:
    explainer = Explainer(model, Space.from_frame(X))
    region = explainer.explain(row, room=room, target=target)
    assert isinstance(region, Region)
    return explainer, region


def test_cells_of_trees_are_exact(data) -> None:
    X, y = data
    model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y)
    row = X[model.predict(X) == "no"].iloc[0]
    explainer, region = region_of(model, X, Box(0.02), row)
    attack(explainer.predict, region.body, "yes", explainer.model.cuts)
    plane = outcome_plane(explainer.model, region, "a", "b")
    assert plane.exact and plane.cells.shape == (plane.edges[1].size - 1, plane.edges[0].size - 1)
    rng = np.random.default_rng(0)
    points = [(rng.uniform(*plane.edges[0][[0, -1]]), rng.uniform(*plane.edges[1][[0, -1]])) for _ in range(300)]
    for cut in plane.edges[0][1:-1]:
        points += [(value, points[0][1]) for value in (cut, np.nextafter(cut, -9e9), np.nextafter(cut, 9e9))]
    rows = pd.DataFrame([region.center] * len(points)).reset_index(drop=True)
    rows[["a", "b"]] = points
    assert [plane.at(*point) for point in points] == list(model.predict(rows.astype(float)))
    display = region.map("a", "b")
    png = display._repr_png_()
    assert png is not None and png.startswith(b"\x89PNG") and display.ax is None
    ax = display.plot().ax
    assert display.ax is ax and "Exact" in display.note
    assert {"'yes'", "now", "certified region"} <= {text.get_text() for text in ax.get_legend().get_texts()}
    assert display._repr_png_() is None, "a notebook shows the figure already"
    assert display.figure is ax.figure


def test_other_models_are_on_a_grid_and_say_so(data) -> None:
    X, y = data
    model = LogisticRegression(max_iter=1000).fit(X, y == "yes")
    explainer, region = region_of(model, X, Ball(0.05), X[~model.predict(X)].iloc[0], True)
    attack(explainer.predict, region.body, True)
    display = explainer.map(Region.from_json(region.to_json()), "b", "c")
    assert not display.exact and "On a grid of 161 x 161 points" in display.note
    assert display.plot().ax.get_xlabel() == "b"


@pytest.mark.parametrize("room", [Box(0.02), Ball(0.05), Diamond(0.05)])
def test_the_outline_lies_in_the_region(data, room) -> None:
    X, y = data
    model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y)
    explainer, region = region_of(model, X, room, X[model.predict(X) == "no"].iloc[0])
    attack(explainer.predict, region.body, "yes", explainer.model.cuts)
    outline = section(outcome_plane(explainer.model, region, "a", "b"))
    points = np.tile(region.body.center, (len(outline), 1))
    points[:, :2] = region.body.center[:2] + (outline - region.body.center[:2]) * (1.0 - 1e-9)
    assert region.body.contains(points).all()
    assert np.ptp(outline, axis=0) == pytest.approx((region.body.upper - region.body.lower)[:2], rel=1e-9)


def test_values_of_regressors(data) -> None:
    X, _ = data
    model = RandomForestRegressor(3, max_depth=3, random_state=0).fit(X, X["a"] * X["b"])
    row = X[model.predict(X) < 20].iloc[0]
    explainer, region = region_of(model, X, Box(0.01), row, Target(at_least=30.0))
    plane = outcome_plane(explainer.model, region, "a", "b")
    assert plane.at(*region.body.center[:2]) is True
    assert "predicts at least 30" in MapDisplay.from_plane(plane).names


def test_bad_columns_are_refused(data) -> None:
    X, y = data
    model = LogisticRegression(max_iter=1000).fit(X, y == "yes")
    _, region = region_of(model, X, Box(0.01), X[~model.predict(X)].iloc[0], True)
    for names, words in ((("a", "nope"), "no column of numbers"), (("a", "a"), "two different columns")):
        with pytest.raises(InputError, match=words):
            region.map(*names)
    with pytest.raises(InputError, match=r"explainer\.map"):
        Region.from_json(region.to_json()).map("a", "b")
