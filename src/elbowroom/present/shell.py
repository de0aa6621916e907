"""What every page of an answer shares: its script and style, the policy that lets nothing else run, data inside the page.

The policy names the script and the style by their SHA-256. Whatever a name or a label may hold, a browser runs no other
script, loads no other style, and fetches nothing at all.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from elbowroom.errors import InputError
from elbowroom.present.assets import asset as asset
from elbowroom.present.assets import digest
from elbowroom.present.assets import templates as templates
from elbowroom.result.no_region import NoRegion
from elbowroom.result.region import Region
from elbowroom.result.schema import write_answer
from elbowroom.visible import visible_json

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_PLAIN: Final = 30_000  # characters of an answer that stand in a page as they are
NOT_IN_MARKUP: Final = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
}  # what could end a script element, as JSON has it


@cache
def frame() -> dict[str, Markup]:
    """Script, style and policy for the head of a page."""
    from markupsafe import Markup

    script, style = asset("page.js"), asset("style.css.j2") + "\n" + asset("page.css")
    policy = (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return {"script": Markup(script), "style": Markup(style), "policy": Markup(policy)}


def embedded(text: str) -> Markup:
    """A JSON document for a data block: the same document, without a character that markup could take for its own."""
    from markupsafe import Markup

    for character, escape in NOT_IN_MARKUP.items():
        text = text.replace(character, escape)  # in JSON these stand in texts alone, where an escape means the same
    return Markup(visible_json(text))


def data_block(values: Any) -> Markup:
    """Numbers and words that the script reads."""
    return embedded(json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def answer_block(answer: Region | NoRegion) -> tuple[Markup, str]:
    """The answer as `to_json` writes it, for the download: a long one as gzip in base64, in quotes; "null" and the reason
    where it cannot be written."""
    try:
        text = _compact(write_answer(answer))
    except InputError as error:
        return embedded("null"), str(error)
    if len(text) > MOST_PLAIN:
        ascii_only = json.dumps(
            json.loads(text), allow_nan=False, separators=(",", ":")
        )  # names may hold half a character
        text = json.dumps(b64encode(gzip.compress(ascii_only.encode(), mtime=0)).decode())
    return embedded(text), ""


def _compact(text: str) -> str:
    """The same document on one line: a page with several answers stays small."""
    return json.dumps(json.loads(text), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
