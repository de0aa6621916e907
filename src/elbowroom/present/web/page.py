"""The page of the server: one document with its own script and style, which nothing else may join."""

from __future__ import annotations

from functools import cache

from elbowroom.present.assets import asset, digest, templates
from elbowroom.version import __version__


@cache
def first_page() -> str:
    from markupsafe import Markup

    script, style = asset("web.js"), asset("web.css")
    policy = (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; connect-src 'self'; "
        "frame-src 'self'; base-uri 'none'; form-action 'none'"
    )
    return templates().get_template("web.html.j2").render(
        policy=Markup(policy), script=Markup(script), style=Markup(style), version=__version__
    )  # fmt: skip
