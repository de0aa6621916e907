"""Answers that people can act on: 100 rejected applicants of the German credit data, before and after.

All twenty raw columns, gradient boosting behind a OneHotEncoder, a room of 2 months and 300 DM. *before* is what the
package did by default: every feature counts in units of its whole range, and a change of category costs as much as crossing
it. *defaults* is what it does by default now. *demo's rules* are those of the demonstration: the amount may only fall, the term
must not be so short that the instalment doubles, what the applicant is stays. What is counted is counted here, from the
certified bodies and the printed sentences, and not by the package's own words.

The other parts: forests and points of the breast cancer data (how many features have to change, digits), and the closest
answers with one, two and three changes of a boosted model (seconds).
"""

from __future__ import annotations

import inspect
import math
import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from statistics import mean, median
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

import elbowroom
from elbowroom import AtMost, Box, Explainer, NoRegion, Region, Space
from elbowroom.errors import InputError
from elbowroom.present.credit import german_raw

APPLICANTS, ROOM = 100, {"duration": 2, "amount": 300}
FROZEN = (
    "age", "status", "foreign", "history", "purpose", "employment", "residence", "property", "housing", "credits", "job",
    "liable", "telephone", "checking", "rate",
)  # fmt: skip
FEW = (0.05, 0.2)
Reader: TypeAlias = Callable[[pd.Series], Explainer]
Ask: TypeAlias = Callable[[Explainer, pd.Series], Region | NoRegion]


def run_people(rows: int = APPLICANTS, limit: float = 10.0, only: Sequence[str] = ()) -> dict[str, Any]:
    parts = {"applicants": applicants, "points": points, "forests": forests, "menu": menu, "plausible": plausible}
    warnings.simplefilter("ignore", elbowroom.ElbowroomWarning)
    found: dict[str, Any] = {}
    for name in only or parts:
        try:
            found[name] = parts[name](rows, limit)
        except InputError as missing:
            found[name] = {"skipped": str(missing)}
            print(f"{name}: skipped, {missing}")
    return found | {"failures": list(_failures(found))}


def _failures(found: dict[str, Any]) -> Iterator[str]:
    for record in found.get("applicants", []) if isinstance(found.get("applicants"), list) else []:
        absurd = record.get("borrow more, anywhere", 0) + record.get("instalment doubles, anywhere", 0)
        if record["setting"].startswith("demo's rules") and absurd:
            yield f"{record['setting']}: an answer borrows more or doubles the instalment"


# ---- the same 100 applicants -----------------------------------------------------------------------------------------
def credit() -> tuple[pd.DataFrame, np.ndarray, Any]:
    """All raw columns, the decision and the model."""
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    raw = german_raw()
    frame, label = raw.drop(columns="class"), (raw["class"] == 1).astype(int).to_numpy()
    words = [name for name in frame.columns if frame[name].dtype.kind not in "iuf"]
    encoder = ColumnTransformer([("words", OneHotEncoder(), words)], remainder="passthrough")
    return frame, label, make_pipeline(encoder, GradientBoostingClassifier(random_state=0)).fit(frame, label)


def before(frame: pd.DataFrame) -> Space:
    """Whole ranges as scales, and a category for the price of one."""
    space = Space.from_frame(frame, scale="range")
    return replace(space, groups=tuple(replace(group, weight=1.0) for group in space.groups))


def with_rules(frame: pd.DataFrame, row: pd.Series) -> Space:
    least = shortest(frame, row)
    return Space.from_frame(frame, immutable=FROZEN, decreasing=["amount"], bounds={"duration": (least, None)})


def shortest(frame: pd.DataFrame, row: pd.Series) -> int:
    """A term with which the instalment does not double."""
    return max(math.ceil(float(row["duration"]) / 2.0), int(frame["duration"].min()))


