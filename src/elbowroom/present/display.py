"""What all pictures share: data first, drawn later, on axes of one's own or on a new figure; as files that are the same to
the byte whenever the data are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from elbowroom.errors import InputError
from elbowroom.present.outputs import GENERATOR
from elbowroom.version import __version__

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can distinguish; the marks differ in shape as well
INTERVAL: Final = "#56B4E9"
CENTER: Final = "#0072B2"
FACTUAL: Final = "#D55E00"
TRACK: Final = "#E6E6E6"
INK: Final = "#222222"
QUIET: Final = "#666666"
PLAIN: Final[dict[str, Any]] = {"parse_math": False, "usetex": False}  # a dollar sign in a name is a dollar sign
FORMATS: Final = {"png": "Software", "svg": "Creator", "pdf": "Creator"}  # and the field that names who drew it
SAME: Final[dict[Any, Any]] = {
    "svg.hashsalt": GENERATOR,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}  # texts stay texts


class Display(ABC):
    """Base of all pictures."""

    ax: Axes | None

    @property
    @abstractmethod
    def size(self) -> tuple[float, float]:
        """Of a figure of its own, in inches."""

    @abstractmethod
    def _draw(self, ax: Axes) -> None: ...

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw with matplotlib.

        Args:
            ax: On these axes; None: on a new figure.

        Returns:
            The display itself; its ``ax`` are the axes drawn on, its ``figure`` the figure.
        """
        self.ax = self._axes(ax)
        self._draw(self.ax)
        return self

    @property
    def figure(self) -> Figure:
        """Of the last axes drawn on; drawn on a new one if there are none: ``display.figure.savefig("answer.svg")``."""
        from matplotlib.figure import Figure

        if self.ax is None:
            self.plot()
        assert self.ax is not None
        figure = self.ax.get_figure(root=True) if isinstance(self.ax.figure, Figure) else self.ax.figure
        assert isinstance(figure, Figure)
        return figure

    def picture(self, form: str = "svg") -> bytes:
        """The content of a file: the same bytes for the same data, texts as texts.

        Args:
            form: "svg", "png" or "pdf".

        Returns:
            To be written as it is.
        """
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        if form not in FORMATS:
            raise InputError(f"form={form!r}: give one of {list(FORMATS)}")
        content, dated = BytesIO(), {} if form == "png" else {"CreationDate" if form == "pdf" else "Date": None}
        with mpl.rc_context(SAME):
            figure = Figure(figsize=self.size, layout="constrained")
            FigureCanvasAgg(figure)
            self._draw(figure.add_subplot())
            metadata = {FORMATS[form]: f"{GENERATOR} {__version__}", **dated}
            figure.savefig(content, format=form, dpi=150, metadata=metadata)
        return content.getvalue()

    def _repr_png_(self) -> bytes | None:
        """What a notebook shows of a display that was not drawn; one that was is shown as a figure already."""
        return self.picture("png") if self.ax is None else None

    def _axes(self, ax: Axes | None) -> Axes:
        from matplotlib.axes import Axes

        if ax is None:
            import matplotlib.pyplot as plt

            return plt.subplots(figsize=self.size, layout="constrained")[1]
        if not isinstance(ax, Axes):
            raise InputError(f"ax={ax!r}: give the axes of a matplotlib figure, or leave it out for a new one")
        return ax


def picture_format(path: Path) -> str:
    """png, svg or pdf, by the end of the name."""
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise InputError(f"cannot draw into {str(path)!r}: use a name that ends in .png, .svg or .pdf")
    return form
