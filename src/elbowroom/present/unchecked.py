"""What no check looks at, said every time: a file can claim it, and nobody has proven it again.

Every field of a file is either derived again from the model and the rest of the file, or named by one of these remarks.
"""

from __future__ import annotations

from elbowroom.models import Model
from elbowroom.present.few import few_text
from elbowroom.present.findings import Finding, not_checked
from elbowroom.present.numbers import below, percent_up
from elbowroom.present.outcomes import quoted
from elbowroom.present.text import among, attestation_line, within
from elbowroom.problem.rules import InForest, InHull, OnLeaves
from elbowroom.result import NoRegion, Region, Status

OF_FEATURE = (
    "kind",
    "lower",
    "upper",
    "immutable",
    "direction",
    "scale",
    "weight",
    "missing",
    "typical",
    "decimals",
    "price_up",
    "price_down",
)
QUESTION = (
    *(
        "factual",
        "missing",
        "filled",
        "target",
        "certificate.target",
        "rounded.target",
        "room",
        "rules",
        "keeps",
        "distance_norm",
        "space.measure",
    ),
    *(f"space.features.{name}" for name in OF_FEATURE),
    *(f"space.groups.{name}" for name in ("members", "weight", "labels", "pandas_category")),
)
SEARCH = (
    "method",
    "seconds",
    "trace",
    "certificate.seconds",
    "rounded.seconds",
    "origin.seed",
    "origin.time_limit",
    "origin.versions",
)


def unchecked(answer: Region | NoRegion, model: Model, *, signed: bool = False) -> list[Finding]:
    """The remarks that stand under every report."""
    found = [_closeness(answer)] if isinstance(answer, Region) else []
    found.append(
        not_checked(
            "that this is what was asked: the row, target, room, distance and rules, and the kinds, limits, directions, "
            "scales, weights, prices, groups and labels of features are the file's own",
            *QUESTION,
        )
    )
    if isinstance(answer, Region) and answer.few is not None:
        found.append(not_checked(f"{few_text(answer.few)}; run explain with prefer_few again for that", "few"))
    if any(isinstance(rule, InForest | OnLeaves | InHull) for rule in answer.rules):
        text = "from which rows the trees, counts or points of what is plausible were made; they are the file's own"
        found.append(not_checked(text, "rules"))
    if not answer.rules_known:
        found.append(not_checked("the rules of the question; a file of schema 1 does not keep them", "rules"))
    if answer.labels:
        called = ", ".join(f"{quoted(label)} {quoted(name)}" for label, name in answer.labels.pairs)
        found.append(not_checked(f"what classes are called: {called}; the names are the file's own", "labels"))
    units, groups = "space.features.unit", "space.groups.name"
    if model.info.own_names:
        found.append(not_checked("units and names of groups; they are the file's own", units, groups))
    else:
        found.append(
            not_checked(
                "names and units of columns and groups: column names are the file's own, the model has none",
                "space.features.name", units, groups,
            )
        )  # fmt: skip
    found.append(not_checked("how it was found: search, seed, limit, seconds, steps and versions", *SEARCH))
    found += _said(answer, signed)
    return found


def _said(answer: Region | NoRegion, signed: bool) -> list[Finding]:
    """What is attested is what somebody says, whoever that is."""
    said = attestation_line(answer)
    who = "the word of whoever signed the file" if signed else "the file's own; no signature was verified"
    found = [not_checked(f"what is attested is {who}. {said}", "attestation")] if said else []
    return found if signed else [*found, not_checked("who made the file, and when; no signature was verified")]


def _closeness(region: Region) -> Finding:
    again = "run explain again for that proof"
    fields = ("status", "lower_bound", "origin.tolerance")
    if region.status is Status.CERTIFIED:
        closer = f"that no region{among(region)} is more than {percent_up(region.gap)} closer"
        return not_checked(f"{closer} (lower bound {below(region.lower_bound, 4)}); {again}", *fields)
    if share := within(region):
        return not_checked(f"that no region{among(region)} is closer by more than {share}; {again}", *fields)
    return not_checked(f"that no closer region exists{among(region)}; {again}", *fields)
