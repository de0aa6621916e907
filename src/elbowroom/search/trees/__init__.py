"""Regions on axis-aligned trees."""
