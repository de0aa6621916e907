"""Balls and diamonds: best-first search over ranges of values."""
