"""Region files that were damaged, rewritten or forged, given to ``check``.

Three hands: one that knows nothing (bytes), one that knows JSON (structure), and one that knows everything and computes
seal and checksum anew (forgery). What must never happen: a traceback, a spoofed screen, and "Valid" for what is not true
or was not looked at. A changed claim is refused, or it is named among what was not checked.
"""

from __future__ import annotations

import copy
import json
import math
import random
import re
from pathlib import Path
from typing import Any, Final

import joblib
import numpy as np

from elbowroom import Explainer, NoRegion, Region, Status
from elbowroom.present.checking import ROUNDING
from elbowroom.problem import Body, Shape
from elbowroom.problem.target import Target
from elbowroom.result import Certificate
from elbowroom.result.schema import read_answer
from tests.fuzz.honest import Saved, saved, sealed, write_models
from tests.fuzz.kind import Outcome, accepted, failed, refused
from tests.fuzz.screens import random_screen, trouble_on_screen
from tests.support.documents import at, canonical, leaves, other_value, places, put, restructured, spoiled_bytes
from tests.support.hostile import attack
from tests.support.programs import Ran, run_in_terminal, run_program
from tests.support.regressors import attack_values

REAL: Final = 1 / 400  # of the tries run in a new interpreter and a real terminal
NOT_CHECKED: Final = re.compile(r"not checked|own|unproven|not proven", re.IGNORECASE)

# Claims that `check` cannot prove from a file and a model. Where one was changed, the screen must say in its list of what
# was not checked a word that leads a reader to it.
UNPROVABLE: Final = {
    r"seconds|certificate\.seconds|trace(\..*)?": r"time|seconds|trace|steps",
    r"method|certificate\.method|certificate\.assumptions(\..*)?": r"method|assum|how",
    r"source": r"source|model read|read as|libraries|versions",
    r"lower_bound|status": r"closer|lower bound|nearer|closest",
    r"factual\..*": r"row|factual|applicant",
    r"space\.features\.\d+\.(unit|name)": r"unit|name",
    r"space\.groups\.\d+\.name": r"name",
    r"space\..*": r"limits|scales|weights|question|asked",
    r"room(\..*)?|rules(\..*)?": r"question|asked|rules",
    r"(certificate\.)?target\..*": r"target",
    r"distance_norm": r"distance|norm",
    r"origin\..*": r"seed|versions|time limit|how it was|origin|came about",
    r"schema": r"rules",
    r"reason": r"reason",
}


