"""The results as one self-contained page: the Markdown rendered, every picture inside."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from markdown_it import MarkdownIt

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: 13px; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: 3px 9px; white-space: nowrap; }
th { border-bottom: 2px solid #888; text-align: left; vertical-align: bottom; white-space: normal; }
img { max-width: 100%; }
code { background: #f3f3f3; padding: 0 3px; }
"""


def html_page(markdown: str, docs: Path) -> str:
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    body = re.sub(r'src="(images/[^"]+)"', lambda match: f'src="{_inside(docs / match[1])}"', body)
    body = re.sub(r' \(<a href="images/[^"]+">SVG</a>\)', "", body)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>elbowroom: results</title>'
        f"<style>{STYLE}</style></head><body>\n{body}</body></html>\n"
    )


def _inside(path: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
