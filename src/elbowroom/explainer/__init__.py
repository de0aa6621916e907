"""The front door: read a model once, ask many times."""

from elbowroom.explainer.explainer import Explainer

__all__ = ["Explainer"]
