"""The walls of the house: lengths, layers, cycles between packages, public names.

Every check names its offenders. Those of today stand in a KNOWN set beside their check; the sets only ever shrink, and a
name that no longer offends must leave them.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import elbowroom

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MOST_LINES, MOST_FUNCTION_LINES = 400, 80
# Lines of code, without blank lines, comments and docstrings, of the program that a stranger reads; only ever fewer.
MOST_OF_CHECKER = 967

# Public names that docs/api.md does not mention.
KNOWN_UNDOCUMENTED = frozenset({"Breakpoint"})


def only_known(found: set[str] | set[frozenset[str]], known: frozenset[str] | frozenset[frozenset[str]]) -> None:
    assert not found - known, f"new offenders: {sorted(map(_named, found - known))}"
    assert not known - found, f"mended, so take them out of the KNOWN set: {sorted(map(_named, known - found))}"


def _named(offender: str | frozenset[str]) -> str:
    return offender if isinstance(offender, str) else " <-> ".join(sorted(offender))


@cache
def modules() -> dict[str, Path]:
    """All modules by their dotted names; a package stands for its ``__init__``."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


@cache
def contracts() -> list[dict[str, object]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found: list[dict[str, object]] = settings["tool"]["importlinter"]["contracts"]
    return found


# ---- lengths ---------------------------------------------------------------------------------------------------------
def words_in(node: ast.AST) -> int:
    """Lines of docstrings below a node, the headings of public names included: they are documentation, not code."""
    found = 0
    for each in ast.walk(node):
        if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(each):
            first = each.body[0]
            found += (first.end_lineno or first.lineno) - first.lineno
    return found


def test_no_file_is_longer_than_it_should_be() -> None:
    long = {
        m
        for m, path in modules().items()
        if len(path.read_text(encoding="utf-8").splitlines()) - words_in(tree_of(m)) > MOST_LINES
    }
    only_known(long, frozenset())


def test_no_function_is_longer_than_a_page() -> None:
    long = {
        f"{module}.{node.name}"
        for module in modules()
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 - words_in(node) > MOST_FUNCTION_LINES
    }
    only_known(long, frozenset())


def code_lines(module: str) -> int:
    """Lines that are neither blank, nor a comment, nor part of a docstring."""
    told = set[int]()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            told |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines = enumerate(modules()[module].read_text(encoding="utf-8").splitlines(), 1)
    return sum(1 for i, line in lines if line.strip() and not line.strip().startswith("#") and i not in told)


def test_the_checker_of_strangers_is_short() -> None:
    sizes = {m: code_lines(m) for m in modules() if m.split(".")[0] == "elbowroom_checker"}
    assert 0 < sum(sizes.values()) <= MOST_OF_CHECKER, sizes
    assert all(len(line) <= 132 for m in sizes for line in modules()[m].read_text(encoding="utf-8").splitlines())


# ---- layers ----------------------------------------------------------------------------------------------------------
def test_every_module_is_inside_a_layer() -> None:
    """The package itself is only the list of public names; everything else stands in a layer of the contract."""
    (layers,) = [contract["layers"] for contract in contracts() if contract["type"] == "layers"]
    assert isinstance(layers, list)
    rooms = {f"elbowroom.{name.strip(' ()')}" for layer in layers for name in re.split(r"[|:]", layer)}
    assert rooms <= set(modules()), f"layers without a module: {sorted(rooms - set(modules()))}"
    outside = {
        module
        for module in modules()
        if module.split(".")[0] == "elbowroom"
        and module != "elbowroom"
        and not any(module == room or module.startswith(room + ".") for room in rooms)
    }
    only_known(outside, frozenset())


# ---- cycles ----------------------------------------------------------------------------------------------------------
def imports_of(module: str) -> Iterator[str]:
    """Modules that a module imports: at its top, inside functions, and for types alone."""
    is_package = modules()[module].name == "__init__.py"
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules())
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = module.split(".")[: None if is_package and node.level == 1 else -node.level + is_package]
                base = ".".join([*parent, *filter(None, [node.module])])
            for alias in node.names:
                name = f"{base}.{alias.name}"
                if name in modules():
                    yield name
                elif base in modules():
                    yield base


@cache
def room_of(module: str) -> str:
    """The package of a module. A package that holds others is not one room: its own modules stand for themselves."""
    names, package = set(modules()), module.rpartition(".")[0]
    if modules()[module].name == "__init__.py":
        package = module
    folders = {m for m in names if modules()[m].name == "__init__.py"}
    holds_others = any(m != package and m.startswith(package + ".") for m in folders)
    return module if holds_others else package


