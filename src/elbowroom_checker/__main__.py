"""python -m elbowroom_checker proof.json model.json: exit code 0 if everything in the file is proven, 5 if not, 2 if misused."""

from __future__ import annotations

import sys

from elbowroom_checker.reading import Refused, read
from elbowroom_checker.verdict import SECONDS, check

USAGE = "usage: python -m elbowroom_checker proof.json model.json [--seconds 600]"


def main(arguments: list[str]) -> int:
    seconds = SECONDS
    if len(arguments) == 4 and arguments[2] == "--seconds" and arguments[3].replace(".", "", 1).isdecimal():
        seconds, arguments = float(arguments[3]), arguments[:2]
    if len(arguments) != 2 or arguments[0].startswith("-"):
        sys.stderr.write(USAGE + "\n")
        return 2
    try:
        proven = check(read(arguments[0]), read(arguments[1]), seconds)
    except Refused as reason:
        sys.stdout.write(f"REFUSED: {reason}\n")
        return 5
    sys.stdout.write("\n".join(proven.sentences) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
