"""The program around the commands: its streams, its log, and what is said when a command ends without an answer.

Nothing heavy is imported before its failures can be reported.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from typing import TextIO

from elbowroom.present.endings import Exit, failure_of, report_of
from elbowroom.present.sink import Sink, take_over

COMPLETING = "_ELBOWROOM_COMPLETE"


def run(interrupts: Sequence[int] = ()) -> int:
    """Run the command line and return the exit code. ``interrupts`` are those heard so far: an exception after one is
    its doing. An answer that could not be written out is a failure; one that nobody wanted to read to its end (a closed
    pipe) is not."""
    out, err = take_over()
    _report_through(err)
    code = _command(err, interrupts)
    if code == Exit.INTERRUPTED and not (
        out.used or err.used
    ):  # between two commands, so to speak: typer is silent then
        err.line("interrupted")
    out.flush()
    if out.lost is not None:
        err.line(f"error: the output could not be written: {out.lost.strerror or out.lost}")
        return Exit.FAILED
    return code


def _command(err: Sink, interrupts: Sequence[int]) -> int:
    try:
        from elbowroom.present.cli import app

        return int(app(standalone_mode=False) or 0)
    except BaseException as caught:
        if isinstance(caught, SystemExit) and COMPLETING in os.environ:  # a shell asked how a word could go on
            return caught.code if isinstance(caught.code, int) else 0
        error = KeyboardInterrupt() if interrupts else caught
        if _is_usage_error(error):
            return _wrong_usage(error, err)
        failure = failure_of(error)
        if failure is None:
            err.lines(report_of(caught))
            return Exit.FAILED
        err.line(failure.words)
        return failure.code


def _is_usage_error(error: BaseException) -> bool:
    """A mistake in the words of the command line; typer brings its own copy of click, or uses the installed one."""
    return any(kind.__name__ == "ClickException" for kind in type(error).__mro__)


def _wrong_usage(error: BaseException, err: Sink) -> int:
    said: str = error.format_message()  # type: ignore[attr-defined]
    if type(error).__name__ == "NoArgsIsHelpError":
        if said:
            err.lines(said)
        return Exit.BAD_INPUT
    context = getattr(error, "ctx", None)
    if context is not None:
        err.lines(f"{context.get_usage()}\nTry '{context.command_path} --help'.")
    err.line(f"error: {said}")
    return Exit.BAD_INPUT


def _report_through(err: Sink) -> None:
    """What other parts have to say (log lines, warnings of libraries) is shown as safely as everything else."""

    class Shown(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            err.line(record.getMessage())
            if record.exc_info and record.exc_info[1] is not None:
                err.lines(report_of(record.exc_info[1]))

    logging.lastResort = Shown(logging.WARNING)

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        what = "note" if category.__name__ == "ElbowroomWarning" else f"warning: {category.__name__}"
        err.line(f"{what}: {message}")

    warnings.showwarning = show
