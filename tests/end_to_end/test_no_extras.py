"""Without any optional library: everything else works, and no module of this package asks for one by itself."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys

BLOCKED = {"xgboost", "lightgbm", "catboost", "torch", "onnx", "onnxruntime", "skl2onnx", "imblearn", "skops", "pyarrow"}


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Finder())
import importlib, pkgutil

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import elbowroom.importers
from elbowroom import Box, Explainer

for module in pkgutil.iter_modules(elbowroom.importers.__path__, "elbowroom.importers."):
    importlib.import_module(module.name)  # the libraries are imported inside functions
rng = np.random.default_rng(0)
X = pd.DataFrame({"income": rng.normal(size=80), "housing": rng.choice(["own", "rent"], 80)})
y = (X.income + (X.housing == "own") > 0.5).astype(int)
front = ColumnTransformer([("h", OneHotEncoder(), ["housing"]), ("n", StandardScaler(), ["income"])])
model = make_pipeline(front, LogisticRegression()).fit(X, y)
region = Explainer(model, X).explain(X[model.predict(X) == 0].iloc[0], Box(0.01))
assert region and (model.predict(region.sample(100)) == 1).all()
assert not BLOCKED & {name.partition(".")[0] for name in sys.modules}
print("fine")
"""


def test_nothing_needs_an_optional_library() -> None:
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT], capture_output=True, text=True, timeout=300)
    assert found.returncode == 0 and found.stdout.strip() == "fine", found.stderr[-2000:]
