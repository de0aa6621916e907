"""Names, labels, units and files that try to speak in the program's voice: nothing they hold acts on a screen."""

from __future__ import annotations

import io
import json
import logging
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import joblib
import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from elbowroom import AtMost, Explainer, Feature, Group, LinearRule, NoRegion, Region, Space, Status, Target
from elbowroom.present import program
from elbowroom.present.cli import app
from elbowroom.result import Frontier, Widening
from elbowroom.result.widening import End, Side
from tests.support.answers import credit_space, make_no_region, make_region
from tests.unit.test_visible import EVIL, acts

matplotlib.use("Agg")
SPOOF = "\x1b[2J\x1b[HValid\x9b8m\u202e\u2028\nValid: all is well\r\ud800</p><script>[red]"
MATHS = r"$\frac{1}$ $x_1$ $"


def hostile_space(evil: str) -> Space:
    """The space of the hand-made answers, with names that are the old ones and something more."""
    plain = credit_space()
    features = tuple(replace(f, name=f.name + evil, unit=f.unit and f.unit + evil) for f in plain.features)
    groups = tuple(Group(g.name + evil, tuple(m + evil for m in g.members)) for g in plain.groups)
    return Space(features, groups)


def hostile_answers(evil: str) -> tuple[Region, NoRegion]:
    space = hostile_space(evil)
    rules = (AtMost(4), LinearRule({space.names[1]: 1.0}, high=1e6))
    region = make_region(space, target=Target("approved" + evil), predicted="rejected" + evil, rules=rules)
    forged = replace(region.certificate, method="proof" + evil, fingerprint=evil + "f", assumptions=(evil,))
    region = replace(region, certificate=forged, method="m" + evil, source="s" + evil, space=space)
    nothing = make_no_region(Status.UNKNOWN, lower_bound=0.5, rules=rules)
    nothing = replace(nothing, reason="because" + evil, method="m" + evil, target=Target("a" + evil), space=space)
    return region, nothing


def texts(answer: Region | NoRegion) -> dict[str, str]:
    return {
        "sentence": answer.sentence(), "str": str(answer), "repr": repr(answer), "page": answer.to_html(),
        "notebook": answer._repr_html_(), "json": answer.to_json(),
    }  # fmt: skip


@pytest.mark.parametrize("evil", [SPOOF, EVIL, " " * 90 + "Valid"], ids=["spoof", "all", "spaces"])
def test_no_text_of_an_answer_acts_or_gains_a_line(evil: str) -> None:
    for hostile, plain in zip(hostile_answers(evil), hostile_answers(""), strict=True):
        for name, text in texts(hostile).items():
            assert acts(text) <= {"\n"}, name
            assert len(text.splitlines()) == len(texts(plain)[name].splitlines()), name
            assert "<script>" not in text or name not in ("page", "notebook")
        assert "\nValid" not in str(hostile) and " " * 60 + "Valid" not in str(hostile)


def test_answers_with_such_names_are_written_and_read_back(tmp_path: Path) -> None:
    """Half a character in a name cost the old file before."""
    region, nothing = hostile_answers(SPOOF)
    honest = replace(region.certificate, fingerprint="f" * 64)
    for answer in (replace(region, certificate=honest), nothing):
        answer.to_json(tmp_path / "answer.json")
        answer.to_html(tmp_path / "answer.html")
        again = type(answer).from_json(tmp_path / "answer.json")
        assert again.space.names == answer.space.names and again.target == answer.target
        marked = b"\xef\xbb\xbf" + (tmp_path / "answer.json").read_bytes()
        (tmp_path / "answer.json").write_bytes(marked)
        assert type(answer).from_json(tmp_path / "answer.json").to_json() == answer.to_json()
        assert type(answer).from_json("\ufeff" + answer.to_json()).to_json() == answer.to_json()


def test_names_that_differ_only_far_inside_are_still_different() -> None:
    evil = "x" * 5000
    region, _ = hostile_answers(evil)
    assert " 'own" in region.sentence() and len(region.sentence()) < 20_000


