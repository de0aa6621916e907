"""What users read: text, plots, reports, the command line."""
