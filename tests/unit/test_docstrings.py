"""Every public name says what its parameters mean and what comes back, and shows an example that runs.

`tests/support/docstrings.py` has the rules. What the examples take as given is the first block of docs/reference.md.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

import elbowroom
from tests.support.docstrings import missing

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"
NAMES = sorted(set(elbowroom.__all__) - {"__version__"})
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", NAMES)
def test_words_are_complete(name: str) -> None:
    lacking = missing(getattr(elbowroom, name), name)
    assert not lacking, "docstrings lack:\n  " + "\n  ".join(lacking)


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    block = re.search(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert block, "docs/reference.md begins with what its examples take as given"
    known: dict[str, Any] = {}
    exec(compile(block[1], PAGE.name, "exec"), known)
    return known


@pytest.mark.skipif(not PAGE.exists(), reason="the source archive holds no docs")
@pytest.mark.parametrize("name", NAMES)
def test_examples_run_and_print_what_is_shown(name: str, given: dict[str, Any], tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    thing = getattr(elbowroom, name)
    tests = doctest.DocTestFinder(exclude_empty=True).find(thing, name, globs=dict(given))
    reports: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for test in tests:
        runner.run(test, out=reports.append)
    assert runner.tries, f"{name} shows no example"
    assert not runner.failures, "".join(reports)
