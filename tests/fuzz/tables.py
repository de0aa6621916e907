"""Tables as people really have them, and as attackers make them, given to ``explain``, ``radius`` and ``frontier``.

What must never happen: a traceback, a spoofed screen, a flood of names, and an answer about numbers that are not those
in the file. The oracle reads the file with Python's own csv module: where the program answers, every row has as many
fields as the header, names differ, and the row that was explained is, to the bit, the row of the file.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
from pathlib import Path
from typing import Any, Final

from elbowroom.present.cli import Exit
from tests.fuzz.honest import HOUSING, applicants, write_models
from tests.fuzz.kind import Outcome, accepted, failed, refused
from tests.fuzz.screens import random_screen, trouble_on_screen
from tests.support.documents import spoiled_bytes
from tests.support.hostile_text import hostile_text
from tests.support.programs import Ran, run_program

ROWS: Final = 8
ODD_CELLS: Final = (
    "", " ", "nan", "NaN", "NA", "null", "inf", "-inf", "1e999", "-1e400", "1,5", "1 000", "1_000", "0x10", "12%", "€5",
    "TRUE", "False", "yes", "2020-01-01", "=1+1", "=cmd|'/C calc'!A0", "+5", "-0", "1e-400", "99999999999999999999",
    "0.1", "0.30000000000000004", "5e-324", "1.7976931348623157e308", "123456789.12345678901234567890", "٣", "１", "1\u00a0000",
    "'1", '"', "1;2", "[1]", "<b>1</b>", "1j", "--1", ".", "e5", "\t3 ",
)  # fmt: skip
HEADS: Final = {"true": 1.0, "false": 0.0}


class Tables:
    name = "tables"

    def prepare(self, folder: Path) -> None:
        self.folder = folder
        self.models = write_models(folder)
        frame, self.labels = applicants()
        rejected = frame[self.labels == "rejected"]
        self.header = list(frame.columns)
        exact = rejected.head(ROWS) * ([1.0 + 1e-9 / 7.0] * 2 + [1.0] * 5)  # with all digits that a float can have
        self.cells = [[repr(float(v)) for v in row] for row in exact.to_numpy()]
        fifo = folder / "pipe"
        os.mkfifo(fifo)
        (folder / "circle").symlink_to("circle")
        self.places = [folder, fifo, folder / "circle", folder / "nothing.csv", Path("/dev/null"), Path("/dev/zero")]

    def attempt(self, rng: random.Random) -> Outcome:
        if rng.random() < 0.01:
            return self._run(rng.choice(self.places), "no table at all", rng)
        header, rows, how = self._spoiled(list(self.header), [list(row) for row in self.cells], rng)
        data, form = _form(header, rows, rng)
        if rng.random() < 0.08:
            data, damage = spoiled_bytes(data, rng) if data else (data, "")
            form += f", {damage}"
        file = self.folder / "table.csv"
        file.write_bytes(data)
        return self._run(file, f"{how}; {form}", rng)

    def _spoiled(
        self, header: list[str], rows: list[list[str]], rng: random.Random
    ) -> tuple[list[str], list[list[str]], str]:
        column, row = rng.randrange(len(header)), rng.randrange(len(rows))
        match rng.randrange(14):
            case 0 | 1:
                rows[row][column] = rng.choice(ODD_CELLS)
                return header, rows, f"cell {row}, {column} is {rows[row][column]!r}"
            case 2:
                cell = rng.choice(ODD_CELLS)
                for cells in rows:
                    cells[column] = cell
                return header, rows, f"column {column} is all {cell!r}"
            case 3:
                rows[row][column] = hostile_text(rng)
                return header, rows, f"cell {row}, {column} is hostile"
            case 4:
                header[column] = hostile_text(rng)
                return header, rows, f"name {column} is hostile"
            case 5:
                header[column] = header[rng.randrange(len(header))]
                return header, rows, f"two columns are called {header[column]!r}"
            case 6:
                count, first = rng.choice((1, 1, 2)), rng.random() < 0.5
                for cells in rows if rng.random() < 0.7 else rows[row : row + 1]:
                    cells[:] = ["1.5"] * count + cells if first else cells + [rng.choice(("1.5", ""))] * count
                return header, rows, f"rows are {count} longer than the header"
            case 7:
                for cells in rows if rng.random() < 0.5 else rows[row : row + 1]:
                    del cells[-rng.randrange(1, len(cells)) :]
                return header, rows, "rows are shorter than the header"
            case 8:
                more = rng.choice((1, 30, 3000)) if rng.random() < 0.3 else 2
                names = [hostile_text(rng) if rng.random() < 0.2 else f"extra {i}" for i in range(more)]
                return header + names, [cells + ["1"] * more for cells in rows], f"{more} columns more"
            case 9:
                order = rng.sample(range(len(header)), len(header))
                return [header[i] for i in order], [[cells[i] for i in order] for cells in rows], "another order"
            case 10:
                return rng.choice(([], header)), [], "no rows"
            case 11:
                del header[column]
                for cells in rows:
                    del cells[column]
                return header, rows, f"without column {column}"
            case 12:
                rows.insert(row, rng.choice(([], [""], ["", "", ""], header)))
                return header, rows, f"an odd row before {row}"
        for cells in rows:
            cells[column] = rng.choice(ODD_CELLS)
        return header, rows, f"column {column} is odd"

    def _run(self, file: Path, story: str, rng: random.Random) -> Outcome:
        model = rng.choice(("linear", "linear", "nameless", "tree", "boosting"))
        row = 100 if rng.random() < 0.03 else rng.choice((0, 1, 5))
        command = rng.choice(("explain", "explain", "explain", "radius", "frontier"))
        words: list[Any] = [command, self.models[model], file, "--row", row, "--trust-pickle", "--time-limit", "2"]
        words += ["--radii", "0.01,0.02"] if command == "frontier" else []
        if command != "radius":
            words += ["--target", "True" if model == "boosting" else "approved", *_options(rng)]
        words += ["--one-hot", "housing=" + ",".join(HOUSING["housing"])] if rng.random() < 0.3 else []
        screen = random_screen(rng)
        as_json = rng.random() < 0.6
        ran = run_program([*words, *(["--json"] if as_json else [])], **screen)  # type: ignore[arg-type]
        trouble = trouble_on_screen(ran, bool(screen["terminal"]))
        story = f"{command} {model}: {story}"
        if trouble is not None:
            return failed(story, trouble)
        if ran.code == Exit.BAD_INPUT:
            return refused(f"{story}: {ran.err.strip()[-100:]}")
        if not file.is_file():
            return failed(story, f"silent acceptance: {file.name} is no table")
        wrong = self._misread(file, model, row, ran, command == "explain" and as_json)
        return accepted(story) if wrong is None else failed(story, wrong)

    def _misread(self, file: Path, model: str, row: int, ran: Ran, has_factual: bool) -> str | None:
        """Where an answer is about other numbers than the file's; None if it is not."""
        try:
            text = io.StringIO(file.read_bytes().decode("utf-8-sig"), newline="")
            header, *rows = [cells for cells in csv.reader(text, strict=True) if cells]  # a blank line is no row
        except (ValueError, csv.Error) as error:
            return f"silent acceptance: Python's csv module cannot read it ({error})"
        if len(set(header)) < len(header):
            return "silent acceptance: two columns have one name"
        for cells in rows:
            while len(cells) > len(header) and not cells[-1]:
                cells.pop()  # a separator at the end of a line says nothing
        ragged = [i for i, cells in enumerate(rows) if len(cells) != len(header)]
        if ragged:
            return f"silent acceptance: row {ragged[0]} has {len(rows[ragged[0]])} fields, the header {len(header)}"
        if row >= len(rows):
            return f"silent acceptance: there is no row {row}"
        names = header if model == "nameless" else self.header
        cells = dict(zip(header, rows[row], strict=True))
        try:
            expected = [HEADS.get(cells[name].strip().lower(), None) or float(cells[name]) for name in names]
        except (KeyError, ValueError) as error:
            if isinstance(error, ValueError) and all(
                cells[name].strip().lower() in HEADS or _is_number(cells[name]) for name in names if name in cells
            ):
                return None
            return f"silent acceptance: row {row} is no row of numbers ({error})"
        if has_factual and json.loads(ran.out)["factual"] != expected:
            return f"misread: the row is {expected}, explained was {json.loads(ran.out)['factual']}"
        return None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _options(rng: random.Random) -> list[str]:
    some: list[str] = []
    if rng.random() < 0.2:
        some += [rng.choice(("--immutable", "--increasing")), rng.choice(("phone", "income", "age"))]
    if rng.random() < 0.1:
        some += ["--label", "extra 0"]
    if rng.random() < 0.1:
        some += ["--scale", rng.choice(("range", "std", "none"))]
    if rng.random() < 0.1:
        some += ["--bounds", "none"]
    return some


def _form(header: list[str], rows: list[list[str]], rng: random.Random) -> tuple[bytes, str]:
    """The table as bytes: separators, quotes, line ends and encodings as they occur."""
    out = io.StringIO()
    separator = rng.choices((",", ";", "\t", "|"), (40, 1, 1, 1))[0]
    end = rng.choices(("\n", "\r\n", "\r"), (10, 5, 1))[0]
    quoting = rng.choices((csv.QUOTE_MINIMAL, csv.QUOTE_ALL), (5, 1))[0]
    writer = csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting)
    if header:
        writer.writerow(header)
    writer.writerows(rows)
    codec = rng.choices(("utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"), (60, 3, 1, 1, 1))[0]
    text = out.getvalue()
    if rng.random() < 0.05:
        text = rng.choice(
            ("\n\n" + text, text + "\n\n\n", "# a comment\n" + text, "sep=,\n" + text, text.rstrip(), "\x00" + text)
        )
    return text.encode(codec, "surrogatepass" if codec.startswith("utf") else "replace"), f"{separator!r} {codec}"
