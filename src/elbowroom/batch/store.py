"""Answers on disk: one SQLite file per question, written row by row, so that a batch goes on where it ended.

A store is about one question (model, space, room, target, rules, release: `BatchQuestion.document`) and one table: each
row is kept with its values, so that neither another question nor another table is mixed in. Every answer is committed
before the next ones are waited for. The write-ahead log makes a killed process, a full disk or Ctrl-C harmless: what was
committed is there, the rest is asked again. Several processes may share a store: the first answer of a row is kept, and
the same question gets the same answer from all of them. Everything is sealed by a hash, which is checked when it is
read: a damaged file is an error and never another answer.

    meta      key, value             version of the format, question and versions of libraries (JSON), seals of both tables
    rows      position, label, data  the table that is asked about, values as JSON
    answers   position, status, seconds, time_limit, answer and line (JSON, compressed), error, their seals
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

from elbowroom.batch.question import digest
from elbowroom.batch.record import Record
from elbowroom.batch.rows import Row, new_seal, sealed
from elbowroom.disk import scratch
from elbowroom.errors import InputError

VERSION: Final = 1
PATIENCE: Final = 30.0  # seconds that a store may be locked by another process
MARK: Final = 0x656C626F  # "elbo": SQLite's own field for whose file it is
MOST_UNPACKED: Final = 64 * 2**20  # bytes, more than any answer has
TABLES: Final = """
create table if not exists meta (key text primary key, value text not null);
create table if not exists rows (position integer primary key, label text not null, data text not null);
create table if not exists answers (
    position integer primary key, status text not null, seconds real not null, time_limit real not null,
    answer blob, error text, line blob, answer_seal text not null, seal text not null
);
"""
REPLACE: Final = """
insert into answers values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (position) do update set
    status = excluded.status, seconds = excluded.seconds, time_limit = excluded.time_limit, answer = excluded.answer,
    error = excluded.error, line = excluded.line, answer_seal = excluded.answer_seal, seal = excluded.seal
