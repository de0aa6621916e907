"""Why no region exists, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from elbowroom.present.few import in_words
from elbowroom.present.outcomes import promise
from elbowroom.present.text import joined
from elbowroom.problem.parts import Part, PartKind
from elbowroom.result.why_not import Nearest, WhyNot
from elbowroom.visible import message, named

MOST_NAMED: Final = 4  # bounds and frozen features that a sentence names one by one
MOST_NEAREST: Final = 3  # questions that a sentence names


def why_not_sentence(why: WhyNot) -> str:
    """What rules it out, and what would have an answer."""
    if why.nowhere:
        return _nowhere(why)
    clauses = joined([message(clause) for clause in _clauses(why.blocking)])
    said = f"{upper(clauses)}: {_together(why)}."
    if why.nearest:
        near = joined([_near(found) for found in why.nearest[:MOST_NEAREST]], "or")
        said += f" There is a region {near}."
    else:
        said += " No question that has an answer was found" + ("." if why.complete else " in the time given.")
    return said + _missing(why)


def why_not_text(why: WhyNot) -> str:
    """The sentence, then what was proven, as lists: what ``print`` shows."""
    lines = [reasons_of(why)]
    lines += [f"  - {message(part.words)}{'' if needed else ' (not proven to be needed)'}" for part, needed in zip(why.blocking, why.needed, strict=True)]  # fmt: skip
    if why.nearest:
        lines.append(instead_of(why))
        lines += [f"  - {_near(found)}" for found in why.nearest]
    lines.append(f"{why.questions} questions asked, {why.seconds:.2g} s.")
    return "\n".join(lines)


def reasons_of(why: WhyNot) -> str:
    """The line above the list of what rules it out."""
    if why.nowhere:
        return _nowhere(why)
    many = "one thing rules" if len(why.blocking) == 1 else f"{in_words(len(why.blocking))} things together rule"
    proof = "" if len(why.blocking) == 1 and why.minimal else f"; {_proof(why)}"
    return f"Whatever else was asked, {many} out every region{proof}:{_missing(why)}"


def instead_of(why: WhyNot) -> str:
    """The line above the list of questions that have an answer."""
    more = "" if why.complete else " (time ran out before all were tried)"
    return f"The nearest questions that have an answer{more}:"


def _together(why: WhyNot) -> str:
    if len(why.blocking) == 1:
        return "this alone rules out every region" + ("" if why.minimal else f"; {_proof(why)}")
    return f"together these rule out every region, whatever else was asked; {_proof(why)}"


def _proof(why: WhyNot) -> str:
    if why.minimal:
        return "none of them can be left out" if len(why.blocking) > 1 else "nothing less does"
    if all(why.needed):
        return "none of them can be left out alone (smaller sets were not all tried)"
    return "some of them may not be needed (time ran out)"


def _nowhere(why: WhyNot) -> str:
    target = why.answer.target
    if target.names_nothing:
        return f"Nothing that was asked is to blame: {message(why.answer.reason)}."
    lacking = " that lacks these numbers" if why.answer.missing else ""
    return f"Nothing that was asked is to blame: there is no input at all{lacking} for which {promise(target, why.answer.labels)}."


def _missing(why: WhyNot) -> str:
    names = why.answer.missing
    if not names:
        return ""
    return f" (All this is about rows in which {joined([named(name) for name in names])} {'is' if len(names) == 1 else 'are'} missing.)"


def _clauses(parts: Sequence[Part]) -> list[str]:
    """One clause per part; many bounds or frozen features are summed up."""
    said = [part.words for part in parts if part.kind not in (PartKind.FROZEN, PartKind.BOUND)]
    frozen = [part.name for part in parts if part.kind is PartKind.FROZEN]
    bounds = [part for part in parts if part.kind is PartKind.BOUND]
    if frozen:
        said.append(f"{_some(frozen)} may not change")
    if len(bounds) <= MOST_NAMED:
        return [*said, *(part.words for part in bounds)]
    return [*said, f"{_some(list(dict.fromkeys(part.name for part in bounds)))} stay within their bounds"]


def _some(names: Sequence[str]) -> str:
    shown = [named(name) for name in names[:MOST_NAMED]]
    left = len(names) - len(shown)
    return joined([*shown, f"{left} more {'feature' if left == 1 else 'features'}"] if left else shown)


def _near(found: Nearest) -> str:
    return f"if {message(found.words)} (at a distance of {found.distance:.3g})"


def upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def why_not_fragment(why: WhyNot) -> str:
    """What a notebook shows."""
    from markupsafe import escape

    def listed(items: Sequence[str]) -> str:
        return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"

    html = f"<p>{escape(reasons_of(why))}</p>"
    if why.blocking:
        html += listed([message(part.words) for part in why.blocking])
    if why.nearest:
        html += f"<p>{escape(instead_of(why))}</p>" + listed([_near(found) for found in why.nearest])
    return html
