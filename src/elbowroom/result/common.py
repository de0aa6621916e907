"""One region for a group of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from elbowroom.numerics import Floats
from elbowroom.problem import Target
from elbowroom.problem.class_names import NO_NAMES, ClassNames
from elbowroom.result.origin import is_closed
from elbowroom.result.region import Region
from elbowroom.result.status import Status


@dataclass(frozen=True, eq=False)
class CommonRegion:
    """One certified region that all rows of a group can move to, or none, with what is proven. True if there is one.

    Attributes:
        rows: The rows asked about, in the columns of the user's table.
        target: What is wanted throughout the region.
        region: A `Region` with its certificate, to be saved and checked like any other; the row that it starts from is in
            the middle of the group, and its distance counts from there. None if there is none.
        distances: How far each row has to move to the centre.
        lower_bound: The mean distance of no other common region is smaller; inf: none exists.
        tolerance: The relative gap up to which the answer counts as optimal.
        reason: Why there is none, or what limited the proof.
        seconds: How long it took.
        labels: What the classes are called.

    Examples:
        >>> common = explainer.common_region(X[~model.predict(X)].head(3), room=Box({"salary": 100}))
        >>> common.status.name, bool(model.predict(common.region.sample(50)).all())
        ('OPTIMAL', True)
    """

    rows: pd.DataFrame
    target: Target
    region: Region | None
    distances: Floats
    lower_bound: float
    tolerance: float
    reason: str = ""
    seconds: float = 0.0
    labels: ClassNames = NO_NAMES

    def __bool__(self) -> bool:
        return self.region is not None

    @property
    def distance(self) -> float:
        """The mean of the rows' distances; inf without a region."""
        return float(self.distances.mean()) if self.region is not None else math.inf

    @property
    def status(self) -> Status:
        """OPTIMAL, CERTIFIED (with a gap), NONE_EXISTS or UNKNOWN."""
        if self.region is None:
            return Status.NONE_EXISTS if math.isinf(self.lower_bound) else Status.UNKNOWN
        return Status.OPTIMAL if is_closed(self.distance, self.lower_bound, self.tolerance) else Status.CERTIFIED

    @property
    def gap(self) -> float:
        """By how much the mean distance could be smaller at most, as a share of it."""
        if not math.isfinite(self.distance) or self.distance == 0.0:
            return 0.0 if self.distance == 0.0 else math.inf
        return max(0.0, (self.distance - self.lower_bound) / self.distance)

    @property
    def intervals(self) -> pd.DataFrame:
        """One row per column: ``low``, ``center`` and ``high`` of the region (``categories`` where there are labels), and
        ``outside``, how many of the rows lie outside."""
        from elbowroom.present.common import intervals_for

        return intervals_for(self)

    def sentence(self) -> str:
        """The region in words.

        Returns:
            One sentence.
        """
        from elbowroom.present.common import common_sentence

        return common_sentence(self)

    def __str__(self) -> str:
        from elbowroom.present.common import common_text

        return common_text(self)

    def __repr__(self) -> str:
        if self.region is None:
            return f"<CommonRegion {self.status.name} for {len(self.rows)} rows>"
        return f"<CommonRegion {self.status.name} for {len(self.rows)} rows, mean distance {self.distance:.6g}>"

    def _repr_html_(self) -> str:
        from elbowroom.present.common import common_fragment

        return common_fragment(self)
