"""Work in a forked child of this process: it starts with everything loaded, and its death is only a result."""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PROCESSOR_SECONDS = 60


@dataclass(frozen=True)
class Ended:
    """How a child ended: what its function returned (None if it did not), its exit code or signal, and its words."""

    value: Any
    code: int | None
    signal: int | None
    err: str

    def __str__(self) -> str:
        how = f"signal {signal.Signals(self.signal).name}" if self.signal else f"exit code {self.code}"
        return f"{how}, {self.err.strip()[-300:]!r}"


def in_child(function: Callable[[], Any], kill_after: float | None = None, patience: float = 60.0) -> Ended:
    """Run ``function`` in a child. ``kill_after`` seconds from its beginning it is killed, finished or not."""
    result, result_in = os.pipe()
    words, words_in = os.pipe()
    child = os.fork()
    if child == 0:
        _be_child(function, result_in, words_in)
    os.close(result_in)
    os.close(words_in)
    deadline = time.monotonic() + (patience if kill_after is None else kill_after)
    parts: dict[int, list[bytes]] = {result: [], words: []}
    open_ends = set(parts)
    while open_ends:
        left = deadline - time.monotonic()
        ready = select.select(list(open_ends), [], [], max(left, 0.0))[0] if left > 0 else []
        if not ready:
            os.kill(child, signal.SIGKILL)
            deadline = time.monotonic() + patience
        for end in ready:
            piece = os.read(end, 1 << 16)
            parts[end].append(piece)
            if not piece:
                open_ends.discard(end)
    _, status = os.waitpid(child, 0)
    os.close(result)
    os.close(words)
    told = b"".join(parts[result])
    return Ended(
        pickle.loads(told) if told else None,
        os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        b"".join(parts[words]).decode("utf-8", "replace"),
    )


def _be_child(function: Callable[[], Any], result: int, words: int) -> None:
    """Never returns: what the parent would do at its end is not the child's to do."""
    code = 1
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(words, 2)
        sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
        value = function()
        os.write(result, pickle.dumps(value))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stderr.flush()
        finally:
            os._exit(code)
