"""Why-not through the front door: words, pages, refusals, files, and honest claims when time runs out."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from elbowroom import (
    AtMost,
    Box,
    Explainer,
    Feature,
    InputError,
    NoRegion,
    PartKind,
    Space,
    Status,
    Target,
    WhyNot,
)
from tests.support.linear_problems import linear_model

MODEL = linear_model([[1.0, 1.0, 0.0]], [-10.0], ("income", "age", "other"))


def asked(space: Space, row: list[float], **question: object) -> tuple[Explainer, NoRegion]:
    explainer = Explainer(MODEL, space)
    none = explainer.explain(row, **{"room": Box(0.0), **question})  # type: ignore[arg-type]
    assert isinstance(none, NoRegion) and none.status is Status.NONE_EXISTS
    return explainer, none


def credit(**age: object) -> Space:
    return Space((Feature("income", lower=0.0, upper=5.0, unit="k"), Feature("age", **age), Feature("other")))  # type: ignore[arg-type]


def test_a_frozen_feature_and_a_bound_are_named() -> None:
    _, none = asked(credit(immutable=True), [1.0, 2.0, 0.0])
    why = none.why_not()
    assert isinstance(why, WhyNot) and why and why.minimal and why.complete and not why.nowhere
    assert [(part.kind, part.name) for part in why.blocking] == [(PartKind.FROZEN, "age"), (PartKind.BOUND, "income")]
    assert [round(found.distance, 6) for found in why.nearest] == [7.0, 7.0]
    assert {found.words for found in why.nearest} == {"age might change", "income might go above 5 k"}
    sentence = why.sentence()
    assert sentence.startswith("Age may not change") or "age may not change" in sentence
    assert "income is at most 5 k" in sentence and "none of them can be left out" in sentence
    assert list(why.table["name"]) == ["age", "income"]


def test_a_direction_and_a_limit_on_changes() -> None:
    space = Space((Feature("income", upper=8.0), Feature("age", upper=8.0), Feature("other")))
    _, none = asked(space, [1.0, 1.0, 0.0], rules=[AtMost(1)])
    why = none.why_not()
    assert [part.kind for part in why.blocking] == [PartKind.RULE, PartKind.BOUND, PartKind.BOUND]
    assert any(found.words == "at most two features changed" and found.least for found in why.nearest)
    falling = Space((Feature("income", direction="decreasing"), Feature("age", immutable=True), Feature("other")))
    _, none = asked(falling, [1.0, 2.0, 0.0])
    assert [part.kind for part in none.why_not().blocking] == [PartKind.FROZEN, PartKind.DIRECTION]


def test_the_largest_room_that_fits_is_found() -> None:
    space = Space((Feature("income", upper=6.005), Feature("age", upper=6.005), Feature("other")))
    _, none = asked(space, [1.0, 1.0, 0.0], room=Box(2.0))
    why = none.why_not()
    assert PartKind.ROOM in [part.kind for part in why.blocking]
    eased = next(found for found in why.nearest if found.given_up[0].kind is PartKind.ROOM)
    assert eased.region.radius == pytest.approx(1.0)  # 2 (6.005 - r) >= 10, in hundredths of 2
    assert eased.least


def test_a_probability_is_named_and_eased() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 1, (200, 2)), columns=["a", "b"])
    model = LogisticRegression().fit(X, (X.a + X.b > 1).astype(int))
    explainer = Explainer(model, Space.from_frame(X))
    row = X[model.predict(X) == 0].iloc[0]
    none = explainer.explain(row, room=Box(0.0), target=Target(1, probability=0.9999))
    assert isinstance(none, NoRegion)
    why = none.why_not()
    eased = next(found for found in why.nearest if found.given_up[0].kind is PartKind.PROBABILITY)
    assert eased.region.target.probability is not None and 0.5 < eased.region.target.probability < 0.9999
    assert "probability" in why.sentence()


def test_a_class_that_the_model_never_gives() -> None:
    X = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) % 3})
    y = np.array([0, 1] * 9 + [2, 2])
    model = RandomForestClassifier(3, max_depth=1, random_state=1).fit(X, y)
    explainer = Explainer(model, Space.from_frame(X))
    rare = next(c for c in (0, 1, 2) if c not in set(model.predict(X)))
    none = explainer.explain(X.iloc[0], room=Box(0.0), target=rare)
    assert isinstance(none, NoRegion)
    why = none.why_not()
    assert why.nowhere and why.minimal and not why.blocking and not why.nearest
    assert "there is no input at all" in why.sentence()


def test_bounds_are_not_given_up_beyond_what_the_model_takes() -> None:
    """A logarithm has no value below -1: no nearest question may go there."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.uniform(0.5, 3, (200, 2)), columns=["a", "b"])
    trees = RandomForestClassifier(5, max_depth=2, random_state=0)
    model = make_pipeline(FunctionTransformer(np.log1p), trees).fit(X, (X.a > 1.5).astype(int))
    explainer = Explainer(model, Space.from_frame(X, immutable=["b"], bounds={"a": (1.8, None)}))
    row = X[model.predict(X) == 1].iloc[0]
    none = explainer.explain(row, room=Box(0.0), target=0)
    assert isinstance(none, NoRegion)
    for found in none.why_not().nearest:
        assert (found.region.center > -1).all()


