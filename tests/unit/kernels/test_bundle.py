"""Bundles: kernels read the same fields as Python, whatever became of the object in between."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, replace

import numba
import numpy as np
import pytest

from elbowroom.kernels.bundle import Bundle
from elbowroom.search.trees.heap import Nodes


@dataclass(frozen=True, eq=False)
class _Mixed(Bundle):
    flat: np.ndarray
    number: int
    square: np.ndarray
    real: float
    words: np.ndarray


@numba.njit
def _digest(bundle):
    """Touches every field, shape and stride."""
    total = bundle.real * bundle.number
    for i in range(bundle.flat.shape[0]):
        total += bundle.flat[i] * (i + 1)
    for i in range(bundle.square.shape[0]):
        row = bundle.square[i]
        for j in range(bundle.square.shape[1]):
            total += row[j] * (10 * i + j)
    return total + bundle.words[0], bundle.square.size, bundle.flat.size


@numba.njit
def _write(bundle, value):
    bundle.square[1, 2] = value


def _mixed(scale: float = 1.0) -> _Mixed:
    return _Mixed(
        np.arange(5) * scale, 7, (np.arange(12, dtype=np.int32).reshape(4, 3).T), -2.5, np.array([9], dtype=np.uint64)
    )


def _expected(b: _Mixed) -> tuple[float, int, int]:
    total = b.real * b.number + float(b.flat @ np.arange(1, b.flat.size + 1)) + float(b.words[0])
    weight = 10 * np.arange(b.square.shape[0])[:, None] + np.arange(b.square.shape[1])
    return total + float((b.square * weight).sum()), b.square.size, b.flat.size


def test_kernels_read_what_python_sees() -> None:
    for scale in (1.0, 3.0):
        bundle = _mixed(scale)
        assert bundle.square.flags.c_contiguous  # it was handed over transposed
        assert _digest(bundle) == _expected(bundle)
    assert len(_digest.signatures) == 1


def test_kernels_write_into_the_arrays_of_python() -> None:
    bundle = _mixed()
    _write(bundle, 41)
    assert bundle.square[1, 2] == 41
    assert _digest(bundle) == _expected(bundle)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_copies_have_tables_of_their_own(again) -> None:
    bundle = _mixed()
    other = again(bundle)
    expected = _expected(bundle)
    del bundle
    assert _digest(other) == expected == _expected(other)


def test_replaced_fields_are_seen() -> None:
    bundle = replace(_mixed(), number=3, flat=np.array([100.0]))
    assert _digest(bundle) == _expected(bundle)


def test_fields_cannot_be_exchanged() -> None:
    with pytest.raises(FrozenInstanceError):
        _mixed().number = 8


def test_types_follow_the_fields() -> None:
    whole = Nodes.of(4, 2, np.int32)
    real = replace(whole, low=np.zeros((4, 2)), high=np.zeros((4, 2)))
    assert numba.typeof(whole) == numba.typeof(Nodes.of(8, 3, np.int32)) != numba.typeof(real)
    assert numba.typeof(whole).name != numba.typeof(real).name
    assert pickle.loads(pickle.dumps(numba.typeof(whole))) == numba.typeof(whole)


def test_empty_arrays() -> None:
    bundle = replace(_mixed(), flat=np.zeros(0), square=np.zeros((0, 4), np.int32))
    assert _digest(bundle) == (bundle.real * 7 + 9, 0, 0)
