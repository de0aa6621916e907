"""Model files that nobody vouched for, and trusted ones that are broken, foreign or malicious.

Without ``--trust-pickle`` nothing is unpickled, whatever the file is called and whichever argument it is: a trap in the
pickle must not be sprung. With it, code of the file runs, as the option says; but a file that is broken, ends the
program or holds something that is no model gets an error in words, and what is answered holds for the model as loaded.
"""

from __future__ import annotations

import bz2
import copy
import faulthandler
import gzip
import io
import json
import lzma
import os
import pickle
import random
import signal
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import joblib
import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from elbowroom import Explainer, Region
from elbowroom.present.cli import Exit
from tests.fuzz import traps
from tests.fuzz.honest import applicants, models, saved
from tests.fuzz.kind import Outcome, accepted, failed, refused
from tests.fuzz.screens import random_screen, trouble_on_screen
from tests.fuzz.traps import Call, Pretender
from tests.support.documents import spoiled_bytes
from tests.support.hostile import attack
from tests.support.hostile_text import hostile_text
from tests.support.programs import run_program

PACKERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    "zlib": zlib.compress,
}
MACHINE: Final = 1  # the exit code of a machine that has no memory left
LOADING: Final = 10.0  # seconds of the processor for one file
BOMB: Final = 64 << 20  # bytes that a small compressed file unfolds to


class ModelFiles:
    name = "model files"

    def prepare(self, folder: Path) -> None:
        self.folder = folder
        frame, label = applicants()
        self.frame, self.label = frame, label
        self.table = folder / "table.csv"
        frame[label == "rejected"].head(5).to_csv(self.table, index=False)
        self.regions = {}
        for one in saved():
            if one.document["kind"] == "region" and one.model in ("linear", "tree", "forest", "network"):
                self.regions[one.model] = folder / f"{one.model}.json"
                self.regions[one.model].write_text(json.dumps(one.document), encoding="utf-8")
        self.foreign = [
            LogisticRegression(), DecisionTreeClassifier(), LinearRegression().fit(frame, label == "approved"),
            RandomForestRegressor(2).fit(frame, label == "approved"), KNeighborsClassifier().fit(frame, label),
            SVC().fit(frame, label), LogisticRegression().fit(frame.iloc[:, :2], label), frame, label, {}, [], None, 7,
            "model", b"bytes", len, LogisticRegression, np.zeros(3), {"model": models()["tree"]}, (models()["tree"],),
        ]  # fmt: skip

    def attempt(self, rng: random.Random) -> Outcome:
        traps.SPRUNG.clear()
        return self._untrusted(rng) if rng.random() < 0.45 else self._trusted(rng)

    # ---- without trust -----------------------------------------------------------------------------------------------
    def _untrusted(self, rng: random.Random) -> Outcome:
        data, how = _pickled(_trapped(rng), rng)
        if rng.random() < 0.3:
            data, damage = spoiled_bytes(data, rng)
            how += f", {damage}"
        suffix = rng.choice((".joblib", ".pkl", ".csv", ".json", ".parquet", ".onnx", ".ubj", ".txt", ""))
        file = self.folder / f"file{suffix}"
        file.write_bytes(data)
        region = self.regions["tree"]
        words = rng.choice(
            (
                ["explain", file, self.table, "--row", 0],
                ["check", region, file],
                ["radius", file, self.table, "--row", 0],
                ["explain", self.regions["tree"], file, "--row", 0],  # as the table
                ["check", file, file],  # as the region
            )
        )
        story = f"{words[0]} with {file.name}: {how}"
        screen = random_screen(rng)
        ran = run_program(words, **screen)  # type: ignore[arg-type]
        if traps.SPRUNG:
            return failed(story, "code of an untrusted pickle was run")
        trouble = trouble_on_screen(ran, bool(screen["terminal"]))
        if trouble is not None:
            return failed(story, trouble)
        if ran.code != Exit.BAD_INPUT:
            return failed(story, f"silent acceptance: exit code {ran.code} without --trust-pickle")
        return refused(story)

    # ---- with trust --------------------------------------------------------------------------------------------------
    def _trusted(self, rng: random.Random) -> Outcome:
        model, name, how = self._model(rng)
        data, form = _pickled(model, rng)
        how += f", {form}"
        damaged = rng.random() < 0.35
        if damaged:
            data, damage = spoiled_bytes(data, rng)
            how += f", {damage}"
        file = self.folder / "trusted.joblib"
        file.write_bytes(data)
        if damaged and _ends_python(file):
            return refused(f"{how}: whoever loads it dies")
        checking = rng.random() < 0.5
        words: list[Any] = (
            ["check", self.regions[name], file] if checking else ["explain", file, self.table, "--row", 0]
        )
        words += ["--trust-pickle", "--time-limit", "2"]
        words += ["--json", "--radius", "0.01"] if not checking else ["--any-model"] if rng.random() < 0.3 else []
        screen = random_screen(rng)
        ran = run_program(words, **screen)  # type: ignore[arg-type]
        story = f"{words[0]}: {how}"
        if ran.code == MACHINE and ran.fault is None and "memory" in ran.err:
            return refused(f"{story}: out of memory")  # as the file said, or did
        trouble = trouble_on_screen(ran, bool(screen["terminal"]))
        if trouble is not None:
            return failed(story, trouble)
        if ran.code != Exit.REGION:
            return refused(story)
        if not ran.out.strip():
            return failed(story, "silent acceptance: exit code 0 without a word")
        region = Region.from_json(self.regions[name] if checking else ran.out)
        return self._true_of(file, region, story)

    def _true_of(self, file: Path, region: Region, story: str) -> Outcome:
        """What was called valid must be what the model, as it was loaded, says."""
        try:
            model = joblib.load(file)
            attack(Explainer(model, region.space).predict, region.body, region.target.label)
        except AssertionError as error:
            return failed(story, f"false region: {error}")
        return accepted(story)

    def _model(self, rng: random.Random) -> tuple[Any, str, str]:
        """Something to be loaded as a model, the region it is checked with, and what it is."""
        name = rng.choice(("linear", "tree", "forest", "network"))
        match rng.randrange(8):
            case 0:
                return models()[name], name, f"honest {name}"
            case 1:
                thing = rng.choice(self.foreign)
                return thing, name, f"a {type(thing).__name__}"
            case 2:
                code = rng.choice((0, 0, 1, 5, None, CLAIMED))
                return Call(traps.leave, code), name, f"sys.exit({code!r})"
            case 3:
                fault = rng.choice((ValueError, MemoryError, RecursionError, SystemError, OSError, GeneratorExit))
                text = hostile_text(rng)
                return Call(traps.complain, fault, text), name, f"raises {fault.__name__}"
            case 4:
                fault = rng.choice((None, ValueError, SystemExit, MemoryError))
                return Pretender(fault, hostile_text(rng)), name, f"pretender, {fault}"
            case _:
                model = copy.deepcopy(models()[name])
                return model, name, f"{name} with {_disturbed(model, rng)}"


