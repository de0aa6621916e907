"""Compiled code on disk that heals itself: nothing is unpickled or loaded before its digest has been compared.

A kernel has one index and one data file per signature, as numba does it, in the folders where numba looks for them
(``NUMBA_CACHE_DIR``, ``__pycache__``, the user's own cache folder), the first that only this user can write to.

    index   name.kept.nbi      SHA-256 of the name and the rest; versions and stamp of the sources; pickle: signature -> data file
    data    name.DIGEST.nbc    pickle of the machine code; its name contains the first half of its SHA-256

So the data need no second file for their digest, and a data file never changes: it is written before the index that names
it, each with one atomic replacement. Whatever the order of several processes, a reader finds a whole cache or none.
A file with another digest or of another user is deleted and its kernel compiled anew, also if it was verified and yet
fails to load. Code of other versions or of other sources is passed over in silence.

Digests guard against accidents. Against malice guards the folder, see `folder`: who can write there can write digests too.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import stat
import time
import uuid
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final

import llvmlite
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, NullCache

from elbowroom.kernels.folder import SharedFolderError, Writer, make, refuse_if_shared, sources, strangers, writers
from elbowroom.kernels.notices import Topic, once

VERSIONS: Final = f"numba {numba.__version__}, llvmlite {llvmlite.__version__}"
_DIGITS: Final = 32  # of the digest in the name of a data file
_MOST_BYTES: Final = 1 << 28  # a larger file is none of ours
_LEFT_OVER: Final = 3600.0  # seconds after which a file that no index names is nobody's
_NOT_THERE: Final = (  # Windows keeps a file to itself while another process replaces it
    (FileNotFoundError, PermissionError) if os.name == "nt" else (FileNotFoundError, NotADirectoryError)
)
_IDENTITY: Final = ("st_ino", "st_mtime_ns", "st_size")
_refusals: Final[list[str]] = []  # why folders were passed over


def kept_code(function: Callable[..., Any], stamp: str) -> Any:
    """Where the compiled code of a function is kept; a cache that keeps nothing where no folder serves."""
    try:
        return KernelCache(function, stamp)
    except SharedFolderError as refused:  # the folder of a locator of the user's own
        _refusals.append(str(refused))
    except (RuntimeError, OSError):  # numba found no folder that it may write to
        pass
    return _Nowhere()


def refusal() -> str | None:
    """Why a folder was passed over that others may write to, and the cure."""
    return _refusals[0] if _refusals else None


def _say_refusal() -> None:
    if _refusals:
        once(Topic.REFUSED, "elbowroom passes over a folder for compiled kernels: %s", _refusals[0])


# ---- the files of a kernel ---------------------------------------------------------------------------------------------
class KernelFiles(IndexDataCacheFile):  # type: ignore[misc,unused-ignore]
    """The index and the data files of one kernel."""

    def __init__(self, folder: str, name: str, stamp: str, program: frozenset[Writer]) -> None:
        super().__init__(folder, name, stamp)  # type: ignore[no-untyped-call,unused-ignore]
        self._folder = Path(folder)
        self._name = name
        self.index = self._folder / f"{name}.kept.nbi"
        self._head = f"{VERSIONS}, {stamp}\n".encode()
        self._program = program
        self.damaged = False

    def holds_something(self) -> bool:
        """True if there is code of these versions and sources."""
        return bool(self._load_index())

    def _load_index(self) -> dict[Any, str]:
        """Signature -> data file, of these versions and sources; empty if there is nothing of the kind."""
        content = self._verified(self.index, lambda content: content[:32] == self._seal(content[32:]))
        if content is None or not content.startswith(self._head, 32):
            return {}
        try:
            found: dict[Any, str] = pickle.loads(content[32 + len(self._head) :])
        except Exception:  # whatever a pickle may raise: it names a class that is no longer there
            self.discard(self.index)
            return {}
        return found

    def _save_index(self, overloads: dict[Any, str]) -> None:
        rest = self._head + self._dump(overloads)  # type: ignore[no-untyped-call,unused-ignore]
        _replace(self.index, self._seal(rest) + rest)

    def _seal(self, rest: bytes) -> bytes:
        """With the name: an index under the name of another kernel is damaged."""
        return hashlib.sha256(self.index.name.encode() + b"\0" + rest).digest()

    def _load_data(self, name: str) -> Any:
        content = self._verified(self._folder / name, lambda content: name == self._data_named(content))
        return None if content is None else pickle.loads(content)

    def save(self, key: Any, data: Any) -> None:
        """First the data, then the index that names it: what an index names is there."""
        content: bytes = self._dump(data)  # type: ignore[no-untyped-call,unused-ignore]
        name = self._data_named(content)
        overloads = {**self._load_index(), key: name}
        _replace(self._folder / name, content)
        self._save_index(overloads)
        self._sweep(overloads.values())

    def _data_named(self, content: bytes) -> str:
        return f"{self._name}.{hashlib.sha256(content).hexdigest()[:_DIGITS]}.nbc"

    def _verified(self, path: Path, is_right: Callable[[bytes], bool]) -> bytes | None:
        """The content of a file that is what was written; None if there is none. Anything else is deleted."""
        seen, content = None, None
        try:
            seen = path.lstat()
            content = self._read(path)
        except _NOT_THERE:
            return None
        except OSError:  # it cannot be read
            pass
        if content is not None and is_right(content):
            return content
        self.discard(path, seen)
        return None

    def _read(self, path: Path) -> bytes | None:
        """None for what no process of this user wrote: another kind of file (a pipe is not waited for), or a stranger's."""
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            state = os.fstat(opened)
            if not stat.S_ISREG(state.st_mode) or state.st_size > _MOST_BYTES:
                return None
            if strangers(writers(state), self._program):
                return None
            with os.fdopen(opened, "rb", closefd=False) as file:
                return file.read()
        finally:
            os.close(opened)

    def discard(self, path: Path, seen: os.stat_result | None = None) -> None:
        """Say that a file is damaged and delete it, unless another process has replaced it since it was ``seen``."""
        self.damaged = True
        once(Topic.DAMAGED, "elbowroom compiles a kernel anew, up to 20 s: the cache of it was damaged (%s)", path)
        with contextlib.suppress(OSError):
            now = path.lstat()
            if seen is None or all(getattr(seen, part) == getattr(now, part) for part in _IDENTITY):
                path.unlink()

    def _sweep(self, named: Collection[str]) -> None:
        """Delete data files of former sources, and what killed processes left behind. Fresh files may be those of a
        process that is about to name them."""
        with contextlib.suppress(OSError):
            for entry in os.scandir(self._folder):
                ours = entry.name.startswith(f"{self._name}.") and entry.name.endswith((".nbc", ".tmp"))
                if ours and entry.name not in named and entry.stat().st_mtime < time.time() - _LEFT_OVER:
                    Path(entry.path).unlink()


