"""JSON: exact round trips, and nothing that was changed is believed."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elbowroom.errors import InputError
from elbowroom.problem import AtMost, Ball, Box, Diamond, Distance, Feature, LinearRule, Space, Target
from elbowroom.result import NoRegion, Region, Status, Step
from elbowroom.result.schema import MOST_BYTES, _checksum, read_answer
from elbowroom.result.trace_json import MOST_STEPS
from tests.support.answers import CENTER, FACTUAL, make_no_region, make_region

VERSION_1 = Path(__file__).with_name("version_1")  # files that the code before schema 2 wrote
TRACE = (Step(0.1, 0.0, math.inf), Step(0.2, 0.1, 2.5, 0.03, "certified"))


@pytest.mark.parametrize(
    "region",
    [
        make_region(trace=TRACE),
        make_region(room=Box(0.05, categories={"housing": "any"})),
        make_region(room=Box(low=0.0, high={"salary": 100.0})),
        make_region(room=Box(tuple(np.linspace(0, 1, 8)))),
        make_region(room=Ball(0.02), distance=Distance.L2),
        make_region(room=Diamond({"salary": 12.5}), distance=Distance.LINF, target=Target("approved", 0.7)),
        make_region(status=Status.CERTIFIED, gap=0.3),
        make_region(rules=(AtMost(6), LinearRule({"salary": 0.1, "rate": -3}, high=1e6))),
    ],
)
def test_round_trip(region: Region, tmp_path) -> None:
    text = region.to_json(tmp_path / "r.json")
    for again in (
        Region.from_json(text),
        Region.from_json(tmp_path / "r.json"),
        Region.from_json(str(tmp_path / "r.json")),
    ):
        assert again.to_json() == text
        assert again.certificate.seal == region.certificate.seal
        assert again.space == region.space and again.room == region.room and again.trace == region.trace
        assert again.rules == region.rules and again.rules_known
        assert (again.status, again.target, again.metric) == (region.status, region.target, region.metric)
        assert (again.distance, again.lower_bound, again.predicted) == (
            region.distance,
            region.lower_bound,
            region.predicted,
        )
        assert again.sentence() == region.sentence()
        for name in ("center", "lower", "upper", "axes", "whole"):
            ours, theirs = getattr(again.body, name), getattr(region.body, name)
            assert ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes()


LABELS = ["1", 1, True, 1.0, -7, 2.5, "häßlich \u2028 \"'\\", "", b"", b"\x00no\xff", date(1, 1, 1), date(2024, 2, 29)]
LABELS += [datetime(2024, 2, 29), datetime(9999, 12, 31, 23, 59, 59, 999_999), timedelta(-3, 5, 7), timedelta.max]


@pytest.mark.parametrize("label", LABELS, ids=repr)
def test_labels_keep_their_type(label) -> None:
    again = Region.from_json(make_region(target=Target(label), predicted=label).to_json())
    assert again.target.label == label and type(again.target.label) is type(label)
    assert again.predicted == label and type(again.predicted) is type(label)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("bytes", "0"),
        ("bytes", "0G"),
        ("bytes", "FF"),
        ("date", "2024-02-30"),
        ("date", "20240229"),
        ("datetime", "2024-02-29"),
        ("datetime", "2024-02-29T12:00"),
        ("timedelta", 1.5),
        ("timedelta", 10**30),
        ("date", 5),
        ("tuple", "1"),
    ],
)
def test_labels_in_any_other_form_are_refused(kind: str, value: object) -> None:
    document = json.loads(make_region().to_json())
    document["predicted"] = {"type": kind, "value": value}
    with pytest.raises(InputError, match=r"predicted\.(value|type) should be"):
        Region.from_json(json.dumps(document))


def test_numpy_labels_become_plain_ones() -> None:
    again = Region.from_json(make_region(target=Target(np.str_("yes")), predicted=np.int64(3)).to_json())
    assert again.target.label == "yes" and type(again.predicted) is int


@given(st.floats(-1e150, 1e150), st.floats(1e-150, 1e150), st.floats(-1e150, 1e150))
def test_floats_are_exact(center: float, scale: float, factual: float) -> None:
    space = Space((Feature("x", scale=scale),))
    region = make_region(space, np.array([factual]), np.array([center]), Box(0.5))
    again = Region.from_json(region.to_json())
    assert again.body.center.tobytes() == region.body.center.tobytes()
    assert again.body.lower.tobytes() == region.body.lower.tobytes()
    assert again.space.features[0].scale == scale and again.factual_values[0] == factual


def test_no_region_round_trip() -> None:
    ruled = make_no_region(rules=(AtMost(0),))
    for answer in (make_no_region(), make_no_region(Status.UNKNOWN, 0.25), ruled):
        again = NoRegion.from_json(answer.to_json())
        assert again.to_json() == answer.to_json()
        assert (again.status, again.reason, again.lower_bound) == (answer.status, answer.reason, answer.lower_bound)
        assert again.rules == answer.rules and again.rules_known


# ---- rules, and the files of version 1 that did not keep them --------------------------------------------------------
@pytest.mark.parametrize("kind", ["region", "no_region"])
def test_files_of_version_1_are_readable_and_say_that_their_rules_are_lost(kind: str) -> None:
    answer = read_answer(VERSION_1 / f"{kind}.json")
    assert json.loads((VERSION_1 / f"{kind}.json").read_text())["schema"] == 1
    assert answer.rules == () and not answer.rules_known
    assert "schema 1 does not keep" in str(answer) and "schema 1 does not keep" in answer.to_html()
    written = json.loads(answer.to_json())
    assert written["schema"] == 2 and written["rules"] is None
    again = read_answer(answer.to_json())
    assert not again.rules_known and again.to_json() == answer.to_json()


def test_a_region_of_version_1_is_read_as_it_was_written() -> None:
    made = make_region(room=Ball(0.02), distance=Distance.L2, trace=TRACE)
    read = Region.from_json(VERSION_1 / "region.json")
    assert read.certificate.seal == made.certificate.seal and read.trace == made.trace
    assert (read.space, read.room, read.target, read.metric) == (made.space, made.room, made.target, made.metric)
    assert (read.distance, read.lower_bound, read.status) == (made.distance, made.lower_bound, made.status)


def test_a_file_of_version_1_with_any_change_is_refused() -> None:
    document = json.loads((VERSION_1 / "region.json").read_text())
    for path in leaves(document):
        broken = copy.deepcopy(document)
        node = broken
        for key in path:
            node = node[key]
        put(broken, path, changed(node))
        with pytest.raises(InputError):
            Region.from_json(json.dumps(broken))


def test_rules_that_do_not_fit_the_columns_are_refused() -> None:
    document = json.loads(make_region(rules=(LinearRule({"salary": 1}, high=1e6),)).to_json())
    document["rules"][0]["coefficients"] = {"salery": 1.0}
    del document["checksum"]
    document["checksum"] = _checksum(document)
    with pytest.raises(InputError, match="did you mean 'salary'"):
        Region.from_json(json.dumps(document))


def test_the_wrong_door_says_so() -> None:
    with pytest.raises(InputError, match=r"NoRegion\.from_json"):
        Region.from_json(make_no_region().to_json())
    with pytest.raises(InputError, match=r"Region\.from_json"):
        NoRegion.from_json(make_region().to_json())
    assert isinstance(read_answer(make_no_region().to_json()), NoRegion)


def test_without_timings_equal_answers_are_equal_texts() -> None:
    slow = make_region(trace=(Step(5.0, 0.0, 2.0), Step(9.0, 0.0, 1.0)))  # steps are published as seconds pass
    fast = make_region(trace=(Step(0.1, 0.0, 1.0),))
    assert slow.to_json() != fast.to_json()
    assert slow.to_json(timings=False) == fast.to_json(timings=False)


# ---- tampering ------------------------------------------------------------------------------------------------------
def leaves(value: Any, path: tuple = ()) -> Iterator[tuple]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
        if not value:
            yield path
    else:
        yield path


def changed(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return math.nextafter(value, math.inf)
        case str():
            return value + "x"
        case list():
            return [[0]]
        case None:
            return 0.5
    raise AssertionError(value)


def put(document: Any, path: tuple, value: Any) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


def test_any_single_change_is_refused() -> None:
    document = json.loads(make_region(trace=TRACE, rules=(AtMost(5), LinearRule({"rate": 1}, 0, 1))).to_json())
    paths = list(leaves(document))
    assert len(paths) > 120
    for path in paths:
        broken = copy.deepcopy(document)
        node = broken
        for key in path:
            node = node[key]
        put(broken, path, changed(node))
        with pytest.raises(InputError):
            Region.from_json(json.dumps(broken))


def test_a_certificate_with_one_field_changed_is_refused_even_with_a_new_checksum() -> None:
    document = json.loads(make_region(room=Ball(0.02)).to_json())
    paths = [p for p in leaves(document) if p[0] == "certificate" and p[1] != "seconds"]
    assert len(paths) > 40
    for path in paths:
        broken = copy.deepcopy(document)
        node = broken
        for key in path:
            node = node[key]
        put(broken, path, "e" * 64 if path[1] == "fingerprint" else changed(node))
        del broken["checksum"]
        broken["checksum"] = _checksum(broken)
        with pytest.raises(InputError) as caught:
            Region.from_json(json.dumps(broken))
        plain = path[1:] in {("margin",), ("fingerprint",), ("method",), ("body", "center", 1), ("seal",)}
        assert not plain or "seal" in str(caught.value)


def test_any_missing_field_is_named() -> None:
    document = json.loads(make_region().to_json())
    for key in document:
        broken = {k: v for k, v in document.items() if k != key}
        # early files of version 2 have neither origin nor kinds
        words = {"format": "not an elbowroom file", "origin": "checksum", "kinds": "checksum"}
        with pytest.raises(InputError, match=words.get(key, "missing")):
            Region.from_json(json.dumps(broken))


def test_distance_must_fit_the_points() -> None:
    document = json.loads(make_region().to_json())
    document["distance"] /= 2
    del document["checksum"]
    document["checksum"] = _checksum(document)
    with pytest.raises(InputError, match="distance"):
        Region.from_json(json.dumps(document))


@pytest.mark.parametrize("version", [0, 3, 999])
def test_unknown_versions_are_refused_by_number(version: int) -> None:
    document = json.loads(make_region().to_json())
    document["schema"] = version
    with pytest.raises(InputError, match=f"schema version {version}"):
        Region.from_json(json.dumps(document))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"format": 3}',
        '{"format": "elbowroom"}',
        '{"format": "elbowroom", "schema": "1"}',
        '{"format": "elbowroom", "schema": 1, "kind": "poem"}',
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        "[" * 100_000,
        '{"x": ' * 100_000,
        "no such file.json",
        "\0",
        "x" * 5000,
    ],
)
def test_malformed_text_is_an_input_error(text: str) -> None:
    with pytest.raises(InputError):
        Region.from_json(text)


def test_other_files_are_input_errors(tmp_path) -> None:
    (tmp_path / "binary").write_bytes(b"\x80\x04\xff\xfe")
    for path in (tmp_path / "binary", tmp_path, tmp_path / "missing.json"):
        with pytest.raises(InputError):
            Region.from_json(path)
    with pytest.raises(InputError, match="not int"):
        Region.from_json(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="cannot write"):
        make_region().to_json(tmp_path / "no folder" / "r.json")


def test_labels_without_a_json_form_are_refused() -> None:
    with pytest.raises(InputError, match="JSON label"):
        make_region(predicted=1j).to_json()


def test_the_data_of_an_answer() -> None:
    region = make_region()
    told = ["feature", "factual", "center", "low", "high", "changed", "has_to_change", "kind"]
    assert list(region.intervals.columns) == told
    assert region.changed.sum() == (CENTER != FACTUAL).sum()
    assert region.contains(region.sample(50)).all() and bool(region) and not make_no_region()
    assert repr(region).startswith("<Region OPTIMAL") and repr(make_no_region()).startswith("<NoRegion NONE_EXISTS")
    with pytest.raises(InputError, match="lack the columns"):
        region.contains(region.sample(3).drop(columns=["age"]))


def test_a_long_trace_is_thinned_so_that_the_file_can_be_read_again() -> None:
    steps = tuple(Step(float(i), i / 1e6, 2.0, note="certified") for i in range(300_000))
    text = make_region(trace=steps).to_json()
    trace = Region.from_json(text).trace
    assert len(text) < MOST_BYTES and len(trace) == MOST_STEPS and (trace[0], trace[-1]) == (steps[0], steps[-1])
    assert max(b.seconds - a.seconds for a, b in pairwise(trace)) <= 16
    with pytest.raises(InputError, match="at most 16 MB are read"):
        Region.from_json("{" + " " * MOST_BYTES)


def test_two_halves_of_a_character_side_by_side_are_refused() -> None:
    """JSON would join them, and the file that was written could not be read."""
    region = make_region()
    halves = replace(region, predicted="a\ud83d\ude00")
    with pytest.raises(InputError, match="halves of a character"):
        halves.to_json()
    assert Region.from_json(replace(region, predicted="a\ud83d").to_json()).predicted == "a\ud83d"
