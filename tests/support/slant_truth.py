"""Linear models under covariances, causes and prices, against enumeration: several rivals, whole numbers, a category, all shapes
of rooms, limits that cut boxes.

With whole numbers and the category fixed, and within one cell of the clipped room, every row of the model is one linear form
of the centre. A norm of linear forms over the polytope that is left: a linear program (l1, linf), or, for l2, the best of all
feasible points that are nearest under some set of rows held as equations. Prices: as many columns as rows are tight are free,
all others lie at a bend, an end or the factual; all choices are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product

import numpy as np

from elbowroom import (
    AtMost,
    Ball,
    Box,
    Causal,
    Covariance,
    Diamond,
    Explainer,
    Feature,
    Group,
    Price,
    Region,
    Space,
    Status,
)
from elbowroom.models import LinearModel
from elbowroom.problem import Room, Rule
from tests.support.cell_truth import least_cost
from tests.support.hostile import attack
from tests.support.linear_problems import linear_model

FEASIBLE = 1e-9
Row = tuple[np.ndarray, float]  # a . x >= b


@dataclass(frozen=True, eq=False)
class Drawn:
    """Numbers first, then the members of the category, if there is one."""

    model: LinearModel
    space: Space
    factual: np.ndarray
    room: Room
    radius: np.ndarray  # of the numbers
    wanted: int
    numbers: int

    @property
    def rows(self) -> list[tuple[np.ndarray, float]]:
        """w . x + b >= 0 for every rival."""
        W, b = self.model.affine.weight, self.model.affine.bias
        if len(W) == 1:
            sign = 1.0 if self.wanted == 1 else -1.0
            return [(sign * W[0], sign * float(b[0]))]
        return [(W[self.wanted] - W[j], float(b[self.wanted] - b[j])) for j in range(len(W)) if j != self.wanted]

    def categories(self) -> list[np.ndarray]:
        members = self.factual.size - self.numbers
        return [np.eye(members)[i] for i in range(members)] or [np.zeros(0)]

    def parts(self) -> Iterator[tuple[np.ndarray, np.ndarray, list[Row], float]]:
        """Limits of the numbers and rows that every good centre among them obeys exactly, and the price of the category."""
        n = self.numbers
        lower, upper = self.space.lower[:n], self.space.upper[:n]
        whole = self.space.whole_center[:n]
        for category in self.categories():
            changed = bool((category != self.factual[n:]).any())
            cost = float(self.space.groups[0].weight) if changed else 0.0
            sides = []
            for f in range(n):
                if whole[f]:
                    sides.append([(v, v) for v in np.arange(lower[f], upper[f] + 1.0)])
                else:
                    inner = [lower[f] + self.radius[f], upper[f] - self.radius[f]] if self.radius[f] > 0 else []
                    edges = [lower[f], *sorted(v for v in inner if lower[f] < v < upper[f]), upper[f]]
                    sides.append(list(pairwise(edges)))
            for cell in product(*sides):
                low, high = (np.array(end) for end in zip(*cell, strict=True))
                yield low, high, [self._row(w, b, low, high, category) for w, b in self.rows], cost

    def _row(self, w: np.ndarray, b: float, low: np.ndarray, high: np.ndarray, category: np.ndarray) -> Row:
        n = self.numbers
        form, constant = w[:n].copy(), b + float(w[n:] @ category)
        match self.room:
            case Ball():
                constant -= float(np.linalg.norm(form * self.radius))
            case Diamond():
                constant -= float(np.abs(form * self.radius).max(initial=0.0))
            case _:
                for f in range(n):
                    edge = self.space.lower[f] if w[f] > 0 else self.space.upper[f]
                    cut = np.isfinite(edge) and low[f] < high[f] and abs((low[f] + high[f]) / 2 - edge) < self.radius[f]
                    if cut:
                        constant += w[f] * edge
                        form[f] = 0.0
                    else:
                        constant -= abs(w[f]) * self.radius[f]
        return form, -constant


def drawn(rng: np.random.Generator, reals: int, bounded: bool) -> Drawn:
    """A question without distances. ``bounded``: limits that cut boxes; otherwise numbers are open, for all shapes."""
    wholes, members = (int(rng.integers(0, 2)), int(rng.choice([0, 0, 2, 3]))) if rng.random() < 0.6 else (0, 0)
    n, features = reals + wholes, []
    for f in range(reals):
        weight, scale = (float(v) for v in rng.choice([0.5, 1.0, 2.0], 2))
        ends = {"lower": -4.0, "upper": 5.0} if bounded else {}
        features.append(Feature(f"x{f}", weight=weight, scale=scale, **ends))
    features += [Feature(f"x{f}", "integer", -2.0, 2.0, weight=float(rng.choice([0.5, 1.0]))) for f in range(reals, n)]
    names = tuple(f"g{i}" for i in range(members))
    features += [Feature(name, "binary") for name in names]
    groups = (Group("g", names, float(rng.uniform(0.2, 2.0))),) if members else ()
    k = int(rng.choice([1, 1, 3]))
    model = linear_model(rng.normal(size=(k, n + members)), rng.normal(size=k), tuple(f.name for f in features))
    factual = np.concatenate(
        [rng.uniform(-3, 3, reals).round(3), rng.integers(-2, 3, wholes), np.eye(max(members, 1))[0][:members]]
    )
    now = int(model.info.labels_of(model.scores(factual[None]))[0])
    wanted = int(rng.choice([c for c in range(max(k, 2)) if c != now]))
    radius = np.append(rng.choice([0.0, 0.05, 0.3, 0.8], reals), np.zeros(wholes))
    shape = Box if bounded else (Box, Ball, Diamond)[int(rng.integers(3))]
    room = shape({f"x{f}": float(radius[f]) for f in range(n)})
    return Drawn(model, Space(tuple(features), groups), factual, room, radius, wanted, n)


# ---- norms of linear forms --------------------------------------------------------------------------------------------
def least_euclidean(
    S: np.ndarray, factual: np.ndarray, low: np.ndarray, high: np.ndarray, more: list[Row], still: list[Row]
) -> float:
    """min |S (x - factual)|_2 over the polytope: the best feasible point among those nearest under some rows as equations."""
    free = np.flatnonzero(low < high)
    move = np.where(low < high, 0.0, low - factual)
    H, rest, k = S[:, free], S @ move, free.size
    rows = [(a[free], b - float(a @ (factual + move))) for a, b in more]
    for i, f in enumerate(free):
        rows += [(np.eye(k)[i], low[f] - factual[f])] if np.isfinite(low[f]) else []
        rows += [(-np.eye(k)[i], factual[f] - high[f])] if np.isfinite(high[f]) else []
    equal = [(a[free], b - float(a @ (factual + move))) for a, b in still]
    best = np.inf
    for size in range(k + 1):
        for chosen in combinations(rows, size):
            held = [*equal, *chosen]
            K, e = np.array([a for a, _ in held]).reshape(-1, k), np.array([b for _, b in held])
            system = np.block([[H.T @ H, K.T], [K, np.zeros((e.size, e.size))]])
            m = np.linalg.lstsq(system, np.concatenate([-H.T @ rest, e]), rcond=None)[0][:k]
            good = all(a @ m >= b - FEASIBLE * (1 + abs(b)) for a, b in rows)
            if good and all(abs(a @ m - b) <= FEASIBLE * (1 + abs(b)) for a, b in equal):
                best = min(best, float(np.linalg.norm(H @ m + rest)))
    return best


def _causes(rng: np.random.Generator, n: int) -> Causal:
    order, graph = rng.permutation(n), {}
    for i, j in combinations(range(n), 2):
        if rng.random() < 0.7:
            graph.setdefault(f"x{order[i]}", {})[f"x{order[j]}"] = float(rng.choice([-1.5, -0.5, 0.25, 1.0, 2.0]))
    graph = graph or {f"x{order[0]}": {f"x{order[1]}": 1.0}}
    acts = None if rng.random() < 0.4 else [f"x{f}" for f in range(n) if rng.random() < 0.7 or f == order[0]]
    return Causal(graph, acts)


def slanted(seed: int) -> str:
    """One question whose moves are linear forms of several columns; how it ended."""
    rng = np.random.default_rng([2107, seed])
    asked = drawn(rng, int(rng.integers(2, 4)), bool(rng.random() < 0.5))
    n, names = asked.numbers, tuple(f"x{f}" for f in range(asked.numbers))
    still: list[Row] = []
    if rng.random() < 0.4:
        mixed = rng.normal(size=(n, n))
        C = mixed @ mixed.T + 0.2 * np.eye(n)
        C = (C + C.T) / 2
        space, norm = replace(asked.space, covariance=Covariance(names, tuple(map(tuple, C.tolist())))), "l2"
        S = np.linalg.inv(np.linalg.cholesky(C))
    else:
        causes, norm = _causes(rng, n), str(rng.choice(["l1", "l2", "linf"]))
        space, A = replace(asked.space, causes=causes), np.zeros((n, n))
        for cause, effect, coefficient in causes.edges:
            A[int(effect[1:]), int(cause[1:])] = coefficient
        S = (space.weight / space.scale)[:n, None] * (np.eye(n) - A)
        idle = [f for f in range(n) if causes.acts is not None and names[f] not in causes.acts]
        still = [((np.eye(n) - A)[f], float((np.eye(n) - A)[f] @ asked.factual[:n])) for f in idle]
    asked = replace(asked, space=space)
    expected, now = np.inf, asked.factual[:n]
    for low, high, rows, cost in asked.parts():
        if norm == "l2":
            found = float(np.hypot(least_euclidean(S, now, low, high, rows, still), cost))
        else:
            more = [(np.append(a, 0.0), b) for a, b in rows]
            form = np.block([[S, np.zeros((n, 1))], [np.zeros((1, n)), np.full((1, 1), cost)]])
            held = [(np.append(a, 0.0), b) for a, b in still]
            found = least_cost(form, np.append(now, 0.0), norm, np.append(low, 1.0), np.append(high, 1.0), more, held)
        expected = min(expected, found)
    return _compared(asked, norm, expected, (), f"slanted, seed {seed}, {norm}")


# ---- prices -----------------------------------------------------------------------------------------------------------
def _price(rng: np.random.Generator) -> tuple[Price, Callable[[float, float], float], Callable[[float], list[float]]]:
    """A price, what it says of the value x of a column at v, in units of the weight (times 1 / scale), and its bends."""
    kind = str(rng.choice(["plain", "flat", "bent", "change", "shares", "both"]))
    change = float(rng.choice([0.3, 1.0])) if kind in ("change", "both") else 0.0
    if kind in ("shares", "both"):
        values = np.unique(rng.uniform(-4, 5, int(rng.integers(2, 6))).round(2))
        values = values if values.size > 1 else np.array([-1.0, 2.0])
        shares = np.sort(rng.uniform(0, 1, values.size)).cumsum() + np.arange(values.size) * 0.05
        average = (shares[-1] - shares[0]) / (values[-1] - values[0])

        def level(x: float) -> float:
            beyond = max(x - values[-1], 0.0) + min(x - values[0], 0.0)
            return float(np.interp(x, values, shares) + average * beyond)

        price = Price(change=change, percentiles=tuple(zip(values.tolist(), shares.tolist(), strict=True)))
        return (
            price,
            lambda now, x: abs(level(x) - level(now)) + (change if x != now else 0.0),
            lambda now: values.tolist(),
        )
    pairs = {"up": [(0.0, 1.0)], "down": [(0.0, 1.0)]}
    for way in pairs:
        if kind == "flat":
            pairs[way] = [(0.0, float(rng.choice([0.5, 1.0, 3.0])))]
        if kind == "bent":
            starts = [0.0, *np.sort(rng.uniform(0.2, 4.0, int(rng.integers(1, 3)))).round(2).tolist()]
            pairs[way] = [(s, float(rng.choice([0.3, 1.0, 2.0, 4.0]))) for s in starts]

    def paid(now: float, x: float) -> float:
        way, length = pairs["up" if x > now else "down"], abs(x - now)
        ends = [*(s for s, _ in way[1:]), np.inf]
        return sum(slope * min(max(length - s, 0.0), e - s) for (s, slope), e in zip(way, ends, strict=True))

    price = Price(up=pairs["up"], down=pairs["down"], change=change)
    jump = change
    bends = lambda now: [now + s for s, _ in pairs["up"]] + [now - s for s, _ in pairs["down"]]  # noqa: E731
    return price, lambda now, x: paid(now, x) + (jump if x != now else 0.0), bends


def priced(seed: int) -> str:
    """One question with prices of all kinds; how it ended."""
    rng = np.random.default_rng([2108, seed])
    asked = drawn(rng, int(rng.integers(1, 4)), bool(rng.random() < 0.4))
    n, space, now = asked.numbers, asked.space, asked.factual[: asked.numbers]
    made = [_price(rng) for _ in range(n)]
    asked = replace(asked, space=space.with_prices({f"x{f}": made[f][0] for f in range(n)}))
    rules: tuple[Rule, ...] = (AtMost(int(rng.integers(1, 3))),) if rng.random() < 0.2 else ()
    most = rules[0].changes if rules else np.inf  # type: ignore[attr-defined]
    weight = space.weight[:n]
    unit = np.array([1.0 if made[f][0].percentiles else 1.0 / space.scale[f] for f in range(n)])

    def cost_of(f: int, x: float) -> float:
        whole, now_ = made[f][1](now[f], x), now[f]
        jump = made[f][0].change if x != now_ else 0.0
        return float(weight[f] * ((whole - jump) * unit[f] + jump))

    expected = np.inf
    for low, high, rows, cost in asked.parts():
        if cost < expected:
            for x in _vertices(low, high, rows, [[*made[f][2](now[f]), now[f], low[f], high[f]] for f in range(n)]):
                total = cost + sum(cost_of(f, float(v)) for f, v in enumerate(x))
                if total < expected and int((x != now).sum()) + (cost > 0.0) <= most:
                    expected = total
    return _compared(asked, "l1", expected, rules, f"priced, seed {seed}")


def _vertices(low: np.ndarray, high: np.ndarray, rows: list[Row], places: list[list[float]]) -> Iterator[np.ndarray]:
    """Feasible points with as many free columns as tight rows, all others at one of their places."""
    n = low.size
    kept = [sorted({v for v in each if low[f] <= v <= high[f] and np.isfinite(v)}) for f, each in enumerate(places)]
    for size in range(min(len(rows), n) + 1):
        for free in map(list, combinations(range(n), size)):
            rest = [f for f in range(n) if f not in free]
            for tight in combinations(rows, size):
                A, b = np.array([a for a, _ in tight]).reshape(-1, n), np.array([b for _, b in tight])
                if size and abs(np.linalg.det(A[:, free])) < 1e-9:
                    continue
                for point in product(*(kept[f] for f in rest)):
                    x = np.zeros(n)
                    x[rest] = point
                    if size:
                        x[free] = np.linalg.solve(A[:, free], b - A @ x)
                    inside = (x >= low - FEASIBLE).all() and (x <= high + FEASIBLE).all()
                    if inside and all(a @ x >= b - FEASIBLE * (1 + abs(b)) for a, b in rows):
                        yield x


def _compared(asked: Drawn, norm: str, expected: float, rules: tuple[Rule, ...], said: str) -> str:
    answer = Explainer(asked.model, asked.space).explain(
        asked.factual, asked.room, asked.wanted, norm, rules=rules, time_limit=30.0
    )
    said = f"{said}, {type(asked.room).__name__}: {answer.status.name}"
    close = 1e-7 * max(1.0, expected)  # the rows of the truth hold to 1e-9
    assert answer.lower_bound <= expected + close, (said, answer.lower_bound, expected)
    if not isinstance(answer, Region):
        assert np.isinf(expected), (said, expected, answer.reason)
        assert answer.status is Status.NONE_EXISTS, (said, answer.reason)
        return "none"
    assert abs(answer.distance - expected) <= close, (said, answer.distance, expected)
    assert answer.status is Status.OPTIMAL and answer.certificate, (said, answer.gap)
    attack(lambda X: asked.model.info.labels_of(asked.model.scores(X)), answer.body, asked.wanted)
    return "found"
