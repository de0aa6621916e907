"""The closest valid centre of a small linear question, found by brute force and independently of the engine.

Discrete choices (categories, whole numbers, which columns may change) are enumerated. What is left is a question in at
most three real columns. Boxes and diamonds make it piecewise linear: the optimum lies where as many of the planes (pieces
of rows, kinks, bounds, the factual, equal costs) meet as there are columns (l1, linf), or is the projection of the factual
onto an intersection of fewer (l2); all of them are tried. Clipped balls in two columns: a sweep over the first column
with bisection in the second, zoomed in. Rounding slacks of the model are ignored: they are below 1e-13 here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, combinations, product

import numpy as np

from elbowroom.models import Decision, LinearModel
from elbowroom.problem import AtMost, Distance, LinearRule, RecourseProblem, Shape

FEASIBLE = 1e-11


def reference_distance(problem: RecourseProblem) -> float:
    """The smallest distance, or inf."""
    if problem.trouble is not None:
        return math.inf
    choices = sorted((_Choice(problem, point, free) for point, free in _discrete(problem)), key=lambda c: c.fixed_cost)
    best = math.inf
    for choice in choices:
        if choice.fixed_cost < best:
            best = min(best, choice.best())
    return best


def _discrete(problem: RecourseProblem) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All discrete parts of centres, each with the real columns that may then move."""
    space, low, high = problem.space, problem.lower, problem.upper
    grouped = space.group_of >= 0
    options: list[list[tuple[np.ndarray, tuple[float, ...]]]] = []
    for members in space.members:
        eye = np.eye(members.size)
        good = [i for i in range(members.size) if (eye[i] >= low[members]).all() and (eye[i] <= high[members]).all()]
        options.append([(members, tuple(eye[i])) for i in good])
    for f in np.flatnonzero(space.whole_center & ~grouped):
        options.append([(np.array([f]), (v,)) for v in np.arange(low[f], high[f] + 1)])
    real = np.flatnonzero(~space.whole_center & ~grouped)
    must = real[(problem.factual[real] < low[real]) | (problem.factual[real] > high[real])]
    may = np.setdiff1d(real[low[real] < high[real]], must)
    limit = min((r.changes for r in problem.rules if isinstance(r, AtMost)), default=None)
    for choice in product(*options):
        point = problem.factual.copy()
        for columns, values in choice:
            point[columns] = values
        if limit is None:
            yield point, np.union1d(must, may)
            continue
        used = int((problem.metric.moves(problem.factual, point) > 0).sum()) + must.size
        for size in {min(limit - used, may.size)} if limit >= used else ():
            for chosen in combinations(may, size):
                yield point, np.union1d(must, np.array(chosen, dtype=np.int64))


