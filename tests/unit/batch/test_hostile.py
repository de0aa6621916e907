"""Tables, names and arguments as nobody should make them."""

from __future__ import annotations

import os
import pickle
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Box, Explainer, InputError, Target
from elbowroom.batch.question import BatchQuestion
from elbowroom.batch.record import LOST, failed
from elbowroom.batch.runner import DIED, MOST_PER_CORE, Run
from elbowroom.batch.store import Store
from tests.support.batches import portfolio, without_times

NUMBERS = np.random.default_rng(0).normal(size=(100, 3))


def test_a_question_that_no_row_can_be_asked_is_refused_at_once() -> None:
    explainer, rejected = portfolio()
    three = Explainer(RandomForestClassifier(3, random_state=0).fit(NUMBERS, np.arange(100) % 3))
    values = Explainer(RandomForestRegressor(3, random_state=0).fit(NUMBERS, NUMBERS[:, 0]))
    for ask in (three.explain_many, three.explain_frame):
        with pytest.raises(InputError, match="say which one is wanted"):
            ask(NUMBERS[:2])
    with pytest.raises(InputError, match="regressor"):
        values.explain_many(NUMBERS[:2])
    with pytest.raises(InputError, match=r"unknown column 'wealth'"):
        explainer.explain_many(rejected, Box({"wealth": 1.0}))
    with pytest.raises(InputError, match=r"method='magic'"):
        explainer.explain_many(rejected, method="magic")
    with pytest.raises(InputError, match=r"missing columns \['debt'\]"):
        explainer.explain_many(rejected.drop(columns="debt"))
    with pytest.raises(InputError, match=r"unknown columns \['id'\]"):
        explainer.explain_frame(rejected.assign(id=1))
    with pytest.raises(InputError, match="more than once"):
        explainer.explain_many(pd.concat([rejected, rejected[["debt"]]], axis=1))
    with pytest.raises(InputError, match=r"store=3"):
        explainer.explain_many(rejected, store=3)  # type: ignore[arg-type]


def test_regressors_and_several_classes() -> None:
    three = Explainer(RandomForestClassifier(3, random_state=0).fit(NUMBERS, np.arange(100) % 3))
    values = Explainer(RandomForestRegressor(3, random_state=0).fit(NUMBERS, NUMBERS[:, 0]))
    for explainer, target in ((three, 1), (values, Target(at_least=0.3))):
        batch = explainer.explain_many(NUMBERS[:4], Box(0.01), target)
        alone = [explainer.explain(row, Box(0.01), target).distance for row in NUMBERS[:4]]
        assert batch.frame["distance"].tolist() == alone
    single = Explainer(DecisionTreeClassifier().fit(NUMBERS, np.zeros(100)))
    assert set(single.explain_many(NUMBERS[:2]).frame["status"]) == {"NONE_EXISTS"}


def test_cells_that_are_no_values_are_errors_of_their_rows() -> None:
    explainer, rejected = portfolio()
    rows = rejected.head(5).copy().astype(object)
    rows.iat[0, 0] = np.array([1.0, 2.0])
    rows.iat[1, 1] = {"a": 1}
    rows.iat[2, 2] = 1j
    rows.iat[3, 0] = 10**400
    frame = explainer.explain_many(rows, Box(0.02)).frame
    assert frame["status"].tolist() == ["ERROR"] * 4 + ["OPTIMAL"]
    assert frame["error"].notna().tolist() == [True] * 4 + [False]


def test_an_index_of_several_levels(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    rows = rejected.head(3).set_index(pd.MultiIndex.from_tuples([("a", 1), ("b", 2), ("b", 2)]))
    batch = explainer.explain_many(rows, Box(0.02), store=tmp_path / "runs.db")
    assert batch.frame.index.equals(rows.index)
    batch.to_csv(tmp_path / "a.csv")
    batch.to_parquet(tmp_path / "a.parquet")
    assert pd.read_csv(tmp_path / "a.csv")["level_1"].tolist() == [1, 2, 2]
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "a.parquet"), batch.frame, check_dtype=False)
    assert "b / 2" in batch.to_html()
    assert len(explainer.explain_many(rows, Box(0.02), store=tmp_path / "runs.db")) == 3


