"""Networks of the size that people train: a region at once, and an honest gap soon; before and after in one run.

Seven networks on synthetic tables (columns without limits) and on handwritten digits (64 columns within their ranges, ten
classes), rows 0 to 4, a box and a ball. Every question is asked twice, by a process of its own for each side: the product as
it was at `BEFORE`, and as it is. Seconds are those of the processor, limits included, so that whatever else the machine does
counts for neither side. Every region is attacked, and labelled by the original's ``predict``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

BEFORE = "2497472"  # the last commit whose networks were searched and judged with programs over all neurons
NETWORKS = (
    ("synt20", (50,)), ("synt20", (50, 50)), ("synt20", (100, 100)), ("digits", (32,)), ("digits", (64, 64)),
    ("digits", (128, 64)), ("synt50", (256, 128)),
)  # fmt: skip
ROOMS = (("Box", 0.02), ("Ball", 0.05))
MOMENTS = (1.0, 10.0, 60.0)
SOON, NEAR = 1.0, 1.1
POINTS = 15_000  # attacked per region
ROOT = Path(__file__).parents[1]
KNOWN = {  # distances of regions that longer searches with other seeds have found
    ("digits", (128, 64), 0, "Ball"): 1.28041,
    ("digits", (128, 64), 0, "Box"): 1.35773,
    ("digits", (128, 64), 1, "Ball"): 0.974238,
    ("digits", (128, 64), 1, "Box"): 0.947364,
    ("digits", (32,), 0, "Ball"): 1.31591,
    ("digits", (32,), 0, "Box"): 1.4906,
    ("digits", (32,), 1, "Ball"): 0.909887,
    ("digits", (32,), 1, "Box"): 0.949031,
    ("digits", (64, 64), 0, "Ball"): 0.969041,
    ("digits", (64, 64), 0, "Box"): 1.06872,
    ("digits", (64, 64), 1, "Ball"): 0.520486,
    ("digits", (64, 64), 1, "Box"): 0.533886,
    ("synt20", (100, 100), 0, "Ball"): 0.349526,
    ("synt20", (100, 100), 0, "Box"): 0.447138,
    ("synt20", (100, 100), 1, "Ball"): 0.648579,
    ("synt20", (100, 100), 1, "Box"): 0.489672,
    ("synt20", (50, 50), 0, "Ball"): 0.219329,
    ("synt20", (50, 50), 0, "Box"): 0.258239,
    ("synt20", (50, 50), 1, "Ball"): 0.318591,
    ("synt20", (50, 50), 1, "Box"): 0.32407,
    ("synt20", (50,), 0, "Ball"): 0.287366,
    ("synt20", (50,), 0, "Box"): 0.313624,
    ("synt20", (50,), 1, "Ball"): 0.363478,
    ("synt20", (50,), 1, "Box"): 0.404868,
    ("synt50", (256, 128), 0, "Ball"): 0.481091,
    ("synt50", (256, 128), 0, "Box"): 1.0626,
    ("synt50", (256, 128), 1, "Ball"): 0.705893,
    ("synt50", (256, 128), 1, "Box"): 1.42359,
}


@dataclass(frozen=True)
class Asked:
    """One question: which network, which row, which room."""

    data: str
    hidden: tuple[int, ...]
    row: int
    room: str
    radius: float

    @property
    def name(self) -> str:
        return f"{self.data} {'x'.join(map(str, self.hidden))} row {self.row} {self.room}"


def run_scale_networks(rows: int = 5, limit: float = 10.0, points: int = POINTS, only: list[str] | None = None) -> Any:
    """Both sides of every question, and what has to be shown of them. ``only``: names of networks, like digits-64x64."""
    questions = [
        Asked(data, hidden, row, room, radius)
        for row in range(rows)
        for data, hidden in NETWORKS
        if only is None or f"{data}-{'x'.join(map(str, hidden))}" in only
        for room, radius in ROOMS
    ]
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder)
        archive = subprocess.run(["git", "archive", BEFORE, "src"], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        sides = {
            "before": _side(before / "src", questions, limit, points),
            "after": _side(ROOT / "src", questions, limit, points),
        }
        records = []
        for asked, old, new in zip(questions, sides["before"], sides["after"], strict=True):
            records.append({**vars(asked), "before": old, "after": new})
            print(f"{asked.name:34s} first {_text(old['first_s'])} {_text(new['first_s'])} s, distance {_text(old['distance'])} "
                  f"{_text(new['distance'])}, bound {old['lower_bound']:.3f} {new['lower_bound']:.3f}, false {new['false_points']}", flush=True)  # fmt: skip
    found = summary(records, limit)
    print(found)
    return {"limit": limit, "summary": found, "failures": failures(records), "instances": records}


def failures(records: list[dict[str, Any]]) -> list[str]:
    """What must never happen: a wrong point in a region, or a bound of one side beyond a region of the other."""
    found = []
    for r in records:
        sides = r["before"], r["after"]
        best = min((s["distance"] for s in sides if s["distance"] is not None), default=np.inf)
        where = f"{r['data']} {r['hidden']} row {r['row']} {r['room']}"
        found += [f"{where}: wrong points" for s in sides if s["false_points"]]
        found += [f"{where}: a bound beyond a region" for s in sides if s["lower_bound"] > best * (1.0 + 1e-9)]
    return found


def summary(records: list[dict[str, Any]], limit: float) -> dict[str, Any]:
    """The figures of the page, for both sides. Bounds are shares of the best distance known."""
    best = [_best(r) for r in records]
    made: dict[str, Any] = {"questions": len(records), "attacked_points": sum(r["after"]["points"] for r in records)}
    made["false_points"] = sum(r["after"]["false_points"] for r in records)
    for side in ("before", "after"):
        runs = [r[side] for r in records]
        first = [s["first_s"] if s["first_s"] is not None else np.inf for s in runs]
        last = [_or(s["distance"], np.inf) for s in runs]
        made[side] = {
            "first_region_median_s": _finite(float(np.median(first))),
            "first_region_worst_s": _finite(max(first)),
            "certified_within_1_s": sum(f <= SOON for f in first),
            "certified": int(np.isfinite(last).sum()),
            "proven": sum(s["status"] == "OPTIMAL" for s in runs),
            "within_10_percent_of_best": int(sum(d <= NEAR * b for d, b in zip(last, best, strict=True))),
            "distance_to_best_mean": float(np.mean([d / b for d, b in zip(last, best, strict=True) if np.isfinite(d)] or [np.nan])),
            "bound_to_best_mean": {
                f"{moment:g} s": float(np.mean([s["bounds"][k] / b for s, b in zip(runs, best, strict=True) if np.isfinite(b)]))
                for k, moment in enumerate(MOMENTS)
                if moment <= limit
            },
        }  # fmt: skip
    made["by_network"] = [
        _of_network([r for r in records if (r["data"], r["hidden"]) == key]) for key in _networks(records)
    ]
    return made


def _of_network(records: list[dict[str, Any]]) -> dict[str, Any]:
    made = {"data": records[0]["data"], "hidden": records[0]["hidden"]}
    for side in ("before", "after"):
        runs = [r[side] for r in records]
        made[f"first_s_{side}"] = _finite(float(np.median([_or(s["first_s"], np.inf) for s in runs])))
        made[f"distance_{side}"] = [_or(s["distance"], np.inf) / _best(r) for s, r in zip(runs, records, strict=True)]
        made[f"distance_{side}"] = _finite(float(np.median(made[f"distance_{side}"])))
        made[f"bound_{side}"] = float(
            np.mean([s["lower_bound"] / _best(r) for s, r in zip(runs, records, strict=True)])
        )
    return made


def _networks(records: list[dict[str, Any]]) -> list[tuple[str, tuple[int, ...]]]:
    return list(dict.fromkeys((r["data"], r["hidden"]) for r in records))


def _best(record: dict[str, Any]) -> float:
    """The best distance known: of both sides, and of longer searches."""
    known = KNOWN.get((record["data"], tuple(record["hidden"]), record["row"], record["room"]), np.inf)
    return min(known, *(_or(record[side]["distance"], np.inf) for side in ("before", "after")))


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _text(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


# ---- one side, in a process of its own --------------------------------------------------------------------------------
def _side(source: Path, questions: list[Asked], limit: float, points: int) -> Iterator[dict[str, Any]]:
    """The records of a process that sees the product of one folder, question by question."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.scale_networks", str(limit), str(points)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as side:
        assert side.stdin is not None and side.stdout is not None
        for asked in questions:
            side.stdin.write(json.dumps(vars(asked)) + "\n")
            side.stdin.flush()
            yield json.loads(side.stdout.readline())
        side.stdin.close()


