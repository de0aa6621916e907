"""Compiled code on disk: whatever happens to its files, the answer is the same, and nothing damaged is looked into."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.caching import IndexDataCacheFile

from elbowroom.kernels import cache
from elbowroom.kernels.cache import KernelFiles
from elbowroom.kernels.kernel import Readiness, readiness
from tests.support.kept import ANSWER, Kept, Process, cubes

FILLED = """
import time
from tests.support.kept import ROW, squares
from elbowroom.kernels.kernel import kernel
made = kernel(squares)
time.sleep(max(0.0, {start} - time.time()))
print(made(ROW))
"""
SIGNATURE = (types.Array(types.float64, 1, "C"),)


class Trap:
    """A pickle that leaves a trace when it is loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.trace,)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of both small kernels."""
    folder = tmp_path_factory.mktemp("filled")
    assert Kept(folder).process() == Process(ANSWER, False, [])
    assert Kept(folder).process() == Process(ANSWER, True, [])
    Kept(folder).process(cubes)
    return folder


@pytest.fixture
def kept(filled: Path, tmp_path: Path) -> Kept:
    """A copy of it, with the files of the first kernel alone."""
    shutil.copytree(filled, tmp_path / "kept")
    found = Kept(tmp_path / "kept")
    for file in found.folder.rglob("*cubes*"):
        file.unlink()
    return found


# ---- damage ------------------------------------------------------------------------------------------------------------
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "one byte": lambda content: content[:1],
    "first half": lambda content: content[: len(content) // 2],
    "without the last byte": lambda content: content[:-1],
    "a byte more": lambda content: content + b"\0",
    "zeros": lambda content: bytes(len(content)),
    "garbage": lambda content: np.random.default_rng(0).bytes(len(content)),
    "a last block that was never written": lambda content: content[:-512] + bytes(512),
    "text": lambda _: b"not a cache\n" * 100,
    "another pickle": lambda _: pickle.dumps({"a": 1}),
    "a huge number": lambda _: b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f",
}


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("way", DAMAGE)
def test_a_damaged_file_is_deleted_and_compiled_anew_with_one_line(kept: Kept, way: str, ending: str) -> None:
    file = kept.only(ending)
    damaged = DAMAGE[way](file.read_bytes())
    file.write_bytes(damaged)
    first = kept.process()
    assert (first.answer, first.loaded) == (ANSWER, False)
    assert len(first.lines) == 1 and str(file) in first.lines[0] and "damaged" in first.lines[0]
    assert not file.exists() or file.read_bytes() != damaged
    assert kept.process() == Process(ANSWER, True, [])


def _flips(content: bytes, count: int | None) -> Iterator[bytes]:
    """One bit wrong: at random places, or once in every byte."""
    rng = np.random.default_rng(len(content))
    for place in range(len(content)) if count is None else rng.integers(len(content), size=count):
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        yield bytes(changed)


@pytest.mark.parametrize(("ending", "count"), [(".nbi", None), (".nbc", 600)])
def test_no_flipped_bit_gets_past_the_digest(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, ending: str, count: int | None
) -> None:
    """Neither unpickled nor loaded: whatever is unpickled is what was written."""
    file, made = kept.only(ending), kept.kernel()
    good = {ending: kept.only(ending).read_bytes() for ending in (".nbi", ".nbc")}
    unpickled: list[bytes] = []
    loads = pickle.loads
    monkeypatch.setattr(cache.pickle, "loads", lambda content: (unpickled.append(content), loads(content))[1])
    for damaged in _flips(good[ending], count):
        file.write_bytes(damaged)
        assert made._cache.load_overload(SIGNATURE, made.targetctx) is None
        assert not file.exists()
    assert all(good[".nbi"].endswith(content) for content in unpickled)
    assert len(unpickled) == (0 if ending == ".nbi" else count)
    file.write_bytes(good[ending])
    assert made._cache.load_overload(SIGNATURE, made.targetctx) is not None


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_flipped_bits_do_not_change_answers(kept: Kept, ending: str) -> None:
    whole = {file: file.read_bytes() for file in kept.files(".nb[ic]")}
    for damaged in _flips(kept.only(ending).read_bytes(), 20):
        for file, content in whole.items():
            file.write_bytes(damaged if file.suffix == ending else content)
        assert kept.process().answer == ANSWER
        assert kept.process() == Process(ANSWER, True, [])


@pytest.mark.parametrize("head", [b"", pickle.dumps(numba.__version__)], ids=["bare", "with the right version"])
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_a_pickle_without_a_digest_is_never_loaded(kept: Kept, tmp_path: Path, ending: str, head: bytes) -> None:
    trap = head + pickle.dumps(Trap(tmp_path / "trace"))
    kept.only(ending).write_bytes(trap)
    assert kept.process().answer == ANSWER
    assert not (tmp_path / "trace").exists()
    pickle.loads(trap[len(head) :])
    assert (tmp_path / "trace").exists()  # the trap works


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_the_files_of_another_kernel_are_foreign(kept: Kept, filled: Path, ending: str) -> None:
    (foreign,) = filled.rglob(f"*cubes*{ending}")
    shutil.copy(foreign, kept.only(ending))
    found = kept.process()
    assert (found.answer, found.loaded, len(found.lines)) == (ANSWER, False, 1)


def test_what_is_no_file_is_passed_over(kept: Kept) -> None:
    """A pipe that nobody writes to, and a folder that stands where the index should be."""
    index = kept.only(".nbi")
    index.unlink()
    os.mkfifo(index)
    assert kept.process().answer == ANSWER
    assert kept.process().loaded
    index.unlink()
    index.mkdir()
    found = kept.process()
    assert found.answer == ANSWER and not found.loaded
    assert any("could not keep" in line for line in found.lines)


def test_verified_code_that_cannot_be_loaded_is_compiled_anew(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    made = kept.kernel()
    monkeypatch.setattr(made._cache._impl, "rebuild", lambda *_: 1 / 0)
    assert made._cache.load_overload(SIGNATURE, made.targetctx) is None
    assert kept.files(".nbi") == []


# ---- what is not damaged -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_a_missing_file_is_made_again_in_silence(kept: Kept, ending: str) -> None:
    kept.only(ending).unlink()
    assert kept.process() == Process(ANSWER, False, [])
    assert kept.process().loaded


def test_code_of_other_versions_is_passed_over_in_silence(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(cache, "VERSIONS", "numba 0.1.0, llvmlite 0.1.0")
        assert kept.process().lines == []
    assert kept.process() == Process(ANSWER, False, [])
    assert kept.process().loaded


def test_code_without_digests_is_passed_over_in_silence(kept: Kept, tmp_path: Path) -> None:
    """A cache as numba writes it, under numba's own names."""
    index = kept.only(".nbi")
    for file in kept.files(".nb[ic]"):
        file.unlink()
    name = index.name.removesuffix(".kept.nbi")
    before = IndexDataCacheFile(str(index.parent), name, "stamp")
    before.save("key", Trap(tmp_path / "trace"))
    assert (index.parent / f"{name}.nbi").exists()
    assert kept.process() == Process(ANSWER, False, [])
    assert kept.process().loaded and not (tmp_path / "trace").exists()


