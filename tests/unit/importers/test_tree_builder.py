"""Trees of any library as flat arrays: nodes shifted, leaves cleaned, cuts folded exactly."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.tree_builder import TreeBuilder, at_most, float32_at_most
from elbowroom.models import Decision
from elbowroom.numerics import Floats, next_up
from tests.support.small_models import info

# a library's own arrays: features and thresholds of leaves hold anything at all
FEATURE, LEFT, RIGHT = [1, -2, 0, 99, -2], [1, 0, 3, 0, 0], [2, 0, 4, 0, 0]
THRESHOLD = [0.1, np.nan, 0.7, -2.0, 5.0]
LEAF = np.array([False, True, False, True, True])
VALUE = np.array([[9.0], [1.0], [9.0], [2.0], [4.0]])


def stump(value: float) -> tuple[list[int], list[float], list[int], list[int], np.ndarray, np.ndarray]:
    return [0], [0.0], [0], [0], np.array([True]), np.array([[value]])


def by_hand(x: Floats) -> float:
    """What the tree above says, by its own comparison."""
    if x[1] <= 0.1:
        return 1.0
    return 2.0 if x[0] <= 0.7 else 4.0


def test_trees_are_put_behind_each_other() -> None:
    builder = TreeBuilder()
    builder.add(*stump(10.0))
    builder.add(FEATURE, THRESHOLD, LEFT, RIGHT, LEAF, VALUE)
    builder.add(FEATURE, THRESHOLD, LEFT, RIGHT, LEAF, -3.0 * VALUE)
    model = builder.build(info(2), Preprocessing.of_numbers(("x0", "x1")), at_most, np.array([0.5]), divisor=2.0)
    assert model.roots.tolist() == [0, 1, 6]
    assert model.feature.tolist() == [-1, 1, -1, 0, -1, -1, 1, -1, 0, -1, -1]
    assert model.left[[1, 3, 6, 8]].tolist() == [2, 4, 7, 9]
    assert model.right[[1, 3, 6, 8]].tolist() == [3, 5, 8, 10]
    leaves = model.feature < 0
    assert (model.left[leaves] == -1).all() and (model.right[leaves] == -1).all()
    assert not model.cut[leaves].any() and not model.value[~leaves].any()  # what a library leaves there is gone
    for x in np.random.default_rng(0).random((50, 2)):
        assert model.scores(x[None])[0, 0] == pytest.approx((0.5 + 10.0 - 2.0 * by_hand(x)) / 2.0)


@pytest.mark.parametrize(("goes_left", "sees"), [(at_most, np.float64), (float32_at_most, np.float32)])
def test_cuts_are_the_last_values_that_go_left(goes_left: object, sees: type) -> None:
    """Of a library that casts to float32, values above a threshold go left as long as they are rounded to below it."""
    thresholds = np.array([0.1, 0.7, 1e-40, -3.3, 2.0**30 + 1.0])
    for threshold in thresholds:
        builder = TreeBuilder()
        leaf, value = np.array([False, True, True]), np.array([[0.0], [1.0], [-1.0]])
        builder.add([0, -2, -2], [threshold, 0.0, 0.0], [1, 0, 0], [2, 0, 0], leaf, value)
        model = builder.build(info(1), Preprocessing.of_numbers(("x0",)), goes_left, np.zeros(1))  # type: ignore[arg-type]
        cut = float(model.cut[0])
        assert float(sees(cut)) <= threshold < float(sees(next_up(cut)))
        assert model.scores(np.array([[cut], [next_up(cut)]]))[:, 0].tolist() == [1.0, -1.0]


def test_values_that_are_too_large_for_float32_go_right() -> None:
    assert float32_at_most(np.array([1e300, -1e300]), np.array([1.0, 1.0])).tolist() == [False, True]
    assert at_most(np.array([1.0, next_up(1.0)]), np.ones(2)).tolist() == [True, False]


def test_several_scores_per_leaf_stay_together() -> None:
    builder = TreeBuilder()
    builder.add([0], [0.0], [0], [0], np.array([True]), np.array([[1.0, 2.0, 3.0]]))
    model = builder.build(info(1, 3, Decision.ARGMAX), Preprocessing.of_numbers(("x0",)), at_most, np.zeros(3))
    assert model.scores(np.zeros((1, 1))).tolist() == [[1.0, 2.0, 3.0]]


@pytest.mark.parametrize(
    ("left", "right", "feature"),
    [
        ([1, -1, -1], [1, -1, -1], [0, -2, -2]),  # a child of two parents
        ([1, -1, -1], [7, -1, -1], [0, -2, -2]),  # beyond the array
        ([0, -1, -1], [2, -1, -1], [0, -2, -2]),  # a circle
        ([-9, -1, -1], [2, -1, -1], [0, -2, -2]),  # before the array
        ([1, -1, -1], [2, -1, -1], [-3, -2, -2]),  # no column
    ],
)
def test_nodes_that_do_not_form_a_tree_are_refused_before_anyone_follows_them(
    left: list[int], right: list[int], feature: list[int]
) -> None:
    leaf = np.array(left) == -1
    with pytest.raises(UnsupportedModel, match="tree 0 is damaged"):
        TreeBuilder().add(feature, [0.5, 0.0, 0.0], left, right, leaf, np.zeros((3, 1)))
