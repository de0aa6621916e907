"""Questions that are asked to find out why another one has no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elbowroom.certify.judge import certify
from elbowroom.errors import ElbowroomError, InputError
from elbowroom.explainer.answer import answer
from elbowroom.explainer.attempt import Attempt
from elbowroom.explainer.method import Method
from elbowroom.problem import Body, RecourseProblem
from elbowroom.problem.parsing import parse_enum, seconds_of
from elbowroom.problem.parts import parts_of
from elbowroom.result import Certificate, NoRegion, Origin, Region, Status, Step, WhyNot
from elbowroom.search.contract import Clock
from elbowroom.visible import listed

if TYPE_CHECKING:
    from elbowroom.explainer.explainer import Explainer


class WhyNone:
    """The part of an `Explainer` that says why a question has no answer."""

    def why_not(  # type: ignore[misc]  # it is part of nothing else
        self: Explainer,
        none: NoRegion,
        *,
        time_limit: float = 60.0,
        method: Method | str = "auto",
    ) -> WhyNot:
        """What rules out a region that is proven not to exist: a smallest set of rules, frozen and one-way features, bounds and
        the room, and the nearest questions that have an answer.

        Args:
            none: The `NoRegion` with status NONE_EXISTS.
            time_limit: Seconds; after them the set still rules everything out, but need not be the smallest.
            method: As in `explain`.

        Returns:
            A `WhyNot`.

        Examples:
            >>> [part.words for part in explainer.why_not(none).blocking]
            ['salary lies between 0 and 2,500']
        """
        seconds, chosen = seconds_of(time_limit), parse_enum(Method, method, "method")
        if isinstance(none, NoRegion) and none.keeps is not None:
            raise InputError("why_not is about rooms; ask without keeps= to learn what rules a room out")
        able = self.for_missing(none.missing) if isinstance(none, NoRegion) else self
        return why_none_exists(able, none, chosen, able._origin(0, seconds))


def why_none_exists(explainer: Explainer, none: NoRegion, method: Method, origin: Origin) -> WhyNot:
    """Ask about the parts of a question that is proven to have no answer."""
    from elbowroom.search.why_not import find_why_not  # not needed by those who get an answer

    _check(explainer, none)
    clock = Clock(origin.time_limit)
    if none.target.names_nothing:  # the model has a single class
        return WhyNot(none, (), (), True, True, (), True, 0, clock.seconds)
    asked = RecourseProblem(
        explainer.model, none.space, none.factual_values, none.target, none.room, none.metric, none.rules, none.missing
    )

    def ask(problem: RecourseProblem, seconds: float, first: bool) -> Region | NoRegion | None:
        try:
            engine = explainer._ready(method, problem)
        except ElbowroomError:
            return None
        inner = Clock(seconds, lambda step: _stop(inner, step) if first else None, clock.nominal)
        attempt = Attempt(problem, inner, engine)
        try:
            return answer(attempt, attempt.run(origin.seed), explainer.widen, origin, explainer.why_not)
        except ElbowroomError:
            return None

    def accept(body: Body) -> bool:
        verdict = certify(explainer.model, asked.target, body, max(clock.remaining, 0.0))
        return isinstance(verdict, Certificate)

    if none._why_not is None:  # what a file says is not proven here
        again = ask(asked, clock.remaining, False)
        if again is None:
            explainer._ready(method, asked)
        if not isinstance(again, NoRegion) or again.status is not Status.NONE_EXISTS:
            raise InputError("that no region exists could not be proven again: ask explain(...) with this row and room")
    return find_why_not(none, asked, parts_of(asked, explainer._opened.domain), ask, accept, clock)


def _stop(clock: Clock, step: Step) -> None:
    """One region is enough: the time of this question is over."""
    if step.best_distance < float("inf"):
        clock.deadline = clock.start


def _check(explainer: Explainer, none: object) -> None:
    if isinstance(none, Region):
        raise InputError("why_not is about a question without an answer; this one has a region")
    if not isinstance(none, NoRegion):
        raise InputError(f"why_not takes the NoRegion that explain returned, not {type(none).__name__}")
    if none.status is not Status.NONE_EXISTS:
        raise InputError(
            f"why_not explains a proof that no region exists, and there is none yet: {none.reason}; ask again with a larger "
            "time_limit"
        )
    if none.space.names != explainer.space.names:
        raise InputError(
            f"the answer is about the columns {listed(none.space.names)}, not {listed(explainer.space.names)}"
        )
    if none.origin is not None and none.origin.fingerprint != explainer.model.fingerprint:
        raise InputError("the answer is about another model than this explainer's; ask explain(...) again")
    if not none.rules_known:
        raise InputError("a file of schema 1 does not keep the rules of its question; ask explain(...) again")
