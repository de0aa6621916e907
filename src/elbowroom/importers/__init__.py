"""Model in: a foreign object becomes a parsed model, and a replay proves that the copy equals the original."""
