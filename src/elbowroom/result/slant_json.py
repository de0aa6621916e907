"""Causes and covariances of a space as JSON; written where there are any, so that files without them stay as they were."""

from __future__ import annotations

from typing import Any

from elbowroom.problem.causes import Causal
from elbowroom.problem.covariance import Covariance
from elbowroom.problem.reader import Reader, number_out
from elbowroom.problem.space import Space


def slant_out(space: Space) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if space.causes is not None:
        edges = [{"cause": c, "effect": e, "coefficient": number_out(v)} for c, e, v in space.causes.edges]
        found["causes"] = {"edges": edges} | ({} if space.causes.acts is None else {"acts": list(space.causes.acts)})
    if space.covariance is not None:
        matrix = [[number_out(value) for value in row] for row in space.covariance.matrix]
        found["covariance"] = {"columns": list(space.covariance.columns), "matrix": matrix}
    return found


def causes_in(entry: Reader) -> Causal:
    edges = entry.at("edges").items()
    graph: dict[str, dict[str, float]] = {}
    for edge in edges:
        cause, effect = edge.at("cause").text(), edge.at("effect").text()
        if effect in graph.setdefault(cause, {}):
            raise edge.wrong("another edge: this one is given twice")
        graph[cause][effect] = edge.at("coefficient").number()
    acts = entry.maybe("acts")
    return Causal(graph, None if acts is None else [name.text() for name in acts.items()])


def covariance_in(entry: Reader) -> Covariance:
    columns = tuple(name.text() for name in entry.at("columns").items())
    rows = entry.at("matrix").items(len(columns))
    return Covariance(columns, tuple(tuple(v.number() for v in row.items(len(columns))) for row in rows))
