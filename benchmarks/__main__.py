"""``python -m benchmarks NAME``: one command per claim; see `benchmarks.registry` for the list."""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before numpy is imported

if __name__ == "__main__":
    from benchmarks.registry import main

    main()
