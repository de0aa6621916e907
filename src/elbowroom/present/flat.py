"""An answer as flat JSON: one object by feature name, for spreadsheets and scripts.

It says what the sentence says, in floats. It has no certificate and is no file for `check`: that is `to_json`.
"""

from __future__ import annotations

from typing import Any

from elbowroom.present.account import account_of
from elbowroom.problem.labels import is_missing
from elbowroom.problem.reader import number_out
from elbowroom.problem.target import Target
from elbowroom.result.no_region import NoRegion
from elbowroom.result.own_words import plain_values
from elbowroom.result.question_json import label_out
from elbowroom.result.region import Region


def flat_json(answer: Region | NoRegion) -> dict[str, Any]:
    """Status, sentence, distance and, for each column of the table, its value now, the centre, both ends of its interval
    and what is asked of it (``kind``); for categories, those that it may have instead of ends. The numbers are those of
    the region that the sentence tells of: ``region.rounded`` where there is one."""
    told = {
        "status": answer.status.name,
        "sentence": answer.sentence(),
        "predicted": _label(answer.predicted),
        **_wanted(answer.target),
        "lower_bound": number_out(answer.lower_bound),
        "seconds": number_out(answer.seconds),
    }
    if isinstance(answer, NoRegion):
        now = plain_values(answer.space, answer.factual_values, answer.missing)
        return told | {"reason": answer.reason, "features": {name: {"now": value} for name, value in now.items()}}
    shown = account_of(answer).shown
    return told | {
        "distance": number_out(shown.distance),
        "changes": shown.changes,
        "features": {str(line["feature"]): _feature(line) for line in shown.intervals.to_dict("records")},
    }


def _wanted(target: Target) -> dict[str, Any]:
    if target.each:
        some = {} if target.count is None else {"count": target.count}
        return {"target": [_wanted(one) for one in target.each], **some}
    if target.values is not None:
        return {"at_least": _plain(target.at_least), "at_most": _plain(target.at_most)}
    return {"target": _label(target.label), "probability": _plain(target.probability)}


def _label(label: object) -> Any:
    if isinstance(label, tuple):  # of several models
        return [_label(each) for each in label]
    return (label_out(label, "label") or {}).get("value")


def _feature(line: dict[Any, Any]) -> dict[str, Any]:
    found = {
        "now": _plain(line["factual"]),
        "center": _plain(line["center"]),
        "low": _plain(line["low"]),
        "high": _plain(line["high"]),
        "kind": line["kind"],
    }
    if line.get("categories"):
        del found["low"], found["high"]
        found["categories"] = [_plain(category) for category in line["categories"]]
    return found


def _plain(value: Any) -> Any:
    if is_missing(value):
        return None
    return number_out(value) if isinstance(value, float) else value
