"""The published JSON Schema: everything that is written fits it, and it refuses what the reader refuses."""

from __future__ import annotations

import copy
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elbowroom import Box, Explainer, Feature, Space
from elbowroom.errors import InputError
from elbowroom.numerics import TOLERANCES
from elbowroom.problem import AtMost, Ball, Diamond, Distance, LinearRule, Shape, Target
from elbowroom.problem.kinds import Direction, Kind, Missing
from elbowroom.problem.rules.table import RULES
from elbowroom.result import NoRegion, Region, Status, Step
from elbowroom.result.json_schema import json_schema
from elbowroom.result.question_json import LABELS
from elbowroom.result.schema import VERSION, read_answer
from tests.support.answers import make_no_region, make_raw_region, make_region
from tests.support.forgery import resealed
from tests.support.json_schema import Validator
from tests.support.small_models import random_network, random_trees

SCHEMA: dict[str, Any] = json.loads(json_schema())
VALIDATOR = Validator(SCHEMA)
TRACE = (Step(0.1, 0.0, math.inf), Step(0.2, 0.1, 2.5, 0.03, "certified"))
RULED = (AtMost(6), LinearRule({"salary": 0.1, "rate": -3}, high=1e6))

ANSWERS: list[Region | NoRegion] = [
    make_region(trace=TRACE, rules=RULED),
    make_region(room=Box(0.05, categories={"housing": "any"})),
    make_region(room=Box(low=0.0, high={"salary": 100.0})),
    make_region(room=Box(tuple(np.linspace(0, 1, 8)))),
    make_region(room=Ball(0.02), distance=Distance.L2),
    make_region(room=Diamond({"salary": 12.5}), distance=Distance.LINF, target=Target("approved", 0.7)),
    make_region(status=Status.CERTIFIED, gap=0.3),
    make_region(origin=None),
    *[
        make_region(target=Target(label), predicted=label)
        for label in (True, 3, 2.5, math.inf, "", b"\x00yes", date(2024, 2, 29), datetime(2024, 2, 29, 12, 0, 0, 5), timedelta(-1))
    ],
    make_region(target=Target(at_least=1000), predicted=812.5),
    make_region(target=Target(at_most=-0.1), predicted=math.inf),
    make_region(target=Target(at_least=0.1, at_most=1 / 3), predicted=-5e-324),
    make_raw_region(),
    make_no_region(rules=(AtMost(0),)),
    make_no_region(Status.UNKNOWN, 0.25),
]  # fmt: skip


def refused(document: dict[str, Any]) -> bool:
    """Does the reader refuse the document, although seal and checksum are right?"""
    try:
        read_answer(json.dumps(resealed(copy.deepcopy(document))))
    except InputError:
        return True
    return False


@pytest.mark.parametrize("answer", ANSWERS, ids=repr)
def test_what_is_written_fits(answer: Region | NoRegion) -> None:
    document = json.loads(answer.to_json())
    assert VALIDATOR.fits(document) and not refused(document)


def test_real_answers_fit() -> None:
    rng = np.random.default_rng(0)
    cuts = [np.round(rng.normal(size=5), 2) for _ in range(2)]
    space = Space(tuple(Feature(f"x{f}", lower=-2, upper=2) for f in range(2)))
    statuses = set()
    for model in (random_network(rng, (2, 4)), random_trees(rng, 2, 3, 2, cuts, 2)):
        explainer = Explainer(model, space)
        for room in (Box(0.05), Ball(0.05), Box(1.9)):
            answer = explainer.explain(rng.uniform(-1, 1, 2), room, time_limit=10.0)
            document = json.loads(answer.to_json())
            statuses.add(answer.status)
            assert VALIDATOR.fits(document) and not refused(document)
            endless = {**document, "origin": {**document["origin"], "time_limit": "inf"}}
            assert VALIDATOR.fits(endless) and not refused(endless)
    assert len(statuses) >= 2


@pytest.mark.parametrize("name", ["early_region", "early_no_region"])
def test_early_files_of_version_2_are_read_and_fit(name: str) -> None:
    """Written before origins were kept."""
    text = (Path(__file__).with_name("version_2") / f"{name}.json").read_text(encoding="utf-8")
    assert "origin" not in json.loads(text) and VALIDATOR.fits(json.loads(text))
    answer = read_answer(text)
    assert answer.origin is None and answer.rules
    again = json.loads(answer.to_json())
    assert again["origin"] is None and VALIDATOR.fits(again)
    assert read_answer(json.dumps(again)).to_json() == answer.to_json()