class _Choice:
    """One discrete part: min over the free real columns."""

    def __init__(self, problem: RecourseProblem, point: np.ndarray, free: np.ndarray) -> None:
        self.problem, self.point, self.free = problem, point, free
        model = problem.model
        assert isinstance(model, LinearModel)
        W, b = model.affine.weight, model.affine.bias
        t, tau = problem.target_index, problem.target.probability
        logit = 0.0 if tau is None else math.log(tau / (1 - tau))
        if model.info.decision is Decision.ARGMAX:
            rivals = [j for j in range(len(W)) if j != t]
            self.W, self.b = W[t] - W[rivals], b[t] - b[rivals] - logit
        else:
            sign = 1.0 if t == 1 else -1.0
            self.W, self.b = sign * W, sign * b - logit
        self.rules = [(r.row(problem.space), r.low, r.high) for r in problem.rules if isinstance(r, LinearRule)]
        self.factor = problem.space.weight[free] / problem.space.scale[free]
        self.low, self.high = problem.lower[free], problem.upper[free]
        self.start = problem.factual[free]
        fixed = np.delete(problem.metric.moves(problem.factual, point), free)
        self.fixed_cost = problem.distance.norm(fixed) if fixed.size else 0.0
        self.shifts: dict[bytes, list[tuple[np.ndarray, float]]] = {}

    # ---- truth ------------------------------------------------------------------------------------------------------
    def centers(self, C: np.ndarray) -> np.ndarray:
        X = np.broadcast_to(self.point, (len(C), self.point.size)).copy()
        X[:, self.free] = C
        return X

    def whole_shifts(self, w: np.ndarray) -> list[tuple[np.ndarray, float]]:
        """Whole shifts towards the bad side for a round room: (shift per column, what is left of 1)."""
        if w.tobytes() in self.shifts:
            return self.shifts[w.tobytes()]
        p, walls = self.problem, self.problem.walls
        columns = [
            f for f in np.flatnonzero(p.space.whole_room) if p.space.group_of[f] < 0 and walls.up[f] >= 1 and w[f] != 0
        ]
        caps = [self.point[f] - p.lower[f] if w[f] > 0 else p.upper[f] - self.point[f] for f in columns]
        found = []
        for steps in product(
            *(range(int(min(math.floor(walls.up[f]), c)) + 1) for f, c in zip(columns, caps, strict=True))
        ):
            z = np.array([s / walls.up[f] for s, f in zip(steps, columns, strict=True)])
            left = 1.0 - float((z**2).sum() if walls.shape is Shape.BALL else z.sum())
            if left >= 0:
                shift = np.zeros(w.size)
                shift[columns] = steps
                found.append((shift, left))
        self.shifts[w.tobytes()] = found
        return found

    def worst(self, C: np.ndarray, w: np.ndarray, b: float) -> np.ndarray:
        """The smallest w.x + b over the room, for every centre."""
        p, walls = self.problem, self.problem.walls
        X = self.centers(C)
        value = np.full(len(C), b)
        single = p.space.group_of < 0
        for g, members in enumerate(p.space.members):
            if g in walls.free_groups:
                eye = np.eye(members.size)
                good = [
                    i
                    for i in range(members.size)
                    if (eye[i] >= p.lower[members]).all() and (eye[i] <= p.upper[members]).all()
                ]
                value += w[members][good].min()
            else:
                value += X[:, members] @ w[members]
        if walls.shape is Shape.BOX:
            down = np.where(p.space.whole_room, np.floor(walls.down), walls.down)
            up = np.where(p.space.whole_room, np.floor(walls.up), walls.up)
            low, high = np.maximum(X - down, p.lower), np.minimum(X + up, p.upper)
            return value + np.minimum(w * low, w * high)[:, single].sum(axis=1)
        value += (X * w)[:, single].sum(axis=1)
        real = [
            f
            for f in np.flatnonzero(single & ~p.space.whole_room)
            if walls.up[f] > 0 and w[f] != 0 and p.lower[f] < p.upper[f]
        ]
        a, r = np.abs(w[real]), walls.up[real]
        edge = np.where(w[real] > 0, p.lower[real], p.upper[real])
        k = np.minimum(np.abs(X[:, real] - edge), r) / r  # open sides have no edge
        loss = np.full(len(C), -np.inf)
        for shift, left in self.whole_shifts(w):
            loss = np.maximum(loss, np.abs(w) @ shift + _most(a * r, k, left, walls.shape))
        return value - loss

    def valid(self, C: np.ndarray) -> np.ndarray:
        size = np.maximum(1.0, np.abs(C)).max(axis=1, initial=1.0)
        good = ((C >= self.low - FEASIBLE * size[:, None]) & (C <= self.high + FEASIBLE * size[:, None])).all(axis=1)
        for w, b in zip(self.W, self.b, strict=True):
            good &= self.worst(C, w, b) >= -FEASIBLE * size * max(1.0, float(np.abs(w).max()))
        for row, low, high in self.rules:
            value = self.centers(C) @ row
            good &= (value >= low - FEASIBLE * size) & (value <= high + FEASIBLE * size)
        return good

    def distance(self, C: np.ndarray) -> np.ndarray:
        moves = self.factor * np.abs(C - self.start)
        match self.problem.distance:
            case Distance.L1:
                return moves.sum(axis=1) + self.fixed_cost
            case Distance.L2:
                return np.sqrt(np.square(moves).sum(axis=1) + self.fixed_cost**2)
            case Distance.LINF:
                return np.maximum(moves.max(axis=1, initial=0.0), self.fixed_cost)

    # ---- search -----------------------------------------------------------------------------------------------------
    def best(self) -> float:
        n = self.free.size
        if n == 0:
            return self.fixed_cost if self.valid(np.zeros((1, 0)))[0] else math.inf
        curved = self.problem.walls.shape is Shape.BALL and np.isfinite(np.concatenate([self.low, self.high])).any()
        if curved:
            return self.sweep()
        C = self.meeting_points()
        good = C[self.valid(C)]
        return float(self.distance(good).min()) if len(good) else math.inf

    def planes(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows (h, d) of all planes h.u = d in scaled moves u = factor (c - start)."""
        n, eye, planes = self.free.size, np.eye(self.free.size), []
        for f in range(n):
            for place in (self.low[f], self.high[f], self.start[f]):
                planes.append((eye[f], self.factor[f] * (place - self.start[f])))
            for cost in (self.fixed_cost, -self.fixed_cost):
                planes.append((eye[f], cost))
            for g in range(f):
                planes += [(eye[f] - eye[g], 0.0), (eye[f] + eye[g], 0.0)]
        raw = [
            (row[self.free], limit - float(np.delete(row * self.point, self.free).sum()))
            for row, lo, hi in self.rules
            for limit in (lo, hi)
        ]
        for w, b in zip(self.W, self.b, strict=True):
            raw += list(self.pieces(w, b))
        planes += [(h / self.factor, d - float(h @ self.start)) for h, d in raw]
        usable = [(h, d) for h, d in planes if np.isfinite(d) and np.abs(h).max() > 0]
        H, d = np.array([h for h, _ in usable]).reshape(-1, n), np.array([d for _, d in usable])
        size = np.linalg.norm(H, axis=1)
        both = np.unique(np.round(np.column_stack([H, d]) / size[:, None], 14), axis=0)
        return both[:, :-1], both[:, -1]

    def pieces(self, w: np.ndarray, b: float) -> Iterator[tuple[np.ndarray, float]]:
        """Linear pieces of worst(c) = 0 and the places where they change, as h.c = d over the free columns."""
        p, walls = self.problem, self.problem.walls
        n = self.free.size
        probe = np.clip(self.start, self.low, self.high)[None]
        wf = w[self.free]
        edge = np.where(wf > 0, self.low, self.high)
        if walls.shape is Shape.BOX:
            s = np.where(wf > 0, -walls.down[self.free], walls.up[self.free])
            at_probe = np.clip(probe[0] + s, self.low, self.high)
            rest = float(self.worst(probe, w, b)[0]) - float(wf @ at_probe)
            for f in range(n):
                yield np.eye(n)[f], edge[f] - s[f]
            for kept in product((False, True), repeat=n):
                kept_array = np.array(kept)
                if np.isfinite(edge[kept_array]).all():
                    constant = np.where(kept_array, np.where(np.isfinite(edge), edge, 0.0), s)
                    yield np.where(kept_array, 0.0, wf), -rest - float(wf @ constant)
            return
        # round: w.c + b' - whole shift - sum over the capped of a cap - the best use of what is left
        fixed = [f for f in np.flatnonzero(p.space.group_of < 0) if f not in self.free]
        rest = b + float(w[fixed] @ self.point[fixed])
        for g, members in enumerate(p.space.members):
            eye = np.eye(members.size)
            good = [
                i
                for i in range(members.size)
                if (eye[i] >= p.lower[members]).all() and (eye[i] <= p.upper[members]).all()
            ]
            rest += w[members][good].min() if g in walls.free_groups else float(w[members] @ self.point[members])
        r, a, sign = walls.up[self.free], np.abs(wf), np.sign(wf)
        movable = [f for f in range(n) if r[f] > 0 and a[f] > 0]
        # real columns that cannot be centres' choices (AtMost fixed them) still move inside the room
        others = [
            f for f in np.flatnonzero((p.space.group_of < 0) & ~p.space.whole_room)
            if f not in self.free and walls.up[f] > 0 and w[f] != 0 and p.lower[f] < p.upper[f]
        ]  # fmt: skip
        for shift, left in self.whole_shifts(w):
            lost = float(np.abs(w) @ shift)
            if walls.shape is Shape.BALL:  # not clipped here
                both = [*self.free[movable], *others]
                yield wf, -(rest - lost - math.sqrt(left) * float(np.linalg.norm(w[both] * walls.up[both])))
                continue
            values = [(a[f] * r[f], None) for f in movable] + [(abs(w[f]) * walls.up[f], f) for f in others]
            for capped in chain.from_iterable(combinations(movable, k) for k in range(len(movable) + 1)):
                chosen = list(capped)
                if not np.isfinite(edge[chosen]).all():
                    continue
                for also in chain.from_iterable(combinations(others, k) for k in range(len(others) + 1)):
                    more = list(also)
                    caps = np.abs(self.point[more] - np.where(w[more] > 0, p.lower[more], p.upper[more]))
                    if not np.isfinite(caps).all():
                        continue
                    room = left - float((caps / walls.up[more]).sum())
                    h_use, d_use = np.zeros(n), room  # sum of caps / r = room
                    h_use[chosen] = sign[chosen] / r[chosen]
                    d_use += float((sign[chosen] * edge[chosen] / r[chosen]).sum())
                    if chosen:
                        yield h_use, d_use
                    for marginal in [0.0, *sorted({v for v, _ in values})]:
                        h, d = wf.copy(), -(rest - lost - float(np.abs(w[more]) @ caps))
                        h[chosen] -= wf[chosen]
                        d -= float(wf[chosen] @ edge[chosen])
                        # minus marginal (room - sum caps / r)
                        h += marginal * h_use
                        d += marginal * d_use
                        yield h, d

    def meeting_points(self) -> np.ndarray:
        n = self.free.size
        H, d = self.planes()
        found = [np.zeros((1, n))]
        for size in range(1, n + 1):
            if size < n and self.problem.distance is not Distance.L2:
                continue
            index = np.array(list(combinations(range(len(d)), size)))
            if not len(index):
                continue
            A, e = H[index], d[index]
            gram = A @ np.swapaxes(A, 1, 2)
            regular = np.abs(np.linalg.det(gram)) > 1e-10
            u = np.swapaxes(A[regular], 1, 2) @ np.linalg.solve(gram[regular], e[regular][..., None])
            found.append(u[..., 0])
        return self.start + np.concatenate(found) / self.factor

    def sweep(self) -> float:
        """Clipped balls: at most two real columns; every row is monotone in each of them."""
        if self.free.size == 1:
            return float(self.second_given(np.zeros((1, 0)))[0])
        assert self.free.size == 2
        far = 60.0 / self.factor[0]
        low, high = max(self.low[0], self.start[0] - far), min(self.high[0], self.start[0] + far)
        special = np.clip([self.start[0], low, high], low, high)
        grid = np.unique(np.concatenate([np.linspace(low, high, 401), special]))
        value = self.second_given(grid[:, None])
        best = float(value.min())
        for i in np.argsort(value)[:4]:
            if not math.isfinite(value[i]):
                continue
            left, right = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
            for _ in range(12):
                fine = np.unique(np.concatenate([np.linspace(left, right, 41), np.clip(special, left, right)]))
                fine_value = self.second_given(fine[:, None])
                j = int(np.argmin(fine_value))
                best = min(best, float(fine_value[j]))
                left, right = fine[max(j - 1, 0)], fine[min(j + 1, len(fine) - 1)]
        return best

    def second_given(self, first: np.ndarray) -> np.ndarray:
        """The smallest distance for each value of the first column, the last column at its best."""
        far = 1e4 / self.factor[-1]
        low = np.full(len(first), max(self.low[-1], self.start[-1] - far))
        high = np.full(len(first), min(self.high[-1], self.start[-1] + far))
        checks = [
            (lambda C, w=w, b=b: self.worst(C, w, b), w[self.free[-1]]) for w, b in zip(self.W, self.b, strict=True)
        ]
        for row, least, most in self.rules:
            if np.isfinite(least):
                checks.append((lambda C, row=row, v=least: self.centers(C) @ row - v, row[self.free[-1]]))
            if np.isfinite(most):
                checks.append((lambda C, row=row, v=most: v - self.centers(C) @ row, -row[self.free[-1]]))
        possible = np.ones(len(first), dtype=bool)
        for value, slope in checks:
            good_end, bad_end = (high.copy(), low.copy()) if slope >= 0 else (low.copy(), high.copy())
            at_good = value(np.column_stack([first, good_end])) >= -1e-13
            at_bad = value(np.column_stack([first, bad_end])) >= 0
            inside, outside = good_end.copy(), bad_end.copy()
            for _ in range(64):
                middle = 0.5 * inside + 0.5 * outside
                fine = value(np.column_stack([first, middle])) >= 0
                inside, outside = np.where(fine, middle, inside), np.where(fine, outside, middle)
            edge = np.where(at_bad, bad_end, inside)
            possible &= at_good
            if slope >= 0:
                low = np.where(possible, np.maximum(low, edge), low)
            else:
                high = np.where(possible, np.minimum(high, edge), high)
            possible &= low <= high
        second = np.clip(self.start[-1], np.where(possible, low, 0.0), np.where(possible, high, 0.0))
        return np.where(possible, self.distance(np.column_stack([first, second])), np.inf)


def _most(value: np.ndarray, cap: np.ndarray, budget: float, shape: Shape) -> np.ndarray:
    """max value.z over z <= cap with sum z (or sum z^2) <= budget, row by row."""
    total = np.zeros(len(cap))
    if shape is Shape.DIAMOND:
        left = np.full(len(cap), budget)
        for f in np.argsort(-value):
            z = np.minimum(cap[:, f], left)
            total += value[f] * z
            left = left - z
        return total
    capped = np.zeros(cap.shape, dtype=bool)
    for _ in range(value.size + 1):
        rest = np.maximum(budget - np.square(np.where(capped, cap, 0.0)).sum(axis=1), 0.0)
        weight = np.where(capped, 0.0, value**2).sum(axis=1)
        theta = np.sqrt(np.divide(rest, weight, out=np.zeros(len(cap)), where=weight > 0))
        capped |= cap <= theta[:, None] * value
    return (np.where(capped, cap, theta[:, None] * value) * value).sum(axis=1)
