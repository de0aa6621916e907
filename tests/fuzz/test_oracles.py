"""Fuzzers that find nothing prove nothing unless they find what is there: each one is given a program with a fault."""

from __future__ import annotations

import faulthandler
import html
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import joblib
import pytest

from elbowroom import NoRegion, Region
from elbowroom.explainer import attempt
from elbowroom.result import Certificate
from tests.fuzz import kernel_cache, kills, lies, model_files, pages, region_files, tables
from tests.fuzz.driver import fuzz
from tests.fuzz.kind import Kind, Outcome, accepted, refused
from tests.fuzz.kinds import Entry
from tests.fuzz.worker import Task, generator
from tests.support.children import Ended
from tests.support.hostile_text import MARKUP
from tests.support.programs import Ran


def troubles(kind: Kind, folder: Path, tries: int) -> list[str]:
    kind.prepare(folder)
    found = []
    for number in range(tries):
        try:
            found.append(kind.attempt(generator(kind.name, 1, number)).trouble)
        except Exception as error:
            found.append(f"exception: {error}")
    return [trouble for trouble in found if trouble is not None]


def program(code: int, out: Callable[[Sequence[object]], str]) -> Callable[..., Ran]:
    return lambda words, **screen: Ran(code, out(words), "error: no", None)


@pytest.mark.parametrize(
    ("code", "out", "trouble"),
    [
        (0, lambda words: "Valid: everything.\n", "silent acceptance"),
        (2, lambda words: "\n".join(map(repr, words)) + "\nValid: everything.\n", "spoof"),
        (2, lambda words: Path(str(words[1])).read_text(encoding="latin-1"), "spoof"),
        (1, lambda words: "", "exit code 1 is not documented"),
        (2, lambda words: "Traceback (most recent call last):\nKeyError: 'x'\n", "traceback"),
    ],
)
def test_region_files(
    code: int, out: Callable[..., str], trouble: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(region_files, "run_program", program(code, out))
    monkeypatch.setattr(region_files, "REAL", 0.0)
    few = region_files.saved()[:6]
    monkeypatch.setattr(region_files, "saved", lambda: few)
    assert any(trouble in found for found in troubles(region_files.RegionFiles(), tmp_path, 40))


def test_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = '{"factual": [1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0]}'
    monkeypatch.setattr(tables, "run_program", program(0, lambda words: answer))
    found = troubles(tables.Tables(), tmp_path, 120)
    for trouble in (
        "misread",
        "fields, the header",
        "two columns have one name",
        "there is no row",
        "no row of numbers",
    ):
        assert any(trouble in one for one in found), trouble


def test_model_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(words: Sequence[object]) -> str:
        for word in words:
            try:
                joblib.load(str(word))
            except BaseException:
                continue
        return ""

    monkeypatch.setattr(model_files, "run_program", program(2, careless))
    found = troubles(model_files.ModelFiles(), tmp_path, 40)
    assert "code of an untrusted pickle was run" in found


def test_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "hostile_text", lambda rng: rng.choice(MARKUP))
    honest = Region._repr_html_
    monkeypatch.setattr(Region, "_repr_html_", lambda region: html.unescape(honest(region)))
    assert any("markup" in found for found in troubles(pages.Pages(), tmp_path, 40))


def test_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = lies.Lies()
    kind.prepare(tmp_path)

    def generous(problem, body, *limits):  # type: ignore[no-untyped-def]
        return Certificate(problem.model.fingerprint, problem.target, body, "trust me", 1.0, 0.0, ())

    monkeypatch.setattr(attempt, "certify_answer", generous)
    monkeypatch.setattr(kind, "prepare", lambda folder: None)
    assert any("false region" in found for found in troubles(kind, tmp_path, 30))


def test_kernel_cache(tmp_path: Path) -> None:
    for ended, trouble in (
        (Ended(((1.0, 2.0), 2), 0, None, ""), "wrong result"),
        (Ended(None, None, 11, ""), "crash"),
        (Ended(None, 1, None, "EOFError: Ran out of input"), "traceback"),
        (Ended(None, 1, None, "AssertionError: a trap was sprung"), "no code of ours"),
    ):
        assert trouble in str(kernel_cache._trouble(ended))
    assert kernel_cache._trouble(Ended((kernel_cache.ANSWER, 2), 0, None, "")) is None


@pytest.mark.parametrize("kind", [Region, NoRegion])
def test_kills(kind: type[Region] | type[NoRegion], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = kind.to_json

    def hasty(answer: Region | NoRegion, path: Path | None = None) -> str:
        text = honest(answer)  # type: ignore[arg-type]
        if path is not None:
            path.write_text(text, encoding="utf-8")
        return text

    monkeypatch.setattr(kind, "to_json", hasty)
    assert any("lost" in found for found in troubles(kills.Kills(), tmp_path, 60))


# ---- the driver ------------------------------------------------------------------------------------------------------
class Mortal:
    """A kind whose tries die, raise, refuse and accept."""

    name = "mortal"

    def prepare(self, folder: Path) -> None:
        pass

    def attempt(self, rng: random.Random) -> Outcome:
        match rng.randrange(4):
            case 0:
                faulthandler.disable()  # its report of a death that is wanted would hide others
                os.kill(os.getpid(), 11)
            case 1:
                raise ValueError("a fault of the program")
            case 2:
                return refused("no")
        return accepted("yes")


def test_a_dead_worker_is_one_failure_and_the_rest_goes_on() -> None:
    counts = fuzz({"mortal": Entry("test_oracles", "Mortal", 1.0)}, [Task("mortal", 3, range(40))], jobs=2)["mortal"]
    assert counts.tries == 40
    sorts = [("crash" in one.trouble, "a fault of the program" in one.trouble) for one in counts.failures]
    assert {(True, False), (False, True)} == set(sorts)
    assert counts.refused and counts.accepted
    again = fuzz({"mortal": Entry("test_oracles", "Mortal", 1.0)}, [Task("mortal", 3, range(40))], jobs=1)["mortal"]
    assert sorted(one.number for one in again.failures) == sorted(one.number for one in counts.failures)
    assert "python -m tests.fuzz --kind 'mortal' --seed 3 --only" in str(counts.failures[0])
