"""Bad regions: found, grown, and the cell that the adversary defends."""
