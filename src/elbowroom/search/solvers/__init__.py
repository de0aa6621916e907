"""Translate, solve, report bound. No modelling inside."""
