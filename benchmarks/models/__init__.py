"""The newcomer's table: models and data as a working data scientist brings them, and what becomes of each.

Every case is built by the library that it is about, asked the way one would guess, and its region is attacked through
the original's own predict on frames of the user's own columns. ``python -m benchmarks models`` prints the table.
"""
