"""Regions on ReLU networks."""
