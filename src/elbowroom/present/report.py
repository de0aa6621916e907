"""A region as one self-contained HTML page, and as a fragment for notebooks. Nothing is fetched from elsewhere."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any, Final

from elbowroom.errors import InputError
from elbowroom.present.account import Account, account_of
from elbowroom.present.controls import controls_of, page_data
from elbowroom.present.few import few_text, how_many
from elbowroom.present.numbers import about, below, percent_up
from elbowroom.present.outcomes import promise
from elbowroom.present.room_text import room_text
from elbowroom.present.sentence import of_those_nearby
from elbowroom.present.shell import answer_block, data_block, frame
from elbowroom.present.shell import templates as templates
from elbowroom.present.text import (
    ROUNDING_GAP,
    certificate_line,
    kept_line,
    measured,
    no_region_sentence,
    range_heading,
    round_note,
    rounding_line,
    rules_text,
    sentence_of,
    spoken,
    status_line,
    status_text,
    status_word,
)
from elbowroom.present.why_not import instead_of, reasons_of
from elbowroom.result.attestation import MOST_CHARACTERS, Attestation
from elbowroom.result.attested import checksum_of
from elbowroom.result.menu import Menu
from elbowroom.result.no_region import NoRegion
from elbowroom.result.origin import Day
from elbowroom.result.region import Region
from elbowroom.result.why_not import WhyNot
from elbowroom.result.widening import Widening
from elbowroom.version import __version__
from elbowroom.visible import named, visible

MOST_DRAWN: Final = 16  # bars that stand in a page; the script draws those of further features from their numbers
LEAST_GAP: Final = 1e-6  # a smaller one is told as this much: still true, and readable
PICKLES: Final = (".joblib", ".pkl", ".pickle")
FILE_NAME: Final = re.compile(r"[A-Za-z0-9_][\w.-]*\.(?:joblib|pkl|pickle|skops|json|ubj|txt|cbm|onnx)", re.ASCII)


def page(
    region: Region,
    *,
    menu: Menu | None = None,
    widening: Widening | None = None,
    case: str = "",
    date: Day = None,
    model: str = "",
) -> str:
    """The whole answer: sentence, features that can be moved, closeness, certificate, and how to check it."""
    panels, chosen = [region_panel(region, widening, model)], 0
    if menu is not None:
        if not isinstance(menu, Menu):
            raise InputError(f"menu={type(menu).__name__}: give the Menu that explainer.menu gives")
        panels, chosen = _menu_panels(menu, region, widening, model)
    return templates().get_template("region.html.j2").render(
        title=f"Region: {promise(region.target, region.labels, region.certificate.keepers)}",
        panels=panels,
        chosen=chosen,
        **about_page(case, date, model, region.attestation),
    )  # fmt: skip


def menu_page(menu: Menu, **about: Any) -> str:
    """The menu as one page with a tab for each number of changes, the first region in front."""
    if not menu:
        if isinstance(menu.closest, Region):
            return page(menu.closest, **about)
        return no_region_page(menu.closest, **about)
    return page(menu[0], menu=menu, **about)


def _menu_panels(menu: Menu, region: Region, widening: Widening | None, model: str) -> tuple[list[dict[str, Any]], int]:
    """A panel for every number of changes that was asked about; the one of this region in front."""
    panels: list[dict[str, Any]] = []
    chosen = None
    for changes, answer in menu.answers.items():
        is_this = isinstance(answer, Region) and answer.certificate.seal == region.certificate.seal
        if is_this:
            chosen = len(panels)
        panel = answer_panel(answer, widening if is_this else None, model)
        note = f"distance {about(answer.distance, 4)}" if isinstance(answer, Region) else status_word(answer)
        panels.append({**panel, "tab": _upper(how_many(changes).replace("feature", "change")), "tab_note": note})
    if chosen is None:
        chosen = 0
        panels.insert(0, {**region_panel(region, widening, model), "tab": "This answer", "tab_note": ""})
    return panels, chosen


def fragment(region: Region) -> str:
    """What a notebook shows."""
    account = account_of(region)
    ordered = account.ordered
    return templates().get_template("fragment.html.j2").render(
        sentence=sentence_of(account),
        told=[line for line in ordered if not line.is_still],
        still=[line for line in ordered if line.is_still],
        round_note=round_note(account),
        range_heading=_upper(range_heading(account)),
        measure=" ".join(filter(None, [rounding_line(account), measured(account)])),
        status_line=status_line(region),
        certificate_line=certificate_line(region),
    )  # fmt: skip


# ---- one answer of a page ---------------------------------------------------------------------------------------------
def answer_panel(answer: Region | NoRegion, widening: Widening | None = None, model: str = "") -> dict[str, Any]:
    return region_panel(answer, widening, model) if isinstance(answer, Region) else no_region_panel(answer, model)


def region_panel(region: Region, widening: Widening | None = None, model: str = "") -> dict[str, Any]:
    """All that the page shows of one region, as texts and data."""
    if widening is not None and not isinstance(widening, Widening):
        raise InputError(f"widening={type(widening).__name__}: give the Widening that explainer.widen gives")
    account = account_of(region)
    controls = controls_of(account)
    paired = {id(line): control for line, control in zip(account.lines, controls, strict=True)}
    parts = [
        ("What has to change", "change", account.changing),
        ("What must stay within its range", "stay", account.staying),
        ("What does not matter", "free", account.free),
    ]
    numbers = [line for _, _, lines in parts for line in lines if (control := paired[id(line)]) and control.bar]
    brief = {id(line) for line in numbers[MOST_DRAWN:]}
    return {
        "sentence": sentence_of(account),
        "proof": "" if widening is None else widening.proof(),
        "status": _upper(status_text(region)),
        "slips": _upper(kept_line(region).removeprefix("Slips: ")),
        "parts": [
            (title, style, [(line, paired[id(line)], id(line) in brief) for line in lines if not line.is_still])
            for title, style, lines in parts
        ],
        "still": [line for line in account.ordered if line.is_still],
        "heading": _upper(range_heading(account)),
        "round_note": round_note(account),
        "closeness": _closeness(account),
        "certificate": _certificate(region),
        "attested": _attested(region),
        "data": data_block(page_data(account, controls, widening)),
        "promised_by": _promised_by(region),
        **_checking(region, "region.json", model),
    }


def no_region_panel(answer: NoRegion, model: str = "") -> dict[str, Any]:
    return {
        "sentence": no_region_sentence(answer),
        "status": _upper(status_text(answer)),
        "slips": "",
        "attested": _attested(answer),
        **_checking(answer, "no-region.json", model),
    }


def _checking(answer: Region | NoRegion, file: str, model: str) -> dict[str, Any]:
    """The answer as a file, and the line that proves it again."""
    block, unwritable = answer_block(answer)
    model = model or ("" if answer.attestation is None else answer.attestation.model)
    name = model if FILE_NAME.fullmatch(model) else "model.joblib"
    stem, dot, end = name.rpartition(".")
    others = [f" --also {stem}-{i}{dot}{end}" for i in range(2, len(answer.target.each) + 1)]
    who = f"all {len(others) + 1} models" if others else "the model"
    held = ("Save the answer: this page holds it as a file.", f"The page that was printed holds the answer as {file}.")
    hint = f"Anyone who has {who} can have it proven again"
    hint += ", with --also for each model after the first:" if others else ":"
    trust = " --trust-pickle" if name.endswith(PICKLES) else ""
    return {
        "json": block,
        "file": file,
        "held": ("", "") if unwritable else held,
        "check_hint": f"This answer cannot be written to a file: {unwritable}" if unwritable else hint,
        "check_line": f"elbowroom check {file} {name}{''.join(others)}{trust}",
    }


def _promised_by(region: Region) -> str:
    """Whose outcome the certificate is about."""
    asked = len(region.target.each)
    if of_those_nearby(region):
        return "the promised outcome from this model and from every model near it, as far as stated below"
    return f"what was asked of each of these {asked} models" if asked else "the promised outcome from this one model"


def about_page(case: str, date: Day, model: str, said: Attestation | None = None) -> dict[str, Any]:
    """What stands at the head and the foot of every page: whose case it is, when and with what it was made. Of an attested
    answer it is what the answer's file says, and nothing else."""
    for name, value in (("case", case), ("model", model)):
        if not isinstance(value, str):
            raise InputError(f"{name}={value!r}: give a text, for example {name}={str(value)!r}")
    if said is not None:
        for name, value, stated in (("case", case, said.case), ("model", model, said.model)):
            if value and value != stated:
                raise InputError(f"{name}={value!r}: the answer is attested with {stated!r}; leave {name} out")
        if date is not None:
            raise InputError("date: the answer is attested, and says when it was made; leave date out")
        case, date, model = said.case, said.when, said.model
    if date is None:
        date = datetime.date.today()
    elif not isinstance(date, (str, datetime.date)):
        raise InputError(f"date={date!r}: give a date, a text, or None for today")
    entries = [("Case", case), ("Date", str(date)), ("Model", model)]
    return {
        "case": [(name, named(value)) for name, value in entries if value],
        "frame": frame(),
        "version": __version__,
    }


