"""The network engine: candidates, proof, answer."""

from __future__ import annotations

import numpy as np

from elbowroom.kernels.threads import one_thread
from elbowroom.numerics import TOLERANCES
from elbowroom.problem import Distance, RecourseProblem, Takes
from elbowroom.problem.on import On
from elbowroom.problem.shapes import Shape
from elbowroom.search.contract import Clock, Ending, Engine, Referee, refusal
from elbowroom.search.network.ascent import climb_and_settle
from elbowroom.search.network.branching import TreeEnd
from elbowroom.search.network.candidates import NetworkSearch
from elbowroom.search.network.convex_concave import improve
from elbowroom.search.network.deep import DeepTree
from elbowroom.search.network.envelope import prepare_envelopes
from elbowroom.search.network.everywhere import Everywhere
from elbowroom.search.network.first_regions import FirstRegions
from elbowroom.search.network.incumbent import descend, starts, walk_back
from elbowroom.search.network.limits import (
    EASY,
    FARTHEST,
    FAST,
    FEW_ATTEMPTS,
    FEW_NEURONS,
    FEW_ROUNDINGS,
    FIRST_SIMPLICES,
    FRUITLESS,
    HARDLY_RISING,
    KICKS_IF_SMALL,
    LEAST_PIECES,
    MOST_NEURONS,
    OUTSIDE,
    PIECES_PER_SECOND,
    SLOW,
    SMALL_HARDLY_RISING,
    STARTS,
)
from elbowroom.search.network.moves import Moves
from elbowroom.search.network.nearest import prepare_nearest
from elbowroom.search.network.rising import Rising
from elbowroom.search.network.shallow import ShallowTree
from elbowroom.search.network.simplices import bound_at_once, fits
from elbowroom.search.some_columns import rows_refusal, search_some_columns

METHOD = "network"
SHAPES = (Shape.BOX, Shape.BALL, Shape.DIAMOND)
TAKES = Takes(rows=True, most_changes=True)


class NetworkEngine:
    """ReLU networks, shallow and deep. ``beyond`` is asked last: where columns have no bounds and this engine found
    nothing at any distance. Keeps nothing between questions."""

    def __init__(self, beyond: Engine | None = None) -> None:
        self._beyond = beyond

    def takes(self, problem: RecourseProblem) -> Takes:
        return TAKES

    def refuses(self, problem: RecourseProblem) -> str | None:
        who = "the engine for networks"
        return refusal(problem, who, SHAPES, TAKES, some_columns=True) or rows_refusal(problem, who)

    def prepare(self, shape: Shape) -> None:
        """The kernels are few and small, and the same for all shapes."""
        prepare_envelopes()
        prepare_nearest()

    def search(self, problem: RecourseProblem, referee: Referee, clock: Clock, seed: int) -> Ending:
        """The closest centre whose whole room has the wanted outcome, if it can be found and proven in time."""
        if problem.trouble is not None:
            return Ending(METHOD, np.inf, problem.trouble)
        if problem.walls.on is not On.ALL:
            return search_some_columns(self, problem, referee, clock, seed)
        with one_thread():
            search = NetworkSearch.begin(problem, referee, clock, seed)
            _run(search)
            ending = answer(search)
        if (
            self._beyond is None
            or search.best is not None
            or clock.expired
            or not FARTHEST < ending.lower_bound < np.inf
        ):
            return ending
        last = self._beyond.search(problem, referee, clock, seed)
        return last if referee.center is not None or last.lower_bound == np.inf else ending


def _run(search: NetworkSearch) -> None:
    """The nearest admissible point itself, local searches, then the proof."""
    forced = search.moves.center(search.moves.low)
    search.prove(first_bound(search))
    if search.offer(forced):
        search.prove(search.best_distance)
        return
    if not (search.moves.high > search.moves.low).any():  # the only centre was refused
        if search.refuted or not search.problem.admissible(forced):
            search.prove(np.inf)
        return
    shallow = search.network.depth == 1
    local = improve if shallow else descend
    if shallow:
        local(search, forced)
        if search.best is not None and _closes_at_once(search):
            return
    regions = FirstRegions(search)
    if _beginning(search, regions):
        return
    for start in starts(search) if search.best is None else ():
        nearer = walk_back(search, start)
        if not local(search, nearer):
            search.offer(nearer)
    if shallow and search.undecided:  # too close to the boundary for the judge: look for one with more margin
        climb_and_settle(search, forced)
    if not search.clock.expired:
        _close(search, ShallowTree(search) if shallow else DeepTree(search, regions))
    search.reconsider()


