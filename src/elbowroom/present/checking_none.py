"""A saved "there is no region", checked as far as that goes without a search.

That none exists is a statement about all centres, which only a search can prove again. A few claims need none: a model
with one class, limits that leave nothing, nothing that may move. And one centre is always at hand to refute: the factual
itself, whose distance is 0.
"""

from __future__ import annotations

from elbowroom.certify.judge import certify_answer
from elbowroom.explainer import Explainer
from elbowroom.present.checking_model import claimed_fingerprint, derived, is_asked, point_of, question_of
from elbowroom.present.findings import Finding, Outcome, Report, decide, not_checked
from elbowroom.present.text import no_region_sentence
from elbowroom.present.unchecked import unchecked
from elbowroom.result import Certificate, NoRegion, Status, Undecided

FIELDS = ("status", "lower_bound", "reason", "origin.tolerance")


def report_none(
    answer: NoRegion, explainer: Explainer, findings: list[Finding], time_limit: float, *, signed: bool
) -> Report:
    """Everything but the claim itself, unless that needs no search."""
    if claimed_fingerprint(answer) is not None:
        findings = [*findings, *derived(answer, explainer, is_asked(answer, explainer))]
    claim = _claim(answer, explainer, time_limit)
    findings = [*findings, claim, *unchecked(answer, explainer.model, signed=signed)]
    decided = decide(findings)
    if decided is Outcome.VALID and claim.remark:
        decided = Outcome.NOT_CHECKED
    conclusion = {
        Outcome.VALID: "Valid: no such region exists.",
        Outcome.REFUTED: "Refuted: the file's claim does not hold for this model.",
        Outcome.UNDECIDED: "Undecided: nothing was refuted, but not everything could be proven.",
        Outcome.NOT_CHECKED: "Not checked: the claim itself. Nothing was refuted; only explain, which searches, can prove it again.",
    }[decided]
    refuted = (
        point_of(answer, answer.factual_values) if claim.good is False and not answer.target.names_nothing else None
    )
    return Report(tuple(findings), decided, conclusion, refuted)


def _claim(answer: NoRegion, explainer: Explainer, time_limit: float) -> Finding:
    classes = explainer.model.info.classes
    if answer.target.names_nothing:  # no other class was named
        if len(classes) == 1:
            return Finding(True, f"the model has a single class, so that no input gets another one: {classes[0]!s}")
        return Finding(False, f"the file names no wanted class, and the model has {len(classes)}")
    problem = question_of(answer, explainer)
    if problem.trouble is not None and answer.status is Status.NONE_EXISTS:
        return Finding(True, f"the limits leave nothing: {problem.trouble}")
    trouble = problem.why_inadmissible(problem.factual)
    verdict = None
    if trouble is None and answer.lower_bound > 0.0 and answer.keeps is None:
        verdict = certify_answer(problem, problem.body(problem.factual), time_limit)
        if isinstance(verdict, Certificate):
            return Finding(False, "refuted: the row itself, with its room, is such a region, at distance 0")
    fixed = bool((problem.lower == problem.upper).all()) and not isinstance(verdict, Undecided) and answer.keeps is None
    if fixed and answer.status is Status.NONE_EXISTS:
        return Finding(True, "nothing may move, and the row itself is not such a region")
    return not_checked(f"the claim itself: {no_region_sentence(answer)}", *FIELDS)
