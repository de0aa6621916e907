"""Whether there is a region anywhere at all, near or far: the linear pieces of a network, one after the other.

A centre is sought or refuted by the signs of the neurons in a few scenarios (points x + s of every room). Deciding signs layer by
layer makes the network affine in x, so that a node is a set of rows over x alone, with no limit on how far away x is:

    z_q(x) > 0 (on)  or  z_q(x) < 0 (off),   margin_r(x) > 0,   and limits of columns, if there are any.

The last hidden layer's neurons that lower every margin need no sign: a column h >= z, h >= 0 takes their place. A node without a
solution is closed by exact arithmetic (`exact_rows`); if all are, no centre exists. The deepest point of a node whose signs are all
decided is a candidate, however far away it lies; a bad point of its room becomes the next scenario of that node.

Strict rows suffice: margins of a valid centre are positive in all scenarios and continuous, so that they are positive for all x close
to it, too; among these are some at which no neuron is 0 and no limit is reached. Scenarios are points of every room, as in `Scenarios`:
where a limit may be in the way both cases are tried, and beyond it the column stays at the centre's own value. What columns demand of
each other (whole numbers, categories, rules) is left out, so that nothing proven depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.models.margins import network_margins
from elbowroom.models.network import ReluNetwork
from elbowroom.numerics import EPS, Floats, Ints
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.exact_rows import DeepestPoint, ExactMap, Row, contradict, whole_numbers
from elbowroom.search.network.first_regions import FirstRegions

_ENOUGH = 2.0  # rooms: deeper points are not sought
_FLAT = 1e-9  # depths below this are worth a proof that there is none
_INSIDE = 1.0 - 1e-9  # shifts keep to this share of the room
_MOST_SCENARIOS = 24  # of one node
_MOST_SETTLED = 24  # deepest points from which a region is looked for
_A_BIT = 1e-3  # of an average radius: what rows need at least, so that deepest points lie inside
_SECONDS = 0.3  # nominally, for a verdict on a candidate
_SMALLEST_SLACK = 1e-200  # smaller ones are left out: they would only lengthen the numbers


@dataclass(frozen=True, eq=False)
class _Lines:
    """z_q(x) > 0 as rows, and about as numbers: matrix x + offset, each in units of its largest coefficient."""

    on: tuple[Row, ...]
    off: tuple[Row, ...]
    matrix: Floats
    offset: Floats

    @classmethod
    def of(cls, value: ExactMap, radius: Floats) -> _Lines:
        on, off, matrix = list[Row](), list[Row](), np.zeros((len(value.offset), radius.size))
        for q, (line, constant) in enumerate(zip(value.matrix, value.offset, strict=True)):
            numbers = {k: int(v) for k, v in enumerate(line) if v}
            on.append(Row.of(numbers, int(constant), radius=radius))
            off.append(on[-1].negative())
            matrix[q, list(on[-1].columns)] = on[-1].floats
        return cls(tuple(on), tuple(off), matrix, np.array([row.at for row in on]))


@dataclass(frozen=True, eq=False)
class _Node:
    """Rows so far; the present scenario's signal and the signs of its present layer (1 on, 0 off, -1 undecided)."""

    rows: tuple[Row, ...]
    width: int
    x: Floats | None  # satisfies the rows, about; None: not known
    shift: Floats
    number: int  # of scenarios
    kinks: tuple[int, ...]  # columns whose shift may meet a limit
    layer: int
    value: ExactMap | None  # z of the layer
    lines: _Lines | None
    signs: Ints

    def changed(self, **what: object) -> _Node:
        return replace(self, **what)  # type: ignore[arg-type]