def cycles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Groups of nodes that all reach each other."""

    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        pile = [start]
        while pile:
            for after in graph.get(pile.pop(), set()) - seen:
                seen.add(after)
                pile.append(after)
        return seen

    far = {node: reach(node) for node in graph}
    return {
        frozenset(other for other in far[node] if node in far.get(other, set())) for node in graph if node in far[node]
    }


def package_graph() -> dict[str, set[str]]:
    """Which room imports which, without the imports that the contract of the layers ignores by name."""
    ignored = {line for contract in contracts() for line in contract.get("ignore_imports", [])}  # type: ignore[attr-defined]
    graph: dict[str, set[str]] = {room_of(module): set() for module in modules()}
    for module in modules():
        if module == "elbowroom":
            continue  # the list of public names, each loaded on first use
        for target in imports_of(module):
            if f"{module} -> {target}" not in ignored and room_of(target) != room_of(module):
                graph[room_of(module)].add(room_of(target))
    return graph


def test_no_packages_need_each_other() -> None:
    only_known(cycles(package_graph()), frozenset())


def test_cycles_are_found_where_there_are_some() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {frozenset("bc")}
    assert cycles({"a": {"b"}, "b": {"c"}, "c": set()}) == set()
    graph = package_graph()
    assert "elbowroom.problem" in graph["elbowroom.certify"]  # the graph is not empty by mistake
    assert "elbowroom.search.contract" in graph["elbowroom.search.linear"]


# ---- doors ----------------------------------------------------------------------------------------------------------
# Where a terminal is written to. The last two write fixed words: one before anything can be imported, one on its own. The checker
# shares nothing with the rest and has doors of its own.
SCREEN = frozenset(
    {
        "elbowroom_checker.__main__",
        "elbowroom.present.screen",
        "elbowroom.present.sink",
        "elbowroom.__main__",
        "elbowroom.warm",
    }
)
# Where files are read and written. The compiler's cache of `kernels` is no output of a user.
DISK = frozenset({"elbowroom_checker.reading", "elbowroom.disk"})
PRINTING = frozenset({"print", "echo", "secho", "Console", "pprint", "rprint", "print_exc"})
FILE_CALLS = frozenset(
    {"open", "fdopen", "write_text", "write_bytes", "read_text", "read_bytes", "touch", "mkstemp", "NamedTemporaryFile"}
    | {"tofile", "to_pickle", "to_excel", "save", "savez", "savetxt", "unlink"}
)
INTO_BUFFERS = frozenset(
    {"savefig", "dump", "to_csv", "to_parquet"}
)  # allowed where the first or second argument is a buffer named content


def uses(module: str) -> Iterator[tuple[str, int]]:
    """Names that a module calls or reads from ``sys`` and ``os``, and top packages that it imports, with their lines."""
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            yield from ((f"import {alias.name.split('.')[0]}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield f"import {(node.module or '').split('.')[0]}", node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("sys", "os"):
            yield f"{node.value.id}.{node.attr}", node.lineno
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            buffered = any(isinstance(argument, ast.Name) and argument.id == "content" for argument in node.args)
            if not (name in INTO_BUFFERS and buffered):
                yield name, node.lineno


def offenders(forbidden: frozenset[str], allowed: frozenset[str], skipped: tuple[str, ...] = ()) -> set[str]:
    return {
        f"{module}:{line} {name}"
        for module in modules()
        if module not in allowed and not module.startswith(skipped or ("no module",))
        for name, line in uses(module)
        if name in forbidden
    }


def test_nothing_prints_around_the_screen() -> None:
    streams = {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "import rich", "import click"}
    only_known(offenders(PRINTING | streams, SCREEN), frozenset())


def test_nothing_writes_or_reads_files_around_the_disk() -> None:
    raw = {"os.write", "os.open", "os.replace", "os.rename", "os.fdopen", "import tempfile", "import shutil"}
    only_known(offenders(FILE_CALLS | INTO_BUFFERS | raw, DISK | SCREEN, ("elbowroom.kernels",)), frozenset())


def test_prints_and_files_are_found_where_there_are_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text(
        "import rich.console\nimport sys, os\nprint(1)\ntyper.echo(1)\nsys.stderr.write('x')\nPath('x').write_text('')\n"
        "open('x', 'w')\nfigure.savefig(path)\njoblib.dump(model, content)\nos.write(1, b'')\n"
    )
    monkeypatch.setitem(modules(), "bad", bad)
    found = {name for name, _ in uses("bad")}
    tree_of.cache_clear()
    assert {"import rich", "print", "echo", "sys.stderr", "write_text", "open", "savefig", "os.write"} <= found
    assert "dump" not in found


# ---- public names ----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def documented() -> set[str]:
    """Every name inside a code span of the page that lists the interface."""
    page = ROOT / "docs" / "api.md"
    if not page.exists():
        pytest.skip("the source archive holds no docs")
    text = page.read_text(encoding="utf-8")
    return {name for span in re.findall(r"`([^`]+)`", text) for name in re.findall(r"[A-Za-z_]\w*", span)}


def test_public_names_are_those_of_the_interface(documented: set[str]) -> None:
    public = set(elbowroom.__all__) - {"__version__"}
    only_known(public - documented, KNOWN_UNDOCUMENTED)
    types = {name for name in documented if re.fullmatch(r"(?:[A-Z][a-z]+)+", name)}
    assert types - public <= {"DataFrame", "None", "True", "False"}, "documented, but not public"


def test_importers_are_small() -> None:
    """One library, one idea, one file that is read in one sitting."""
    long = {
        p.name
        for p in (SOURCE / "elbowroom" / "importers").glob("*.py")
        if len(p.read_text(encoding="utf-8").splitlines()) > 250
    }
    assert not long, f"past 250 lines: {sorted(long)}"


def test_public_names_exist_and_nothing_else_is_offered() -> None:
    assert len(set(elbowroom.__all__)) == len(elbowroom.__all__)
    for name in elbowroom.__all__:
        assert getattr(elbowroom, name) is not None
    assert dir(elbowroom) == sorted(elbowroom.__all__)
    checked = next(node for node in tree_of("elbowroom").body if isinstance(node, ast.If))  # what type checkers see
    seen = {alias.name for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(elbowroom.__all__) - {"__version__"}
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = elbowroom.no_such_name
