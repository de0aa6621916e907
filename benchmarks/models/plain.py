"""scikit-learn on tables of numbers, with all kinds of targets, tables, rooms and distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.naive_bayes import BernoulliNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from benchmarks.models.case import Case, Family, Given
from benchmarks.models.fitting import fit, later, three
from benchmarks.models.tables import Table, bundled, grades, loans
from elbowroom import AtMost, Ball, Box, Diamond, Target


def scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


def logistic() -> LogisticRegression:
    return LogisticRegression(max_iter=2000)


def forest(trees: int = 100, **options: Any) -> RandomForestClassifier:
    return RandomForestClassifier(trees, random_state=0, **options)


def cases() -> list[Case]:
    return [*_linear(), *_trees(), *_networks(), *_targets(), *_tables(), *_questions()]


def _linear() -> list[Case]:
    family = Family("linear")
    return [
        family("LogisticRegression", later(logistic, loans)),
        family("LogisticRegression, Space", later(logistic, loans, space={"immutable": ["age"]})),
        family("LogisticRegression, 3 classes", lambda: three(scaled(logistic()), bundled("wine"), 1)),
        family("LogisticRegression, l1", later(lambda: scaled(LogisticRegression(solver="saga", l1_ratio=1.0)), loans)),
        family("LogisticRegressionCV", later(lambda: scaled(LogisticRegressionCV(Cs=3, cv=3)), loans)),
        family("LinearSVC", later(lambda: scaled(LinearSVC(random_state=0)), loans)),
        family("LinearSVC, 3 classes", lambda: three(scaled(LinearSVC(random_state=0)), grades(), "A")),
        family("RidgeClassifier", later(RidgeClassifier, loans)),
        family("RidgeClassifierCV, 3 classes", lambda: three(RidgeClassifierCV(), bundled("iris"), 1)),
        family("SGDClassifier, log loss", later(lambda: scaled(SGDClassifier(loss="log_loss", random_state=0)), loans)),
        family("SGDClassifier, hinge", later(lambda: scaled(SGDClassifier(random_state=0)), loans)),
        family("Perceptron", later(lambda: scaled(Perceptron(random_state=0)), loans)),
        family("LinearDiscriminantAnalysis", later(LinearDiscriminantAnalysis, loans)),
        family("LinearDiscriminantAnalysis, 3 classes", lambda: three(LinearDiscriminantAnalysis(), bundled("iris"), 2)),
        family("LogisticRegression, 30 columns", lambda: fit(scaled(logistic()), bundled("cancer"))),
        family.either("BernoulliNB", later(lambda: BernoulliNB(binarize=0.5), loans), "BernoulliNB", "LogisticRegression|logistic"),
    ]  # fmt: skip


def _trees() -> list[Case]:
    family = Family("trees")
    boosting, hist = GradientBoostingClassifier, HistGradientBoostingClassifier
    return [
        family("DecisionTree", later(lambda: DecisionTreeClassifier(max_depth=5, random_state=0), loans)),
        family("DecisionTree, full depth, 3 classes", lambda: three(DecisionTreeClassifier(random_state=0), grades(), "A")),
        family("ExtraTree", later(lambda: ExtraTreeClassifier(random_state=0), loans)),
        family("RandomForest, defaults", later(forest, loans)),
        family("RandomForest, Space", later(lambda: forest(50, max_depth=8), loans, space={"immutable": ["age"]})),
        family("RandomForest, 3 classes", lambda: three(forest(), bundled("iris"), 1)),
        family("RandomForest, 30 columns", lambda: fit(forest(), bundled("cancer"), room=Box(0.02))),
        family("RandomForest, class weights", later(lambda: forest(60, class_weight="balanced_subsample"), loans)),
        family("ExtraTrees", later(lambda: ExtraTreesClassifier(60, max_depth=8, random_state=0), loans)),
        family("GradientBoosting", later(lambda: boosting(random_state=0), loans)),
        family("GradientBoosting, 3 classes", lambda: three(boosting(n_estimators=40, random_state=0), grades(), "A")),
        family("GradientBoosting, exponential loss", later(lambda: boosting(loss="exponential", random_state=0), loans)),
        family("HistGradientBoosting", later(lambda: hist(random_state=0), loans)),
        family("HistGradientBoosting, 3 classes", lambda: three(hist(max_iter=40, random_state=0), grades(), "A")),
        family("HistGradientBoosting, monotonic, class weights", later(
            lambda: hist(monotonic_cst={"income": 1, "debt": -1}, class_weight="balanced", random_state=0), loans)),
        family("HistGradientBoosting, early stopping", later(lambda: hist(early_stopping=True, random_state=0), loans)),
    ]  # fmt: skip


def _networks() -> list[Case]:
    family = Family("MLP")

    def net(*layers: int, **options: Any) -> Any:
        return scaled(MLPClassifier(layers, random_state=0, max_iter=150, **options))

    tanh = ("MLPClassifier|tanh", "relu")
    return [
        family("MLP (100,)", later(lambda: net(100), loans)),
        family("MLP (32,)", later(lambda: net(32), loans)),
        family("MLP (20, 20)", later(lambda: net(20, 20), loans)),
        family("MLP (16,), 3 classes", lambda: three(net(16), bundled("wine"), 1)),
        family("MLP, identity", later(lambda: net(10, activation="identity"), loans)),
        family.refuses("MLP, tanh", later(lambda: net(10, activation="tanh"), loans), *tanh),
        family.refuses("MLP, logistic", later(lambda: net(10, activation="logistic"), loans), "logistic", "relu"),
    ]


def _relabelled(table: Table, no: Any, yes: Any) -> Table:
    return Table(table.X, np.where(table.y == 1, yes, no), yes)


def _targets() -> list[Case]:
    family = Family("targets")
    return [
        family("text labels", lambda: fit(forest(30), _relabelled(loans(), "rejected", "approved"))),
        family("truth values", lambda: fit(scaled(logistic()), _relabelled(loans(), False, True))),
        family("labels 1 and 2", lambda: fit(forest(30), _relabelled(loans(), 2, 1))),
        family("labels -1 and 1", lambda: fit(scaled(LinearSVC(random_state=0)), _relabelled(loans(), -1, 1))),
        family("float labels", lambda: fit(scaled(logistic()), _relabelled(loans(), 0.0, 1.0))),
        family("the label said", lambda: fit(forest(30), loans(), target=1)),
        family("probability, linear", lambda: _sure(scaled(logistic()), 0.7)),
        family("probability, forest", lambda: _sure(forest(30), 0.7)),
        family("probability, boosting", lambda: _sure(GradientBoostingClassifier(random_state=0), 0.8)),
    ]


def _sure(model: Any, probability: float) -> Given:
    fitted = fit(model, loans())
    return Given(
        fitted.model, fitted.X, target=Target(1, probability=probability),
        judge=lambda rows: fitted.model.predict_proba(rows)[:, 1], good=lambda told: told >= probability,
    )  # fmt: skip


def _array(model: Any, **given: Any) -> Given:
    table = loans()
    X = table.X.to_numpy(dtype=float)
    return Given(model.fit(X, table.y), X, **given)


def _tables() -> list[Case]:
    family = Family("tables of numbers")
    single = Table(loans().X.astype(np.float32), loans().y, 1)
    nullable = Table(loans().X.convert_dtypes(), loans().y, 1)
    shuffled = loans().X[["savings", "age", "debt", "income", "late_payments", "years_employed"]]
    numbered = Table(loans().X.set_axis(range(6), axis=1), loans().y, 1)
    whole = Table(loans().X[["age", "late_payments"]].assign(kids=loans().X["age"] % 4), loans().y, 1)
    spaced = Table(loans().X.rename(columns={"income": "income (EUR)", "debt": "debt, total"}), loans().y, 1)
    return [
        family("NumPy array, Explainer(model, X)", lambda: _array(forest(30))),
        family("NumPy array, Explainer(model)", lambda: _array(scaled(logistic()), space="none", room=Box(0.001))),
        family("float32 frame, forest", lambda: fit(forest(30), single)),
        family("float32 frame, logistic", lambda: fit(scaled(logistic()), single)),
        family("nullable dtypes", lambda: fit(forest(30), nullable)),
        family("Space in another order of columns", lambda: _reordered(shuffled)),
        family("numbers as column names", lambda: fit(forest(30), numbered)),
        family("whole numbers only", lambda: fit(forest(30, max_depth=6), whole)),
        family("blanks and brackets in names", lambda: fit(scaled(logistic()), spaced)),
        family("HistGradientBoosting on an array", lambda: _array(HistGradientBoostingClassifier(random_state=0))),
    ]


def _reordered(frame: Any) -> Given:
    from elbowroom import Space

    fitted = fit(forest(30), loans())
    return Given(fitted.model, fitted.X, space={"space": Space.from_frame(frame)})


def _questions() -> list[Case]:
    family = Family("rooms and rules")
    return [
        family("Ball, logistic", later(lambda: scaled(logistic()), loans, room=Ball(0.05))),
        family("Ball, boosting", later(lambda: GradientBoostingClassifier(n_estimators=40), loans, room=Ball(0.03))),
        family("Diamond, forest", later(lambda: forest(30, max_depth=6), loans, room=Diamond(0.04))),
        family("l2, boosting", later(lambda: GradientBoostingClassifier(random_state=0), loans, distance="l2")),
        family("linf, logistic", later(lambda: scaled(logistic()), loans, distance="linf")),
        family("AtMost(2), forest", later(lambda: forest(30, max_depth=6), loans, rules=(AtMost(2),))),
        family("room in euros", later(lambda: forest(50), loans, room=Box({"income": 2000, "debt": 500}))),
        family("a single point", later(lambda: forest(50), loans, room=Box(0))),
    ]