class Everywhere:
    """The tree over signs; ``run`` goes on where it stopped."""

    def __init__(self, search: NetworkSearch, regions: FirstRegions) -> None:
        self.search, self.regions, self.problem = search, regions, search.problem
        problem = self.problem
        assert isinstance(problem.model, ReluNetwork)
        margins = network_margins(problem.model, problem.target_index, problem.target.need)
        slack = np.where(margins.slack > _SMALLEST_SLACK, margins.slack, 0.0)
        self.weights = [whole_numbers(layer.weight) for layer in margins.layers]
        self.biases = [whole_numbers(layer.bias) for layer in margins.layers]
        self.slack = whole_numbers(-slack) if slack.any() else None
        self.last = len(self.weights) - 2  # hidden layer
        self.lowers = (margins.layers[-1].weight <= 0.0).all(
            axis=0
        )  # neurons of the last hidden layer that need no sign
        first = margins.layers[0]
        self.shifts = not (first.error_slope < EPS * np.abs(first.weight)).any()
        low, high = problem.centers
        self.free = np.flatnonzero(low < high)
        walls = np.maximum(problem.walls.up, problem.walls.down)[self.free]
        radius = np.where(np.isfinite(walls), walls, 0.0)
        self.radius = radius + _A_BIT * (radius.mean() if radius.any() else 1.0)
        self.program = DeepestPoint(_ENOUGH)
        self.unproven = self.settled = 0
        grouped = np.zeros(low.size, dtype=bool)
        for members in problem.space.members:
            grouped[members] = True
        self.still = grouped | problem.space.whole_room  # columns that scenarios leave alone
        start = search.moves.center(search.moves.low)[self.free]
        root = self._scenario((*self._limits(low, high),), np.zeros(low.size), 0, start)
        self.stack = [root]

    def run(self, programs: int) -> bool:
        """So many more programs, at most; True if there is nothing left to look at: a region was found, or none exists, which is
        then proven."""
        search, until = self.search, self.program.programs + programs
        while self.stack and search.best is None:
            if search.clock.expired or self.program.programs >= until:
                return False
            node = self.stack.pop()
            solved = node if node.x is not None else self._solved(node)
            if solved is not None:
                self.stack += self._children(solved)
        if search.best is None and not self.unproven:
            search.prove(np.inf)
        return search.best is not None or not self.unproven

    # ---- nodes ----------------------------------------------------------------------------------------------------
    def _solved(self, node: _Node) -> _Node | None:
        """The node with a point of it; None if it is proven that there is none."""
        depth, x, multipliers = self.program.solve(node.rows, node.width, self.search.clock.remaining)
        if not depth > _FLAT and contradict(node.rows, multipliers):
            return None
        if x is None or not depth > -_FLAT:
            self.unproven += 1  # within rounding of empty: given up
            return None
        return node.changed(x=x)

    def _limits(self, low: Floats, high: Floats) -> Iterator[Row]:
        for k, f in enumerate(self.free):
            for bound, sign in ((low[f], 1.0), (high[f], -1.0)):
                if np.isfinite(bound):
                    yield self._affine_row({k: sign}, -sign * float(bound))

    def _affine_row(self, factors: dict[int, float], constant: float) -> Row:
        numbers, _ = whole_numbers(np.array([*factors.values(), constant]))
        return Row.of(dict(zip(factors, numbers[:-1].tolist(), strict=True)), int(numbers[-1]), radius=None)

    def _scenario(
        self, rows: tuple[Row, ...], shift: Floats, number: int, x: Floats | None, width: int | None = None
    ) -> _Node:
        """A node at the beginning of a further scenario."""
        lower, upper = self.problem.lower, self.problem.upper
        kinks = tuple(int(f) for f in np.flatnonzero(shift) if np.isfinite(upper[f] if shift[f] > 0.0 else lower[f]))
        node = _Node(
            rows,
            self.free.size if width is None else width,
            x,
            shift,
            number + 1,
            kinks,
            0,
            None,
            None,
            np.zeros(0, dtype=np.int64),
        )
        return node if kinks else self._first_layer(node)

    def _first_layer(self, node: _Node) -> _Node:
        point = ExactMap.columns(self.problem.centers[0], node.shift, self.free)
        return self._entered(node, point, 0)

    def _entered(self, node: _Node, signal: ExactMap, layer: int) -> _Node:
        value = signal.then(self.weights[layer], self.biases[layer])
        signs = np.full(len(value.offset), -1, dtype=np.int64)
        return node.changed(layer=layer, value=value, lines=_Lines.of(value, self.radius), signs=signs)

    def _children(self, node: _Node) -> list[_Node]:
        if node.kinks:
            return self._at_a_limit(node)
        if node.layer > self.last:
            return self._candidate(node)
        undecided = node.signs < 0
        if node.layer == self.last:
            undecided &= ~self.lowers
        if not undecided.any():
            return [self._layer_done(node)]
        assert node.lines is not None and node.x is not None
        lines = node.lines
        z = lines.matrix @ node.x[: self.free.size] + lines.offset
        q = int(np.flatnonzero(undecided)[np.argmax(np.abs(z[undecided]))])
        children = []
        for on in (z[q] <= 0.0, z[q] > 0.0):  # the side of the point is looked at first
            signs, row = node.signs.copy(), lines.on[q] if on else lines.off[q]
            signs[q] = int(on)
            if row.columns:
                side = node.x if on == (z[q] > 0.0) and abs(z[q]) > _FLAT else None
                children.append(node.changed(rows=(*node.rows, row), signs=signs, x=side))
            elif on == (lines.on[q].constant > 0):  # it does not depend on x
                children.append(node.changed(signs=signs))
        return children

    def _at_a_limit(self, node: _Node) -> list[_Node]:
        """The first column whose shift may meet a limit: it does not, or the column stays where the centre is."""
        f, kinks = node.kinks[0], node.kinks[1:]
        limit = float(self.problem.upper[f] if node.shift[f] > 0.0 else self.problem.lower[f])
        sign = 1.0 if node.shift[f] > 0.0 else -1.0
        k = int(np.flatnonzero(self.free == f)[0]) if f in self.free else -1
        still = node.shift.copy()
        still[f] = 0.0
        children = []
        numbers, _ = whole_numbers(np.array([limit, node.shift[f], 1.0, self.problem.centers[0][f] if k < 0 else 0.0]))
        room = int(sign) * int(numbers[0] - numbers[1] - numbers[3])  # times the power of two: what is left for x
        for fits, shift in ((1, node.shift), (-1, still)):
            row = Row.of({k: -int(sign) * fits * int(numbers[2])} if k >= 0 else {}, fits * room, strict=k >= 0)
            if k < 0 and fits * room < 0:
                continue
            child = node.changed(rows=(*node.rows, row) if k >= 0 else node.rows, kinks=kinks, shift=shift, x=None)
            children.append(child if kinks else self._first_layer(child))
        return children

    def _layer_done(self, node: _Node) -> _Node:
        assert node.value is not None
        if node.layer < self.last:
            return self._entered(node, node.value.masked(node.signs == 1), node.layer + 1)
        return self._with_margins(node)

    def _with_margins(self, node: _Node) -> _Node:
        """All signs of a scenario are decided: rows for its margins, with columns for neurons that only lower them."""
        assert node.value is not None
        rows, width, value = list(node.rows), node.width, node.value
        own: dict[int, int] = {}
        for q in np.flatnonzero((node.signs < 0) & self.lowers):
            numbers = {k: -int(v) for k, v in enumerate(value.matrix[q]) if v}
            one = 1 << -value.exponent if value.exponent < 0 else 1
            own[int(q)] = width
            constant = -int(value.offset[q])
            if value.exponent > 0:
                numbers, constant = {k: v << value.exponent for k, v in numbers.items()}, constant << value.exponent
            rows.append(Row.of({**numbers, width: one}, constant, strict=False))
            rows.append(Row.of({width: 1}, 0, strict=False))
            width += 1
        out = value.masked(node.signs == 1).then(self.weights[-1], self.biases[-1])
        if self.slack is not None:
            identity = np.array(
                [[int(i == j) for j in range(len(out.offset))] for i in range(len(out.offset))], dtype=object
            )
            out = out.then((identity, 0), self.slack)
        weight, power = self.weights[-1]
        shift = power - out.exponent  # of the last weights, against the rows of the margins
        for r in range(len(out.offset)):
            numbers = {k: int(v) for k, v in enumerate(out.matrix[r]) if v}
            for neuron, column in own.items():
                if weight[r, neuron]:
                    numbers[column] = int(weight[r, neuron]) << max(shift, 0)
            constant = int(out.offset[r])
            if shift < 0:
                numbers = {k: v << -shift if k < self.free.size else v for k, v in numbers.items()}
                constant <<= -shift
            rows.append(Row.of(numbers, constant, radius=self.radius))
        return node.changed(
            rows=tuple(rows), width=width, x=None, layer=self.last + 1, signs=np.zeros(0, dtype=np.int64)
        )

    # ---- candidates -----------------------------------------------------------------------------------------------
    def _candidate(self, node: _Node) -> list[_Node]:
        """Good in all scenarios so far: an answer, or a further scenario that is bad there."""
        search, moves = self.search, self.search.moves
        assert node.x is not None
        x = self.problem.centers[0].copy()
        x[self.free] = node.x[: self.free.size]
        center = moves.center(moves.of_center(np.clip(x, *self.problem.centers)))
        if self.settled < _MOST_SETTLED:
            self.settled += 1
            self.regions.offer(moves.of_center(center), _SECONDS)
            if search.best is None:
                self.regions.settle(moves.of_center(center))
        if search.best is not None:
            return []
        self.regions.penalty.attack(center)
        shift = self._worst_shift(center)
        if shift is None or node.number >= _MOST_SCENARIOS:
            self.unproven += 1
            return []
        return [self._scenario(node.rows, shift, node.number, node.x, node.width)]

    def _worst_shift(self, center: Floats) -> Floats | None:
        """A shift within every room whose point is bad at a centre."""
        if not self.shifts:
            return None
        walls, pool = self.problem.walls, self.regions.penalty.pool
        S = np.where(self.still, 0.0, pool.shift)
        axes = np.where(S > 0.0, walls.up, walls.down)
        ratios = np.divide(S, axes, out=np.zeros_like(S), where=axes > 0.0)
        S = np.where((axes > 0.0) & np.isfinite(axes), S, 0.0)
        sizes = np.array([walls.shape.distance.norm(ratio) for ratio in ratios])
        S = S * np.where(sizes > _INSIDE, _INSIDE / np.maximum(sizes, _INSIDE), 1.0)[:, None] * _INSIDE
        Y = np.clip(center + S, self.problem.lower, self.problem.upper)
        margin = self.search.network.worst(Y)
        worst = int(np.argmin(margin))
        return S[worst] if margin[worst] < 0.0 and S[worst].any() else None