def test_readiness_knows_damage(kept: Kept) -> None:
    assert readiness(kept.kernel()) is Readiness.READY
    kept.only(".nbi").write_bytes(b"garbage")
    made = kept.kernel()
    assert readiness(made) is Readiness.COMPILE_ANEW
    assert readiness(kept.kernel()) is Readiness.COMPILE_ONCE  # it was deleted


def test_a_full_disk_costs_the_cache_and_not_the_answer(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    kept.only(".nbi").unlink()
    monkeypatch.setattr(cache, "_replace", full)
    found = kept.process()
    assert found.answer == ANSWER and len(found.lines) == 1 and "No space left" in found.lines[0]


def test_leftovers_go_and_fresh_files_of_other_processes_stay(kept: Kept) -> None:
    data = kept.only(".nbc")
    name = data.name.split(".py3")[0]
    old, fresh = data.with_name(f"{data.name[:-36]}{'0' * 32}.nbc"), data.with_name(f"{data.name}.abc.tmp")
    assert old.name.startswith(name)
    for file in (old, fresh):
        file.write_bytes(b"left over")
    os.utime(old, (0, 0))
    os.utime(data, (0, 0))
    kept.only(".nbi").unlink()
    kept.process()
    assert fresh.exists() and not old.exists() and kept.process().loaded


# ---- several processes -------------------------------------------------------------------------------------------------
def _files(folder: Path) -> KernelFiles:
    return KernelFiles(str(folder), "kernel-1.py3", "stamp", frozenset())


def test_a_file_that_was_replaced_meanwhile_is_not_deleted(tmp_path: Path) -> None:
    files = _files(tmp_path)
    files.index.write_bytes(b"damaged")
    seen = files.index.lstat()
    files.save("key", "whole")
    files.discard(files.index, seen)
    assert _files(tmp_path).load("key") == "whole"


def test_between_two_writes_of_another_process_the_cache_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After each replacement of a file a reader finds the code of before or the new one."""
    writer, found = _files(tmp_path), []
    writer.save("key", 0)
    replace = cache._replace

    def watched(path: Path, content: bytes) -> None:
        replace(path, content)
        reader = _files(tmp_path)
        found.append((reader.load("key"), reader.damaged))

    monkeypatch.setattr(cache, "_replace", watched)
    writer.save("key", 1)
    assert found == [(0, False), (1, False)]


def _write_often(folder: Path, number: int) -> None:
    files = _files(folder)
    for turn in range(150):
        files.save("key", [number, turn] * 2000)
    os._exit(int(files.damaged))


def test_processes_that_write_and_read_at_once_never_see_damage(tmp_path: Path) -> None:
    writers = [get_context("fork").Process(target=_write_often, args=(tmp_path, number)) for number in range(3)]
    for writer in writers:
        writer.start()
    loads = 0
    while any(writer.is_alive() for writer in writers):
        reader = _files(tmp_path)
        found = reader.load("key")
        assert not reader.damaged and (found is None or found == found[:2] * 2000)
        loads += found is not None
    assert [writer.exitcode for writer in writers] == [0, 0, 0] and loads > 0


def test_processes_that_fill_one_cache_at_once(tmp_path: Path) -> None:
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
    script = FILLED.format(start=time.time() + 3.0)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script], env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    assert [process.communicate(timeout=200) for process in started] == 4 * [(f"{ANSWER}\n", "")]
    assert Kept(tmp_path / "kept").process() == Process(ANSWER, True, [])
