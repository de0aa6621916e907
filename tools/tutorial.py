"""The tutorial as a newcomer does it: ``python -m tools.tutorial`` builds the wheel, installs it into an environment of its
own, runs every block of docs/tutorial.md there in an empty folder, and compares what is printed with what the page shows.

The command that the page names for the file it wrote is run as well. Needs a package index for what the wheel depends on.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
CHILD = """
import contextlib, io, json, sys
known, told = {}, []
for code in json.load(sys.stdin):
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard):
        exec(compile(code, "tutorial", "exec"), known)
    told.append(heard.getvalue())
import elbowroom, joblib
joblib.dump(known["scorer"], "model.joblib")
print(json.dumps([elbowroom.__file__, told]))
"""


def blocks() -> list[tuple[str, str | None]]:
    """Each Python block, and what the page says that it prints."""
    found = [(m[1], m[2], m.start(), m.end()) for m in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]
    pairs = []
    for block, following in zip(found, [*found[1:], None], strict=True):
        if block[0] == "python":
            shown = following is not None and following[0] == "" and following[2] == block[3]
            pairs.append((block[1], following[1] if shown and following is not None else None))
    return pairs


def run(*words: str | Path, **options: object) -> str:
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, text=True, **options)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"exit code {done.returncode}: {' '.join(map(str, words))}\n{done.stdout}")
    return str(done.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, begin = Path(name), time.monotonic()
        work = folder / "work"
        work.mkdir()
        pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
        run(sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
        (wheel,) = folder.glob("*.whl")
        venv.create(folder / "clean", with_pip=True)
        python = folder / "clean" / "bin" / "python"
        run(python, *pip, "install", wheel)
        sys.stdout.write(f"{wheel.name} installed after {time.monotonic() - begin:.0f} s\n")
        clean = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(work)}
        pairs = blocks()
        told = run(python, "-c", CHILD, cwd=work, env=clean, input=json.dumps([code for code, _ in pairs]))
        home, printed = json.loads(told.splitlines()[-1])
        if not Path(home).is_relative_to(folder):
            raise SystemExit(f"not the wheel was run, but {home}")
        wrong = [
            f"shown:\n{shown}\nprinted:\n{said}"
            for (_, shown), said in zip(pairs, printed, strict=True)
            if shown is not None and said.rstrip() != shown.rstrip()
        ]
        if wrong:
            raise SystemExit("\n\n".join(wrong))
        checked = run(
            "elbowroom", "check", "region.json", "model.joblib", "--trust-pickle", cwd=work, env=clean
        ).splitlines()[0]
        size = (work / "answer.html").stat().st_size
        sys.stdout.write(
            f"{len(pairs)} blocks ran, {sum(shown is not None for _, shown in pairs)} outputs are those of the page; "
            f"answer.html has {size:,} bytes; elbowroom check: {checked}\n{time.monotonic() - begin:.0f} s in all\n"
        )


if __name__ == "__main__":
    main()
