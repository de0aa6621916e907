"""What differs between shapes: the budget, its norm and random points; and that no other file distinguishes shapes by
hand."""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import elbowroom
from elbowroom.errors import InputError
from elbowroom.present.cli import RoomName
from elbowroom.problem import Body, Shape, Walls, shapes
from elbowroom.problem.rooms import room_of
from elbowroom.problem.space import Space

ROUND = [shape for shape in Shape if shapes.is_round(shape)]


@pytest.mark.parametrize("shape", list(Shape))
def test_the_budget_says_what_its_norm_says(shape: Shape) -> None:
    rng = np.random.default_rng(3)
    ratios = rng.normal(size=(200, 4)) * rng.uniform(0.1, 1.0, (200, 1))
    used = shapes.spent(shape, ratios)
    for row, spent in zip(ratios, used, strict=True):
        exactly = shapes.spent_exactly(shape, [Fraction(float(t)) for t in row])
        assert float(exactly) == pytest.approx(spent, rel=1e-15)
        assert shapes.spent_at_once(shape, row) == pytest.approx(spent, rel=1e-14)
        assert float(shapes.spent(shape, row)) == spent
        if shapes.is_round(shape):
            assert shapes.length(shape, row) == pytest.approx(shape.distance.norm(np.abs(row)), rel=1e-14)
            assert (shapes.length(shape, row) < 1.0) == (spent < 1.0)
        else:
            assert spent == 0.0 == shapes.length(shape, row)


@pytest.mark.parametrize("shape", ROUND)
def test_a_gap_is_what_its_share_of_the_budget_pays_for(shape: Shape) -> None:
    for gap in (0.0, 0.25, 0.5, 1.0, 3.0):  # exact in binary, also their squares
        used = float(shapes.phi(shape, np.array([-gap]))[0])
        assert used == shapes.phi_exactly(shape, Fraction(-gap)) == shapes.phi_exactly(shape, Fraction(gap))
        assert shapes.gap_for(shape, used) == gap
    assert shapes.is_squared(shape) == (shapes.phi_exactly(shape, Fraction(2)) == 4)


@pytest.mark.parametrize("shape", ROUND)
def test_a_normal_touches_the_shape_and_cuts_nothing_off(shape: Shape) -> None:
    rng = np.random.default_rng(4)
    inside = shapes.sample(shape, rng, 500, np.zeros(3), np.ones(3), np.full(3, -1.0), np.ones(3))
    assert (shapes.spent(shape, inside) <= 1.0).all()
    for outside in 3.0 * rng.normal(size=(50, 3)):
        normal = shapes.normal(shape, outside)
        assert normal @ outside == pytest.approx(shapes.length(shape, outside))
        assert (inside @ normal <= 1.0).all()


@pytest.mark.parametrize("shape", list(Shape))
def test_the_largest_sum_is_reached_and_never_passed(shape: Shape) -> None:
    rng = np.random.default_rng(5)
    points = shapes.sample(shape, rng, 2000, np.zeros(2), np.ones(2), np.full(2, -1.0), np.ones(2))
    largest = np.abs(points).sum(axis=1).max()
    assert 0.9 * shapes.largest_sum(shape, 2) < largest <= shapes.largest_sum(shape, 2)


@pytest.mark.parametrize("shape", list(Shape))
def test_samples_lie_in_the_body(shape: Shape) -> None:
    body = Body.around(
        np.array([1.0, 2.0, 0.0]), Walls(shape, np.array([1.0, 3.0, 0.0]), np.array([1.0, 3.0, 0.0])),
        np.array([0.5, -9.0, -9.0]), np.full(3, 9.0), np.array([False, True, False]),
    )  # fmt: skip
    points = body.sample(300, seed=1)
    assert body.contains(points).all() and np.unique(points[:, 1]).size > 1 and np.ptp(points[:, 2]) == 0.0


def test_a_box_has_no_budget_for_compiled_code() -> None:
    with pytest.raises(ValueError, match="no budget"):
        shapes.is_squared(Shape.BOX)


def test_what_is_not_known_is_refused_by_name() -> None:
    shapes.check_known(Shape.BOX, (Shape.BOX,), "this engine")
    with pytest.raises(InputError, match=r"^this engine does not know the shape Shape\.BALL; it knows Shape\.BOX$"):
        shapes.check_known(Shape.BALL, (Shape.BOX,), "this engine")


def test_every_shape_has_a_room_and_a_name_on_the_command_line() -> None:
    space = Space.plain(["x", "y"])
    assert [room_of(shape)(1.0).walls(space).shape for shape in Shape] == list(Shape)
    assert [name.value for name in RoomName] == [shape.value for shape in Shape]


# ---- how shapes are distinguished -----------------------------------------------------------------------------------
def _is_member(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Shape"


def _ends_in_assert_never(match: ast.Match) -> bool:
    last = match.cases[-1]
    wild = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    call = last.body[0].value if isinstance(last.body[0], ast.Expr) else None
    return wild and isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "assert_never"


def test_shapes_are_told_apart_by_a_match_that_the_type_checker_completes() -> None:
    """``... if shape is Shape.BALL else ...`` and tables by shape would take a new shape for something else, or stop far
    from where it was forgotten."""
    wrong, matches = [], 0
    for path in sorted(Path(elbowroom.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and any(map(_is_member, [node.left, *node.comparators])):
                wrong.append(f"{path.name}:{node.lineno}: compared with a member")
            elif isinstance(node, ast.Dict) and any(key is not None and _is_member(key) for key in node.keys):
                wrong.append(f"{path.name}:{node.lineno}: a table by shape")
            elif isinstance(node, ast.Match) and any(
                _is_member(part) for case in node.cases for part in ast.walk(case.pattern)
            ):
                matches += 1
                if not _ends_in_assert_never(node):
                    wrong.append(f"{path.name}:{node.lineno}: a match without assert_never")
    assert not wrong
    assert matches > 20  # the search above finds them
