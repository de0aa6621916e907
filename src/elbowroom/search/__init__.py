"""How regions are found. Nothing in here is trusted: every answer goes through the judge."""
