"""``python -m benchmarks baseline``: the paper's table 3. The gradient method beside the product, both truly judged."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from benchmarks.audit.judge import Auditor, Center
from benchmarks.audit.methods import METHODS, Question
from benchmarks.baselines.gradient import Settings
from benchmarks.data import load, obtainable
from elbowroom import Ball

CASES = (("banknote", "NN-50"), ("diabetes", "NN-50"), ("ionosphere", "NN-10"), ("ionosphere", "NN-50"))
RADII = (0.1, 0.2)
ROWS = 10


def run(rows: int = ROWS, limit: float = 60.0) -> dict[str, Any]:
    names, messages = obtainable(tuple(dict.fromkeys(data for data, _ in CASES)))
    for message in messages:
        print(message)
    asked = [m for m in METHODS if m.name == "elbowroom" or m.name.startswith("Dominguez")]
    auditor, findings = Auditor(limit), []
    for data, label in CASES:
        if data not in names:
            continue
        explainer, model = auditor.explainer(data, label)
        X, y = load(data)
        explainer.explain(X[0], room=Ball(0.001), time_limit=1.0)
        for rho in RADII:
            for method in asked:
                for row in range(rows):
                    began = time.perf_counter()
                    values = method.ask(Question(data, label, X, y, model, explainer, row, "l2", rho, limit))
                    seconds = time.perf_counter() - began
                    findings.append(
                        asdict(auditor.finding(Center(method.name, data, label, "l2", rho, row, values, seconds)))
                    )
                mine = findings[-rows:]
                print(
                    f"{data:10s} {label:6s} {rho:g} {method.name:34s} robust {sum(f['robust'] is True for f in mine)}/{rows} "
                    f"valid {sum(f['valid'] for f in mine)}/{rows} {sum(f['seconds'] for f in mine) / rows:.3f} s",
                    flush=True,
                )
    return {"settings": asdict(Settings()), "instances": findings}
