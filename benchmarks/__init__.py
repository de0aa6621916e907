"""The benchmark program: every figure that is claimed comes from one command of `python -m benchmarks`."""
