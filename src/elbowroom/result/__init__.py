"""What comes back: a region with its certificate, or the reason why there is none."""

from elbowroom.result.attestation import Attestation
from elbowroom.result.certificate import Certificate, Counterexample, Inadmissible, Undecided, Verdict
from elbowroom.result.few import Few
from elbowroom.result.frontier import Breakpoint, Frontier
from elbowroom.result.kept import KeptProbability
from elbowroom.result.menu import Menu
from elbowroom.result.no_region import NoRegion
from elbowroom.result.origin import Origin
from elbowroom.result.radius import RadiusResult
from elbowroom.result.region import Region
from elbowroom.result.standing import Standing
from elbowroom.result.status import Status, Step
from elbowroom.result.why_not import Nearest, WhyNot
from elbowroom.result.widening import End, Side, Widening

__all__ = [
    "Attestation",
    "Breakpoint",
    "Certificate",
    "Counterexample",
    "End",
    "Few",
    "Frontier",
    "Inadmissible",
    "KeptProbability",
    "Menu",
    "Nearest",
    "NoRegion",
    "Origin",
    "RadiusResult",
    "Region",
    "Side",
    "Standing",
    "Status",
    "Step",
    "Undecided",
    "Verdict",
    "WhyNot",
    "Widening",
]
