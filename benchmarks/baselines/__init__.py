"""Methods of others, rebuilt for comparison. None of them is part of the product."""
