"""The paper's Algorithm 1 on open solvers: a master with finitely many scenarios, an adversary, and the loop once."""

from elbowroom.search.adversarial.loop import AdversarialEngine

__all__ = ["AdversarialEngine"]
