"""Menus on gradient boosting with 100 trees: seconds per number of changes, and what few changes cost.

Every number of changes is also asked about by itself (`AtMost`), for the processor's own time: what others do on the machine does
not count there.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data import load
from elbowroom import AtMost, Box, Explainer, Menu, Region, Space, Status

DATA = ("german", "diabetes", "cancer")
FIRST = 3  # numbers of changes that are timed one by one


def run_menu(rows: int = 30, limit: float = 60.0, data: list[str] | None = None) -> list[dict[str, Any]]:
    """One record per row: the menu up to three changes and the closest of all, with room 0.02."""
    from sklearn.ensemble import GradientBoostingClassifier

    records = []
    for name in data or DATA:
        X, y = load(name)
        frame = pd.DataFrame(X, columns=[f"x{f}" for f in range(X.shape[1])])
        model = GradientBoostingClassifier(n_estimators=100, random_state=0).fit(frame, y)
        explainer = Explainer(model, Space.from_frame(frame))
        asked = np.flatnonzero(model.predict(frame) == 0)[: rows + 1]
        explainer.menu(frame.iloc[asked[0]], Box(0.02), most=1)  # compiled code is loaded here
        for i in asked[1:]:
            start = time.perf_counter()
            menu = explainer.menu(frame.iloc[i], Box(0.02), time_limit=limit, most=FIRST)
            seconds = time.perf_counter() - start
            alone = _alone(explainer, frame.iloc[i], limit)
            records.append({"data": name, "row": int(i), "menu_s": seconds, **_record(menu), **alone})
    return records


def _alone(explainer: Explainer, row: pd.Series, limit: float) -> dict[str, Any]:
    """Seconds of the processor for at most one, two and three changes, asked one by one."""
    found: dict[str, Any] = {}
    for k in range(1, FIRST + 1):
        start = time.process_time()
        answer = explainer.explain(row, Box(0.02), rules=[AtMost(k)], time_limit=limit)
        found |= {f"cpu_{k}": time.process_time() - start, f"alone_{k}": answer.status.name}
    return found


def _record(menu: Menu) -> dict[str, Any]:
    found: dict[str, Any] = {"closest": _distance(menu.closest), "closest_s": menu.closest.seconds}
    for k in range(1, FIRST + 1):
        if k <= len(menu.limited):
            answer = menu.limited[k - 1]
            found |= {
                f"distance_{k}": _distance(answer),
                f"status_{k}": answer.status.name,
                f"seconds_{k}": answer.seconds,
            }
    return found


def _distance(answer: Any) -> float | None:
    return answer.distance if isinstance(answer, Region) else None


def summary(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians per data set; what is not proven is counted."""
    table = {}
    for name in dict.fromkeys(record["data"] for record in records):
        mine = [record for record in records if record["data"] == name]
        line: dict[str, Any] = {"rows": len(mine), "median_menu_ms": _median_ms(mine, "menu_s")}
        line["median_closest_ms"] = _median_ms(mine, "closest_s")
        for k in range(1, FIRST + 1):
            line[f"median_{k}_ms"] = _median_ms(mine, f"seconds_{k}")
            line[f"cpu_{k}_ms"] = _median_ms(mine, f"cpu_{k}")
            line[f"exist_{k}"] = sum(record.get(f"distance_{k}") is not None for record in mine)
            proven = (Status.OPTIMAL.name, Status.NONE_EXISTS.name)
            line[f"unproven_{k}"] = sum(
                f"status_{k}" in record and record[f"status_{k}"] not in proven for record in mine
            )
        table[name] = line
        print(name, ", ".join(f"{key} {value}" for key, value in line.items()))
    return table


def _median_ms(records: list[dict[str, Any]], key: str) -> float | None:
    seconds = [record[key] for record in records if key in record]
    return round(1000.0 * float(np.median(seconds)), 1) if seconds else None
