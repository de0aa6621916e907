"""A region in words: the sentence, the table and the lines on proof, as plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, assert_never

from elbowroom.present.account import Account, Line, Sort, account_of, quoted
from elbowroom.present.numbers import about, below, exact, percent, percent_up
from elbowroom.problem.shapes import NO_BUDGET, Shape
from elbowroom.problem.target import Target
from elbowroom.result.region import NoRegion, Region
from elbowroom.result.status import NEAR_TIE, Status
from elbowroom.visible import message, named, visible

ROUNDING_GAP: Final = 1e-9  # relative; smaller gaps come from floating point, not from the search
MOST_SPOKEN: Final = 3  # this many unchanged features are named one by one; more are summed up
MOST_CHANGED: Final = 10  # this many changed features are named; a sentence with more cannot be read
MOST_ROWS: Final = 60  # of a printed table; region.intervals and the page have them all


# ---- the sentence ---------------------------------------------------------------------------------------------------
def sentence(region: Region) -> str:
    """What the model said, what may be the case instead, and what it says then."""
    return sentence_of(account_of(region))


def sentence_of(account: Account) -> str:
    region = account.region
    said = f"The model said {spoken(region.predicted, region.target)}. "
    if not account.changed:
        said += "Nothing has to change. "
    return said + claim_of(account)


def claim_of(account: Account) -> str:
    """What is proven of every point of the region."""
    return (
        f"If {joined(_conditions(account)) or 'everything stays as it is'}, the model {outcome(account.region.target)}."
    )


def outcome(target: Target) -> str:
    """predicts 'approved' (with a probability of at least 70 %); predicts at least 1,000."""
    if target.values is not None:
        low, high = (None if end is None else exact(end) for end in (target.at_least, target.at_most))
        if low is not None and high is not None:
            return f"predicts {low}" if low == high else f"predicts between {low} and {high}"
        return f"predicts at most {high}" if low is None else f"predicts at least {low}"
    if target.probability is None:
        return f"predicts {quoted(target.label)}"
    share = percent(target.probability)
    if target.probability > 0.5:  # at one half another label may win the tie
        return f"predicts {quoted(target.label)} with a probability of at least {share}"
    return f"gives {quoted(target.label)} a probability of at least {share}"


def spoken(said: object, target: Target) -> str:
    """What the model says: a class as `quoted`, a regressor's value as a number that claims nothing beyond its digits."""
    return quoted(said) if target.values is None or not isinstance(said, float) else about(said)


def joined(parts: Sequence[str], last: str = "and") -> str:
    """a; a and b; a, b and c."""
    if len(parts) <= 1:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def _conditions(account: Account) -> list[str]:
    if account.is_round:
        shared = [line for line in account.lines if line.reach]
        alone = [line for line in account.lines if not line.reach]
        parts = _changed([line for line in alone if line.changed])
        parts += _kept([line for line in alone if not line.changed], others=True)
        return [*parts, _round_phrase(account, shared)]
    return _changed(account.changed) + _kept(account.kept, bool(account.changed))


def _changed(lines: Sequence[Line]) -> list[str]:
    parts = [_phrase(line) for line in lines[:MOST_CHANGED]]
    if len(lines) > MOST_CHANGED:
        parts.append(f"{len(lines) - MOST_CHANGED} more features change as in the table")
    return parts


def _kept(lines: Sequence[Line], others: bool) -> list[str]:
    """Unchanged features: named if few, else summed up; those that have room are never called unchanged."""
    roomy = [line for line in lines if line.moving]
    still = [line for line in lines if not (line.moving or line.absent)]
    parts = []
    if len(roomy) <= MOST_SPOKEN:
        parts += [_phrase(line) for line in roomy]
    else:
        parts.append(f"{len(roomy)}{' other' if others else ''} features each lie within the range of the table")
    if len(still) <= MOST_SPOKEN:
        parts += [_phrase(line) for line in still]
    elif others or roomy:
        parts.append("everything else stays as it is")
    else:
        parts.append("everything stays as it is")
    if not (parts or others):  # nothing but what is missing: everything stays as it is
        return parts
    return parts + _absent([line.name for line in lines if line.absent])