def test_time_runs_out_honestly() -> None:
    _, none = asked(credit(immutable=True), [1.0, 2.0, 0.0])
    why = none.why_not(time_limit=0.0)
    assert why.blocking and not why.minimal and not any(why.needed)
    assert "time ran out" in why.sentence()


def test_only_a_proof_can_be_explained() -> None:
    explainer, none = asked(credit(immutable=True), [1.0, 2.0, 0.0])
    region = explainer.explain([9.0, 9.0, 0.0], room=Box(0.0), target=1)
    with pytest.raises(InputError, match="this one has a region"):
        explainer.why_not(region)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="takes the NoRegion"):
        explainer.why_not([1.0])  # type: ignore[arg-type]
    from dataclasses import replace

    with pytest.raises(InputError, match="no region exists"):
        explainer.why_not(replace(none, status=Status.UNKNOWN, lower_bound=0.0))
    other = Explainer(linear_model([[1.0, 2.0, 0.0]], [-10.0], MODEL.info.names), credit())
    with pytest.raises(InputError, match="another model"):
        other.why_not(none)


def test_files_and_copies_are_proven_again() -> None:
    explainer, none = asked(credit(immutable=True), [1.0, 2.0, 0.0])
    for copy in (NoRegion.from_json(none.to_json()), pickle.loads(pickle.dumps(none))):
        with pytest.raises(InputError, match=r"explainer\.why_not"):
            copy.why_not()
        assert [part.name for part in explainer.why_not(copy).blocking] == ["age", "income"]
    from dataclasses import replace

    lie = replace(none, factual_values=np.array([9.0, 9.0, 0.0]), _why_not=None)
    with pytest.raises(InputError, match="could not be proven again"):
        explainer.why_not(lie)


def test_pages_show_it_and_escape_names(tmp_path) -> None:
    name = "age<script>\x1b"
    model = linear_model([[1.0, 1.0, 0.0]], [-10.0], ("income", name, "other"))
    space = Space((Feature("income", upper=5.0), Feature(name, immutable=True), Feature("other")))
    none = Explainer(model, space).explain([1.0, 2.0, 0.0], room=Box(0.0))
    assert isinstance(none, NoRegion)
    why = none.why_not()
    page = why.to_html(tmp_path / "why.html")
    assert (tmp_path / "why.html").read_text(encoding="utf-8") == page
    for text in (page, why._repr_html_()):
        assert "<script>" not in text and "\x1b" not in text and "may not change" in text
    assert "What would have an answer" in page
    assert "What rules it out" not in none.to_html()
    assert "\x1b" not in str(why) + why.sentence() + repr(why) + repr(why.nearest[0])
