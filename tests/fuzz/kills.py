"""Writers that die: killed at a random moment, at a chosen call to the system, at a chosen byte, or on a full disk.

A child writes a region or a page over an older one. However it ends, the file is wholly the old or wholly the new one,
beside it lies at most one file, whose name tells what it is, and the next writer succeeds. A writer that was not killed
says in words what went wrong, and leaves nothing beside the file.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from elbowroom import ElbowroomError, NoRegion, Region, Step
from tests.fuzz.kind import Outcome, accepted, failed, refused
from tests.support.answers import make_no_region, make_region
from tests.support.children import Ended, in_child

CALLS: Final = ("open", "os.", "tempfile.", "shutil.")  # audit events of what a writer asks of the system
MOST_CALLS: Final = 12
TEMPORARY: Final = ("tmp", "temp", "part", "new", "~")


class Kills:
    name = "kills"

    def prepare(self, folder: Path) -> None:
        self.folder = folder
        steps = tuple(Step(0.1 * k, 0.0, 1.0 + k, 0.03, f"certified {k}") for k in range(400))
        self.large: Region = make_region(trace=steps)
        self.none: NoRegion = replace(make_no_region(), trace=steps)

    def attempt(self, rng: random.Random) -> Outcome:
        place = self.folder / "place"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        answer: Region | NoRegion = rng.choice((self.large, self.none))
        as_page = rng.random() < 0.4
        file = place / ("answer.html" if as_page else "answer.json")
        write = partial(answer.to_html if as_page else answer.to_json, file)
        new = (answer.to_html() if as_page else answer.to_json()).encode("utf-8")
        old = _before(file, as_page, rng)
        story, ended = _die(write, len(new), rng)
        story = f"{file.name} ({'none' if old is None else len(old)} -> {len(new)} bytes): {story}"
        trouble = _trouble(file, old, new, ended)
        if trouble is None:
            trouble = _afterwards(file, write, new)
        if trouble is not None:
            return failed(story, trouble)
        return refused(story) if ended.signal or ended.value else accepted(story)


def _before(file: Path, as_page: bool, rng: random.Random) -> bytes | None:
    """What is there already: nothing, or an answer of ours, also through a link."""
    if rng.random() < 0.1:
        return None
    older = make_region(gap=0.125)
    old = (older.to_html() if as_page else older.to_json()).encode("utf-8")
    if rng.random() < 0.15:
        real = file.with_name("real")
        real.mkdir()
        (real / file.name).write_bytes(old)
        file.symlink_to(real / file.name)
    else:
        file.write_bytes(old)
    return old


def _die(write: Any, size: int, rng: random.Random) -> tuple[str, Ended]:
    """Write in a child that comes to some end."""
    match rng.randrange(5):
        case 0 | 1:
            call = rng.randrange(MOST_CALLS)
            return f"killed at call {call}", in_child(lambda: _write(write, kill_at_call=call))
        case 2:
            limit = rng.choice((0, 1, 4096, rng.randrange(size), rng.randrange(size), size - 1))
            return f"killed at byte {limit}", in_child(lambda: _write(write, kill_at_byte=limit))
        case 3:
            limit = rng.choice((0, 1, 4096, rng.randrange(size), rng.randrange(size), size - 1))
            return f"disk full at byte {limit}", in_child(lambda: _write(write, full_at_byte=limit))
    moment = rng.uniform(0.0, 0.02)
    return f"killed after {moment * 1000:.2f} ms", in_child(lambda: _write(write), kill_after=moment)


def _write(
    write: Any, kill_at_call: int | None = None, kill_at_byte: int | None = None, full_at_byte: int | None = None
) -> str:
    """In the child: the words of the error, or nothing if all was written."""
    if kill_at_byte is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, and gets an error instead
        resource.setrlimit(resource.RLIMIT_FSIZE, (kill_at_byte, kill_at_byte))
    if full_at_byte is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (full_at_byte, full_at_byte))
    if kill_at_call is not None:
        left = [kill_at_call]

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            if event.startswith(CALLS):
                left[0] -= 1
                if left[0] == -1:  # later ones are our own, on the way out
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
    try:
        write()
    except ElbowroomError as error:
        return str(error) or "an error without words"
    return ""


def _trouble(file: Path, old: bytes | None, new: bytes, ended: Ended) -> str | None:
    if ended.signal not in (None, signal.SIGKILL, signal.SIGXFSZ) or ended.code not in (None, 0):
        return f"the writer ended with {ended}"
    found = file.read_bytes() if file.exists() else None
    if found not in (old, new):
        return f"lost: {'nothing' if found is None else len(found)} bytes, neither the old file nor the new one"
    if ended.signal is None and (found == new) != (ended.value == ""):
        return f"the writer said {ended.value!r:.100}, but the file is the {'new' if found == new else 'old'} one"
    litter = [path for path in file.parent.rglob("*") if path.is_file() and path.name != file.name]
    if len(litter) > (1 if ended.signal else 0):
        return f"litter: {[path.name for path in litter]}"
    unclear = [
        path.name
        for path in litter
        if not (
            any(word in path.name.lower() for word in TEMPORARY)
            and (file.stem in path.name or "elbowroom" in path.name)
        )
    ]
    return f"unclear litter: {unclear}" if unclear else None


def _afterwards(file: Path, write: Any, new: bytes) -> str | None:
    """The next writer is not in the way of what the last one left."""
    try:
        write()
    except ElbowroomError as error:
        return f"the next writer fails: {error}"
    return None if file.read_bytes() == new else "the next writer wrote something else"
