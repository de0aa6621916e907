"""A stranger's checker of elbowroom's proofs: the standard library alone, and nothing of elbowroom.

``python -m elbowroom_checker proof.json model.json`` says what is proven. Format and mathematics: docs/proofs.md.
"""

from elbowroom_checker.reading import Refused
from elbowroom_checker.verdict import check

__all__ = ["Refused", "check"]
