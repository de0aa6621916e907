"""Why no region exists: what rules it out, and the nearest questions that have an answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from elbowroom.disk import write_whole
from elbowroom.problem.parts import Part
from elbowroom.result.no_region import NoRegion
from elbowroom.result.origin import Day
from elbowroom.result.region import Region
from elbowroom.visible import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, eq=False, repr=False)
class Nearest:
    """A question that asks for less and has an answer.

    Attributes:
        given_up: What it does not ask for.
        words: The same as a clause after "if".
        region: Its answer.
        least: It is proven that asking for a little more in the same respect (one change fewer, a room larger by a hundredth
            of the one asked for) has none.

    Examples:
        >>> none.why_not().nearest[0].words
        'it were not asked that salary lies between 0 and 2,500'
    """

    given_up: tuple[Part, ...]
    words: str  # as a clause after "if"
    region: Region
    least: bool

    @property
    def distance(self) -> float:
        """Of its answer."""
        return self.region.distance

    def __repr__(self) -> str:
        return f"<Nearest: if {visible(self.words)}, at {self.distance:.4g}>"


@dataclass(frozen=True, eq=False, repr=False)
class WhyNot:
    """What rules out a region that is proven not to exist, and the nearest questions that have an answer.

    Attributes:
        answer: The question without an answer.
        blocking: These parts of the question, alone and with everything else given up, rule out every region: proven.
        needed: For each of them: proven that the others do not, once it is given up.
        minimal: Proven that no proper subset of them does.
        nowhere: Nothing that was asked is to blame, for the model gives the wanted outcome to no input at all; then
            ``blocking`` is empty.
        nearest: Questions that ask for less and have an answer, closest first; if they give up one part each, no other part
            would do alone.
        complete: False: time ran out, and other parts may do as well.
        questions: How many were asked for this.
        seconds: That it took.

    Examples:
        >>> none.why_not().minimal
        True
    """

    answer: NoRegion
    blocking: tuple[Part, ...]
    needed: tuple[bool, ...]
    minimal: bool
    nowhere: bool
    nearest: tuple[Nearest, ...]
    complete: bool
    questions: int  # that were asked for this
    seconds: float

    def __bool__(self) -> bool:
        """True if something is proven: what rules a region out, or that the model never gives the outcome."""
        return self.nowhere or bool(self.blocking)

    @property
    def table(self) -> pd.DataFrame:
        """The blocking parts: kind, name, words, and whether each is proven to be needed."""
        rows: Sequence[tuple[str, str, str, bool]] = [
            (part.kind.value, part.name, part.words, needed)
            for part, needed in zip(self.blocking, self.needed, strict=True)
        ]
        return pd.DataFrame(rows, columns=["kind", "name", "words", "needed"])

    def sentence(self) -> str:
        """What rules it out and what would have an answer, in plain words.

        Returns:
            Several lines.
        """
        from elbowroom.present.why_not import why_not_sentence

        return visible(why_not_sentence(self))

    def __str__(self) -> str:
        from elbowroom.present.why_not import why_not_text

        return visible_lines(why_not_text(self))

    def __repr__(self) -> str:
        what = "nowhere" if self.nowhere else f"{len(self.blocking)} parts"
        return f"<WhyNot: {what}, {len(self.nearest)} nearest questions, {self.seconds:.2g} s>"

    def _repr_html_(self) -> str:
        from elbowroom.present.why_not import why_not_fragment

        return why_not_fragment(self)

    def to_html(self, path: str | Path | None = None, *, case: str = "", date: Day = None, model: str = "") -> str:
        """The page of the question without an answer, with what rules it out.

        Args:
            path: Where it is written, if given.
            case: A number or name of the case, for its head.
            date: For its head; None: today.
            model: What its head calls the model.

        Returns:
            The page.
        """
        from elbowroom.present.report import no_region_page

        text = no_region_page(self.answer, self, case=case, date=date, model=model)
        if path is not None:
            write_whole(path, text)
        return text
