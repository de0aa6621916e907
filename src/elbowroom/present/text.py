"""A region in words: the table and the lines on proof, as plain text. `sentence` has the sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, assert_never

from elbowroom.present.account import Account, account_of
from elbowroom.present.few import few_line
from elbowroom.present.measures import measure_line
from elbowroom.present.numbers import about, above, below, percent, percent_up
from elbowroom.present.outcomes import joined as joined
from elbowroom.present.outcomes import outcome as outcome
from elbowroom.present.outcomes import promise
from elbowroom.present.outcomes import spoken as spoken
from elbowroom.present.sentence import MOST_SPOKEN as MOST_SPOKEN
from elbowroom.present.sentence import claim_of as claim_of
from elbowroom.present.sentence import sentence as sentence
from elbowroom.present.sentence import sentence_of as sentence_of
from elbowroom.problem.shapes import NO_BUDGET, Shape
from elbowroom.result.no_region import NoRegion
from elbowroom.result.region import Region
from elbowroom.result.standing import Standing
from elbowroom.result.status import NEAR_TIE, Status
from elbowroom.visible import message, named, visible

ROUNDING_GAP: Final = 1e-9  # relative; smaller gaps come from floating point, not from the search
HAS_TO_CHANGE: Final = Standing.HAS_TO_CHANGE
MOST_ROWS: Final = 60  # of a printed table; region.intervals and the page have them all


# ---- the rules -------------------------------------------------------------------------------------------------------
def rules_text(answer: Region | NoRegion) -> str:
    """The rules that a centre had to obey."""
    if not answer.rules_known:
        return "unknown: a file of schema 1 does not keep them"
    return joined([message(rule.words) for rule in answer.rules]) or "none"


def among(answer: Region | NoRegion) -> str:
    """What "no closer one exists" is limited to: regions that obey the rules, if these are known."""
    if not answer.rules_known:
        return " (under the rules of its question, which a file of schema 1 does not keep)"
    obeyed = [rules_text(answer)] if answer.rules else []
    obeyed += [] if answer.keeps is None else [message(answer.keeps.words)]
    return f" in which {joined(obeyed)}" if obeyed else ""


# ---- the lines on proof ---------------------------------------------------------------------------------------------
def within(region: Region) -> str:
    """How much closer a region may be although this one is called OPTIMAL: 0.01 %. Empty if no more than rounding."""
    if region.status is not Status.OPTIMAL or region.gap <= ROUNDING_GAP:
        return ""
    promised = region.tolerance
    return percent(promised) if promised is not None and region.gap <= promised else percent_up(region.gap)


def status_text(answer: Region | NoRegion) -> str:
    """The status as a sentence, with the rules under which it is true."""
    match answer:
        case Region(status=Status.OPTIMAL):
            if share := within(answer):
                return f"the region is certified and none{among(answer)} is closer by more than {share}"
            return f"the region is certified and no closer one exists{among(answer)}"
        case Region():
            return f"the region is certified; a closer one{among(answer)} may exist within the stated gap"
        case NoRegion(status=Status.NONE_EXISTS):
            return f"it is proven that no such region exists{among(answer)}"
        case NoRegion():
            return answer.status.value


def status_word(answer: Region | NoRegion) -> str:
    """The status in a cell of a table."""
    if isinstance(answer, Region) and (share := within(answer)):
        return f"closest within {share}"
    return {
        Status.OPTIMAL: "proven closest",
        Status.CERTIFIED: "certified",
        Status.NONE_EXISTS: "none exists",
        Status.UNKNOWN: "unknown",
    }[answer.status]


def status_line(region: Region) -> str:
    """How close the answer is, and what is proven about closer ones."""
    where = f"distance {about(region.distance, 4)} ({region.metric.value})"
    found = f"{where}, found in {region.seconds:.2g} s."
    if share := within(region):
        return f"Closest within {share}: no region of this size{among(region)} is nearer by more than that; {found}"
    if region.status is Status.OPTIMAL:
        return f"Proven closest: no region of this size{among(region)} is nearer; {found}"
    return (
        f"Certified, not proven closest: another region{among(region)} may be up to {percent_up(region.gap)} closer; {where}, "
        f"lower bound {below(region.lower_bound, 4)}, after {region.seconds:.2g} s.{_closer_tie(region)}"
    )


def _closer_tie(region: Region) -> str:
    """Said where it is not time that was missing."""
    if any(NEAR_TIE in step.note for step in region.trace):
        return f" A closer point is {NEAR_TIE}, where nothing can be proven."
    return ""


def certificate_line(region: Region) -> str:
    """Who proved it, for which model."""
    c = region.certificate
    return (
        f"Certificate: every point of the region was proven by {named(c.method)} (margin {below(c.margin, 3)}) "
        f"for the model {visible(c.fingerprint[:12])}; seal {c.seal[:12]}."
    )


def attestation_line(answer: Region | NoRegion) -> str:
    """What whoever filed it says about it; empty where nothing is said."""
    if answer.attestation is None:
        return ""
    return f"Attested: {'; '.join(f'{name.lower()} {named(text)}' for name, text in answer.attestation.entries)}."


def kept_line(region: Region) -> str:
    """What is proven of slips of the centre that is shown, where something was promised; empty for other answers."""
    region = region.rounded or region
    if region.keeps is None or region.kept is None:
        return ""
    low, high = below(region.kept.lower, 6), above(region.kept.upper, 6)
    return f"Slips: {message(region.keeps.words)}; proven: between {low} and {high}."


def round_note(account: Account) -> str:
    if not account.is_round:
        return ""
    return (
        f"The features marked ± share one {account.shape.value}: the {_budget(account.shape)} of ± that they use must not add up "
        "to more than 1. A range of the table is reached in full only if the others are at their centre."
    )


def _budget(shape: Shape) -> str:
    match shape:
        case Shape.BALL:
            return "squares of the shares"
        case Shape.DIAMOND:
            return "shares"
        case Shape.BOX:
            raise ValueError(NO_BUDGET)
        case _:
            assert_never(shape)


def range_heading(account: Account) -> str:
    return "alone anywhere in" if account.is_round else "anywhere in"


# ---- the table ------------------------------------------------------------------------------------------------------
def table_rows(account: Account, only_relevant: bool = False) -> list[tuple[str, ...]]:
    """Header and rows: what has to change (→) first, then what has to be kept, then what does not matter.
    ``only_relevant``: leave out what stays as it is."""
    rows: list[tuple[str, ...]] = [("", "feature", "now", "centre", range_heading(account), "")]
    for line in account.ordered:
        if only_relevant and line.is_still:
            continue
        center = line.center + (f" ± {line.reach}" if line.reach else "")
        mark = "→" if line.has_to_change else ""
        rows.append((mark, line.name, line.with_unit(line.factual), center, line.range_text, line.remark))
    return rows


def grid(rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Columns padded with spaces; the ones in ``right`` are flushed right."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            text.rjust(width) if c in right else text.ljust(width)
            for c, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths).rstrip())
    return "\n".join(lines)


def full_text(region: Region) -> str:
    """Sentence, table and proof: what ``print(region)`` shows."""
    account = account_of(region)
    rows = table_rows(account, only_relevant=True)
    hidden = len(account.lines) - (len(rows) - 1)
    parts = [sentence_of(account), ""]
    if len(rows) > 1:
        parts += [grid(rows[: MOST_ROWS + 1]), *_cut(rows), ""]
    if hidden:
        noun = "feature stays as it is" if hidden == 1 else "features stay as they are"
        parts.append(f"{hidden} {noun}.")
    if account.is_round:
        parts.append(round_note(account))
    few = few_line(region) if region.few is not None else ""
    lines = [status_line(region), kept_line(region), few, rounding_line(account), measured(account)]
    lines += [certificate_line(region), attestation_line(region)]
    return "\n".join([*parts, *filter(None, lines)])


def rounding_line(account: Account) -> str:
    """What rounding costs, where the region that is shown is not the closest one itself."""
    if account.shown is account.region:
        return ""
    return (
        "Numbers are rounded to the decimals of the data, and certified as they are shown: "
        f"distance {about(account.shown.distance, 4)}; the closest region itself is at {about(account.region.distance, 4)}."
    )


def measured(account: Account) -> str:
    """What a distance means here; the example is a feature that has to change."""
    region = account.region
    moved = [
        name for name, kind in zip(region.space.names, region.standings.columns, strict=True) if kind is HAS_TO_CHANGE
    ]
    return measure_line(region.space, tuple(moved))


def _cut(rows: Sequence[Sequence[str]]) -> list[str]:
    left = len(rows) - 1 - MOST_ROWS
    return [f"... and {left} more rows: see region.intervals or region.to_html()"] if left > 0 else []


# ---- no region ------------------------------------------------------------------------------------------------------
def no_region_sentence(answer: NoRegion) -> str:
    """Why there is no region, and what is known nevertheless."""
    reason = message(answer.reason.rstrip("."))
    conditions = [] if answer.target.names_nothing else [promise(answer.target, answer.labels)]
    conditions += [message(rule.words) for rule in answer.rules]
    conditions += [] if answer.keeps is None else [message(answer.keeps.words)]
    wanted = f" in which {joined(conditions)}" if conditions else ""
    if not answer.rules_known:
        wanted += among(answer)
    if answer.status is Status.NONE_EXISTS:
        return f"No region exists{wanted}, and this is proven: {reason}."
    known = ""
    if 0.0 < answer.lower_bound < math.inf:
        bound = below(answer.lower_bound, 4)
        known = f" If one exists, it is at a distance of at least {bound} ({answer.metric.value})."
    return f"No region was found{wanted}, but none was ruled out: {reason}.{known}"


def no_region_text(answer: NoRegion) -> str:
    lines = [no_region_sentence(answer), f"Method {named(answer.method)}, {answer.seconds:.2g} s."]
    return "\n".join(filter(None, [*lines, attestation_line(answer)]))
