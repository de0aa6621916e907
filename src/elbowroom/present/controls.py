"""What the page lets a reader move: one control per feature that has room or has to change, and the sets that are certified.

The page decides by the numbers given here, and they are those of the certified bodies, float by float: an end of a slider
is the end of the region, not of its rounded text. Columns without a control are held at the centre of the region shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from elbowroom.numerics import Bools, Floats
from elbowroom.present.account import MISSING, Account, Line, Sort, category_names
from elbowroom.present.outcomes import promise, spoken
from elbowroom.problem.body import Body
from elbowroom.problem.features import Feature
from elbowroom.problem.kinds import Direction
from elbowroom.problem.shapes import is_round
from elbowroom.result.region import Region
from elbowroom.result.standing import choices_of
from elbowroom.result.widening import Widening
from elbowroom.visible import named

NEAR_LEFT: Final = 0.24  # of the bar: a label beside a mark needs about so much of a narrow one
YES_NO: Final = ("no", "yes")


@dataclass(frozen=True)
class Label:
    """A text at a bar: where it is, in percent, and which end of it stands there."""

    text: str
    at: float
    anchor: str


@dataclass(frozen=True)
class Bar:
    """The marks of one line on its axis. ``now`` is None for a number that is missing in the row."""

    low: float
    high: float
    center: float
    now: float | None
    axis_low: float
    axis_high: float

    def at(self, value: float) -> float:
        """The place of a value in percent of the bar."""
        share = (value - self.axis_low) / (self.axis_high - self.axis_low)
        return round(100.0 * min(max(share, 0.0), 1.0), 3)

    @property
    def width(self) -> float:
        return round(max(self.at(self.high) - self.at(self.low), 0.6), 3)

    def ends(self, line: Line) -> list[Label]:
        """The ends of the certified interval above the bar: beside it where there is place, else as one text."""
        left, right = self.at(self.low), self.at(self.high)
        if line.open_text:
            return [_beside(line.open_text, (left + right) / 2.0)]
        if line.low == line.high:
            return [_beside(line.low, left)]
        if left >= 100 * NEAR_LEFT and right <= 100 * (1 - NEAR_LEFT):
            return [Label(line.low, left, "end"), Label(line.high, right, "start")]
        middle = (left + right) / 2.0
        return [_beside(f"{line.low} to {line.high}", left if middle < 50 else right if middle > 50 else middle)]

    def below(self, line: Line, unit_less: Sequence[str]) -> list[Label]:
        """Under the bar: the value now, and the ends of the axis where that leaves place."""
        labels = [] if self.now is None else [_beside(f"now {line.factual}", self.at(self.now))]
        free_left = self.now is None or self.at(self.now) > 40
        free_right = self.now is None or self.at(self.now) < 60
        if free_left:
            labels.append(Label(unit_less[0], 0.0, "start"))
        if free_right:
            labels.append(Label(unit_less[1], 100.0, "end"))
        return labels


def _beside(text: str, at: float) -> Label:
    """A label that stays inside the bar: flushed to the side that it is near."""
    if at < 100 * NEAR_LEFT:
        return Label(text, 0.0 if at < 6 else at, "start")
    if at > 100 * (1 - NEAR_LEFT):
        return Label(text, 100.0 if at > 94 else at, "end")
    return Label(text, at, "middle")


@dataclass(frozen=True)
class Control:
    """One line that can be moved: a number (``bar``) or a choice (``options``). ``columns`` are its inner columns."""

    number: int  # its place among the controls of the page
    columns: tuple[int, ...]
    bar: Bar | None
    options: tuple[tuple[int, str, bool], ...]  # what may be chosen: its place, its name, whether it is certified
    whole: bool
    decimals: int | None
    now: float | None  # None: missing
    why_not_beyond: str  # which way it may go, for values that it cannot have
    floor: float
    ceiling: float

    def value_in(self, point: Floats) -> float:
        """Where a point of the model's inputs puts this control."""
        return float(np.argmax(point[list(self.columns)])) if len(self.columns) > 1 else float(point[self.columns[0]])

    def allowed(self, body: Body) -> list[int]:
        """Choices that lie in a body."""
        columns = np.array(self.columns)
        if len(columns) > 1:
            return [int(i) for i in np.flatnonzero(choices_of(body, columns))]
        low, high = float(body.lower[columns[0]]), float(body.upper[columns[0]])
        return [i for i in range(len(YES_NO)) if low <= i <= high]

    def data(self, body: Body) -> dict[str, Any]:
        """What the page knows of it."""
        if self.bar is None:
            return {"center": self.value_in(body.center), "now": self.now}
        rest = {
            "whole": self.whole,
            "decimals": self.decimals,
            "floor": _finite(self.floor),
            "ceiling": _finite(self.ceiling),
            "direction": self.why_not_beyond,
        }  # what is not said is not so; the centre stands in the first set
        said = {name: value for name, value in rest.items() if value is not None and value is not False and value != ""}
        return {"now": self.now, "axis": [self.bar.axis_low, self.bar.axis_high], **said}