where (answers.status in ('CERTIFIED', 'UNKNOWN') or answers.time_limit < 0) and excluded.time_limit > answers.time_limit
"""


class Store:
    """One batch on disk. Without a path it lives in a temporary file, which is gone with the object: the answers of a
    large batch do not fill the memory."""

    def __init__(self, path: str | Path | None = None, *, reading: bool = False) -> None:
        self._folder = ExitStack()
        self._connection: sqlite3.Connection | None = None
        if path is not None and not isinstance(path, (str, Path)):
            raise InputError(f"store={path!r}: give the path of a file, for example 'runs.db'")
        self.path = self._folder.enter_context(scratch()) / "batch.db" if path is None else Path(path)
        self._where = "the temporary store" if path is None else str(self.path)
        self._temporary = path is None
        try:
            with self._explained():
                self._connection = self._for_reading() if reading else self._for_writing()
        except BaseException:
            self.close()
            raise

    # ---- opening ----------------------------------------------------------------------------------------------------
    def _for_reading(self) -> sqlite3.Connection:
        """Nothing is written, not even beside the file; so it may lie where nothing can be."""
        if not self.path.is_file():
            raise InputError(f"{self._where}: there is no such file")
        name = f"file:{quote(str(self.path.absolute()))}"
        whole = not Path(f"{self.path}-wal").exists()  # no answers wait beside it
        connection = sqlite3.connect(
            f"{name}?mode=ro{'&immutable=1' if whole else ''}", uri=True, timeout=PATIENCE, check_same_thread=False
        )
        self._check_owner(connection)
        return connection

    def _for_writing(self) -> sqlite3.Connection:
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise InputError(f"store={str(self.path)!r}: give the path of a file in a folder that exists")
        new = not self.path.exists() or self.path.stat().st_size == 0
        connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            if new:  # first of all: a process that is killed before the end leaves a file that is known as ours
                connection.execute(f"pragma application_id = {MARK}")
            self._check_owner(connection)
            _patiently(connection, "pragma journal_mode = wal")
            connection.execute(f"pragma synchronous = {'off' if self._temporary else 'normal'}")
            connection.execute("begin immediate")
            for statement in TABLES.split(";"):
                connection.execute(statement)
            connection.execute("insert or ignore into meta values ('version', ?)", (str(VERSION),))
            connection.execute("commit")
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_owner(self, connection: sqlite3.Connection) -> None:
        if connection.execute("pragma application_id").fetchone()[0] != MARK:
            raise InputError(f"{self._where}: this file is not a store of elbowroom; choose another name")
        if connection.execute("select 1 from sqlite_master where name = 'meta'").fetchone() is None:
            return
        found = connection.execute("select value from meta where key = 'version'").fetchone()
        if found is not None and found[0] != str(VERSION):
            raise InputError(
                f"{self._where}: a store of version {found[0]}; this release reads version {VERSION}. Go on with the release "
                "that wrote it, or choose another file"
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What SQLite says, in words that name the file and the cure. Nothing that was committed is lost."""
        try:
            yield
        except sqlite3.Error as error:
            said = str(error)
            cure = next((cure for word, cure in CURES.items() if word in said.lower()), said)
            raise InputError(f"{self._where}: {cure}") from None
        except InputError:
            raise
        except PermissionError:
            raise InputError(f"{self._where}: {CURES['unable to open']}") from None
        except (ValueError, TypeError, KeyError, OverflowError) as error:  # a value of another kind than was written
            raise self.damaged(f"{type(error).__name__}: {error}") from None

    def damaged(self, what: str) -> InputError:
        return InputError(f"{self._where}: the store is damaged ({what}); choose another file and ask again")

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise InputError(f"{self._where}: the store was closed")
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._folder.close()

    def __del__(self) -> None:
        if getattr(self, "_temporary", False):
            self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- the question -----------------------------------------------------------------------------------------------
    def begin(self, document: dict[str, Any], versions: dict[str, str], rows: Iterable[Row], size: int) -> None:
        """Bind the store to a question and a table; refuses by name what differs from what it holds."""
        with self._explained(), self._transaction():
            known = self._open.execute("select 1 from meta where key = 'question'").fetchone()
            if known is None:
                seal = new_seal()
                self._open.executemany(
                    "insert into rows values (?, ?, ?)", ((i, *row) for i, row in enumerate(sealed(rows, seal)))
                )
                self._open.executemany(
                    "insert into meta values (?, ?)",
                    [
                        ("question", json.dumps(document)),
                        ("digest", digest(document)),
                        ("versions", json.dumps(versions)),
                        ("rows", seal.hexdigest()),
                    ],
                )
                return
        self._same_question(document)
        self._same_rows(rows, size)

    @property
    def question(self) -> dict[str, Any]:
        """The document of the question, as it was when the store was made."""
        with self._explained():
            kept = dict(self._open.execute("select key, value from meta where key in ('question', 'digest')"))
            if "question" not in kept:
                raise InputError(f"{self._where}: the store holds no batch")
            document: dict[str, Any] = json.loads(kept["question"])
            if digest(document) != kept["digest"]:
                raise self.damaged("its question is not what was written")
        return document

    @property
    def versions(self) -> dict[str, str]:
        """Of the libraries with which the batch was begun."""
        with self._explained():
            found = self._open.execute("select value from meta where key = 'versions'").fetchone()
            return {str(name): str(version) for name, version in json.loads(found[0]).items()}

    def _same_question(self, asked: dict[str, Any]) -> None:
        kept = self.question
        asked = json.loads(json.dumps(asked))
        for key in sorted({*asked, *kept}, key=[*asked, *kept].index):
            if kept.get(key) != asked.get(key):
                shown = f": {kept.get(key)!r:.80} there, {asked.get(key)!r:.80} here" if key != "space" else ""
                raise InputError(
                    f"{self._where}: the store is about another question, its {key} differs{shown}; "
                    "choose another file, or ask the question that it holds"
                )

    def rows(self) -> Iterator[Row]:
        """Names and values of the table, whose seal is checked at the end."""
        seal = new_seal()
        with self._explained():
            wanted = self._open.execute("select value from meta where key = 'rows'").fetchone()
            yield from sealed(self._open.execute("select label, data from rows order by position"), seal)
            if wanted is None or seal.hexdigest() != wanted[0]:
                raise self.damaged("its rows are not what was written")

    def _same_rows(self, asked: Iterable[Row], size: int) -> None:
        with self._explained():
            known = self._open.execute("select count(*) from rows").fetchone()[0]
        if known != size:
            raise InputError(
                f"{self._where}: the store is about a table of {known:,} rows, this one has {size:,}; choose another file"
            )
        for position, (there, here) in enumerate(zip(self.rows(), asked, strict=True)):
            if there != here:
                what = "its values differ" if there[0] == here[0] else f"it was called {there[0]!r:.60}"
                raise InputError(
                    f"{self._where}: row {position} (index {here[0]!r:.60}) is another one than in the store: {what}; "
                    "choose another file"
                )

    # ---- answers ----------------------------------------------------------------------------------------------------
    @contextmanager
    def _transaction(self) -> Iterator[None]:
        connection = self._open
        connection.execute("begin immediate")
        try:
            yield
        except BaseException:
            if connection.in_transaction:  # a full disk has rolled it back already
                connection.execute("rollback")
            raise
        connection.execute("commit")

    def keep(self, records: Iterable[Record]) -> None:
        """Commit answers. The first one of a row stays, unless the new one had more time and the old one is not proven."""
        lines = []
        for r in records:
            answer, line = packed(r.answer), packed(r.line)
            kept = r.position, r.status, float(r.seconds), float(r.limit), r.error
            answer_seal = _hash(answer)
            lines.append((*kept[:4], answer, r.error, line, answer_seal, _seal(*kept, line, answer_seal)))
        with self._explained(), self._transaction():
            self._open.executemany(REPLACE, lines)

    def statuses(self) -> dict[int, tuple[str, float]]:
        """Status and time limit of every answer, by position."""
        with self._explained():
            found = self._open.execute("select position, status, time_limit from answers")
            return {int(position): (str(status), float(limit)) for position, status, limit in found}

    def answered(self, position: int) -> tuple[str, float] | None:
        """Status and time limit of one answer."""
        with self._explained():
            return self._open.execute(  # type: ignore[no-any-return]
                "select status, time_limit from answers where position = ?", (position,)
            ).fetchone()

    def record(self, position: int) -> Record | None:
        return next(self.records([position]))

    def records(self, positions: Iterable[int], *, answers: bool = True) -> Iterator[Record | None]:
        """By position; without ``answers`` only what the flat table needs. None: not asked yet."""
        what = f"status, seconds, time_limit, {'answer' if answers else 'null'}, error, line, answer_seal, seal"
        for position in positions:
            with self._explained():
                found = self._open.execute(f"select {what} from answers where position = ?", (position,)).fetchone()
                record = None if found is None else self._read(position, found, answers)
            yield record

    def _read(self, position: int, found: tuple[Any, ...], answers: bool) -> Record:
        status, seconds, limit, answer, error, line, answer_seal, seal = found
        true = seal == _seal(position, status, seconds, limit, error, line, answer_seal)
        if not true or (answers and _hash(answer) != answer_seal):
            raise InputError(
                f"{self._where}: the answer of row {position} is damaged; choose another file and ask again, or take it out "
                f"(sqlite3 {self.path} 'delete from answers where position = {position}') and go on"
            )
        return Record(position, status, seconds, unpacked(answer), error, limit, unpacked(line))


