"""Answers on a terminal."""

from __future__ import annotations

from elbowroom.present.account import account_of
from elbowroom.present.screen import Column, Screen, Styled
from elbowroom.present.text import certificate_line, round_note, sentence_of, status_line, table_rows
from elbowroom.result.region import NoRegion, Region


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
    screen.line(certificate_line(answer), style="dim")


def _styled(mark: str, name: str, now: str, center: str, inside: str, note: str) -> tuple[str | Styled, ...]:
    return (
        Styled(mark, "cyan"),
        Styled(name, "bold" if mark else ""),
        now,
        center,
        Styled(inside, "bold cyan" if mark else "cyan"),
        Styled(note, "dim"),
    )
