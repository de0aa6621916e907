"""The server: every question over HTTP, who may ask, limits, stops, dead processes, hostile names."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression

pytest.importorskip("fastapi", reason="pip install 'elbowroom[web]'")
import httpx
from fastapi.testclient import TestClient

from elbowroom import Explainer, Region
from elbowroom.present.questions import read_table
from elbowroom.present.web.app import create_app
from elbowroom.present.web.asked import Explain
from elbowroom.present.web.pool import Pool
from elbowroom.present.web.setup import Setup
from tests.support.hostile import attack
from tests.support.json_schema import Validator

TOKEN = "a-token-for-tests"
HOST = "127.0.0.1:8765"
EVIL = "<script>alert(1)</script>[bold]\x1b[2J"


def files(folder: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "salary": rng.uniform(1000.0, 9000.0, 400).round(),
            "age": rng.integers(18, 80, 400),
            "debt" + EVIL.replace("\x1b", ""): rng.uniform(0.0, 4000.0, 400).round(),
        }
    )
    label = np.where(X["salary"] - 2.0 * X.iloc[:, 2] > 1000.0, "approved" + EVIL, "rejected")
    joblib.dump(RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, label), folder / "model.joblib")
    X.to_csv(folder / "train.csv", index=False)
    return folder / "model.joblib", folder / "train.csv"


def client_of(pool: Pool, token: str | None = TOKEN, most_seconds: float = 60.0) -> TestClient:
    app = create_app(pool, frozenset({HOST}), token, most_seconds)
    headers = {} if token is None else {"X-Elbowroom-Token": token}
    return TestClient(app, base_url=f"http://{HOST}", headers=headers)


@pytest.fixture(scope="module")
def setup(tmp_path_factory: pytest.TempPathFactory) -> Setup:
    return Setup(*files(tmp_path_factory.mktemp("server")), trust_pickle=True)


@pytest.fixture(scope="module")
def client(setup: Setup) -> Iterator[TestClient]:
    with client_of(Pool(setup, size=1, waiting=40)) as opened:
        yield opened


@pytest.fixture(scope="module")
def explainer(setup: Setup) -> tuple[Explainer, pd.DataFrame]:
    found, table, _ = read_table(setup.model, setup.reference, trust_pickle=True, scale="usual", bounds="data")
    return found, table


@pytest.fixture(scope="module")
def rejected(explainer: Any) -> int:
    found, table = explainer
    said = found.predict(table)
    return int(np.flatnonzero(said == "rejected")[0])


def test_the_model_and_its_rows(client: TestClient, explainer: Any) -> None:
    told = client.get("/space").json()
    assert [column["name"] for column in told["columns"]] == list(explainer[0].space.columns)
    assert told["rows"] == 400 and told["classes"] == ["approved" + EVIL, "rejected"]
    assert told["columns"][1]["kind"] == "whole" and told["columns"][0]["lower"] is not None
    for number in (0, 199, 399):  # the last one is beyond those that the page knows
        assert client.get(f"/rows/{number}").json() == explainer[1].iloc[number].to_dict()
    assert client.get("/rows/400").status_code == 400 and "400 rows" in client.get("/rows/400").json()["error"]


def test_explain_is_that_of_the_library(client: TestClient, explainer: Any, rejected: int) -> None:
    told = client.post("/explain", json={"row": rejected, "radius": 0.02, "time_limit": 30, "case": "A-1"})
    assert told.status_code == 200
    answer = told.json()
    found, table = explainer
    region = Region.from_json(json.dumps(answer["answer"]))
    direct = found.explain(table.iloc[[rejected]], room=region.room)
    assert region.distance == direct.distance and region.status is direct.status
    assert answer["sentence"] == region.sentence() and answer["lower_bound"] == region.lower_bound
    attack(found.predict, region.body, "approved" + EVIL, found.model.cuts)
    page = client.get(f"/jobs/{answer['id']}/page")
    assert page.headers["content-type"].startswith("text/html") and "A-1" in page.text
    assert "<script>" not in page.text and "\x1b" not in page.text
    exported = client.get(f"/jobs/{answer['id']}/answer.json")
    assert Region.from_json(exported.text).certificate.seal == region.certificate.seal
    assert "attachment" in exported.headers["content-disposition"]
    assert client.get(f"/jobs/{answer['id']}/table.csv").text.startswith("feature,factual,center")
    assert client.get("/jobs").json()[0]["id"] == answer["id"]


def test_rows_by_value_and_declarations(client: TestClient, explainer: Any, rejected: int) -> None:
    found, table = explainer
    row = {name: float(value) for name, value in table.iloc[rejected].items()}
    ask = {"row": row, "radius": 0.01, "immutable": ["age"], "increasing": ["salary"]}
    free = Region.from_json(json.dumps(client.post("/explain", json=ask).json()["answer"]))
    ask["bounds"] = {"salary": [None, row["salary"] + 200.0]}
    held = Region.from_json(json.dumps(client.post("/explain", json=ask).json()["answer"]))
    for region in (free, held):
        attack(found.predict, region.body, "approved" + EVIL, found.model.cuts)
        assert region.lower["age"] == region.upper["age"] == row["age"] and region.lower["salary"] >= row["salary"]
    assert held.upper["salary"] <= row["salary"] + 200.0 and held.distance >= free.distance
    for wrong, words in (
        ({"immutable": ["nope"]}, "'nope'"),
        ({"row": {"salary": 1.0}}, "age"),
        ({"radius": -1.0}, "radius"),
        ({"target": "nope"}, "nope"),
    ):
        told = client.post("/explain", json={"row": rejected, **wrong})
        assert told.status_code == 400 and words in told.json()["error"], wrong
    assert client.post("/explain", json={"row": 0, "colour": "red"}).status_code == 422


def test_menu_widen_and_why_not(client: TestClient, rejected: int) -> None:
    told = client.post(
        "/explain", json={"row": rejected, "radius": 0.01, "menu": True, "widen": True, "time_limit": 40}
    )
    page = client.get(f"/jobs/{told.json()['id']}/page").text
    assert 'role="tablist"' in page and "moved further" in told.json()["proof"]
    names = [column["name"] for column in client.get("/space").json()["columns"]]
    none = client.post("/explain", json={"row": rejected, "immutable": names})
    assert none.json()["status"] == "NONE_EXISTS" and none.json()["distance"] is None
    assert "What rules it out" in client.get(f"/jobs/{none.json()['id']}/page").text


def test_certify_radius_frontier(client: TestClient, explainer: Any, rejected: int) -> None:
    found, table = explainer
    answer = client.post("/explain", json={"row": rejected, "radius": 0.02}).json()["answer"]
    assert client.post("/certify", json={"answer": answer}).json()["certified"] is True
    forged = {**answer, "target": {**answer["target"], "label": "rejected"}}
    assert client.post("/certify", json={"answer": forged}).status_code == 400
    center = {name: float(value) for name, value in table.iloc[rejected].items()}
    broad = client.post("/certify", json={"center": center, "radius": 3.0}).json()
    assert broad["certified"] is False and "a point of the region gets" in broad["words"]
    assert found.predict(pd.DataFrame([broad["counterexample"]]))[0] == "approved" + EVIL
    assert "either" in client.post("/certify", json={}).json()["error"]
    radius = client.post("/radius", json={"row": rejected}).json()
    assert radius["lower"] == found.radius(table.iloc[[rejected]]).lower
    front = client.post("/frontier", json={"row": rejected, "radii": [0.0, 0.01, 5.0]}).json()
    assert [point["radius"] for point in front["points"]] == [0.0, 0.01, 5.0]


def test_progress_and_end_are_told(client: TestClient, rejected: int) -> None:
    job = client.post("/explain", json={"row": rejected, "wait": False})
    assert job.status_code == 202
    with client.stream("GET", f"/jobs/{job.json()['id']}/events") as stream:
        text = "".join(stream.iter_text())
    last = text.strip().split("\n\n")[-1]
    assert last.startswith("event: end\ndata: ") and json.loads(last.split("data: ")[1])["state"] == "done"


# ---- who may ask ---------------------------------------------------------------------------------------------------------
def test_the_gate(client: TestClient) -> None:
    plain = {"X-Elbowroom-Token": ""}
    assert client.get("/space", headers=plain).status_code == 401
    assert client.get("/space", headers={"X-Elbowroom-Token": TOKEN + "x"}).status_code == 401
    assert client.get(f"/space?token={TOKEN}", headers=plain).status_code == 200
    assert client.get("/space", headers={**plain, "Authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert client.get("/openapi.json", headers=plain).status_code == 401
    for headers in (
        {"Host": "evil.example"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        assert client.get("/space", headers=headers).status_code == 403, headers
    assert client.get("/space", headers={"Origin": f"http://{HOST}"}).status_code == 200
    form = client.post("/explain", content=b'{"row": 0}', headers={"Content-Type": "text/plain"})
    assert form.status_code == 415
    large = b'{"row": 0, "case": "' + b"x" * 1_100_000 + b'"}'
    typed = {"Content-Type": "application/json"}
    assert client.post("/explain", content=large, headers=typed).status_code == 413
    chunks = client.post("/explain", content=iter([large[:600_000], large[600_000:]]), headers=typed)
    assert chunks.status_code == 413 and chunks.json() == {"error": "at most 1,000,000 bytes per question"}
    page = client.get("/")
    assert page.headers["x-content-type-options"] == "nosniff" and page.headers["cache-control"] == "no-store"
    assert TOKEN not in page.text


def test_the_interface_describes_itself(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/explain", "/certify", "/radius", "/frontier", "/space"} <= set(paths)
    assert client.get("/docs").status_code == 404  # it would come from elsewhere


def test_every_answer_is_as_described(client: TestClient, explainer: Any, rejected: int) -> None:
    """Each path of the description is asked; what it says, and its refusals, have the form that stands there."""
    document = client.get("/openapi.json").json()
    validator, asked = Validator(document), set()

    def told(method: str, path: str, expected: int, body: Any = None, **names: Any) -> Any:
        filled = path.format(**names)
        answer = client.request(method, filled, **({} if body is None else {"json": body}))
        assert answer.status_code == expected, (filled, answer.text)
        described = document["paths"][path][method.lower()]["responses"][str(expected)]["content"]
        kind = answer.headers["content-type"].partition(";")[0]
        content = answer.json() if kind == "application/json" else answer.text
        assert validator.fits(content, described[kind]["schema"]), (filled, content)
        asked.add((method.lower(), path))
        return content

    center = {name: float(value) for name, value in explainer[1].iloc[rejected].items()}
    assert len(told("GET", "/space", 200)["columns"]) == 3
    told("GET", "/rows/{number}", 200, number=0)
    told("GET", "/rows/{number}", 400, number=400)
    told("GET", "/rows/{number}", 422, number="x")
    first = told("POST", "/explain", 200, {"row": rejected, "radius": 0.02, "widen": True})
    names = list(center)
    none = told("POST", "/explain", 200, {"row": rejected, "immutable": names})
    told("POST", "/explain", 400, {"row": rejected, "radius": -1.0})
    told("POST", "/explain", 422, {"row": True})
    taken = told("POST", "/explain", 202, {"row": rejected, "wait": False})
    certified = told("POST", "/certify", 200, {"answer": first["answer"]})
    broad = told("POST", "/certify", 200, {"center": center, "radius": 3.0})
    assert certified["certified"] and broad["counterexample"]
    told("POST", "/certify", 400, {})
    radius = told("POST", "/radius", 200, {"row": rejected})
    front = told("POST", "/frontier", 200, {"row": rejected, "radii": [0.0, 0.02, 5.0]})
    assert "event: end" in told("GET", "/jobs/{key}/events", 200, key=taken["id"])
    told("POST", "/jobs/{key}/stop", 200, {}, key=first["id"])
    for job in (first, none, certified, radius, front):
        assert told("GET", "/jobs/{key}", 200, key=job["id"]) == job
    assert len(told("GET", "/jobs", 200)) >= 6
    for part in ("page", "answer.json", "answer.html", "table.csv"):
        told("GET", f"/jobs/{{key}}/{part}", 200, key=first["id"])
        told("GET", f"/jobs/{{key}}/{part}", 409, key=radius["id"])
        told("GET", f"/jobs/{{key}}/{part}", 404, key="nope")
    assert asked == {(method, path) for path, entry in document["paths"].items() for method in entry}
    assert "APIKeyHeader" in document["components"]["securitySchemes"]


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("explain", '{"row": 1, "radius": NaN}', "radius: Input should be a finite number (given: nan)"),
        ("explain", '{"row": 1, "time_limit": Infinity}', "time_limit: Input should be a finite number"),
        ("explain", '{"row": 1, "case": "\\ud800"}', "case: Input should be a valid string"),
        ("explain", '{"row": 1, "\\ud800": 1}', "unicode"),
        ("explain", '{"row": true}', "row: Input should be a valid integer (given: True)"),
        ("explain", '{"row": 1, "colour": 2}', "colour: Extra inputs are not permitted"),
        ("explain", '{"row": 1, "bounds": {"age": [1]}}', "bounds.age.1: Field required"),
        ("explain", '{"row": 1, "immutable": ["\\ud800"]}', "no such column"),
        ("explain", '{"row": {"salary": "\\ud800"}}', "missing columns"),
        ("explain", '{"row": 1', "this is no JSON"),
        ("explain", "[]", "the body: "),
        ("explain", "null", "the body: "),
        ("explain", "", "the body: "),
        ("explain", b'{"row": "\xff"}', "UTF-8"),
        ("explain", '{"row": ' + "9" * 5000 + "}", "digits"),
        ("explain", '{"row": ' + "[" * 100_000 + "]" * 100_000 + "}", "nesting"),
        ("certify", '{"answer": {"a": NaN}}', "NaN"),
        ("certify", '{"answer": ' + '{"a":' * 800 + "1" + "}" * 800 + "}", "nested"),
        ("frontier", '{"row": 1, "radii": []}', "radii: List should have at least 1 item"),
        ("explain", '{"row": 1, "target": "nope"}', "target 'nope' is not a class"),
        ("explain", '{"row": 1, "probability": 0.7}', "probability needs target"),
        ("explain", '{"row": 1, "at_least": 1}', "at_least 1: "),
        ("explain", '{"row": 1, "increasing": ["age"], "decreasing": ["age"]}', "'age' may only rise"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_makes_no_sense_is_refused_with_the_cure(
    client: TestClient, path: str, body: str | bytes, words: str
) -> None:
    told = client.post(f"/{path}", content=body, headers={"Content-Type": "application/json"})
    assert told.status_code in (400, 422) and words in told.json()["error"], told.text
    assert "--" not in told.json()["error"], "options of the command line mean nothing here"
    assert client.get("/jobs").status_code == 200, "and the list of questions can still be read"


def test_a_direction_of_the_server_holds(setup: Setup, rejected: int) -> None:
    with client_of(Pool(replace(setup, increasing=("age",)), size=1), None) as client:
        told = client.post("/explain", json={"row": rejected, "decreasing": ["age"]})
        assert told.status_code == 400 and "'age' may only rise here" in told.json()["error"]
        assert client.post("/explain", json={"row": rejected, "increasing": ["age"]}).status_code == 200


def test_when_the_server_ends_nobody_waits_for_ever(hard: tuple[TestClient, Pool]) -> None:
    pool = Pool(hard[1].setup, size=1)
    pool.start()
    asked = Explain(row=0, shape="ball", radius=0.1, time_limit=500.0)
    jobs = [pool.submit(asked) for _ in range(3)]
    while not jobs[0].steps:
        time.sleep(0.05)
    pool.close()
    assert [(job.state, job.error) for job in jobs] == [("failed", "the server ended before this was answered")] * 3


def test_ctrl_c_ends_a_server_that_is_asked(hard: tuple[TestClient, Pool]) -> None:
    """Also while a browser listens to a search of 200 seconds: uvicorn alone would wait for the connection."""
    setup = hard[1].setup
    words = ["serve", setup.model, "--reference", setup.reference, "--trust-pickle", "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "elbowroom", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        base, token = server.stdout.readline().split()[1].split("?token=")
        with httpx.Client(base_url=base, headers={"X-Elbowroom-Token": token}, timeout=120) as client:
            ask = {"row": 0, "shape": "ball", "radius": 0.1, "time_limit": 200, "wait": False}
            job = client.post("explain", json=ask).json()["id"]
            with client.stream("GET", f"jobs/{job}/events") as stream:
                lines = stream.iter_lines()
                assert next(lines) == "event: step"
                server.send_signal(signal.SIGINT)
                assert "the server ended" in list(lines)[-2]
        assert server.wait(timeout=120) == 130


# ---- limits and trouble --------------------------------------------------------------------------------------------------
def test_limits_are_said(client: TestClient, setup: Setup, rejected: int) -> None:
    told = client.post("/explain", json={"row": rejected, "time_limit": 1000})
    assert told.status_code == 400 and "at most 60 s" in told.json()["error"]
    pool = Pool(setup, size=1, waiting=2)  # never started: everything waits
    client = TestClient(create_app(pool, frozenset({HOST}), None), base_url=f"http://{HOST}")
    states = [client.post("/explain", json={"row": 0, "wait": False}).status_code for _ in range(4)]
    assert states == [202, 202, 503, 503]


def test_twenty_at_once_are_all_answered(client: TestClient, rejected: int) -> None:
    def ask(i: int) -> tuple[int, float]:
        return client.post("/explain", json={"row": rejected, "radius": 0.01 + i / 1000}).status_code, 0.0

    with ThreadPoolExecutor(20) as threads:
        jobs = [threads.submit(ask, i) for i in range(20)]
        pages = [client.get("/").status_code for _ in range(10)]
        assert [job.result()[0] for job in jobs] == [200] * 20
    assert pages == [200] * 10


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Pool]]:
    """A question that is not proven within its time: stopping it is worth something."""
    folder = tmp_path_factory.mktemp("hard")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1500, 12)), columns=[f"x{i}" for i in range(12)])
    y = (X.to_numpy() ** 2).sum(axis=1) + rng.normal(size=1500) > 12.0
    model = GradientBoostingClassifier(n_estimators=150, max_depth=6, random_state=0, subsample=0.5).fit(X, y)
    joblib.dump(model, folder / "model.joblib")
    X.to_csv(folder / "train.csv", index=False)
    setup = Setup(folder / "model.joblib", folder / "train.csv", trust_pickle=True)
    pool = Pool(setup, size=1)
    with client_of(pool, None, 600.0) as client:
        client.get("/space")
        yield client, pool


def test_a_stop_returns_the_best_so_far(hard: tuple[TestClient, Pool]) -> None:
    client, pool = hard
    job = client.post(
        "/explain", json={"row": 0, "shape": "ball", "radius": 0.1, "time_limit": 500, "wait": False}
    ).json()["id"]
    begun = time.monotonic()
    while not pool.jobs[job].steps or pool.jobs[job].steps[-1]["distance"] is None:
        assert time.monotonic() - begun < 120 and not pool.jobs[job].over, pool.jobs[job]
        time.sleep(0.05)
    assert client.post(f"/jobs/{job}/stop", json={}).status_code == 200
    while not pool.jobs[job].over:
        time.sleep(0.05)
    told = client.get(f"/jobs/{job}").json()
    assert told["status"] == "CERTIFIED" and told["stopped"] is True and 0.0 <= told["lower_bound"] < told["distance"]
    region = Region.from_json(json.dumps(told["answer"]))
    model = joblib.load(pool.setup.model)
    attack(lambda rows: model.predict(pd.DataFrame(rows, columns=region.space.names)), region.body, region.target.label)


def test_a_dead_process_is_replaced(hard: tuple[TestClient, Pool]) -> None:
    client, pool = hard
    job = client.post("/explain", json={"row": 0, "shape": "ball", "time_limit": 500, "wait": False}).json()["id"]
    while not pool.jobs[job].steps:
        time.sleep(0.05)
    import multiprocessing

    children = [child for child in multiprocessing.active_children() if child.pid in pool.pids]
    assert len(children) == 1
    os.kill(children[0].pid, signal.SIGKILL)
    while not pool.jobs[job].over:
        time.sleep(0.05)
    assert client.get(f"/jobs/{job}").status_code == 500 and "ended" in client.get(f"/jobs/{job}").json()["error"]
    assert client.post("/radius", json={"row": 0, "time_limit": 1.0}).status_code == 200


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    model, table = files(tmp_path)
    with client_of(Pool(Setup(model, table), size=1), None) as client:  # a pickle that nobody trusts
        told = client.get("/space")
    assert told.status_code == 500 and "--trust-pickle" in told.json()["error"]


def test_regressors(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(100, 2)), columns=["a", "b"])
    joblib.dump(LinearRegression().fit(X, 3.0 * X["a"] + X["b"]), tmp_path / "model.joblib")
    X.to_csv(tmp_path / "train.csv", index=False)
    with client_of(Pool(Setup(tmp_path / "model.joblib", tmp_path / "train.csv", True), size=1), None) as client:
        assert client.get("/space").json()["regressor"] is True
        told = client.post("/explain", json={"row": 0, "at_least": 3.0, "radius": 0.01}).json()
        assert told["status"] == "OPTIMAL" and "at least 3" in told["sentence"]
        assert "regressor" in client.post("/explain", json={"row": 0}).json()["error"]
