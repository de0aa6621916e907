"""Features with prices, as users give them: by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from elbowroom.errors import InputError
from elbowroom.problem.features import Feature
from elbowroom.problem.kinds import Kind
from elbowroom.problem.parsing import by_name
from elbowroom.problem.prices import Price


def priced(features: tuple[Feature, ...], columns: Sequence[str], prices: object) -> tuple[Feature, ...]:
    """Features with prices: one for all columns of numbers, or by name."""
    made = list(features)
    places = {feature.name: f for f, feature in enumerate(features)}
    if isinstance(prices, Price):
        prices = {name: prices for name in columns if name in places}
    given = by_name(prices, columns, "prices")
    for name, price in given.items():
        if not isinstance(price, Price):
            raise InputError(f"prices[{name!r}]={price!r}: give a Price, for example Price(up=3, down=1)")
        if name not in places:
            raise InputError(f"prices[{name!r}]: this column holds categories; weights= says what a change of it costs")
        made[places[name]] = replace(
            made[places[name]],
            price_up=price.up, price_down=price.down, price_change=price.change, percentiles=price.percentiles,
        )  # fmt: skip
    return tuple(made)


def percentile_prices(frame: pd.DataFrame, features: Sequence[Feature]) -> dict[str, Price]:
    """Of the columns of numbers that are in the table and have at least two values there."""
    numbers = [f.name for f in features if f.kind is not Kind.BINARY and f.name in frame.columns]
    return {name: Price.of_percentiles(frame[name]) for name in numbers if frame[name].nunique() > 1}
