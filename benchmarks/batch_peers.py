"""treecf's batch and DiCE on the portfolio's own model, beside this package, on the same 100 rows.

treecf gets the boosted trees over 0/1 columns (it reads no pipeline), with one category of each column, bounds and scales
as here; it answers with points, so that this package is asked without room, too. DiCE gets the pipeline. Whether a point has the
wanted class is asked of the model; whether a room of radius 0.02 around it has it everywhere, of the judge.
"""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

from elbowroom import Box, Certificate, Explainer

ROWS = 100
ROOM = Box(0.02)


def run_peers(explainer: Explainer, table: pd.DataFrame) -> dict[str, Any]:
    from benchmarks.batch import trained

    frame, model = trained()
    rows = table.head(ROWS)
    answers = []
    for name, room in (("elbowroom, no room", Box(0.0)), ("elbowroom, Box(0.02)", ROOM)):
        began = time.perf_counter()
        batch = explainer.explain_many(rows, room)
        seconds = time.perf_counter() - began
        points = pd.DataFrame([region.center if region else None for region in batch.regions], columns=rows.columns)
        answers.append(_judged(name, "exact, proven", points, seconds, explainer, model, rows))
    for peer in (_treecf, _dice):
        for name, how, points, seconds in peer(frame, model, explainer, rows):
            answers.append(_judged(name, how, points, seconds, explainer, model, rows))
            print(answers[-1], flush=True)
    return {"rows": len(rows), "answers": answers}


def _judged(
    name: str, how: str, points: pd.DataFrame, seconds: float, explainer: Explainer, model: Any, rows: pd.DataFrame
) -> dict[str, Any]:
    """How many points there are, have the class, and have it in a room of radius 0.02; and how far they are from the rows."""
    there = points.notna().all(axis=1).to_numpy()
    # categories as the table has them; a number that a float cannot hold does not occur
    found = points[there].astype(rows.dtypes.to_dict())
    flips = np.zeros(len(points), dtype=bool)
    flips[there] = model.predict(found) == 1
    robust, distances = 0, []
    for i in np.flatnonzero(flips):
        point = points.iloc[[i]].astype(rows.dtypes.to_dict())
        with suppress(ValueError):  # beyond the bounds of the table
            robust += isinstance(explainer.certify(point, ROOM, 1), Certificate)
        distances.append(_distance(rows.iloc[i], point.iloc[0], explainer))
    return {
        "method": name,
        "how": how,
        "seconds": seconds,
        "rows_per_second": len(points) / seconds,
        "answers": int(there.sum()),
        "have_the_class": int(flips.sum()),
        "have_it_in_the_room": int(robust),
        "median_distance": float(np.median(distances)) if distances else None,
    }


def _distance(row: pd.Series, point: pd.Series, explainer: Explainer) -> float:
    """The l1 distance of this package, in inner columns."""
    space = explainer.space
    ends = [space.row(pd.DataFrame([one])) for one in (row, point)]
    weights = np.array([feature.weight / feature.scale for feature in space.features])
    return float(np.sum(np.abs(ends[0] - ends[1]) * weights))


def _treecf(frame: pd.DataFrame, model: Any, explainer: Explainer, rows: pd.DataFrame) -> Any:
    import treecf
    from sklearn.base import clone

    encoder, names = model[:-1], [str(name) for name in model[0].get_feature_names_out()]
    encoded, given = (pd.DataFrame(_dense(encoder.transform(t)), columns=names) for t in (frame, rows))
    trees = clone(model[-1]).fit(encoded, _labels())  # the same trees, with names
    assert (trees.predict(given) == model.predict(rows)).all()
    inner = {feature.name: feature for feature in explainer.space.features}
    words = [name for name in frame.columns if frame[name].dtype.kind not in "fiub"]
    groups = {word: [n for n in names if n.startswith(f"onehotencoder__{word}_")] for word in words}
    numbers = [name for name in frame.columns if name not in words]
    limits: list[Any] = [treecf.OneHot(tuple(columns)) for columns in groups.values()]
    limits += [treecf.Range(f"remainder__{n}", float(frame[n].min()), float(frame[n].max())) for n in numbers]
    scale = np.array(
        [inner[n.removeprefix("remainder__")].scale if n.startswith("remainder__") else 2.0 for n in names]
    )
    theirs = treecf.Explainer(trees, constraints=limits, normalizers=scale)
    target = treecf.Target.raw(op=">=", value=0.0)
    for how, options in (("genetic", {}), ("exact", {"backend": "exact", "allow_exact_batch": True})):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            began = time.perf_counter()
            found = theirs.explain_batch(given.to_numpy(), target, time_budget_s=10.0, seed=0, **options)
            seconds = time.perf_counter() - began
        points: list[Any] = [None] * len(rows)
        for record in found.records:
            if record.feasible and points[int(str(record.id))] is None:
                points[int(str(record.id))] = _raw(dict(zip(names, record.x_cf, strict=True)), groups, numbers)
        table = pd.DataFrame([point or dict.fromkeys(rows.columns) for point in points], columns=rows.columns)
        yield f"treecf {version('treecf')}, no room", how, table, seconds


def _raw(values: dict[str, float], groups: dict[str, list[str]], numbers: list[str]) -> dict[str, Any]:
    """Back in the user's columns."""
    chosen = {
        word: max(columns, key=lambda c: values[c]).removeprefix(f"onehotencoder__{word}_")
        for word, columns in groups.items()
    }
    return chosen | {number: float(values[f"remainder__{number}"]) for number in numbers}


def _dense(matrix: Any) -> np.ndarray:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)


def _labels() -> np.ndarray:
    from benchmarks.boosted import german

    return german()[1]


def _dice(frame: pd.DataFrame, model: Any, explainer: Explainer, rows: pd.DataFrame) -> Any:
    import dice_ml

    numbers = [name for name in frame.columns if frame[name].dtype.kind in "fiub"]
    words = [name for name in frame.columns if name not in numbers]
    data = dice_ml.Data(
        dataframe=frame.astype(dict.fromkeys(words, object)).assign(outcome=_labels()), continuous_features=numbers,
        outcome_name="outcome",
    )  # fmt: skip
    for how in ("random", "genetic"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method=how)
            began = time.perf_counter()
            points = []
            for i in range(len(rows)):
                try:
                    given = rows.iloc[[i]].astype(dict.fromkeys(words, object))
                    made = theirs.generate_counterfactuals(given, total_CFs=1, desired_class=1, verbose=False)
                    points.append(made.cf_examples_list[0].final_cfs_df[list(rows.columns)].iloc[0].to_dict())
                except Exception as error:  # it ends with an exception where it finds nothing
                    print(f"DiCE {how}, row {i}: {type(error).__name__}: {error}", flush=True)
                    points.append(dict.fromkeys(rows.columns))
            seconds = time.perf_counter() - began
        yield f"DiCE {version('dice_ml')}", how, pd.DataFrame(points, columns=rows.columns), seconds
