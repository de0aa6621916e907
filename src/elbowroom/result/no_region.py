"""No answer: what is proven about that, and why. Texts and pages are made by `elbowroom.present`, as for a `Region`."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elbowroom.disk import written
from elbowroom.errors import InputError
from elbowroom.numerics import Floats
from elbowroom.problem.class_names import NO_NAMES, ClassNames
from elbowroom.problem.distances import Distance
from elbowroom.problem.keeping import Probability
from elbowroom.problem.rooms import Room
from elbowroom.problem.rules import Rule
from elbowroom.problem.space import Space
from elbowroom.problem.target import Target
from elbowroom.result.attestation import Attestation
from elbowroom.result.origin import Day, Origin
from elbowroom.result.own_words import with_missing
from elbowroom.result.proof import Proof, write_proof
from elbowroom.result.status import Status, Step
from elbowroom.visible import visible, visible_lines

if TYPE_CHECKING:
    from elbowroom.result.why_not import WhyNot


@dataclass(frozen=True, eq=False, repr=False)
class NoRegion:
    """No region: either proven not to exist, or not found. Counts as False.

    Attributes:
        status: NONE_EXISTS or UNKNOWN.
        reason: Which and why, in words.
        space: What the features mean.
        factual_values: The row of the question, as inner floats.
        target: The wanted outcome.
        room: That was asked for.
        metric: What closest means.
        lower_bound: No region is closer than this; inf where none exists.
        method: How it was searched.
        seconds: That it took.
        trace: One `Step` per iteration.
        counters: What the search counted, for benchmarks.
        rules: What is proven is proven for centres that obey these.
        rules_known: False: read from a file that does not keep them.
        predicted: What the model says of the factual; None: not kept.
        source: Which model was read.
        origin: Seed, time limit and versions; None: read from a file that does not keep them.
        missing: Columns of numbers that the row lacks.
        labels: What classes are called.
        keeps: What slips of the centre were asked to keep.
        proof: For strangers, where one was asked for.
        attestation: What whoever files it says about it; see `attested`.

    Examples:
        >>> bool(none), none.status.name
        (False, 'NONE_EXISTS')
    """

    status: Status
    reason: str
    space: Space
    factual_values: Floats
    target: Target
    room: Room
    metric: Distance
    lower_bound: float
    method: str
    seconds: float
    trace: tuple[Step, ...] = field(default=())
    counters: dict[str, float] = field(default_factory=dict)  # what the search counted, for benchmarks; not in the JSON
    rules: tuple[Rule, ...] = field(default=())
    rules_known: bool = True
    predicted: object = None  # what the model says of the factual; None: not kept
    source: str = ""  # which model was read, human-readable
    origin: Origin | None = None  # None: read from a file that does not keep it
    missing: tuple[str, ...] = ()  # columns of numbers that the row lacks; 0 in ``factual_values``
    labels: ClassNames = NO_NAMES  # what classes are called
    _why_not: Callable[..., WhyNot] | None = field(default=None)  # of the explainer it came from; not in the JSON
    proof: Proof | None = None  # where one was asked for; not in the JSON
    attestation: Attestation | None = None  # what whoever files it says about it; see `attested`
    keeps: Probability | None = None  # what slips of the centre were asked to keep

    def __post_init__(self) -> None:
        if self.status not in (Status.NONE_EXISTS, Status.UNKNOWN):
            raise ValueError(f"a NoRegion cannot have status {self.status.name}")

    def __bool__(self) -> bool:
        return False

    def __getstate__(self) -> dict[str, object]:
        """Copies and pickles leave the explainer behind: it holds the whole model."""
        return {**self.__dict__, "_why_not": None}

    @property
    def inner_row(self) -> Floats:
        """The row of the question as the model is asked: inner floats, NaN for numbers that are missing."""
        return with_missing(self.space, self.factual_values, self.missing)

    def why_not(self, *, time_limit: float = 60.0) -> WhyNot:
        """What rules a region out, as few things as possible, and the nearest questions that have an answer.

        Args:
            time_limit: Seconds.

        Returns:
            A `WhyNot`; see `Explainer.why_not`.
        """
        if self._why_not is None:
            raise InputError(
                "this answer was read from a file or copied and has no model at hand; use explainer.why_not(answer)"
            )
        return self._why_not(self, time_limit=time_limit)

    def sentence(self) -> str:
        """Why there is no region, in plain words.

        Returns:
            One text.
        """
        from elbowroom.present.text import no_region_sentence

        return visible(no_region_sentence(self))

    def __str__(self) -> str:
        from elbowroom.present.text import no_region_text

        return visible_lines(no_region_text(self))

    def __repr__(self) -> str:
        return f"<NoRegion {self.status.name}: {visible(self.reason)}>"

    def _repr_html_(self) -> str:
        from elbowroom.present.report import no_region_fragment

        return no_region_fragment(self)

    def to_html(self, path: str | Path | None = None, *, case: str = "", date: Day = None, model: str = "") -> str:
        """One self-contained page. ``no_region.why_not().to_html()`` also says what rules a region out.

        Args:
            path: Where it is written, if given.
            case: A number or name of the case, for its head.
            date: For its head; None: today.
            model: What its head calls the model.

        Returns:
            The page.
        """
        from elbowroom.present.report import no_region_page

        return written(no_region_page(self, case=case, date=date, model=model), path)

    def to_json(self, path: str | Path | None = None, *, timings: bool = True) -> str:
        """The whole answer; floats are exact.

        Args:
            path: Where it is written, if given.
            timings: Whether seconds and the steps of the trace are kept: equal answers differ in nothing else.

        Returns:
            The text.
        """
        from elbowroom.result.schema import write_answer

        return written(write_answer(self, timings), path)

    def attested(
        self, case: str = "", purpose: str = "", *, model: str = "", time: datetime.datetime | str | None = None
    ) -> NoRegion:
        """The same answer for the files: with what it was made for, under the checksum of its file and on its page.

        Args:
            case: The number or name of the case.
            purpose: What it is made for, in your words.
            model: What the model is called; the file's SHA-256 stands in ``origin``.
            time: When, with a time zone; None for now.

        Returns:
            A copy with an `Attestation`. Without one, equal questions give equal files.
        """
        from elbowroom.result.attested import attested_proof

        answer = replace(self, attestation=Attestation.of(case, purpose, model, time))
        return replace(answer, proof=attested_proof(answer))

    def to_proof(self, path: str | Path) -> None:
        """Write the proof that ``explain(..., proof=True)`` made, for ``python -m elbowroom_checker``.

        Args:
            path: Where it is written.
        """
        write_proof(self.proof, path)

    @classmethod
    def from_json(cls, text_or_path: str | Path) -> NoRegion:
        """Read what `to_json` wrote. A file in which anything was changed is refused.

        Args:
            text_or_path: The text or the file.

        Returns:
            An equal answer, without its model.
        """
        from elbowroom.result.schema import read_answer

        answer = read_answer(text_or_path)
        if not isinstance(answer, cls):
            raise InputError("this file holds a region; read it with Region.from_json")
        return answer
