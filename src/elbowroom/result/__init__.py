"""What comes back: a region with its certificate, or the reason why there is none."""

from elbowroom.result.certificate import Certificate, Counterexample, Undecided, Verdict
from elbowroom.result.radius import RadiusResult
from elbowroom.result.region import NoRegion, Region
from elbowroom.result.status import Status, Step

__all__ = [
    "Certificate",
    "Counterexample",
    "NoRegion",
    "RadiusResult",
    "Region",
    "Status",
    "Step",
    "Undecided",
    "Verdict",
]
