"""What every engine gets and gives back: a clock whose bounds only improve, and outcomes that cannot contradict themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elbowroom.result import Step
from elbowroom.search.contract import Clock, Outcome
from tests.support.answers import make_region


def test_bounds_only_ever_improve_and_never_cross() -> None:
    told: list[Step] = []
    clock = Clock(60.0, told.append)
    clock.report(lower_bound=1.0, note="first")
    clock.report(lower_bound=0.5)
    clock.report(best_distance=4.0, certified_radius=0.25)
    clock.report(best_distance=5.0)
    clock.report(lower_bound=7.0)  # above the best distance: what is told stays true of the best
    assert [step.lower_bound for step in told] == [1.0, 1.0, 1.0, 1.0, 4.0]
    assert [step.best_distance for step in told] == [math.inf, math.inf, 4.0, 4.0, 4.0]
    assert told == clock.trace
    assert (told[0].note, told[2].certified_radius) == ("first", 0.25)
    assert [step.seconds for step in told] == sorted(step.seconds for step in told)


def test_a_spent_clock_is_expired_and_its_parts_are_too() -> None:
    assert Clock(0.0).expired
    assert Clock(0.0).part(0.5).expired
    clock = Clock(1000.0)
    assert not clock.expired
    part = clock.part(0.25)
    assert 0.0 < part.time_limit <= 250.0
    part.report(best_distance=1.0)
    assert clock.best_distance == math.inf and not clock.trace  # steps of a part are its own


def test_an_outcome_has_a_centre_with_its_own_certificate_or_none() -> None:
    certificate = make_region().certificate
    center = certificate.body.center
    assert Outcome("by hand", 0.0, center, certificate).center is center
    assert Outcome("by hand", math.inf, reason="nothing there").certificate is None
    with pytest.raises(ValueError, match="comes with its certificate"):
        Outcome("by hand", 0.0, center)
    with pytest.raises(ValueError, match="comes with its certificate"):
        Outcome("by hand", 0.0, None, certificate)
    with pytest.raises(ValueError, match="another centre"):
        Outcome("by hand", 0.0, np.asarray(center) + 1.0, certificate)
