"""Where a process at work begins: it does not hear Ctrl-C, which ends the server in front of it, and imports the rest."""

from __future__ import annotations

import signal
from multiprocessing.connection import Connection

from elbowroom.present.web.setup import Setup


def begin(setup: Setup, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from elbowroom.present.web.desk import work

    work(setup, pipe)
