"""A region as a sentence that can be read aloud: what has to change, what to keep, what does not matter, and what the
model says then.

Every number is rounded inwards, so that the sentence is certified as it stands. Up to three features of a kind are named
in full; four to six changes are named in short, and everything beyond that refers to the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from elbowroom.present.account import Account, Line, Sort, account_of
from elbowroom.present.actions import actions_in_words
from elbowroom.present.outcomes import joined, promise, told
from elbowroom.result.region import Region
from elbowroom.visible import message

MOST_SPOKEN: Final = 3  # this many features of a kind are named in full
KEEP: Final = "you keep "
NEAR: Final = "holds for all "  # how an assumption begins that names the models nearby
MOST_CHANGED: Final = 6  # this many features that have to change are named at all


def sentence(region: Region, digits: int | None = None) -> str:
    """What the model said, what may be the case instead, and what it says then."""
    return sentence_of(account_of(region, digits))


def sentence_of(account: Account) -> str:
    region = account.region
    said = f"{told(region.predicted, region.target, region.labels)}. "
    if not account.changing:
        some = "No single feature has to change, but not all can stay as they are. "
        said += "Nothing has to change. " if account.holds_now else some
    return said + actions_in_words(region) + claim_of(account)


def claim_of(account: Account) -> str:
    """What is proven of every point of the region."""
    shown = account.shown
    then = promise(shown.target, shown.labels, shown.certificate.keepers)
    near = _nearby(shown)
    if len(account.free) == len(account.lines):
        return f"Whatever the features are within their limits, {then}.{near}"
    return f"If {_conditions(account) or 'everything stays as it is'}, {then}{_free(account.free)}.{near}"


def of_those_nearby(region: Region) -> tuple[str, ...]:
    """What the certificate says of the models near the one that was asked about."""
    return tuple(text for text in region.certificate.assumptions if text.startswith(NEAR))


def _nearby(region: Region) -> str:
    """One model speaks for all near it. Of several models only the certificate says which come with those near them."""
    return "" if region.target.each else "".join(f" This {message(text)}." for text in of_those_nearby(region))


def _conditions(account: Account) -> str:
    """What has to change, and what to keep: two breaths where one of them is a list."""
    alone = [line for line in account.staying if not line.reach]
    changes = _changing([line for line in account.changing if not line.reach])
    if account.is_round:
        changes.append(_together(account, [line for line in account.lines if line.reach]))
    keep = _keeping(alone, bool(changes), bool(account.free))
    if not (changes and keep) or not keep[0].startswith(KEEP):
        return joined(changes + keep)
    return f"{joined(changes)}{',' if len(changes) + len(keep) > 2 else ''} and {joined(keep)}"


# ---- what has to change ---------------------------------------------------------------------------------------------
def _changing(lines: Sequence[Line]) -> list[str]:
    if len(lines) <= MOST_SPOKEN:
        return [_change(line) for line in lines]
    parts = [
        f"{line.name}{' is' if i == 0 else ''} {_value(line)} ({_now(line)})"
        for i, line in enumerate(lines[:MOST_CHANGED])
    ]
    if (left := len(lines) - MOST_CHANGED) > 0:
        parts.append(f"{left} more {'feature' if left == 1 else 'features'} as in the table")
    return parts


def _change(line: Line) -> str:
    verb = "becomes" if line.sort in (Sort.CATEGORY, Sort.YES_NO) and not line.moving else "is"
    value = _value(line)
    where = "anywhere " if value.startswith("between ") else ""
    proof = f" ({line.open_proof})" if line.open_text else ""
    return f"{line.name} {verb} {where}{value}{proof} instead of {line.said_factual}"


def _now(line: Line) -> str:
    """now 24 months."""
    return f"now {line.said_factual}" + (f", {line.open_proof}" if line.open_text else "")


def _value(line: Line) -> str:
    """Where a feature lies, as one says "it is ..."."""
    if not line.moving:
        return line.said_center
    if line.sort is Sort.CATEGORY:
        return joined(line.choices if line.said is None else line.said.choices, "or")
    if line.sort is Sort.YES_NO:
        return "yes or no"
    if line.open_text:
        return line.open_text
    if line.limit_below and not line.limit_above:
        return f"{line.with_unit(line.high)} or less"
    if line.limit_above and not line.limit_below:
        return f"at least {line.with_unit(line.low)}"
    if line.low == line.high:
        return line.with_unit(line.low)
    return f"between {line.low} and {line.with_unit(line.high)}"


# ---- what to keep ---------------------------------------------------------------------------------------------------
def _keeping(lines: Sequence[Line], others: bool, free: bool) -> list[str]:
    """Those that have room are never called unchanged; without any of them, what stays is said of itself."""
    roomy = [line for line in lines if line.moving]
    still = [line for line in lines if not (line.moving or line.absent)]
    absent = [line.name for line in lines if line.absent]
    parts = []
    if len(roomy) > MOST_SPOKEN:
        parts.append(f"{KEEP}{len(roomy)}{' other' if others else ''} features within the ranges of the table")
    elif roomy:
        parts += [f"{'' if i else KEEP}{_kept(line)}" for i, line in enumerate(roomy)]
    if not parts and not others and not still:
        return []  # nothing but what is missing: everything stays as it is
    keep = bool(parts)
    if len(still) + len(parts) <= MOST_SPOKEN:
        parts += [f"{line.name} {'at' if keep else 'stays'} {line.said_center}" for line in still]
    elif keep:
        parts.append("everything else as it is")
    else:
        parts.append(f"everything{' else' if others or free else ''} stays as it is")
    return parts + _missing(absent, keep and not still)


def _kept(line: Line) -> str:
    """duration between 12 and 24 months (now 18 months); duration at 24 months or less (now 18 months)."""
    value = _value(line)
    for side, after in (("at least ", "or more"), ("at most ", "or less")):
        if value.startswith(side):
            value = f"{value.removeprefix(side)} {after}"
    now = "" if value == line.said_factual else f" ({_now(line)})"  # no other number of so few digits lies inside
    return f"{line.name} {'' if value.startswith('between ') else 'at '}{value}{now}"


def _missing(names: Sequence[str], keep: bool) -> list[str]:
    """What the row lacks is part of the promise: it holds for rows that lack it, too."""
    if not names:
        return []
    if len(names) > MOST_SPOKEN:
        return [f"the {len(names)} numbers that are missing{'' if keep else ' stay so'}"]
    return [f"{joined(names)} {'' if keep else 'stays ' if len(names) == 1 else 'stay '}missing"]


# ---- what does not matter -------------------------------------------------------------------------------------------
def _free(lines: Sequence[Line]) -> str:
    """Within the limits that it has: nothing is proven of values beyond them."""
    if not lines:
        return ""
    if len(lines) > MOST_SPOKEN:
        return f"; {len(lines)} features do not matter within their limits"
    numbers = (Sort.NUMBER, Sort.WHOLE)
    names = [f"{line.name} ({line.range_text})" if line.sort in numbers else line.name for line in lines]
    return f"; {joined(names)} {'does' if len(lines) == 1 else 'do'} not matter"


# ---- balls and diamonds ---------------------------------------------------------------------------------------------
def _together(account: Account, shared: Sequence[Line]) -> str:
    """together duration (14 ± 3 months instead of 24 months) and amount (1,200 ± 80 DM, now 1,190 DM) lie within a ball
    of radius r around these values: what one of them uses up of the ball, the others lack."""
    size = ""
    if account.radius:
        size = f" of radius {account.radius}" + (
            "" if account.scales_are_one else " (in units of each feature's scale)"
        )
    spoken = [line for line in shared if line.has_to_change][:MOST_CHANGED]
    rest = [line for line in shared if line not in spoken]
    if len(rest) <= MOST_SPOKEN:
        spoken, rest = [*spoken, *rest], []
    named = [f"{line.name} ({_around(line)})" for line in spoken]
    if rest:
        named.append(f"{len(rest)}{' other' if spoken else ''} features (as in the table)")
    if len(shared) == 1:
        return f"{named[0]} lies within its range"
    return f"together {joined(named)} lie within a {account.shape.value}{size} around these values"


def _around(line: Line) -> str:
    where = line.with_unit(f"{line.center} ± {line.reach}")
    return f"{where} instead of {line.said_factual}" if line.has_to_change else f"{where}, now {line.said_factual}"
