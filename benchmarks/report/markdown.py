"""docs/results.md, section by section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.cases import ALL, NORMS, RADII
from benchmarks.cells import PAPER_INSTANCES
from benchmarks.data import PAPER
from benchmarks.figures import FIGURES
from benchmarks.figures.speed import paper_seconds
from benchmarks.paper import summary
from benchmarks.published import LIMIT_SECONDS, paper_cells, rows
from benchmarks.report.causal import causal_section
from benchmarks.report.control import control_section
from benchmarks.report.open_balls import asked_again
from benchmarks.report.people import people_section
from benchmarks.report.proofs import proofs_section
from benchmarks.report.retrained import retrained_section
from benchmarks.report.scale import scale_section
from benchmarks.report.sources import instances, made_by, read
from benchmarks.report.words import number, pair, share, stops, table
from benchmarks.statistics import SOLVED, CellStatistics, by_cell

TABLE_OF_NORM = {"linf": 1, "l2": 2}
NAME_OF_NORM = {"linf": "boxes (linf)", "l2": "balls (l2)"}


def results_page(figures: Sequence[str]) -> str:
    parts = [
        INTRODUCTION,
        _short(),
        *_tables_1_and_2(),
        _table_3(),
        causal_section(),
        _table_4(),
        _audit(),
        control_section(),
        people_section(),
        retrained_section(),
        scale_section(),
        proofs_section(),
        *_figures(figures),
        _others(),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


INTRODUCTION = """# Results
<!-- Written by `python -m benchmarks report` from the JSON files in benchmarks/results. Do not edit. -->

The experiments of the paper (Maragno et al., *Finding regions of counterfactual explanations via robust optimization*),
repeated with this package, with the paper's printed numbers beside ours. The paper's protocol: every feature scaled to
[0, 1], models of scikit-learn trained on all rows, factuals = rows 0 to 19, the region must get the other class, l1
distance, no bounds. The paper's numbers come from another machine (Apple M1 Pro, 1000 s per instance) and another draw of
20 rows; they show orders of magnitude, not a race.

What is counted here and nowhere else: **false points**. Every region is attacked with its corners, every threshold inside
it with its float neighbours, float32 round trips, points of its surface and (networks) gradient attacks; each point
is labelled by the model object's own `predict`."""


# ---- tables 1 and 2 -----------------------------------------------------------------------------------------------------
def _short() -> str:
    records = instances()
    if not records:
        return "## In short\n\nThe 4,320 instances have not been run here yet: `python -m benchmarks paper`."
    found = summary(records)
    stopped = [r for r in records if r["status"] not in SOLVED]
    cells = [(ours, paper_cells()[key]) for key, ours in by_cell(records).items()]
    early = sum(paper.early_stops for _, paper in cells)
    ratios = [paper_seconds(paper.seconds, paper.early_stops) / ours.seconds[0] for ours, paper in cells]
    picture = "\n\n![Mean seconds per cell: the paper's against ours](images/results/speed.png)"
    lines = [
        ["instances", f"{found['instances']:,} of 4,320", f"{found['instances']:,}"],
        ["proven optimal", f"{found['optimal']:,}", f"{found['instances'] - early:,}"],
        ["early stops", f"{found['early_stops']:,}", f"{early:,} (at {LIMIT_SECONDS:g} s)"],
        ["false points", f"{found['false_points']:,} of {found['hostile_points']:,} hostile points", "not reported"],
        ["median time", f"{found['median_ms']:.1f} ms", "-"],
        ["longest time", f"{found['worst_s']:.1f} s", f"{LIMIT_SECONDS:g} s"],
        ["mean time of a cell, the paper's / ours", f"median {np.median(ratios):,.0f}, least {min(ratios):,.0f}", ""],
    ]
    text = "## In short\n\n" + table(["", "elbowroom", "the paper"], lines) + picture
    if stopped:
        text += f"\n\n{_stopped(stopped)}" + (f"\n\n{again}" if (again := asked_again()) else "")
    return (
        text
        + "\n\nSeconds are wall time of one call, one thread, after the model was read; the paper's early stops count as 1000 s.\n"
    )


