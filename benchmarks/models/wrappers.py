"""Searches, thresholds, calibration, votes and samplers around a model."""

from __future__ import annotations

from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.models.case import Case, Family, Given
from benchmarks.models.fitting import encoded, fit, later, three
from benchmarks.models.plain import forest, logistic, scaled
from benchmarks.models.preparing import boosting
from benchmarks.models.tables import Table, bundled, credit, grades, loans


def cases() -> list[Case]:
    return [*_searches(), *_thresholds(), *_calibrated(), *_votes(), *_one_against(), *_imbalanced()]


def tree(depth: int = 4) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def _searches() -> list[Case]:
    family = Family("searches")
    grid = {"max_depth": [3, 5]}

    def frozen() -> Given:
        from sklearn.frozen import FrozenEstimator

        return fit(FrozenEstimator(forest(30).fit(loans().X, loans().y)), loans())

    def best() -> Given:
        found = fit(GridSearchCV(scaled(logistic()), {"logisticregression__C": [0.1, 1.0]}, cv=3), loans())
        return Given(found.model.best_estimator_, found.X)

    return [
        family("GridSearchCV(forest)", later(lambda: GridSearchCV(forest(30), grid, cv=3), loans)),
        family("GridSearchCV(pipeline)", later(
            lambda: GridSearchCV(scaled(logistic()), {"logisticregression__C": [0.1, 1.0]}, cv=3), loans)),
        family("RandomizedSearchCV(boosting)", later(
            lambda: RandomizedSearchCV(boosting(30), {"max_depth": [2, 3, 4]}, n_iter=2, cv=3, random_state=0), loans)),
        family("best_estimator_", best),
        family("FrozenEstimator", frozen),
    ]  # fmt: skip


def _thresholded(name: str, inner: Any, **options: Any) -> Given:
    from sklearn import model_selection  # the wrappers came with scikit-learn 1.5

    if not hasattr(model_selection, name):
        raise ImportError(f"this scikit-learn has no {name}")
    return fit(getattr(model_selection, name)(inner, **options), loans())


def _thresholds() -> list[Case]:
    family = Family("thresholds")
    fixed, tuned = "FixedThresholdClassifier", "TunedThresholdClassifierCV"
    return [
        family("FixedThreshold(LogisticRegression)", lambda: _thresholded(fixed, scaled(logistic()), threshold=0.7)),
        family("FixedThreshold(forest)", lambda: _thresholded(fixed, forest(30), threshold=0.7)),
        family("FixedThreshold(boosting)", lambda: _thresholded(fixed, boosting(), threshold=0.65)),
        family("TunedThreshold(LogisticRegression)", lambda: _thresholded(tuned, scaled(logistic()), cv=3)),
        family("TunedThreshold(forest)", lambda: _thresholded(tuned, forest(30), cv=3)),
    ]


def _calibrated() -> list[Case]:
    family = Family("calibration")
    cure = ("Calibrat", "ensemble=False|probability")
    return [
        family("sigmoid, ensemble=False (LinearSVC)", later(lambda: CalibratedClassifierCV(scaled(LinearSVC(random_state=0)), ensemble=False), loans)),
        family("sigmoid, ensemble=False (forest)", later(lambda: CalibratedClassifierCV(forest(30), ensemble=False, cv=3), loans)),
        family("isotonic, ensemble=False (boosting)", later(lambda: CalibratedClassifierCV(boosting(40), method="isotonic", ensemble=False, cv=3), loans)),
        family("isotonic, ensemble=False (LogisticRegression)", later(lambda: CalibratedClassifierCV(scaled(logistic()), method="isotonic", ensemble=False), loans)),
        family("around a frozen model", _prefit),
        family.either("five folds (LogisticRegression)", later(lambda: CalibratedClassifierCV(scaled(logistic())), loans), *cure),
        family.either("five folds (forest)", later(lambda: CalibratedClassifierCV(forest(20)), loans), *cure),
    ]  # fmt: skip


def _prefit() -> Given:
    from sklearn.frozen import FrozenEstimator

    table = loans()
    inner = scaled(logistic()).fit(table.X[:400], table.y[:400])
    model = CalibratedClassifierCV(FrozenEstimator(inner)).fit(table.X[400:], table.y[400:])
    return Given(model, table.X)


