"""A saved answer, checked again from scratch: the file, the model, the room, and every point by the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from elbowroom.disk import read_whole
from elbowroom.errors import InputError
from elbowroom.explainer import Explainer
from elbowroom.kernels.kernel import PLAIN
from elbowroom.models import LinearModel, TreeEnsemble
from elbowroom.present.account import account_of
from elbowroom.present.checking_kept import kept_again
from elbowroom.present.checking_model import (
    derived,
    is_asked,
    point_of,
    question_of,
    same_categories,
    same_file,
    same_leaves,
    same_model,
)
from elbowroom.present.checking_none import report_none
from elbowroom.present.files import load_model_files
from elbowroom.present.findings import Finding, Outcome, Report, decide, not_checked
from elbowroom.present.numbers import below, exact
from elbowroom.present.outcomes import promise, quoted
from elbowroom.present.text import MOST_SPOKEN, claim_of, grid, rules_text, spoken, table_rows
from elbowroom.present.unchecked import unchecked
from elbowroom.problem.class_names import ClassNames
from elbowroom.result import Certificate, Counterexample, Inadmissible, NoRegion, Region, Undecided, Verdict
from elbowroom.result.own_words import with_missing
from elbowroom.result.schema import MOST_BYTES, answer_of, read_answer
from elbowroom.result.status import NEAR_TIE
from elbowroom.signature import verify
from elbowroom.version import __version__
from elbowroom.visible import named

SAMPLED = 1000  # random points that the model itself is asked about, besides the proof
ROUNDING = 1e-9  # relative: a margin that another machine computed may differ by so much


def check_region(
    region_path: Path,
    model_path: Path,
    trust_pickle: bool,
    any_model: bool = False,
    time_limit: float = 60.0,
    key: Path | None = None,
    also: Sequence[Path] | None = None,
) -> Report:
    """Read all files and judge. A file that was changed or contradicts itself raises `InputError`; an untrue claim is a
    finding. With a public ``key`` the signature is verified first: a file that the holder of the key did not sign is not
    looked at any further."""
    signed = None
    if key is None:
        answer = read_answer(region_path)
    else:
        content = read_whole(region_path, MOST_BYTES)
        signed = verify(content, region_path, key)
        if signed is None:
            text = "the signature is not one of this file by the holder of that key: the file was changed, or signed by somebody else"
            return Report((Finding(False, text),), Outcome.REFUTED, "Not signed: nothing else was looked at.")
        answer = answer_of(content, region_path)
    asked = len(answer.target.each) or 1
    if asked != 1 + len(also or ()):
        raise InputError(
            f"{region_path}: the file is about {'one model' if asked == 1 else f'{asked} models'}, and "
            f"{1 + len(also or ())} were given; give the first as MODEL and each further one with --also"
        )
    model, digest = load_model_files(model_path, also, trust_pickle)
    explainer = Explainer(model, answer.space)
    return check_answer(answer, explainer, digest, model_path, any_model, time_limit, signed)


def check_answer(
    answer: Region | NoRegion,
    explainer: Explainer,
    digest: str,
    model_path: Path,
    any_model: bool = False,
    time_limit: float = 60.0,
    signed: str | None = None,
) -> Report:
    """The same for an answer and a model that were read already, and the key, by its SHA-256, that the file is signed with."""
    if explainer.space.names != answer.space.names or not same_categories(answer, explainer):
        raise InputError(
            f"{model_path}: the model has other columns or categories than the region; it was made for another model"
        )
    ClassNames.of(list(answer.labels.pairs), explainer.model.info)  # names of other classes are refused
    explainer = explainer.for_missing(answer.missing)
    findings = [Finding(True, "the file was not changed by accident: seal, checksum and bounds fit each other")]
    if signed is not None:
        text = "the file is signed, as it is, by the holder of the public key with the SHA-256"
        findings.insert(0, Finding(True, f"{text} {signed}"))
    model_found = same_model(answer, explainer, any_model)
    findings += [model_found, *same_file(answer, digest)]
    if isinstance(answer, NoRegion):
        return report_none(answer, explainer, findings, time_limit, signed=signed is not None)
    is_it = is_asked(answer, explainer)
    findings += [*derived(answer, explainer, is_it), *_room(answer, explainer)]
    verdict = explainer.certify(answer, time_limit=time_limit)
    findings += [_judged(answer, verdict), *same_leaves(answer, explainer)]
    if isinstance(verdict, Certificate) and verdict.further:
        which = " and ".join(each.source for each in question_of(answer, explainer).conditions.further)
        findings.append(Finding(True, f"proven again from the trees in the file: {which}"))
    findings += [*_certificate(answer, explainer, verdict, is_it, time_limit)]
    findings += _sample(answer, explainer)
    findings += kept_again(answer, explainer, time_limit)
    if answer.rounded is not None:
        again, verdict = _rounded(answer.rounded, explainer, is_it, time_limit, verdict)
        findings += again
    if PLAIN:
        text = "judged without compiled code: kernels ran as plain Python, and no kernel cache was read"
        findings.append(Finding(True, text, remark=True))
    findings += unchecked(answer, explainer.model, signed=signed is not None)
    return _report(answer, explainer, findings, model_found, verdict)


def _report(
    region: Region, explainer: Explainer, findings: list[Finding], model_found: Finding, verdict: Verdict
) -> Report:
    decided = decide(findings)
    proven = f"at every point of the region {promise(region.target, region.labels, getattr(verdict, 'keepers', ()))}"
    conclusion = {
        Outcome.VALID: f"Valid: {proven}.",
        Outcome.REFUTED: "Refuted: the file's claim does not hold for this model.",
        Outcome.UNDECIDED: "Undecided: nothing was refuted, but not everything could be proven.",
    }[decided]
    if decided is Outcome.REFUTED and all(f.good or f.remark or f is model_found for f in findings):
        conclusion = f"Not the certified model. For the given one it was nevertheless proven that {proven}; --any-model accepts that."
    if not isinstance(verdict, Certificate):
        counterexample = point_of(region, verdict.point) if isinstance(verdict, Counterexample) else None
        return Report(tuple(findings), decided, conclusion, counterexample)
    account, info = account_of(region), explainer.model.info
    sentence = f"{claim_of(account)} The model is {info.source}, fingerprint {explainer.model.fingerprint[:12]}."
    rows = table_rows(account, only_relevant=True)
    table = grid(rows) if len(rows) - 1 > MOST_SPOKEN else None  # a sentence about more refers to it
    return Report(tuple(findings), decided, conclusion, None, sentence, table)


def _rounded(
    region: Region, explainer: Explainer, is_it: bool, time_limit: float, other: Verdict
) -> tuple[list[Finding], Verdict]:
    """The region around the rounded centre, which is what is shown, has to hold as well; the verdict that decides is the
    first one that is no certificate."""
    verdict = explainer.certify(region, time_limit=time_limit)
    found = [*_room(region, explainer), _judged(region, verdict)]
    found += [*_certificate(region, explainer, verdict, is_it, time_limit, "rounded"), *_sample(region, explainer)]
    found += kept_again(region, explainer, time_limit)
    told = [replace(finding, what=f"as rounded: {finding.what}") for finding in found]
    return told, verdict if isinstance(other, Certificate) else other


# ---- the room -------------------------------------------------------------------------------------------------------
def _room(region: Region, explainer: Explainer) -> list[Finding]:
    """The certified set must be the room that the file says was asked for, around a centre that may be an answer."""
    problem = question_of(region, explainer)
    broken = problem.why_inadmissible(region.body.center) or problem.broken_in(region.body)
    if broken is not None:
        return [Finding(False, f"the centre may not be an answer: {broken}")]
    if not problem.is_room(region.body):
        return [Finding(False, "the certified set is not the room that was asked for")]
    findings = [Finding(True, "the certified set is the room that was asked for, around an allowed centre")]
    if region.rules:
        findings.append(Finding(True, f"the centre obeys the rules: {rules_text(region)}"))
    return findings


# ---- every point ----------------------------------------------------------------------------------------------------
def _judged(region: Region, verdict: Verdict) -> Finding:
    match verdict:
        case Certificate():
            text = f"every point proven again by {verdict.method}: margin {below(verdict.margin, 3)}, {verdict.seconds:.2g} s"
            return Finding(True, text)
        case Counterexample():
            shown = ", ".join(
                f"{named(name)} = {exact(value) if type(value) is float else quoted(value)}"
                for name, value in point_of(region, verdict.point).items()
            )
            if verdict.source:
                where = "the centre" if verdict.at_center else "a point of the region"
                if verdict.near_tie:
                    return Finding(
                        None, f"the judge could not decide: {verdict.source} is {NEAR_TIE} at {where}: {shown}"
                    )
                return Finding(False, f"refuted by {where}, where {verdict.source} does not hold: {shown}")
            if verdict.near_tie:
                return Finding(None, f"the judge could not decide: a point is {NEAR_TIE}: {shown}")
            return Finding(
                False,
                f"refuted by a point of the region that gets {spoken(verdict.label, region.target, region.labels)}: {shown}",
            )
        case Undecided():
            return Finding(None, f"the judge could not decide: {verdict.reason}")
        case Inadmissible():
            return Finding(False, f"the centre may not be an answer: {verdict.reason}")
        case _:
            assert_never(verdict)


def _certificate(
    region: Region, explainer: Explainer, verdict: Verdict, is_it: bool, time_limit: float, where: str = "certificate"
) -> list[Finding]:
    """The margin and the words of the stored certificate, against those of the new one.

    The margin is a lower bound: one that is not above the new one is proven. The judges of linear models and trees
    compute it exactly, so that a larger one is false. Other judges stop when a bound is good enough; there a larger one
    is refuted by the margin at the centre, or stays open.
    """
    fields = tuple(f"{where}.{name}" for name in ("margin", "method", "assumptions"))
    if not is_it or not isinstance(verdict, Certificate):
        return [not_checked("margin, method and assumptions of the stored certificate", *fields)]
    stored, findings = region.certificate, []
    claimed = below(stored.margin, 3)
    if stored.margin <= verdict.margin + ROUNDING * abs(verdict.margin):
        findings.append(Finding(True, f"the margin of the file, {claimed}, is proven"))
    else:
        center = region.body.center
        point = replace(region.body, lower=center, upper=center, free_groups=())
        at_center = explainer.certify(replace(region, certificate=replace(stored, body=point)), time_limit=time_limit)
        most = at_center.margin if isinstance(at_center, Certificate) else verdict.margin
        false = isinstance(explainer.model, (LinearModel, TreeEnsemble)) or stored.margin > most * (1.0 + ROUNDING)
        text = f"the margin of the file, {claimed}, is more than the judge proves: {below(verdict.margin, 3)}"
        findings.append(Finding(False if false else None, text))
    if others := sorted(set(stored.keepers) - set(verdict.keepers)):
        shown = ", ".join(str(i + 1) for i in others)
        findings.append(Finding(None, f"the file says that models {shown} keep the region, too: that is not proven"))
    words = (stored.method, stored.assumptions) == (verdict.method, verdict.assumptions)
    release = None if region.origin is None else region.origin.versions.get("elbowroom")
    if words:
        findings.append(Finding(True, "method and assumptions of the certificate are the judge's"))
    elif release == __version__:
        findings.append(Finding(False, "method or assumptions of the certificate are not those of the judge"))
    else:
        text = f"method and assumptions of the certificate ({stored.method!r:.200}); they are not those of this release"
        findings.append(not_checked(text, *fields[1:]))
    return findings


def _sample(region: Region, explainer: Explainer) -> list[Finding]:
    """The model's own predict at random points: not a proof, but it does not depend on how the model was read."""
    tau = region.target.probability
    if tau is not None and tau <= 0.5:
        return []
    labels = explainer.predict(with_missing(region.space, region.body.sample(SAMPLED, seed=0), region.missing))
    wrong = sum(not region.target.is_met(label) for label in labels)
    if wrong:
        return [Finding(False, f"the model itself disagrees at {wrong} of {SAMPLED} random points")]
    return [Finding(True, f"the model itself agrees at {SAMPLED} of {SAMPLED} random points")]
