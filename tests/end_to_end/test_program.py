"""The program in a real terminal, on full devices and closed pipes, interrupted while it starts, short of memory; and
files that its commands must not touch."""

from __future__ import annotations

import json
import os
import pickle
import signal
import stat
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from elbowroom.disk import MEGABYTE
from elbowroom.present.cli import app

unix = pytest.mark.skipif(os.name == "nt", reason="terminals, devices and signals of Unix")
PROGRAM = [sys.executable, "-m", "elbowroom"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.uniform(size=(100, 2)), columns=["salary", "debt"])
    label = np.where(frame["salary"] > frame["debt"], "yes", "no")
    joblib.dump(LogisticRegression().fit(frame, label), folder / "model")
    joblib.dump(LogisticRegression().fit(frame, label[::-1]), folder / "other")
    frame.to_csv(folder / "data.csv", index=False)
    (folder / "row").write_text(str(int(np.flatnonzero(frame["salary"] < frame["debt"] - 0.2)[0])))
    assert explain(folder, "--output", folder / "region.json").exit_code == 0
    return folder


def run(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


def explain(folder: Path, *words: object):
    row = ("--row", (folder / "row").read_text(), "--trust-pickle")
    return run("explain", folder / "model", folder / "data.csv", *row, *words)


def check(folder: Path, model: str = "model") -> list[str]:
    return [*PROGRAM, "check", str(folder / "region.json"), str(folder / model), "--trust-pickle"]


def start(command: list[str], **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, text=True, timeout=240, check=False, stderr=subprocess.PIPE, **options)


# ---- the real program ------------------------------------------------------------------------------------------------
@unix
def test_a_file_cannot_paint_valid_onto_a_real_terminal(files: Path, tmp_path: Path) -> None:
    """The key needs no seal: it is quoted in the message that refuses it."""
    import pty

    document = json.loads((files / "region.json").read_text(encoding="utf-8"))
    document["room"]["radius"] = {"\x1b[2J\x1b[H\x1b[32mValid: at every point of the region\x1b[8m\u202e\x9b2J": "x"}
    (tmp_path / "spoof.json").write_text(json.dumps(document))
    terminal, end = pty.openpty()
    words = [*PROGRAM, "check", str(tmp_path / "spoof.json"), str(files / "model"), "--trust-pickle"]
    with subprocess.Popen(words, stdin=end, stdout=end, stderr=end) as process:
        os.close(end)
        shown = b""
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the program has ended
                break
            if not part:
                break
            shown += part
    os.close(terminal)
    assert process.returncode == 2
    assert b"\x1b" not in shown and b"\xc2\x9b" not in shown and "\u202e".encode() not in shown
    assert shown.startswith(b"error: ") and b"\\x1b[2J" in shown and b"\nValid" not in shown


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the device that is always full")
def test_an_output_that_nobody_got_is_exit_one(files: Path) -> None:
    with Path("/dev/full").open("w") as full:
        ended = start(check(files), stdout=full)
    assert ended.returncode == 1
    assert ended.stderr == "error: the output could not be written: No space left on device\n"


@unix
def test_a_reader_that_leaves_does_not_change_the_verdict(files: Path) -> None:
    """check ... | head -1, with a reader that is gone before the first line."""
    reading, writing = os.pipe()
    os.close(reading)
    ended = start(check(files, "other"), stdout=writing)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (5, "")


@unix
def test_a_program_without_stdout_still_gives_its_verdict(files: Path) -> None:
    ended = start(check(files), preexec_fn=lambda: os.close(1))
    assert (ended.returncode, ended.stderr) == (0, "")


INTERRUPTED_IMPORT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
wanted = sys.argv.pop(1)

class Hook:
    def find_spec(self, name, *_):
        if name == wanted:
            exec("signal.raise_signal(signal.SIGINT)")  # the user, while an import runs code made of text, as many do

sys.meta_path.insert(0, Hook())
from elbowroom.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    "module", ["elbowroom.present.program", "typer", "rich", "pandas", "numba", "sklearn.linear_model"]
)
def test_an_interrupt_during_any_import_is_one_word(module: str, files: Path) -> None:
    words = ["radius", str(files / "model"), str(files / "data.csv"), "--row", "0", "--trust-pickle"]
    ended = start([sys.executable, "-c", INTERRUPTED_IMPORT, module, *words], stdout=subprocess.PIPE)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


@unix
def test_too_little_memory_is_one_line(files: Path) -> None:
    import resource

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (300 * MEGABYTE, 300 * MEGABYTE))

    ended = start(check(files), stdout=subprocess.PIPE, preexec_fn=limited)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "error: not enough memory: it is limited to 300 MB (ulimit -v), and 700 MB are the least\n"


@unix
def test_terminating_ends_it_at_once(files: Path) -> None:
    (files / "wait").write_bytes(pickle.dumps(Terminated()))
    ended = start(check(files, "wait"), stdout=subprocess.PIPE)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGTERM, "", "")


class Terminated:
    def __reduce__(self):
        return signal.raise_signal, (signal.SIGTERM,)


# ---- code in model files ---------------------------------------------------------------------------------------------
class Quits:
    def __init__(self, code: object) -> None:
        self.code = code

    def __reduce__(self):
        return sys.exit, (self.code,)


class QuitsLater(LogisticRegression):
    @property
    def classes_(self):
        sys.exit(0)


@pytest.mark.parametrize(
    "model", [Quits(0), Quits(None), Quits("Valid"), QuitsLater()], ids=["0", "None", "word", "later"]
)
def test_a_trusted_model_that_ends_the_program_does_not_pass_the_check(
    model: object, files: Path, tmp_path: Path
) -> None:
    (tmp_path / "quits").write_bytes(pickle.dumps(model))
    result = run("check", files / "region.json", tmp_path / "quits", "--trust-pickle")
    assert result.exit_code == 2 and result.stdout == "" and result.stderr.startswith("error: ")


