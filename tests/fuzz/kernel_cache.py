"""Compiled code on disk that was damaged: cut, flipped, swapped, emptied, from elsewhere, or replaced by a trap.

Two small kernels are kept in a folder of their own; a forked child loads them from a damaged copy. What must never
happen: another result, a traceback, a death by signal, a trap that is sprung. And the damage must be gone afterwards: the
next process finds code that it can load.
"""

from __future__ import annotations

import importlib
import os
import pickle
import random
import shutil
import sys
from pathlib import Path
from typing import Any, Final

import numba

from tests.fuzz import traps
from tests.fuzz.kind import Outcome, accepted, failed
from tests.fuzz.traps import Call
from tests.support.children import Ended, in_child

MODULE, WARMED = "fuzzed_kernels", "warmed_kernels"
SOURCE: Final = """
from elbowroom.kernels.kernel import kernel

@kernel
def doubled(x):
    return x + x

@kernel
def halved(x):
    return 0.5 * x
"""
ANSWER: Final = (14.0, 3.5)
AGAIN: Final = 0.1  # of the tries are followed by a second process


class KernelCache:
    name = "kernel cache"

    def prepare(self, folder: Path) -> None:
        self.folder, self.kept, self.copy = folder, folder / "kept", folder / "copy"
        for module in (MODULE, WARMED):
            (folder / f"{module}.py").write_text(SOURCE, encoding="utf-8")
        self.kept.mkdir(mode=0o700)
        sys.path.insert(0, str(folder))
        _load(folder / "warmed", WARMED)  # here, so that no child has to load the compiler's own tables again
        made = in_child(lambda: _load(self.kept))
        assert made.value == (ANSWER, 0), made
        again = in_child(lambda: _load(self.kept))
        assert again.value == (ANSWER, 2), again
        self.files = sorted(path.relative_to(self.kept) for path in self.kept.rglob("*.nb?"))
        assert len(self.files) >= 4, self.files

    def attempt(self, rng: random.Random) -> Outcome:
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.kept, self.copy)
        chosen = self.files if rng.random() < 0.1 else [rng.choice(self.files)]
        story = "; ".join(
            f"{_damage(self.copy / file, self.copy / rng.choice(self.files), rng)} ({file.suffix})" for file in chosen
        )
        trouble = _trouble(in_child(lambda: _load(self.copy)))
        if trouble is None and rng.random() < AGAIN:
            second = in_child(lambda: _load(self.copy))
            trouble = _trouble(second)
            if trouble is None and second.value[1] != 2:
                trouble = f"not healed: the next process loads {second.value[1]} of 2 kernels"
        return accepted(story) if trouble is None else failed(story, trouble)


def _load(folder: Path, module: str = MODULE) -> tuple[tuple[float, float], int]:
    """Both kernels, from the given folder; their results, and how many were not compiled."""
    numba.config.CACHE_DIR = str(folder)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    made: Any = importlib.import_module(module)
    answer = made.doubled(7.0), made.halved(7.0)
    if traps.SPRUNG:
        raise AssertionError("a trap was sprung")
    return answer, sum(sum(one.stats.cache_hits.values()) for one in (made.doubled, made.halved))


def _trouble(ended: Ended) -> str | None:
    if ended.signal is not None:
        return f"crash: {ended}"
    if "a trap was sprung" in ended.err:
        return "a pickle that is no code of ours was loaded"
    if ended.code != 0:
        return f"traceback: {ended.err.strip().splitlines()[-1:]!r:.200}"
    if ended.value[0] != ANSWER:
        return f"wrong result: {ended.value[0]} instead of {ANSWER}"
    if "Traceback" in ended.err:
        return f"traceback on the screen: {ended.err.strip().splitlines()[-1]:.200}"
    return None


def _damage(file: Path, other: Path, rng: random.Random) -> str:
    """Change one file; return how."""
    if not (file.is_file() and other.is_file()):
        return "gone already"
    data = bytearray(file.read_bytes())
    match rng.randrange(13):
        case 0:
            file.write_bytes(data[: rng.randrange(len(data))])
            return "cut"
        case 1:
            file.write_bytes(b"")
            return "emptied"
        case 2:
            file.write_bytes(rng.randbytes(rng.choice((1, 100, len(data)))))
            return "garbage"
        case 3 | 4 | 5:
            for _ in range(flips := rng.choice((1, 1, 3, 50))):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            file.write_bytes(data)
            return f"{flips} bits flipped"
        case 6:
            theirs = other.read_bytes()
            other.write_bytes(data)
            file.write_bytes(theirs)
            return f"exchanged with {other.suffix}"
        case 7:
            file.write_bytes(data + rng.randbytes(20))
            return "longer"
        case 8:
            file.unlink()
            return "deleted"
        case 9:
            version = numba.__version__.encode()
            file.write_bytes(bytes(data).replace(version, b"0" + version[1:]))
            return "of another version"
        case 10:
            start = rng.randrange(len(data))
            data[start : start + 256] = bytes(len(data[start : start + 256]))
            file.write_bytes(data)
            return "zeros within"
        case 11:
            trap = pickle.dumps(Call(traps.spring, "cache"))
            file.write_bytes(rng.choice((trap, pickle.dumps(numba.__version__) + trap)))
            return "a trap"
    file.unlink()
    file.symlink_to(file.with_name("nowhere"))
    return "a link to nowhere"
