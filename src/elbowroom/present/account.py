"""The answer as data to be shown: one line per feature, every number as it is shown. Text, table, page and plot draw
from this alone, so that they cannot disagree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Final

import numpy as np

from elbowroom.errors import InputError
from elbowroom.present.numbers import REACH_DIGITS, ShownRound, about, exact, floor_digits, interval, round_body, show
from elbowroom.present.outcomes import quoted
from elbowroom.problem.decimals import LARGEST, as_written
from elbowroom.problem.kinds import Direction, Kind
from elbowroom.problem.one_hot import SEPARATORS
from elbowroom.problem.shapes import Shape, is_round
from elbowroom.problem.space import Feature
from elbowroom.result.region import Region
from elbowroom.result.standing import Standing, choices_of
from elbowroom.result.widening import OPEN_FROM
from elbowroom.visible import named

MISSING: Final = "missing"
FOLLOWS: Final = "follows from its causes"
LONG: Final = 12  # digits: a value now that has more was computed, and is told with
NOW_DIGITS: Final = 5  # so many; what is promised is never told like that


class Sort(Enum):
    """What a line is about."""

    NUMBER = "a number"
    WHOLE = "a whole number"
    YES_NO = "a 0/1 column"
    CATEGORY = "a one-hot group"


@dataclass(frozen=True)
class Extent:
    """Where the marks of a line sit on an axis; for drawing only."""

    factual: float
    center: float
    low: float
    high: float
    axis_low: float
    axis_high: float

    def share(self, value: float) -> float:
        """Position of a value between the ends of the axis, in 0..1."""
        return (value - self.axis_low) / (self.axis_high - self.axis_low)


@dataclass(frozen=True)
class Said:
    """Categories inside a sentence: text in quotes, numbers and truth values bare."""

    factual: str
    center: str
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One feature or one one-hot group. All texts are as shown; ``low`` and ``high`` are rounded inwards."""

    name: str
    unit: str
    sort: Sort
    factual: str
    center: str
    low: str
    high: str
    changed: bool  # the centre differs from the value now
    moving: bool
    standing: Standing
    note: str  # why it cannot move, or which way it may
    reach: str = ""  # balls and diamonds: how far from the centre if nothing else is off
    choices: tuple[str, ...] = ()  # categories allowed inside the region
    said: Said | None = None  # categories as a sentence says them
    absent: bool = False  # a number that is missing, and stays so
    extent: Extent | None = None
    open_below: bool = False  # so long that only the other end is worth stating
    open_above: bool = False
    limit_below: bool = False  # the interval ends where the feature does: no value below is possible
    limit_above: bool = False

    @property
    def has_to_change(self) -> bool:
        return self.standing is Standing.HAS_TO_CHANGE

    @property
    def is_still(self) -> bool:
        """It stays exactly as it is."""
        return not (self.has_to_change or self.moving)

    @property
    def said_factual(self) -> str:
        return self.with_unit(self.factual) if self.said is None else self.said.factual

    @property
    def said_center(self) -> str:
        return self.with_unit(self.center) if self.said is None else self.said.center

    @property
    def remark(self) -> str:
        """The last cell of a row: that it does not matter, or why and which way it moves."""
        return self.standing.value if self.standing is Standing.DOES_NOT_MATTER else self.note

    def with_unit(self, text: str) -> str:
        return f"{text} {self.unit}" if self.unit and text != MISSING else text

    @property
    def range_text(self) -> str:
        """The allowed values in one cell."""
        if self.sort is Sort.CATEGORY:
            return " or ".join(self.choices)
        if self.sort is Sort.YES_NO:
            return "yes or no" if self.moving else self.center
        if not self.moving:
            return self.with_unit(self.center)
        if self.open_text:
            return f"{self.open_text} ({self.open_proof})"
        return self.with_unit(self.low if self.low == self.high else f"{self.low} to {self.high}")

    @property
    def open_text(self) -> str:
        """An interval without an end worth stating."""
        if self.open_below and self.open_above:
            return "any number"
        if self.open_above:
            return f"at least {self.with_unit(self.low)}"
        if self.open_below:
            return f"at most {self.with_unit(self.high)}"
        return ""

    @property
    def open_proof(self) -> str:
        """How far such an interval is proven nevertheless."""
        if self.open_below and self.open_above:
            return f"proven from {self.low} to {self.high}"
        return f"proven up to {self.high}" if self.open_above else f"proven down to {self.low}"


