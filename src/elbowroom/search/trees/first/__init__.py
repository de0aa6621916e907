"""The first region in milliseconds: the forest as it is, walked from its roots; no cells, no tables.

For large ensembles the model in cells takes seconds and hundreds of megabytes, while a room meets only a few leaves per
tree. So candidates are sought on the trees themselves (`forest`), before anything else is made: `climb` to a good room along
line `profile`s, `shrink` it back towards home, ruin and recreate (`rounds`), and let a walking adversary (`walk`) decide where
the sum over trees of the smallest values is too strict a guide (`exact`). Every better centre goes to the judge at once.
"""
