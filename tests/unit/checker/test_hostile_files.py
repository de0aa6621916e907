"""Proof and model files by strangers: refused in a sentence, whatever they hold."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import elbowroom_checker
from elbowroom_checker import Refused, check
from elbowroom_checker.reading import MOST_BYTES
from tests.support.proofs import Proven, about, packed, places, proven, random_proven
from tests.support.small_questions import hard_question


@pytest.fixture(scope="module")
def found() -> Proven:
    made = next(each for each in map(random_proven, range(50)) if each.body is not None)
    assert made.proof.document is not None
    return made


def refused(proof: bytes, model: bytes, why: str) -> None:
    with pytest.raises(Refused, match=why):
        check(proof, model)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "not a JSON file"),
        (b"\xff\xfe", "not a JSON file"),
        (b"[]", "the file: not a dict"),
        (b'{"format": "elbowroom proof", "format": "elbowroom proof"}', "a key occurs twice"),
        (b'{"format": NaN}', "NaN is not a float64"),
        (b'{"format": -Infinity}', "-Infinity is not a float64"),
        (b'{"format": 1e999}', "not a float64"),
        (b'{"format": ' + b"9" * 5000 + b"}", "more than 18 digits"),
        (b"[" * 200_000, "not a JSON file"),
        (b'{"a":' * 100_000, "not a JSON file"),
        (b"{}", "'format' is missing"),
        (b'{"format": "elbowroom proof", "version": 2}', "no proof file of version 4"),
        (b'{"format": "elbowroom proof", "version": 4, "model_sha256": "0"}', "another model file"),
    ],
)
def test_broken_files(text: bytes, why: str, found: Proven) -> None:
    refused(text, found.model_file, why)
    with pytest.raises(Refused):
        check(found.proof.text.encode(), text)


def test_files_that_are_too_large(found: Proven) -> None:
    refused(b" " * (MOST_BYTES + 1), found.model_file, "larger than")
    refused(b'{"format":[' + b"[]," * 3_000_000 + b"0]}", found.model_file, "too large")
    refused(b'{"format":[' + b'{"a":1},' * 1_000_000 + b"0]}", found.model_file, "too large")
    refused(found.proof.text.encode(), b"[" * 4_000_000, "too large")


def test_every_missing_part_is_named(found: Proven) -> None:
    """Without any one part of the question, the region or the proof, nothing is confirmed (unless nobody reads it)."""
    document = found.proof.document
    for path in places(document):
        if not isinstance(path[-1], str):
            continue
        without: Any = json.loads(json.dumps(document))
        holder = without
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
        refused(packed(without), found.model_file, "is missing")


def test_every_missing_part_of_a_model_is_named(found: Proven) -> None:
    model = json.loads(found.model_file)
    unread = {
        "own_names",
        "missing_left",
        "may_miss",
    }
    for path in places(model):
        if not isinstance(path[-1], str) or path[-1] in unread:
            continue
        without: Any = json.loads(found.model_file)
        holder = without
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]
        assert found.proof.document is not None
        refused(packed(about(found.proof.document, packed(without))), packed(without), "is missing")


def test_a_budget_is_kept() -> None:
    made = proven(hard_question(0))
    with pytest.raises(Refused, match="not decided within 0 seconds"):
        check(made.proof.text.encode(), made.model_file, seconds=0.0)


def ladders(levels: int, roots: int) -> tuple[bytes, dict[str, Any]]:
    """Trees in which both sides of every split go on at the same node: 2^levels ways to one leaf. And the row in the middle."""
    size, n = levels + 1, range(levels)
    nodes = [(f, t * size + f + 1, 0.0, 0.0) for t in range(roots) for f in (*n, -1)]
    next_ = [-1 if f < 0 else child for f, child, _, _ in nodes]
    trees = {
        "feature": [f for f, *_ in nodes], "left": next_, "right": next_, "cut": [0.0] * len(nodes),
        "value": [[float(f < 0)] for f, *_ in nodes], "roots": [t * size for t in range(roots)], "base": [0.0],
        "divisor": 1.0, "single": False,
    }  # fmt: skip
    told = {"rule": "POSITIVE", "link": "NONE", "source": "", "fingerprint": "", "family": "trees", "trees": trees}
    flags = dict.fromkeys(("link_single", "fused_products", "ties_last"), False)
    numbers = {"threshold": 0.0, "evaluation_error": 0.0, "version": 2, "format": "elbowroom model"}
    model = packed({**told, **flags, **numbers, "names": [f"x{f}" for f in n], "classes": ["0", "1"]})
    row, wide = [0.0] * levels, [0.5] * levels
    question = {
        "factual": row, "lower": [None] * levels, "upper": [None] * levels, "whole": [], "groups": [], "norm": "l1",
        "factor": [1.0] * levels, "room": {"shape": "box", "down": wide, "up": wide}, "most_changes": None,
        "target": {"class": 1, "probability": None},
    }  # fmt: skip
    region = {"center": row, "lower": [-0.5] * levels, "upper": wide}
    proof = {"format": "elbowroom proof", "version": 4, "question": question, "region": region, "validity": [[0]]}
    return model, about({**proof, "optimality": "nothing"}, model)


def test_a_tree_with_many_ways_to_few_leaves_does_not_fill_the_memory() -> None:
    model, proof = ladders(10, 1)
    assert check(packed(proof), model).valid
    model, proof = ladders(18, 1)
    refused(packed(proof), model, "too many ways to its leaves")


def test_a_single_step_keeps_to_the_seconds_as_well(tmp_path: Path) -> None:
    """Eight million ways to a leaf in one step of a proof: true, and not decided in time."""
    model, proof = ladders(16, 128)
    (tmp_path / "model.json").write_bytes(model)
    (tmp_path / "proof.json").write_bytes(packed(proof))
    command = [sys.executable, "-m", "elbowroom_checker", "proof.json", "model.json", "--seconds", "0.1"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ended.returncode == 5 and not ended.stderr
    assert ended.stdout == "REFUSED: not decided within 0.1 seconds; allow more with --seconds\n"


def test_the_command_line(found: Proven, tmp_path: Path) -> None:
    (tmp_path / "proof.json").write_text(found.proof.text)
    (tmp_path / "model.json").write_bytes(found.model_file)
    (tmp_path / "false.json").write_text(found.proof.text.replace('"region":{', '"region":{"more":1,', 1)[:-3])

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        """Without site-packages: the standard library alone."""
        folder = Path(elbowroom_checker.__file__).parents[1]
        command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); "
                   "import runpy; runpy.run_module('elbowroom_checker', run_name='__main__')", *arguments]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    right = run("proof.json", "model.json")
    assert right.returncode == 0, right.stderr
    assert "VALID: " in right.stdout and "NOT CLOSER: " in right.stdout and "ASSUMED: " in right.stdout
    wrong = run("false.json", "model.json")
    assert wrong.returncode == 5 and wrong.stdout.startswith("REFUSED: ") and not wrong.stderr
    assert run("nowhere.json", "model.json").returncode == 5
    assert run().returncode == 2 and "usage" in run().stderr


def test_texts_from_files_do_not_reach_the_screen_as_they_are(found: Proven) -> None:
    model = json.loads(found.model_file)
    model["source"] = "\x1b[2J\nVALID: everything"
    file = packed(model)
    assert found.proof.document is not None
    said = check(packed(about(found.proof.document, file)), file).sentences
    assert all("\x1b" not in line and "\n" not in line for line in said)


def test_a_checker_of_one_folder() -> None:
    """Nothing but the standard library, and nothing of elbowroom."""
    allowed = {
        "__future__",
        "collections",
        "dataclasses",
        "fractions",
        "functools",
        "hashlib",
        "json",
        "math",
        "operator",
        "pathlib",
        "sys",
        "threading",
        "time",
        "typing",
    }
    for path in Path(elbowroom_checker.__file__).parent.glob("*.py"):
        for line in path.read_text().splitlines():
            if line.startswith(("import ", "from ")):
                name = line.split()[1].split(".")[0]
                assert name in allowed | {"elbowroom_checker"}, f"{path.name}: {line}"
