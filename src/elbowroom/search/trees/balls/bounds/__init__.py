"""What it costs at least to leave bad regions, for balls and diamonds."""
