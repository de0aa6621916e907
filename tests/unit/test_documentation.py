"""What the pages say is what happens: every Python block runs, every printed output is the one shown, every command has
the options that are used, every link leads somewhere."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from typer.main import get_command

import elbowroom
from elbowroom import Box, Explainer, Space
from elbowroom.present.cli import app
from elbowroom.present.space_file import with_space_file

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)")
pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="the source archive holds no docs")


def blocks(page: Path) -> list[tuple[str, str, int, int]]:
    """Language, text, where it begins and ends."""
    return [(m[1], m[2], m.start(), m.end()) for m in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def applicants() -> tuple[pd.DataFrame, RandomForestClassifier]:
    """The ``X`` and ``model`` that the pages take as given."""
    rows = [(20 + i % 45, i % 2, i % 4, 1000.0 + 37.0 * i, 500.0 + 11.0 * (i % 60)) for i in range(200)]
    X = pd.DataFrame(rows, columns=["age", "sex", "children", "salary", "debt"])
    return X, RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, X["salary"] - 3.0 * X["debt"] > 1500.0)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run_and_print_what_is_shown(page: Path, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    X, model = applicants()
    known: dict[str, Any] = {"X": X, "model": model}
    found = blocks(page)
    for (language, code, _, end), following in zip(found, [*found, None][1:], strict=True):
        if language != "python":
            continue
        capsys.readouterr()
        exec(compile(code, f"{page.name}: {code.splitlines()[0]}", "exec"), known)
        printed = capsys.readouterr().out
        if following is not None and following[0] == "" and following[2] == end:
            assert printed.rstrip() == following[1].rstrip()


class Parts:
    """A table in two parts that calls a function for each, as Ray Data and Spark do."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.parts = [frame.iloc[:2], frame.iloc[2:]]

    def map_batches(self, call: Any, batch_format: str) -> pd.DataFrame:
        assert batch_format == "pandas"
        return pd.concat(map(call, self.parts), ignore_index=True)

    def mapInPandas(self, call: Any, schema: str) -> pd.DataFrame:  # noqa: N802 (the name is Spark's)
        found = pd.concat(call(iter(self.parts)), ignore_index=True)
        assert re.findall(r"(?:^|, )`?([^`]+?)`? (?:string|double|bigint|boolean)", schema) == list(found.columns)
        return found


def test_blocks_for_clusters_do_what_they_say() -> None:
    """Run with threads, with Dask in this process, and with stand-ins that hand over parts as Ray and Spark do."""
    dask = pytest.importorskip("dask.dataframe", reason="pip install 'elbowroom[cluster]'")
    X, model = applicants()
    explainer, rejected = Explainer(model, X), X[~model.predict(X)].head(4)
    direct = explainer.explain_frame(rejected, room=Box(0.02)).reset_index(drop=True)
    cases = rejected.assign(case=list("abcd"))
    first, on_dask, on_ray, on_spark = (code for lang, code, *_ in blocks(ROOT / "docs" / "scaling.md") if lang == "py")
    known: dict[str, Any] = {"explainer": explainer, "rejected": rejected, "Box": Box}
    exec(first.replace('"dask"', '"threading"'), known)
    assert known["batch"].frame["distance"].tolist() == direct["distance"].tolist()
    exec(on_dask, known | {"table": dask.from_pandas(rejected, npartitions=2)}, done := {})
    assert done["answers"].compute(scheduler="sync")["distance"].tolist() == direct["distance"].tolist()
    for code in (on_ray, on_spark):
        known |= {"dataset": Parts(cases), "table": Parts(cases)}
        exec(code, known)
        assert known["answers"]["case"].tolist() == list("abcd")
        assert known["answers"]["distance"].tolist() == direct["distance"].tolist()


def test_the_space_file_of_the_guide_is_read(tmp_path: Path) -> None:
    (text,) = (code for lang, code, *_ in blocks(ROOT / "docs" / "guide.md") if lang == "toml")
    table = pd.DataFrame({"amount": [600.0, 9000.5, 15000.0], "city": ["a", "b", "a"]})
    (tmp_path / "space.toml").write_text(text, encoding="utf-8")
    feature = with_space_file(Space.from_frame(table), tmp_path / "space.toml").features[0]
    assert (feature.unit, feature.lower, feature.upper, feature.weight) == ("EUR", 500.0, 20000.0, 2.0)


def methods() -> list[tuple[str, str]]:
    """Every method of an `Explainer` with its arguments, as the page of the interface shows it."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8") if (ROOT / "docs").exists() else ""
    return re.findall(r"`\.(\w+)\((.*?)\)`", text)


@pytest.mark.parametrize(("name", "shown"), methods(), ids=[name for name, _ in methods()])
def test_arguments_and_defaults_are_those_of_the_interface(name: str, shown: str) -> None:
    call = ast.parse(f"f({shown})", mode="eval").body
    assert isinstance(call, ast.Call)
    _, *parameters = inspect.signature(getattr(Explainer, name)).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}
    for keyword in call.keywords:
        value = eval(ast.unparse(keyword.value), {"Box": Box})
        assert keyword.arg in defaults and defaults[keyword.arg] == value, keyword.arg
    required = [p.name for p in parameters if p.default is inspect.Parameter.empty]
    assert len(call.args) >= len(required)


def commands() -> list[str]:
    """Every line of a page that calls the program."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    spans = [line for block in BLOCK.findall(text) for line in block[1].splitlines()]
    spans += re.findall(r"`([^`\n]+)`", BLOCK.sub("", text))
    return sorted({span.strip() for span in spans if re.match(r"elbowroom [a-z]", span.strip())})


@pytest.mark.parametrize("line", commands())
def test_commands_have_the_options_that_are_shown(line: str) -> None:
    _, name, *words = shlex.split(line, comments=True)
    program: Any = get_command(app)
    assert name in program.commands, f"there is no command {name!r}"
    options = {
        option for parameter in program.commands[name].params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    used = {word.partition("=")[0] for word in words if word.startswith("--")}
    assert used <= options, f"unknown: {sorted(used - options)}"


def test_make_targets_that_are_shown_exist() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"`make ([a-z][a-z-]*)", text)) | set(
            re.findall(r"^make ([a-z][a-z-]*)", text, re.MULTILINE)
        )
        assert named <= targets, page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link, anchor in LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if "://" in link:
            continue  # python -m tools.links lists these, and tries them where there is a network
        target = page.parent / link if link else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{link}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The names under which the headings of a page are found, as the site makes them."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", heading) for heading in headings]
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in plain}


def test_every_page_is_in_the_contents() -> None:
    listed = set(re.findall(r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")}


def test_every_public_name_has_a_reference_entry() -> None:
    """The pages of the reference are made from the code; which names stand there is written down."""
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    entries = re.findall(r"^::: elbowroom\.(\w+)$", text, re.MULTILINE)
    assert sorted(entries) == sorted(set(elbowroom.__all__) - {"__version__"})
    for name in entries:
        assert (inspect.getdoc(getattr(elbowroom, name)) or "").strip(), f"{name} has no words of its own"
