"""Further conditions on the centre of a region; each rule is one file here and one line in `table`."""

from elbowroom.problem.rules.at_most import AtMost
from elbowroom.problem.rules.base import Rule
from elbowroom.problem.rules.linear import LinearRule
from elbowroom.problem.rules.table import RULES, check_rules, parse_rules, rules_in, rules_out

__all__ = ["RULES", "AtMost", "LinearRule", "Rule", "check_rules", "parse_rules", "rules_in", "rules_out"]