def answer_all(limit: float, points: int) -> None:
    """Read questions, write records; one line each."""
    from elbowroom import Ball, Box, Explainer, Space

    warnings.filterwarnings("ignore")
    made: dict[tuple[str, tuple[int, ...]], Any] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        key = asked["data"], tuple(asked["hidden"])
        rooms = {"Box": Box, "Ball": Ball}
        if key not in made:
            model, frame = train(*key)
            bounded = key[0] == "digits"
            space = (
                Space.from_frame(frame, scale="range")
                if bounded
                else Space.from_frame(frame, bounds="none", scale="none")
            )
            made[key] = model, frame, Explainer(model, space)
            for room in rooms.values():  # what is compiled or loaded once
                made[key][2].explain(
                    frame.iloc[7].to_numpy(), room=room(0.01), target=_target(model, frame, 7), time_limit=0.5
                )
        model, frame, explainer = made[key]
        target = _target(model, frame, asked["row"])
        room = rooms[asked["room"]](asked["radius"])
        answer = explainer.explain(frame.iloc[asked["row"]].to_numpy(), room=room, target=target, time_limit=limit)
        print(json.dumps(_record(model, answer, target, limit, points)), flush=True)


def _record(model: Any, answer: Any, target: Any, limit: float, points: int) -> dict[str, Any]:
    steps = answer.trace
    made: dict[str, Any] = {
        "status": answer.status.name,
        "seconds": answer.seconds,
        "first_s": next((s.seconds for s in steps if np.isfinite(s.best_distance)), None),
        "distance": float(answer.distance) if answer else None,
        "lower_bound": float(min(answer.lower_bound, 1e9)),
        "bounds": [_at(answer, moment) for moment in MOMENTS if moment <= limit],
        "distances": [_finite(min([s.best_distance for s in steps if s.seconds <= moment], default=np.inf)) for moment in MOMENTS],
        "points": 0,
        "false_points": 0,
    }  # fmt: skip
    if answer:
        X = hostile(model, answer.body, target, points)
        made["points"], made["false_points"] = len(X), int((model.predict(X) != target).sum())
    return made


