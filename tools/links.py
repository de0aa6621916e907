"""Links of the pages that leave them: ``python -m tools.links`` lists them, ``--try`` asks for each and says what came back.

Links within the pages, anchors included, are held by tests/unit/test_documentation.py and by ``make docs``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[1]
ADDRESS = re.compile(r"https?://[^\s)>\"'`|]+")
SECONDS = 10.0


def outside() -> dict[str, list[str]]:
    """Each address with the pages that name it; those of this machine left out."""
    found: dict[str, list[str]] = {}
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for address in ADDRESS.findall(page.read_text(encoding="utf-8")):
            plain = address.rstrip(".,;:")
            if not re.match(r"https?://(127\.|localhost|\[)", plain):
                found.setdefault(plain, []).append(page.name)
    return found


def answer(address: str) -> str:
    try:
        with urlopen(Request(address, method="HEAD", headers={"User-Agent": "elbowroom"}), timeout=SECONDS) as told:
            return str(told.status)
    except (URLError, OSError, ValueError) as error:
        return f"FAILED: {error}"


def main() -> None:
    bad = 0
    for address, pages in outside().items():
        said = answer(address) if "--try" in sys.argv else ""
        bad += said.startswith("FAILED")
        sys.stdout.write(f"{address}  ({', '.join(sorted(set(pages)))})  {said}\n")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
