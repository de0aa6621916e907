"""The row in cells: positions, costs and rooms."""