def controls_of(account: Account) -> tuple[Control | None, ...]:
    """One entry per line of the account, in its order; None for what is held."""
    region = account.shown
    found: list[Control | None] = []
    number = 0
    for line, columns in zip(account.lines, _columns(region), strict=True):
        if line.absent or line.is_still:
            found.append(None)
            continue
        found.append(_control(region, line, columns, number))
        number += 1
    return tuple(found)


def _columns(region: Region) -> Iterator[tuple[int, ...]]:
    """The inner columns of each line, in the order of the account."""
    told: set[int] = set()
    for f, g in enumerate(map(int, region.space.group_of)):
        if g < 0:
            yield (f,)
        elif g not in told:
            told.add(g)
            yield tuple(int(m) for m in region.space.members[g])


def _control(region: Region, line: Line, columns: tuple[int, ...], number: int) -> Control:
    body, f = region.body, columns[0]
    feature = region.space.features[f]
    filled = feature.name in region.filled
    if line.sort in (Sort.CATEGORY, Sort.YES_NO):
        now = _chosen(region.factual_values, columns)
        control = Control(number, columns, None, (), True, None, None if filled else now, "", 0.0, 0.0)
        inside, names = control.allowed(body), _names(region, line, columns)
        possible = [i for i in range(len(names)) if i in inside or i == now or _is_possible(region, columns, i)]
        options = tuple((i, names[i], i in inside) for i in possible)
        return Control(number, columns, None, options, True, None, control.now, "", 0.0, 0.0)
    factual = None if filled else float(region.factual_values[f])
    floor, ceiling = _possible(feature, factual)
    bar = _bar(region, f, line, factual, floor, ceiling)
    whole = bool(body.whole[f])
    return Control(number, columns, bar, (), whole, feature.decimals, factual, line.note, floor, ceiling)


def _chosen(values: Floats, columns: tuple[int, ...]) -> float:
    return float(np.argmax(values[list(columns)])) if len(columns) > 1 else float(values[columns[0]])


def _names(region: Region, line: Line, columns: tuple[int, ...]) -> Sequence[str]:
    if line.sort is Sort.YES_NO:
        return YES_NO
    group = region.space.groups[int(region.space.group_of[columns[0]])]
    labels = group.labels or category_names(group.name, group.members)
    return [MISSING if label is None else named(label) for label in labels]


def _is_possible(region: Region, columns: tuple[int, ...], choice: int) -> bool:
    """May the row have this choice at all? No value ever turns missing, and bounds rule out categories."""
    if len(columns) == 1:
        return bool(region.space.lower[columns[0]] <= choice <= region.space.upper[columns[0]])
    group = region.space.groups[int(region.space.group_of[columns[0]])]
    return choice != group.missing_member and bool(region.space.upper[columns[choice]] == 1.0)


def _possible(feature: Feature, factual: float | None) -> tuple[float, float]:
    """The values that a feature may have: its bounds, and from the value now on if it goes one way."""
    low, high = float(feature.lower), float(feature.upper)
    if factual is None:
        return low, high
    if feature.direction is Direction.INCREASING:
        low = max(low, factual)
    if feature.direction is Direction.DECREASING:
        high = min(high, factual)
    return low, high


def _bar(region: Region, f: int, line: Line, factual: float | None, floor: float, ceiling: float) -> Bar:
    """The value now, the interval, and as much again beyond it, as far as values are possible: an axis on which the edge
    can be seen and passed. Ends so far away that they are not stated are drawn where the account draws them."""
    body = region.body
    low, high, center = float(body.lower[f]), float(body.upper[f]), float(body.center[f])
    if line.extent is not None:
        low, high = line.extent.low, line.extent.high
    away = 0.0 if factual is None else abs(center - factual)
    pad = max(high - low, 0.25 * away) or float(region.space.scale[f]) * 0.05
    if body.whole[f]:
        pad = max(pad, 2.0)
    ends = [low - pad, high + pad] + ([] if factual is None else [factual - 0.25 * pad, factual + 0.25 * pad])
    step = 10.0 ** math.floor(math.log10(max(ends) - min(ends)) - 1.0)
    axis = (
        max(_short(math.floor(min(ends) / step) * step), floor),
        min(_short(math.ceil(max(ends) / step) * step), ceiling),
    )
    if not (math.isfinite(axis[0]) and math.isfinite(axis[1]) and axis[0] < axis[1]):
        axis = (center - pad, center + pad) if center - pad < center + pad else (center - 1.0, center + 1.0)
    return Bar(low, high, center, factual, *axis)