class RegionFiles:
    name = "region files"

    def prepare(self, folder: Path) -> None:
        self.folder = folder
        self.models = write_models(folder)
        self.loaded = {name: joblib.load(path) for name, path in self.models.items()}
        self.saved = saved()

    def attempt(self, rng: random.Random) -> Outcome:
        one = rng.choice(self.saved)
        match rng.choices(("bytes", "structure", "forgery"), (1, 2, 4))[0]:
            case "bytes":
                data, how = spoiled_bytes(json.dumps(one.document, indent=1).encode(), rng)
                return self._check(one, data, f"{one.name}: {how}", rng, forged=None)
            case "structure":
                document, how = restructured(one.document, rng)
                return self._check(one, written(document, rng), f"{one.name}: {how}", rng, forged=None)
            case _:
                document, path = forgery(one.document, rng)
                story = f"{one.name}: forged {path} = {_short(document, path)}"
                return self._check(one, written(document, rng), story, rng, forged=path)

    def _check(self, one: Saved, data: bytes, story: str, rng: random.Random, forged: str | None) -> Outcome:
        file = self.folder / "region.json"
        file.write_bytes(data)
        screen = random_screen(rng)
        words = ["check", file, self.models[one.model], "--trust-pickle"]
        words += rng.choice(([], [], [], ["--any-model"], ["--json"]))
        real = rng.random() < REAL
        ran = run_in_terminal(words) if real else run_program(words, **screen)  # type: ignore[arg-type]
        trouble = trouble_on_screen(ran, real or bool(screen["terminal"]))
        if trouble is not None:
            return failed(story, trouble)
        if ran.code != 0:
            return refused(story)
        if _means_the_same(data, one.document):
            return accepted(story)
        if forged is None:
            return failed(story, "silent acceptance: exit code 0 for a file that was changed")
        return self._believed(one, file, ran, forged, story)

    def _believed(self, one: Saved, file: Path, ran: Ran, forged: str, story: str) -> Outcome:
        """Exit code 0 for a forged file: every point of its set must be good, and the forgery named as not checked."""
        answer = read_answer(file)
        listed = "\n".join(line for line in ran.out.splitlines() if NOT_CHECKED.search(line))
        if isinstance(answer, NoRegion):
            return self._believed_none(one, answer, listed, forged, story)
        region = answer
        if not isinstance(one.answer, Region):
            return failed(story, "silent acceptance: exit code 0 for a region that was none")
        if region.target.probability is None or region.target.probability > 0.5:
            try:
                self._attack(one, region)
            except AssertionError as error:
                return failed(story, f"false region called valid: {error}")
        if forged == "certificate.margin" and (
            region.certificate.margin <= one.answer.certificate.margin * (1.0 + ROUNDING)
        ):
            return accepted(
                story
            )  # it claims no more than was proven, up to the rounding that another machine may have
        if forged == "certificate.fingerprint" and "this is a different model" in ran.out:
            return accepted(story)  # said, and asked for with --any-model
        if forged == "distance" and math.isclose(region.distance, one.answer.distance, rel_tol=1e-12):
            return accepted(story)  # measured again, up to the rounding that another machine may have
        return _named(forged, listed, story)

    def _attack(self, one: Saved, region: Region) -> None:
        predict = Explainer(self.loaded[one.model], region.space).predict
        if region.target.values is None:
            attack(predict, region.body, region.target.label)
        else:
            attack_values(predict, region.body, region.target)

    def _believed_none(self, one: Saved, answer: NoRegion, listed: str, forged: str, story: str) -> Outcome:
        """Exit code 0 for a file without a region: a few claims need no search, and one must find nothing."""
        explainer = Explainer(self.loaded[one.model], answer.space)
        again = explainer.explain(
            answer.factual_values, answer.room, target=answer.target, distance=answer.metric, rules=answer.rules,
            time_limit=10.0,
        )  # fmt: skip
        if again.status is not Status.NONE_EXISTS or answer.status is not Status.NONE_EXISTS:
            return failed(
                story, f"false claim called valid: {answer.status.name}, and a search says {again.status.name}"
            )
        return _named(forged, listed, story)


def _named(forged: str, listed: str, story: str) -> Outcome:
    for pattern, words in UNPROVABLE.items():
        if re.fullmatch(pattern, forged) and re.search(words, listed, re.IGNORECASE):
            return accepted(story)
    return failed(story, f"silent acceptance: exit code 0, and {forged} is not named as unchecked")


# ---- forgeries -------------------------------------------------------------------------------------------------------
def forgery(document: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], str]:
    """A copy with one claim changed, seal and checksum computed anew, and where the change is."""
    made = copy.deepcopy(document)
    if rng.random() < 0.15:
        return rearranged(made, rng)
    path = _some_claim(made, rng)
    choices = _alternatives(made, path)
    before = canonical(made)
    for _ in range(20):
        value = rng.choice(choices) if choices and rng.random() < 0.7 else other_value(at(made, path), rng)
        put(made, path, value)
        if path[0] == "target" and "certificate" in made:
            made["certificate"]["target"] = copy.deepcopy(made["target"])
        if canonical(made) != before:
            break
    return resealed(made), ".".join(map(str, path))


def rearranged(made: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], str]:
    """Two entries of a list exchanged, one missing, one twice."""
    path = rng.choice(
        [p for p in places(made) if isinstance(at(made, p), list) and len(at(made, p)) > 1] or [("trace",)]
    )
    entries = at(made, path)
    before = canonical(made)
    for _ in range(20):
        match rng.randrange(3) if entries else 3:
            case 0:
                i, j = rng.randrange(len(entries)), rng.randrange(len(entries))
                entries[i], entries[j] = entries[j], entries[i]
            case 1 if len(entries) > 1:
                entries.pop(rng.randrange(len(entries)))
            case 2:
                entries.append(copy.deepcopy(rng.choice(entries)))
        if canonical(made) != before:
            break
    return resealed(made), ".".join(map(str, (*path, 0)))


