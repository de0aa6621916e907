"""The published description of the files: JSON Schema, draft 2020-12. ``python -m elbowroom.result.json_schema`` prints
it."""

from __future__ import annotations

import sys
from importlib.resources import files


def json_schema() -> str:
    """What `Region.to_json` and `NoRegion.to_json` write, as JSON Schema text."""
    return files("elbowroom.result").joinpath("region.schema.json").read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(json_schema())
