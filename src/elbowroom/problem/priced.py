"""Features with prices, as users give them: by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from elbowroom.errors import InputError
from elbowroom.problem.features import Feature
from elbowroom.problem.parsing import by_name
from elbowroom.problem.prices import Price


def priced(features: tuple[Feature, ...], columns: Sequence[str], prices: object) -> tuple[Feature, ...]:
    """Features with prices, by name."""
    given = by_name(prices, columns, "prices")
    made = list(features)
    places = {feature.name: f for f, feature in enumerate(features)}
    for name, price in given.items():
        if not isinstance(price, Price):
            raise InputError(f"prices[{name!r}]={price!r}: give a Price, for example Price(up=3, down=1)")
        if name not in places:
            raise InputError(f"prices[{name!r}]: this column holds categories; weights= says what a change of it costs")
        made[places[name]] = replace(made[places[name]], price_up=price.up, price_down=price.down)
    return tuple(made)