def _at(answer: Any, moment: float) -> float:
    past = [s.lower_bound for s in answer.trace if s.seconds <= moment]
    return float(min(answer.lower_bound, 1e9)) if answer.seconds <= moment else max(past, default=0.0)


def train(data: str, hidden: tuple[int, ...], seed: int = 0) -> tuple[Any, Any]:
    """A pipeline of a scaler and a network, and the rows it was trained on."""
    import pandas as pd
    from sklearn.datasets import load_digits, make_classification
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    if data == "digits":
        X, y = load_digits(return_X_y=True)
        X = X / 16
    else:
        columns = int(data.removeprefix("synt"))
        X, y = make_classification(5000, columns, n_informative=columns // 2, random_state=seed)
        X = MinMaxScaler().fit_transform(X)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    model = make_pipeline(StandardScaler(), MLPClassifier(hidden, random_state=seed, max_iter=300))
    return model.fit(frame, y), frame


def _target(model: Any, frame: Any, row: int) -> Any:
    """The class after the one that is predicted."""
    classes = list(model.classes_)
    label = model.predict(frame.iloc[row : row + 1])[0]
    return classes[(classes.index(label) + 1) % len(classes)]


def hostile(model: Any, body: Any, target: Any, points: int) -> Any:
    """Points of a region: corners, surfaces, neighbours of the centre, and where gradient steps through the network's own
    weights end, from many starts."""
    import pandas as pd
    from tests.support.hostile import hostile_points

    rng = np.random.default_rng(0)
    found = [hostile_points(body)]
    while sum(map(len, found)) < points:
        starts = body.sample(1000, int(rng.integers(2**31)))
        for step in (1.0, 1.0, 1.0, 0.5, 0.25, 0.1):
            slope = _slope(model, starts, target)
            starts = starts + step * (_extreme(body, slope) - starts)
            found.append(starts[body.contains(starts)])
    X = np.concatenate(found)
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])


def _slope(model: Any, X: Any, target: Any) -> Any:
    """Gradients of the margin over the strongest rival, up to positive factors."""
    scaler, network = model[0], model[-1]
    hidden, active = (X - scaler.mean_) / scaler.scale_, []
    for weight, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        hidden = hidden @ weight + bias
        active.append(hidden > 0.0)
        hidden = hidden * active[-1]
    last = network.coefs_[-1]
    wanted = list(model.classes_).index(target)
    if last.shape[1] == 1:
        slope = np.broadcast_to((1.0 if wanted else -1.0) * last[:, 0], hidden.shape)
    else:
        scores = hidden @ last + network.intercepts_[-1]
        scores[:, wanted] = -np.inf
        slope = (last[:, wanted][:, None] - last[:, np.argmax(scores, axis=1)]).T
    for weight, on in zip(network.coefs_[-2::-1], active[::-1], strict=True):
        slope = (slope * on) @ weight.T
    return slope / scaler.scale_


def _extreme(body: Any, slope: Any) -> Any:
    """The corner of a box against the slope; for balls the steepest point, clipped to the limits (still inside)."""
    if body.shape.name == "BOX":
        return np.where(slope > 0.0, body.lower, np.where(slope < 0.0, body.upper, body.center))
    axes = np.where(body.moving, body.axes, 0.0)
    scaled = slope * axes
    length = np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    return np.clip(body.center - scaled / np.maximum(length, 1e-300) * axes * (1.0 - 1e-12), body.lower, body.upper)


if __name__ == "__main__":
    time.perf_counter = time.process_time
    answer_all(float(sys.argv[1]), int(sys.argv[2]))
