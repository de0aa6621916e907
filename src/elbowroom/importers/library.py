"""Which libraries a model comes from, and their versions."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from contextlib import suppress

import numpy as np

from elbowroom.version import __version__


def versions_of(model: object) -> dict[str, str]:
    """Versions of elbowroom, Python, numpy, of what searches and judges compute with (scipy, numba, the solver highspy), and
    of every library that defines a class of the model or of a step of it.

    A library is the top-level package of such a class, if it is loaded and says its version.
    """
    steps = [step for _, step in getattr(model, "steps", ())]
    packages = {cls.__module__.partition(".")[0] for part in (model, *steps) for cls in type(part).__mro__}
    found = {"elbowroom": __version__, "python": platform.python_version(), "numpy": np.__version__}
    for package in ("scipy", "numba", "highspy"):
        with suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    for package in sorted(packages - found.keys()):
        version = getattr(sys.modules.get(package), "__version__", None)
        if isinstance(version, str):
            found[package] = version
    return found
