"""``python -m benchmarks NAME``: one command per claim, JSON out.

boxes       the paper's linf tables for trees and ensembles (1,560 instances)
linear      the paper's linear rows, linf and l2
networks    the paper's network rows, linf and l2 (960 instances)
networks-bounded   the same with every feature bounded to [0, 1]
networks-large     (200, 200) and (50, 50, 50): a region soon, gap at 1, 10 and 60 s
networks-control   the paper's big-M master and adversary on HiGHS beside the product
brute       random small problems against brute force
peers       plain counterfactuals beside treecf
realistic   models of the size people use, gap at 1, 10 and 60 s
startup     what a new process pays
reuse       one explainer for twenty rows against twenty explainers
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # before numpy is imported


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "name",
        nargs="?",
        default="boxes",
        choices=[
            "boxes",
            "linear",
            "networks",
            "networks-bounded",
            "networks-large",
            "networks-control",
            "brute",
            "peers",
            "realistic",
            "startup",
            "reuse",
        ],
    )
    parser.add_argument("--rows", type=int, default=None, help="instances per cell")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per instance")
    parser.add_argument("--data", nargs="*", default=None, help="data sets of the paper")
    parser.add_argument("--out", type=Path, default=None, help="where the JSON goes (default: benchmarks/results)")
    options = parser.parse_args()
    from benchmarks import record

    path = record.write(options.name, _run(options), options.out)
    print(f"written: {path.name}")


def _run(options: argparse.Namespace) -> dict[str, object]:
    from benchmarks.cases import LINEAR, NETWORKS, TREES
    from benchmarks.data import PAPER

    data = options.data or PAPER
    match options.name:
        case "boxes" | "linear" | "networks" | "networks-bounded":
            from benchmarks.networks import unit_cube
            from benchmarks.paper import run_paper, summary

            cases, norms = {
                "boxes": (TREES, ("linf",)),
                "linear": (LINEAR, ("linf", "l2")),
                "networks": (NETWORKS, ("linf", "l2")),
                "networks-bounded": (NETWORKS, ("linf", "l2")),
            }[options.name]
            space_of = unit_cube if options.name == "networks-bounded" else None
            rows = options.rows or 20
            instances = run_paper(cases, norms, data=data, rows=rows, limit=options.limit, space_of=space_of)
            found = summary(instances)
            print(found)
            return {"summary": found, "instances": instances}
        case "networks-large":
            from benchmarks.networks import run_large, summary_large

            records = run_large(options.rows or 3, limit=options.limit)
            found = summary_large(records)
            print(found)
            return {"summary": found, "instances": records}
        case "networks-control":
            from benchmarks.networks_control import run_control, summary_control

            records = run_control(options.limit)
            found = summary_control(records)
            print(found)
            return {"summary": found, "instances": records}
        case "brute":
            from benchmarks.brute import run_brute

            return run_brute(options.rows or 5000)
        case "peers":
            from benchmarks.peers import run_peers

            return {"instances": run_peers(options.rows or 20, options.limit)}
        case "realistic":
            from benchmarks.realistic import run_realistic

            return {"instances": run_realistic(options.rows or 3, limit=options.limit)}
        case "startup":
            from benchmarks.startup import run_startup

            return {"runs": run_startup()}
        case "reuse":
            from benchmarks.reuse import run_reuse

            return {"runs": run_reuse(options.rows or 20)}
    raise SystemExit(f"unknown benchmark {options.name}")


if __name__ == "__main__":
    main()
