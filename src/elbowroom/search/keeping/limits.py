"""The limits of the search for promised probabilities."""

from typing import Final

GAP: Final = 1e-4  # relative: the gap up to which an answer counts as optimal
PLAIN_SHARE: Final = 0.25  # of the time, for the question without its promise
START_SHARE: Final = 0.35  # of what is left then, for the first answers
LOOK_SHARE: Final = 0.1  # of what is left, for the question within one part
FAR: Final = 1e6  # scales around the factual that are divided where no answer limits them
NARROW: Final = 1e-7  # standard deviations: a part that is narrower is not divided any more
NEAR: Final = 5.0  # standard deviations from a limit beyond which clipping hardly counts
APART: Final = 1e-9  # of all slips: corners that help less are as good as the centre
RAISES: Final = (1e-8, 1e-4, 1e-3, 1e-2)  # of the promise, until rounding and other rivals are outweighed
ROOMS: Final = (0.25, 0.5, 0.75, 1.0)  # of the box in which a slip stays with the promised probability
HALVINGS: Final = 10  # of a way back towards the factual
ROUNDS: Final = 6  # of a local search
STEP: Final = 0.25  # standard deviations over which slopes are taken
SLIPS: Final = 2048  # in the sample that estimates the chance of a network
GUESS_SHARE: Final = 0.6  # of the time that is left, for what follows from estimates
RAISED: Final = 5e-4  # asked of corrected estimates beyond the promise
CORRECTIONS: Final = 5  # of an estimate, by what is proven where it ends
PUSHES: Final = 40  # half standard deviations that an estimate climbs from a centre that keeps too little
QUICK: Final = (0.0, 0.04, 0.08)  # asked of estimates beyond the promise, until one is proven