def _stopped(records: list[dict[str, Any]]) -> str:
    lines = [
        [r["data"], r["model"] + ("" if r["param"] is None else f" {r['param']}"), r["norm"], f"{r['rho']:g}", str(r["row"]),
         r["status"], "-" if r.get("gap") is None else f"{100 * r['gap']:.3g} %"]
        for r in records
    ]  # fmt: skip
    head = ["data", "model", "norm", "radius", "row", "status", "gap"]
    return f"Early stops, each with its proven gap (all regions are certified):\n\n{table(head, lines, left=3)}"


def _tables_1_and_2() -> list[str]:
    cells, parts = by_cell(instances()), []
    for norm in NORMS:
        made = [
            made_by(c) for c in (read(name) for name in PAPER_INSTANCES if name != f"paper-trees-{_other(norm)}") if c
        ]
        if not made:
            continue
        parts.append(
            f"## Table {TABLE_OF_NORM[norm]}: {NAME_OF_NORM[norm]}\n\nMean (standard error) over 20 instances. Ours: nodes of "
            "the search, the paper's: iterations of its algorithm (of solved instances only). Early stops with the mean "
            "certified radius; `gap` is the largest proven gap (distance - lower bound) / distance of the cell; "
            "`false` counts false points among hostile ones."
        )
        for rho in RADII:
            for data in PAPER:
                chosen = [(case.label, cells.get((norm, rho, case.label, data))) for case in ALL]
                present = [(label, cell) for label, cell in chosen if cell is not None]
                if present:
                    parts.append(_cell_table(norm, rho, data, present))
        parts.append("\n".join(dict.fromkeys(made)))
    return parts


def _other(norm: str) -> str:
    return "l2" if norm == "linf" else "linf"


def _cell_table(norm: str, rho: float, data: str, cells: list[tuple[str, CellStatistics]]) -> str:
    lines = []
    for label, cell in cells:
        theirs = paper_cells()[norm, rho, label, data]
        lines.append(
            [
                label,
                pair(*cell.seconds, 3), pair(theirs.seconds, theirs.seconds_error, 2),
                pair(*cell.iterations, 1), pair(theirs.iterations, theirs.iterations_error, 2),
                stops(cell.early_stops, cell.stopped_radius), stops(theirs.early_stops, theirs.stopped_radius),
                number(cell.worst_gap, "{:.1e}"), f"{cell.false_points} / {cell.hostile_points:,}",
            ]
        )  # fmt: skip
    head = [
        "model",
        "time, s",
        "paper: time, s",
        "nodes",
        "paper: iterations",
        "early stops",
        "paper: early stops",
        "gap",
        "false",
    ]
    return f"### {data}, radius {rho:g}\n\n{table(head, lines)}"


# ---- tables 3 and 4 -----------------------------------------------------------------------------------------------------
def _table_3() -> str:
    content = read("baseline")
    if content is None:
        return ""
    printed = {(r["data"], r["model"], float(r["rho"])): r for r in rows("baseline")}
    methods = list(dict.fromkeys(f["method"] for f in content["instances"]))
    lines = []
    for key, paper in printed.items():
        line = [f"{key[0]} {key[1]}", f"{key[2]:g}"]
        for method in methods:
            mine = [f for f in content["instances"] if (f["data"], f["model"], f["rho"], f["method"]) == (*key, method)]
            ratios = [f["distance"] / f["optimum"] for f in mine if f["distance"] is not None and f["optimum"]]
            line += [share([f["robust"] is True for f in mine]), share([f["valid"] for f in mine]),
                     number(float(np.mean(ratios)) if ratios else None, "{:.2f}")]  # fmt: skip
        line += [
            f"{paper['baseline_robust']} %",
            f"{paper['baseline_valid']} %",
            f"{paper['paper_robust']} %",
            f"{paper['paper_valid']} %",
        ]
        lines.append(line)
    head = ["model", "radius"]
    for method in methods:
        head += [f"{method}: robust", "valid", "distance / optimum"]
    head += ["paper's run of Dominguez-Olmedo: robust", "valid", "paper's own: robust", "valid"]
    return f"""## Table 3: against the gradient method

Ten instances per line, l2 balls. *Valid*: the model's `predict` flips at the centre. *Robust*: the whole ball of the radius
around the centre is proven to have the wanted class; *not robust*: a point of the other class inside it is known. The
gradient method of Dominguez-Olmedo et al. (2022) is rebuilt in `benchmarks/baselines/gradient.py` with its authors' default
settings (Adam, step {content["settings"]["step"]:g}, weight of the distance from {content["settings"]["weight"]:g} with decay
{content["settings"]["decay"]:g}, {content["settings"]["rounds"]} x {content["settings"]["steps"]} steps), and with a finer step. A coarse
step overshoots: its answers are robust because they are far away. A fine step stops where the method's own one-step attack
is content, which is not where the ball is good.

{table(head, lines)}

{made_by(content)}"""


