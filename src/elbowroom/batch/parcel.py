"""An explainer on its way to other processes, and what is done with it there."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from threading import get_ident
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from elbowroom.batch.question import BatchQuestion
from elbowroom.batch.record import Record, ask
from elbowroom.disk import scratch, write_whole
from elbowroom.errors import InputError

if TYPE_CHECKING:
    from elbowroom.explainer import Explainer

# Of this process, unpacked once for each thread that works (those of Dask's workers are often several): an explainer
# keeps what it learns from one question to the next, and two threads must not ask it at the same time.
_EXPLAINERS: dict[int, tuple[str, Any]] = {}


@dataclass(frozen=True, eq=False)
class Parcel:
    """The bytes of an explainer, and their hash."""

    data: np.ndarray
    digest: str

    @classmethod
    @contextmanager
    def of(cls, explainer: Explainer, *, as_file: bool) -> Iterator[Parcel]:
        """``as_file``: as a file that is mapped into memory, of which joblib sends the name; every process of this machine
        reads it once. Else joblib sends the array, once to each machine. Classes that only this program knows (in a
        notebook, say) travel with it."""
        try:
            data = _pickler().dumps(explainer, protocol=5)
        except Exception as error:
            raise InputError(
                f"n_jobs: the model cannot be sent to other processes ({type(error).__name__}: {error}); use n_jobs=1"
            ) from None
        digest = hashlib.sha256(data).hexdigest()
        if not as_file:
            yield cls(np.frombuffer(data, dtype=np.uint8), digest)
            return
        with scratch() as folder:
            write_whole(folder / "explainer", data)
            yield cls(np.memmap(folder / "explainer", dtype=np.uint8, mode="r"), digest)


def _pickler() -> Any:
    """cloudpickle, which joblib brings with it: inside itself, or as a library of its own from 1.6 on."""
    try:
        return import_module("cloudpickle")
    except ImportError:
        return import_module("joblib.externals.cloudpickle")


def work(
    data: np.ndarray, digest: str, question: BatchQuestion, positions: list[int], rows: pd.DataFrame
) -> list[Record]:
    """One chunk, in a worker."""
    known, explainer = _EXPLAINERS.get(get_ident(), ("", None))
    if known != digest:
        try:
            explainer = pickle.loads(data.tobytes())
        except Exception as error:
            raise InputError(
                f"n_jobs: the model cannot be read in another process ({type(error).__name__}: {error}); install there what "
                "it needs, or use n_jobs=1"
            ) from None
        _EXPLAINERS[get_ident()] = digest, explainer  # a worker serves one batch at a time
    return [ask(explainer, question, position, rows.iloc[[i]]) for i, position in enumerate(positions)]
