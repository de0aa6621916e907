"""``elbowroom check``: a saved answer, or every answer of a store, proven again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elbowroom.errors import InputError
from elbowroom.present import screen
from elbowroom.present.endings import Exit
from elbowroom.present.guard import guarded
from elbowroom.present.options import Also, AsJson, TimeLimit, TrustPickle


@guarded
def check(
    region: Annotated[
        Path, typer.Argument(metavar="[REGION]", help="An answer written by --output or to_json; not with --store.")
    ],
    model: Annotated[Path | None, typer.Argument(metavar="MODEL", help="The fitted model.")] = None,
    also: Also = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", help="Check every answer of this store instead: check --store runs.db MODEL."),
    ] = None,
    any_model: Annotated[
        bool,
        typer.Option("--any-model", help="Accept a model other than the certified one (for example retrained)."),
    ] = False,
    time_limit: TimeLimit = 60.0,
    trust_pickle: TrustPickle = False,
    as_json: AsJson = False,
    verify: Annotated[
        Path | None,
        typer.Option(
            "--verify",
            metavar="PUBLICKEY",
            help="Also verify the signature beside the file (an Ed25519 public key as PEM).",
        ),
    ] = None,
    no_cache: Annotated[
        bool,
        typer.Option("--no-cache", help="Judge without compiled code: slower, but nothing kept on disk is run."),
    ] = False,
) -> None:
    """Prove a saved region, or every answer of a store, again, from scratch. Exit 0: it holds; 5: it does not (refuted, another model, or signed by nobody with that key); 4: undecided;
    6: the file has no region, and only a new search could prove that."""
    if no_cache:
        from elbowroom.kernels.plain import without_compiled_code

        without_compiled_code()
    if (store is None) == (model is None):
        raise InputError("give the answer and its model, or --store FILE and the model alone")
    if also and store is not None:
        raise InputError("--also is for a single answer; leave it out with --store")
    shown = screen.stdout()
    if model is None or store is not None:
        if as_json:
            raise InputError("--json tells about a single answer; leave it out with --store")
        if verify is not None:
            raise InputError("--verify is about the file of a single answer; leave it out with --store")
        from elbowroom.present.checking_store import check_every_answer

        assert store is not None
        with screen.stderr().counter("answers") as counter:
            code = check_every_answer(shown, store, region, trust_pickle, any_model, time_limit, counter)
        raise typer.Exit(code)
    from elbowroom.present.checking import check_region

    report = check_region(region, model, trust_pickle, any_model, time_limit, verify, also)
    if as_json:
        shown.json(report.as_json())
    else:
        for line in report.lines():
            shown.line(*line, wrap=False)
    codes = {"valid": Exit.REGION, "refuted": Exit.REFUTED, "undecided": Exit.UNKNOWN, "not checked": Exit.NOT_CHECKED}
    raise typer.Exit(codes[report.outcome.value])
