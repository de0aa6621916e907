"""What a new process pays: first answer after the imports, second answer, and a compilation from scratch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.support.closed import closed_package

SCRIPT = """
import json, time
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier
X, y = load_breast_cancer(return_X_y=True)
X = (X - X.min(0)) / (X.max(0) - X.min(0))
model = GradientBoostingClassifier(n_estimators=100, max_depth=2, learning_rate=1.0, random_state=0).fit(X, y)
began = time.perf_counter()
from elbowroom import Box, Explainer
import elbowroom.explainer
imported = time.perf_counter()
explainer = Explainer(model)
first = explainer.explain(X[0], room=Box(0.02))
after_first = time.perf_counter()
second = explainer.explain(X[1], room=Box(0.02))
print(json.dumps({"import_s": imported - began, "first_s": after_first - imported, "second_s": time.perf_counter() - after_first,
                  "status": [first.status.name, second.status.name], "distance": [first.distance, second.distance]}))
"""


def run_startup() -> list[dict[str, Any]]:
    """A warm disk cache, a cold one, and no place for one at all."""
    records = []
    for name in ("warm cache", "cold cache", "no cache"):
        with tempfile.TemporaryDirectory() as folder:
            variables = dict(os.environ)
            if name == "cold cache":
                variables["NUMBA_CACHE_DIR"] = folder
            elif name == "no cache":
                variables = closed_package(Path(folder))
            else:
                _run(variables)
            records.append({"cache": name, **_run(variables)})
            print(records[-1], flush=True)
    return records


def _run(variables: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=variables, check=True)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found