def _votes() -> list[Case]:
    family = Family("votes")
    two = [("rf", forest(30)), ("et", ExtraTreesClassifier(30, random_state=0))]
    shallow = [("rf", forest(30, max_depth=6)), ("et", ExtraTreesClassifier(30, max_depth=6, random_state=0))]
    mixed = [("lr", scaled(logistic())), ("rf", forest(20)), ("tree", tree())]
    hard = [("lr", scaled(logistic())), ("svc", scaled(LinearSVC(random_state=0))), ("tree", tree())]
    curve = ("Voting|Bagging|Stacking", "trees|forest|tree", "LogisticRegression|logistic|Pipeline")
    return [
        family("AdaBoost", later(lambda: AdaBoostClassifier(n_estimators=40, random_state=0), loans)),
        family("AdaBoost(tree of depth 3), 3 classes", lambda: three(AdaBoostClassifier(tree(3), n_estimators=20, random_state=0), grades(), "A")),
        family("Bagging(DecisionTree)", later(lambda: BaggingClassifier(n_estimators=30, random_state=0), loans)),
        family("Bagging(DecisionTree), some columns", later(lambda: BaggingClassifier(tree(6), 30, max_features=0.6, random_state=0), loans)),
        family.either("Bagging(LogisticRegression)", later(lambda: scaled(BaggingClassifier(LogisticRegression(), random_state=0)), loans), *curve),
        family.either("Bagging(LinearSVC)", later(lambda: scaled(BaggingClassifier(LinearSVC(random_state=0), random_state=0)), loans), "Bagging", "trees|tree"),
        family("Voting, soft (forest, extra trees)", later(lambda: VotingClassifier(two, voting="soft"), loans)),
        family("Voting, soft, weights", later(lambda: VotingClassifier(shallow, voting="soft", weights=[2, 1]), loans)),
        family.either("Voting, soft (LogisticRegression, forest, tree)", later(lambda: VotingClassifier(mixed, voting="soft"), loans), *curve),
        family("Voting, hard (linear models, tree)", later(lambda: VotingClassifier(hard), loans)),
        family.either("Voting, hard (with a forest)", later(lambda: VotingClassifier(mixed), loans), "Voting", "soft|trees|tree"),
        family.either("Stacking (trees, LogisticRegression)", later(lambda: StackingClassifier([("a", tree()), ("b", forest(10, max_depth=4))], cv=3), loans), "Stacking", "trees|one of|soft|instead"),
        family.either("Stacking (LogisticRegression in the first row)", later(lambda: StackingClassifier(mixed, cv=3), loans), "Stacking", "trees|one of|soft|instead"),
    ]  # fmt: skip


def _one_against() -> list[Case]:
    family = Family("one against others, SVC")
    wine = bundled("wine")
    return [
        family("OneVsRest(LogisticRegression)", lambda: three(scaled(OneVsRestClassifier(logistic())), wine, 1)),
        family("OneVsRest(LinearSVC)", lambda: three(scaled(OneVsRestClassifier(LinearSVC(random_state=0))), grades(), "A")),
        family("OneVsRest(boosting)", lambda: three(OneVsRestClassifier(boosting(15)), bundled("iris"), 1)),
        family.either("OneVsOne(LinearSVC)", lambda: three(scaled(OneVsOneClassifier(LinearSVC(random_state=0))), grades(), "A"), "OneVsOne", "OneVsRest|LinearSVC"),
        family("SVC(linear)", later(lambda: scaled(SVC(kernel="linear")), loans)),
        family("SVC(linear), 3 classes", lambda: three(scaled(SVC(kernel="linear")), bundled("iris"), 1)),
        family.either("NuSVC(linear)", later(lambda: scaled(NuSVC(kernel="linear", nu=0.6)), loans), "NuSVC", "LinearSVC"),
    ]  # fmt: skip


def _scarce() -> Table:
    """One approval in eight, as in fraud and medicine."""
    table = loans()
    keep = (table.y == 0) | (table.X.index % 7 == 0)
    return Table(table.X[keep].reset_index(drop=True), table.y[keep], 1)


def _imbalanced() -> list[Case]:
    family = Family("imbalanced-learn", ("imblearn",))

    def resampled(sampler: str, *steps: Any) -> Given:
        from imblearn import over_sampling, pipeline, under_sampling

        kind = getattr(over_sampling, sampler, None) or getattr(under_sampling, sampler)
        return fit(pipeline.make_pipeline(*steps[:-1], kind(random_state=0), steps[-1]), _scarce())

    def raw(sampler: str, model: Any) -> Given:
        from imblearn import over_sampling, pipeline

        columns = encoded(model)[0]
        return fit(pipeline.make_pipeline(columns, getattr(over_sampling, sampler)(random_state=0), model), credit())

    def ensemble(name: str, **options: Any) -> Given:
        from imblearn import ensemble

        return fit(getattr(ensemble, name)(random_state=0, **options), _scarce())

    return [
        family("Pipeline(SMOTE, forest)", lambda: resampled("SMOTE", forest(30))),
        family("Pipeline(scaler, RandomUnderSampler, LogisticRegression)", lambda: resampled("RandomUnderSampler", StandardScaler(), logistic())),
        family("BalancedRandomForest", lambda: ensemble("BalancedRandomForestClassifier", n_estimators=30)),
        family.either("BalancedBagging", lambda: ensemble("BalancedBaggingClassifier"), "BalancedBagging", "BalancedRandomForest|forest"),
        family.either("RUSBoost", lambda: ensemble("RUSBoostClassifier", n_estimators=20), "RUSBoost", "BalancedRandomForest|forest|AdaBoost"),
        family.either("EasyEnsemble", lambda: ensemble("EasyEnsembleClassifier"), "EasyEnsemble", "BalancedRandomForest|forest"),
        family("Pipeline(ColumnTransformer, SMOTE, LogisticRegression) on words", lambda: raw("SMOTE", logistic())),
    ]  # fmt: skip
