"""The command line as a shell runs it, with bytes on both outputs and an exit code: inside this process, without the
seconds that a new interpreter needs, or as a real program in a real terminal."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from unittest.mock import patch

import typer.main

from elbowroom.present import program


@dataclass(frozen=True)
class Ran:
    """What a shell would have seen. ``fault`` is the traceback of an exception that left the program."""

    code: int
    out: str
    err: str
    fault: str | None

    @property
    def said(self) -> str:
        return self.out + self.err


_command = cache(typer.main.get_command)  # the same for every run, and making it takes longer than most of them


class _Stream(io.TextIOWrapper):
    """A text stream over bytes in memory that may claim to be a terminal."""

    def __init__(self, encoding: str, terminal: bool) -> None:
        self.content = io.BytesIO()
        self.terminal = terminal
        super().__init__(self.content, encoding=encoding, errors="strict", newline="\n", write_through=True)

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        return self.content.getvalue().decode(self.encoding, errors="surrogateescape")


def run_program(words: Sequence[object], encoding: str = "utf-8", terminal: bool = False) -> Ran:
    """``elbowroom words...``, with outputs of the given encoding."""
    saved = sys.argv, sys.stdout, sys.stderr
    out, err = _Stream(encoding, terminal), _Stream(encoding, terminal)
    code, fault = 0, None
    sys.argv, sys.stdout, sys.stderr = ["elbowroom", *map(str, words)], out, err
    try:
        with patch("typer.main.get_command", _command):
            raise SystemExit(program.run())
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 0 if ending.code is None else 1
    except BaseException:
        code, fault = 1, traceback.format_exc()
    finally:
        sys.argv, sys.stdout, sys.stderr = saved
    return Ran(code, out.text(), err.text(), fault)


def run_in_terminal(words: Sequence[object], seconds: float = 120.0) -> Ran:
    """The same in a new interpreter whose outputs are a terminal; both come as ``out``."""
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-c",
        "from elbowroom.present.program import run; raise SystemExit(run())",
        *map(str, words),
    ]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 1 << 16):
            shown += piece
    except OSError:  # the other end is closed: the program has ended
        pass
    finally:
        os.close(ours)
    code = process.wait(seconds)
    return Ran(code, shown.decode("utf-8", "surrogateescape").replace("\r\n", "\n"), "", None)
