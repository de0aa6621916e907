"""A space as a readable table: what was learned and declared about each column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

import pandas as pd

from elbowroom.problem.features import Feature, Group
from elbowroom.problem.kinds import Direction, Kind, Missing
from elbowroom.problem.scales import Scale
from elbowroom.visible import named

HEADINGS = ("column", "kind", "values", "scale", "weight", "may change", "missing", "note")
MOST_WIDTH = 60  # characters of a cell of text
MOST_VALUES = 8  # categories that a cell shows
WAYS = {Direction.ANY: "yes", Direction.INCREASING: "may only rise", Direction.DECREASING: "may only fall"}


def describe(features: Sequence[Feature], groups: Sequence[Group], notes: Mapping[str, str]) -> pd.DataFrame:
    """One row per column of numbers, per column of categories, and per one-hot group of several columns."""
    owner = {member: group for group in groups for member in group.members}
    known = {feature.name: feature for feature in features}
    rows, told = [], set()
    for feature in features:
        group = owner.get(feature.name)
        if group is None:
            price = "" if feature.price.is_plain else f"price of a move: {feature.price.words}"
            note = "; ".join(filter(None, (notes.get(feature.name, ""), price)))
            rows.append((*_number(feature), note))
        elif group.name not in told:
            told.add(group.name)
            rows.append((*_category(group, [known[m] for m in group.members]), notes.get(group.name, "")))
    return pd.DataFrame(rows, columns=list(HEADINGS))


def summary(features: Sequence[Feature], groups: Sequence[Group], measure: Scale | None = None) -> str:
    """<Space of 5 columns: 3 numbers, 1 column of categories, 1 one-hot group; 2 cannot change; usual scale>."""
    table = describe(features, groups, {})
    kinds = table["kind"].isin(["categories", "one-hot group"])
    raw = len(features) - sum(len(g.members) - 1 for g in groups if g.labels is not None)
    parts = [
        _counted(int((~kinds).sum()), "number", "numbers"),
        _counted(int((table["kind"] == "categories").sum()), "column of categories", "columns of categories"),
        _counted(int((table["kind"] == "one-hot group").sum()), "one-hot group", "one-hot groups"),
    ]
    fixed = int((table["may change"] == "no").sum())
    scale = "" if measure is None else f"; scale {measure.value!r}"
    return f"<Space of {_counted(raw, 'column', 'columns')}: {', '.join(filter(None, parts))}; {fixed} cannot change{scale}>"


def _counted(count: int, one: str, many: str) -> str:
    return "" if count == 0 else f"{count} {one if count == 1 else many}"


def _number(feature: Feature) -> tuple[object, ...]:
    unit = f" {named(feature.unit)}" if feature.unit else ""
    if feature.kind is Kind.BINARY:
        values = "0 or 1"
    elif math.isinf(feature.lower) and math.isinf(feature.upper):
        values = "any number"
    elif math.isinf(feature.upper):
        values = f"at least {_plain(feature.lower)}{unit}"
    elif math.isinf(feature.lower):
        values = f"at most {_plain(feature.upper)}{unit}"
    else:
        values = f"{_plain(feature.lower)} to {_plain(feature.upper)}{unit}"
    still = feature.immutable or feature.lower == feature.upper
    change = "no" if still else WAYS[Direction(feature.direction)]
    kind = {Kind.NUMERIC: "number", Kind.INTEGER: "whole number", Kind.BINARY: "yes or no"}[Kind(feature.kind)]
    return named(feature.name), kind, values, feature.scale, feature.weight, change, _missing([feature])


def _category(group: Group, members: Sequence[Feature]) -> tuple[object, ...]:
    allowed = [i for i, member in enumerate(members) if member.upper >= 1.0]
    words = [named(group.members[i] if group.labels is None else _label(group.labels[i])) for i in allowed]
    values = ", ".join(words[:MOST_VALUES]) + (
        f" and {len(words) - MOST_VALUES} more" if len(words) > MOST_VALUES else ""
    )
    still = any(member.immutable for member in members) or len(allowed) < 2
    kind = "one-hot group" if group.labels is None else "categories"
    return named(group.name), kind, values, math.nan, group.weight, "no" if still else "yes", _missing(members)


def _label(label: object) -> object:
    return "(missing)" if label is None else label


def _missing(features: Sequence[Feature]) -> str:
    return "may be filled" if all(f.missing is Missing.FILL for f in features) else "stays missing"


def _plain(value: float) -> str:
    return f"{float(f'{value:.6g}'):,.12g}"  # 50,000,000 and not 5e+07


# ---- for reading ------------------------------------------------------------------------------------------------------
def as_text(table: pd.DataFrame) -> str:
    """One line per column; names and categories hold no line breaks."""
    return _shown(table).to_string(index=False, justify="left", max_colwidth=MOST_WIDTH)


def as_html(table: pd.DataFrame, caption: str) -> str:
    """Texts are escaped by pandas, and here."""
    return f"<p>{escape(caption)}</p>" + _shown(table).to_html(index=False)


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers as they are read, and no column that says the same everywhere and is seldom asked about."""
    shown = table.copy()
    shown["scale"] = ["" if math.isnan(scale) else _plain(scale) for scale in table["scale"]]
    shown["weight"] = [f"{weight:.4g}" for weight in table["weight"]]
    idle = [name for name, usual in (("missing", "stays missing"), ("note", "")) if (table[name] == usual).all()]
    return shown.drop(columns=idle)
