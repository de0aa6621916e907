"""Who has recourse, and at what cost: the answers of a batch, group by group.

Shares carry Wilson's 95 % interval: with n rows and the share p, the interval is that of all q for which
|p - q| <= z sqrt(q (1 - q) / n), z = 1.96. Medians carry the interval between two order statistics: the number of n
values below the true median is binomial with 1/2, so that x_(k+1) .. x_(n-k) covers it with at least 95 % if
P(Binomial(n, 1/2) <= k) <= 2.5 %. No distribution is assumed, nothing is drawn at random. The rows are taken as a
sample of those whom the model may meet; for the rows themselves the figures are exact.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from elbowroom.batch.record import ERROR, NOT_ASKED
from elbowroom.batch.result import csv_of
from elbowroom.batch.runner import BatchProgress, OnBatchProgress
from elbowroom.disk import write_whole
from elbowroom.errors import InputError

if TYPE_CHECKING:
    from elbowroom.batch.result import BatchResult

Z: Final = 1.959963984540054
ALL: Final = "all"
SURVIVAL_SECONDS: Final = 1.0  # for the two bounds of one row; they hold however early it ends
KEPT: Final = 0.95  # a counterfactual that keeps its outcome less often than this does not survive a slip


@dataclass(frozen=True, eq=False)
class Audit:
    """Who has recourse, and at what cost.

    Attributes:
        table: One row per group, the first for all.
        levers: Which columns carry the recourse, by group.
        no_recourse: Who is proven to have none.
        out_of_time: For whom neither a region nor that proof was found.
        rooms: What more room costs, by radius and group; None: not asked.
        frontier: The same for every row, its distance by radius; inf: proven that there is none; missing: not known.
        slips: How often plain counterfactuals keep their outcome; None: not asked.
        sigma: Of these slips.

    Examples:
        >>> explainer.explain_many(X).audit("age").table["rows"].tolist()
        [24, 12, 12]
    """

    table: pd.DataFrame
    levers: pd.DataFrame
    no_recourse: pd.Index
    out_of_time: pd.Index
    rooms: pd.DataFrame | None = None
    frontier: pd.DataFrame | None = None
    slips: pd.DataFrame | None = None
    sigma: float | None = None

    def __repr__(self) -> str:
        parts = [self.table.to_string()]
        if self.rooms is not None:
            parts.append(self.rooms.to_string())
        if self.slips is not None:
            parts.append(self.slips.to_string())
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        from elbowroom.present.batch import audit_fragment

        return audit_fragment(self)

    def to_html(self, path: str | Path | None = None) -> str:
        """One self-contained page.

        Args:
            path: Where it is written, if given.

        Returns:
            The page.
        """
        from elbowroom.present.batch import audit_page

        text = audit_page(self)
        if path is not None:
            write_whole(path, text)
        return text

    def to_csv(self, path: str | Path) -> None:
        """Write the table; texts that a spreadsheet would take for formulas are disarmed.

        Args:
            path: Where it is written.
        """
        write_whole(path, csv_of(self.table))


def audit(
    batch: BatchResult,
    groups: object = None,
    *,
    radii: Sequence[float] = (),
    sigma: float | None = None,
    on_progress: OnBatchProgress | None = None,
) -> Audit:
    """The audit of a batch. ``groups``: a column of the frame that was asked, a Series with its index, or a list of one
    value per row. ``radii`` (in units of the scales) and ``sigma`` ask further questions about every row, with the
    explainer of the batch."""
    of_row = groups_of(batch, groups)
    frame = batch.frame
    parts: dict[str, np.ndarray] = {ALL: np.ones(len(frame), dtype=bool)}
    for value in sorted(of_row.dropna().unique(), key=str) if of_row is not None else ():
        name = str(value) if str(value) not in parts else f"{value} (group)"
        parts[name] = np.asarray(of_row == value, dtype=bool)
    if of_row is not None and bool(of_row.isna().any()):
        parts["(missing)"] = of_row.isna().to_numpy()
    table = pd.DataFrame({name: _group_line(frame[chosen]) for name, chosen in parts.items()}).T
    table.index.name = "group"
    levers = pd.DataFrame({name: _levers(batch, frame[chosen]) for name, chosen in parts.items()})
    levers = levers.sort_values(ALL, ascending=False, kind="stable")
    front = frontier(batch, radii, on_progress) if len(radii) else None
    return Audit(
        _typed(table),
        levers,
        frame.index[(frame["status"] == "NONE_EXISTS").to_numpy()],
        frame.index[(frame["status"] == "UNKNOWN").to_numpy()],
        None if front is None else _rooms(front, parts),
        front,
        None if sigma is None else _slips(batch, parts, sigma, on_progress),
        sigma,
    )


def groups_of(batch: BatchResult, groups: object) -> pd.Series | None:
    """The group of every row."""
    if groups is None:
        return None
    if isinstance(groups, str):
        asked = batch.asked
        if groups not in asked.columns:
            raise InputError(f"groups={groups!r} is not a column of the table; it has {list(map(str, asked.columns))}")
        return asked[groups].reset_index(drop=True)
    if isinstance(groups, pd.Series):
        if len(groups) != len(batch) or not groups.index.equals(batch.frame.index):
            raise InputError("groups: the index of the Series is not that of the table")
        return groups.reset_index(drop=True)
    if isinstance(groups, Mapping) or not isinstance(groups, (Sequence, np.ndarray)) or len(groups) != len(batch):
        raise InputError(f"groups: give the name of a column, a Series, or a list of {len(batch)} values, one per row")
    return pd.Series(list(groups))


def _group_line(frame: pd.DataFrame) -> dict[str, Any]:
    """Counts, shares and costs of one group. Shares are of the rows that could be asked."""
    counts = frame["status"].value_counts()
    n = {
        name: int(counts.get(name, 0)) for name in ("OPTIMAL", "CERTIFIED", "NONE_EXISTS", "UNKNOWN", ERROR, NOT_ASKED)
    }
    found, asked = n["OPTIMAL"] + n["CERTIFIED"], len(frame) - n[ERROR] - n[NOT_ASKED]
    low, high = wilson(found, asked)
    no_low, no_high = wilson(n["NONE_EXISTS"], asked)
    distance = frame["distance"].dropna().to_numpy(dtype=np.float64)
    middle = float(np.median(distance)) if distance.size else math.nan
    m_low, m_high = median_interval(distance)
    return {
        "rows": len(frame),
        "has_recourse": found,
        "share": found / asked if asked else math.nan,
        "share_low": low,
        "share_high": high,
        "no_recourse_proven": n["NONE_EXISTS"],
        "no_recourse_share": n["NONE_EXISTS"] / asked if asked else math.nan,
        "no_recourse_low": no_low,
        "no_recourse_high": no_high,
        "out_of_time": n["UNKNOWN"],
        "errors": n[ERROR],
        "not_asked": n[NOT_ASKED],
        "median_cost": middle,
        "median_cost_low": m_low,
        "median_cost_high": m_high,
        "mean_cost": float(distance.mean()) if distance.size else math.nan,
        "median_changes": float(frame["changes"].median()) if frame["changes"].notna().any() else math.nan,
    }


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    whole = ("rows", "has_recourse", "no_recourse_proven", "out_of_time", "errors", "not_asked")
    return table.astype({name: "int64" if name in whole else "float64" for name in table.columns})


def _levers(batch: BatchResult, frame: pd.DataFrame) -> pd.Series:
    """The share of regions in which each column has to change."""
    found = frame[frame["distance"].notna()]
    shares = {
        name: float(found[f"{name}__has_to_change"].astype("float64").mean()) if len(found) else math.nan
        for name in batch.space.columns
    }
    return pd.Series(shares, dtype="float64")


def wilson(count: int, n: int) -> tuple[float, float]:
    """Wilson's interval for a share."""
    if n == 0:
        return math.nan, math.nan
    p, z2 = count / n, Z * Z
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return (0.0 if count == 0 else max(0.0, middle - half)), (1.0 if count == n else min(1.0, middle + half))