def _seal(position: int, status: str, seconds: float, limit: float, error: Any, line: Any, answer_seal: str) -> str:
    return hashlib.sha256(repr((position, status, seconds, limit, error, line, answer_seal)).encode()).hexdigest()


def _hash(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _patiently(connection: sqlite3.Connection, statement: str) -> None:
    """The switch to the write-ahead log does not wait for other processes by itself."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.02)


def packed(text: str | None) -> bytes | None:
    """Answers repeat the words of their format: compressed, one takes about a tenth."""
    return None if text is None else zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def unpacked(data: bytes | None, most: int = MOST_UNPACKED) -> str | None:
    """Refuses what would swell beyond any answer."""
    if data is None:
        return None
    reader = zlib.decompressobj()
    try:
        text = reader.decompress(data, most)
    except zlib.error:
        raise InputError("an answer in the store is damaged; take its row out, or choose another file") from None
    if reader.unconsumed_tail:
        raise InputError("an answer in the store is larger than any answer; the file was changed by somebody else")
    return text.decode("utf-8", "surrogatepass")


CURES: Final = {  # what SQLite says, and what is said instead
    "locked": f"another program has locked the store for more than {PATIENCE:g} s; end it, and run the batch again",
    "busy": f"another program has locked the store for more than {PATIENCE:g} s; end it, and run the batch again",
    "is full": "no space left on the device; every answer up to now is kept: make room and run the batch again",
    "readonly": "the store may not be written, or its folder may not; choose another file, or change its permissions",
    "unable to open": "the store cannot be opened or made there; choose a file in a folder that you may write to",
    "disk i/o": "the disk failed; every answer that was committed is kept: run the batch again when it works",
    "not a database": "this file is not a store of elbowroom, or it is damaged; choose another name",
    "malformed": "this file is not a store of elbowroom, or it is damaged; choose another name",
    "could not decode": "the store is damaged (a text in it is none); choose another file and ask again",
    "constraint": "the store is damaged (a row is in it twice); choose another file and ask again",
    "no such": "the store is damaged (a table or a column is missing); choose another file and ask again",
}