def _replace(path: Path, content: bytes) -> None:
    """Write a file at once or not at all; others may not write to it, whatever the umask says."""
    made = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}.tmp")
    try:
        opened = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o644)
        with os.fdopen(opened, "wb") as file:
            file.write(content)
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)


# ---- what numba's dispatcher sees --------------------------------------------------------------------------------------
def _guarded(locator: Any) -> Any:
    """One of numba's places for a cache, except that strangers who may write there make it useless, as if nobody could."""

    def ensure_cache_path(self: Any) -> None:
        folder = Path(self.get_cache_path())
        make(folder)
        try:
            refuse_if_shared(folder, sources(Path(self._py_file)))
        except SharedFolderError as refused:
            _refusals.append(str(refused))
            raise
        locator.ensure_cache_path(self)

    return type(locator.__name__, (locator,), {"ensure_cache_path": ensure_cache_path})


class _Places(CompileResultCacheImpl):  # type: ignore[misc,unused-ignore]
    """Numba's way to choose a folder and to turn machine code into bytes."""

    _locator_classes = [_guarded(locator) for locator in CompileResultCacheImpl._locator_classes]  # noqa: RUF012


class KernelCache(FunctionCache):  # type: ignore[misc,unused-ignore]
    """Of one kernel. Whatever happens to the files, a kernel is loaded or compiled: no error of the cache leaves it."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any], stamp: str) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call,unused-ignore]
        program = sources(Path(function.__code__.co_filename))
        refuse_if_shared(Path(self._cache_path), program)  # also where numba was told to look elsewhere
        self.files = self._cache_file = KernelFiles(self._cache_path, self._impl.filename_base, stamp, program)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        _say_refusal()
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call,unused-ignore]
        except Exception:  # whatever it was: verified code that cannot be loaded is of no use
            self.files.discard(self.files.index)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call,unused-ignore]
        except OSError as error:
            once(Topic.NOT_KEPT, "elbowroom could not keep a compiled kernel on disk: %s", error)


class _Nowhere(NullCache):  # type: ignore[misc,unused-ignore]
    def load_overload(self, sig: Any, target_context: Any) -> None:
        _say_refusal()
