"""Twenty questions at once: ``python -m tools.parallel`` starts `elbowroom serve`, asks them together, and meanwhile asks for
the page again and again. Printed: how many were answered, and how long a request for the page took."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import Request, urlopen

import joblib
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

QUESTIONS = 20
ROOM = {"radius": 0.02, "time_limit": 20, "wait": True}


def asked(address: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(address, data, {"Content-Type": "application/json"}), timeout=600) as told:
        content = told.read()
    return json.loads(content) if content[:1] in b"{[" else content


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        joblib.dump(RandomForestClassifier(30, max_depth=6, random_state=0).fit(X, y), folder / "model.joblib")
        X.to_csv(folder / "train.csv", index=False)
        words = ["serve", "model.joblib", "--reference", "train.csv", "--trust-pickle", "--port", "0", "--no-token"]
        server = subprocess.Popen(
            [sys.executable, "-m", "elbowroom", *words], cwd=folder, stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        try:
            report(server.stdout.readline().split()[-1].rstrip("/"))
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=60)


def report(address: str) -> None:
    rows = asked(f"{address}/space")["first"][:QUESTIONS]
    asked(f"{address}/explain", {"row": rows[0], **ROOM})  # compiled kernels are those of an installation in use
    answers: list[dict[str, Any]] = []

    def ask(row: dict[str, Any]) -> None:
        answers.append(asked(f"{address}/explain", {"row": row, **ROOM}))

    threads = [threading.Thread(target=ask, args=(row,)) for row in rows]
    begin, taken = time.monotonic(), list[float]()
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for path in ("/", "/jobs"):
            start = time.monotonic()
            asked(address + path)
            taken.append(time.monotonic() - start)
        time.sleep(0.05)
    found = sorted(str(answer.get("status", answer)) for answer in answers)
    sys.stdout.write(
        f"{len(answers)} of {QUESTIONS} answered in {time.monotonic() - begin:.1f} s: "
        f"{ {status: found.count(status) for status in dict.fromkeys(found)} }\n"
        f"{len(taken)} requests for the page and the history meanwhile: median {1000 * median(taken):.0f} ms, "
        f"longest {1000 * max(taken):.0f} ms (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)\n"
    )


if __name__ == "__main__":
    main()
