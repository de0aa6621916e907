"""The paper's Algorithm 1 on open solvers: a master with finitely many scenarios, an adversary, and one loop for all
families."""

from elbowroom.search.adversarial.loop import AdversarialEngine

__all__ = ["AdversarialEngine"]