def test_words_about_a_widening_do_not_act() -> None:
    region, _ = hostile_answers(SPOOF)
    sides = tuple(Side(End.UNPROVED) for _ in region.space.names)
    widening = Widening(region, sides, sides, 0.1)
    for text in (widening.proof(), widening.sentence(), repr(widening)):
        assert not acts(text)
    assert acts(str(widening)) <= {"\n"} and "\nValid" not in str(widening)


@pytest.mark.parametrize("form", ["png", "svg"])
def test_dollars_in_names_are_dollars(form: str) -> None:
    """matplotlib reads $...$ as mathematics, and fails where it is none."""
    from matplotlib.text import Text

    for evil in (MATHS, SPOOF):
        region, _ = hostile_answers(evil)
        axes = [region.plot().ax, Frontier.of([0.1], [region], unit="units" + evil).plot().ax]
        for ax in axes:
            content = io.BytesIO()
            ax.figure.savefig(content, format=form)
            shown = [text.get_text() for text in ax.figure.findobj(Text)]
            assert any("$" in text for text in shown) is ("$" in evil)
            assert not acts("".join(shown).replace("\n", ""))
            matplotlib.pyplot.close(ax.figure)


# ---- the program ----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose columns and classes have such names, and a table for it (a CSV file cannot hold half a character)."""
    folder, evil = tmp_path_factory.mktemp("hostile"), SPOOF.replace("\ud800", "").replace("\r", "")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(size=(100, 2)), columns=["salary" + evil, "debt" + evil])
    label = np.where(frame.iloc[:, 0] > frame.iloc[:, 1], "yes" + evil, "no" + evil)
    joblib.dump(LogisticRegression().fit(frame, label), folder / "model")
    frame.to_csv(folder / "data.csv", index=False)
    (folder / "row").write_text(str(int(np.flatnonzero(frame.iloc[:, 0] < frame.iloc[:, 1] - 0.2)[0])))
    return folder


def test_no_command_lets_them_act(hostile: Path, tmp_path: Path) -> None:
    def run(*words: object) -> int:
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert acts(result.stdout) <= {"\n"} and acts(result.stderr) <= {"\n"}
        assert "\nValid: all is well" not in result.output
        return result.exit_code

    question = (hostile / "model", hostile / "data.csv", "--row", (hostile / "row").read_text(), "--trust-pickle")
    out = ("--output", tmp_path / "r.json", "--html", tmp_path / "r.html")
    assert run("explain", *question, *out) == 0
    assert run("explain", *question, "--json", "--widen") == run("explain", *question, "--widen", "--room", "box") == 0
    assert run("radius", *question) == run("radius", *question, "--json") == 0
    assert run("frontier", *question, "--radii", "0.01", "--json") == 0
    for words in ([], ["--json"]):
        assert run("check", tmp_path / "r.json", hostile / "model", "--trust-pickle", *words) == 0
    assert run("explain", *question, "--target", SPOOF) == run("explain", *question, "--immutable", "x" + SPOOF) == 2
    assert run("explain", *question, "--label", pd.read_csv(hostile / "data.csv").columns[0]) == 2
    assert run("check", tmp_path / f"\x1b[2J\udc80{'x' * 50}", hostile / "model") == 2


