"""python -m elbowroom_checker proof.json model.json: exit code 0 if everything in the file is proven, 5 if not, 2 if misused."""

from __future__ import annotations

import sys

from elbowroom_checker.reading import Refused, read
from elbowroom_checker.verdict import SECONDS, check


def main(arguments: list[str]) -> int:
    *files, flag, seconds = arguments if "--seconds" in arguments else [*arguments, "--seconds", str(SECONDS)]
    if len(files) != 2 or flag != "--seconds" or not seconds.replace(".", "", 1).isdecimal() or files[0][:1] == "-":
        sys.stderr.write("usage: python -m elbowroom_checker proof.json model.json [--seconds 600]\n")
        return 2
    try:
        sys.stdout.write("\n".join(check(read(files[0]), read(files[1]), float(seconds)).sentences) + "\n")
    except Refused as reason:
        sys.stdout.write(f"REFUSED: {reason}\n")
        return 5
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
