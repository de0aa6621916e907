"""The judge. It knows the model, the question and the answer, and nothing about how the answer was found."""

from elbowroom.certify.judge import certify

__all__ = ["certify"]
