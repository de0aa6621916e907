"""For people: text, plots, reports, the command line."""
