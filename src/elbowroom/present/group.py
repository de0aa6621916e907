"""A move for a group, and the moves that serve everybody, in words and for notebooks."""

from __future__ import annotations

import math

from markupsafe import Markup, escape

from elbowroom.present.few import in_words
from elbowroom.present.numbers import about, percent_up
from elbowroom.present.outcomes import joined, promise
from elbowroom.result.group import GroupActions, GroupAnswer
from elbowroom.result.status import Status
from elbowroom.visible import named, visible

MOST_LISTED = 20  # positions of rows that are named


def group_sentence(answer: GroupAnswer) -> str:
    """If salary rose by 1,200 EUR and debt fell by 300 EUR, the model predicts 'approved' for 4 of 4 rows, ..."""
    rows = len(answer.rows)
    if answer.move_values is None:
        proven = answer.status is Status.NONE_EXISTS
        how = "exists, and this is proven" if proven else "was found"
        return f"No common move for {_share(answer.least, rows)} {how}: {visible(answer.reason)}."
    moved = joined(_moves(answer))
    begin = f"If {moved} for every row" if moved else "Without any move"
    return (
        f"{begin}, {promise(answer.target, answer.labels)} for {_share(len(answer.served), rows)}, at every point of the "
        "room around each."
    )


def _share(some: int, rows: int) -> str:
    """3 of 4 rows; all 4 rows; the row."""
    if some < rows:
        return f"{some} of {rows} rows"
    return "the row" if rows == 1 else f"all {rows} rows"


def _moves(answer: GroupAnswer) -> list[str]:
    """salary rose by 1,200 EUR; debt fell by 300 EUR."""
    parts = []
    assert answer.move is not None
    for name, amount in answer.move.items():
        if amount != 0.0:
            unit = answer.space.features[answer.space.position[str(name)]].unit
            size = about(abs(float(amount)), 4) + (f" {named(unit)}" if unit else "")
            parts.append(f"{named(name)} {'rose' if amount > 0.0 else 'fell'} by {size}")
    return parts


def group_standing(answer: GroupAnswer) -> str:
    """How far the move goes, and what is proven about shorter ones; empty without a move."""
    if answer.move_values is None:
        return "" if math.isinf(answer.lower_bound) else f"None is closer than {about(answer.lower_bound, 4)}: proven."
    distance = f"Distance {about(answer.distance, 4)} ({answer.metric.value})"
    if answer.status is Status.OPTIMAL:
        return f"{distance}; no common move that serves {answer.least} of these rows is shorter: proven."
    return f"{distance}; a shorter common move may exist, by at most {percent_up(answer.gap)}."


def group_text(answer: GroupAnswer) -> str:
    """What ``print(answer)`` shows."""
    return "\n".join(filter(None, [group_sentence(answer), group_standing(answer)]))


def group_fragment(answer: GroupAnswer) -> str:
    """For notebooks."""
    return "".join(f"<p>{escape(line)}</p>" for line in group_text(answer).splitlines())


def actions_lines(actions: GroupActions) -> list[str]:
    """What the whole says, then a line for each move, then who is left."""
    served = sum(map(len, actions.members))
    moves = "One move serves" if len(actions) == 1 else f"{in_words(len(actions)).capitalize()} moves serve"
    least = f"at least {in_words(actions.least)} {'is' if actions.least == 1 else 'are'} needed: proven"
    lines = [f"{moves} {served} of {served + len(actions.unserved)} rows; {least}."]
    for answer, members in zip(actions, actions.members, strict=True):
        lines.append(f"Rows {_listed(members)}: {joined(_moves(answer)) or 'nothing has to change'}.")
    if actions.unserved:
        lines.append(f"Rows {_listed(actions.unserved)}: no move within the limit was found.")
    return lines


def _listed(rows: tuple[int, ...]) -> str:
    """Positions; the first ones where there are many."""
    few = [str(row) for row in rows[:MOST_LISTED]]
    return joined([*few, f"{len(rows) - MOST_LISTED:,} more"] if len(rows) > MOST_LISTED else few)


def actions_fragment(actions: GroupActions) -> str:
    """For notebooks."""
    first, *rest = actions_lines(actions)
    items = Markup("").join(Markup("<li>{}</li>").format(line) for line in rest)
    return Markup("<p>{}</p><ul>{}</ul>").format(first, items)