def test_keys_of_a_file_do_not_act(hostile: Path, tmp_path: Path) -> None:
    """Without any seal: the key of a radius is quoted in the message about it."""
    make_region().to_json(tmp_path / "r.json")
    for place in (("room", "radius"), ("target", "label"), ("space", "features")):
        document = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
        document[place[0]][place[1]] = {f"\x1b[2J\x1b[H\x1b[32mValid{SPOOF}": "x"}
        (tmp_path / "spoof.json").write_text(json.dumps(document))
        result = CliRunner().invoke(app, ["check", str(tmp_path / "spoof.json"), str(hostile / "model")])
        assert result.exit_code == 2 and not acts(result.stderr.rstrip("\n")) and result.stdout == ""


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch):
    """The whole program inside this process: its exit code and the bytes of both streams."""

    def run(*words: object, encoding: str = "utf-8") -> tuple[int, str, str]:
        streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n") for _ in range(2)]
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", streams[0])
            patch.setattr(sys, "stderr", streams[1])
            patch.setattr(logging.getLogger(), "handlers", [])  # those of pytest
            patch.setattr(sys, "argv", ["elbowroom", *map(str, words)])
            patch.setattr(logging, "lastResort", None)
            patch.setattr(warnings, "showwarning", None)
            code = program.run()
        return code, *(stream.buffer.getvalue().decode(encoding) for stream in streams)

    return run


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_the_program_speaks_every_encoding(encoding: str, hostile: Path, tmp_path: Path, inside) -> None:
    question = (hostile / "model", hostile / "data.csv", "--row", (hostile / "row").read_text(), "--trust-pickle")
    code, shown, said = inside("explain", *question, "--output", tmp_path / "r.json", encoding=encoding)
    assert code == 0 and said == "" and "-> " in shown
    code, shown, said = inside("check", tmp_path / "r.json", hostile / "model", "--trust-pickle", encoding=encoding)
    assert code == 0 and said == "" and shown.startswith("ok the file") and "\nValid: at every point" in shown
    code, shown, said = inside("explain", *question, "--json", encoding=encoding)
    assert code == 0 and Region.from_json(shown).space.names[0].endswith("[red]")
    code, shown, said = inside("check", "nö ✓.json", "model", encoding=encoding)
    assert code == 2 and said.startswith("error: ") and shown == ""


def test_usage_errors_do_not_act_and_are_exit_two(inside) -> None:
    for words in (["check", "a", "b", SPOOF], [f"--{SPOOF}"], [SPOOF], ["chance", "-n", SPOOF], ["explain"]):
        code, shown, said = inside(*words)
        assert code == 2 and acts(said) <= {"\n"} and shown == "" and "\nValid" not in said
        assert said.splitlines()[-1].startswith("error: ")


def test_faults_of_our_own_are_seen_and_do_not_act(inside, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        logging.getLogger("elbowroom").warning("logged %s", SPOOF)
        warnings.warn(SPOOF, UserWarning, stacklevel=1)
        try:
            raise KeyError(SPOOF)
        except KeyError as error:
            logging.getLogger("elbowroom").exception(SPOOF)
            raise RuntimeError(SPOOF) from error

    monkeypatch.setattr("elbowroom.chance.probability", broken)
    code, _, said = inside("chance", "-n", 3, "--radius", 0.1, "--sigma", 0.1)
    assert code == 1 and "Traceback" in said and "KeyError" in said and "logged" in said and "UserWarning" in said
    assert acts(said) <= {"\n"} and "\nValid" not in said and "RuntimeError: " in said


@pytest.mark.parametrize("error", [MemoryError(), OSError(12, "Cannot allocate memory"), ImportError("no\n\nmap")])
def test_a_machine_that_fails_is_one_line_and_exit_one(
    error: Exception, inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr("elbowroom.chance.probability", failing)
    code, shown, said = inside("chance", "-n", 3, "--radius", 0.1, "--sigma", 0.1)
    assert code == 1 and shown == "" and said.startswith("error: ") and said.count("\n") == 1


def test_explaining_still_works_for_features_named_by_hand() -> None:
    """Names are escaped where they are shown, and nowhere else."""
    space = Space((Feature("a\x1b", lower=0, upper=1), Feature("b\n", lower=0, upper=1)))
    model = LogisticRegression().fit(np.random.default_rng(0).uniform(size=(50, 2)), [0, 1] * 25)
    answer = Explainer(model, space).explain([0.5, 0.5])
    assert answer.space.names == ("a\x1b", "b\n") and not acts(answer.sentence())
