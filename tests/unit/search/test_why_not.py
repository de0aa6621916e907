"""What is named blocks, and no proper subset of it does; the truth comes from looking at every centre."""

from __future__ import annotations

import pytest

from tests.support.blocked import check

ALL = range(200)
QUICK = [seed for seed in range(24) if seed % 3 != 2 or seed == 8]  # most networks (every third seed) take seconds


@pytest.mark.parametrize("seed", QUICK)
def test_what_is_named_blocks_and_nothing_less_does(seed: int) -> None:
    check(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", [seed for seed in ALL if seed not in QUICK])
def test_what_is_named_blocks_and_nothing_less_does_often(seed: int) -> None:
    check(seed)
