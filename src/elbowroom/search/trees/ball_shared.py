"""Kernels of the box search that serve balls as well: on values instead of positions, on `Blocks` instead of `Question`.

The code is the same; only the types of the arrays differ, and numba compiles it once for each.
"""

from __future__ import annotations

from typing import Any

from elbowroom.search.trees.adversary import one_hot_possible as _one_hot_possible
from elbowroom.search.trees.node import settle_group as _settle_group
from elbowroom.search.trees.nodes import pop as _pop
from elbowroom.search.trees.nodes import push as _push

one_hot_possible: Any = _one_hot_possible
settle_group: Any = _settle_group
pop: Any = _pop
push: Any = _push
