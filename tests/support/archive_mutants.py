"""Damaged files of formats whose reader is another program's: .cbm (CatBoost), .skops and .pt, tried in a process of its own.

``python -m tests.support.archive_mutants FORMAT FIRST COUNT`` tries the mutants FIRST, FIRST + 1, ... and prints one line of JSON
per mutant before and after each try, so that the one that crashed or hung is known. `run` starts that program and reads it.
"""

from __future__ import annotations

import faulthandler
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

FORMATS: Final = ("cbm", "skops", "pt")
ROWS: Final = 400  # per replay
WHOLES: Final = (0, 1, 255, 65_536, 2**31 - 1, 2**32 - 1)
ROOT: Final = Path(__file__).parents[2]


# ---- honest files ----------------------------------------------------------------------------------------------------
@cache
def honest(form: str) -> list[bytes]:
    return {"cbm": _cbm, "skops": _skops, "pt": _pt}[form]()


def _cbm() -> list[bytes]:
    from tests.support.catboost_cases import case

    found = []
    for name in ("oblivious", "lossguide", "three classes"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.cbm"
            case(name).model.save_model(str(path))
            found.append(path.read_bytes())
    return found


def _skops() -> list[bytes]:
    import skops.io

    from tests.support.importer_cases import fitted_case

    kinds = ("decision tree", "random forest", "gradient boosting", "logistic", "network")
    return [skops.io.dumps(fitted_case(kind, "iris", "0/1", piped=kind == "logistic")[0]) for kind in kinds]


def _pt() -> list[bytes]:
    import torch

    found = []
    for thing in (torch.nn.Linear(3, 2).state_dict(), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())):
        buffer = io.BytesIO()
        torch.save(thing, buffer)
        found.append(buffer.getvalue())
    return found


# ---- damage ----------------------------------------------------------------------------------------------------------
def mutant(form: str, number: int) -> bytes:
    """The bytes of mutant ``number``: whole words overwritten, bytes flipped, cut, doubled; of archives inside their parts."""
    rng = random.Random(f"{form} {number}")
    content = rng.choice(honest(form))
    if form == "cbm" or rng.random() < 0.15:
        return _damaged(content, rng)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice([*parts, *(n for n in parts if n.endswith("schema.json"))])
        parts[name] = _text(parts[name], rng) if name.endswith("schema.json") else _damaged(parts[name], rng, keep=128)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            if rng.random() > 0.01:
                archive.writestr(name, part)
    return buffer.getvalue()


def _damaged(content: bytes, rng: random.Random, keep: int = 8) -> bytes:
    """``keep``: half of the time the first bytes (a header) stay as they are."""
    data = bytearray(content)
    first = keep if len(data) > 2 * keep and rng.random() < 0.5 else 0
    for _ in range(rng.choice((1, 1, 2, 4))):
        if len(data) < first + 8:
            break
        at, way = rng.randrange(first, len(data) - 4), rng.random()
        if way < 0.4:
            data[at : at + 4] = rng.choice((*WHOLES, rng.randrange(2**32))).to_bytes(4, "little")
        elif way < 0.8:
            data[at] ^= 1 << rng.randrange(8)
        elif way < 0.9:
            del data[at : at + rng.choice((1, 4, 40, 10**6))]
        else:
            data[at:at] = data[at : at + rng.choice((1, 4, 40))]
    return bytes(data)


def _text(content: bytes, rng: random.Random) -> bytes:
    """One entry of a document: another value, another key, gone, or another node in its place."""
    try:
        document = json.loads(content)
    except ValueError:
        return _damaged(content, rng)
    places: list[tuple[Any, Any]] = []
    todo = [document]
    while todo:
        here = todo.pop()
        keys = list(here) if isinstance(here, dict) else range(len(here))
        places += [(here, key) for key in keys]
        todo += [here[key] for key in keys if isinstance(here[key], (dict, list))]
    here, key = rng.choice(places)
    way = rng.random()
    if way < 0.2 and isinstance(here, dict):
        del here[key]
    elif way < 0.4:
        other, place = rng.choice(places)
        here[key] = (
            json.loads(json.dumps(other[place]))
            if place in (other if isinstance(other, dict) else range(len(other)))
            else None
        )
    else:
        here[key] = rng.choice(
            (
                None,
                0,
                -1,
                1,
                2**31,
                2**63,
                1e308,
                "",
                "x",
                "NaN",
                [],
                {},
                True,
                [[]],
                "sklearn.tree._tree",
                "os",
                "system",
            )
        )
    return json.dumps(document).encode()


# ---- tries -----------------------------------------------------------------------------------------------------------
def attempt(form: str, content: bytes, path: Path) -> str:
    """What became of a file: refused in words, or read and replayed."""
    from elbowroom.errors import ElbowroomError, ReplayMismatch
    from elbowroom.importers import open_model, replay
    from elbowroom.importers.files import model_in

    path.write_bytes(content)
    try:
        model = model_in(path, content)
        if model is None:
            return "refused: of no known format"
        opened = open_model(model, replay=False)
        replay(opened.model, opened.original, limit=ROWS)
    except ReplayMismatch as error:
        return f"refused: {error}"[:300]
    except ElbowroomError as error:
        return f"refused: {error}"[:300]
    return "replayed"


def _forked(command: list[str], timeout: float, cwd: Path, **_: object) -> subprocess.CompletedProcess[bytes]:
    """What the program of ``python -c`` does, in a fork of this process, which has the library loaded already: seconds are
    saved per file, and a crash is still the fork's alone."""
    errors = cwd / "errors"
    child = os.fork()
    if child == 0:
        code = 1
        try:
            faulthandler.disable()
            signal.alarm(int(timeout))
            os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
            os.chdir(cwd)
            sys.argv = ["-c", *command[3:]]
            exec(compile(command[2], "convert", "exec"), {})
            code = 0
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}".encode(errors="replace"))
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return subprocess.CompletedProcess(command, code, b"", errors.read_bytes() if errors.exists() else b"")


def _say(what: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main() -> None:
    import warnings

    form, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    if form == "cbm":
        import catboost  # noqa: F401

        from elbowroom.importers import catboost_file

        catboost_file.subprocess = SimpleNamespace(run=_forked, TimeoutExpired=subprocess.TimeoutExpired)  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model.{form}"
        for number in range(first, first + count):
            _say({"trying": number})
            try:
                outcome = attempt(form, mutant(form, number), path)
            except Exception as error:  # a traceback is what must not happen
                outcome = f"failed: {type(error).__name__}: {error}"[:300]
            _say({"number": number, "outcome": outcome})


def run(form: str, count: int, seconds: float, first: int = 0) -> tuple[Counter[str], list[str]]:
    """How many were refused and replayed, and what should not have happened."""
    command = [sys.executable, "-m", "tests.support.archive_mutants", form, str(first), str(count)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=seconds, check=False)
        out, code, err = ran.stdout, ran.returncode, ran.stderr
    except subprocess.TimeoutExpired as late:
        out, code, err = (late.stdout or b"").decode(), -1, f"nothing after {seconds} seconds"
    lines = [json.loads(line) for line in out.splitlines() if line.endswith("}")]
    done = [line for line in lines if "outcome" in line]
    bad = [f"{form} {line['number']}: {line['outcome']}" for line in done if line["outcome"].startswith("failed")]
    if code or len(done) != count:
        bad.append(f"{form}: ended with {code} at {lines[-1] if lines else 'the start'}: {err[-500:]}")
    return Counter(line["outcome"].partition(":")[0] for line in done), bad


if __name__ == "__main__":
    main()