@dataclass(frozen=True)
class Account:
    """Everything that is shown about a region."""

    region: Region
    shown: Region  # whose numbers are shown: the region itself, or the same room around a rounded centre
    lines: tuple[Line, ...]
    radius: str  # balls and diamonds with one radius: as shown, not above the certified one
    scales_are_one: bool

    @property
    def shape(self) -> Shape:
        return self.region.body.shape

    @property
    def is_round(self) -> bool:
        return is_round(self.shape) and any(line.reach for line in self.lines)

    @property
    def changing(self) -> tuple[Line, ...]:
        """What has to change."""
        return self._of(Standing.HAS_TO_CHANGE)

    @property
    def staying(self) -> tuple[Line, ...]:
        """What must stay within its range, or as it is."""
        return self._of(Standing.MUST_STAY_WITHIN)

    @property
    def free(self) -> tuple[Line, ...]:
        """What does not matter."""
        return self._of(Standing.DOES_NOT_MATTER)

    @property
    def ordered(self) -> tuple[Line, ...]:
        return (*self.changing, *self.staying, *self.free)

    def _of(self, standing: Standing) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.standing is standing)

    @property
    def holds_now(self) -> bool:
        """Does the row lie in the region as it is? For a box, exactly if no feature has to change."""
        region = self.shown
        return not region.filled and bool(region.body.contains(region.factual_values[None])[0])


def account_of(region: Region, digits: int | None = None) -> Account:
    """Round everything once, then describe each column and each group in the order of the space.

    Numbers have the decimals of the data; ``digits`` asks for so many decimals of the closest region itself.
    """
    asked, region = region, _chosen(region, digits)
    body, space = region.body, region.space
    rounded = round_body(body, [f.decimals for f in space.features]) if is_round(body.shape) else None
    actions = region.actions
    followers = () if actions is None else tuple(str(name) for name in actions.index[actions == 0.0])
    lines: list[Line] = []
    told: set[int] = set()
    for f, feature in enumerate(space.features):
        g = int(space.group_of[f])
        if g < 0:
            absent = feature.name in region.missing
            line = _absent(feature) if absent else _single(region, f, feature, rounded)
            if feature.name in followers and line.changed:
                line = replace(line, note="; ".join(filter(None, (line.note, FOLLOWS))))
            lines.append(_filled(line) if feature.name in region.filled else line)
        elif g not in told:
            told.add(g)
            lines.append(_category(region, g))
    radius = ""
    if rounded is not None and region.radius is not None and rounded.reaches:
        shrink = rounded.shrink if rounded.shrink == 1 else rounded.shrink - Fraction(1, 10**12)
        radius = show(floor_digits(Fraction(region.radius) * shrink, REACH_DIGITS))
    return Account(asked, region, tuple(lines), radius, bool((space.scale == 1.0).all()))


def _chosen(region: Region, digits: int | None) -> Region:
    if digits is None:
        return region.rounded or region
    if isinstance(digits, bool) or not isinstance(digits, (int, np.integer)) or digits < 0:
        raise InputError(f"digits={digits!r}: give a number of decimals of at least 0, or None for those of the data")
    decimals = min(int(digits), LARGEST)
    features = tuple(replace(feature, decimals=decimals) for feature in region.space.features)
    return replace(region, space=replace(region.space, features=features), rounding=None)


def _yes_or_no(value: float) -> str:
    """Anything else can only come from a forged file, and is shown as it is."""
    return {0.0: "no", 1.0: "yes"}.get(value) or exact(value)


def _single(region: Region, f: int, feature: Feature, rounded: ShownRound | None) -> Line:
    body = region.body
    low, center, high = float(body.lower[f]), float(body.center[f]), float(body.upper[f])
    factual = float(region.factual_values[f])
    moving = low < high
    reach = ""
    shares_budget = moving and rounded is not None and f in rounded.reaches
    if feature.kind is Kind.BINARY and not shares_budget:
        texts = tuple(map(_yes_or_no, (low, center, high)))
        factual_text = _yes_or_no(factual)
        sort = Sort.YES_NO
    else:
        sort = Sort.NUMBER if feature.kind is Kind.NUMERIC else Sort.WHOLE
        if rounded is not None and shares_budget:
            texts = (rounded.lows[f], rounded.centers[f], rounded.highs[f])
            reach = rounded.reaches[f]
        else:
            texts = _interval_texts(region, f, whole=sort is Sort.WHOLE)
        given = as_written(factual, feature.decimals)
        factual_text = about(given, NOW_DIGITS, LONG)
        if center == factual and (not moving or factual_text == exact(given)):
            texts = (texts[0], exact(given), texts[2])  # what does not change is shown as it was given
    if center == factual and sort is Sort.YES_NO:
        texts = (texts[0], factual_text, texts[2])
    below, above = _is_open(region, f)
    return Line(
        named(feature.name),
        named(feature.unit or ""),
        sort,
        factual_text,
        texts[1],
        texts[0],
        texts[2],
        changed=center != factual,
        moving=moving,
        standing=region.standings.columns[f],
        note=_note(feature),
        reach=reach,
        extent=_extent(region, f),
        open_below=not reach and below,
        open_above=not reach and above,
        limit_below=not reach and moving and low <= feature.lower,
        limit_above=not reach and moving and feature.upper <= high,
    )


