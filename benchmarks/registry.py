"""The list of commands. One line each: name, what it shows, where its function is, and which options it takes.

A function gets the options by name (an entry ``rows=problems`` passes ``--rows`` as ``problems``); an option that is not
given is not passed, so that the function's own default holds. What it returns is written to ``results/NAME.json``: a
mapping as it is, a list as ``instances`` with the numbers of the summary function, if there is one. A function that
writes its files itself returns None. A mapping with entries under ``failures`` ends, once stored, with exit code 1.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

OPTIONS: dict[str, dict[str, Any]] = {
    "rows": {"type": int, "help": "instances per cell"},
    "questions": {"type": int, "help": "how many questions"},
    "limit": {"type": float, "help": "seconds per instance"},
    "data": {"nargs": "+", "help": "data sets of the paper"},
    "models": {"nargs": "+", "help": "kinds or labels of the paper's models: DT RF-100 NN-10x10x10"},
    "norms": {"nargs": "+", "choices": ("linf", "l2", "l1"), "help": "norms of the room"},
    "radii": {"nargs": "+", "type": float, "help": "radii of the room"},
    "families": {"nargs": "+", "help": "model families"},
    "solvers": {"nargs": "+", "help": "solvers of the paper's algorithm"},
    "points": {"type": int, "help": "attacked points per region"},
    "jobs": {"type": int, "help": "processes"},
    "resume": {"action": argparse.BooleanOptionalAction, "help": "go on where the last start ended (the default)"},
    "quick": {"action": "store_true", "default": None, "help": "a slice of about two minutes"},
    "only": {"nargs": "+", "help": "names of the parts to be made"},
    "methods": {"nargs": "+", "help": "methods to be judged"},
    "centers": {"type": Path, "help": "a CSV file with centres from any other method"},
    "keep": {"type": Path, "help": "a folder that keeps all proof files"},
    "out": {"type": Path, "help": "where the results go (default: benchmarks/results)"},
}


@dataclass(frozen=True)
class Command:
    name: str
    help: str
    function: str  # module:function, below benchmarks
    options: str = ""
    summary: str = ""  # module:function of the records


COMMANDS = [
    Command("paper", "the paper's tables 1 and 2: 4,320 instances", "tables:run", "rows limit data models norms radii jobs resume quick out"),
    Command("baseline", "the paper's table 3: the gradient method beside the product", "comparison:run", "rows limit"),
    Command("causal", "table 3 with causes: actions on causes beside the gradient method with the same causes", "causal:run", "rows limit models"),
    Command("accuracy", "the paper's table 4: accuracies of the models", "accuracy:run", "data"),
    Command("audit", "centres from any method: valid, true radius, distance to the optimum", "audit.run:run", "rows limit data models norms radii methods centers"),
    Command("figures", "the paper's figures: computes what `report` draws", "figures:run", "only"),
    Command("several", "several models at once against brute force: 1,000 problems", "several:run_several", "rows only"),
    Command("retrained", "one region for 11 boostings on diabetes: how many of 50 fresh fits keep it", "several:run_retrained", "rows limit only"),
    Command("report", "docs/results.md, a page and all pictures, from the stored results", "report:run", "out"),
    Command("boxes", "the paper's linf tables for trees and ensembles (1,560 instances)", "paper:run_boxes", "rows limit data", "paper:summary"),
    Command("diamonds", "l1 rooms on the paper's trees and ensembles, radius .05", "paper:run_diamonds", "rows limit data", "paper:summary"),
    Command("linear", "the paper's linear rows, linf and l2", "paper:run_linear", "rows limit data", "paper:summary"),
    Command("networks", "the paper's network rows, linf and l2 (960 instances)", "paper:run_networks", "rows limit data", "paper:summary"),
    Command("networks-bounded", "the same with every feature bounded to [0, 1]", "paper:run_networks_bounded", "rows limit data", "paper:summary"),
    Command("networks-large", "(200, 200) and (50, 50, 50): a region soon, gap at 1, 10 and 60 s", "networks:run_large", "rows limit", "networks:summary_large"),
    Command("scale-networks", "networks of the size people train: first region and gap at 1, 10 and 60 s, before and after", "scale_networks:run_scale_networks", "rows limit points only"),
    Command("networks-control", "the paper's big-M master and adversary on HiGHS beside the product", "networks_control:run_control", "limit", "networks_control:summary_control"),
    Command("brute", "random small problems against brute force", "brute:run_brute", "rows=problems"),
    Command("peers", "plain counterfactuals beside treecf", "peers:run_peers", "rows limit"),
    Command("realistic", "models of the size people use, gap at 1, 10 and 60 s", "realistic:run_realistic", "rows limit"),
    Command("scale", "large ensembles, before and after in one run: first region, gap at 1, 10 and 60 s, memory", "scale:run_scale", "rows limit radii only quick resume", "scale:summary"),
    Command("scale-peers", "large ensembles at radius 0 beside treecf's exact and genetic searches, row by row", "scale_peers:run_scale_peers", "rows limit only resume"),
    Command("open-balls", "the early stops of the paper's tables for balls, asked again", "open_balls:run_open_balls", "limit resume", "open_balls:summary"),
    Command("defaults", "scikit-learn's default forest on breast cancer, Box(0.05): first region, gap at 1, 10 and 60 s", "defaults:run_defaults", "rows limit"),
    Command("startup", "what a new process pays", "startup:run_startup"),
    Command("limits", "seconds over the time limit on large models, and memory after 5,000 questions", "limits:run_limits", "rows"),
    Command("models", "the newcomer's table: models and data as people bring them, attacked through the original's predict", "models.runner:run_models", "families only points rows limit"),
    Command("replay", "copies against originals by library and version: labels at 200,000 hostile rows per model", "replay.run:run_replay", "families points"),
    Command("boosted", "boosted libraries on raw tables: closest regions in raw categories, beside treecf", "boosted:run_boosted", "rows limit data"),
    Command("batch", "10,000 applicants on two cores: rows per second, memory, 200 kills, a Dask cluster, treecf and DiCE", "batch:run_batch", "rows only"),
    Command("plausible", "centres with and without Plausible, judged by a local outlier factor", "plausible:run_plausible", "rows limit data", "plausible:summary"),
    Command("people", "answers that people can act on: 100 rejected applicants before and after, forests, menus", "people:run_people", "rows limit only"),
    Command("exact", "rules, prices, on=, plausibility, missing values, menus and why-not against brute force", "exact:run_exact", "rows only"),
    Command("causes", "actions on causes, and covariances, against enumeration", "actions:run_causes", "rows only"),
    Command("groups", "one move for many rows, and the fewest moves, against enumeration", "actions:run_groups", "rows only"),
    Command("walk", "files that one call passes through, and changes of file", "walk:run_walk"),
    Command("reuse", "one explainer for twenty rows against twenty explainers", "reuse:run_reuse", "rows"),
    Command("same", "questions through used and fresh explainers: equal to the bit", "same:run_same", "questions=questions_asked"),
    Command("agreement", "Algorithm 1 on two solvers, the fast engines and brute force: 4,500 questions", "agreement:run_agreement", "rows families norms limit resume"),
    Command("control", "Algorithm 1 on HiGHS and SCIP beside the fast engines, second by second", "control:run_control", "rows limit data models norms solvers resume", "control:summary"),
    Command("heuristic", "one leaf against exact on diabetes, radii .01 to .1", "heuristic:run_heuristic", "rows limit", "heuristic:summary"),
    Command("proofs", "proof files of the paper's linear models and boxes on trees, and with --models of all others: confirmed, sizes, seconds", "proofs:run_proofs", "rows limit data models norms radii resume keep", "proofs:summary"),
    Command("menu", "menus on gradient boosting with 100 trees: seconds for 1, 2 and 3 changes", "menu:run_menu", "rows limit data", "menu:summary"),
    Command("kept", "the chance that a Gaussian slip keeps the class: proven bounds, the paper's formula, sampling", "kept:run_kept", "rows limit", "kept:summary"),
    Command("promises", "the closest centre whose slips keep the class with probability 0.9: proven bounds against sampling, PROBE beside it", "promises:run_promises", "rows limit models", "promises:summary"),
    Command("systems", "the systems that the paper cites, each with its core question and what stands beside it", "systems:run_systems", "rows limit only"),
]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    options = vars(_parser().parse_args(arguments))
    command: Command = options.pop("command")
    out: Path | None = options.get("out")
    given = {name: value for name, value in options.items() if value is not None}
    passed = [entry.partition("=") for entry in command.options.split()]
    result = _function(command.function)(**{to or name: given[name] for name, _, to in passed if name in given})
    if result is None:
        return
    from benchmarks import record

    content: dict[str, Any] = result if isinstance(result, dict) else {"instances": result}
    if command.summary:
        found = _function(command.summary)(result)
        print({name: value for name, value in found.items() if not isinstance(value, list)})
        content = {"summary": found, **content}
    print(f"written: {record.write(command.name, content, out).name}")
    if content.get("failures"):
        raise SystemExit(1)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Every figure that is claimed, one command each."
    )
    commands = parser.add_subparsers(metavar="NAME", required=True)
    for command in COMMANDS:
        sub = commands.add_parser(command.name, help=command.help, description=command.help)
        sub.set_defaults(command=command)
        for name in dict.fromkeys([entry.partition("=")[0] for entry in command.options.split()] + ["out"]):
            sub.add_argument(f"--{name}", **{"default": None, **OPTIONS[name]})
    return parser


def _function(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"benchmarks.{module}"), name)
