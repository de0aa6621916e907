"""A saved region, checked again from scratch: the file, the model, the room, and every point by the judge."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

import numpy as np

from elbowroom.errors import InputError
from elbowroom.explainer import Explainer
from elbowroom.kernels.kernel import PLAIN
from elbowroom.present.files import load_model
from elbowroom.present.numbers import below, exact
from elbowroom.present.screen import Styled
from elbowroom.present.text import among, outcome, quoted, rules_text
from elbowroom.problem import Body, RecourseProblem
from elbowroom.result import Certificate, Counterexample, Inadmissible, Region, Status, Undecided

SAMPLED = 1000  # random points that the model itself is asked about, besides the proof


@dataclass(frozen=True)
class Finding:
    """One thing that was checked. ``good`` is None where nothing could be decided; a remark decides nothing at all."""

    good: bool | None
    what: str
    remark: bool = False

    def parts(self) -> tuple[Styled, str]:
        mark, style = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "yellow")}[self.good]
        return Styled(f"{mark} ", style), self.what


@dataclass(frozen=True)
class Report:
    """All findings and what follows: True the claim holds, False refuted, None undecided."""

    findings: tuple[Finding, ...]
    holds: bool | None
    conclusion: str
    counterexample: dict[str, float] | None

    def as_json(self) -> dict[str, Any]:
        return {
            "holds": self.holds,
            "conclusion": self.conclusion,
            "findings": [{"good": f.good, "what": f.what} for f in self.findings],
            "counterexample": self.counterexample,
        }


def check_region(
    region_path: Path, model_path: Path, trust_pickle: bool, any_model: bool = False, time_limit: float = 60.0
) -> Report:
    """Read both files and judge. A changed file raises `InputError`; an untrue claim is a finding."""
    region = Region.from_json(region_path)
    explainer = Explainer(load_model(model_path, trust_pickle), region.space)
    if explainer.space.names != region.space.names:
        raise InputError(f"{model_path}: the model has other columns than the region; it was made for another model")
    findings = [Finding(True, "the file is intact: seal and checksum match")]
    same_model = _fingerprint(region, explainer, any_model)
    findings += [same_model, *_room(region, explainer)]
    judged, counterexample = _judge(region, explainer, time_limit)
    findings += [judged, *_sample(region, explainer)]
    if PLAIN:
        text = "judged without compiled code: kernels ran as plain Python, and no kernel cache was read"
        findings.append(Finding(True, text, remark=True))
    if region.status is Status.OPTIMAL:
        text = f"not checked: that no closer region exists{among(region)}; run explain again for that proof"
        findings.append(Finding(None, text, remark=True))
    decisive = [finding.good for finding in findings if not finding.remark]
    holds = False if False in decisive else None if None in decisive else True
    proven = f"at every point of the region the model {outcome(region.target)}"
    conclusion = {
        True: f"Valid: {proven}.",
        False: "Refuted: the file's claim does not hold for this model.",
        None: "Undecided: nothing was refuted, but not everything could be proven.",
    }[holds]
    if holds is False and all(finding.good or finding.remark or finding is same_model for finding in findings):
        conclusion = f"Not the certified model. For the given one it was nevertheless proven that {proven}; --any-model accepts that."
    return Report(tuple(findings), holds, conclusion, counterexample)


def _fingerprint(region: Region, explainer: Explainer, any_model: bool) -> Finding:
    claimed, found = region.certificate.fingerprint, explainer.model.fingerprint
    if claimed == found:
        return Finding(True, f"the model is the certified one: fingerprint {found[:12]}")
    text = f"this is a different model: its fingerprint is {found[:12]}, the certificate is for {claimed[:12]}"
    return Finding(True, f"{text} (accepted: --any-model)") if any_model else Finding(False, text)


def _room(region: Region, explainer: Explainer) -> list[Finding]:
    """The certified set must be the room that the file says was asked for, around a centre that may be an answer."""
    problem = RecourseProblem.ask(
        explainer.model,
        explainer.space,
        region.factual_values,
        region.room,
        region.target,
        region.metric,
        region.rules,
    )
    broken = problem.why_inadmissible(region.body.center)
    if broken is not None:
        return [Finding(False, f"the centre may not be an answer: {broken}")]
    if not _same(problem.body(region.body.center), region.body):
        return [Finding(False, "the certified set is not the room that was asked for")]
    findings = [Finding(True, "the certified set is the room that was asked for, around an allowed centre")]
    if not region.rules_known:
        findings.append(
            Finding(None, "not checked: the rules of the question; a file of schema 1 does not keep them", remark=True)
        )
    elif region.rules:
        findings.append(Finding(True, f"the centre obeys the rules: {rules_text(region)}"))
    return findings


def _same(a: Body, b: Body) -> bool:
    arrays = zip(
        (a.center, a.lower, a.upper, a.axes, a.whole, *a.free_groups),
        (b.center, b.lower, b.upper, b.axes, b.whole, *b.free_groups),
        strict=False,
    )
    return (
        a.shape is b.shape
        and len(a.free_groups) == len(b.free_groups)
        and all(np.array_equal(left, right) for left, right in arrays)
    )


def _judge(region: Region, explainer: Explainer, time_limit: float) -> tuple[Finding, dict[str, float] | None]:
    verdict = explainer.certify(region, time_limit=time_limit)
    match verdict:
        case Certificate():
            text = f"every point proven again by {verdict.method}: margin {below(verdict.margin, 3)}, {verdict.seconds:.2g} s"
            return Finding(True, text), None
        case Counterexample():
            point = dict(zip(region.space.names, map(float, verdict.point), strict=True))
            shown = ", ".join(f"{name} = {exact(value)}" for name, value in point.items())
            return Finding(False, f"refuted by a point of the region that gets {quoted(verdict.label)}: {shown}"), point
        case Undecided():
            return Finding(None, f"the judge could not decide: {verdict.reason}"), None
        case Inadmissible():
            return Finding(False, f"the centre may not be an answer: {verdict.reason}"), None
        case _:
            assert_never(verdict)


def _sample(region: Region, explainer: Explainer) -> list[Finding]:
    """The model's own predict at random points: not a proof, but it does not depend on how the model was read."""
    tau = region.target.probability
    if tau is not None and tau <= 0.5:
        return []
    labels = explainer.predict(region.body.sample(SAMPLED, seed=0))
    wrong = int(sum(label != region.target.label for label in labels))
    if wrong:
        return [Finding(False, f"the model itself disagrees at {wrong} of {SAMPLED} random points")]
    return [Finding(True, f"the model itself agrees at {SAMPLED} of {SAMPLED} random points")]
