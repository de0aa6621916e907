"""Files are read whole or refused, and written whole or not at all."""

from __future__ import annotations

import errno
import os
import socket
import stat
import threading
from pathlib import Path

import pytest

from elbowroom import InputError, disk
from elbowroom.disk import read_ends, read_whole, write_whole

unix = pytest.mark.skipif(os.name == "nt", reason="pipes, devices and permissions of Unix")


# ---- reading ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [0, 1, 1000, 100_000])
def test_whole_files(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "CHUNK", 4096)
    content = os.urandom(size)
    (tmp_path / "file").write_bytes(content)
    assert read_whole(tmp_path / "file", most=size) == content
    assert read_ends(tmp_path / "file", 100) == (content[:100], content[-100:])
    if size:
        with pytest.raises(InputError, match=r"at most .* MB are read; the cure"):
            read_whole(tmp_path / "file", most=size - 1, cure="; the cure")


@unix
def test_what_is_no_file_is_refused_by_its_kind(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(tmp_path)  # the name of a socket must be short
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
        kinds = {
            tmp_path: "a folder",
            tmp_path / "pipe": "a pipe",
            tmp_path / "socket": "a socket",
            "/dev/zero": "a device",
        }
        for path, kind in kinds.items():
            with pytest.raises(InputError, match=f"this is {kind}"):
                read_whole(path)
            with pytest.raises(InputError, match=f"cannot write .*: it is {kind}"):
                write_whole(path, "text")
    (tmp_path / "link").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="a device"):
        read_whole(tmp_path / "link")
    assert stat.S_ISCHR(Path("/dev/zero").stat().st_mode)


@unix
def test_a_pipe_that_takes_the_place_of_a_file_does_not_make_us_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("a file")
    harmless = (tmp_path / "file").stat()
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(Path, "stat", lambda *_, **__: harmless)  # what it was a moment ago
    with pytest.raises(InputError, match="a pipe"):
        read_whole(tmp_path / "pipe")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="/proc of Linux")
def test_files_that_the_system_makes_up_are_refused() -> None:
    with pytest.raises(InputError, match="the size it claims"):
        read_whole("/proc/self/status")


def test_names_that_lead_nowhere(tmp_path: Path) -> None:
    for path, words in (
        (tmp_path / "none", "no such file"),
        ("a\0b", "cannot be read"),
        ("x" * 5000, "cannot be read"),
    ):
        with pytest.raises(InputError, match=words):
            read_whole(path)


# ---- writing ---------------------------------------------------------------------------------------------------------
def only(folder: Path, **files: str) -> None:
    """These files and no others, in particular no temporary ones."""
    assert {p.name: p.read_text(encoding="utf-8") for p in folder.iterdir()} == files


def test_new_files_and_old_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "CHUNK", 3)
    monkeypatch.chdir(tmp_path)
    write_whole("answer", "first, with ümlauts")
    write_whole(tmp_path / "answer", "second")
    write_whole(str(tmp_path / "other"), b"bytes")
    only(tmp_path, answer="second", other="bytes")


@unix
def test_permissions_are_kept_and_new_files_obey_the_mask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", "x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    for mode in (0o600, 0o604, 0o755):
        (tmp_path / "new").chmod(mode)
        write_whole(tmp_path / "new", "y")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode


@unix
def test_links_stay_links(tmp_path: Path) -> None:
    real, folder = tmp_path / "real", tmp_path / "folder"
    folder.mkdir()
    real.write_text("old")
    (folder / "link").symlink_to("../real")
    (folder / "to nothing yet").symlink_to("../made")
    write_whole(folder / "link", "new")
    write_whole(folder / "to nothing yet", "new too")
    assert (folder / "link").is_symlink() and real.read_text() == "new" and (tmp_path / "made").read_text() == "new too"
    (folder / "circle").symlink_to("circle")
    with pytest.raises(InputError, match="cannot write"):
        write_whole(folder / "circle", "text")
    assert {p.name for p in folder.iterdir()} == {"link", "to nothing yet", "circle"}


STEPS = ("open", "write", "fsync", "close", "replace", "fchmod")


@unix
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), MemoryError()]
)
def test_whatever_fails_the_old_file_is_whole(
    step: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "answer").write_text("old")
    monkeypatch.setattr(disk, "CHUNK", 4)
    calls = {"write": 2}  # the second piece fails, when the first is on the disk

    def failing(*arguments: object, **options: object) -> int:
        calls[step] = calls.get(step, 1) - 1
        if calls[step] > 0:
            return int(real(*arguments, **options))
        if step == "close":
            real(*arguments, **options)
        raise error

    place: object = Path if step == "replace" else os
    real = getattr(place, step)
    monkeypatch.setattr(place, step, failing)
    with pytest.raises(InputError if isinstance(error, OSError) else type(error)) as caught:
        write_whole(tmp_path / "answer", "new and longer")
    monkeypatch.undo()
    only(tmp_path, answer="old")
    if isinstance(error, OSError):
        assert "No space left on device; what was there before is unchanged" in str(caught.value)


def test_a_folder_that_cannot_be_forced_to_the_disk_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def picky(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", picky)
    write_whole(tmp_path / "answer", "new")
    only(tmp_path, answer="new")


def test_half_a_character_touches_nothing(tmp_path: Path) -> None:
    (tmp_path / "answer").write_text("old")
    with pytest.raises(InputError, match=r"half a character, '\\ud800'; rename"):
        write_whole(tmp_path / "answer", "a\ud800b")
    only(tmp_path, answer="old")


def test_places_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path, words in (
        (tmp_path / "missing" / "answer", "the folder .*missing' does not exist; make it first"),
        (tmp_path / "file" / "answer", "is not a folder"),
        (tmp_path, "it is a folder"),
        ("a\0b", "cannot write"),
        (tmp_path / ("x" * 5000), "cannot write"),
        (7, "give the path of a file"),
    ):
        with pytest.raises(InputError, match=words):
            write_whole(path, "text")  # type: ignore[arg-type]
    only(tmp_path, file="x")


@unix
def test_readers_see_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """Never an empty one, and never half of one."""
    path, sizes, over = tmp_path / "answer", set(), threading.Event()
    path.write_text("a" * 100_000)

    def look() -> None:
        while not over.is_set():
            sizes.add(len(set(path.read_text())) * len(path.read_text()))

    reader = threading.Thread(target=look)
    reader.start()
    for letter in "bcdefghijk":
        write_whole(path, letter * 100_000)
    over.set()
    reader.join()
    assert sizes == {100_000}


@unix
def test_a_file_that_the_system_cuts_short(tmp_path: Path) -> None:
    """The system itself refuses to take more: the first part of the new content is written, the rest is not."""
    import resource

    (tmp_path / "answer").write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
    try:
        with pytest.raises(InputError, match="File too large; what was there before is unchanged"):
            write_whole(tmp_path / "answer", "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    only(tmp_path, answer="old")
