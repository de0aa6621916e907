"""The section about table 3 with causes."""

from __future__ import annotations

import numpy as np

from benchmarks.report.sources import made_by, read
from benchmarks.report.words import number, share, table


def causal_section() -> str:
    content = read("causal")
    if content is None:
        return ""
    found = content["instances"]
    methods = list(dict.fromkeys(f["method"] for f in found))
    lines = []
    for key in dict.fromkeys((f["data"], f["model"], f["rho"]) for f in found):
        mine = [f for f in found if (f["data"], f["model"], f["rho"]) == key]
        ours = [f for f in mine if f["method"] == "elbowroom"]
        line = [f"{key[0]} {key[1]}", f"{key[2]:g}", f"{sum(f['optimum'] is not None for f in ours)} of {len(ours)}"]
        for method in methods:
            theirs = [f for f in mine if f["method"] == method]
            ratios = [f["distance"] / f["optimum"] for f in theirs if f["valid"] and f["optimum"]]
            line += [share([f["robust"] is True for f in theirs]), share([f["valid"] for f in theirs]),
                     number(float(np.mean(ratios)) if ratios else None, "{:.2f}")]  # fmt: skip
        lines.append(line)
    head = ["model", "radius", "proven closest"]
    for method in methods:
        head += [f"{method}: robust", "valid", "distance / optimum"]
    first, second = (f"{edge['coefficient']:.3f}" for edge in content["graph"])
    return f"""## Table 3 with causes

An extension; the paper has no such table. On diabetes an action on BMI moves glucose (by {first} a unit) and one on glucose
moves insulin (by {second}), on features scaled to [0, 1]. The coefficients are least-squares slopes over the rows that measured
all three; the graph is an example and no claim about the body. The distance is the l1 length of the *action*, every column may
be acted on, and both methods minimise the same: elbowroom with `Causal(graph)` in its space, the gradient method with its
gradient taken through the action. *Robust* and *valid* as in table 3; the ratio is over valid answers to questions that
elbowroom proved closest within {content["limit"]:g} s. Two things are simpler than in the method's own causal setting: a
perturbation shifts the features that are reached and does not pass through the causes, and actions add to columns whose own
causes go on to act, so that there is one set of actions and no search over sets. With a linear model the one-step attack is exact,
so that what is compared there is the distance alone.

{table(head, lines)}

{made_by(content)}"""