def _beginning(search: NetworkSearch, regions: FirstRegions) -> bool:
    """A region soon, then nearer ones while kicks help; for two and more hidden layers a bound at once, and bounds by simplices in
    turn with the kicks, and while they rise. True if these have proven all there is to prove."""
    rising = None
    if search.network.depth > 1 and fits(search):
        search.prove(bound_at_once(search, regions, regions.penalty.length))
        rising = Rising(search, regions, farthest(search.moves))
    small = search.network.depth == 1 or search.network.n_neurons <= FEW_NEURONS  # then the tree is quick, too
    if search.best is None or not small:
        regions.run(1 if small else STARTS, FEW_ATTEMPTS)
        if search.best is None and not search.clock.expired and _near_or_far(search, regions):
            return True
        if search.best is None:
            regions.go_on()
        while not small and regions.failures < FRUITLESS and search.best is not None and not search.clock.expired:
            regions.improve(1)
            if rising is not None and rising.go_on(FIRST_SIMPLICES):
                break
    if small:
        regions.improve(KICKS_IF_SMALL)
    closed = rising is not None and rising.while_it_rises(SMALL_HARDLY_RISING if small else HARDLY_RISING)
    regions.hand_on()
    return closed


def _near_or_far(search: NetworkSearch, regions: FirstRegions) -> bool:
    """Nothing was found nearby: is there a region anywhere? True if it is proven that there is none; one that is far away is pulled
    back. Large networks have too many pieces to look at."""
    if search.network.n_neurons > MOST_NEURONS:
        return False
    pieces = Everywhere(search, regions)
    pieces.run(max(LEAST_PIECES, int(PIECES_PER_SECOND * search.clock.nominal)))
    if search.best is not None:
        regions.settle(search.moves.of_center(walk_back(search, search.best)))
    return search.lower_bound == np.inf


def _closes_at_once(search: NetworkSearch) -> bool:
    """Most questions about one hidden layer end here: the first candidate is the best one, and a few nodes prove it."""
    _, bound = ShallowTree(search).run(search.best_distance, EASY)
    search.prove(bound)
    return search.lower_bound >= search.best_distance * (1.0 - TOLERANCES.continuous_gap)


def _close(search: NetworkSearch, tree: ShallowTree | DeepTree) -> None:
    """Prove the best, or look farther and farther out while there is none.

    One hidden layer: the best distance is the cutoff at once. Deep networks: envelopes lose with the cutoff, so trial
    cutoffs grow slowly towards the best.
    """
    deep = isinstance(tree, DeepTree)
    growth = SLOW if deep else FAST
    cutoff = max(growth * search.lower_bound, 0.05)
    if not deep and search.best is not None:
        cutoff = search.best_distance
    while not search.clock.expired:
        if cutoff * 1.03 >= search.best_distance:
            cutoff = search.best_distance
        end, bound = tree.run(cutoff)
        search.prove(bound)
        if end is TreeEnd.STOPPED or tree.loose < np.inf or search.best_distance <= cutoff:
            return
        if cutoff > FARTHEST:
            return
        if cutoff >= farthest(search.moves):
            search.prove(np.inf)
            return
        if deep:
            growth = min(growth**1.5, FAST) if tree.nodes <= EASY else SLOW
        cutoff *= growth


def farthest(moves: Moves) -> float:
    """The distance of the farthest corner of the bounds."""
    return moves.measure(moves.high) * (1.0 + OUTSIDE) if np.isfinite(moves.high).all() else np.inf


def first_bound(search: NetworkSearch) -> float:
    """Lipschitz: the margin of the nearest admissible point must rise to 0 at a rate of at most |W_L| ... |W_1|."""
    moves = search.moves
    start = moves.center(moves.low)
    forced = moves.measure(moves.low)
    y = search.scenarios.points(start, slice(0, 1))
    missing = -search.network.margins(y)[0] - search.network.rounding(np.abs(y[0]))
    steep = search.network.steepness()
    rate = (steep[:, moves.plus] * (moves.plus >= 0) + steep[:, moves.minus] * (moves.minus >= 0)) * moves.unit
    bound = forced
    for r in np.flatnonzero(missing > 0.0):
        if (rate[r, moves.cost == 0.0] > 0.0).any():
            continue
        block_rate = np.zeros(moves.n_blocks)
        np.maximum.at(block_rate, moves.block, rate[r])
        match moves.distance:
            case Distance.L1:
                dual = block_rate.max(initial=0.0)
            case Distance.L2:
                dual = float(np.sqrt(np.square(block_rate).sum()))
            case Distance.LINF:
                dual = block_rate.sum()
        if dual <= 0.0:
            return np.inf
        if not moves.low.any():
            bound = max(bound, float(missing[r] / dual) * (1.0 - FEW_ROUNDINGS))
    return bound


def answer(search: NetworkSearch) -> Ending:
    reason = ""
    if search.best is None:
        if search.lower_bound == np.inf:
            reason = "it is proven that no point within the bounds has the wanted outcome in its whole room"
        elif search.undecided:
            reason = f"candidates were found, but the judge could not decide them: {search.undecided}"
        elif search.lower_bound > FARTHEST:
            reason = f"it is proven that no centre within a distance of {FARTHEST:g} has the wanted outcome in its whole room"
        else:
            reason = "no centre was found whose whole room has the wanted outcome; a longer time limit may help"
    bound = min(search.lower_bound, search.best_distance) if search.best is not None else search.lower_bound
    return Ending(METHOD, bound, reason, TOLERANCES.continuous_gap, dict(search.counters))