def _some_claim(document: dict[str, Any], rng: random.Random) -> tuple[Any, ...]:
    """Any claim with the same chance, however many entries of a list make the same one."""
    alike: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for path in leaves(document):
        if path[-1] not in ("seal", "checksum", "format"):
            alike.setdefault(tuple("*" if isinstance(key, int) else key for key in path), []).append(path)
    return rng.choice(alike[rng.choice(sorted(alike))])


def _alternatives(document: dict[str, Any], path: tuple[Any, ...]) -> list[Any]:
    """What a forger who knows the format would write there."""
    distance = document.get("distance", 1.0)
    match path:
        case ("status",):
            return ["OPTIMAL", "CERTIFIED", "NONE_EXISTS", "UNKNOWN"]
        case ("kind",):
            return ["region", "no region"]
        case ("lower_bound",):
            return [0.0, 5 * distance, -1e308, 0.9999 * distance, distance, -1.0, "inf"]
        case ("certificate", "margin"):
            return [1e9, 1e-300, "inf", 0.0, 0.001, 5.0]
        case ("certificate", "fingerprint") | ("origin", "fingerprint"):
            return ["0" * 64, "\x1b[8m\x1b[2J\x1b[H" + "0" * 52, "F" * 64]
        case ("predicted", *_) | ("target", *_) if path[-1] == "value":
            return ["approved", "rejected", "maybe", 0, 1, 2, True, 300.0]
        case (*_, "at_least") | (*_, "at_most"):
            return [None, -1e308, 1e308, 1e300, 0.0, 200.0, 1000.0, "inf", True]
        case ("distance_norm",):
            return ["l1", "l2", "linf"]
        case (*_, "shape"):
            return ["box", "ball", "diamond"]
        case (*_, "kind"):
            return ["numeric", "integer", "binary"]
        case (*_, "direction"):
            return ["any", "increasing", "decreasing"]
        case ("schema",):
            return [1, 2, 3]
        case (*_, "name"):
            return ["income", "debt", "wealth"]
        case (*_, "unit"):
            return ["km, approved by the bank, and", None]
    return []


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    """Seal and checksum as the attacker computes them; a certificate that cannot even be built keeps its seal."""
    try:
        c = document["certificate"]
        body = c["body"]
        arrays = [
            np.array(list(map(float, body[key])), dtype=np.float64) for key in ("center", "lower", "upper", "axes")
        ]
        center, lower, upper, axes = arrays
        groups = tuple(np.array(members, dtype=np.int64) for members in body["free_groups"])
        made = Body(center, lower, upper, Shape(body["shape"]), axes, np.array(body["whole"], dtype=np.bool_), groups)
        wanted = c["target"]
        if "at_least" in wanted:
            target = Target(at_least=wanted["at_least"], at_most=wanted["at_most"])
        else:
            target = Target(wanted["label"]["value"], wanted["probability"])
        margin, said = float(c["margin"]), (c["method"], c["assumptions"])
        sealed_one = Certificate(c["fingerprint"], target, made, said[0], margin, 0.0, tuple(said[1]))
        c["seal"] = sealed_one.seal
    except Exception:  # whatever is wrong with it, the reader has to find out
        pass
    return sealed(document)


# ---- files -----------------------------------------------------------------------------------------------------------
def written(document: Any, rng: random.Random) -> bytes:
    """As JSON, in one of the ways in which it can be written; lone surrogates only fit as escapes."""
    ascii_only = rng.random() < 0.5
    text = json.dumps(document, ensure_ascii=ascii_only, indent=rng.choice((None, 1)))
    return text.encode("utf-8", "surrogatepass")


def _means_the_same(data: bytes, document: dict[str, Any]) -> bool:
    try:
        return canonical(json.loads(data.decode("utf-8-sig"))) == canonical(document)
    except (ValueError, RecursionError):
        return False


def _short(document: Any, path: str) -> str:
    try:
        return repr(at(document, tuple(int(key) if key.isdigit() else key for key in path.split("."))))[:60]
    except (KeyError, IndexError, TypeError):
        return "gone"
