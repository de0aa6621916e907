"""Damaged XGBoost files: each must be refused in words, or be a model that the library itself agrees with.

    python -m tests.support.xgboost_mutants FOLDER KIND FIRST COUNT

makes files number FIRST, FIRST + 1, ... of KIND (json or ubj) and opens each; the last line is a JSON object that counts the
outcomes. It runs in a process of its own: a file that brings the library down must not take the tests with it. The
number of the file that is being tried stands in FOLDER/trying, and the file itself beside it.
"""

from __future__ import annotations

import copy
import json
import random
import struct
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, Final

import numpy as np

from elbowroom.errors import ElbowroomError, ReplayMismatch
from elbowroom.importers import open_model, replay
from elbowroom.importers.xgboost_files import XGBoostFile
from tests.support.documents import at, places, put, spoiled_bytes

ROWS: Final = 400  # on which a mutant that opens is compared with the library
_NUMBERS: Final = (
    0,
    -1,
    1,
    2,
    3,
    7,
    100,
    2**31 - 1,
    2**31,
    -(2**31),
    2**63,
    1e308,
    -0.5,
    1e-45,
    float("nan"),
    float("inf"),
)
_TYPED: Final = {
    "d": ["base_weights", "loss_changes", "split_conditions", "sum_hessian", "leaf_weights", "weights"],
    "l": [
        "feature_segments",
        "sorted_idx",
        "categories",
        "categories_nodes",
        "left_children",
        "right_children",
        "parents",
        "split_indices",
        "offsets",
    ],
    "L": ["categories_segments", "categories_sizes"],
    "U": ["default_left", "split_type"],
    "i": ["values"],
}
_TEXTS: Final = (
    "",
    "0",
    "1",
    "-1",
    "2",
    "3",
    "99999999999",
    "1e3",
    "x",
    "[5E-1]",
    "[1E0,2E0]",
    "nan",
    "gblinear",
    "dart",
)


# ---- honest files ----------------------------------------------------------------------------------------------------
def honest() -> list[dict[str, Any]]:
    """Documents of small models of all kinds, with and without categories."""
    import pandas as pd
    import xgboost

    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 3] = rng.integers(0, 5, 200)
    y, y3 = (X[:, 0] + X[:, 3] % 2 > 0.5).astype(int), np.digitize(X[:, 0], [-0.4, 0.4])
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["d"] = pd.Categorical([f"k{int(v)}" for v in X[:, 3]])
    few: dict[str, Any] = {"n_estimators": 2, "max_depth": 2, "n_jobs": 1}
    classifier = xgboost.XGBClassifier
    models = [
        classifier(**few).fit(X, y),
        classifier(**few).fit(X, y3),
        classifier(**few, booster="dart", rate_drop=0.5).fit(X, y),
        classifier(**few, multi_strategy="multi_output_tree").fit(X, y3),
        classifier(**few, enable_categorical=True, max_cat_to_onehot=1).fit(frame, y),
        classifier(n_estimators=2, booster="gblinear", n_jobs=1).fit(X, y),
        xgboost.train({"objective": "binary:logistic", "max_depth": 2, "nthread": 1}, xgboost.DMatrix(X, y), 2),
    ]
    found = []
    for model in models:
        booster = model.get_booster() if hasattr(model, "get_booster") else model
        document = json.loads(booster.save_raw("json"))
        if hasattr(model, "get_booster"):  # the note that save_model leaves
            document["learner"]["attributes"]["scikit_learn"] = json.dumps({"_estimator_type": "classifier"})
        found.append(document)
    return found


def as_ubj(value: Any, key: str = "") -> bytes:
    """Universal Binary JSON with typed arrays where XGBoost writes them, as far as the numbers fit."""
    match value:
        case bool():
            return b"T" if value else b"F"
        case None:
            return b"Z"
        case int():
            return b"L" + struct.pack(">q", max(-(2**63), min(value, 2**63 - 1)))
        case float():
            return b"D" + struct.pack(">d", value)
        case str():
            return b"S" + _text(value)
        case list():
            marker = next((marker for marker, keys in _TYPED.items() if key in keys), "")
            typed = _typed(value, marker)
            if typed is not None:
                return b"[$" + marker.encode() + b"#" + _count(len(value)) + typed
            return b"[#" + _count(len(value)) + b"".join(as_ubj(item) for item in value)
        case dict():
            return b"{" + b"".join(_text(name) + as_ubj(item, name) for name, item in value.items()) + b"}"
    raise TypeError(type(value))


