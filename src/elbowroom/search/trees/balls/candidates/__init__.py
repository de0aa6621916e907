"""Good centres without waiting for a proof, for balls and diamonds."""
