"""One action for many rows: how the closest common move is found, and how few moves serve everybody."""
