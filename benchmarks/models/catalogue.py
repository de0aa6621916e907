"""All cases, family by family."""

from __future__ import annotations

from importlib import import_module

from benchmarks.models.case import Case

FILES = ("plain", "preparing", "wrappers", "words", "missing", "boosted", "networks", "regressors", "refusals")
FAST = (
    "linear: LogisticRegression", "linear: LogisticRegression, 3 classes", "trees: RandomForest, Space",
    "trees: GradientBoosting", "trees: HistGradientBoosting, 3 classes", "MLP: MLP (32,)", "MLP: MLP, tanh",
    "targets: text labels", "targets: probability, forest", "rooms and rules: Ball, logistic",
    "scalers: ColumnTransformer by name", "selections and projections: PCA + LogisticRegression",
    "monotone maps: log1p + forest", "searches: GridSearchCV(pipeline)", "votes: AdaBoost",
    "words, one-hot: LogisticRegression", "words, one-hot: drop=\"first\", forest", "gaps in numbers: forest, row with a gap",
    "get_dummies: floats, numbers frozen", "models that are refused: KNeighborsClassifier",
)  # fmt: skip


def all_cases() -> list[Case]:
    return [case for name in FILES for case in import_module(f"benchmarks.models.{name}").cases()]


def chosen(families: list[str] | None = None, only: list[str] | None = None) -> list[Case]:
    """The cases of some families, or those whose ``family: name`` starts or ends with one of ``only``."""
    known = all_cases()
    unknown = set(families or ()) - {case.family for case in known}
    if unknown:
        raise SystemExit(f"--families {sorted(unknown)}: unknown; use {list(dict.fromkeys(c.family for c in known))}")
    found = [case for case in known if not families or case.family in families]
    if only:
        found = [case for case in found if any(text in f"{case.family}: {case.name}" for text in only)]
    if not found:
        raise SystemExit("no case has such a name; `--only` takes any part of `family: name`")
    return found
