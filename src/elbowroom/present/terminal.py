"""Answers on a terminal, with rich."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from elbowroom.present.account import account_of
from elbowroom.present.text import certificate_line, round_note, sentence_of, status_line, table_rows
from elbowroom.result.region import NoRegion, Region

PLAIN_WIDTH = 120  # where the output goes to a file or a pipe


def stdout() -> Console:
    """Created for each command, so that redirections are seen."""
    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=PLAIN_WIDTH)


def stderr() -> Console:
    return Console(stderr=True, highlight=False)


def show_answer(console: Console, answer: Region | NoRegion, quiet: bool = False) -> None:
    """The sentence; unless quiet, also the table and the lines on proof."""
    if isinstance(answer, NoRegion):
        console.print(Text(answer.sentence() if quiet else str(answer)))
        return
    account = account_of(answer)
    console.print(Text(sentence_of(account), style="" if quiet else "bold"))
    if quiet:
        return
    console.print()
    rows = table_rows(account, only_relevant=True)
    if len(rows) > 1:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for column, name in enumerate(rows[0]):
            table.add_column(name, justify="right" if column in (2, 3) else "left", overflow="fold")
        for row in rows[1:]:
            mark, name, now, center, inside, note = row
            table.add_row(
                Text(mark, style="cyan"),
                Text(name, style="bold" if mark else ""),
                Text(now),
                Text(center),
                Text(inside, style="bold cyan" if mark else "cyan"),
                Text(note, style="dim"),
            )
        console.print(table)
    hidden = len(account.lines) - (len(rows) - 1)
    if hidden:
        console.print(
            Text(f"{hidden} {'feature stays as it is' if hidden == 1 else 'features stay as they are'}.", "dim")
        )
    console.print()
    if account.is_round:
        console.print(Text(round_note(account)))
    console.print(Text(status_line(answer)))
    console.print(Text(certificate_line(answer), style="dim"))
