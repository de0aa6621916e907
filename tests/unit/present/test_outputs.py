"""Outputs that would cost the user something are refused before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from elbowroom import InputError
from elbowroom.present.outputs import Kind, Output, is_same, outputs
from tests.support.answers import make_no_region, make_region

unix = pytest.mark.skipif(os.name == "nt", reason="links of Unix")


def claim(
    folder: Path, output: str, inputs: tuple[str, ...] = (), kind: Kind = Kind.REGION, force: bool = False
) -> Output:
    given = {f"INPUT {name}": folder / name for name in inputs}
    return outputs({"--output": (folder / output, kind), "--html": (None, Kind.PAGE)}, given, force)["--output"]


@unix
def test_no_output_is_an_input_under_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "model").write_text("the model")
    (tmp_path / "soft").symlink_to("model")
    (tmp_path / "hard").hardlink_to("model")
    (tmp_path / "door").symlink_to(".")
    for name in ("model", "soft", "hard", "folder/../model", "./model", "door/model", "door/door/soft"):
        for force in (False, True):
            with pytest.raises(InputError, match="is the file given as INPUT model"):
                claim(tmp_path, name, ("model",), force=force)
        with pytest.raises(InputError, match="is the file given as INPUT model"):
            outputs({"--output": (Path(name), Kind.REGION)}, {"INPUT model": tmp_path / "model"}, True)
    assert (tmp_path / "model").read_text() == "the model"


@unix
def test_two_outputs_are_two_files(tmp_path: Path) -> None:
    (tmp_path / "door").symlink_to(".")
    (tmp_path / "dangling").symlink_to("answer")
    for other in ("answer", "door/answer", "./door/door/answer", "dangling", "Answer"):
        with pytest.raises(InputError, match="name the same file"):
            outputs({"--output": (tmp_path / "answer", Kind.REGION), "--html": (tmp_path / other, Kind.PAGE)}, {}, True)
    both = {"--output": (tmp_path / "answer", Kind.REGION), "--html": (tmp_path / "page", Kind.PAGE)}
    assert list(outputs(both, {}, False)) == ["--output", "--html"]
    assert not is_same(tmp_path / "a\0", tmp_path / "a\0")


def test_own_files_are_replaced_and_others_kept(tmp_path: Path) -> None:
    region, nothing = make_region(), make_no_region()
    written = {
        Kind.REGION: (region.to_json(), nothing.to_json(), "\ufeff" + region.to_json()),
        Kind.PAGE: (
            region.to_html(),
            nothing.to_html(),
            "<!DOCTYPE html>\n...\n<footer>Made by elbowroom 0.1.0.</footer>",
        ),
    }
    foreign = ("my notes", '{"format": "geojson"}', '{"a": "elbowroom"}', "<html>about elbowroom</html>", "\0" * 5000)
    for kind, texts in written.items():
        for text in texts:
            (tmp_path / "file").write_text(text, encoding="utf-8")
            claim(tmp_path, "file", kind=kind).write("new")
            assert (tmp_path / "file").read_text() == "new"
        for text in (*foreign, *(t for other, ts in written.items() if other is not kind for t in ts)):
            (tmp_path / "file").write_text(text, encoding="utf-8")
            with pytest.raises(
                InputError, match=r"exists and is not .*; choose another name, or replace it with --force"
            ):
                claim(tmp_path, "file", kind=kind)
            assert (tmp_path / "file").read_text(encoding="utf-8") == text
            claim(tmp_path, "file", kind=kind, force=True).write("new")
    (tmp_path / "file").write_text("")  # made for us, for example by mktemp
    claim(tmp_path, "file", kind=Kind.MODEL).write(b"new")
    with pytest.raises(InputError, match="--force"):
        claim(tmp_path, "file", kind=Kind.MODEL)


def test_it_is_asked_again_when_the_file_is_written(tmp_path: Path) -> None:
    output = claim(tmp_path, "file")
    (tmp_path / "file").write_text("somebody was faster")
    with pytest.raises(InputError, match="--force"):
        output.write("new")
    assert (tmp_path / "file").read_text() == "somebody was faster"


@pytest.mark.parametrize(("name", "words"), [("missing/file", "make it first"), (".", "a folder"), ("a\0b", "null")])
def test_places_that_are_none(name: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"--output: cannot write .*{words}"):
        claim(tmp_path, name)
