"""What a file says of its model: which one it is, from which file it was read, and what it says of the factual."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.explainer import Explainer
from elbowroom.importers.replay import values_agree
from elbowroom.models import TreeEnsemble
from elbowroom.numerics import Floats
from elbowroom.present.findings import Finding, not_checked
from elbowroom.present.text import spoken
from elbowroom.problem import RecourseProblem
from elbowroom.problem.labels import Category
from elbowroom.problem.rules import OnLeaves
from elbowroom.problem.rules.trees_json import same_trees
from elbowroom.result import NoRegion, Region
from elbowroom.result.own_words import plain_values


def claimed_fingerprint(answer: Region | NoRegion) -> str | None:
    """Which model the file says it is about; None where it does not say."""
    if isinstance(answer, Region):
        return answer.certificate.fingerprint
    return None if answer.origin is None else answer.origin.fingerprint


def is_asked(answer: Region | NoRegion, explainer: Explainer) -> bool:
    """Is this the model that the file is about? Before files kept their origin, the names of columns were part of every
    fingerprint, also where the model has none of its own."""
    claimed, model = claimed_fingerprint(answer), explainer.model
    if answer.origin is None and claimed != model.fingerprint:
        model = replace(model, info=replace(model.info, own_names=True))
    return claimed == model.fingerprint


def same_model(answer: Region | NoRegion, explainer: Explainer, any_model: bool) -> Finding:
    claimed, found = claimed_fingerprint(answer), explainer.model.fingerprint
    if claimed is None:
        return not_checked("whether this is the model that was asked; the file does not keep its fingerprint")
    what = "the certified one" if isinstance(answer, Region) else "the one that was asked"
    if is_asked(answer, explainer):
        return Finding(True, f"the model is {what}: fingerprint {claimed[:12]}")
    text = f"this is a different model: its fingerprint is {found[:12]}, the file is about {claimed[:12]}"
    return Finding(True, f"{text} (accepted: --any-model)") if any_model else Finding(False, text)


def same_file(answer: Region | NoRegion, digest: str) -> list[Finding]:
    """Equal models can be saved as different bytes: then the fingerprint decides."""
    kept = None if answer.origin is None else answer.origin.model_file
    if kept is None:
        return [not_checked("that this is the file that the model was read from; none is kept", "origin.model_file")]
    if kept == digest:
        return [Finding(True, f"the model file is the one that was read: SHA-256 {digest[:12]}")]
    text = f"that this is the file that the model was read from; it is not: SHA-256 {digest[:12]}, not {kept[:12]}"
    return [not_checked(text, "origin.model_file")]


def derived(answer: Region | NoRegion, explainer: Explainer, is_it: bool) -> list[Finding]:
    """What the file says of the model and of its label (or value) for the factual, against what the model says."""
    explainer, factual = _about_the_row(answer, explainer)
    model = explainer.model
    with np.errstate(over="ignore", invalid="ignore"):  # the factual is the file's own
        read = model.info.says(model.scores(factual))[0]
        asked = explainer.predict(factual)[0]
        agree = bool(np.all(asked == np.array(read))) if model.info.members else bool(asked == read)
        same = type(answer.predicted) is type(read) and answer.predicted == read
        if model.info.is_regressor:  # the last digits of a sum differ between machines
            agree = bool(values_agree(model, factual, np.array([float(asked)]))[0])
            same = isinstance(answer.predicted, float) and bool(
                values_agree(model, factual, np.array([answer.predicted]))[0]
            )
    said, ours = (spoken(label, answer.target, answer.labels) for label in (answer.predicted, read))
    fields = ("predicted", "source")
    if not is_it:
        text = f"what the other model said of the factual ({said}; this one says {ours}), and its name"
        return [not_checked(text, *fields)]
    findings = []
    if same and agree:
        findings.append(Finding(True, f"the model says {said} of the factual"))
    else:
        told = ours if agree else f"{ours} as read, {asked!s} as asked"
        findings.append(Finding(False, f"the model says {told} of the factual, the file {said}"))
    if answer.source == model.info.source:
        findings.append(Finding(True, f"the model is what the file calls it: {model.info.source}"))
    else:
        findings.append(Finding(False, f"the model is {model.info.source}, the file calls it {answer.source!r:.200}"))
    return findings


def _about_the_row(answer: Region | NoRegion, explainer: Explainer) -> tuple[Explainer, Floats]:
    """Who speaks about the row itself, which lacks also what the region fills in, and the row with 0 in place of that."""
    filled = answer.filled if isinstance(answer, Region) else ()
    lacking = tuple(name for name in answer.space.names if name in {*answer.missing, *filled})
    factual = answer.factual_values.copy()
    factual[[answer.space.position[name] for name in lacking]] = 0.0
    return explainer.for_missing(lacking), factual[None]


def question_of(answer: Region | NoRegion, explainer: Explainer) -> RecourseProblem:
    """The question that the file says was asked."""
    asked = RecourseProblem.ask(
        explainer.model,
        explainer.space,
        answer.inner_row,
        answer.room,
        answer.target,
        answer.metric,
        answer.rules,
        allow_missing=bool(answer.missing),
    )
    return replace(asked, keeps=answer.keeps)


def same_leaves(answer: Region | NoRegion, explainer: Explainer) -> list[Finding]:
    """A rule about the leaves of the model must be about the leaves of this one."""
    found = []
    for rule in answer.rules:
        if isinstance(rule, OnLeaves):
            ours = explainer.for_missing(()).model
            same = isinstance(ours, TreeEnsemble) and same_trees(ours, rule.votes)
            text = (
                "the leaves that a rule is about are the model's" if same else "a rule is about leaves of another model"
            )
            found.append(Finding(same, text))
    return found


def point_of(answer: Region | NoRegion, values: Floats) -> dict[str, Category]:
    """A point by column of the user's table."""
    return plain_values(answer.space, values, answer.missing)


def same_categories(answer: Region | NoRegion, explainer: Explainer) -> bool:
    """Do columns and categories mean what they mean to the model?"""
    ours, theirs = (
        (space.columns, [(g.name, g.labels) for g in space.groups if g.labels is not None])
        for space in (explainer.space, answer.space)
    )
    return repr(ours) == repr(theirs)  # 1, 1.0 and True are equal, and not the same words
