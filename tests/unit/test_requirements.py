"""The versions: what is declared, what is locked, what is tested, and what the bill of materials says agree."""

from __future__ import annotations

import json
import re
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from tools import install, sbom

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?:\s*;\s*([^\\]+?))?\s*\\?$")


def pins(name: str) -> list[Requirement]:
    """Every pinned requirement of a file."""
    lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
    found = [PINNED.match(line) for line in lines if line and not line.startswith(("#", " "))]
    assert all(found), "every line that is no hash and no comment pins one version"
    return [Requirement(f"{m[1]}=={m[2]}" + (f"; {m[3]}" if m[3] else "")) for m in found if m]


def version_of(pin: Requirement) -> Version:
    (only,) = pin.specifier
    return Version(only.version)


def extra(name: str) -> list[Requirement]:
    """The requirements of an extra, with those of the extras that it names."""
    found: list[Requirement] = []
    for requirement in map(Requirement, PROJECT["optional-dependencies"][name]):
        found += (
            [r for other in requirement.extras for r in extra(other)]
            if requirement.name == "elbowroom"
            else [requirement]
        )
    return found


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    declared = {}
    for requirement in map(Requirement, PROJECT["dependencies"]):
        (bound,) = requirement.specifier
        assert bound.operator == ">="
        declared[canonicalize_name(requirement.name)] = Version(bound.version)
    oldest = {canonicalize_name(pin.name): version_of(pin) for pin in pins("oldest.txt")}
    assert oldest == declared


def test_every_dependency_is_locked_within_its_bounds() -> None:
    locked = {}
    for pin in pins("lock.txt"):
        locked.setdefault(canonicalize_name(pin.name), []).append(version_of(pin))
    build = [Requirement(line) for line in (ROOT / "requirements" / "build.in").read_text(encoding="utf-8").split()]
    for requirement in [*map(Requirement, PROJECT["dependencies"]), *extra("test"), *build]:
        versions = locked.get(canonicalize_name(requirement.name))
        assert versions, f"{requirement.name} is not in requirements/lock.txt; run make lock"
        assert all(requirement.specifier.contains(version) for version in versions), requirement
    backend = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert set(backend) <= {str(requirement) for requirement in build}


def test_the_demonstration_has_the_locked_versions_of_what_it_needs_and_nothing_else() -> None:
    def written(name: str) -> dict[str, str]:
        text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
        blocks = [block for block in re.split(r"\n(?=[^\s#])", text) if "==" in block]
        return {block.split("\\")[0].strip(): block.strip() for block in blocks}

    demo, lock = written("demo.txt"), written("lock.txt")
    assert {key: lock[key] for key in demo} == demo
    names = {canonicalize_name(pin.name) for pin in pins("demo.txt")}
    assert {canonicalize_name(r.name) for r in [*map(Requirement, PROJECT["dependencies"]), *extra("demo")]} <= names
    assert not names & {"pytest", "mypy", "ruff", "hypothesis", "cvxpy", "xgboost-cpu", "torch"}


def test_the_lock_holds_hashes_and_names_no_place() -> None:
    text = (ROOT / "requirements" / "lock.txt").read_text(encoding="utf-8")
    assert "://" not in text and "index" not in text and "@" not in text
    for block in re.split(r"\n(?=[^\s#])", text):
        if "==" in block:
            assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", block), block.splitlines()[0]


def test_a_file_with_another_hash_is_never_installed(monkeypatch, capsys) -> None:
    """Whatever else goes wrong with the lock leads to the newest allowed versions, and a line says so."""
    calls = []
    unwanted = "nothing"

    class Failed:
        returncode, stderr = 1, "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE"

    class Done:
        returncode = 0

    def run(command, **_):
        calls.append(command)
        return Failed() if "--require-hashes" in command or unwanted in command[-1] else Done()

    monkeypatch.setattr(install.subprocess, "run", run)
    monkeypatch.setattr(install.sys, "argv", ["install.py"])
    assert install.main() == 1 and len(calls) == 1
    Failed.stderr = "ERROR: No matching distribution found for numba==0.68.1"
    assert install.main() == 0 and calls[-1][-1].endswith("[test,models]")
    unwanted = "models"  # a library whose models are read cannot be had: tests run without it
    assert install.main() == 0 and calls[-1][-1].endswith("[test]")
    assert "No matching distribution found for numba==0.68.1" in capsys.readouterr().err
    monkeypatch.setattr(install.sys, "argv", ["install.py", "--locked"])
    assert install.main() == 1 and "--require-hashes" in calls[-1]


# ---- the bill of materials -------------------------------------------------------------------------------------------
@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel with the metadata that pyproject.toml gives it, as far as the bill reads them."""
    path = tmp_path / "elbowroom-9.9-py3-none-any.whl"
    lines = ["Metadata-Version: 2.4", "Name: elbowroom", "Version: 9.9", "License-Expression: MIT"]
    lines += [f"Requires-Dist: {line}" for line in PROJECT["dependencies"]]
    lines += ["Requires-Dist: pytest>=8; extra == 'test'"]
    with zipfile.ZipFile(path, "w") as content:
        content.writestr("elbowroom-9.9.dist-info/METADATA", "\n".join(lines) + "\n")
    return path


def test_the_bill_lists_everything_that_the_wheel_needs(wheel: Path, monkeypatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    found = sbom.bill(wheel)
    named = {canonicalize_name(c["name"]): c["version"] for c in found["components"]}
    for requirement in map(Requirement, PROJECT["dependencies"]):
        assert named[canonicalize_name(requirement.name)] == metadata.version(requirement.name)
    assert "llvmlite" in named and "markupsafe" in named, "dependencies of dependencies"
    assert "pytest" not in named, "what only tests need is no part of it"
    references = {c["bom-ref"] for c in (*found["components"], found["metadata"]["component"])}
    assert {d["ref"] for d in found["dependencies"]} == references
    assert {other for d in found["dependencies"] for other in d["dependsOn"]} <= references
    assert "timestamp" not in found["metadata"]


def test_the_bill_is_the_same_each_time(wheel: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    monkeypatch.setattr(sbom.sys, "argv", ["sbom", str(wheel)])
    sbom.main()
    path = wheel.with_name("elbowroom-9.9.cdx.json")
    first = path.read_bytes()
    sbom.main()
    assert path.read_bytes() == first and str(path) in capsys.readouterr().out
    assert json.loads(first)["metadata"]["timestamp"] == "1970-01-02T00:00:00Z"
    (digest,) = json.loads(first)["metadata"]["component"]["hashes"]
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    changed = sbom.bill(wheel)
    assert changed["metadata"]["component"]["hashes"] != [digest]
    assert changed["serialNumber"] != json.loads(first)["serialNumber"]
