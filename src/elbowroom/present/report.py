"""A region as one self-contained HTML page, and as a fragment for notebooks. Nothing is fetched from elsewhere."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, assert_never

from elbowroom.present.account import Account, account_of
from elbowroom.present.few import few_text
from elbowroom.present.numbers import about, below, percent_up
from elbowroom.present.outcomes import quoted
from elbowroom.present.text import (
    ROUNDING_GAP,
    certificate_line,
    joined,
    measured,
    no_region_sentence,
    outcome,
    range_heading,
    round_note,
    rounding_line,
    rules_text,
    sentence_of,
    spoken,
    status_line,
    status_text,
)
from elbowroom.present.why_not import instead_of, reasons_of
from elbowroom.problem.on import On
from elbowroom.problem.rooms import Ball, Box, Diamond, Room
from elbowroom.result.region import NoRegion, Region
from elbowroom.result.why_not import WhyNot
from elbowroom.version import __version__
from elbowroom.visible import named, visible

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("elbowroom.present"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    environment.filters["brief"] = lambda value: about(value, 4)
    return environment


def page(region: Region) -> str:
    """The whole answer: sentence, table with pictures, closeness, certificate, and how to check it."""
    return _render("region.html.j2", region)


def fragment(region: Region) -> str:
    """What a notebook shows."""
    return _render("fragment.html.j2", region)


def _render(template: str, region: Region) -> str:
    account = account_of(region)
    ordered = account.ordered
    return templates().get_template(template).render(
        title=f"Region: the model {outcome(region.target, region.labels)}",
        sentence=sentence_of(account),
        status=_upper(status_text(region)),
        told=[line for line in ordered if not line.is_still],
        still=[line for line in ordered if line.is_still],
        round_note=round_note(account),
        range_heading=_upper(range_heading(account)),
        closeness=_closeness(account),
        measure=" ".join(filter(None, [rounding_line(account), measured(account)])),
        certificate=_certificate(region),
        status_line=status_line(region),
        certificate_line=certificate_line(region),
        version=__version__,
    )  # fmt: skip


def _closeness(account: Account) -> list[tuple[str, str]]:
    region = account.region
    return [
        ("Distance", f"{about(region.distance)} ({region.metric.value}). {measured(account)}"),
        *([("As shown", text)] if (text := rounding_line(account)) else []),
        ("Proven lower bound", below(region.lower_bound, 6)),
        ("Gap", f"at most {percent_up(region.gap)}" if region.gap > ROUNDING_GAP else "none beyond rounding"),
        *([("Few changes", _upper(few_text(region.few)))] if region.few is not None else []),
        ("Room asked for", room_text(region.room)),
        ("Rules", rules_text(region)),
        ("Model said", spoken(region.predicted, region.target, region.labels)),
        ("Model read", region.source or "unknown"),
        ("Search", f"{region.method}, {region.seconds:.2g} s"),
        *_origin(region),
    ]


def _origin(answer: Region | NoRegion) -> list[tuple[str, str]]:
    """With what one would have to ask again."""
    if answer.origin is None:
        return []
    origin = answer.origin
    limit = f"at most {about(origin.time_limit)} s" if math.isfinite(origin.time_limit) else "no time limit"
    rows = [
        ("Asked with", f"seed {origin.seed}, {limit}"),
        ("Versions", ", ".join(f"{name} {version}" for name, version in origin.versions.items())),
    ]
    if origin.model_file is not None:
        rows.append(("Model file", f"SHA-256 {origin.model_file}"))
    return rows


def _certificate(region: Region) -> list[tuple[str, str]]:
    c = region.certificate
    rows = [
        ("Claim", f"for every point, the model {outcome(c.target, region.labels)}"),
        ("Proven by", c.method),
        ("Margin", f"at least {below(c.margin, 4)} above what the model's rounding needs"),
        ("Model fingerprint", c.fingerprint),
        ("Seal", c.seal),
    ]
    if c.assumptions:
        rows.append(("Assumes", "; ".join(c.assumptions)))
    return rows


def room_text(room: Room) -> str:
    """The room in words."""
    return _shape_text(room) + _on_text(room) + _freedom_text(room)


def _on_text(room: Room) -> str:
    """, only in features that change."""
    on = On.parse(room.on) if isinstance(room, Box) else On.ALL
    match on:
        case On.ALL:
            return ""
        case On.CHANGED:
            return ", only in features that change"
        case On.KEPT:
            return ", only in features that stay as they are"
        case _:
            assert_never(on)


def _freedom_text(room: Room) -> str:
    """; any housing; grade 'B' or 'C'."""
    parts = []
    for name, how in (room.categories or {}).items():
        if not isinstance(how, str):
            parts.append(f"; {named(name)} {joined([quoted(label) for label in how], 'or')}")
        elif how == "any":
            parts.append(f"; any {named(name)}")
    return "".join(parts)


def _shape_text(room: Room) -> str:
    kind = type(room).__name__.lower()
    if room.size is not None:
        return f"a {kind} of radius {about(room.size)}, in units of each feature's scale"
    if isinstance(room, Box) and room.radius is None:
        return "a box with different room below and above"
    if isinstance(room, (Box, Ball, Diamond)):
        return f"a {kind} with its own radius for each feature"
    return f"a {kind}"


def no_region_page(answer: NoRegion, why: WhyNot | None = None) -> str:
    """What was asked and that nothing answers it; with ``why``, what rules it out and what would have an answer."""
    facts = [
        (
            "Wanted",
            "another class" if answer.target.names_nothing else f"the model {outcome(answer.target, answer.labels)}",
        ),
        ("Room", room_text(answer.room)),
        ("Rules", rules_text(answer)),
        ("Distance", answer.metric.value),
        ("Proven lower bound", below(answer.lower_bound, 6)),
        (
            "Model said",
            "unknown" if answer.predicted is None else spoken(answer.predicted, answer.target, answer.labels),
        ),
        ("Model read", answer.source or "unknown"),
        ("Search", f"{answer.method}, {answer.seconds:.2g} s"),
        *_origin(answer),
    ]
    return templates().get_template("no_region.html.j2").render(
        title="No region",
        sentence=no_region_sentence(answer),
        status=_upper(status_text(answer)),
        facts=facts,
        why="" if why is None else reasons_of(why),
        blocking=[] if why is None else [_upper(visible(part.words)) for part in why.blocking],
        instead="" if why is None else instead_of(why),
        nearest=[] if why is None else [(_upper(visible(f"if {near.words}")), near) for near in why.nearest],
        version=__version__,
    )  # fmt: skip


def no_region_fragment(answer: NoRegion) -> str:
    from markupsafe import escape

    return f"<p>{escape(answer.sentence())}</p>"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
