"""Templates, scripts and styles of this package; light to import."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

from elbowroom.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("elbowroom.present"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    environment.filters["brief"] = _brief
    return environment


@cache
def asset(name: str) -> str:
    """A script or a style of this package, as it is in its file."""
    environment = templates()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0].replace("\r\n", "\n").strip()


def _brief(value: float) -> str:
    from elbowroom.present.numbers import about

    return about(value, 4)


def digest(text: str) -> str:
    """The name by which a Content-Security-Policy lets a script or a style through."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
