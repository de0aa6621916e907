"""Kernels and their parts: the same results as Python, parts inside the code that is kept, numba's own way as a reserve."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from elbowroom.kernels import kernel as compiling
from elbowroom.kernels import lean as lean_compiler
from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.numerics import Floats

KEPT = """
import numpy as np
from shelf.outer import total
print(total(np.arange(5.0)), total.stats.cache_hits[total.signatures[0]] if total.stats.cache_hits else 0)
"""
STEPPED = """
import inspect
from elbowroom import Explainer
from elbowroom.search.trees.cells.leaves import narrow
from tests.golden import questions as golden
wanted = ["tree, linf, 0", "ensemble, l2, 1", "ensemble, l1, 2", "small box 3", "small round room 4"]
stored, different = golden.stored()["answers"], []
for q in golden.questions():
    if q.name in wanted:
        found = golden._ask(Explainer(q.model, q.space), q)
        if any(found[key] != stored[q.name][key] for key in ("status", "distance", "center") if key in found):
            different.append(q.name)
print(inspect.isfunction(narrow), different)
"""
OUTER = """
from elbowroom.kernels.kernel import kernel
from shelf.inner import square
@kernel
def total(x):
    result = 0.0
    for i in range(x.size):
        result += square(x[i])
    return result
"""
INNER = """
from elbowroom.kernels.kernel import inner_kernel
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


def test_exactly_the_versions_that_were_tried_are_compiled_for_lean(monkeypatch: pytest.MonkeyPatch) -> None:
    """With any other version, be it a patch, kernels work, but compile as slowly as numba always does."""
    versions = lean_compiler.numba.__version__, lean_compiler.llvmlite.__version__
    is_lean = versions in lean_compiler.TRIED
    assert bool(lean_compiler.lean(inner=True)) == bool(lean_compiler.lean(inner=False)) == is_lean
    monkeypatch.setattr(lean_compiler, "TRIED", frozenset({versions}))
    monkeypatch.setattr(lean_compiler, "_NEEDED", ())
    assert lean_compiler.lean(inner=True) and lean_compiler.lean(inner=False)
    for library in (lean_compiler.numba, lean_compiler.llvmlite):
        with monkeypatch.context() as patch:
            patch.setattr(library, "__version__", f"{library.__version__}.1")
            assert lean_compiler.lean(inner=True) == {} == lean_compiler.lean(inner=False)


def test_without_numbas_internals_kernels_are_compiled_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lean_compiler, "_NEEDED", ((lean_compiler.codegen, "a step that numba does not have"),))
    assert lean_compiler.lean(inner=True) == {} == lean_compiler.lean(inner=False)
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
    assert names == ({"outer"} if lean_compiler.lean(inner=True) else {"outer", "inner"})
    assert run() == "30.0 1"


def _stamp(root: Path, file: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(compiling, "_ROOT", root)
    monkeypatch.setattr(compiling, "_ALWAYS", ())
    compiling._read.cache_clear()  # files do not change while a process runs, except here
    return compiling._fingerprint(root / file)


@pytest.mark.parametrize("changed", ["deep/c.py", "__init__.py", "numbers.py", "other/__init__.py", "other/inside.py"])
def test_the_stamp_of_kept_code_covers_every_file_it_was_made_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    """Also those of other folders: a constant of any of them may be frozen into the machine code."""
    files = {
        "deep/a.py": "from elbowroom.deep.b import part\n",
        "deep/b.py": "from elbowroom.deep.c import part\nfrom elbowroom.other import (\n    inside,\n)\n",
        "deep/c.py": "from elbowroom import numbers\npart = 1\n",
        "__init__.py": "",
        "numbers.py": "EPS = 1\n",
        "other/__init__.py": "",
        "other/inside.py": "x = 1\n",
        "unused.py": "x = 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = _stamp(tmp_path, "deep/a.py", monkeypatch)
    (tmp_path / "unused.py").write_text("x = 2\n")
    assert _stamp(tmp_path, "deep/a.py", monkeypatch) == before
    (tmp_path / changed).write_text(files[changed] + "y = 2\n")
    assert _stamp(tmp_path, "deep/a.py", monkeypatch) != before


def test_the_stamp_of_the_largest_kernels_covers_the_numerics() -> None:
    """`EPS` is frozen into the guard of balls: without this, old machine code would outlive a change of it."""
    root = Path(compiling.__file__).parent.parent
    reached, todo = set(), [root / "search" / "trees" / "balls" / "kernels.py"]
    while todo:
        file = todo.pop()
        reached.add(file)
        todo += compiling._read(file, root)[1] - reached
    assert root / "numerics.py" in reached


def test_without_the_compiler_kernels_are_python_that_can_be_stepped_through() -> None:
    """The same answers, to the bit, from plain functions."""
    done = subprocess.run(
        [sys.executable, "-c", STEPPED],
        capture_output=True, text=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "[]"]
