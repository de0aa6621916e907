"""A promise about slips and what is proven about it, as JSON."""

from __future__ import annotations

from typing import Any, Final

from elbowroom.errors import InputError
from elbowroom.problem.keeping import Probability
from elbowroom.problem.reader import Reader, number_out
from elbowroom.result.kept import KeptProbability
from elbowroom.result.question_json import radius_in, radius_out

KEPT: Final = "kept"
ROUNDED_KEPT: Final = "rounded_kept"  # of the rounded centre
EXACT: Final = 1e-9  # bounds this close are called exact


def promise_out(keeps: Probability | None, kept: KeptProbability | None) -> dict[str, Any]:
    """Written where something was promised, so that other files stay as they were."""
    if keeps is None:
        return {}
    promised = {"probability": number_out(keeps.probability), "sigma": radius_out(keeps.sigma)}
    return {"keeps": promised, **bounds_out(KEPT, kept)}


def bounds_out(name: str, kept: KeptProbability | None) -> dict[str, Any]:
    return {} if kept is None else {name: {"lower": number_out(kept.lower), "upper": number_out(kept.upper)}}


def keeps_in(top: Reader) -> Probability | None:
    if "keeps" not in top.mapping():
        return None
    entry = top.at("keeps")
    sigma, probability = radius_in(entry.at("sigma")), entry.at("probability").number()
    try:
        return Probability(probability, sigma if sigma is not None else 0.0)
    except InputError as error:
        raise entry.wrong(f"a promise: {error}") from None


def kept_in(top: Reader, keeps: Probability | None, name: str = KEPT) -> KeptProbability | None:
    """The bounds that a file claims, if they can be true and are what was promised."""
    if keeps is None and name not in top.mapping():
        return None
    entry = top.at(name)
    lower, upper = entry.at("lower").number(), entry.at("upper").number()
    if keeps is None or not keeps.probability <= lower <= upper <= 1.0:
        raise entry.wrong("two bounds between the promised probability and 1")
    return KeptProbability(lower, upper, upper - lower <= EXACT, None, 0, 0.0)