def _closeness(account: Account) -> list[tuple[str, str]]:
    region = account.region
    return [
        ("Distance", f"{about(region.distance)} ({region.metric.value}). {measured(account)}"),
        *([("As shown", text)] if (text := rounding_line(account)) else []),
        ("Proven lower bound", below(region.lower_bound, 6)),
        (
            "Gap",
            f"at most {percent_up(max(region.gap, LEAST_GAP))}"
            if region.gap > ROUNDING_GAP
            else "none beyond rounding",
        ),
        *([("Few changes", _upper(few_text(region.few)))] if region.few is not None else []),
        ("Room asked for", room_text(region.room, region.space)),
        ("Rules", rules_text(region)),
        *([("Slips", _upper(kept_line(region).removeprefix("Slips: ")))] if region.keeps is not None else []),
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


def _attested(answer: Region | NoRegion) -> list[tuple[str, str]]:
    """What somebody says about the answer, and the checksum under which all of it stands."""
    if answer.attestation is None:
        return []
    said = [(name, named(text, MOST_CHARACTERS)) for name, text in answer.attestation.entries]
    return [*said, ("Checksum", checksum_of(answer))]


def _certificate(region: Region) -> list[tuple[str, str]]:
    c = region.certificate
    rows = [
        ("Claim", f"for every point, {promise(c.target, region.labels, c.keepers)}"),
        ("Proven by", c.method),
        ("Margin", f"at least {below(c.margin, 4)} above what the model's rounding needs"),
        ("Model fingerprint", c.fingerprint),
        ("Seal", c.seal),
    ]
    if c.assumptions:
        rows.append(("Assumes", "; ".join(c.assumptions)))
    return rows


def no_region_page(
    answer: NoRegion,
    why: WhyNot | None = None,
    *,
    case: str = "",
    date: Day = None,
    model: str = "",
) -> str:
    """What was asked and that nothing answers it; with ``why``, what rules it out and what would have an answer."""
    facts = [
        (
            "Wanted",
            "another class" if answer.target.names_nothing else promise(answer.target, answer.labels),
        ),
        ("Room", room_text(answer.room, answer.space)),
        ("Rules", rules_text(answer)),
        *([("Slips", _upper(answer.keeps.words))] if answer.keeps is not None else []),
        ("Distance", answer.metric.value),
        (
            "Proven lower bound",
            below(answer.lower_bound, 6) if math.isfinite(answer.lower_bound) else "none at any distance",
        ),
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
        panel=no_region_panel(answer, model),
        facts=facts,
        why="" if why is None else reasons_of(why),
        blocking=[] if why is None else [_upper(visible(part.words)) for part in why.blocking],
        instead="" if why is None else instead_of(why),
        nearest=[] if why is None else [(_upper(visible(f"if {near.words}")), near) for near in why.nearest],
        **about_page(case, date, model, answer.attestation),
    )  # fmt: skip


def no_region_fragment(answer: NoRegion) -> str:
    from markupsafe import escape

    return f"<p>{escape(answer.sentence())}</p>"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
