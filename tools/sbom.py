"""``python -m tools.sbom dist/NAME.whl`` writes dist/NAME.cdx.json: what the wheel stands on (CycloneDX 1.5).

The wheel carries no code of others; listed is what this Python environment has installed of its run-time dependencies
and of theirs, with versions, licences and who needs whom. The wheel itself stands there with its SHA-256. The same
wheel in the same environment gives the same bytes; there is a time only if SOURCE_DATE_EPOCH is set.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import uuid
import zipfile
from datetime import UTC, datetime
from email.message import Message
from email.parser import Parser
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement


def bill(wheel: Path) -> dict[str, Any]:
    """The bill of materials of a wheel, as CycloneDX wants it."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    head = _head(wheel)
    root = _component(head) | {"hashes": [{"alg": "SHA-256", "content": digest}]}
    needs = {_plain(str(head["Name"])): _needed(head)}
    found: dict[str, dict[str, Any]] = {}
    todo = list(needs[_plain(str(head["Name"]))])
    while todo:
        name = todo.pop()
        if name not in found:
            head_of = metadata.metadata(name)
            found[name] = _component(head_of)
            needs[name] = _needed(head_of)
            todo += needs[name]
    reference = {name: component["bom-ref"] for name, component in found.items()}
    reference[_plain(str(head["Name"]))] = root["bom-ref"]
    about: dict[str, Any] = {"component": root}
    if "SOURCE_DATE_EPOCH" in os.environ:
        moment = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
        about["timestamp"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest + repr(sorted(reference.values())))}",
        "version": 1,
        "metadata": about,
        "components": [found[name] for name in sorted(found)],
        "dependencies": [
            {"ref": reference[name], "dependsOn": sorted(reference[other] for other in needs[name])}
            for name in sorted(needs)
        ],
    }


def _head(wheel: Path) -> Message:
    """The METADATA of a wheel."""
    with zipfile.ZipFile(wheel) as content:
        (name,) = (name for name in content.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        return Parser().parsestr(content.read(name).decode("utf-8"))


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _needed(head: Any) -> list[str]:
    """Names of what a distribution needs here, without its extras."""
    wanted = [Requirement(line) for line in head.get_all("Requires-Dist") or ()]
    return sorted({_plain(r.name) for r in wanted if r.marker is None or r.marker.evaluate({"extra": ""})})


def _component(head: Any) -> dict[str, Any]:
    name, version = str(head["Name"]), str(head["Version"])
    link = f"pkg:pypi/{_plain(name)}@{version}"
    component: dict[str, Any] = {"type": "library", "bom-ref": link, "name": name, "version": version, "purl": link}
    expression = head.get("License-Expression")
    if expression:
        component["licenses"] = [{"expression": str(expression)}]
    else:
        named = [c.rpartition(" :: ")[2] for c in head.get_all("Classifier") or () if c.startswith("License ::")]
        component["licenses"] = [{"license": {"name": name}} for name in sorted(set(named))]
    return component


def main() -> None:
    """Beside each wheel that is named."""
    for name in sys.argv[1:]:
        wheel = Path(name)
        path = wheel.with_name("-".join(wheel.stem.split("-")[:2]) + ".cdx.json")
        path.write_text(json.dumps(bill(wheel), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
