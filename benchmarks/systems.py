"""The systems that the paper cites, each with a row: its core question, asked of elbowroom, and what is known of the other side.

"beside" is a baseline that was rebuilt and run here, or a stored result of another benchmark of this folder. Where neither can
be had, ``reason`` says why: no figure is taken from a paper as if it had been measured here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks.cases import Case
from benchmarks.data import load
from benchmarks.promises import _asked as promised
from benchmarks.record import RESULTS
from elbowroom import Box, Explainer, NoRegion, Plausible, Price, Region, Retrained, Space
from elbowroom.models import LinearModel

DATA, ROOM = "diabetes", 0.01
NOT_RUN = "its own code was not run here"


def run_systems(rows: int = 3, limit: float = 5.0, only: Sequence[str] = ()) -> dict[str, Any]:
    """One record per system; with ``only``, those whose name begins so are measured, and the others are kept as stored."""
    bench = _Bench(rows, limit)
    table = []
    stored = {record["system"]: record for record in _stored("systems")["table"]} if only else {}
    for name, asks, measure in SYSTEMS:
        if only and not name.startswith(tuple(only)):
            table.append({**stored[name], "kept": True})
            continue
        began = time.perf_counter()
        found = measure(bench)
        table.append({"system": name, "asks": asks, **found, "row_seconds": time.perf_counter() - began})
        print(f"{name}: {found}", flush=True)
    return {
        "data": DATA,
        "rows": rows,
        "limit": limit,
        "table": table,
        "failures": [r["system"] for r in table if not _filled(r)],
    }


def _filled(record: dict[str, Any]) -> bool:
    return bool(record.get("ours")) and bool(record.get("beside") or record.get("reason"))


class _Bench:
    """The data, and models that several rows share."""

    def __init__(self, rows: int, limit: float) -> None:
        X, self.y = load(DATA)
        self.X = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
        self.rows, self.limit = rows, limit
        self._models: dict[str, Any] = {}

    def model(self, case: Case) -> Any:
        if case.label not in self._models:
            self._models[case.label] = case.train(self.X.to_numpy(), self.y)
        return self._models[case.label]

    def refused(self, model: Any) -> list[np.ndarray]:
        """Rows that the model gives class 0."""
        X = self.X.to_numpy()
        return list(X[np.flatnonzero(model.predict(X) == 0)[: self.rows]])

    def space(self) -> Space:
        return Space.from_frame(self.X)

    def each(self, explainer: Explainer, rows: Sequence[np.ndarray], **question: Any) -> dict[str, Any]:
        """Answers, proofs, mean distance and seconds of one question about several rows."""
        question = {"room": Box(ROOM), "time_limit": self.limit, "target": 1, **question}
        answers = [explainer.explain(row, **question) for row in rows]
        return _told(answers)


def _told(answers: Sequence[Region | NoRegion]) -> dict[str, Any]:
    found = [a for a in answers if isinstance(a, Region)]
    return {
        "asked": len(answers), "answers": len(found), "proven": sum(a.status.name in ("OPTIMAL", "NONE_EXISTS") for a in answers),
        "distance": float(np.mean([a.distance for a in found])) if found else None,
        "seconds": float(np.mean([a.seconds for a in answers])),
    }  # fmt: skip


def _stored(name: str) -> dict[str, Any]:
    return dict(json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")))


# ---- one function per system ------------------------------------------------------------------------------------------
def _rce(bench: _Bench) -> dict[str, Any]:
    stored = _stored("paper-trees-linf")["summary"]
    model = bench.model(Case("GBM", 10))
    ours = bench.each(Explainer(model, bench.space()), bench.refused(model), room=Box(0.05))
    beside = {"stored": "paper-trees-linf.json", "proven": stored["optimal"], "of": stored["instances"], "false points": stored["false_points"]}  # fmt: skip
    return {
        "ours": ours,
        "beside": beside,
        "reason": "the paper's published figures stand beside ours in docs/results.md",
    }


def _dominguez(bench: _Bench) -> dict[str, Any]:
    shares: dict[str, Any] = {}
    for record in _stored("baseline")["instances"]:
        key = "ours" if record["method"] == "elbowroom" else "beside"
        entry = shares.setdefault(key, {"stored": "baseline.json", "asked": 0, "robust": 0, "valid": 0})
        entry["asked"] += 1
        entry["robust"] += record["robust"] is True
        entry["valid"] += bool(record["valid"])
    return shares


def _probe(bench: _Bench) -> dict[str, Any]:
    model = bench.model(Case("linear", None))
    explainer, X = Explainer(model), bench.X.to_numpy()
    found = [promised(explainer, model, X[row], bench.limit) for row in range(bench.rows)]
    good = [r for r in found if "distance" in r]
    return {
        "ours": {"asked": len(found), "answers": len(good), "kept at least": min((r["lower"] for r in good), default=None),
                 "distance": float(np.mean([r["distance"] for r in good])) if good else None},
        "beside": {"rebuilt": "its objective", "kept at least": min((r["probe"]["lower"] for r in good), default=None),
                   "distance": float(np.mean([r["probe"]["distance"] for r in good])) if good else None},
        "reason": "no answer in time" if not good else "",
    }  # fmt: skip


def _virgolin(bench: _Bench) -> dict[str, Any]:
    model = bench.model(Case("RF", 5))
    explainer, rows = Explainer(model, bench.space()), bench.refused(model)
    kept, changed = (bench.each(explainer, rows, room=Box(0.05, on=on)) for on in ("kept", "changed"))
    return {"ours": {"setbacks in kept features": kept, "in changed ones": changed}, "reason": NOT_RUN}


def _actionable(bench: _Bench) -> dict[str, Any]:
    model = bench.model(Case("linear", None))
    space = bench.space().with_prices({name: Price.of_percentiles(bench.X[name]) for name in bench.X.columns})
    rows = bench.refused(model)
    explainer = Explainer(model, space)
    ours = bench.each(explainer, rows, room=Box(0.0))
    began = time.process_time()
    costs = [_grid_program(explainer, row) for row in rows]
    beside = {
        "rebuilt": "its integer program over a grid of 101 percentiles, on HiGHS",
        "answers": sum(cost is not None for cost in costs),
        "distance": float(np.mean([cost for cost in costs if cost is not None])) if any(costs) else None,
        "processor seconds": (time.process_time() - began) / len(rows),
    }
    return {"ours": ours, "beside": beside}


def _grid_program(explainer: Explainer, row: np.ndarray) -> float | None:
    """min sum of costs, one value of the grid (or the row's own) per column, such that the model's score is positive."""
    space, model = explainer.space, explainer.model
    assert isinstance(model, LinearModel)
    weight, bias = model.affine.weight[0], float(model.affine.bias[0])
    costs: list[float] = []
    gains: list[float] = []
    owner: list[int] = []
    for f, feature in enumerate(space.features):
        assert feature.percentiles is not None
        for value in [row[f], *(v for v, _ in feature.percentiles)]:
            length, up = abs(value - row[f]), value > row[f]
            costs.append(
                float(feature.price.pieces(float(row[f]), up, feature.weight, feature.scale).of(np.array([length]))[0])
            )
            gains.append(float(weight[f] * value))
            owner.append(f)
    one = (np.array(owner) == np.arange(len(space.features))[:, None]).astype(np.float64)
    table = np.vstack([np.array(gains)[None], one])
    low = np.concatenate([[1e-9 - bias], np.ones(len(one))])
    high = np.concatenate([[np.inf], np.ones(len(one))])
    found = milp(
        np.array(costs),
        constraints=LinearConstraint(table, low, high),
        integrality=np.ones(len(costs)),
        bounds=Bounds(0, 1),
    )
    return float(found.fun) if found.status == 0 else None


def _diverse(bench: _Bench, case: Case, reason: str) -> dict[str, Any]:
    model = bench.model(case)
    explainer = Explainer(model, bench.space())
    found = [
        explainer.explain_diverse(row, 3, Box(ROOM), target=1, time_limit=bench.limit) for row in bench.refused(model)
    ]
    sets = [len(each) for each in found]
    return {
        "ours": {"asked": len(sets), "answers per row": sets, **_told([a for each in found for a in each])},
        "reason": reason,
    }


def _russell(bench: _Bench) -> dict[str, Any]:
    return _diverse(bench, Case("linear", None), NOT_RUN)


def _dice(bench: _Bench) -> dict[str, Any]:
    ours = _diverse(bench, Case("RF", 5), "")
    theirs = [r for r in _stored("audit")["instances"] if r["method"].lower().startswith("dice")]
    if not theirs:
        return {**ours, "reason": "no stored audit of DiCE's centres"}
    robust = sum(r["robust"] is True for r in theirs)
    beside = {
        "stored": "audit.json",
        "asked": len(theirs),
        "valid": sum(bool(r["valid"]) for r in theirs),
        "robust": robust,
    }
    return {**ours, "beside": beside}


def _dace(bench: _Bench) -> dict[str, Any]:
    model = bench.model(Case("linear", None))
    explainer = Explainer(model, bench.space().with_covariance(bench.X))
    ours = bench.each(explainer, bench.refused(model), distance="l2")
    return {
        "ours": ours,
        "reason": f"{NOT_RUN}; its outlier factor (LOF) is no condition of elbowroom, an isolation forest is",
    }


def _mace(bench: _Bench) -> dict[str, Any]:
    ours = {}
    for case in (Case("DT", 5), Case("RF", 5), Case("linear", None)):
        model = bench.model(case)
        ours[case.label] = bench.each(Explainer(model, bench.space()), bench.refused(model), room=Box(0.0))
    return {"ours": ours, "reason": NOT_RUN}


def _ce_ocl(bench: _Bench) -> dict[str, Any]:
    model = bench.model(Case("linear", None))
    rule = Plausible(bench.X, bench.y, how="hull")
    ours = bench.each(Explainer(model, bench.space()), bench.refused(model), rules=[rule])
    return {"ours": ours, "reason": f"{NOT_RUN}; its trust region is the hull that is asked for"}


def _ocean(bench: _Bench) -> dict[str, Any]:
    model = bench.model(Case("RF", 5))
    ours = bench.each(Explainer(model, bench.space()), bench.refused(model), rules=[Plausible(bench.X)], room=Box(0.0))
    return {"ours": ours, "reason": NOT_RUN}  # fmt: skip


def _forel(bench: _Bench) -> dict[str, Any]:
    model = bench.model(Case("DT", 3))
    X = bench.X.to_numpy()
    again = Retrained(model, X, bench.y, n=5)
    explainer, plain = Explainer(again, bench.space()), Explainer(model, bench.space())
    fresh, kept, before = 10, [], []
    for row in bench.refused(model):
        for who, counts in ((explainer, kept), (plain, before)):
            found = who.explain(row, room=Box(ROOM), target=1, time_limit=bench.limit)
            if isinstance(found, Region):
                counts.append(again.kept(found, fresh))
    ours = {"fits": 5, "fresh": fresh, "kept": kept}
    return {
        "ours": ours,
        "beside": {"a plain region, kept": before},
        "reason": "its raised threshold: see python -m benchmarks retrained",
    }


def _fischetti(bench: _Bench) -> dict[str, Any]:
    model = bench.model(Case("NN", (10,)))
    ours = bench.each(Explainer(model, bench.space()), bench.refused(model), room=Box(0.0))
    return {
        "ours": ours,
        "reason": "its formulation is the master problem of method='adversarial', whose answers `python -m benchmarks agreement` compares with ours",
    }


def _carrizosa(bench: _Bench) -> dict[str, Any]:
    model = bench.model(Case("linear", None))
    explainer = Explainer(model, bench.space())
    rows = bench.X.iloc[np.flatnonzero(model.predict(bench.X.to_numpy()) == 0)[: 2 * bench.rows]]
    found = explainer.explain_group(rows, room=Box(ROOM), target=1, time_limit=bench.limit)
    ours = {"rows": len(rows), "status": found.status.name, "served": len(found.served)}
    return {
        "ours": ours,
        "reason": f"{NOT_RUN}; asked is one common move, not a move for each row with linked costs",
    }


SYSTEMS: Sequence[tuple[str, str, Callable[[_Bench], dict[str, Any]]]] = (
    ("RCE (Maragno and others)", "the closest centre whose whole box has the class", _rce),
    ("Dominguez-Olmedo and others", "a centre that survives every shift of a ball, by gradients", _dominguez),
    ("PROBE", "a centre that survives Gaussian slips with a target rate", _probe),
    ("Virgolin and Fracaros", "robust to setbacks in features that change or stay", _virgolin),
    ("Actionable recourse (Ustun and others)", "least cost in percentiles, linear models", _actionable),
    ("Russell", "diverse coherent answers, linear models", _russell),
    ("DiCE", "diverse sets of points", _dice),
    ("DACE", "Mahalanobis distance and few outliers", _dace),
    ("MACE", "the closest point, any of several families, proven", _mace),
    ("CE-OCL", "the closest centre in the hull of the data", _ce_ocl),
    ("OCEAN", "the closest point that an isolation forest accepts", _ocean),
    ("Forel and others", "a centre that survives retraining", _forel),
    ("Fischetti and Jo", "the closest point of another class, ReLU networks by MILP", _fischetti),
    ("Carrizosa and others", "one program for a group of rows", _carrizosa),
)
