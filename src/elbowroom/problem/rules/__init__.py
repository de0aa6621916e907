"""Further conditions on the centre of a region; each rule is one file here and one line in `table`."""

from elbowroom.problem.rules.at_most import AtMost
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.rules.categories import Ordered, Transitions
from elbowroom.problem.rules.combinations import Forbidden, Implies
from elbowroom.problem.rules.linear import LinearRule
from elbowroom.problem.rules.not_all import NotAll
from elbowroom.problem.rules.plausible import InForest, InHull, OnLeaves, Plausible
from elbowroom.problem.rules.table import RULES, check_rules, conditions_of, parse_rules, rules_in, rules_out
from elbowroom.problem.rules.together import Together
from elbowroom.problem.rules.values import Allowed, LeastChange, Steps

__all__ = [
    "RULES", "Allowed", "AtMost", "Forbidden", "Implies", "InForest", "InHull", "LeastChange", "LinearRule", "NotAll", "OnLeaves", "Ordered", "Plausible", "Rule", "Steps",
    "Together", "Transitions", "check_rules", "conditions_of", "parse_rules", "rules_in", "rules_out",
]  # fmt: skip
