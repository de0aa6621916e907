"""What the table beside treecf counts."""

from __future__ import annotations

from typing import Any

from benchmarks.scale_peers import BACKENDS, _beside, summary


def _question(theirs: dict[str, Any]) -> dict[str, Any]:
    mine = {
        "recipe": "gb200x4", "row": 0, "limit": 10.0, "status": "OPTIMAL", "seconds": 2.0, "distance": 0.5,
        "trace": [(0.1, 0.8), (1.0, 0.5)],
    }  # fmt: skip
    return _beside(mine | {backend: dict(theirs) for backend in BACKENDS})


def test_sooner_means_as_near_before_their_call_ended() -> None:
    near = _question({"proof": "optimal", "seconds": 0.5, "distance": 0.5, "flips": True})["exact"]
    far = _question({"proof": "heuristic", "seconds": 0.5, "distance": 0.9, "flips": True})["exact"]
    assert (near["nearer"], near["sooner"], near["reached_s"]) == (True, False, 1.0)
    assert (far["nearer"], far["sooner"], far["reached_s"]) == (True, True, 0.1)


def test_a_nearer_point_of_theirs_is_never_reached() -> None:
    nearer = _question({"proof": "optimal", "seconds": 9.0, "distance": 0.4, "flips": True})["exact"]
    assert (nearer["nearer"], nearer["sooner"], nearer["reached_s"]) == (False, False, None)


def test_a_point_that_keeps_the_label_counts_as_none() -> None:
    assert _question({"proof": "optimal", "seconds": 9.0, "distance": 0.1, "flips": False})["genetic"]["nearer"]


def test_the_summary_counts_both() -> None:
    asked = [
        _question({"proof": "optimal", "seconds": 0.5, "distance": 0.5, "flips": True}),
        _question({"proof": "optimal", "seconds": 5.0, "distance": 0.5, "flips": True}),
    ]
    found = next(entry for entry in summary(asked) if entry["recipe"] == "all" and entry["backend"] == "exact")
    assert (found["nearer"], found["sooner"], found["both"], found["theirs_proven"]) == (2, 1, 1, 2)
