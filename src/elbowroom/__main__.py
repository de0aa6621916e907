"""``python -m elbowroom``, and where the ``elbowroom`` program begins: it listens for Ctrl-C before anything is imported
that takes time."""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130


def main() -> int:
    """Run the program and return its exit code."""
    heard: list[int] = []

    def hear(number: int, frame: object) -> None:
        heard.append(number)  # inside an import, the exception may come out as another one
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, and should be
        signal.signal(signal.SIGINT, hear)
    try:
        from elbowroom.present.program import run

        code = run(heard)
    except BaseException:
        if not heard:
            raise
        code = INTERRUPTED
        if sys.stderr is not None:
            sys.stderr.write("interrupted\n")
            sys.stderr.flush()
    if heard and code == INTERRUPTED:
        os._exit(code)  # Python may remember the interrupt although it was handled, and end by the signal instead
    if signal.getsignal(signal.SIGINT) is hear:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # what is left is tidying up: an interrupt ends it, without words
    return code


if __name__ == "__main__":
    sys.exit(main())
