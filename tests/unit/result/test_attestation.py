"""What is said about an answer stands in its file, its proof and on its page, under the checksum; and only if it is asked for."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from elbowroom import InputError, NoRegion, Region
from elbowroom.result.json_schema import json_schema
from elbowroom.result.proof import Proof
from elbowroom.result.schema import read_answer
from tests.support.answers import make_no_region, make_region
from tests.support.forgery import forged
from tests.support.json_schema import Validator

TIME = "2031-05-17T09:30:00+02:00"
ANSWERS = (make_region(), make_no_region())


@pytest.mark.parametrize("answer", ANSWERS, ids=["region", "no region"])
def test_what_is_attested_is_read_again_and_nothing_is_added_unasked(answer: Region | NoRegion) -> None:
    assert "attestation" not in json.loads(answer.to_json())
    filed = answer.attested("17/2031", "appeal of Ms K", model="scores-3", time=TIME)
    text = filed.to_json()
    assert Validator(json.loads(json_schema())).fits(json.loads(text))
    again = read_answer(text)
    assert again.attestation == filed.attestation
    assert (
        again.to_json() == text == answer.attested("17/2031", "appeal of Ms K", model="scores-3", time=TIME).to_json()
    )
    changed = json.loads(text)
    changed["attestation"]["case"] = "18/2031"
    with pytest.raises(InputError, match="checksum"):
        read_answer(json.dumps(changed))
    for shown in (str(filed), filed.to_html()):
        assert all(said in shown for said in ("17/2031", "appeal of Ms K", "scores-3", TIME))
    assert json.loads(text)["checksum"] in filed.to_html()


def test_a_page_shows_what_the_file_says_and_nothing_else() -> None:
    filed = make_region().attested("17/2031", time=TIME)
    assert filed.to_html(case="17/2031") == filed.to_html()
    for other in ({"case": "18/2031"}, {"model": "other"}, {"date": "2031-05-18"}):
        with pytest.raises(InputError, match=r"leave .* out"):
            filed.to_html(**other)  # type: ignore[arg-type]
    hostile = make_region().attested("<script>alert(1)</script>\x1b[2J", "\u202eright").to_html()
    assert "<script>alert(1)" not in hostile
    assert "\x1b" not in hostile
    assert "\u202e" not in hostile


def test_the_time_is_now_unless_it_is_given() -> None:
    attestation = make_region().attested("1").attestation
    assert attestation is not None
    assert abs(datetime.datetime.now(datetime.UTC) - attestation.time) < datetime.timedelta(hours=1)


@pytest.mark.parametrize(
    "wrong",
    [{"case": 17}, {"purpose": "x" * 1001}, {"time": "yesterday"}, {"time": "2031-05-17T09:30:00"}, {"time": 5}],
)
def test_what_cannot_be_said_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        make_region().attested(**wrong)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("case", 17),
        ("case", "x" * 1001),
        ("time", "2031-05-17"),
        ("time", "2031-05-17T09:30:00"),
        ("time", "2031-05-17T09:30:00.5+00:00"),
        ("time", None),
        ("model", None),
        ("more", ""),
    ],
)
def test_forged_files_are_refused_and_by_the_published_schema_too(field: str, value: object) -> None:
    document = json.loads(make_region().attested("17/2031", time=TIME).to_json())
    wrong = forged(document, (("attestation", field), value))
    with pytest.raises(InputError, match=f"attestation.{field}"):
        read_answer(json.dumps(wrong))
    assert not Validator(json.loads(json_schema())).fits(wrong)


def test_the_proof_of_an_attested_answer_names_it() -> None:
    from dataclasses import replace

    answer = replace(make_region(), proof=Proof({"format": "elbowroom proof"}))
    filed = answer.attested("17/2031", "appeal", time=TIME)
    assert filed.proof is not None
    assert filed.proof.document is not None
    said = filed.proof.document["attestation"]
    assert said["answer"] == json.loads(filed.to_json())["checksum"]
    assert (said["case"], said["purpose"], said["time"]) == ("17/2031", "appeal", TIME)
    assert filed.origin is not None
    assert (said["model_file"], said["versions"]) == (filed.origin.model_file, dict(filed.origin.versions))
    assert "attestation" not in (answer.proof.document or {})  # type: ignore[union-attr]
