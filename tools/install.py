"""``python tools/install.py`` installs this project, editable, with everything that its tests need, into its own Python;
with ``--demo`` only with what the demonstration needs.

The versions are those of ``requirements/lock.txt`` (``demo.txt``, a part of it), each file checked against its hash. A file with another hash is an
error. Where a locked version cannot be had (another Python, a registry without it), one line says so and the newest
versions that ``pyproject.toml`` allows are taken instead; with ``--locked`` that is an error, too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements" / "lock.txt"
DEMO = ROOT / "requirements" / "demo.txt"
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
FOREIGN = "DO NOT MATCH THE HASHES"


def main() -> int:
    """The exit code."""
    lock, wanted = (DEMO, ("demo",)) if "--demo" in sys.argv[1:] else (LOCK, ("test,models", "test"))
    locked = subprocess.run([*PIP, "--require-hashes", "--requirement", str(lock)], capture_output=True, text=True)
    if locked.returncode == 0:
        # the lock holds the build backend as well: nothing is fetched without a hash
        return subprocess.run([*PIP, "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]).returncode
    if FOREIGN in locked.stderr or "--locked" in sys.argv[1:]:
        sys.stderr.write(locked.stderr)
        return 1
    errors = [line for line in locked.stderr.splitlines() if line.startswith("ERROR")]
    why = errors[-1].removeprefix("ERROR: ") if errors else "pip failed"
    sys.stderr.write(
        f"requirements/{lock.name} cannot be installed here ({why}): the newest allowed versions are taken.\n"
    )
    for extras in wanted:  # without the libraries of other models, their tests are skipped
        found = subprocess.run([*PIP, "--editable", f"{ROOT}[{extras}]"]).returncode
        if found == 0:
            break
    return found


if __name__ == "__main__":
    sys.exit(main())
