"""Which folders compiled code may be read from: code is run, so nobody may write there who could not change the program
itself.

Let W(p) be the set of those who may write to p: its owner, its group if the group may write, everyone if everyone may. A
folder c serves a program whose source is the file s in the folder d if

    W(c) is contained in {this user, root} + W(s) + W(d).

So a folder of one's own serves, and one of root; in a checkout or an environment that a team shares, the folders beside
the sources serve as well, because the team could change the sources. A sticky folder (such as /tmp) does not let others
replace what is in it, but lets them add to it: it may hold a cache folder, but not be one.
"""

from __future__ import annotations

import os
import stat
from functools import lru_cache
from pathlib import Path
from typing import Final

Writer = tuple[str, int]
EVERYONE: Final[Writer] = ("everyone", 0)
_NOT_FOR_OTHERS: Final = 0o755


class SharedFolderError(OSError):
    """Others may write to the folder; the message says what to do."""


def sources(file: Path) -> frozenset[Writer]:
    """Who may change a program: its file, or the folder that holds it."""
    return writers(file.stat()) | writers(file.parent.stat(), holds=True)


def writers(state: os.stat_result, holds: bool = False) -> frozenset[Writer]:
    """Who may write to a file or folder. ``holds``: who may replace what is in the folder."""
    found = {("user", state.st_uid)}
    if not (holds and state.st_mode & stat.S_ISVTX):
        if state.st_mode & stat.S_IWGRP and not _is_own_group(state.st_gid):
            found.add(("group", state.st_gid))
        if state.st_mode & stat.S_IWOTH:
            found.add(EVERYONE)
    return frozenset(found)


def strangers(found: frozenset[Writer], program: frozenset[Writer]) -> frozenset[Writer]:
    """Those who may write, but can neither change the program nor have to be trusted anyway. Windows has no such bits."""
    if not hasattr(os, "geteuid") or EVERYONE in program:
        return frozenset()
    return found - program - {("user", os.geteuid()), ("user", 0)}


def refuse_if_shared(folder: Path, program: frozenset[Writer]) -> None:
    """Raise `SharedFolderError` if strangers may write to a folder, or put another one into its place."""
    for place, holds in ((folder, False), (folder.parent, True)):
        found = strangers(writers(place.stat(), holds), program)
        if found:
            owned = any(kind == "user" for kind, _ in found)
            who, cure = (
                ("belongs to another user", "") if owned else ("can be changed by others", f"chmod go-w {place}, or ")
            )
            raise SharedFolderError(
                f"{place} {who}, and compiled code from there would be run: {cure}set NUMBA_CACHE_DIR to a folder that only you can write to"
            )


def make(folder: Path) -> None:
    """Make a folder and those above it as far as they are missing; others may read, whatever the umask says."""
    if not folder.is_dir():
        make(folder.parent)
        folder.mkdir(mode=_NOT_FOR_OTHERS, exist_ok=True)


@lru_cache(maxsize=64)
def _is_own_group(number: int) -> bool:
    """Many systems give every user a group of the same name without other members. Group 0 is no such group: users of
    containers are in it without being listed."""
    try:
        import grp
        import pwd

        group, name = grp.getgrgid(number), pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError):
        return False
    return number != 0 and group.gr_name == name and set(group.gr_mem) <= {name}
