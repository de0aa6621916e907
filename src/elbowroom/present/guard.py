"""What every command does: turn what can be foreseen into a line and an exit code."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

from elbowroom.present import sink
from elbowroom.present.endings import Exit, failure_of, require_memory

P = ParamSpec("P")
R = TypeVar("R")


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """What can be foreseen becomes one line on stderr and an exit code. Anything else is a bug and shows."""

    @functools.wraps(command)
    def run(*arguments: P.args, **options: P.kwargs) -> R:
        try:
            require_memory()
            return command(*arguments, **options)
        except BaseException as error:
            failure = failure_of(error)
            if failure is None:
                raise
            sink.stderr().line(failure.words)
            raise typer.Exit(failure.code) from None

    return run


def code_of(answer: object) -> Exit:
    """The exit code of an answer."""
    from elbowroom.result import NoRegion, Region, Status

    if isinstance(answer, (Region, NoRegion)) and answer.method == "interrupted":
        return Exit.INTERRUPTED
    if isinstance(answer, Region):
        return Exit.REGION
    return Exit.NONE_EXISTS if isinstance(answer, NoRegion) and answer.status is Status.NONE_EXISTS else Exit.UNKNOWN
