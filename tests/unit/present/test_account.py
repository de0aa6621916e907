"""What an answer says about each feature."""

from __future__ import annotations

from dataclasses import replace

from elbowroom.present.account import account_of
from elbowroom.problem.kinds import Kind
from tests.support.answers import make_region


def test_a_forged_end_of_a_yes_or_no_column_is_shown_as_it_is() -> None:
    region = make_region()
    f = next(i for i, feature in enumerate(region.space.features) if feature.kind is Kind.BINARY)
    upper = region.body.upper.copy()
    upper[f] = 1e308
    forged = replace(region, certificate=replace(region.certificate, body=replace(region.body, upper=upper)))
    assert any("1e+308" in text for line in account_of(forged).lines for text in (line.low, line.high))
