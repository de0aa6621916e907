"""The HTTP interface: questions in, answers out, and the page. The interface describes itself at /openapi.json."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse

from elbowroom.present.web.asked import Certify, Explain, Frontier, Question, Radius
from elbowroom.present.web.gate import Gate
from elbowroom.present.web.page import first_page
from elbowroom.present.web.pool import BusyError, Job, Pool
from elbowroom.version import __version__

LOOK: Final = 0.02  # seconds between two looks at a question
LARGE: Final = ("page", "table")  # of a result: fetched by themselves


def create_app(pool: Pool, hosts: frozenset[str], token: str | None, most_seconds: float = 60.0) -> FastAPI:
    """The application; ``pool`` is started and closed with it."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        pool.start()
        yield
        await asyncio.to_thread(pool.close)

    app = FastAPI(
        title="elbowroom", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None,
        description="Regions of counterfactual explanations: closest, and proven valid at every point.",
    )  # fmt: skip
    app.add_middleware(Gate, hosts=hosts, token=token)
    _add_questions(app, pool, most_seconds)
    _add_jobs(app, pool)
    return app


def _add_questions(app: FastAPI, pool: Pool, most_seconds: float) -> None:
    async def ask(question: Question) -> Any:
        if question.time_limit > most_seconds:
            raise HTTPException(
                400, f"time_limit: at most {most_seconds:g} s here; ask elbowroom serve for more with --most-seconds"
            )
        try:
            job = pool.submit(question)
        except BusyError:
            raise HTTPException(
                503, "too many questions are waiting; try again in a moment", {"Retry-After": "5"}
            ) from None
        if not question.wait:
            return JSONResponse({"id": job.id, "state": job.state}, 202)
        while not job.over:
            await asyncio.sleep(LOOK)
        return _ended(job)

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def page() -> str:
        return first_page()

    @app.get("/space")
    async def space() -> Any:
        """The columns of the model, its outcomes, and the first rows of the reference table; waits for the model."""
        while pool.about is None:
            if pool.trouble:
                raise HTTPException(500, pool.trouble)
            await asyncio.sleep(LOOK)
        return JSONResponse(pool.about)

    @app.get("/rows/{number}")
    async def row(number: int) -> Any:
        """One row of the reference table."""
        first = (pool.about or {}).get("first", [])
        if 0 <= number < len(first):
            return JSONResponse(first[number])
        try:
            job = pool.submit(number)
        except BusyError:
            raise HTTPException(503, "too many questions are waiting; try again in a moment") from None
        while not job.over:
            await asyncio.sleep(LOOK)
        return _ended(job)

    @app.post("/explain")
    async def explain(question: Explain) -> Any:
        """The closest region with another outcome, its certificate and its page."""
        return await ask(question)

    @app.post("/certify")
    async def certify(question: Certify) -> Any:
        """Prove a region again, or a room around any point."""
        return await ask(question)

    @app.post("/radius")
    async def radius(question: Radius) -> Any:
        """The largest room around a row in which the outcome stays, from below and from above."""
        return await ask(question)

    @app.post("/frontier")
    async def frontier(question: Frontier) -> Any:
        """The distance of the closest region for every radius."""
        return await ask(question)


def _add_jobs(app: FastAPI, pool: Pool) -> None:
    def job_of(key: str) -> Job:
        job = pool.jobs.get(key)
        if job is None:
            raise HTTPException(404, "no such question, or its answer is no longer kept")
        return job

    def result_of(key: str) -> dict[str, Any]:
        job = job_of(key)
        if job.state != "done":
            raise HTTPException(409, job.error or "the question is not answered yet")
        return job.result

    @app.get("/jobs")
    async def history() -> Any:
        """The questions so far, the latest first."""
        return [_summary(job) for job in reversed(pool.jobs.values())]

    @app.get("/jobs/{key}")
    async def state(key: str) -> Any:
        job = job_of(key)
        return _ended(job) if job.over else JSONResponse(_summary(job))

    @app.get("/jobs/{key}/events")
    async def events(key: str, request: Request) -> StreamingResponse:
        """Server-sent events: "step" with both bounds, then "end" with the state."""
        job = job_of(key)

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

    @app.post("/jobs/{key}/stop")
    async def stop(key: str) -> Any:
        """End the search: its answer is the best region that is certified so far."""
        pool.stop(job_of(key))
        return {"stopping": key}

    @app.get("/jobs/{key}/page", response_class=HTMLResponse)
    async def answer_page(key: str) -> str:
        return str(result_of(key).get("page", ""))

    @app.get("/jobs/{key}/answer.json")
    async def answer_json(key: str) -> Response:
        return _file(json.dumps(result_of(key).get("answer"), ensure_ascii=True), "application/json", "region.json")

    @app.get("/jobs/{key}/answer.html")
    async def answer_html(key: str) -> Response:
        return _file(str(result_of(key).get("page", "")), "text/html; charset=utf-8", "answer.html")

    @app.get("/jobs/{key}/table.csv")
    async def answer_table(key: str) -> Response:
        return _file(str(result_of(key).get("table", "")), "text/csv; charset=utf-8", "table.csv")


def _file(content: str, kind: str, name: str) -> Response:
    return PlainTextResponse(
        content, headers={"content-type": kind, "content-disposition": f'attachment; filename="{name}"'}
    )


def _ended(job: Job) -> JSONResponse:
    if job.state == "done":
        told = {key: value for key, value in job.result.items() if key not in LARGE}
        return JSONResponse({"id": job.id, **told} if not isinstance(job.asked, int) else told)
    return JSONResponse({"id": job.id, "error": job.error}, 400 if job.state == "refused" else 500)


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
