"""How likely a slipped answer keeps its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from elbowroom.visible import visible


@dataclass(frozen=True)
class KeptProbability:
    """The chance that the slipped centre gets the wanted class lies between two bounds: proven.

    Attributes:
        lower: At least this.
        upper: At most this.
        exact: Every cell (or the closed form) was evaluated, and only rounding lies between the bounds.
        inside: The chance that the slip stays in the room of the region that was asked about, the conservative bound of the
            paper; None if the question was about a point without a room.
        ranges: How many parts of the space were looked at.
        seconds: That it took.
        reason: Why the bounds are farther apart than was asked for; empty if they are not.

    Examples:
        >>> explainer.probability_kept(row, sigma={"salary": 50}).exact
        True
    """

    lower: float
    upper: float
    exact: bool
    inside: float | None
    ranges: int  # how many ranges of cells were looked at
    seconds: float
    reason: str = ""

    def __float__(self) -> float:
        return self.lower

    def __str__(self) -> str:
        room = "" if self.inside is None else f"; it stays in the room with probability {self.inside:.6g}"
        if self.exact:
            return f"kept with probability {self.lower:.9g} (exact){room}"
        why = f"; not closer: {self.reason}" if self.reason else ""
        return f"kept with a probability between {self.lower:.6g} and {self.upper:.6g} (proven){why}{room}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(visible(str(self).capitalize()))}</p>"
