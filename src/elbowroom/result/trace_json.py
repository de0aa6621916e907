"""The steps of a search in a file."""

from __future__ import annotations

from typing import Any, Final

from elbowroom.problem.reader import Reader, number_out
from elbowroom.result.status import Step

MOST_STEPS: Final = 20_000  # of a trace: about 3 MB


def trace_out(trace: tuple[Step, ...]) -> list[dict[str, Any]]:
    return [_step_out(step) for step in _thinned(trace)]


def _step_out(step: Step) -> dict[str, Any]:
    return {
        "seconds": number_out(step.seconds),
        "lower_bound": number_out(step.lower_bound),
        "best_distance": number_out(step.best_distance),
        "certified_radius": None if step.certified_radius is None else number_out(step.certified_radius),
        "note": step.note,
    }


def _thinned(trace: tuple[Step, ...]) -> tuple[Step, ...]:
    """At most so many steps, evenly chosen, with the first and the last: a file that is written can be read again."""
    if len(trace) <= MOST_STEPS:
        return trace
    return tuple(trace[round(i * (len(trace) - 1) / (MOST_STEPS - 1))] for i in range(MOST_STEPS))


def trace_in(top: Reader) -> tuple[Step, ...]:
    steps = []
    for entry in top.at("trace").items():
        radius = entry.at("certified_radius")
        steps.append(
            Step(
                entry.at("seconds").number(),
                entry.at("lower_bound").number(infinite=True),
                entry.at("best_distance").number(infinite=True),
                None if radius.value is None else radius.number(infinite=True),
                entry.at("note").text(),
            )
        )
    return tuple(steps)
