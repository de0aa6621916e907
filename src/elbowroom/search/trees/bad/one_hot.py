"""Free one-hot groups: does a range hold a category, and which one?"""

from __future__ import annotations

from elbowroom.kernels.kernel import inner_kernel, kernel
from elbowroom.kernels.tools import Shorts
from elbowroom.numerics import Ints
from elbowroom.search.trees.question.question import Question


@kernel
def one_hot_possible(question: Question, low: Ints, high: Ints) -> bool:
    """True if the range holds an allowed category of every free group."""
    for g in range(question.free_start.shape[0] - 1):
        forced = possible = 0
        for i in range(question.free_start[g], question.free_start[g + 1]):
            a, b = low[question.free_dim[i]], high[question.free_dim[i]]
            can_be_zero = a <= question.free_zero[i] <= b
            can_be_one = question.free_allowed[i] == 1 and a <= question.free_one[i] <= b
            if not can_be_zero:
                forced += 1
                if not can_be_one:
                    forced += 1
            if can_be_one:
                possible += 1
        if forced > 1 or possible == 0:
            return False
    return True


@inner_kernel
def choose_categories(question: Question, low: Shorts, high: Shorts, row: int, cell: Ints) -> None:
    """Inside every free group: one category that the region low[row] .. high[row] holds."""
    for g in range(question.free_start.shape[0] - 1):
        begin, end = question.free_start[g], question.free_start[g + 1]
        for i in range(begin, end):
            d = question.free_dim[i]
            held = question.free_allowed[i] == 1
            held = held and low[row, d] <= question.free_one[i] <= high[row, d]
            for j in range(begin, end):
                e = question.free_dim[j]
                if j != i and not (low[row, e] <= question.free_zero[j] <= high[row, e]):
                    held = False
            if held:
                for j in range(begin, end):
                    cell[question.free_dim[j]] = question.free_one[j] if j == i else question.free_zero[j]
                break
