"""Who may write where compiled code is read from: a folder of strangers is refused with the cure, and the answer comes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from elbowroom.kernels import folder as folders
from elbowroom.kernels.folder import EVERYONE, SharedFolderError, Writer, refuse_if_shared, strangers, writers
from tests.support.kept import ANSWER, Kept, Process

ME, OTHER, TEAM = 1000, 1001, 2000
bits = pytest.mark.skipif(os.name == "nt", reason="Windows has no such bits")

is_own_group = folders._is_own_group


@pytest.fixture(autouse=True)
def _no_group_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """On many systems folders belong to a group of their owner alone, and the bits of the group say nothing."""
    monkeypatch.setattr(folders, "_is_own_group", lambda number: False)


def _state(mode: int, user: int = ME, group: int = TEAM) -> os.stat_result:
    return os.stat_result((stat.S_IFDIR | mode, 1, 1, 1, user, group, 0, 0, 0, 0))


@bits
@pytest.mark.parametrize(
    ("state", "program", "found"),
    [
        (_state(0o700), set(), set()),
        (_state(0o755), set(), set()),
        (_state(0o755, user=0), set(), set()),  # installed by root
        (_state(0o755, user=OTHER), set(), {("user", OTHER)}),
        (_state(0o775), set(), {("group", TEAM)}),
        (_state(0o777), set(), {("group", TEAM), EVERYONE}),
        (_state(0o1777, user=0), set(), {("group", TEAM), EVERYONE}),  # strangers can add files to it
        (_state(0o755, user=OTHER), {("user", OTHER)}, set()),  # who owns the sources can run anything anyway
        (_state(0o775), {("group", TEAM)}, set()),  # an environment that a team shares
        (_state(0o777), {("group", TEAM)}, {EVERYONE}),
        (_state(0o777), {EVERYONE}, set()),  # file systems without such bits show all of them, for sources too
    ],
)
def test_strangers_are_those_who_cannot_change_the_program(
    monkeypatch: pytest.MonkeyPatch, state: os.stat_result, program: set[Writer], found: set[Writer]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: ME)
    assert strangers(writers(state), frozenset(program)) == found


@bits
def test_a_sticky_folder_may_hold_a_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: ME)
    assert strangers(writers(_state(0o1777, user=0), holds=True), frozenset()) == set()
    assert strangers(writers(_state(0o1777, user=OTHER), holds=True), frozenset()) == {("user", OTHER)}
    assert strangers(writers(_state(0o777, user=0), holds=True), frozenset()) >= {EVERYONE}


@bits
def test_the_group_of_one_user_is_that_user(monkeypatch: pytest.MonkeyPatch) -> None:
    import grp
    import pwd

    monkeypatch.setattr(os, "geteuid", lambda: ME)
    monkeypatch.setattr(pwd, "getpwuid", lambda _: pwd.struct_passwd(("ada", "", ME, TEAM, "", "", "")))
    for number, name, members, own in (
        (TEAM, "ada", [], True),
        (TEAM, "ada", ["ada"], True),
        (TEAM, "ada", ["ada", "bob"], False),
        (TEAM, "team", [], False),
        (0, "ada", [], False),
    ):
        monkeypatch.setattr(grp, "getgrgid", lambda _, n=name, m=members, i=number: grp.struct_group((n, "", i, m)))
        is_own_group.cache_clear()
        assert is_own_group(number) is own
    is_own_group.cache_clear()


@bits
@pytest.mark.parametrize("mode", [0o775, 0o777, 0o1777, 0o2770])
def test_the_refusal_names_the_folder_and_the_cure(tmp_path: Path, mode: int) -> None:
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(mode)
    with pytest.raises(SharedFolderError, match=r"can be changed by others.*chmod go-w .*open, or set NUMBA_CACHE_DIR"):
        refuse_if_shared(place, frozenset())
    place.chmod(0o755)
    refuse_if_shared(place, frozenset())


@bits
@pytest.mark.parametrize("mode", [0o775, 0o777])
@pytest.mark.parametrize("inner", [True, False], ids=["the folder of the kernels", "the folder that holds it"])
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path, mode: int, inner: bool, elsewhere: Path) -> None:
    """Neither read nor written: the next place serves, with one line."""
    kept = Kept(tmp_path / "kept")
    kept.process()
    index = kept.only(".nbi")
    place = index.parent if inner else kept.folder
    place.chmod(mode)
    index.write_bytes(b"planted")
    first = kept.process()
    assert first.answer == ANSWER and not first.loaded
    assert len(first.lines) == 1 and f"chmod go-w {place}" in first.lines[0]
    assert index.read_bytes() == b"planted" and list(elsewhere.rglob("*.nbi"))
    second = kept.process()
    assert (second.answer, second.loaded, second.lines) == (ANSWER, True, first.lines)
    place.chmod(0o755)
    assert kept.process().answer == ANSWER
    assert kept.process() == Process(ANSWER, True, [])


@bits
def test_with_no_other_place_kernels_are_compiled_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: Path
) -> None:
    elsewhere.write_text("in the way")
    kept = Kept(tmp_path / "kept")
    kept.folder.mkdir()
    kept.folder.chmod(0o777)
    for _ in range(2):
        found = kept.process()
        assert (found.answer, found.loaded, len(found.lines)) == (ANSWER, False, 1)
        assert "NUMBA_CACHE_DIR" in found.lines[0]
    assert kept.files(".nb[ic]") == []


@bits
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_folders_and_files_of_another_user_are_not_read(tmp_path: Path, elsewhere: Path) -> None:
    kept = Kept(tmp_path / "kept")
    kept.process()
    index = kept.only(".nbi")
    os.chown(index, 54321, -1)
    found = kept.process()
    assert (found.answer, found.loaded, len(found.lines)) == (ANSWER, False, 1) and "damaged" in found.lines[0]
    os.chown(index.parent, 54321, -1)
    found = kept.process()
    assert (found.answer, found.loaded, len(found.lines)) == (ANSWER, False, 1)
    assert "belongs to another user" in found.lines[0] and "chmod" not in found.lines[0]


@bits
def test_new_folders_and_files_are_not_for_others_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        kept = Kept(tmp_path / "deep" / "kept")
        assert kept.process() == Process(ANSWER, False, [])
        made = [tmp_path / "deep", *(tmp_path / "deep").rglob("*")]
        assert len(made) >= 5 and not any(place.stat().st_mode & 0o022 for place in made)
        assert kept.process() == Process(ANSWER, True, [])
    finally:
        os.umask(before)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where numba looks next: the kernel's own ``__pycache__`` cannot be used, the user's cache folder is this one."""
    from tests.support import kept

    folder = tmp_path / "elsewhere"
    source = tmp_path / "source" / "kept.py"
    source.parent.mkdir()
    source.write_text(Path(kept.__file__).read_text())
    (source.parent / "__pycache__").write_text("in the way")
    code = kept.squares.__code__.replace(co_filename=str(source))
    monkeypatch.setattr(kept.squares, "__code__", code)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.setenv("HOME", str(folder))
    return folder