def _typed(value: list[Any], marker: str) -> bytes | None:
    if not marker or not all(type(item) in (int, float) for item in value):
        return None
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            array = np.array(value, {"i": "i1", "U": "u1", "l": ">i4", "L": ">i8", "d": ">f4"}[marker])
    except (OverflowError, ValueError):
        return None
    return array.tobytes()


def _count(number: int) -> bytes:
    return b"L" + struct.pack(">q", number)


def _text(text: str) -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    return _count(len(raw)) + raw


# ---- damage ----------------------------------------------------------------------------------------------------------
def mutant(documents: list[dict[str, Any]], kind: str, number: int) -> bytes:
    """File ``number``: one to three changes of the structure, and sometimes of the bytes."""
    rng = random.Random(f"{kind} {number}")
    document = copy.deepcopy(rng.choice(documents))
    changes = rng.choice((0, 1, 1, 1, 1, 2, 3))
    for _ in range(changes):
        _change(document, rng)
    data = as_ubj(document) if kind == "ubj" else json.dumps(document).encode("utf-8", "surrogatepass")
    if changes == 0 or rng.random() < 0.15:
        data, _ = spoiled_bytes(data, rng)
    return data


def _change(document: dict[str, Any], rng: random.Random) -> None:
    """Something else at one place; lists are chosen as often as all single numbers in them together."""
    everywhere = list(places(document))
    names = sorted({tuple(key for key in path if isinstance(key, str)) for path in everywhere})
    if not names:
        return
    chosen = rng.choice(names)
    path = rng.choice([p for p in everywhere if tuple(key for key in p if isinstance(key, str)) == chosen])
    old = at(document, path)
    match rng.randrange(6):
        case 0:
            put(document, path, rng.choice(_NUMBERS))
        case 1:
            put(document, path, rng.choice(_TEXTS))
        case 2 if isinstance(old, list) and old:
            del old[rng.randrange(len(old))]
        case 2:
            put(document, path, rng.choice(([], {}, None, True, [[0]], [0], ["x"])))
        case 3 if isinstance(old, list):
            old.insert(rng.randint(0, len(old)), rng.choice(old) if old else rng.choice(_NUMBERS))
        case 4 if isinstance(old, list) and old:
            old[rng.randrange(len(old))] = rng.choice(_NUMBERS)
        case 5 if isinstance(path[-1], str):
            holder = at(document, path[:-1])
            del holder[path[-1]]
        case _:
            twin = [p for p in everywhere if p[-1] == path[-1] and p != path]
            put(document, path, copy.deepcopy(at(document, rng.choice(twin)))) if twin else put(document, path, old)


# ---- the trial -------------------------------------------------------------------------------------------------------
def tried(path: Path) -> str:
    """What became of one file: refused, or agreed with the library; anything else is a failure and says why."""
    try:
        opened = open_model(XGBoostFile(path), replay=False)
        report = replay(opened.model, opened.original, limit=ROWS)
    except ReplayMismatch as error:
        return f"contradicted: {error}"
    except ElbowroomError:
        return "refused"
    except Exception as error:
        return f"traceback: {type(error).__name__}: {error}"
    return "agreed" if report.points else "agreed without points"


def main(folder: Path, kind: str, first: int, count: int) -> None:
    warnings.simplefilter("ignore")
    documents = honest()
    seen: Counter[str] = Counter()
    bad = []
    for number in range(first, first + count):
        path = folder / f"mutant.{kind}"
        path.write_bytes(mutant(documents, kind, number))
        (folder / "trying").write_text(str(number))
        outcome = tried(path)
        seen[outcome.partition(":")[0]] += 1
        if outcome not in ("refused", "agreed"):
            bad.append([number, outcome[:500]])
    sys.stdout.write(json.dumps({"seen": seen, "bad": bad}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
