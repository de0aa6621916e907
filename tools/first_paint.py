"""How soon `elbowroom serve` is on the screen: ``python -m tools.first_paint`` starts it and opens its address in Chromium.

Seconds from the start of the program to its printed address, to the first paint of the page, and to the model being read.
The browser is started before. Beside each: the seconds of a processor that the server itself had used until then (on Linux),
which a busy machine does not stretch; the load is printed at the end.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import joblib
from playwright.sync_api import Browser, sync_playwright
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from tests.browser.conftest import NAMES

TRIES = 5


def main() -> None:
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    if chromium is None:
        raise SystemExit("no Chromium on the path")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        joblib.dump(RandomForestClassifier(100, random_state=0).fit(X, y), folder / "model.joblib")
        X.to_csv(folder / "train.csv", index=False)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(TRIES):
            moments = zip(("address", "first paint", "model read"), measure(browser, folder), strict=True)
            told = (f"{what} {clock:.2f} s ({used:.2f} s of a processor)" for what, (clock, used) in moments)
            sys.stdout.write(", ".join(told) + "\n")
        browser.close()
    sys.stdout.write(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")


def processor(server: subprocess.Popen[str]) -> float:
    """Seconds that the server used so far; NaN where the system does not say."""
    stat = Path(f"/proc/{server.pid}/stat")
    if not stat.exists():
        return float("nan")
    used = stat.read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


def measure(browser: Browser, folder: Path) -> list[tuple[float, float]]:
    """Seconds to the address, to the first paint and to the model, by the clock and of a processor."""
    page = browser.new_page()
    page.goto("about:blank")
    words = ["serve", "model.joblib", "--reference", "train.csv", "--trust-pickle", "--port", "0"]
    begin = time.time()
    server = subprocess.Popen(
        [sys.executable, "-m", "elbowroom", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )  # fmt: skip
    assert server.stdout is not None
    try:
        place = server.stdout.readline().split()[1]
        address = time.time() - begin, processor(server)
        page.goto(place, wait_until="commit")
        entries = "() => performance.getEntriesByName('first-contentful-paint').map(e => performance.timeOrigin + e.startTime)[0]"
        paint = page.wait_for_function(entries).json_value() / 1000.0 - begin, processor(server)
        page.wait_for_function(
            "() => !document.getElementById('about').textContent.startsWith('Reading')", timeout=600_000
        )
        return [address, paint, (time.time() - begin, processor(server))]
    finally:
        page.close()
        server.send_signal(signal.SIGINT)
        server.wait(timeout=30)


if __name__ == "__main__":
    main()
