"""What can go wrong before a search starts. The outcome of a search is never an exception."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from elbowroom.visible import message


class ElbowroomError(Exception):
    """Root of everything this package raises on purpose. Messages quote what was given: names, values, keys of a file.
    As text, they are one line that is safe to show and not too long, whatever was quoted.

    Examples:
        >>> try:
        ...     explainer.explain(row.drop("debt"))
        ... except ElbowroomError as error:
        ...     print(error)
        row: missing columns ['debt'], unknown columns []; the model has ['salary', 'debt', 'age']
    """

    def __str__(self) -> str:
        return message(super().__str__())


class InputError(ElbowroomError, ValueError):
    """The question cannot be asked this way. The message names the place, the value and the cure.

    Examples:
        >>> Box(-1)
        Traceback (most recent call last):
        elbowroom.errors.InputError: Box radius = -1 must be a finite number of at least 0
    """


class UnsupportedModel(ElbowroomError, TypeError):  # noqa: N818 - the public name is frozen
    """The model is of a kind that cannot be read exactly. The message names the part and the reason.

    Examples:
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> read_model(KNeighborsClassifier().fit(X, model.predict(X)))
        Traceback (most recent call last):
        elbowroom.errors.UnsupportedModel: ...
    """


class ReplayMismatch(ElbowroomError, AssertionError):  # noqa: N818 - the public name is frozen
    """The parsed copy and the original model disagree about a point; nothing may be proven from such a copy.

    Examples:
        >>> issubclass(ReplayMismatch, ElbowroomError)
        True
    """


class SolverMissing(ElbowroomError, ImportError):  # noqa: N818 - the public name is frozen
    """An optional solver is not installed. The message gives the line that installs it.

    Examples:
        >>> issubclass(SolverMissing, ImportError)
        True
    """


class ElbowroomWarning(UserWarning):
    """Something that works and is seldom meant. The message names the columns and says what to declare instead.

    Examples:
        >>> import warnings
        >>> warnings.filterwarnings("ignore", category=ElbowroomWarning)
    """


def warn(text: str) -> None:
    """Warn, at the line of the caller outside of this package."""
    depth = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == "elbowroom":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(ElbowroomWarning(message(text)), stacklevel=depth)
