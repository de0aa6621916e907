"""Boxes: best-first search over ranges of positions."""
