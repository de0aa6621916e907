"""A bad range of cells, made as large as possible.

Side after side is moved outwards as far as the rival's largest sum over the range stays too low (the sum only grows
with the range, so bisection finds the last such cell). The first sides get the most; the order is the caller's. Only the
trees that split on the current dimension are summed again; ``guard`` is more than the rounding that this brings.
"""

from __future__ import annotations

from elbowroom.kernels.kernel import inner_kernel
from elbowroom.kernels.tools import Words, int64, sort_by
from elbowroom.numerics import Floats, Ints
from elbowroom.search.trees.cells.leaves import Ensemble, largest_share, largest_sum, narrow


@inner_kernel
def grow(
    model: Ensemble,
    rival: int,
    low: Ints,
    high: Ints,
    order: Ints,
    low_limit: Ints,
    high_limit: Ints,
    suffix: Words,
    spare: Words,
) -> None:
    """Enlarge low..high in place, sides in the given order (2 d: downwards, 2 d + 1: upwards), never past the limits.

    ``suffix`` is scratch space of (sides + 1, words), ``spare`` of (3, words).
    """
    begin, end = model.word_start[rival], model.word_start[rival + 1]
    n_sides, nothing = order.shape[0], int64(0)
    done, rest, trial = spare[0], spare[1], spare[2]
    for w in range(begin, end):
        suffix[n_sides, w] = done[w] = model.everything[w]
    for i in range(n_sides - 1, -1, -1):  # leaves that meet all sides from i on, as they are
        d = order[i] // 2
        for w in range(begin, end):
            suffix[i, w] = suffix[i + 1, w]
        upwards = order[i] % 2 == 1
        narrow(suffix[i], model, d, nothing if upwards else low[d], high[d] if upwards else model.last[d], begin, end)
    total = largest_sum(suffix[0], model, rival)
    for i in range(n_sides):
        if model.ended[0] != 0:  # what has grown so far is bad as well
            break
        d, upwards = order[i] // 2, order[i] % 2 == 1
        near = high[d] if upwards else low[d]
        far = max(high_limit[d], near) if upwards else min(low_limit[d], near)
        if near != far:
            for w in range(begin, end):
                rest[w] = done[w] & suffix[i + 1, w]
                trial[w] = done[w] & suffix[i, w]
            share = largest_share(trial, model, rival, d)
            elsewhere = total - share  # what the trees without this dimension contribute
            attempt = far  # the whole way first: it often works
            while near != far:
                for w in range(begin, end):
                    trial[w] = rest[w]
                first, final = (nothing, attempt) if upwards else (attempt, model.last[d])
                narrow(trial, model, d, first, final, begin, end)
                wider = largest_share(trial, model, rival, d)
                if elsewhere + wider < model.need[rival] - model.guard[rival]:
                    near, share = attempt, wider
                elif upwards:
                    far = attempt - 1
                else:
                    far = attempt + 1
                attempt = (near + far + 1) // 2 if upwards else (near + far) // 2
            total = elsewhere + share
            if upwards:
                high[d] = near
            else:
                low[d] = near
        narrow(done, model, d, nothing if upwards else low[d], high[d] if upwards else model.last[d], begin, end)


@inner_kernel
def grow_by(
    model: Ensemble, rival: int, low: Ints, high: Ints, order: Ints, rank: Floats, low_limit: Ints, high_limit: Ints,
    suffix: Words, spare: Words,
) -> None:  # fmt: skip
    """Enlarge low..high in place, sides of the smallest rank first; fills ``order``, one entry per side."""
    n_sides = 2 * low.shape[0]
    for side in range(n_sides):
        order[side] = side
    sort_by(order, rank, n_sides)
    grow(
        model=model, rival=rival, low=low, high=high, order=order[:n_sides], low_limit=low_limit,
        high_limit=high_limit, suffix=suffix, spare=spare,
    )  # fmt: skip