def median_interval(values: np.ndarray) -> tuple[float, float]:
    """Order statistics that cover the median with at least 95 %; infinite where there are too few values for that."""
    from scipy.stats import binom

    n, ordered = values.size, np.sort(values)
    if n == 0:
        return math.nan, math.nan
    k = int(binom.ppf(0.025, n, 0.5)) - 1  # P(Binomial <= k) <= 2.5 %
    while k + 1 < n and binom.cdf(k + 1, n, 0.5) <= 0.025:
        k += 1
    if k < 0:
        return -math.inf, math.inf
    return float(ordered[k]), float(ordered[n - 1 - k])


# ---- further questions ----------------------------------------------------------------------------------------------
def frontier(batch: BatchResult, radii: Sequence[float], on_progress: OnBatchProgress | None = None) -> pd.DataFrame:
    """The distance of every row for every radius; inf: proven that there is none; missing: not known."""
    found = {}
    for radius in sorted({float(r) for r in radii}):
        other = _again(batch, radius, on_progress).frame
        found[radius] = other["distance"].mask((other["status"] == "NONE_EXISTS").to_numpy(), math.inf)
    table = pd.DataFrame(found)
    table.columns.name = "radius"
    return table


def _again(batch: BatchResult, radius: float, on_progress: OnBatchProgress | None) -> BatchResult:
    other = batch.again(radius, on_progress)
    if other.interrupted:  # half an answer would read as a whole one
        raise KeyboardInterrupt
    return other


