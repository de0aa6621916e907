"""Whole files, or nothing: how this package reads what it is given and writes what it made.

Reading: regular files only. A pipe may never end, a device may have no end, and opening one can do things; so its kind
is asked for first, the file is opened without waiting, and its kind is asked for again.

Writing: the new content goes to a temporary file beside the old one, is forced to the disk, and takes the old one's
place in a single step. Whatever fails on the way (a full disk, a signal, a power cut), the old file is whole.
"""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

from elbowroom.errors import InputError

T = TypeVar("T")
MEGABYTE: Final = 1_000_000
CHUNK: Final = 1 << 24
KINDS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
# Flags that not every system has: do not wait for a pipe, do not follow a link that appeared meanwhile, do not hand the
# descriptor to other programs, do not translate line ends.
READING: Final = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
WRITING: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))
)


class MissingFile(InputError):  # noqa: N818 - an outcome that callers word themselves
    """There is no file of this name."""


def kind_of(mode: int) -> str | None:
    """What it is, unless it is a regular file."""
    if stat.S_ISREG(mode):
        return None
    return next((name for test, name in KINDS if test(mode)), "no regular file")


# ---- reading ---------------------------------------------------------------------------------------------------------
def read_whole(path: str | Path, most: int | None = None, cure: str = "") -> bytes:
    """The content of a regular file of at most ``most`` bytes; anything else is an `InputError`."""

    def content(descriptor: int, size: int) -> bytes:
        if most is not None and size > most:
            raise InputError(
                f"{path}: the file has {size / MEGABYTE:,.1f} MB; at most {most / MEGABYTE:,.0f} MB are read{cure}"
            )
        return _content(descriptor, size, path)

    return _opened(path, content)


def read_ends(path: str | Path, most: int) -> tuple[bytes, bytes]:
    """The first and the last bytes of a regular file, at most so many each."""

    def ends(descriptor: int, size: int) -> tuple[bytes, bytes]:
        head = os.read(descriptor, most)
        os.lseek(descriptor, max(0, size - most), os.SEEK_SET)
        return head, os.read(descriptor, most)

    return _opened(path, ends)


def _opened(path: str | Path, read: Callable[[int, int], T]) -> T:
    """What ``read`` makes of the open file and its size."""
    try:
        _refuse_special(Path(path).stat(), path)
        descriptor = os.open(path, READING)
        try:
            status = os.fstat(descriptor)
            _refuse_special(status, path)
            return read(descriptor, status.st_size)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise MissingFile(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _refuse_special(status: os.stat_result, path: str | Path) -> None:
    kind = kind_of(status.st_mode)
    if kind is not None:
        raise InputError(f"{path}: this is {kind}, which cannot be read as a file; give a regular file")


def _content(descriptor: int, size: int, path: str | Path) -> bytes:
    parts, left = [], size
    while part := os.read(descriptor, min(CHUNK, left + 1)):
        parts.append(part)
        left -= len(part)
        if left < 0:
            break
    if left != 0:  # it grows, it shrinks, or the system makes it up while it is read, as in /proc
        raise InputError(f"{path}: the file does not have the size it claims to have; copy it, then give the copy")
    return b"".join(parts)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder of one's own that is gone afterwards: for libraries that know files only."""
    with tempfile.TemporaryDirectory(prefix="elbowroom-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


# ---- writing ---------------------------------------------------------------------------------------------------------
def write_whole(path: str | Path, content: str | bytes) -> None:
    """Create the file, or replace all of it in one step. A link stays, and the file that it leads to is replaced; the
    permissions of an existing file are kept."""
    if not isinstance(path, (str, Path)):
        raise InputError(f"cannot write to {path!r}: give the path of a file, for example 'answer.json'")
    data = encoded(content, path)
    try:
        target = Path(os.path.realpath(path))
        why = why_unwritable(target)
        if why is not None:
            raise InputError(f"cannot write {str(path)!r}: {why}")
        _replace(target, data)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot write {str(path)!r}: {reason}; what was there before is unchanged") from None


def written(text: str, path: str | Path | None) -> str:
    """The text, which was also written to ``path`` if there is one."""
    if path is not None:
        write_whole(path, text)
    return text


def why_unwritable(target: Path) -> str | None:
    """Why no file can be written there, with the cure; None if nothing is known against it."""
    folder = target.parent
    if not folder.exists():
        return f"the folder {str(folder)!r} does not exist; make it first"
    if not folder.is_dir():
        return f"{str(folder)!r} is not a folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"you may not write into the folder {str(folder)!r}"
    try:
        kind = kind_of(target.stat().st_mode)
    except FileNotFoundError:
        return None
    return None if kind is None else f"it is {kind}; give the name of a regular file"


def encoded(content: str | bytes, path: str | Path) -> bytes:
    """The bytes of a file with this content."""
    if isinstance(content, bytes):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"cannot write {str(path)!r}: the text holds half a character, {content[error.start]!a}; rename what contains it"
        ) from None


def _replace(target: Path, data: bytes) -> None:
    try:
        old = target.stat()
    except FileNotFoundError:
        old = None
    beside = target.parent / f".elbowroom-{secrets.token_hex(8)}.tmp"
    descriptor = os.open(beside, WRITING, 0o666 if old is None else 0o600)  # never more open than the old file
    try:
        try:
            if old is not None:
                _keep_owner(descriptor, old)
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _settle(target.parent)


def _keep_owner(descriptor: int, old: os.stat_result) -> None:
    """The owner where that is allowed, then the permissions: a change of owner may reset them."""
    if hasattr(os, "fchown"):
        with suppress(PermissionError):  # the file of somebody else, in a folder of ours: it becomes ours
            os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, old.st_mode & 0o777)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view[:CHUNK]) :]


def _settle(folder: Path) -> None:
    """Force the new name itself to the disk, where the system can; the file is in its place either way."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
