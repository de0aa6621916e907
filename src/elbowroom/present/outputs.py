"""Files that a command writes: refused before any work is done if they would cost the user something.

An output must not be a file that was read, two outputs must not be one file, and a file that exists is replaced only if
it is an earlier answer of the same kind, or if the user says so. All of it is asked again when the file is written,
because a search may take minutes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from elbowroom.disk import encoded, read_ends, why_unwritable, write_whole
from elbowroom.errors import InputError
from elbowroom.signature import SIZE

if TYPE_CHECKING:
    from elbowroom.present.screen import Screen

GENERATOR: Final = "elbowroom"  # the mark in pages and pictures
LOOKED_AT: Final = 4096  # bytes at either end in which a mark is looked for
LOOKED_AT_IN_TABLES: Final = 1 << 20  # the names of a wide table's columns take more


class Kind(Enum):
    """What is written; the value is how an earlier file of this kind is called."""

    REGION = "an answer written by elbowroom"
    PAGE = "a page written by elbowroom"
    PICTURE = "a picture drawn by elbowroom"
    MODEL = "a model"
    TABLE = "a table of answers written by elbowroom"
    PROOF = "a proof written by elbowroom"
    MODEL_FILE = "a model file written by elbowroom"
    SIGNATURE = "a signature"

    def is_own(self, head: bytes, tail: bytes) -> bool:
        """Is a file with this beginning and this end an earlier one of the same kind? Models carry no mark."""
        match self:
            case Kind.REGION:
                return re.match(rb'(?:\xef\xbb\xbf)?\s*\{\s*"format":\s*"elbowroom"', head) is not None
            case Kind.PAGE:
                marked = re.search(rb'<meta name="generator" content="elbowroom[ "]', head) is not None
                return marked or b"<footer>Made by elbowroom " in tail  # as pages of release 0.1 end
            case Kind.PICTURE:
                drawn = head.startswith((b"\x89PNG", b"%PDF", b"<?xml"))
                return drawn and GENERATOR.encode() in head + tail
            case Kind.TABLE:
                ends = head + tail
                return (b"lower_bound" in ends and b"has_to_change" in ends) or b"no_recourse_proven" in ends
            case Kind.PROOF:
                return head.startswith(b'{"format":"elbowroom proof"')
            case Kind.MODEL_FILE:
                return head.startswith(b'{"format":"elbowroom model"')
            case Kind.SIGNATURE:
                return len(head) == SIZE
            case Kind.MODEL:
                return False


@dataclass
class Output:
    """One file that a command was asked to write; ``written`` says whether it was."""

    option: str
    path: Path
    kind: Kind
    force: bool
    written: bool = field(default=False, init=False)
    content: bytes = field(default=b"", init=False)  # what was written, for its signature

    def check(self) -> None:
        """Raise unless the file may be written."""
        try:
            why = why_unwritable(Path(os.path.realpath(self.path))) or self._why_kept()
        except (OSError, ValueError) as error:
            why = str(getattr(error, "strerror", None) or error)
        if why is not None:
            raise InputError(f"{self.option}: cannot write {str(self.path)!r}: {why}")

    def write(self, content: str | bytes) -> None:
        self.check()
        self.content = encoded(content, self.path)
        write_whole(self.path, self.content)
        self.written = True

    def _why_kept(self) -> str | None:
        """Why a file that exists is not replaced."""
        if self.force or not self.path.exists():
            return None
        head, tail = read_ends(self.path, LOOKED_AT_IN_TABLES if self.kind is Kind.TABLE else LOOKED_AT)
        if not head or self.kind.is_own(head, tail):
            return None
        return f"the file exists and is not {self.kind.value}; choose another name, or replace it with --force"


def outputs(
    wanted: Mapping[str, tuple[Path | None, Kind]], inputs: Mapping[str, Path | None], force: bool
) -> dict[str, Output]:
    """The files asked for, by option; an error if one of them may not be written."""
    found = {o: Output(o, path, kind, force) for o, (path, kind) in wanted.items() if path is not None}
    for output in found.values():
        for name, read in inputs.items():
            if read is not None and is_same(output.path, read):
                raise InputError(
                    f"{output.option}: {str(output.path)!r} is the file given as {name}; it would be lost. "
                    "Choose another name"
                )
        for other in found.values():
            if other is not output and is_same(output.path, other.path):
                raise InputError(f"{output.option} and {other.option} name the same file, {str(output.path)!r}")
        output.check()
    return found


def tell_written(screen: Screen, files: Mapping[str, Output], quiet: bool = False) -> None:
    """One line for each file that was written, unless quiet."""
    for output in files.values():
        if output.written and not quiet:
            screen.line(f"Written: {output.path}", style="dim", wrap=False)


def is_same(left: Path, right: Path) -> bool:
    """Do both names lead to one file, or would they if it existed? Names that differ in case alone count as the same:
    on some disks they are."""
    try:
        if left.exists() and right.exists():
            return left.samefile(right)
        one, two = Path(os.path.realpath(left)), Path(os.path.realpath(right))
        if one.name.casefold() != two.name.casefold():
            return False
        return one.parent == two.parent or (
            one.parent.exists() and two.parent.exists() and one.parent.samefile(two.parent)
        )
    except (OSError, ValueError):
        return False