def _table_4() -> str:
    content = read("accuracy")
    if content is None:
        return ""
    printed = {(r["data"], r["part"], r["model"]): r["accuracy"] for r in rows("accuracy")}
    found = {(r["data"], r["model"]): r for r in content["instances"]}
    lines = []
    for case in ALL:
        line = [case.label]
        for data in PAPER:
            mine = found.get((data, case.label))
            line += ["-"] * 3 if mine is None else [f"{mine['train']:.2f} ({printed[data, 'train', case.label]})",
                                                    f"{mine['test']:.2f} ({printed[data, 'test', case.label]})",
                                                    f"{mine['all']:.2f}"]  # fmt: skip
        lines.append(line)
    head = ["model", *(f"{data}: {part}" for data in PAPER for part in ("train", "test", "all rows"))]
    return f"""## Table 4: accuracy of the models

In brackets the paper's numbers. The paper does not state its split; ours is 80 % to 20 %, stratified, `random_state=0`. *All
rows*: the models of tables 1 and 2, trained and measured on all rows.

{table(head, lines)}

{made_by(content)}"""


# ---- audit and figures --------------------------------------------------------------------------------------------------
def _audit() -> str:
    content = read("audit")
    if content is None:
        return ""
    lines = [
        [f"{r['data']} {r['model']}", r["norm"], f"{r['rho']:g}", r["method"], f"{r['valid']} of {r['asked']}", f"{r['robust']} of {r['asked']}",
         f"{number(r['radius_share'], '{:.3f}')} ({number(r['least_radius_share'], '{:.3f}')})",
         number(r["distance_ratio"], "{:.3f}"), number(r["seconds"], "{:.4f}")]
        for r in content["table"]
    ]  # fmt: skip
    head = [
        "model",
        "norm",
        "radius",
        "method",
        "valid",
        "robust",
        "true radius / radius: mean (least)",
        "distance / optimum",
        "seconds",
    ]
    return f"""## Audit: what is true about the answers

Centres from several methods on the same questions. *Valid* and *robust* as in table 3; the true radius is the largest proven
one around the centre; the optimum is the proven distance of the closest robust centre. treecf and DiCE do not look for rooms
at all: what they lose is the price of a plain counterfactual, and a ratio below 1 is the distance that robustness costs.
No answer within the time limit counts as not valid.
Centres of any other method can be judged too: `python -m benchmarks audit --centers FILE` (a CSV file with the columns
method, data, model, norm, rho, row, seconds, x0, x1, ...).

{table(head, lines, left=4)}

{made_by(content)}"""


def _figures(drawn: Sequence[str]) -> list[str]:
    parts = ["## Figures"] if set(drawn) - {"speed"} else []
    for entry in FIGURES:
        content = read(entry.result)
        if entry.name in drawn and content is not None:
            parts.append(
                f"### {entry.title}\n\n![{entry.title}](images/results/{entry.name}.png)\n\n{entry.caption} "
                f"([SVG](images/results/{entry.name}.svg))\n\n{made_by(content)}"
            )
    return parts


def _others() -> str:
    """Every other stored result: which command made it, and its summary."""
    lines = []
    for name in OTHERS:
        content = read(name)
        if content is not None:
            found = content.get("summary", {})
            said = ", ".join(
                f"{k.replace('_', ' ')} {_plain(v)}" for k, v in found.items() if not isinstance(v, (dict, list))
            )
            lines.append([f"`{content['environment']['command']}`", said or "see the file", f"results/{name}.json"])
    return "## Further runs\n\n" + table(["command", "summary", "file"], lines, left=3) if lines else ""


OTHERS = ("agreement", "heuristic", "kept", "promises", "brute", "boxes", "diamonds", "networks-bounded", "networks-large", "networks-control", "peers",
          "realistic", "reuse", "startup")  # fmt: skip


def _plain(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
