"""How a command can end besides with an answer: one line and one exit code for each way, and no traceback for any of them
but a mistake in this package."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from elbowroom.errors import ElbowroomError
from elbowroom.visible import brief, visible

NEEDED_MEMORY: Final = 700_000_000  # bytes; the libraries alone take most of it


class Exit(IntEnum):
    """Every exit code of the program."""

    REGION = 0
    FAILED = 1
    BAD_INPUT = 2
    NONE_EXISTS = 3
    UNKNOWN = 4
    REFUTED = 5
    NOT_CHECKED = 6
    INTERRUPTED = 130


@dataclass(frozen=True)
class Failure:
    """What is said on stderr, and the exit code."""

    words: str
    code: Exit


def failure_of(error: BaseException) -> Failure | None:
    """None: nobody foresaw it, so it is a mistake in this package and should be seen as one."""
    match error:
        case ElbowroomError():
            return Failure(f"error: {error}", Exit.BAD_INPUT)
        case KeyboardInterrupt():
            return Failure("interrupted", Exit.INTERRUPTED)
        case SystemExit():  # commands end otherwise; this came from code inside a model file
            return Failure(
                f"error: code of the model tried to end the program (exit code {error.code})", Exit.BAD_INPUT
            )
        case MemoryError():
            return Failure(f"error: not enough memory{_limit_words()}", Exit.FAILED)
        case ImportError() | OSError():
            said = brief(" ".join(f"{type(error).__name__}: {error}".split()))
            return Failure(f"error: a part of the program could not be loaded or run ({said})", Exit.FAILED)
    return None


def report_of(error: BaseException) -> str:
    """A traceback in which only our own words begin a line: messages are one line each, whatever they quote."""
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    earlier = f"{report_of(before)}\nthen:\n" if before is not None else ""
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"{earlier}Traceback (most recent call last):\n{frames}{visible(f'{type(error).__name__}: {error}')}"


def memory_limit() -> int | None:
    """How many bytes this process may address at most, where the system has such a limit and it is set."""
    try:
        import resource
    except ImportError:  # Windows has none
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def require_memory() -> None:
    """Numerical libraries that find no memory while they are loaded do not fail: some wait for ever. So they are not
    loaded at all where that is to be expected."""
    limit = memory_limit()
    if limit is not None and limit < NEEDED_MEMORY:
        raise MemoryError


def _limit_words() -> str:
    limit = memory_limit()
    if limit is None:
        return ""
    return f": it is limited to {limit / 1e6:,.0f} MB (ulimit -v), and {NEEDED_MEMORY / 1e6:,.0f} MB are the least"
