"""Damaged LightGBM text files, and the library's word on the ones that are accepted.

The library follows wrong indices out of its arrays. It is therefore asked in a process of its own, which may crash.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

NUMBERS = ("0", "-1", "1", "-2", "2", "3", "7", "15", "31", "999999", "2147483648", "-2147483649", "4294967295", "99999999999",
           "1e-35", "-1e-36", "1e400", "nan", "inf", "-inf", "", "0x1", "1_0", "٣", "1e5", "0.5", "-0", "+1", "1,5")  # fmt: skip
KEYS = ("num_leaves", "num_cat", "split_feature", "threshold", "decision_type", "left_child", "right_child", "leaf_value",
        "cat_boundaries", "cat_threshold", "is_linear", "num_class", "num_tree_per_iteration", "max_feature_idx", "objective",
        "feature_names", "feature_infos", "tree_sizes", "version", "Tree", "leaf_count", "internal_value", "shrinkage")  # fmt: skip


def mutant(text: str, rng: random.Random) -> tuple[str, str]:
    """A damaged text, and what was done to it."""
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text, how = rng.choice((_number, _number, _number, _key, _line, _bytes, _swap, _cut))(text, rng)
        done.append(how)
    if rng.random() < 0.7:  # sizes that fit again: the damage has to be found in the tree itself
        text = (
            sized(text)
            if rng.random() < 0.5
            else "\n".join(a for a in text.split("\n") if not a.startswith("tree_sizes="))
        )
        done.append("sizes mended")
    return text, ", ".join(done)


def sized(text: str) -> str:
    body, end, rest = text.partition("\nend of trees\n")
    head, *blocks = body.split("\nTree=")
    sizes = " ".join(str(len(f"Tree={block}\n".encode())) for block in blocks)
    head = "\n".join(f"tree_sizes={sizes}" if line.startswith("tree_sizes=") else line for line in head.split("\n"))
    return "\nTree=".join([head, *blocks]) + end + rest


def _lines(text: str) -> list[str]:
    return text.partition("\nend of trees\n")[0].split("\n")


def _with(text: str, lines: list[str]) -> str:
    _, end, rest = text.partition("\nend of trees\n")
    return "\n".join(lines) + end + rest


def _number(text: str, rng: random.Random) -> tuple[str, str]:
    """Another number in a list; most often one from the same list."""
    lines = _lines(text)
    places = [i for i, line in enumerate(lines) if line.partition("=")[0] in KEYS and "=" in line]
    if not places:
        return text, "nothing"
    i = rng.choice(places)
    key, _, value = lines[i].partition("=")
    words = value.split(" ")
    at = rng.randrange(len(words))
    words[at] = rng.choice(words) if rng.random() < 0.4 else rng.choice(NUMBERS)
    if rng.random() < 0.1:
        words.insert(at, rng.choice(words))
    elif rng.random() < 0.1:
        del words[at]
    lines[i] = f"{key}={' '.join(words)}"
    return _with(text, lines), f"{key}[{at}]"


def _key(text: str, rng: random.Random) -> tuple[str, str]:
    lines = _lines(text)
    i = rng.randrange(len(lines))
    key, _, value = lines[i].partition("=")
    lines[i] = f"{rng.choice(KEYS)}={value}"
    return _with(text, lines), f"{key} renamed"


def _line(text: str, rng: random.Random) -> tuple[str, str]:
    lines = _lines(text)
    i, how = rng.randrange(len(lines)), rng.choice(("removed", "twice", "moved"))
    line = lines[i]
    if how != "twice":
        del lines[i]
    if how != "removed":
        lines.insert(rng.randrange(len(lines) + 1), line)
    return _with(text, lines), f"line {how}: {line[:20]}"


def _bytes(text: str, rng: random.Random) -> tuple[str, str]:
    at, size = rng.randrange(len(text) + 1), rng.choice((1, 1, 2, 30))
    new = rng.choice(("", "", "\x00", "\r", "é", " ", "\n", "=", "-", "9", text[at : at + size] * 2))
    return text[:at] + new + text[at + size :], f"{size} characters at {at}"


def _swap(text: str, rng: random.Random) -> tuple[str, str]:
    """Two lines change places: arrays of another tree, for instance."""
    lines = _lines(text)
    i = rng.randrange(len(lines))
    same = [j for j, line in enumerate(lines) if line.partition("=")[0] == lines[i].partition("=")[0]]
    j = rng.choice(same)
    lines[i], lines[j] = lines[j], lines[i]
    return _with(text, lines), f"lines {i} and {j} swapped"


def _cut(text: str, rng: random.Random) -> tuple[str, str]:
    at = rng.randrange(len(text) + 1)
    return (text[:at], f"ends at {at}") if rng.random() < 0.5 else (text[at:], f"starts at {at}")


_JUDGE = """
import json, sys
import numpy as np, lightgbm
start, folder = int(sys.argv[1]), sys.argv[2]
rows = np.load(folder + "/rows.npy")
for number in range(start, int(sys.argv[3])):
    print("@", json.dumps([number, "started"]), flush=True)
    try:
        booster = lightgbm.Booster(model_file=f"{folder}/{number}.txt")
        raw = np.asarray(booster.predict(rows, raw_score=True), dtype=float).reshape(len(rows), -1)
        np.save(f"{folder}/{number}.npy", raw)
        print("@", json.dumps([number, "read"]), flush=True)
    except Exception as error:
        print("@", json.dumps([number, f"refused: {error}"[:200]]), flush=True)
"""


def library_on(texts: list[str], rows: np.ndarray, folder: Path) -> list[Any]:
    """What the library computes from each text: an array, or None where it refuses, crashes or does not come back."""
    np.save(folder / "rows.npy", rows)
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_bytes(text.encode())
    start, answers = 0, [None] * len(texts)
    while start < len(texts):
        words = [sys.executable, "-c", _JUDGE, str(start), str(folder), str(len(texts))]
        try:
            said = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False).stdout
        except subprocess.TimeoutExpired as late:
            said = (late.stdout or b"").decode()
        lines = [json.loads(line[1:]) for line in said.splitlines() if line.startswith("@") and line.endswith("]")]
        for number, word in lines:
            if word == "read":
                answers[number] = np.load(folder / f"{number}.npy")
        start = max([number for number, _ in lines], default=start) + 1
    return answers
