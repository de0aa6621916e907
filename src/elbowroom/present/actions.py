"""Actions on causes in words: what to do, and what follows by itself."""

from __future__ import annotations

from elbowroom.present.numbers import about
from elbowroom.present.outcomes import joined
from elbowroom.result.region import Region
from elbowroom.visible import named

MOST_NAMED = 4  # columns that are named


def actions_in_words(region: Region) -> str:
    """If you raised education by 2, income would follow from 36 to 42. Empty without causes, or without an action."""
    actions = region.actions
    if actions is None or not actions.any():
        return ""
    factual, space = region.factual_values, region.space
    done = [
        f"{'raised' if a > 0 else 'lowered'} {named(name)} by {about(abs(float(a)), 4)}"
        for name, a in actions.items()
        if a != 0.0
    ]
    follows = []
    for name in actions.index:
        f = space.position[str(name)]
        now, then = float(factual[f]), float(region.body.center[f])
        if actions[name] == 0.0 and about(now, 4) != about(then, 4):
            follows.append(f"{named(name)} would follow from {about(now, 4)} to {about(then, 4)}")
    said = f"If you {joined(_few(done, 'more actions'))}"
    return (
        f"{said}, {joined(_few(follows, 'more columns would follow'))}. "
        if follows
        else f"{said}, nothing else would follow. "
    )


def _few(parts: list[str], more: str) -> list[str]:
    left = len(parts) - MOST_NAMED
    return parts if left <= 0 else [*parts[:MOST_NAMED], f"{left} {more}"]
