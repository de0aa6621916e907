"""How an answer came about: what explain and frontier keep of it, and that files keep all of it."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Ball, Box, Explainer, Feature, InputError, NoRegion, Region, Space, Status
from elbowroom.importers.library import versions_of
from elbowroom.numerics import TOLERANCES
from elbowroom.result.origin import is_closed
from elbowroom.result.schema import read_answer
from elbowroom.version import __version__
from tests.support.answers import ORIGIN, make_no_region, make_region
from tests.support.forgery import forged

X = np.random.default_rng(0).uniform(0.0, 1.0, (200, 2))
Y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0.6, "yes", "no")
SPACE = Space((Feature("a", lower=0, upper=1), Feature("b", lower=0, upper=1)))
VERSIONS = {
    "elbowroom": __version__,
    "python": platform.python_version(),
    "numpy": np.__version__,
    **{name: importlib.metadata.version(name) for name in ("scipy", "numba", "highspy")},
}


def test_explain_says_with_what_it_was_asked() -> None:
    explainer = Explainer(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y), SPACE)
    for room, status in ((Box(0.02), Status.OPTIMAL), (Box(0.7), Status.NONE_EXISTS)):
        answer = explainer.explain([0.2, 0.4], room, seed=np.int64(5), time_limit=30)
        assert answer.status is status and answer.origin is not None
        assert answer.origin.fingerprint == explainer.model.fingerprint
        assert (answer.origin.seed, answer.origin.time_limit, answer.origin.model_file) == (5, 30.0, None)
        assert answer.origin.versions == {**VERSIONS, "sklearn": sklearn.__version__}
        assert (answer.predicted, answer.source) == ("no", explainer.model.info.source)
        assert read_answer(answer.to_json()).origin == answer.origin
    several = explainer.frontier([0.2, 0.4], [0.01, 0.02], seed=5, time_limit=30)
    assert all(one.origin is not None and one.origin.time_limit == 30.0 for one in several.answers)


def test_a_model_with_one_class_keeps_its_origin_as_well() -> None:
    model = DecisionTreeClassifier().fit(X, np.zeros(len(X)))
    answer = Explainer(model, SPACE).explain([0.2, 0.4], Box(0.02), seed=3)
    assert isinstance(answer, NoRegion) and answer.origin is not None
    assert (answer.origin.seed, answer.predicted, answer.target.label) == (3, 0.0, None)
    assert read_answer(answer.to_json()).to_json() == answer.to_json()


def test_the_tolerance_is_that_of_the_search() -> None:
    linear = Explainer(LogisticRegression().fit(X, Y), SPACE).explain([0.2, 0.4], Ball(0.02))
    network = Explainer(MLPClassifier((4,), solver="lbfgs", random_state=0).fit(X, Y), SPACE).explain(
        [0.2, 0.4], Box(0.02)
    )
    for answer, tolerance in ((linear, TOLERANCES.optimal_gap), (network, TOLERANCES.continuous_gap)):
        assert isinstance(answer, Region) and answer.status is Status.OPTIMAL
        assert answer.tolerance == tolerance and is_closed(answer.distance, answer.lower_bound, tolerance)
    assert replace(linear, origin=None).tolerance is None  # type: ignore[type-var]


def test_versions_name_every_library_of_a_model() -> None:
    class Mine(LogisticRegression):
        pass

    assert versions_of(object()) == VERSIONS
    assert versions_of(Mine()) == versions_of(make_pipeline(StandardScaler(), Mine()))
    assert versions_of(Mine()) == {**VERSIONS, "sklearn": sklearn.__version__}


def test_widening_for_another_model_says_nothing_of_how_it_was_found() -> None:
    region = Explainer(LogisticRegression().fit(X, Y), SPACE).explain([0.2, 0.4], Box(0.02))
    assert isinstance(region, Region)
    assert region.widen().region.origin == region.origin
    friendlier = Explainer(LogisticRegression(C=10.0).fit(X, np.where(X[:, 0] > 0.3, "yes", "no")), SPACE)
    wide = friendlier.widen(region).region
    assert wide.origin is None and Region.from_json(wide.to_json()).origin is None


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("origin", "seed"), -1, "seed should be"),
        (("origin", "seed"), 1.5, "seed should be"),
        (("origin", "time_limit"), -1.0, "time_limit should be a number of seconds"),
        (("origin", "tolerance"), 0.5, "tolerance should be between 0 and 0.0001"),
        (("origin", "tolerance"), -1e-9, "tolerance should be between"),
        (("origin", "tolerance"), "inf", "tolerance should be a finite"),
        (("origin", "versions"), ["0.1"], "versions should be"),
        (("origin", "versions", "numpy"), 2, "versions.numpy should be"),
        (("origin", "model_file"), "0" * 63, "model_file should be a SHA-256"),
        (("origin", "fingerprint"), "\x1b[8m" + "0" * 60, "fingerprint should be a SHA-256"),
        (("origin", "fingerprint"), "e" * 64, "should be the fingerprint of the certificate"),
        (("certificate", "fingerprint"), "0" * 64 + "\n", "fingerprint should be a SHA-256"),
        (("origin", "host"), "here", "origin.host is not a field"),
    ],
)
def test_a_forged_origin_is_refused(path: tuple, value: Any, words: str) -> None:
    document = json.loads(make_region().to_json())
    with pytest.raises(InputError, match=words):
        Region.from_json(json.dumps(forged(document, (path, value))))


def test_bounds_without_a_region_follow_from_the_status() -> None:
    none, unknown = (json.loads(make_no_region(*a).to_json()) for a in ((), (Status.UNKNOWN, 0.25)))
    for document, path, value in (
        (none, "lower_bound", 1.0),
        (none, "status", "UNKNOWN"),
        (unknown, "lower_bound", "inf"),
        (unknown, "lower_bound", -0.5),
        (unknown, "status", "NONE_EXISTS"),
    ):
        with pytest.raises(InputError, match=r"(status|lower_bound) should be"):
            NoRegion.from_json(json.dumps(forged(document, ((path,), value))))


def test_the_status_of_an_old_file_may_be_anything_that_some_search_would_say() -> None:
    for gap, status in ((9e-5, Status.OPTIMAL), (9e-5, Status.CERTIFIED), (0.0, Status.OPTIMAL)):
        assert Region.from_json(make_region(gap=gap, status=status, origin=None).to_json()).status is status
    for tolerance, status in ((1e-4, Status.OPTIMAL), (1e-9, Status.CERTIFIED)):
        origin = replace(ORIGIN, tolerance=tolerance)
        assert Region.from_json(make_region(gap=9e-5, status=status, origin=origin).to_json()).tolerance == tolerance
    with pytest.raises(InputError, match="more than any search allows"):
        Region.from_json(make_region(gap=2e-4, origin=None).to_json())