def _absent(feature: Feature) -> Line:
    """A number that is missing in the row, and in every point of the region."""
    return Line(
        named(feature.name), "", Sort.NUMBER, MISSING, MISSING, MISSING, MISSING,
        changed=False, moving=False, standing=Standing.MUST_STAY_WITHIN, note="stays missing", absent=True,
    )  # fmt: skip


def _filled(line: Line) -> Line:
    """A number that is missing in the row, and given in every point of the region."""
    return replace(
        line,
        factual=MISSING,
        changed=True,
        extent=None,
        said=Said(MISSING, line.with_unit(line.center), ()),
    )


def _is_open(region: Region, f: int) -> tuple[bool, bool]:
    """Does the interval reach so far below and above the centre that its end does not matter?"""
    far, body = 0.999 * OPEN_FROM * float(region.space.scale[f]), region.body  # ends are rounded inwards
    return bool(body.center[f] - body.lower[f] >= far), bool(body.upper[f] - body.center[f] >= far)


def _interval_texts(region: Region, f: int, whole: bool) -> tuple[str, str, str]:
    """Low, centre and high as shown. Digits follow the width of an interval: a far end must not blur the near one, so
    it is rounded alone."""
    low, center, high = (float(a[f]) for a in (region.body.lower, region.body.center, region.body.upper))
    below, above = _is_open(region, f)
    scale = float(region.space.scale[f])
    near_low = center - (scale if above else high - center) if below and not whole else low
    near_high = center + (scale if below else center - low) if above and not whole else high
    decimals = region.space.features[f].decimals
    near = interval(near_low, center, near_high, whole, decimals)
    far = interval(low, center, high, whole, decimals)
    return far.low if below else near.low, near.center, far.high if above else near.high


def _extent(region: Region, f: int) -> Extent:
    body, space = region.body, region.space
    factual, center = float(region.factual_values[f]), float(body.center[f])
    below, above = _is_open(region, f)
    width = max(abs(factual - center), float(space.scale[f]))
    values = [
        factual,
        center,
        min(factual, center) - width if below else float(body.lower[f]),
        max(factual, center) + width if above else float(body.upper[f]),
    ]
    ends = [float(b) for b in (space.lower[f], space.upper[f]) if np.isfinite(b)]
    low, high = min(values + ends), max(values + ends)
    if len(ends) < 2:  # an open side: leave a margin, there is more beyond
        pad = 0.15 * (high - low) or abs(high) * 0.1 or 1.0
        low, high = low - pad * (not np.isfinite(space.lower[f])), high + pad * (not np.isfinite(space.upper[f]))
    if not low < high:
        low, high = low - 1.0, high + 1.0
    return Extent(factual, center, values[2], values[3], low, high)


def _note(feature: Feature) -> str:
    if feature.immutable:
        return "cannot change"
    return {
        Direction.ANY: "",
        Direction.INCREASING: "may only rise",
        Direction.DECREASING: "may only fall",
    }[Direction(feature.direction)]


def _category(region: Region, g: int) -> Line:
    body, space = region.body, region.space
    group, members = space.groups[g], space.members[g]
    labels = group.labels or category_names(group.name, group.members)
    shown = [MISSING if label is None else named(label) for label in labels]
    said = [MISSING if label is None else quoted(label) for label in labels]
    now, then = int(np.argmax(region.factual_values[members])), int(np.argmax(body.center[members]))
    choices = [int(i) for i in np.flatnonzero(choices_of(body, members))]
    fixed = any(space.features[int(f)].immutable for f in members)
    kept = now == then == group.missing_member
    return Line(
        named(group.name),
        "",
        Sort.CATEGORY,
        shown[now],
        shown[then],
        shown[then],
        shown[then],
        changed=now != then,
        moving=len(choices) > 1,
        standing=region.standings.groups[g],
        note="cannot change" if fixed else "stays missing" if kept else "",
        choices=tuple(shown[i] for i in choices),
        said=Said(said[now], said[then], tuple(said[i] for i in choices)),
    )


def category_names(group: str, members: tuple[str, ...]) -> tuple[str, ...]:
    """housing_own, housing_rent in the group housing: own, rent. Names stay whole where a short one would be unclear."""
    prefixes = [group + mark for mark in SEPARATORS] + [_common_prefix(members)]
    for prefix in prefixes:
        short = tuple(m.removeprefix(prefix) for m in members)
        if prefix and all(short) and all(m.startswith(prefix) for m in members):
            return short
    return members


def _common_prefix(members: tuple[str, ...]) -> str:
    """The longest shared beginning that ends with a separator."""
    first, last = min(members), max(members)
    size = 0
    while size < min(len(first), len(last)) and first[size] == last[size]:
        size += 1
    return first[: max(first.rfind(mark, 0, size) for mark in SEPARATORS) + 1]
