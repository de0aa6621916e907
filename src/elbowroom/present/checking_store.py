"""Every answer of a store, proven again: that it is about the question and the row of its place, and that it holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from elbowroom.batch.record import Record, flat
from elbowroom.batch.rows import table_of_rows
from elbowroom.batch.runner import BatchProgress
from elbowroom.batch.store import Store
from elbowroom.errors import InputError
from elbowroom.explainer import Explainer
from elbowroom.present.checking import check_answer
from elbowroom.present.endings import Exit
from elbowroom.present.files import load_model_file
from elbowroom.present.findings import Outcome
from elbowroom.present.screen import Screen
from elbowroom.problem import Plausible
from elbowroom.problem.rules import rules_out
from elbowroom.result import NoRegion, Region, Status
from elbowroom.result.question_json import room_out, space_out, target_out
from elbowroom.result.schema import read_answer


def check_every_answer(
    screen: Screen,
    path: Path,
    model_path: Path,
    trust_pickle: bool,
    any_model: bool,
    time_limit: float,
    on_progress: Callable[[BatchProgress], None],
) -> Exit:
    """Judge every answer again; each that does not hold is shown with its reasons."""
    counts = dict.fromkeys(Outcome, 0)
    without = 0
    with Store(path, reading=True) as store:
        question = store.question
        table = table_of_rows(store.rows(), [str(name) for name in question["columns"]])
        model, digest = load_model_file(model_path, trust_pickle)
        explainer: Explainer | None = None
        for place, record in enumerate(store.records(range(len(table)))):
            if record is None or record.answer is None:
                without += 1
                continue
            answer = read_answer(record.answer)
            explainer = explainer or Explainer(model, answer.space)
            wrong = list(not_its_own(answer, record, question, table.iloc[[place]]))
            report = check_answer(answer, explainer, digest, model_path, any_model, time_limit)
            outcome = Outcome.REFUTED if wrong else report.outcome
            if outcome is Outcome.NOT_CHECKED and isinstance(answer, NoRegion) and answer.status is Status.NONE_EXISTS:
                outcome = searched_again(explainer, answer, question, time_limit)
                wrong += ["a new search finds a region"] if outcome is Outcome.REFUTED else []
            counts[outcome] += 1
            if outcome is Outcome.REFUTED:
                screen.line(f"row {table.index[place]}: {report.conclusion if not wrong else 'Refuted.'}")
                for reason in [*wrong, *(finding.what for finding in report.findings if finding.good is False)]:
                    screen.line(f"  {reason}")
            on_progress(BatchProgress(place + 1, len(table), {}, 0.0))
    screen.line(
        f"{counts[Outcome.VALID]:,} answers hold, {counts[Outcome.REFUTED]:,} are refuted, {counts[Outcome.UNDECIDED]:,} "
        f"undecided; {counts[Outcome.NOT_CHECKED]:,} found nothing in their time and {without:,} rows have no answer."
    )
    screen.line("Not proven again: that no closer region exists than the one that was found.")
    if counts[Outcome.REFUTED]:
        return Exit.REFUTED
    return Exit.UNKNOWN if counts[Outcome.UNDECIDED] else Exit.REGION


def not_its_own(
    answer: Region | NoRegion, record: Record, question: dict[str, Any], row: pd.DataFrame
) -> Iterator[str]:
    """Why an answer is not one to the question of the store about the row of its place, with the line of its table."""
    found: dict[str, Any] = {
        "space": space_out(answer.space),
        "room": room_out(answer.room),
        "distance": answer.metric.value,
    }
    if question["target"] is not None:
        found["target"] = target_out(answer.target)
    if not any(isinstance(rule, Plausible) for rule in answer.rules):  # which are settled with the model
        found["rules"] = rules_out(answer.rules)
    for key, value in json.loads(json.dumps(found)).items():
        if value != question[key]:
            yield f"it answers another question: its {key} is not that of the store"
    try:
        asked = answer.space.row(row, allow_missing=True)
    except InputError:
        asked = None  # values that have no JSON of their own, such as categories that are dates
    if asked is not None and not np.array_equal(asked, answer.inner_row, equal_nan=True):
        yield "it is about another row than the store has in its place"
    if record.status != answer.status.name or record.line != json.dumps(flat(answer.space, answer)):
        yield "its line in the table says something else than the answer"


def searched_again(explainer: Explainer, answer: NoRegion, question: dict[str, Any], time_limit: float) -> Outcome:
    """That there is no region can only be proven by a search."""
    again = explainer.explain(
        answer.inner_row, answer.room, None if answer.target.names_nothing else answer.target, answer.metric, answer.rules,
        time_limit, str(question["method"]), int(question["seed"]),
    )  # fmt: skip
    if isinstance(again, Region):
        return Outcome.REFUTED
    return Outcome.VALID if again.status is Status.NONE_EXISTS else Outcome.UNDECIDED