def applicants(rows: int, limit: float) -> list[dict[str, Any]]:
    frame, label, model = credit()
    rejected = frame[model.predict(frame) == 0].iloc[:rows]
    odd = outliers_of(frame, label, 1)
    readers = Readers(model, frame)
    settings: dict[str, tuple[Reader, Ask]] = {
        "before": (readers.before, closest(limit)),
        "defaults": (readers.defaults, closest(limit)),
        "demo's rules": (readers.with_rules, closest(limit)),
    }
    for share in FEW if has_prefer_few() else ():
        settings[f"defaults, prefer_few={share}"] = (readers.defaults, closest(limit, prefer_few=share))
        settings[f"demo's rules, prefer_few={share}"] = (readers.with_rules, closest(limit, prefer_few=share))
    if hasattr(elbowroom, "Plausible"):
        rule = elbowroom.Plausible(frame, label)  # type: ignore[attr-defined]
        settings["defaults, Plausible"] = (readers.defaults, closest(limit, rules=[rule]))
        settings["demo's rules, Plausible"] = (readers.with_rules, closest(limit, rules=[rule]))
    records = []
    for name, (reader, ask) in settings.items():
        try:
            records.append({"setting": name, **_asked(rejected, reader, ask, odd)})
        except InputError as refused:
            records.append({"setting": name, "refused": str(refused)})
        print(records[-1], flush=True)
    return records


class Readers:
    """Explainers by what they know of a row: the model is read once per space."""

    def __init__(self, model: Any, frame: pd.DataFrame) -> None:
        self._model, self._frame = model, frame
        self._made: dict[object, Explainer] = {}

    def before(self, row: pd.Series) -> Explainer:
        return self._of("before", lambda: before(self._frame))

    def defaults(self, row: pd.Series) -> Explainer:
        return self._of("defaults", lambda: Space.from_frame(self._frame))

    def with_rules(self, row: pd.Series) -> Explainer:
        return self._of(shortest(self._frame, row), lambda: with_rules(self._frame, row))

    def _of(self, key: object, space: Callable[[], Space]) -> Explainer:
        if key not in self._made:
            self._made[key] = Explainer(self._model, space())
        return self._made[key]


def closest(limit: float, **more: Any) -> Ask:
    def ask(explainer: Explainer, row: pd.Series) -> Region | NoRegion:
        return explainer.explain(row, room=Box(ROOM), time_limit=limit, **more)

    return ask


def has_prefer_few() -> bool:
    return "prefer_few" in inspect.signature(Explainer.explain).parameters


def _asked(
    rejected: pd.DataFrame,
    reader: Reader,
    ask: Ask,
    odd: Callable[[pd.DataFrame], np.ndarray],
) -> dict[str, Any]:
    regions, none, seconds = [], 0, []
    for _, row in rejected.iterrows():
        explainer = reader(row)
        start = time.perf_counter()
        answer = ask(explainer, row)
        seconds.append(time.perf_counter() - start)
        if isinstance(answer, Region):
            regions.append(answer)
        else:
            none += 1
    centers = pd.DataFrame([region.center for region in regions]).astype(rejected.dtypes.to_dict())
    return {
        "applicants": len(rejected),
        "regions": len(regions),
        "none": none,
        "borrow more": sum(region.center["amount"] > region.factual["amount"] for region in regions),
        "borrow more, anywhere": sum(float(region.upper["amount"]) > region.factual["amount"] for region in regions),
        "instalment doubles": sum(_instalment(region.center) > 2.0 * _instalment(region.factual) for region in regions),
        "instalment doubles, anywhere": sum(_largest(region) > 2.0 * _instalment(region.factual) for region in regions),
        "touch a category": sum(any(_category_changes(region)) for region in regions),
        "changed": round(mean(int(region.intervals["changed"].sum()) for region in regions), 2),
        "have to change": round(mean(has_to_change(region) for region in regions), 2),
        "digits": max(digits(region) for region in regions),
        "LOF outliers": int(odd(centers).sum()),
        "median seconds": round(median(seconds), 4),
    }  # fmt: skip


