"""python -m elbowroom_checker proof.json model.json: exit code 0 if everything in the file is proven, 5 if not, 2 if misused."""

from __future__ import annotations

import sys
import threading

from elbowroom_checker.reading import Refused, read
from elbowroom_checker.verdict import SECONDS, check


def main(arguments: list[str]) -> int:
    *files, flag, seconds = arguments if "--seconds" in arguments else [*arguments, "--seconds", str(SECONDS)]
    if len(files) != 2 or flag != "--seconds" or not seconds.replace(".", "", 1).isdecimal() or files[0][:1] == "-":
        sys.stderr.write("usage: python -m elbowroom_checker proof.json model.json [--seconds 600]\n")
        return 2
    said = [f"REFUSED: not decided within {seconds} seconds; allow more with --seconds"]

    def decide() -> None:
        try:
            said[:] = check(read(files[0]), read(files[1]), float(seconds)).sentences
        except Refused as reason:
            said[:] = [f"REFUSED: {reason}"]

    worker = threading.Thread(target=decide, daemon=True)  # a single step of a hostile file may take long, too
    worker.start()
    worker.join(min(float(seconds) + 1.0, threading.TIMEOUT_MAX))
    sys.stdout.write("\n".join(said) + "\n")
    return 5 if said[0].startswith("REFUSED: ") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
