"""The knapsack bound: what it costs at least to get past a bad cell."""