def _instalment(values: pd.Series) -> float:
    return float(values["amount"]) / float(values["duration"])


def _largest(region: Region) -> float:
    """The largest instalment of any point of the region."""
    return float(region.upper["amount"]) / float(region.lower["duration"])


def _category_changes(region: Region) -> Iterator[bool]:
    for column in region.space.raw:
        if column.group is not None:
            yield bool(region.center[column.name] != region.factual[column.name])


def has_to_change(region: Region) -> int:
    """Columns whose present value lies outside the region."""
    count = 0
    for column in region.space.raw:
        start, stop = column.start, column.stop
        now = region.factual_values[start:stop]
        if column.group is None:
            count += not region.body.lower[start] <= now[0] <= region.body.upper[start]
        else:
            free = any(np.array_equal(np.arange(start, stop), members) for members in region.body.free_groups)
            here = region.body.upper[start:stop] if free else region.body.center[start:stop]
            count += not here[int(np.argmax(now))] > 0.0
    return count


def digits(region: Region) -> int:
    """Of the longest number in the sentence, without separators and leading zeros."""
    said = re.sub(r"'[^']*'", "", region.sentence())
    numbers = re.findall(r"\d[\d,]*\.?\d*(?:e[-+]?\d+)?", said)
    return max((len(re.sub(r"e.*", "", n).replace(",", "").replace(".", "").lstrip("0")) for n in numbers), default=0)


def own_digits(region: Region) -> int:
    """Of the longest number among the changed values of the closest centre itself: what was printed of single points before."""
    changed = region.body.center[region.body.center != region.factual_values]
    return max((len(Decimal(repr(float(v))).normalize().as_tuple().digits) for v in changed), default=0)


def outliers_of(frame: pd.DataFrame, label: np.ndarray, wanted: int) -> Callable[[pd.DataFrame], np.ndarray]:
    """Local outlier factor on rows of the wanted class, scaled and encoded."""
    from sklearn.compose import ColumnTransformer
    from sklearn.neighbors import LocalOutlierFactor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    words = [name for name in frame.columns if frame[name].dtype.kind not in "iuf"]
    encoder = ColumnTransformer(
        [("words", OneHotEncoder(sparse_output=False), words)], remainder=StandardScaler(), sparse_threshold=0.0
    )
    judge = make_pipeline(encoder, LocalOutlierFactor(novelty=True)).fit(frame[label == wanted])
    return lambda rows: judge.predict(rows) == -1


# ---- the breast cancer data ------------------------------------------------------------------------------------------
def cancer() -> tuple[pd.DataFrame, np.ndarray]:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    return data.data, data.target.to_numpy()


def points(rows: int, limit: float) -> list[dict[str, Any]]:
    """Single points of a boosted model: digits printed, features that have to change."""
    from sklearn.ensemble import GradientBoostingClassifier

    X, y = cancer()
    model = GradientBoostingClassifier(random_state=0).fit(X, y)
    records = []
    for setting, space in (("before", Space.from_frame(X, scale="range")), ("defaults", Space.from_frame(X))):
        explainer = Explainer(model, space)
        for room in (0.0, 0.02, 0.05):
            found = [explainer.explain(X.iloc[i], room=Box(room), time_limit=limit) for i in range(min(rows, 20))]
            regions = [region for region in found if isinstance(region, Region)]
            records.append(
                {
                    "setting": setting,
                    "room": room,
                    "regions": len(regions),
                    "changed": round(mean(int(r.intervals["changed"].sum()) for r in regions), 2),
                    "have to change": round(mean(has_to_change(r) for r in regions), 2),
                    "digits of the closest centre": max(own_digits(r) for r in regions),
                    "digits": max(digits(r) for r in regions),
                }
            )
            print(records[-1])
    return records


