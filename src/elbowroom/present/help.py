"""Help without types where there is nothing to type: a flag takes no value, and a list one value at a time."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class PlainGroup(TyperGroup):
    """The program: its own flags and those of its commands, ``--help`` among them, are listed by name alone."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain(super().get_params(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found: Any = super().get_command(ctx, cmd_name)
        if found is not None:
            _plain(found.get_params(ctx))
        return found


def _plain(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
        elif getattr(param, "multiple", False) and param.metavar is None:  # one at a time; all of these are texts
            param.metavar = "<str>"
    return params