def _absent(names: Sequence[str]) -> list[str]:
    """What the row lacks is part of the promise: it holds for rows that lack it, too."""
    if not names:
        return []
    if len(names) > MOST_SPOKEN:
        return [f"the {len(names)} numbers that are missing stay so"]
    return [f"{joined(names)} {'stays' if len(names) == 1 else 'stay'} missing"]


def _phrase(line: Line) -> str:
    """One feature as a condition."""
    factual, center = (line.with_unit(text) for text in (line.factual, line.center))
    if line.said is not None:
        factual, center = line.said.factual, line.said.center
    was = "" if not line.changed else f" (now {factual})"
    if line.changed and not line.factual_inside:
        was = f" instead of {factual}"
    if line.moving:
        return f"{line.name} is {_range(line)}{was}"
    if line.changed:
        verb = "becomes" if line.sort in (Sort.CATEGORY, Sort.YES_NO) else "is"
        return f"{line.name} {verb} {center}{was}"
    return f"{line.name} stays {center}"


def _range(line: Line) -> str:
    match line.sort:
        case Sort.CATEGORY:
            return joined(line.choices if line.said is None else line.said.choices, "or")
        case Sort.YES_NO:
            return "yes or no"
        case Sort.NUMBER | Sort.WHOLE:
            return line.open_text or f"anywhere between {line.low} and {line.with_unit(line.high)}"


def _round_phrase(account: Account, shared: Sequence[Line]) -> str:
    """together duration (14 ± 3 months) and amount (1,200 ± 80 DM) lie within a ball of radius r around these values."""
    shape = account.shape.value
    size = ""
    if account.radius:
        size = f" of radius {account.radius}" + (
            "" if account.scales_are_one else " (in units of each feature's scale)"
        )
    changed = [line for line in shared if line.changed]
    spoken = changed[:MOST_CHANGED]
    rest = [line for line in shared if line not in spoken]
    if len(rest) <= MOST_SPOKEN:
        spoken, rest = [*spoken, *rest], []
    named = [f"{line.name} ({line.with_unit(f'{line.center} ± {line.reach}')})" for line in spoken]
    if rest:
        named.append(f"{len(rest)}{' other' if spoken else ''} features (as in the table)")
    if len(shared) == 1:
        return f"{named[0]} lies within its range"
    return f"together {joined(named)} lie within a {shape}{size} around these values"


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
    return f" in which {rules_text(answer)}" if answer.rules else ""


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
    """Header and rows. ``only_relevant``: leave out what neither changes nor has room."""
    rows: list[tuple[str, ...]] = [("", "feature", "now", "centre", range_heading(account), "")]
    for line in [*account.changed, *account.kept]:
        if only_relevant and not (line.changed or line.moving):
            continue
        center = line.center + (f" ± {line.reach}" if line.reach else "")
        rows.append(
            ("→" if line.changed else "", line.name, line.with_unit(line.factual), center, line.range_text, line.note)
        )
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
    return "\n".join([*parts, status_line(region), certificate_line(region)])


def _cut(rows: Sequence[Sequence[str]]) -> list[str]:
    left = len(rows) - 1 - MOST_ROWS
    return [f"... and {left} more rows: see region.intervals or region.to_html()"] if left > 0 else []


# ---- no region ------------------------------------------------------------------------------------------------------
def no_region_sentence(answer: NoRegion) -> str:
    """Why there is no region, and what is known nevertheless."""
    reason = message(answer.reason.rstrip("."))
    conditions = [] if answer.target.names_nothing else [f"the model {outcome(answer.target)}"]
    conditions += [message(rule.words) for rule in answer.rules]
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
    return f"{no_region_sentence(answer)}\nMethod {named(answer.method)}, {answer.seconds:.2g} s."
