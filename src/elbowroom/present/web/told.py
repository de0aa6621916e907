"""What the server answers, as /openapi.json describes it. The answers are made in desk.py and pool.py; a test holds every
one of them to these forms."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

State = Literal["waiting", "running", "done", "refused", "failed"]
Number = float | Literal["inf"]
Values = dict[str, float | bool | str | None]


class _Told(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Trouble(_Told):
    """Why there is no answer, and what to do about it."""

    error: str
    id: str | None = Field(None, description="The question, if it was taken.")


class Column(_Told):
    """One column of the model's tables."""

    name: str
    kind: Literal["number", "whole", "yes or no", "category"]
    immutable: bool
    unit: str
    categories: list[float | bool | str | None] | None
    lower: float | None = None
    upper: float | None = None
    direction: Literal["any", "increasing", "decreasing"] | None = None
    scale: float | None = None


class Space(_Told):
    """What may be asked about."""

    model: str
    source: str
    regressor: bool
    classes: list[str]
    labels: dict[str, str]
    columns: list[Column]
    rows: int
    first: list[Values]


class Explained(_Told):
    """An answer, or what is known instead."""

    id: str
    status: Literal["OPTIMAL", "CERTIFIED", "NONE_EXISTS", "UNKNOWN"]
    sentence: str
    distance: float | None
    lower_bound: float | None
    gap: float | None
    seconds: float
    answer: dict[str, Any] = Field(description="As to_json writes it; elbowroom schema describes it.")
    proof: str = Field(description="With widen: what is proven of the ends.")
    stopped: bool


class Certified(_Told):
    """Whether every point has the outcome."""

    id: str
    certified: bool
    words: str
    counterexample: Values | None


class RadiusTold(_Told):
    """The largest room around a row, from below and from above."""

    id: str
    lower: Number
    upper: Number
    norm: Literal["l1", "l2", "linf"]
    witness: Values | None = Field(description="A point of the room of radius `upper` with another outcome.")
    near_tie: bool
    seconds: float
    words: str


class Point(_Told):
    """The closest region for one radius."""

    radius: float
    status: Literal["OPTIMAL", "CERTIFIED", "NONE_EXISTS", "UNKNOWN"]
    distance: Number | None
    lower_bound: Number
    center: Values | None
    method: str
    seconds: float


class FrontierTold(_Told):
    """Distance against radius."""

    id: str
    unit: str
    distance_norm: Literal["l1", "l2", "linf"]
    rules: list[dict[str, Any]]
    points: list[Point]
    breakpoints: list[dict[str, Any]]
    breakpoints_complete: bool | None = Field(description="null: jumps were not asked for.")
    smallest_jump: float | None


class Taken(_Told):
    """A question that is worked on: the rest is told at /jobs/{id}."""

    id: str
    state: State


class Job(_Told):
    """What became of a question so far."""

    id: str
    kind: Literal["explain", "certify", "radius", "frontier"]
    row: int | None
    case: str
    state: State
    error: str
    asked_at: float = Field(description="Seconds since 1970.")
    status: str | None = None
    sentence: str | None = None
    distance: float | None = None
    lower_bound: float | None = None
    seconds: float | None = None


class Stopping(_Told):
    """The question that is being stopped."""

    stopping: str


REASONS: Final = {
    400: "The question cannot be answered as it is put.",
    404: "No such question, or its answer is no longer kept.",
    409: "The question is not answered yet, or has no answer.",
    422: "A field is missing, unknown or of another form.",
    500: "The model cannot be read, or a process at work ended.",
    503: "Too many questions are waiting; try again in a moment.",
}
AT_THE_GATE: Final = {
    401: "The token is missing or wrong.",
    403: "Another host or origin.",
    413: "More than 1,000,000 bytes.",
    415: "Not application/json.",
}


def answers(model: Any = None, *codes: int, kind: str = "", taken: bool = False) -> dict[int | str, dict[str, Any]]:
    """The responses of one path: its form (or, with ``kind``, its media type), and what may be said instead."""
    told: dict[int | str, dict[str, Any]] = {200: {"model": model}} if model is not None else {}
    if kind:
        told[200] = {"content": {kind: {"schema": {} if kind == "application/json" else {"type": "string"}}}}
    if taken:
        told[202] = {"model": Taken, "description": "With wait = false."}
    told |= {code: trouble(REASONS[code]) for code in codes}
    return told


def trouble(why: str) -> dict[str, Any]:
    """A refusal is JSON, also where the answer would be a page: said here, because FastAPI would describe it as one. That
    the description holds its form is the `model` of /space."""
    return {"description": why, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Trouble"}}}}
