"""The audit: centres from any method, judged by the model's own predict and by the product's judge.

`judge` is the entry for centres that were made elsewhere; ``python -m benchmarks audit --centers FILE`` reads them from a
CSV file (see `read_centers`).
"""

from benchmarks.audit.judge import Center, Finding, judge, read_centers

__all__ = ["Center", "Finding", "judge", "read_centers"]