def _rooms(front: pd.DataFrame, parts: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """For every radius: how many still have recourse, and the quantiles of what it costs."""
    lines = []
    for radius in front.columns:
        for name, chosen in parts.items():
            all_of_them = front.loc[chosen, radius]
            cost = all_of_them[np.isfinite(all_of_them)]
            quantiles = {
                f"cost_{round(100 * q)}": float(cost.quantile(q)) if cost.size else math.nan for q in (0.1, 0.5, 0.9)
            }
            lines.append(
                {
                    "radius": radius,
                    "group": name,
                    "has_recourse": int(cost.size),
                    "no_recourse_proven": int(np.isinf(all_of_them).sum()),
                    **quantiles,
                }
            )
    return pd.DataFrame(lines)


def _slips(
    batch: BatchResult, parts: Mapping[str, np.ndarray], sigma: float, on_progress: OnBatchProgress | None
) -> pd.DataFrame:
    """How many plain counterfactuals (no room) keep their outcome less often than in 95 % of Gaussian slips, beside the
    regions of the batch. A row counts where that is proven; the others are counted as undecided."""
    plain = _again(batch, 0.0, on_progress)
    told = {
        name: _survival(batch, answers, sigma, on_progress) for name, answers in (("plain", plain), ("region", batch))
    }
    lines = []
    for group, chosen in parts.items():
        line: dict[str, Any] = {"group": group}
        for name, bounds in told.items():
            low, high = bounds[chosen].T
            known = ~np.isnan(low)
            line |= {
                f"{name}_asked": int(known.sum()),
                f"{name}_lost": int((high[known] < KEPT).sum()),
                f"{name}_undecided": int(((low[known] < KEPT) & (high[known] >= KEPT)).sum()),
                f"{name}_median_kept": float(np.median(low[known])) if known.any() else math.nan,
            }
        lines.append(line)
    return pd.DataFrame(lines).set_index("group")


def _survival(
    batch: BatchResult, answers: BatchResult, sigma: float, on_progress: OnBatchProgress | None
) -> np.ndarray:
    """Both bounds on the chance that a slip of the centre keeps the outcome, for every row that has a region."""
    bounds = np.full((len(batch), 2), np.nan)
    start = time.perf_counter()
    for i, region in enumerate(answers.regions):
        if region:
            kept = batch.explainer.probability_kept(region, sigma, time_limit=SURVIVAL_SECONDS)
            bounds[i] = kept.lower, kept.upper
        if on_progress is not None:
            on_progress(BatchProgress(i + 1, len(batch), {}, time.perf_counter() - start))
    return bounds
