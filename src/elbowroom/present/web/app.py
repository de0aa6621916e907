"""The HTTP interface: questions in, answers out, and the page. The interface describes itself at /openapi.json."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI, HTTPException, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
from fastapi.security import APIKeyHeader
from starlette.exceptions import HTTPException as AnyHTTPException

from elbowroom.present.web import told as forms
from elbowroom.present.web.asked import Certify, Explain, Frontier, Question, Radius
from elbowroom.present.web.gate import HEADER, Gate
from elbowroom.present.web.page import first_page
from elbowroom.present.web.pool import BusyError, Job, Pool
from elbowroom.present.web.told import answers
from elbowroom.version import __version__
from elbowroom.visible import brief, message

LOOK: Final = 0.02  # seconds between two looks at a question
MOST_SAID: Final = 3  # of the faults of one question
FORM: Final = re.compile(r"int|float|str|bool|dict\[.*\]")  # of several that a field may have: no part of its place
UNREAD: Final = (400, "There was an error parsing the body")  # as FastAPI says it
UNREADABLE: Final = (
    "the body cannot be read: send JSON in UTF-8, without numbers of thousands of digits or endless nesting"
)
BUSY: Final = "too many questions are waiting; try again in a moment"
LARGE: Final = ("page", "table")  # of a result: fetched by themselves


class Told(JSONResponse):
    """JSON in ASCII: half a character that a request held can be sent back as its escape."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def create_app(pool: Pool, hosts: frozenset[str], token: str | None, most_seconds: float = 60.0) -> FastAPI:
    """The application; ``pool`` is started and closed with it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        pool.start()
        yield
        await asyncio.to_thread(pool.close)

    known = Security(APIKeyHeader(name=HEADER, auto_error=False, description="The token of the printed address."))
    app = FastAPI(
        title="elbowroom", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        default_response_class=Told, dependencies=[] if token is None else [known],
        responses={code: forms.trouble(why) for code, why in forms.AT_THE_GATE.items()},
        description="Regions of counterfactual explanations: closest, and proven valid at every point.",
    )  # fmt: skip
    app.add_middleware(Gate, hosts=hosts, token=token)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(AnyHTTPException, _refused)
    _add_questions(app, pool, most_seconds)
    _add_jobs(app, pool)
    _add_exports(app, pool)
    return app


async def _malformed(request: Request, error: Exception) -> Told:
    """Which field, what it should be, and what was given; never the whole of it, which may be anything."""
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    said = "; ".join(map(_fault, faults[:MOST_SAID]))
    more = f"; and {len(faults) - MOST_SAID} more" if len(faults) > MOST_SAID else ""
    return Told({"error": message(f"{said}{more}. GET /openapi.json describes every field")}, 422)


def _fault(fault: dict[str, Any]) -> str:
    """row: Input should be a valid integer (given: True)."""
    if fault["type"] == "json_invalid":
        return f"the body, from character {fault['loc'][-1]}: this is no JSON, {fault['ctx']['error']}"
    place = [str(part) for part in fault["loc"][1:] if not FORM.fullmatch(str(part))]
    given = "" if fault["type"] == "missing" else f" (given: {brief(ascii(fault['input']))})"
    return f"{'.'.join(place) or 'the body'}: {fault['msg']}{given}"


async def _refused(request: Request, error: Exception) -> Told:
    assert isinstance(error, AnyHTTPException)
    said = UNREADABLE if (error.status_code, error.detail) == UNREAD else str(error.detail)
    return Told({"error": said}, error.status_code, error.headers)


def _add_questions(app: FastAPI, pool: Pool, most_seconds: float) -> None:
    async def ask(question: Question) -> Any:
        if question.time_limit > most_seconds:
            raise HTTPException(
                400, f"time_limit: at most {most_seconds:g} s here; ask elbowroom serve for more with --most-seconds"
            )
        try:
            job = pool.submit(question)
        except BusyError:
            raise HTTPException(503, BUSY, {"Retry-After": "5"}) from None
        if not question.wait:
            return Told({"id": job.id, "state": job.state}, 202)
        while not job.over:
            await asyncio.sleep(LOOK)
        return _ended(job)

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def page() -> str:
        return first_page()

    @app.get(
        "/space", responses={**answers(forms.Space), 500: {"model": forms.Trouble, "description": forms.REASONS[500]}}
    )
    async def space() -> Any:
        """The columns of the model, its outcomes, and the first rows of the reference table; waits for the model."""
        while pool.about is None:
            if pool.trouble:
                raise HTTPException(500, pool.trouble)
            await asyncio.sleep(LOOK)
        return Told(pool.about)

    @app.get("/rows/{number}", responses=answers(forms.Values, 400, 422, 500, 503))
    async def row(number: int) -> Any:
        """One row of the reference table."""
        first = (pool.about or {}).get("first", [])
        if 0 <= number < len(first):
            return Told(first[number])
        try:
            job = pool.submit(number)
        except BusyError:
            raise HTTPException(503, BUSY, {"Retry-After": "5"}) from None
        while not job.over:
            await asyncio.sleep(LOOK)
        return _ended(job)

    common = (400, 422, 500, 503)

    @app.post("/explain", responses=answers(forms.Explained, *common, taken=True))
    async def explain(question: Explain) -> Any:
        """The closest region with another outcome, its certificate and its page."""
        return await ask(question)

    @app.post("/certify", responses=answers(forms.Certified, *common, taken=True))
    async def certify(question: Certify) -> Any:
        """Prove a region again, or a room around any point."""
        return await ask(question)

    @app.post("/radius", responses=answers(forms.RadiusTold, *common, taken=True))
    async def radius(question: Radius) -> Any:
        """The largest room around a row in which the outcome stays, from below and from above."""
        return await ask(question)

    @app.post("/frontier", responses=answers(forms.FrontierTold, *common, taken=True))
    async def frontier(question: Frontier) -> Any:
        """The distance of the closest region for every radius."""
        return await ask(question)


def _job_of(pool: Pool, key: str) -> Job:
    job = pool.jobs.get(key)
    if job is None:
        raise HTTPException(404, "no such question, or its answer is no longer kept")
    return job


def _add_jobs(app: FastAPI, pool: Pool) -> None:
    @app.get("/jobs", responses=answers(list[forms.Job]))
    async def history() -> Any:
        """The questions so far, the latest first."""
        return Told([_summary(job) for job in reversed(pool.jobs.values())])

    ended = forms.Explained | forms.Certified | forms.RadiusTold | forms.FrontierTold

    @app.get("/jobs/{key}", responses=answers(forms.Job | ended, 400, 404, 422, 500))
    async def state(key: str) -> Any:
        """Where a question stands; once it is answered, the answer; the reason where there is none."""
        job = _job_of(pool, key)
        return _ended(job) if job.over else Told(_summary(job))

    @app.get("/jobs/{key}/events", response_class=Response, responses=answers(None, 404, 422, kind="text/event-stream"))
    async def events(key: str, request: Request) -> StreamingResponse:
        """Server-sent events: "step" with seconds, distance and lower_bound, then "end" with what GET /jobs says."""
        job = _job_of(pool, key)

        async def tell() -> AsyncIterator[str]:
            told = 0
            while True:
                over = job.over
                for step in job.steps[told:]:
                    told += 1
                    yield f"event: step\ndata: {json.dumps(step)}\n\n"
                if over:
                    yield f"event: end\ndata: {json.dumps(_summary(job))}\n\n"
                    return
                if await request.is_disconnected():
                    return
                await asyncio.sleep(LOOK * 5)

        return StreamingResponse(tell(), media_type="text/event-stream")

    @app.post("/jobs/{key}/stop", responses=answers(forms.Stopping, 404, 422))
    async def stop(key: str) -> Any:
        """End the search: its answer is the best region that is certified so far."""
        pool.stop(_job_of(pool, key))
        return Told({"stopping": key})


def _add_exports(app: FastAPI, pool: Pool) -> None:
    def result_of(key: str, part: str) -> Any:
        job = _job_of(pool, key)
        if job.state != "done":
            raise HTTPException(409, job.error or "the question is not answered yet")
        if not job.result.get(part):
            raise HTTPException(409, "only the answers of /explain can be exported, and a table only where a region is")
        return job.result[part]

    @app.get("/jobs/{key}/page", response_class=HTMLResponse, responses=answers(None, 404, 409, 422, kind="text/html"))
    async def answer_page(key: str) -> str:
        """The page of an answer."""
        return str(result_of(key, "page"))

    @app.get(
        "/jobs/{key}/answer.json",
        response_class=Response,
        responses=answers(None, 404, 409, 422, kind="application/json"),
    )
    async def answer_json(key: str) -> Response:
        """The answer as to_json writes it."""
        return _file(json.dumps(result_of(key, "answer"), ensure_ascii=True), "application/json", "region.json")

    @app.get(
        "/jobs/{key}/answer.html", response_class=Response, responses=answers(None, 404, 409, 422, kind="text/html")
    )
    async def answer_html(key: str) -> Response:
        """The page of an answer, as a file."""
        return _file(str(result_of(key, "page")), "text/html; charset=utf-8", "answer.html")

    @app.get("/jobs/{key}/table.csv", response_class=Response, responses=answers(None, 404, 409, 422, kind="text/csv"))
    async def answer_table(key: str) -> Response:
        """What is asked of each column, as a table."""
        return _file(str(result_of(key, "table")), "text/csv; charset=utf-8", "table.csv")


def _file(content: str, kind: str, name: str) -> Response:
    return PlainTextResponse(
        content, headers={"content-type": kind, "content-disposition": f'attachment; filename="{name}"'}
    )


def _ended(job: Job) -> Told:
    if job.state == "done":
        told = {key: value for key, value in job.result.items() if key not in LARGE}
        return Told({"id": job.id, **told} if not isinstance(job.asked, int) else told)
    return Told({"id": job.id, "error": job.error}, 400 if job.state == "refused" else 500)


def _summary(job: Job) -> dict[str, Any]:
    told: dict[str, Any] = {
        key: job.result[key]
        for key in ("status", "sentence", "distance", "lower_bound", "seconds")
        if key in job.result
    }
    row = getattr(job.asked, "row", None)
    return {
        "id": job.id,
        "kind": type(job.asked).__name__.lower(),
        "row": row if isinstance(row, int) else None,
        "case": getattr(job.asked, "case", ""),
        "state": job.state,
        "error": job.error,
        "asked_at": job.asked_at,
        **told,
    }
