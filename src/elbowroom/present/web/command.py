"""``elbowroom serve``: the page and the HTTP interface on this machine."""

from __future__ import annotations

import secrets
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import typer

from elbowroom.errors import InputError
from elbowroom.present import sink
from elbowroom.present.guard import guarded
from elbowroom.present.options import (
    Bounds,
    BoundsName,
    Decreasing,
    Immutable,
    Increasing,
    Integer,
    Labels,
    LargeTable,
    ModelFile,
    OneHot,
    Scale,
    ScaleName,
    SpaceFile,
    TrustPickle,
)


@guarded
def serve(
    model: ModelFile,
    reference: Annotated[
        Path, typer.Option("--reference", help="A table that says what the features mean: CSV or Parquet.")
    ],
    port: Annotated[int, typer.Option(help="0: any free one.", min=0, max=65535)] = 8765,
    no_token: Annotated[bool, typer.Option("--no-token", help="Let every program on this machine ask.")] = False,
    processes: Annotated[int, typer.Option(help="Questions that are worked on at the same time.", min=1, max=64)] = 2,
    waiting: Annotated[int, typer.Option(help="Questions that may wait; more are refused.", min=1, max=10_000)] = 40,
    most_seconds: Annotated[float, typer.Option(help="The longest time limit of a question.", min=0.1)] = 300.0,
    immutable: Immutable = None,
    increasing: Increasing = None,
    decreasing: Decreasing = None,
    integer: Integer = None,
    one_hot: OneHot = None,
    scale: Scale = ScaleName.USUAL,
    bounds: Bounds = BoundsName.DATA,
    label: Labels = None,
    space: SpaceFile = None,
    trust_pickle: TrustPickle = False,
    large_table: LargeTable = False,
) -> None:
    """Answer questions in a browser and over HTTP, on this machine only."""
    if not all(map(find_spec, ("fastapi", "uvicorn"))):
        raise InputError("serve needs FastAPI and uvicorn: pip install 'elbowroom[web]'")
    import uvicorn

    from elbowroom.present.web.setup import Setup

    for name, path in (("MODEL", model), ("--reference", reference)):
        if not path.is_file():
            raise InputError(f"{name}: there is no file {str(path)!r}")
    setup = Setup(
        model, reference, trust_pickle, large_table, scale.value, bounds.value, tuple(label or ()), tuple(immutable or ()),
        tuple(increasing or ()), tuple(decreasing or ()), tuple(integer or ()), tuple(one_hot or ()), space,
    )  # fmt: skip
    token = None if no_token else secrets.token_urlsafe(24)
    config = uvicorn.Config("", host="127.0.0.1", port=port, log_level="warning", access_log=False, server_header=False)
    listening = config.bind_socket()
    listening.listen()  # from here on a browser waits instead of being refused
    port = listening.getsockname()[1]
    hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
    address = f"http://127.0.0.1:{port}/" + ("" if token is None else f"?token={token}")
    sink.stdout().line(f"Open {address}")
    sink.stdout().line("Only this machine can ask. End with Ctrl-C.")
    from elbowroom.present.web.door import Door
    from elbowroom.present.web.page import first_page

    pools: list[Any] = []

    def load() -> Any:
        from elbowroom.present.web.app import create_app  # takes longer than all that came before
        from elbowroom.present.web.pool import Pool

        pools.append(Pool(setup, processes, waiting))
        return create_app(pools[0], hosts, token, most_seconds)

    class Server(uvicorn.Server):
        """One that ends at once: open questions are given up, so that no connection is waited for."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            for pool in pools:
                pool.give_up()
            super().handle_exit(sig, frame)

    first_page()
    config.app = Door(load, hosts, token)
    Server(config).run(sockets=[listening])
