"""Why no region exists: a smallest set of parts of the question that rules every region out.

Let P be the parts of the question (`problem.parts`) and S a subset of P. S *blocks* if the question with the parts S alone,
all others given up, has no answer. P blocks: that is what has been proven. The deletion filter walks through P, the parts
that one would blame last first, in halves: whatever can be given up while the rest is still proven to block is given up.
What is left blocks; the engine has proven exactly that. A question that is not decided in its time counts as one that
does not block, so a set may come out too large, never too small.

**No proper subset blocks.** For rules it is enough that no single part can be left out: fewer rules allow more centres. With
rooms it is not: a room is clipped by bounds, one-way and frozen columns, so giving these up makes rooms larger, and a
smaller set could block although a larger one does not. Let c be the centre found without the part p, and B the room
around c with all other parts but those that make rooms given up. If the judge certifies B, then c answers *every* question
with parts T, T a subset of S - {p}: c obeys T, and its room there lies in B. So no subset of S - {p} blocks. Where the judge
refuses B, subsets are asked one by one, the larger first, if they are few; one that blocks takes the place of S. Every proper subset lies
in some S - {p}.

**The nearest question.** What has an answer must give up, or ease, some part of every set that blocks. So each part of S is
eased alone, as little as needed (bisection: more changes, a smaller room); with rooms in S the other parts as well, as they
clip these. If none is enough alone, there are several reasons at
once: parts are taken into an empty question as long as it has an answer, and those left out are eased together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Protocol

from elbowroom.problem.body import Body
from elbowroom.problem.parts import Milder, Part, milder, without
from elbowroom.problem.problem import RecourseProblem
from elbowroom.result.no_region import NoRegion
from elbowroom.result.region import Region
from elbowroom.result.status import Status
from elbowroom.result.why_not import Nearest, WhyNot
from elbowroom.search.contract import Clock
from elbowroom.search.frontier import INTERRUPTED

SHARE: Final = 0.25  # of the time that is left, for one question
MOST_SUBSETS: Final = 64  # that are asked one by one where rooms are clipped
MOST_ALONE: Final = 40  # parts that are eased one by one


class AskAny(Protocol):
    """The answer to a question within a number of seconds; with ``first``, the first region that is found is enough. None:
    the engine does not take the question."""

    def __call__(self, problem: RecourseProblem, seconds: float, first: bool) -> Region | NoRegion | None: ...


@dataclass(frozen=True, eq=False)
class _Verdict:
    """What is known of one set of parts: it blocks, it has an answer, or neither was found out."""

    blocks: bool
    region: Region | None

    @property
    def open(self) -> bool:
        return not self.blocks and self.region is None


UNKNOWN: Final = _Verdict(False, None)


class _Questions:
    """Questions with some parts of one question, each asked once."""

    def __init__(self, problem: RecourseProblem, parts: Sequence[Part], ask: AskAny, clock: Clock) -> None:
        self.problem, self.parts, self.clock = problem, parts, clock
        self._ask = ask
        self._known: dict[frozenset[int], _Verdict] = {}
        self.asked = 0
        self.interrupted = False

    @property
    def everything(self) -> frozenset[int]:
        return frozenset(range(len(self.parts)))

    def know(self, kept: frozenset[int], blocks: bool) -> None:
        self._known[kept] = _Verdict(blocks, None)

    def with_only(self, kept: frozenset[int]) -> RecourseProblem:
        return without(self.problem, [part for i, part in enumerate(self.parts) if i not in kept])

    def verdict(self, kept: frozenset[int]) -> _Verdict:
        if kept not in self._known:
            found = self.ask(self.with_only(kept), first=True)
            if found.open:
                return found  # there may be more time for it later
            self._known[kept] = found
        return self._known[kept]

    def ask(self, problem: RecourseProblem, first: bool) -> _Verdict:
        if self.clock.expired or self.interrupted:
            return UNKNOWN
        self.asked += 1
        answer = self._ask(problem, self.clock.remaining * SHARE, first)
        if answer is None:
            return UNKNOWN
        self.interrupted = answer.method == INTERRUPTED
        if isinstance(answer, Region):
            return _Verdict(False, answer)
        return _Verdict(answer.status is Status.NONE_EXISTS, None)


def find_why_not(
    answer: NoRegion,
    problem: RecourseProblem,
    parts: Sequence[Part],
    ask: AskAny,
    accept: Callable[[Body], bool],
    clock: Clock,
) -> WhyNot:
    """What rules out every answer to a question that is proven to have none."""
    questions = _Questions(problem, parts, ask, clock)
    questions.know(questions.everything, blocks=True)
    nowhere = questions.verdict(frozenset()).blocks
    kept, needed, minimal = (frozenset[int](), (), True) if nowhere else _smallest(questions, accept)
    chosen = sorted(kept)
    nearest, complete = ([], True) if nowhere else _nearest(questions, chosen)
    return WhyNot(
        answer=answer,
        blocking=tuple(parts[i] for i in chosen),
        needed=needed,
        minimal=minimal,
        nowhere=nowhere,
        nearest=tuple(sorted(nearest, key=lambda found: found.distance)),
        complete=complete,
        questions=questions.asked,
        seconds=clock.seconds,
    )


# ---- the smallest set that blocks ------------------------------------------------------------------------------------
def _smallest(questions: _Questions, accept: Callable[[Body], bool]) -> tuple[frozenset[int], tuple[bool, ...], bool]:
    """The set, which of its parts are proven to be needed, and whether no proper subset blocks: that is proven."""
    kept = questions.everything
    for chunk in reversed(_by_kind(questions.parts)):
        kept = _shrink(questions, kept, chunk)
    while True:
        smaller = next((kept - {i} for i in sorted(kept) if questions.verdict(kept - {i}).blocks), None)
        if smaller is None:
            smaller, minimal = _hidden(questions, kept, accept)
            if smaller is None:
                break
        kept = smaller
    needed = tuple(questions.verdict(kept - {i}).region is not None for i in sorted(kept))
    return kept, needed, minimal and all(needed)


def _by_kind(parts: Sequence[Part]) -> list[list[int]]:
    kinds = dict.fromkeys(part.kind for part in parts)
    return [[i for i, part in enumerate(parts) if part.kind is kind] for kind in kinds]


def _shrink(questions: _Questions, kept: frozenset[int], chunk: Sequence[int]) -> frozenset[int]:
    """Without as much of a chunk as the proof that the rest blocks allows."""
    rest = kept.difference(chunk)
    if questions.verdict(rest).blocks:
        return rest
    if len(chunk) == 1:
        return kept
    half = len(chunk) // 2
    return _shrink(questions, _shrink(questions, kept, chunk[half:]), chunk[:half])


def _hidden(
    questions: _Questions, kept: frozenset[int], accept: Callable[[Body], bool]
) -> tuple[frozenset[int] | None, bool]:
    """A proper subset that blocks although no part can be left out alone; and, if none is found, whether there is none."""
    parts = questions.parts
    roomy = frozenset(i for i in kept if parts[i].makes_rooms)
    clipping = frozenset(i for i in kept if parts[i].limits_rooms)
    if len(kept) < 3 or not roomy or not clipping:
        return None, True  # fewer parts allow more, or nothing lies between one part and all of them
    open_ends = [i for i in sorted(kept) if not _answers_all_below(questions, kept - {i}, clipping, accept)]
    doubtful = _subsets_below(kept, open_ends)
    if doubtful is None:
        return None, False
    for subset in doubtful:
        found = questions.verdict(subset)
        if found.blocks:
            return subset, False
        if found.open:
            return None, False
    return None, True


def _answers_all_below(
    questions: _Questions, kept: frozenset[int], clipping: frozenset[int], accept: Callable[[Body], bool]
) -> bool:
    """Is the centre that answers the question with these parts also an answer with fewer, whose rooms are larger?"""
    region = questions.verdict(kept).region
    if region is None:
        return False
    if not (clipping & kept) or not any(questions.parts[i].makes_rooms for i in kept):
        return True
    if questions.clock.expired:
        return False
    return accept(questions.with_only(kept - clipping).body(region.body.center))


def _subsets_below(kept: frozenset[int], open_ends: Iterable[int]) -> list[frozenset[int]] | None:
    """Proper subsets of ``kept`` without one of the ``open_ends``, the larger first; None if they are too many."""
    found: dict[frozenset[int], None] = {}
    for i in open_ends:
        rest = sorted(kept - {i})
        if 2 ** len(rest) > 4 * MOST_SUBSETS:
            return None
        for size in range(len(rest)):
            found.update(dict.fromkeys(frozenset(some) for some in combinations(rest, size)))
    return None if len(found) > MOST_SUBSETS else sorted(found, key=lambda some: (-len(some), sorted(some)))


# ---- the nearest question --------------------------------------------------------------------------------------------
def _nearest(questions: _Questions, blocking: Sequence[int]) -> tuple[list[Nearest], bool]:
    """Each part of the blocking set eased alone; if that is not enough, several together. And whether all were decided."""
    candidates = list(blocking)
    if any(
        questions.parts[i].makes_rooms for i in blocking
    ):  # a part outside may clip rooms, and make this set harmless
        candidates += sorted(questions.everything.difference(blocking))
    found, complete = [], len(candidates) <= MOST_ALONE
    for i in candidates[:MOST_ALONE]:
        eased, decided = _eased(questions, [i])
        found += eased
        complete = complete and decided
    if found or not blocking:
        return found, complete
    together = sorted(questions.everything - _grown(questions))
    eased, decided = _eased(questions, together) if together else ([], False)
    return eased, complete and decided


def _grown(questions: _Questions) -> frozenset[int]:
    """As many parts as one question with an answer can have, those that one would give up last first."""
    kept: frozenset[int] = frozenset()
    for chunk in reversed(_by_kind(questions.parts)):
        kept = _grow(questions, kept, chunk)
    return kept


def _grow(questions: _Questions, kept: frozenset[int], chunk: Sequence[int]) -> frozenset[int]:
    more = kept.union(chunk)
    if questions.verdict(more).region is not None:
        return more
    if len(chunk) == 1:
        return kept
    half = len(chunk) // 2
    return _grow(questions, _grow(questions, kept, chunk[:half]), chunk[half:])


def _eased(questions: _Questions, given_up: Sequence[int]) -> tuple[list[Nearest], bool]:
    """The question without these parts, each of them asked for as much as possible; none if it has no answer. And whether
    that was decided."""
    parts = sorted((questions.parts[i] for i in given_up), key=lambda part: -part.place)  # places of rules stay true
    problem, clauses, least = questions.problem, [], True
    if len(parts) > 1 or len(milder(problem, parts[0])) > 1:
        last = questions.ask(without(problem, parts), first=True)
        if last.region is None:
            return [], last.blocks
    for place, part in enumerate(parts):
        chosen, proven = _mildest(questions, milder(problem, part), parts[place + 1 :])
        problem, least = chosen.problem, least and proven
        clauses.append(chosen.words)
    found = questions.ask(problem, first=False)
    if found.region is None:
        return [], found.blocks
    words = clauses[0] if len(clauses) == 1 else f"{', '.join(clauses[:-1])} and {clauses[-1]}"
    return [Nearest(tuple(parts), words, found.region, least)], True


def _mildest(questions: _Questions, steps: Sequence[Milder], rest: Sequence[Part]) -> tuple[Milder, bool]:
    """The first of ever milder questions that has an answer without the rest (the last one has), by bisection; and whether
    all those before are proven to have none."""
    low, high, proven = -1, len(steps) - 1, True  # nothing up to low has an answer; high has one
    while high - low > 1:
        middle = (low + high) // 2
        found = questions.ask(without(steps[middle].problem, rest), first=True)
        if found.region is not None:
            high = middle
        else:
            low, proven = middle, proven and found.blocks
    return steps[high], proven
