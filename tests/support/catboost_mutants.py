"""Damaged JSON models of CatBoost, tried in a program of their own: ``python -m tests.support.catboost_mutants 300 0``.

Each must be refused with an `ElbowroomError`, or be loaded as a model whose copy replays. The program prints the number of
each; a crash of the library ends it, and the caller sees that.
"""

from __future__ import annotations

import copy
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elbowroom.errors import ElbowroomError, ReplayMismatch
from elbowroom.importers import open_model
from elbowroom.importers.catboost_file import CatBoostFile
from tests.support.catboost_cases import QUIET, classifier

JUNK: tuple[Any, ...] = (
    None, 0, 1, -1, 2, 3, 255, 10**6, 2**31 - 1, 2**31, -(2**31), 2**32, 2**63, 1e308, -1e308, 1e-320, 3.5e38, 0.5, 1e30, "",
    "x", "AsTrue", "OneHotFeature", "FloatFeature", "Boolean", "RMSE", "MultiClass", [], {}, [0], [[]], True, False,
    float("inf"), float("nan"), 10**400,
)  # fmt: skip
KEPT = ("class_params", "params", "binclass_probability_threshold")


def honest() -> list[str]:
    """The JSON of small models of all kinds."""
    from catboost import CatBoostRegressor

    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 2)) < 0.1, np.nan, rng.normal(size=(300, 2)))
    housing = rng.choice(["own", "rent", "free"], 300)
    frame = pd.DataFrame({"a": X[:, 0], "h": housing, "b": X[:, 1]})
    signal = np.nan_to_num(X).sum(axis=1) + (housing == "own")
    small = {"iterations": 4, "depth": 3, "one_hot_max_size": 255, "cat_features": ["h"]}
    two, three = signal > 0.5, np.digitize(signal, [0, 1])
    strict = classifier(**small).fit(frame, two)
    strict.set_probability_threshold(0.7)
    models = [
        classifier(**small).fit(frame, np.where(two, "yes", "no")),
        classifier(**small, grow_policy="Lossguide").fit(frame, two.astype(int)),
        classifier(**small).fit(frame, three),
        classifier(**small, grow_policy="Depthwise").fit(frame, three),
        strict,
        CatBoostRegressor(**{**QUIET, **small}).fit(frame, signal),
    ]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            model.save_model(f"{folder}/m.json", format="json")
            found.append(Path(f"{folder}/m.json").read_text(encoding="utf-8"))
    return found


def mutant(text: str, rng: np.random.Generator) -> bytes:
    """One to three changes of bytes, or of the structure."""
    kind = rng.integers(10)
    if kind == 0:
        data = bytearray(text.encode())
        for _ in range(rng.integers(1, 4)):
            data[rng.integers(len(data))] = rng.integers(32, 127)
        return bytes(data)
    if kind == 1:
        return text.encode()[: rng.integers(len(text))]
    document = json.loads(text)
    info = document["model_info"]
    document["model_info"] = {key: info[key] for key in KEPT if key in info}
    info["params"] = {"loss_function": info["params"]["loss_function"]}  # elsewhere a change changes nothing
    document["model_info"]["params"] = info["params"]
    for _ in range(rng.integers(1, 4)):
        _change(document, rng)
    return json.dumps(document).encode()


def _change(document: Any, rng: np.random.Generator) -> None:
    paths = [path for path in _paths(document) if path]
    path = paths[rng.integers(len(paths))]
    parent = _at(document, path[:-1])
    here = parent[path[-1]]
    match int(rng.integers(6)):
        case 0 | 1:
            parent[path[-1]] = copy.deepcopy(JUNK[rng.integers(len(JUNK))])
        case 2:
            del parent[path[-1]]
        case 3 if isinstance(here, (int, float)) and not isinstance(here, bool):
            parent[path[-1]] = here + int(rng.choice([1, -1]))
        case 4 if isinstance(parent, list):
            parent.insert(int(rng.integers(len(parent) + 1)), copy.deepcopy(here))
        case _:
            parent[path[-1]] = copy.deepcopy(_at(document, paths[rng.integers(len(paths))]))


def _paths(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [before, *(path for key, inner in pairs for path in _paths(inner, (*before, key)))]


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def outcome(path: Path) -> str:
    """What becomes of one file; anything but a clear refusal or a copy that replays is raised."""
    try:
        file = CatBoostFile(path)
        names = file.model.feature_names_
        known = dict.fromkeys(names, ("own", "rent", "free", "never seen"))
        labels = {f"x{i}": ("own", "free") for i in range(len(names))} | known
        chosen = file.model.get_cat_feature_indices()
        named = {key: labels[key] for i, name in enumerate(names) if i in chosen for key in (name, f"x{i}")}
        opened = open_model(file, known=named)
    except ReplayMismatch:
        raise
    except ElbowroomError:
        return "refused"
    assert opened.report is not None
    return "replayed"


def main(tries: int, seed: int) -> None:
    rng, texts, found = np.random.default_rng(seed), honest(), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.json"
        for number in range(tries):
            path.write_bytes(mutant(texts[number % len(texts)], rng))
            try:
                found[outcome(path)] += 1
            except Exception as error:
                raise SystemExit(f"mutant {number} of seed {seed}: {type(error).__name__}: {error}") from error
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
