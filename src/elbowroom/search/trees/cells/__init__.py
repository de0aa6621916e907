"""The model in cells: nothing here depends on the row or the room."""
