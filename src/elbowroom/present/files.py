"""Models from files and the columns of tables, decided by content and never by name; nothing is unpickled unless it is trusted."""

from __future__ import annotations

import hashlib
import io
import pickletools
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Final

import pandas as pd

from elbowroom.disk import read_whole
from elbowroom.errors import InputError
from elbowroom.importers.files import model_in
from elbowroom.visible import MOST_LISTED, brief, listed

COMPRESSED: Final = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x5d\x00\x00", b"\x04\x22\x4d\x18", b"PK\x03\x04")
ZLIB: Final = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


class Content(Enum):
    """What a file holds, by its first bytes."""

    PICKLE = "a pickle"
    COMPRESSED = "a compressed file, which may hold a pickle"
    OTHER = "no pickle"


def content_of(data: bytes) -> Content:
    """Pickles of protocol 2 and later start with 0x80; older ones are recognised by parsing them (without running)."""
    if data[:1] == b"\x80":
        return Content.PICKLE
    if data.startswith(COMPRESSED) or data[:2] in ZLIB:
        return Content.COMPRESSED
    try:
        for _ in pickletools.genops(io.BytesIO(data)):
            pass
    except (ValueError, IndexError, KeyError, OverflowError):
        return Content.OTHER
    return Content.PICKLE


def load_model(path: Path, trust_pickle: bool) -> object:
    """A fitted model from a file: of another library's own format, or a pickle if the caller vouches for it."""
    return load_model_file(path, trust_pickle)[0]


def load_model_files(path: Path, also: Sequence[Path] | None, trust_pickle: bool) -> tuple[object, str]:
    """One model, or several as a list; with the SHA-256 of the file, or of those of all files, in order."""
    if not also:
        return load_model_file(path, trust_pickle)
    found = [load_model_file(each, trust_pickle) for each in (path, *also)]
    digest = hashlib.sha256(" ".join(digest for _, digest in found).encode()).hexdigest()
    return [model for model, _ in found], digest


def load_model_file(path: Path, trust_pickle: bool) -> tuple[object, str]:
    """The model, and the SHA-256 of the bytes that it was read from."""
    data = read_whole(path)
    digest = hashlib.sha256(data).hexdigest()
    foreign = model_in(path, data)
    if foreign is not None:
        if hashlib.sha256(read_whole(path)).hexdigest() != digest:
            raise InputError(f"{path}: the file was changed while it was read; try again")
        return foreign, digest
    content = content_of(data)
    if content is Content.OTHER:
        raise InputError(
            f"{path}: this is not a model file that can be read; formats that can: XGBoost (.json, .ubj), LightGBM (.txt), "
            "CatBoost (.cbm, .json), ONNX, skops, and what joblib.dump(model, path) writes"
        )
    if not trust_pickle:
        raise InputError(
            f"{path}: this is {content.value}, and loading a pickle runs whatever code is in it; "
            "if you made this file yourself or trust who did, add --trust-pickle"
        )
    import joblib

    try:
        return joblib.load(io.BytesIO(data)), digest
    except (KeyboardInterrupt, MemoryError):
        raise  # not the doing of the file
    except BaseException as error:  # a pickle may raise anything at all while it is loaded, also sys.exit
        reason = brief(f"{type(error).__name__}: {error}")
        raise InputError(f"{path}: the model cannot be loaded ({reason}); is its library installed here?") from None


def feature_columns(table: pd.DataFrame, names: Sequence[str], labels: Sequence[str], path: Path) -> pd.DataFrame:
    """The model's columns in the model's order. ``names`` are the model's own, or x0, x1, ... if it has none.

    ``labels`` are columns to leave out. Anything else that the model does not know is an error, not a guess.
    """
    table = table.rename(columns=str)
    unknown = [name for name in labels if name not in table.columns]
    if unknown:
        raise InputError(f"{path}: --label {unknown[0]!r} is not a column; the columns are {listed(table.columns)}")
    table = table.drop(columns=list(labels))
    nameless = list(names) == [f"x{i}" for i in range(len(names))] and not set(names) & set(table.columns)
    if nameless:
        if len(table.columns) != len(names):
            raise InputError(
                f"{path}: the model has {len(names)} columns without names, the table has {len(table.columns)} "
                f"({listed(table.columns)}); leave others out with --label NAME"
            )
        return table
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise InputError(
            f"{path}: the columns {listed(missing)} of the model are missing; the table has {listed(table.columns)}"
        )
    extra = [name for name in table.columns if name not in set(names)]
    if extra:
        raise InputError(
            f"{path}: the model does not know the columns {listed(extra)}; leave them out with "
            + " ".join(f"--label {brief(repr(name))}" for name in extra[:MOST_LISTED])
        )
    return table[list(names)]
