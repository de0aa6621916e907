"""Models trained once per session on data that ships with scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris


@pytest.fixture(scope="session")
def cancer() -> tuple[pd.DataFrame, np.ndarray]:
    bunch = load_breast_cancer(as_frame=True)
    columns = ["mean radius", "mean texture", "mean smoothness", "mean concavity", "worst area", "worst symmetry"]
    return bunch.data[columns], np.where(bunch.target == 1, "benign", "malignant")


@pytest.fixture(scope="session")
def iris() -> tuple[pd.DataFrame, np.ndarray]:
    bunch = load_iris(as_frame=True)
    return bunch.data, bunch.target_names[bunch.target]
