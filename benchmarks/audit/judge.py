"""What is true about a centre: is it valid, how large is the room around it really, how far is it from the optimum."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case, choose
from benchmarks.cells import trained
from benchmarks.data import load
from benchmarks.instance import ROOM
from elbowroom import Explainer, Region
from elbowroom.result import Certificate, Counterexample

JUDGE_SECONDS = 30.0
NAMED = ("method", "data", "model", "norm", "rho", "row", "seconds")


@dataclass(frozen=True, eq=False)
class Center:
    """An answer of some method: ``values`` is the centre that it returns for this row and this room."""

    method: str
    data: str
    model: str  # a label of the paper's models, such as RF-10
    norm: str
    rho: float
    row: int
    values: np.ndarray | None  # None: the method returned nothing
    seconds: float | None = None


@dataclass(frozen=True)
class Finding:
    """``radius`` and ``radius_upper`` enclose the true radius; ``robust`` is None if the judge could not settle it."""

    method: str
    data: str
    model: str
    norm: str
    rho: float
    row: int
    answered: bool
    valid: bool
    robust: bool | None
    radius: float
    radius_upper: float | None
    distance: float | None
    optimum: float | None
    seconds: float | None


@dataclass
class Auditor:
    """Models, explainers and optima are made once and kept."""

    limit: float = 60.0
    _explainers: dict[tuple[str, str], tuple[Explainer, Any]] = field(default_factory=dict)
    _optima: dict[tuple[Any, ...], float | None] = field(default_factory=dict)

    def explainer(self, data: str, label: str) -> tuple[Explainer, Any]:
        if (data, label) not in self._explainers:
            model = trained(data, case_of(label))
            self._explainers[data, label] = Explainer(model), model
        return self._explainers[data, label]

    def optimum(self, data: str, label: str, norm: str, rho: float, row: int) -> float | None:
        """The proven optimal distance; None if it was not proven in time."""
        key = (data, label, norm, rho, row)
        if key not in self._optima:
            explainer, _ = self.explainer(data, label)
            answer = explainer.explain(load(data)[0][row], room=ROOM[norm](rho), time_limit=self.limit)
            proven = isinstance(answer, Region) and answer.status.name == "OPTIMAL"
            self._optima[key] = answer.distance if isinstance(answer, Region) and proven else None
        return self._optima[key]

    def finding(self, center: Center) -> Finding:
        where = (center.method, center.data, center.model, center.norm, center.rho, center.row)
        optimum = self.optimum(center.data, center.model, center.norm, center.rho, center.row)
        if center.values is None:
            return Finding(*where, False, False, False, 0.0, 0.0, None, optimum, center.seconds)
        explainer, model = self.explainer(center.data, center.model)
        x = load(center.data)[0][center.row]
        values = np.asarray(center.values, dtype=np.float64)
        before, after = model.predict(np.stack([x, values]))
        distance = float(np.abs(values - x).sum())
        if before == after:
            return Finding(*where, True, False, False, 0.0, 0.0, distance, optimum, center.seconds)
        verdict = explainer.certify(values, ROOM[center.norm](center.rho), after, time_limit=JUDGE_SECONDS)
        robust = True if isinstance(verdict, Certificate) else False if isinstance(verdict, Counterexample) else None
        found = explainer.radius(values, center.norm, after, time_limit=JUDGE_SECONDS)
        return Finding(*where, True, True, robust, found.lower, found.upper, distance, optimum, center.seconds)


def case_of(label: str) -> Case:
    found = choose([label])
    if len(found) != 1:
        raise SystemExit(f"model {label!r}: give one label, such as RF-10")
    return found[0]


def judge(centers: Iterable[Center], limit: float = 60.0) -> list[dict[str, Any]]:
    """One record per centre. This is the door for the answers of any other method."""
    auditor = Auditor(limit)
    return [asdict(auditor.finding(center)) for center in centers]


def read_centers(path: Path) -> list[Center]:
    """Centres from a CSV file: the columns method, data, model, norm, rho, row, seconds (may be empty), then one column
    per feature (x0, x1, ... in the order of the data, scaled to [0, 1] as in the paper). A line whose feature columns are
    all empty says that the method returned nothing."""
    centers = []
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        absent = [name for name in NAMED if name not in (reader.fieldnames or ())]
        if absent:
            raise SystemExit(f"{path.name}: the columns {absent} are missing; wanted are {list(NAMED)} and x0, x1, ...")
        for number, row in enumerate(reader, start=2):
            width = load(row["data"])[0].shape[1]
            texts = [(row.get(f"x{i}") or "").strip() for i in range(width)]
            try:
                values = np.array([float(text) for text in texts]) if any(texts) else None
                seconds = float(row["seconds"]) if row["seconds"] else None
                center = Center(row["method"], row["data"], row["model"], row["norm"], float(row["rho"]), int(row["row"]),
                                values, seconds)  # fmt: skip
            except ValueError as error:
                raise SystemExit(
                    f"{path.name}, line {number}: {error}; every feature x0 ... x{width - 1} needs a number"
                ) from None
            centers.append(center)
    return centers