def forests(rows: int, limit: float) -> list[dict[str, Any]]:
    """A default forest of 100 trees, room 0.05, row by row: seconds to the first certified region, and how many features
    have to change by default and with ``prefer_few``."""
    from sklearn.ensemble import RandomForestClassifier

    X, y = cancer()
    explainer = Explainer(RandomForestClassifier(random_state=0).fit(X, y), Space.from_frame(X))
    records = []
    for i in range(min(rows, 12)):
        record: dict[str, Any] = {"row": i}
        for name, more in {
            "default": {},
            **{f"prefer_few={s}": {"prefer_few": s} for s in FEW if has_prefer_few()},
        }.items():
            answer = explainer.explain(X.iloc[i], room=Box(0.05), time_limit=limit, **more)  # type: ignore[arg-type]
            first = next((step.seconds for step in answer.trace if step.best_distance < math.inf), math.inf)
            record[f"first certified, {name}"] = round(first, 3)
            record[f"status, {name}"] = answer.status.name
            if isinstance(answer, Region):
                record[f"have to change, {name}"] = has_to_change(answer)
                record[f"changed, {name}"] = int(answer.intervals["changed"].sum())
                record[f"distance, {name}"] = answer.distance
        records.append(record)
        print(record)
    return records


def menu(rows: int, limit: float) -> list[dict[str, Any]]:
    """The closest answers with at most one, two and three changes of a boosted model: median and largest seconds."""
    from sklearn.ensemble import GradientBoostingClassifier

    X, y = cancer()
    explainer = Explainer(GradientBoostingClassifier(random_state=0).fit(X, y), Space.from_frame(X))
    explainer.explain(X.iloc[0], room=Box(0.02), rules=[AtMost(1)])  # loads what is compiled
    records = []
    for changes in (1, 2, 3):
        seconds, regions = [], 0
        for i in range(min(rows, 50)):
            start = time.perf_counter()
            answer = explainer.explain(X.iloc[i], room=Box(0.02), rules=[AtMost(changes)], time_limit=limit)
            seconds.append(time.perf_counter() - start)
            regions += isinstance(answer, Region)
        records.append(
            {
                "changes": changes,
                "rows": len(seconds),
                "regions": regions,
                "median seconds": round(median(seconds), 4),
                "largest seconds": round(max(seconds), 4),
            }
        )
        print(records[-1])
    if hasattr(explainer, "menu"):
        seconds = []
        for i in range(min(rows, 50)):
            start = time.perf_counter()
            explainer.menu(X.iloc[i], Box(0.02))
            seconds.append(time.perf_counter() - start)
        records.append(
            {
                "changes": "whole menu",
                "rows": len(seconds),
                "median seconds": round(median(seconds), 4),
                "largest seconds": round(max(seconds), 4),
            }
        )
        print(records[-1])
    return records


def plausible(rows: int, limit: float) -> list[dict[str, Any]]:
    """Local outlier factor of the centres on the breast cancer data, with and without `Plausible`."""
    from sklearn.ensemble import GradientBoostingClassifier

    X, y = cancer()
    model = GradientBoostingClassifier(random_state=0).fit(X, y)
    explainer = Explainer(model, Space.from_frame(X))
    settings: dict[str, list[Any]] = {"without": []}
    if hasattr(elbowroom, "Plausible"):
        settings["with Plausible"] = [elbowroom.Plausible(X, y)]
    records = []
    for name, rules in settings.items():
        centers, odd = [], 0
        for i in range(min(rows, 30)):
            try:
                answer = explainer.explain(X.iloc[i], room=Box(0.02), rules=rules, time_limit=limit)
            except InputError as refused:
                return [*records, {"setting": name, "refused": str(refused)}]
            if isinstance(answer, Region):
                centers.append(answer)
                odd += bool(outliers_of(X, y, int(answer.target.label))(answer.center.to_frame().T.astype(float))[0])
        records.append({"setting": name, "regions": len(centers), "LOF outliers": odd})
        print(records[-1])
    return records
