"""Answers on disk: one SQLite file per question, written row by row, so that a batch goes on where it ended.

A store is about one question (model, space, room, target, rules, versions: `BatchQuestion.document`) and one table: each
row is known by its place and by a hash of its values, so that neither another question nor another table is mixed in.
Every answer is committed before the next ones are waited for. The write-ahead log makes a killed process, a full disk
or Ctrl-C harmless: what was committed is there, the rest is asked again. Several processes may share a store: the first
answer of a row is kept, and the same question gets the same answer from all of them.

    meta      key, value               version of the format, question, its digest, number of rows
    rows      position, label, digest  the table that is asked about
    answers   position, status, seconds, time_limit, answer and line (JSON, compressed), error
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from elbowroom.batch.question import digest
from elbowroom.batch.record import Record
from elbowroom.disk import scratch
from elbowroom.errors import InputError

VERSION: Final = 1
PATIENCE: Final = 30.0  # seconds that a store may be locked by another process
MARK: Final = 0x656C626F  # "elbo": SQLite's own field for whose file it is
TABLES: Final = """
create table if not exists meta (key text primary key, value text not null);
create table if not exists rows (position integer primary key, label text not null, digest text not null);
create table if not exists answers (
    position integer primary key, status text not null, seconds real not null, time_limit real not null,
    answer blob, error text, line blob
);
"""


class Store:
    """One batch on disk. Without a path it lives in a temporary file, which is gone with the object: the answers of a
    large batch do not fill the memory."""

    def __init__(self, path: str | Path | None = None) -> None:
        self._temporary = False  # until it is opened
        self._folder = ExitStack()
        self.path = self._folder.enter_context(scratch()) / "batch.db" if path is None else Path(str(path))
        self._where = "the temporary store" if path is None else str(self.path)
        self._connection = self._open(path is None)
        self._temporary = path is None

    # ---- opening ----------------------------------------------------------------------------------------------------
    def _open(self, temporary: bool) -> sqlite3.Connection:
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise InputError(f"store={str(self.path)!r}: give the path of a file in a folder that exists")
        new = not self.path.exists() or self.path.stat().st_size == 0
        with self._explained():
            connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            if not new:
                self._check_owner(connection)
            connection.execute("pragma journal_mode = wal")
            connection.execute(f"pragma synchronous = {'off' if temporary else 'normal'}")
            connection.execute(f"pragma application_id = {MARK}")
            connection.executescript(TABLES)
            connection.execute("insert or ignore into meta values ('version', ?)", (str(VERSION),))
        self._connection = connection
        version = self._meta("version")
        if version != str(VERSION):
            raise InputError(
                f"{self._where}: a store of version {version}; this release reads version {VERSION}. Go on with the release "
                "that wrote it, or choose another file"
            )
        return connection

    def _check_owner(self, connection: sqlite3.Connection) -> None:
        if connection.execute("pragma application_id").fetchone()[0] != MARK:
            raise InputError(f"{self._where}: this file is not a store of elbowroom; choose another name")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What SQLite says, in words that name the file and the cure. Nothing that was committed is lost."""
        try:
            yield
        except sqlite3.Error as error:
            said = str(error)
            if "locked" in said or "busy" in said:
                raise InputError(
                    f"{self._where}: another program has locked the store for more than {PATIENCE:g} s; "
                    "end it, and run the batch again"
                ) from None
            if "full" in said:
                raise InputError(
                    f"{self._where}: no space left on the device; every answer up to now is kept: make room and run the batch again"
                ) from None
            if "not a database" in said or "malformed" in said:
                raise InputError(
                    f"{self._where}: this file is not a store of elbowroom, or it is damaged; choose another name"
                ) from None
            raise InputError(f"{self._where}: {said}") from None

    def close(self) -> None:
        self._connection.close()
        self._folder.close()

    def __del__(self) -> None:
        if self._temporary:
            self.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- the question -----------------------------------------------------------------------------------------------
    def _meta(self, key: str) -> str | None:
        with self._explained():
            found = self._connection.execute("select value from meta where key = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    def begin(self, document: dict[str, Any], labels: Sequence[str], digests: Sequence[str]) -> None:
        """Bind the store to a question and a table; refuses by name what differs from what it holds."""
        with self._explained(), self._transaction():
            known = self._connection.execute("select value from meta where key = 'question'").fetchone()
            if known is None:
                self._connection.execute("insert into meta values ('question', ?)", (json.dumps(document),))
                self._connection.execute("insert into meta values ('digest', ?)", (digest(document),))
                self._connection.executemany(
                    "insert into rows values (?, ?, ?)", zip(range(len(labels)), labels, digests, strict=True)
                )
                return
        self._same_question(json.loads(known[0]), document)
        self._same_rows(labels, digests)

    def _same_question(self, kept: dict[str, Any], asked: dict[str, Any]) -> None:
        for key in asked:
            if kept.get(key) != asked[key]:
                shown = f": {kept.get(key)!r:.80} there, {asked[key]!r:.80} here" if key != "space" else ""
                raise InputError(
                    f"{self._where}: the store is about another question, its {key} differs{shown}; "
                    "choose another file, or ask the question that it holds"
                )

    def _same_rows(self, labels: Sequence[str], digests: Sequence[str]) -> None:
        with self._explained():
            kept = self._connection.execute("select label, digest from rows order by position").fetchall()
        if len(kept) != len(labels):
            raise InputError(
                f"{self._where}: the store is about a table of {len(kept):,} rows, this one has {len(labels):,}; "
                "choose another file"
            )
        for position, (pair, label, found) in enumerate(zip(kept, labels, digests, strict=True)):
            if pair != (label, found):
                what = "its values differ" if pair[0] == label else f"it was called {pair[0]!r:.60}"
                raise InputError(
                    f"{self._where}: row {position} (index {label!r:.60}) is another one than in the store: {what}; "
                    "choose another file"
                )

    @property
    def question(self) -> dict[str, Any]:
        kept = self._meta("question")
        if kept is None:
            raise InputError(f"{self._where}: the store holds no batch")
        document: dict[str, Any] = json.loads(kept)
        return document

    def labels(self) -> list[str]:
        with self._explained():
            return [str(row[0]) for row in self._connection.execute("select label from rows order by position")]

    # ---- answers ----------------------------------------------------------------------------------------------------
    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("begin immediate")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:  # a full disk has rolled it back already
                self._connection.execute("rollback")
            raise
        self._connection.execute("commit")

    def keep(self, records: Iterable[Record]) -> None:
        """Commit answers. The first one of a row stays, unless the new one had more time and the old one is not proven."""
        lines = [(r.position, r.status, r.seconds, r.limit, packed(r.answer), r.error, packed(r.line)) for r in records]
        with self._explained(), self._transaction():
            self._connection.executemany(
                "insert into answers values (?, ?, ?, ?, ?, ?, ?) on conflict (position) do update set status = excluded.status, "
                "seconds = excluded.seconds, time_limit = excluded.time_limit, answer = excluded.answer, "
                "error = excluded.error, line = excluded.line where answers.status in ('CERTIFIED', 'UNKNOWN') "
                "and excluded.time_limit > answers.time_limit",
                lines,
            )

    def statuses(self) -> dict[int, tuple[str, float]]:
        """Status and time limit of every answer, by position."""
        with self._explained():
            found = self._connection.execute("select position, status, time_limit from answers").fetchall()
        return {int(position): (str(status), float(limit)) for position, status, limit in found}

    def answered(self, position: int) -> bool:
        with self._explained():
            return (
                self._connection.execute("select 1 from answers where position = ?", (position,)).fetchone() is not None
            )

    def record(self, position: int) -> Record | None:
        return next(self.records([position]))

    def records(self, positions: Iterable[int], *, answers: bool = True) -> Iterator[Record | None]:
        """By position; without ``answers`` only what the flat table needs."""
        what = f"status, seconds, time_limit, {'answer' if answers else 'null'}, error, line"
        for position in positions:
            with self._explained():
                found = self._connection.execute(
                    f"select {what} from answers where position = ?", (position,)
                ).fetchone()
            if found is None:
                yield None
            else:
                status, seconds, limit, answer, error, line = found
                yield Record(position, status, seconds, unpacked(answer), error, limit, unpacked(line))


def packed(text: str | None) -> bytes | None:
    """Answers repeat the words of their format: compressed, one takes about a tenth."""
    return None if text is None else zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def unpacked(data: bytes | None, most: int = 64 * 2**20) -> str | None:
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
