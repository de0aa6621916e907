"""Kernels and their parts: the same results as Python, parts inside the code that is kept, numba's own way as a reserve."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from elbowroom import compiling, lean_compiler
from elbowroom.compiling import inner_kernel, kernel
from elbowroom.numerics import Floats

KEPT = """
import numpy as np
from shelf.outer import total
print(total(np.arange(5.0)), total.stats.cache_hits[total.signatures[0]] if total.stats.cache_hits else 0)
"""
OUTER = """
from elbowroom.compiling import kernel
from shelf.inner import square
@kernel
def total(x):
    result = 0.0
    for i in range(x.size):
        result += square(x[i])
    return result
"""
INNER = """
from elbowroom.compiling import inner_kernel
@inner_kernel
def square(v):
    return v * v
"""


def _between(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


def _halve_until(x: Floats, limit: float) -> int:
    """Some of everything that kernels do: loops, branches, whole and real numbers, changes in place."""
    steps = 0
    for i in range(x.size):
        while abs(x[i]) > limit and steps < 1000:
            x[i] = x[i] / 2.0 if i % 2 == 0 else -x[i] // 2.0
            steps += 1
        x[i] = _clip(x[i], -limit, limit)
    return steps


_clip = inner_kernel(_between)


def _check(made: object) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = rng.normal(size=7) * 100.0
        mine, theirs = x.copy(), x.copy()
        steps = made(mine, 1.5)  # type: ignore[operator]
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(globals(), "_clip", _between)
            assert steps == _halve_until(theirs, 1.5)
        assert np.array_equal(mine, theirs)


def test_a_kernel_with_a_part_computes_what_python_computes() -> None:
    made = kernel(_halve_until)
    _check(made)
    assert compiling.readiness(made) is compiling.Readiness.READY


def test_a_part_serves_several_kernels() -> None:
    def twice(x: float) -> float:
        return 2.0 * _clip(x, 0.0, 1.0)

    def thrice(x: float) -> float:
        return 3.0 * _clip(x, 0.0, 1.0)

    assert (kernel(twice)(0.75), kernel(thrice)(7.0)) == (1.5, 3.0)


def test_division_is_that_of_c() -> None:
    def ratio(a: float, b: float) -> float:
        return a / b

    assert kernel(ratio)(1.0, 0.0) == np.inf and np.isnan(kernel(ratio)(0.0, 0.0))


def test_only_versions_of_numba_that_were_tried_are_compiled_for_lean(monkeypatch: pytest.MonkeyPatch) -> None:
    """If numba is newer than those tried, kernels work, but compile as slowly as numba always does."""
    version = lean_compiler.numba.version_info.short
    assert (
        bool(lean_compiler.lean(part=True)) == bool(lean_compiler.lean(part=False)) == (version in lean_compiler.TRIED)
    )
    monkeypatch.setattr(lean_compiler, "TRIED", frozenset())
    assert lean_compiler.lean(part=True) == {} == lean_compiler.lean(part=False)


def test_without_numbas_internals_kernels_are_compiled_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lean_compiler, "_NEEDED", ((lean_compiler.codegen, "a step that numba does not have"),))
    assert lean_compiler.lean(part=True) == {} == lean_compiler.lean(part=False)
    monkeypatch.setitem(globals(), "_clip", inner_kernel(_between))
    _check(kernel(_halve_until))


def test_kept_code_contains_its_parts(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "__init__.py").write_text("")
    (shelf / "outer.py").write_text(OUTER)
    (shelf / "inner.py").write_text(INNER)
    kept = tmp_path / "kept"
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(kept)}
    variables["PYTHONPATH"] = os.pathsep.join([str(tmp_path), variables.get("PYTHONPATH", "")])

    def run() -> str:
        done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, env=variables, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert run() == "30.0 0"
    names = {file.name.split(".")[0] for file in kept.rglob("*.nbc")}
    assert names == ({"outer"} if lean_compiler.lean(part=True) else {"outer", "inner"})
    assert run() == "30.0 1"


def test_the_stamp_of_kept_code_covers_the_files_of_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "deep"
    folder.mkdir()
    (folder / "a.py").write_text("from elbowroom.deep.b import part\n")
    (folder / "b.py").write_text("from elbowroom.deep.c import part\n")
    (folder / "c.py").write_text("part = 1\n")
    monkeypatch.setattr(compiling, "_ROOT", tmp_path)
    fingerprint = compiling._fingerprint.__wrapped__
    before = fingerprint(folder / "a.py")
    assert before == fingerprint(folder / "a.py")
    (folder / "c.py").write_text("part = 2\n")
    assert fingerprint(folder / "a.py") != before
