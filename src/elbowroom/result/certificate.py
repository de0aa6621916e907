"""The judge's verdicts. Only `elbowroom.certify` issues certificates."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

import numpy as np

from elbowroom.numerics import Floats
from elbowroom.problem.body import Body
from elbowroom.problem.further import Key
from elbowroom.problem.target import Target
from elbowroom.result.status import NEAR_TIE
from elbowroom.visible import visible


@dataclass(frozen=True, eq=False)
class Certificate:
    """Every point of a body gets the wanted outcome from the model with this fingerprint. Counts as True.

    Attributes:
        fingerprint: Of the parsed model.
        target: The wanted outcome.
        body: The set of points.
        method: How it was proven.
        margin: A proven lower bound on (score difference - needed slack) over the body, for the closest rival.
        seconds: That the judge needed.
        assumptions: Under which it holds, in words.
        further: The ensembles of rules that were judged as well: fingerprint, outcome, and whether at every point or at the
            centre.
        keepers: Where some of several models are enough: the positions of those that were proven to say what is wanted of
            them at every point.

    Examples:
        >>> certificate = explainer.certify(region)
        >>> certificate.margin > 0, certificate.seal == region.certificate.seal
        (True, True)
    """

    fingerprint: str
    target: Target
    body: Body
    method: str
    margin: float
    seconds: float
    assumptions: tuple[str, ...]
    further: tuple[Key, ...] = ()
    keepers: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Certificate {self.seal[:12]}: {visible(self.target.words)} at every point of a {self.body.shape.value}, {self.method}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the claim, who proved it, for which model."""
        rows = {
            "Claim": f"{self.target.words} at every point of a {self.body.shape.value}",
            "Proven by": f"{self.method}, margin {self.margin:.6g}, {self.seconds:.2g} s",
            "Model": self.fingerprint,
            "Seal": self.seal,
            "Assumes": "; ".join(self.assumptions) or "nothing",
        }
        cells = "".join(f"<tr><th>{name}</th><td>{escape(visible(text))}</td></tr>" for name, text in rows.items())
        return f"<table>{cells}</table>"

    @property
    def seal(self) -> str:
        """SHA-256 of everything the certificate claims (not of the seconds): changed files are noticed, not trusted."""
        digest = hashlib.sha256()
        wanted = self.target
        claims = (self.fingerprint, *_claimed(wanted), self.method, float(self.margin))
        digest.update(repr((*claims, self.assumptions, self.body.shape.value)).encode())
        body = self.body
        for array in (body.center, body.lower, body.upper, body.axes, body.whole, *body.free_groups):
            digest.update(np.ascontiguousarray(array).tobytes())
        for fingerprint, outcome, everywhere in self.further:
            digest.update(repr((fingerprint, repr(outcome.label), everywhere)).encode())
        if self.keepers:
            digest.update(repr(("keepers", self.keepers)).encode())
        return digest.hexdigest()


def _claimed(wanted: Target) -> tuple[object, object]:
    """What a target asks for: the label, and what is needed beyond it."""
    if wanted.each:
        each = tuple(_claimed(one) for one in wanted.each)
        return ("each", each) if wanted.count is None else (("count", wanted.count, wanted.always), each)
    values = ("values", wanted.at_least, wanted.at_most)
    return repr(wanted.label), wanted.probability if wanted.values is None else values


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A point of the body that the model puts elsewhere, or that is too close to a tie to tell. Counts as False.

    Within rounding of a tie the order of additions, or a fused operation, decides about the label (or whether a probability
    or a value is reached): then nothing can be proven there, although ``label`` may be the wanted one.

    Attributes:
        point: As inner floats.
        label: What the parsed model says there: a class, or the value of a regressor.
        margin: Score difference minus needed slack at the point, below 0.
        seconds: That the judge needed.
        near_tie: The point is within rounding of a tie.
        source: The rule whose further trees say so; empty: the model itself.
        at_center: That rule is about the centre alone.
        member: Of several models: which of them does not say what is wanted of it.

    Examples:
        >>> explainer.certify(row, Box({"salary": 600})).reason
        'a point of the region gets True'
    """

    point: Floats
    label: Hashable  # what the parsed model says there: a class, or the value of a regressor
    margin: float  # score difference minus needed slack at the point, < 0
    seconds: float = 0.0
    near_tie: bool = False
    source: str = ""  # the rule whose further trees say so; empty: the model itself
    at_center: bool = False  # that rule is about the centre alone
    member: str = ""  # of several models: which of them does not say what is wanted of it

    @property
    def reason(self) -> str:
        """What is wrong with the point, in words."""
        if self.source:
            where = "the centre" if self.at_center else "a point of the region"
            return f"{self.source} {'is open' if self.near_tie else 'does not hold'} at {where}{f': {NEAR_TIE}' if self.near_tie else ''}"
        who = f"{visible(self.member)}: " if self.member else ""
        if self.near_tie:
            return f"{who}a point of the region is {NEAR_TIE}; the model says {self.label!r} there"
        if who:
            return f"{who}a point of the region gets another outcome than the wanted one; the models say {self.label!r} there"
        return f"a point of the region gets {self.label!r}"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<Counterexample: {visible(self.reason)}>"

    def _repr_html_(self) -> str:
        return f"<p>Not certified: {escape(visible(self.reason))}.</p>"


@dataclass(frozen=True, eq=False)
class Undecided:
    """The judge ran out of time or budget: nothing may be claimed. Counts as False.

    Attributes:
        reason: What ran out, in words.
        seconds: That the judge needed.
        reached: How far it came, where that is known: a proven lower bound of the margin beyond what is needed, negative.

    Examples:
        >>> bool(Undecided("out of time"))
        False
    """

    reason: str
    seconds: float = 0.0
    reached: float = -math.inf

    def __bool__(self) -> bool:
        return False

    def _repr_html_(self) -> str:
        return f"<p>Undecided: {escape(visible(self.reason))}.</p>"


@dataclass(frozen=True, eq=False)
class Inadmissible:
    """The centre itself may not be an answer: it breaks a limit, a whole number, a one-hot group or a rule, which the
    ``reason`` names. Nothing is said about the points around it."""

    reason: str

    def __bool__(self) -> bool:
        return False


Verdict: TypeAlias = Certificate | Counterexample | Undecided | Inadmissible
