"""``python -m benchmarks accuracy``: the paper's table 4, accuracies of the models.

The paper does not say how it split the rows. Here: 80 % for training, 20 % for testing, stratified, ``random_state=0``;
and the accuracy on all rows of the models that tables 1 and 2 explain, which are trained on all rows.
"""

from __future__ import annotations

from typing import Any

from sklearn.model_selection import train_test_split

from benchmarks.cases import ALL
from benchmarks.cells import trained
from benchmarks.data import PAPER, load, obtainable

TEST_SHARE, SEED = 0.2, 0


def run(data: tuple[str, ...] = PAPER) -> list[dict[str, Any]]:
    names, messages = obtainable(tuple(data))
    for message in messages:
        print(message)
    records = []
    for name in names:
        X, y = load(name)
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=TEST_SHARE, random_state=SEED, stratify=y)
        for case in ALL:
            model = case.train(X_train, y_train)
            record = {
                "data": name, "model": case.label, "train": float(model.score(X_train, y_train)),
                "test": float(model.score(X_test, y_test)), "all": float(trained(name, case).score(X, y)),
            }  # fmt: skip
            records.append(record)
            print(f"{name:10s} {case.label:12s} train {record['train']:.3f}, test {record['test']:.3f}", flush=True)
    return records