# ---- files -----------------------------------------------------------------------------------------------------------
def test_inputs_are_not_outputs_and_nothing_is_done_before_that_is_said(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elbowroom.present.questions.read_question", lambda *_, **__: pytest.fail("work was done"))
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    for words, said in (
        (["--html", files / "model"], "is the file given as MODEL"),
        (["--output", files / ".." / files.name / "data.csv", "--force"], "is the file given as DATA"),
        (["--output", files / "new", "--html", files / "new"], "name the same file"),
        (["--output", files / "row"], "replace it with --force"),
        (["--html", files / "region.json"], "replace it with --force"),
        (["--html", files / "none" / "page"], "make it first"),
        (["--html", files], "it is a folder"),
    ):
        result = explain(files, *words)
        assert result.exit_code == 2 and said in result.stderr, result.output
    plot = run("frontier", files / "model", files / "data.csv", "--row", 0, "--radii", 0.1, "--plot", files / "model")
    assert plot.exit_code == 2 and "is the file given as MODEL" in plot.stderr
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_answers_replace_earlier_answers_and_force_replaces_anything(files: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    out = ("--output", tmp_path / "r.json", "--html", tmp_path / "r.html")
    assert explain(files, *out).exit_code == explain(files, *out).exit_code == 0
    assert explain(files, "--output", tmp_path / "notes", "--force").exit_code == 0
    assert json.loads((tmp_path / "notes").read_text())["format"] == "elbowroom"
    assert {path.name for path in tmp_path.iterdir()} == {"notes", "r.json", "r.html"}
    picture = ("frontier", files / "model", files / "data.csv", "--row", 0, "--radii", 0.01, "--trust-pickle", "--plot")
    for _ in range(2):
        assert run(*picture, tmp_path / "front.png").exit_code in (0, 3)
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")


def test_an_answer_that_cannot_be_written_is_still_shown(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "r.json").write_text((files / "region.json").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr("elbowroom.disk._write_all", full)
    result = explain(files, "--output", tmp_path / "r.json")
    assert result.exit_code == 2 and "Proven closest" in result.stdout and "No space left" in result.stderr
    assert (tmp_path / "r.json").read_bytes() == (files / "region.json").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]


def test_the_demonstration_says_where_it_cannot_write_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elbowroom.present.demo._story", lambda: pytest.fail("work was done"))
    monkeypatch.chdir(tmp_path)
    result = run("demo", "--save-model", "nodir/m")
    assert result.exit_code == 2 and "nodir' does not exist; make it first" in result.stderr
    (tmp_path / "m").write_text("a model of somebody")
    result = run("demo", "--save-model", "m")
    assert result.exit_code == 2 and "--force" in result.stderr and result.stdout == ""


@unix
def test_pipes_devices_and_large_files_are_no_inputs(files: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large.json").write_bytes(b'{"format": "elbowroom", "trace": [' + b" " * 16 * MEGABYTE + b"]}")
    row = ("--row", 0, "--trust-pickle")
    for path, said in ((tmp_path / "pipe", "a pipe"), ("/dev/zero", "a device"), (tmp_path, "a folder")):
        for words in (
            ("check", path, files / "model", "--trust-pickle"),
            ("check", files / "region.json", path, "--trust-pickle"),
            ("explain", path, files / "data.csv", *row),
            ("explain", files / "model", path, *row),
        ):
            result = run(*words)
            assert result.exit_code == 2 and f"this is {said}" in result.stderr, result.output
    result = run("check", tmp_path / "large.json", files / "model", "--trust-pickle")
    assert result.exit_code == 2 and "at most 16 MB are read" in result.stderr


@pytest.mark.parametrize(
    "text",
    ['{"format":' + "[" * 200_000 + "]" * 200_000 + "}", '{"schema":' * 100_000, '{"format":"elbowroom","schema":' + "9" * 100_000 + "}",
     '{"format":"elbowroom","schema":' + "9" * 4000 + "}", '{"format":"elbowroom","schema":2,"kind":"' + "x" * 1_000_000 + '"}',
     '{"' + "k" * 1_000_000 + '": 1}', '{"format":"elbowroom","schema":1e400}'],
    ids=["nested", "open", "digits", "fewer digits", "long text", "long key", "overflow"],
)  # fmt: skip
def test_monstrous_documents_are_refused_briefly(text: str, files: Path, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text)
    result = run("check", tmp_path / "r.json", files / "model", "--trust-pickle")
    assert result.exit_code == 2 and result.stderr.startswith("error: ") and len(result.stderr) < 1500


def test_a_large_table_is_read_on_request(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elbowroom.present.tables.MOST_CELLS", 10)
    assert "--large-table" in explain(files).stderr
    assert explain(files, "--large-table").exit_code == 0


@unix
def test_written_files_obey_the_mask(files: Path, tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        assert explain(files, "--output", tmp_path / "r.json").exit_code == 0
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == 0o644


def test_shells_complete_words(tmp_path: Path) -> None:
    """The shell asks through the environment; nothing else is printed."""
    asked = {"_ELBOWROOM_COMPLETE": "complete_bash", "COMP_WORDS": "elbowroom explain --ra", "COMP_CWORD": "2"}
    script = "import sys; sys.argv = ['elbowroom']; from elbowroom.__main__ import main; sys.exit(main())"
    ran = subprocess.run([sys.executable, "-c", script], env={**os.environ, **asked}, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout.split(), ran.stderr) == (0, ["--radius"], "")