def test_names_that_are_markup_formulas_or_escapes(tmp_path: Path) -> None:
    names = ["=cmd|'/c calc'!A0", "<img src=x onerror=alert(1)>", "\x1b[2Jred"]
    X = pd.DataFrame(NUMBERS, columns=names)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, NUMBERS.sum(axis=1) > 0)
    rows = X.head(4).set_axis(["+1+1", "@SUM(A1)", "<b>bold</b>", "\x1b]0;title\x07"], axis=0)
    batch = Explainer(model, X).explain_many(rows, Box(0.01))
    assert batch.frame.index.equals(rows.index)
    batch.to_csv(tmp_path / "a.csv")
    read = pd.read_csv(tmp_path / "a.csv")
    assert read["index"].tolist()[:3] == ["'+1+1", "'@SUM(A1)", "<b>bold</b>"]
    cells = [str(cell) for column in read.select_dtypes(exclude="number") for cell in read[column].dropna()]
    assert not [cell for cell in [*cells, *read.columns] if cell.startswith(("=", "+", "-", "@"))]
    audit = batch.audit(["<i>", "=1", "\x1b[2J", "all"])
    for page in (batch.to_html(), audit.to_html(), audit._repr_html_(), batch._repr_html_()):
        assert not [tag for tag in ("<img", "<b>bold", "<i>", "\x1b", "\x07") if tag in page]
    assert audit.table.index.tolist()[0] == "all" and len(audit.table) == 5
    batch.plot()


def test_more_processes_than_are_of_use_are_not_started(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    question = BatchQuestion.of(Box(0.02), None, "l1", (), 60.0, "auto", 0)
    with Store() as store:
        assert Run(explainer, rejected.head(3), question, store, 10**9, None)._workers <= 3
        many = Run(explainer, pd.concat([rejected] * 9), question, store, 10**9, None)._workers
        assert many <= MOST_PER_CORE * (os.cpu_count() or 1)


def test_an_explainer_that_cannot_travel() -> None:
    explainer, rejected = portfolio()
    held = pickle.loads(pickle.dumps(explainer))
    held.lock = threading.Lock()
    with pytest.raises(InputError, match=r"cannot be sent to other processes .* use n_jobs=1"):
        held.explain_many(rejected.head(4), Box(0.02), n_jobs=2)
    assert len(held.explain_many(rejected.head(4), Box(0.02))) == 4


class Counted(Explainer):
    """Writes down when it arrives in a process."""

    def __init__(self, whole: Explainer, arrivals: Path) -> None:
        self.__dict__.update(whole.__dict__)
        self.arrivals = arrivals

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        with self.arrivals.open("a") as lines:
            lines.write(f"{os.getpid()}\n")


def test_the_model_is_unpacked_once_in_each_process(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    rows = pd.concat([rejected] * 2)
    found = Counted(explainer, tmp_path / "arrivals").explain_many(rows, Box(0.02), n_jobs=2)
    arrivals = (tmp_path / "arrivals").read_text().split()
    assert 1 <= len(arrivals) <= 2 and len(set(arrivals)) == len(arrivals)
    pd.testing.assert_frame_equal(
        without_times(found.frame), without_times(explainer.explain_many(rows, Box(0.02)).frame)
    )


def test_progress_that_fails_loses_nothing(tmp_path: Path) -> None:
    explainer, rejected = portfolio()

    def fail(progress: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        explainer.explain_many(rejected.head(3), Box(0.02), store=tmp_path / "runs.db", on_progress=fail)
    with Store(tmp_path / "runs.db", reading=True) as store:
        assert len(store.statuses()) == 1


def test_a_row_lost_with_its_process_is_asked_again_by_the_next_run(tmp_path: Path) -> None:
    explainer, rejected = portfolio()
    path, rows = tmp_path / "runs.db", rejected.head(2)
    question = BatchQuestion.of(Box(0.02), None, "l1", (), 60.0, "auto", 0)
    from elbowroom.batch.rows import rows_of

    with Store(path) as store:
        store.begin(question.document(explainer, rows.columns), explainer.versions, rows_of(rows), 2)
        store.keep([failed(0, DIED, limit=LOST)])
    assert explainer.explain_many(rows, Box(0.02), store=path).frame["status"].tolist() == ["OPTIMAL"] * 2
