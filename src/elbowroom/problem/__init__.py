"""What is asked: the space of features, the room, the distance, the rules, the target; frozen and checked when
created."""

from elbowroom.problem.body import Body
from elbowroom.problem.categories import allowed_categories
from elbowroom.problem.causes import Causal
from elbowroom.problem.conditions import Conditions, Takes
from elbowroom.problem.covariance import Covariance
from elbowroom.problem.distances import Distance, Metric
from elbowroom.problem.keeping import Probability
from elbowroom.problem.kinds import Direction, Kind, Missing
from elbowroom.problem.parts import Part, PartKind
from elbowroom.problem.prices import Price
from elbowroom.problem.problem import RecourseProblem
from elbowroom.problem.rooms import Ball, Box, Diamond, Room, Walls
from elbowroom.problem.rules import (
    Allowed,
    AtMost,
    Forbidden,
    Implies,
    LeastChange,
    LinearRule,
    NotAll,
    Ordered,
    Plausible,
    Rule,
    Steps,
    Together,
    Transitions,
)
from elbowroom.problem.shapes import Shape
from elbowroom.problem.space import Feature, Group, Space
from elbowroom.problem.target import Target

__all__ = [
    "Allowed",
    "AtMost",
    "Ball",
    "Body",
    "Box",
    "Causal",
    "Conditions",
    "Covariance",
    "Diamond",
    "Direction",
    "Distance",
    "Feature",
    "Forbidden",
    "Group",
    "Implies",
    "Kind",
    "LeastChange",
    "LinearRule",
    "Metric",
    "Missing",
    "NotAll",
    "Ordered",
    "Part",
    "PartKind",
    "Plausible",
    "Price",
    "Probability",
    "RecourseProblem",
    "Room",
    "Rule",
    "Shape",
    "Space",
    "Steps",
    "Takes",
    "Target",
    "Together",
    "Transitions",
    "Walls",
    "allowed_categories",
]
