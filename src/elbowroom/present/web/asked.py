"""The questions that the server takes, as their JSON has to look. Anything else is refused with the field and the cure."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt

Value = float | bool | str | None
Limits = tuple[float | None, float | None]
MOST_RADII = 50


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class AboutRow(_Strict):
    """Which row, and what may change in it."""

    row: StrictInt | dict[str, Value] = Field(
        description="The number of a row of the reference table, or a value for every column (null: missing)."
    )
    immutable: list[str] = Field([], description="Columns that may not change, besides those of the server.")
    increasing: list[str] = Field([], description="Columns that may only rise.")
    decreasing: list[str] = Field([], description="Columns that may only fall.")
    bounds: dict[str, Limits] = Field({}, description="Column: [lowest, highest]; null leaves an end as it is.")
    time_limit: float = Field(20.0, gt=0.0, description="Seconds; the server has a limit of its own.")
    wait: bool = Field(True, description="false: answer at once with an id, and tell the rest at /jobs/{id}/events.")


class Wanted(_Strict):
    """The outcome that is asked for; by default the other class of a binary model."""

    target: str | None = Field(None, description="The name of a class.")
    probability: float | None = Field(None, ge=0.0, le=1.0)
    at_least: float | None = Field(None, description="For regressors: the smallest wanted value.")
    at_most: float | None = Field(None, description="For regressors: the largest wanted value.")


class Explain(AboutRow, Wanted):
    """The closest region with another outcome."""

    shape: Literal["box", "ball", "diamond"] = "box"
    radius: float | dict[str, float] = Field(0.05, description="In units of each scale, or raw units per column.")
    distance: Literal["l1", "l2", "linf"] = "l1"
    most_changes: int | None = Field(None, ge=1)
    seed: int = Field(0, ge=0)
    menu: bool = Field(False, description="Also the closest answers with one change, two, ...")
    widen: bool = Field(False, description="Also the widest intervals around the answer (boxes).")
    case: str = Field("", max_length=200, description="Stands at the head of the page.")


class Certify(_Strict):
    """Prove an answer again, or a room around any point."""

    answer: dict[str, Any] | None = Field(None, description="A region as /explain or to_json gives it.")
    center: dict[str, Value] | None = None
    shape: Literal["box", "ball", "diamond"] = "box"
    radius: float | dict[str, float] = 0.05
    target: str | None = None
    time_limit: float = Field(20.0, gt=0.0)
    wait: bool = True


class Radius(AboutRow):
    """The largest room around a row in which the outcome stays."""

    norm: Literal["l1", "l2", "linf"] = "linf"


class Frontier(AboutRow, Wanted):
    """The distance of the closest region for every radius."""

    radii: list[float] = Field(min_length=1, max_length=MOST_RADII)
    shape: Literal["box", "ball", "diamond"] = "box"
    distance: Literal["l1", "l2", "linf"] = "l1"
    seed: int = Field(0, ge=0)


Question = Explain | Certify | Radius | Frontier
