"""The judge: decides whether every point of a body gets the wanted outcome, without knowing how it was found."""