def objects(value: Any, path: tuple = ()) -> Iterator[tuple[tuple, dict[str, Any]]]:
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from objects(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from objects(inner, (*path, index))


OPEN = {"coefficients", "versions", "radius", "high", "categories", "kinds"}  # objects whose keys are names
OPTIONAL = {("origin",), ("missing",), ("space", "features", "missing"), ("kinds",), ("labels",)}
OPTIONAL_WITHOUT_REGION = {("origin",), ("predicted",), ("source",)}


@pytest.mark.parametrize("answer", [ANSWERS[0], ANSWERS[2], ANSWERS[5], ANSWERS[-3], ANSWERS[-2]], ids=repr)
def test_schema_and_reader_refuse_the_same(answer: Region | NoRegion) -> None:
    """Every field of every object: missing, unknown, or of a wrong type."""
    document = json.loads(answer.to_json())
    tried = 0
    for path, found in objects(document):
        if path and path[-1] in OPEN:
            continue
        for key in [*found, None]:
            if key in ("checksum", "seal"):
                continue
            for after in (None, "missing", [3], {"x": 1}, "no such word") if key is not None else ("unknown",):
                broken = copy.deepcopy(document)
                inner: Any = broken
                for step in path:
                    inner = inner[step]
                if after == "missing":
                    del inner[key]
                elif key is None:
                    inner["approved_by"] = "the bank"
                else:
                    inner[key] = after
                tried += 1
                if VALIDATOR.fits(broken):
                    assert harmless(answer, (*path, key), found.get(key), after), (path, key, after)
                else:
                    assert refused(broken), (path, key, after)
    assert tried > 300


def harmless(answer: Region | NoRegion, path: tuple, before: Any, after: Any) -> bool:
    """What remains well formed: text for text, null where that means unknown, lists of numbers of a wrong length (which
    the reader refuses, but a schema cannot), and what early files did not have."""
    if after == "missing":
        path = tuple(step for step in path if isinstance(step, str))
        return path in (OPTIONAL if isinstance(answer, Region) else OPTIONAL_WITHOUT_REGION)
    if after == "no such word":
        return isinstance(before, str) or path[-1] == "unit"
    if after == [3]:
        return isinstance(before, (list, dict, float)) or path[-1] in ("radius", "low", "high")
    if after == {"x": 1}:
        return path[-1] in (
            "radius",
            "low",
            "high",
            "coefficients",
        )  # columns: the reader knows them, a schema does not
    return after is None


def test_the_schema_says_what_the_code_says() -> None:
    """Whoever adds a shape, a rule, a kind of label or another tolerance is led here."""
    defs = SCHEMA["$defs"]
    features = defs["space"]["properties"]["features"]["items"]["properties"]
    assert {s.value for s in Shape} == set(defs["body"]["properties"]["shape"]["enum"])
    rooms = [room["properties"]["shape"] for room in defs["room"]["anyOf"]]
    assert {s.value for s in Shape} == {rooms[0]["const"], *rooms[1]["enum"]}
    assert {k.value for k in Kind} == set(features["kind"]["enum"])
    assert {m.value for m in Missing} == set(features["missing"]["enum"])
    assert {d.value for d in Direction} == set(features["direction"]["enum"])
    assert {d.value for d in Distance} == set(defs["region"]["properties"]["distance_norm"]["enum"])
    assert set(RULES) == {rule["properties"]["rule"]["const"] for rule in defs["rule"]["anyOf"]}
    named = [label["properties"]["type"]["const"] for label in defs["label"]["anyOf"] if "properties" in label]
    assert [*(kind.__name__ for kind in LABELS), "each"] == named  # the last: of several models
    largest = defs["origin"]["properties"]["tolerance"]["maximum"]
    assert largest == max(TOLERANCES.optimal_gap, TOLERANCES.continuous_gap)
    kinds = [defs[name]["properties"] for name in ("region", "no_region")]
    assert {s.name for s in Status} == {name for kind in kinds for name in kind["status"]["enum"]}
    assert all(kind["schema"]["const"] == VERSION for kind in kinds)


def test_it_is_printed() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "elbowroom", "schema"], capture_output=True, text=True, timeout=120, check=True
    )
    assert ran.stdout == json_schema() and SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_validator_of_these_tests_can_refuse() -> None:
    document = json.loads(make_region().to_json())
    for key, value in (("schema", True), ("seconds", True), ("lower_bound", -1), ("checksum", "F" * 64)):
        assert not VALIDATOR.fits({**document, key: value})
    assert not VALIDATOR.fits({**document, "kind": "no region"})
