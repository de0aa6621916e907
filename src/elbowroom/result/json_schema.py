"""The published description of the files: JSON Schema, draft 2020-12."""

from __future__ import annotations

from pathlib import Path

from elbowroom.disk import read_whole


def json_schema() -> str:
    """What `Region.to_json` and `NoRegion.to_json` write, as JSON Schema text."""
    return read_whole(Path(__file__).with_name("region.schema.json")).decode("utf-8")