CLAIMED: Final = "Valid: at every point of the region the model predicts 'approved'."


def _disturbed(model: Any, rng: random.Random) -> str:
    """Change a fitted model in a way that no training would; return what was changed."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if hasattr(last, "estimators_"):
        last = rng.choice(last.estimators_)
    if hasattr(last, "tree_"):
        return _disturbed_tree(last, rng)
    name = rng.choice(("classes_", "n_features_in_", "feature_names_in_", "coef", "shape"))
    if name == "classes_":
        last.classes_ = np.array([hostile_text(rng), "approved"][: rng.choice((1, 2, 2, 2))], dtype=object)
    elif name == "n_features_in_":
        last.n_features_in_ = rng.choice((0, 3, 10**9, -1, "7", None))
    elif name == "feature_names_in_":
        names = [hostile_text(rng) if rng.random() < 0.3 else f"c{i}" for i in range(7)]
        last.feature_names_in_ = np.array(names, dtype=object)
    else:
        weights = last.coefs_[0] if hasattr(last, "coefs_") else last.coef_
        if name == "coef":
            weights.flat[rng.randrange(weights.size)] = rng.choice((np.nan, np.inf, 1e308, -1e300, 0.0, 5e-324))
        elif hasattr(last, "coef_"):
            last.coef_ = rng.choice((weights[:, :3], weights.astype(object), weights[0], weights.astype(complex), None))
        else:
            last.coefs_ = rng.choice((last.coefs_[:1], [], [w.T for w in last.coefs_]))
    return f"another {name}"


def _disturbed_tree(tree: Any, rng: random.Random) -> str:
    """The arrays behind a tree: thresholds and values are data, but a wrong index would be followed out of the array."""
    state = tree.tree_.__getstate__()
    nodes, values = state["nodes"].copy(), state["values"].copy()
    at = rng.randrange(len(nodes))
    field = rng.choice(("threshold", "value", "feature", "classes_"))
    if field == "threshold":
        nodes["threshold"][at] = rng.choice((np.nan, np.inf, -np.inf, 1e308, 0.0))
    elif field == "value":
        values.flat[rng.randrange(values.size)] = rng.choice((np.nan, np.inf, -1.0, 1e308))
    elif field == "feature":
        nodes["feature"][at] = rng.choice((0, 3, 6))
    else:
        tree.classes_ = np.array([hostile_text(rng), "approved", "x"][: len(tree.classes_)], dtype=object)
    state.update(nodes=nodes, values=values)
    tree.tree_.__setstate__(state)
    return f"another {field} at {at}"


def _ends_python(file: Path) -> bool:
    """True if unpickling alone ends a process by a signal: a damaged pickle may order anything of Python and numpy, and no
    program that loads it can help that."""
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        signal.setitimer(signal.ITIMER_PROF, LOADING)
        try:
            joblib.load(file)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


# ---- pickles ---------------------------------------------------------------------------------------------------------
def _trapped(rng: random.Random) -> Any:
    """A trap, alone or inside something that looks like a model."""
    trap = Call(traps.spring)
    match rng.randrange(4):
        case 0:
            return trap
        case 1:
            return [1.0, {"model": trap}]
        case 2:
            model = copy.copy(models()[rng.choice(("linear", "tree"))])
            model.note_ = trap
            return model
    return (np.zeros(10), trap)


def _pickled(thing: Any, rng: random.Random) -> tuple[bytes, str]:
    """As bytes: any protocol, by pickle or joblib, plain, compressed, or unfolding to far more than it seems to hold."""
    protocol = rng.randrange(6)
    try:
        if rng.random() < 0.5:
            data, how = pickle.dumps(thing, protocol=protocol), f"pickle {protocol}"
        else:
            buffer = io.BytesIO()
            joblib.dump(thing, buffer, protocol=max(protocol, 2))
            data, how = buffer.getvalue(), "joblib"
    except Exception as error:  # not everything can be pickled in every protocol
        data, how = pickle.dumps(str(error)), "pickle of an error"
    if rng.random() < 0.3:
        packer = rng.choice(list(PACKERS))
        if rng.random() < 0.05:
            data += bytes(BOMB)
        return PACKERS[packer](data), f"{how}, {packer}"
    return data, how
