"""How a command can end besides with an answer: one line and one exit code for each way, and no traceback for any of them
but a mistake in this package."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from elbowroom.errors import ElbowroomError
from elbowroom.visible import MOST_MESSAGE, brief


class Exit(IntEnum):
    """Every exit code of the program."""

    REGION = 0
    FAILED = 1
    BAD_INPUT = 2
    NONE_EXISTS = 3
    UNKNOWN = 4
    REFUTED = 5
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
            return Failure("error: not enough memory; see also ulimit -v", Exit.FAILED)
        case ImportError() | OSError():
            said = brief(f"{type(error).__name__}: {error}", MOST_MESSAGE)
            return Failure(
                f"error: the machine refused ({said}); is there enough memory (ulimit -v), and is everything installed?",
                Exit.FAILED,
            )
    return None
