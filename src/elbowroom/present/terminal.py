"""Answers on a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from elbowroom.explainer import Explainer
from elbowroom.present.account import account_of
from elbowroom.present.attesting import sign_written
from elbowroom.present.few import few_line
from elbowroom.present.flat import flat_json
from elbowroom.present.outputs import Output, tell_written
from elbowroom.present.proofs import deliver_proof
from elbowroom.present.screen import Column, Screen, Styled, stderr, stdout
from elbowroom.present.text import (
    attestation_line,
    certificate_line,
    kept_line,
    measured,
    round_note,
    rounding_line,
    sentence_of,
    status_line,
    table_rows,
)
from elbowroom.result.no_region import NoRegion
from elbowroom.result.region import Region
from elbowroom.result.status import Status
from elbowroom.result.why_not import WhyNot
from elbowroom.signature import Signer


def show_answer(screen: Screen, answer: Region | NoRegion, quiet: bool = False) -> None:
    """The sentence; unless quiet, also the table and the lines on proof."""
    if isinstance(answer, NoRegion):
        screen.lines(answer.sentence() if quiet else str(answer))
        return
    account = account_of(answer)
    screen.line(sentence_of(account), style="" if quiet else "bold")
    if quiet:
        return
    screen.blank()
    rows = table_rows(account, only_relevant=True)
    if len(rows) > 1:
        columns = [Column(name, "right" if c in (2, 3) else "left") for c, name in enumerate(rows[0])]
        screen.table(columns, [_styled(*row) for row in rows[1:]])
    hidden = len(account.lines) - (len(rows) - 1)
    if hidden:
        noun = "feature stays as it is" if hidden == 1 else "features stay as they are"
        screen.line(f"{hidden} {noun}.", style="dim")
    screen.blank()
    if account.is_round:
        screen.line(round_note(account))
    screen.line(status_line(answer))
    if kept := kept_line(answer):
        screen.line(kept)
    if answer.few is not None:
        screen.line(few_line(answer))
    if rounded := rounding_line(account):
        screen.line(rounded)
    screen.line(measured(account), style="dim")
    screen.line(certificate_line(answer), style="dim")
    if attested := attestation_line(answer):
        screen.line(attested, style="dim")


def show_why_not(screen: Screen, answer: Region | NoRegion, time_limit: float) -> WhyNot | None:
    """What rules an answer out, found in what is left of the time; None if nothing is ruled out."""
    if not isinstance(answer, NoRegion) or answer.status is not Status.NONE_EXISTS:
        return None
    if answer.keeps is not None:
        return None  # what rules a promise out is not known
    why = answer.why_not(time_limit=max(time_limit - answer.seconds, 0.0))
    screen.lines(str(why))
    return why


def _styled(mark: str, name: str, now: str, center: str, inside: str, note: str) -> tuple[str | Styled, ...]:
    return (
        Styled(mark, "cyan"),
        Styled(name, "bold" if mark else ""),
        now,
        center,
        Styled(inside, "bold cyan" if mark else "cyan"),
        Styled(note, "dim"),
    )


def deliver(
    explainer: Explainer,
    answer: Region | NoRegion,
    files: Mapping[str, Output],
    time_limit: float,
    *,
    widen: bool,
    as_json: bool,
    flat: bool = False,
    quiet: bool,
    with_why: bool,
    model: str = "",
    signer: Signer | None = None,
) -> None:
    """Show the answer, widened if that was asked for, with what rules a region out, and write the files."""
    screen = stdout()
    widening = answer.widen(time_limit=time_limit) if widen and isinstance(answer, Region) else None
    shown = answer if widening is None else widening.region
    if as_json:
        screen.json(flat_json(shown) if flat else shown.to_json())
    else:
        show_answer(screen, shown, quiet)
        if widening is not None:
            screen.line(widening.proof(), wrap=False)
    why = show_why_not(screen, answer, time_limit) if with_why and not (as_json or quiet) else None
    if "--output" in files:
        files["--output"].write(shown.to_json())
    if "--html" in files:
        page = (why or widening or shown).to_html(model=model)
        files["--html"].write(page)
    deliver_proof(stderr(), explainer, answer, files)
    if signer is not None:
        sign_written(signer, files)
    tell_written(screen, files, quiet or as_json)
