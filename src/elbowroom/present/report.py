"""A region as one self-contained HTML page, and as a fragment for notebooks. Nothing is fetched from elsewhere."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from elbowroom.present.account import account_of, quoted
from elbowroom.present.numbers import about, below, percent_up
from elbowroom.present.text import (
    ROUNDING_GAP,
    certificate_line,
    joined,
    no_region_sentence,
    outcome,
    range_heading,
    round_note,
    rules_text,
    sentence_of,
    spoken,
    status_line,
    status_text,
)
from elbowroom.problem.rooms import Ball, Box, Diamond, Room
from elbowroom.result.region import NoRegion, Region
from elbowroom.version import __version__
from elbowroom.visible import named, visible

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _templates() -> Environment:
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
    ordered = [*account.changed, *account.kept]
    return _templates().get_template(template).render(
        title=f"Region: the model {outcome(region.target)}",
        sentence=sentence_of(account),
        status=_upper(status_text(region)),
        told=[line for line in ordered if line.changed or line.moving],
        still=[line for line in ordered if not (line.changed or line.moving)],
        round_note=round_note(account),
        range_heading=_upper(range_heading(account)),
        closeness=_closeness(region),
        certificate=_certificate(region),
        status_line=status_line(region),
        certificate_line=certificate_line(region),
        version=__version__,
    )  # fmt: skip


def _closeness(region: Region) -> list[tuple[str, str]]:
    return [
        ("Distance", f"{about(region.distance)} ({region.metric.value}, in units of each feature's scale)"),
        ("Proven lower bound", below(region.lower_bound, 6)),
        ("Gap", f"at most {percent_up(region.gap)}" if region.gap > ROUNDING_GAP else "none beyond rounding"),
        ("Room asked for", room_text(region.room)),
        ("Rules", rules_text(region)),
        ("Model said", spoken(region.predicted, region.target)),
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
        ("Claim", f"for every point, the model {outcome(c.target)}"),
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
    return _shape_text(room) + _freedom_text(room)


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


def no_region_page(answer: NoRegion) -> str:
    facts = [
        ("Wanted", f"the model {outcome(answer.target)}" if not answer.target.names_nothing else "another class"),
        ("Room", room_text(answer.room)),
        ("Rules", rules_text(answer)),
        ("Distance", answer.metric.value),
        ("Proven lower bound", below(answer.lower_bound, 6)),
        ("Model said", spoken(answer.predicted, answer.target) if answer.predicted is not None else "unknown"),
        ("Model read", answer.source or "unknown"),
        ("Search", f"{answer.method}, {answer.seconds:.2g} s"),
        *_origin(answer),
    ]
    return _templates().get_template("no_region.html.j2").render(
        title="No region",
        sentence=no_region_sentence(answer),
        status=_upper(status_text(answer)),
        facts=facts,
        version=__version__,
    )  # fmt: skip


def no_region_fragment(answer: NoRegion) -> str:
    from markupsafe import escape

    return f"<p>{escape(answer.sentence())}</p>"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