# ---- the sets that are certified -----------------------------------------------------------------------------------------
def certified_sets(account: Account, controls: Sequence[Control], widening: Widening | None) -> list[dict[str, Any]]:
    """The region shown first; then the closest region itself where rounding moved it, and the wide one if it is known.
    Sets that do not hold the values of the columns without a control are left out: no control could reach them."""
    shown = account.shown
    others = [("the closest region itself, before rounding", account.region)]
    if widening is not None:
        others.append(("the widest intervals", widening.region))
    sets = [_set("", shown.body, controls)]
    held = _held(shown.body, controls)
    for name, region in others:
        body = region.body
        inside = (body.lower <= shown.body.center) & (shown.body.center <= body.upper)
        if not body.same_as(shown.body) and bool(inside[held].all()):
            sets.append(_set(name, body, controls))
    return sets


def _held(body: Body, controls: Sequence[Control]) -> Bools:
    """Inner columns that no control moves."""
    held = np.ones(body.center.size, dtype=np.bool_)
    for control in controls:
        held[list(control.columns)] = False
    return held


def _set(name: str, body: Body, controls: Sequence[Control]) -> dict[str, Any]:
    budget = set(map(int, body.round_columns)) if is_round(body.shape) else set()
    sides: list[Any] = []
    for control in controls:
        f = control.columns[0]
        if control.bar is None:
            sides.append(control.allowed(body))
        else:
            axis = float(body.axes[f]) if f in budget else None
            sides.append([float(body.lower[f]), float(body.upper[f]), float(body.center[f]), axis])
    return {"name": name, "shape": body.shape.value, "sides": sides}


def witnesses_of(region: Region, controls: Sequence[Control], widening: Widening | None) -> list[dict[str, Any]]:
    """Points just beyond an end of the wide region that the model gives another outcome, and what it says there. Those
    that differ in a column without a control are left out: on the page it would be another point."""
    if widening is None:
        return []
    held = _held(region.body, controls)
    found: list[dict[str, Any]] = []
    for control in controls:
        if control.bar is None:
            continue
        f = control.columns[0]
        for sign, side in ((-1, widening.lows[f]), (1, widening.highs[f])):
            witness = side.witness
            if witness is None or not np.array_equal(witness[held], region.body.center[held]):
                continue
            end = float((widening.region.body.lower if sign < 0 else widening.region.body.upper)[f])
            differs = side.said is not None and not _promised(side.said, region)
            said = spoken(side.said, region.target, region.labels) if differs else ""
            point = [each.value_in(witness) for each in controls]
            found.append({"control": control.number, "side": sign, "end": end, "point": point, "said": said})
    return found


def _promised(said: object, region: Region) -> bool:
    """Is this what the region promises? Then only rounding decides at the witness, or its probability is too small."""
    target = region.target
    if target.values is not None and isinstance(said, float):
        low, high = target.at_least, target.at_most
        return (low is None or said >= low) and (high is None or said <= high)
    return target.is_met(said) if target.each else bool(said == target.label)


def page_data(account: Account, controls: Sequence[Control | None], widening: Widening | None) -> dict[str, Any]:
    """All that the script of the page reads: numbers are exact, words are shown as text."""
    region = account.region
    movable = [control for control in controls if control is not None]
    units = [line.unit for line, control in zip(account.lines, controls, strict=True) if control is not None]
    return {
        "promise": promise(region.target, region.labels, account.shown.certificate.keepers),
        "said": spoken(region.predicted, region.target, region.labels),
        "shape": account.shape.value,
        "names": [line.name for line, control in zip(account.lines, controls, strict=True) if control is not None],
        "units": units if any(units) else [],
        "controls": [control.data(account.shown.body) for control in movable],
        "sets": certified_sets(account, movable, widening),
        "witnesses": witnesses_of(account.shown, movable, widening),
    }


def _short(value: float) -> float:
    """Without the digits that only rounding made: an axis begins at 1.4, not at 1.4000000000000001."""
    return float(f"{value:.12g}")


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
