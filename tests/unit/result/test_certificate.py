"""The four verdicts: only a certificate is true."""

from __future__ import annotations

from typing import get_args

import numpy as np

from elbowroom import AtMost, Box
from elbowroom.problem import RecourseProblem, Space
from elbowroom.result import Certificate, Counterexample, Inadmissible, Undecided, Verdict
from elbowroom.search.contract import Clock
from elbowroom.search.network import NetworkEngine
from tests.support.answers import make_region
from tests.support.referee import Referee
from tests.support.small_models import random_network


def test_only_a_certificate_is_true() -> None:
    refusals = (Counterexample(np.zeros(1), 0, -1.0), Undecided("time"), Inadmissible("AtMost is broken"))
    assert make_region().certificate and not any(refusals)
    assert set(get_args(Verdict)) == {Certificate, *map(type, refusals)}


def test_an_inadmissible_centre_ends_no_search_and_is_not_called_undecided() -> None:
    """A referee that admits nothing: the network engine neither claims a region nor says that the judge was too slow."""
    model = random_network(np.random.default_rng(3), (2, 4))
    row = np.array([0.3, -0.2])
    wanted = 1 - int(model.info.labels_of(model.scores(row[None]))[0])
    problem = RecourseProblem.ask(model, Space.plain(model.info.names), row, Box(0.01), wanted, rules=[AtMost(2)])
    referee = Referee(problem, lambda center, seconds=None: Inadmissible("never"))
    ending = NetworkEngine().search(problem, referee, Clock(1.0), 0)
    assert referee.certificate is None and "could not decide" not in ending.reason
