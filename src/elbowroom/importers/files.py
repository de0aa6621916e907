"""Model files of other libraries, recognised by their first bytes and never by name: one line per format.

All of these are read by bounds-checked readers that run nothing from the file. Pickles are not among them, and neither are
torch's .pt files: these are pickles in an archive, and what is left without running them is a heap of weights that says
nothing of how they are put together.
"""

from __future__ import annotations

import importlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from elbowroom.errors import InputError

_HEAD: Final = 4096  # bytes within which a format shows itself
_ONNX_VERSION: Final = b"\x08"  # the first field of an ONNX file is its version: a small number


def _xgboost(head: bytes) -> bool:
    return head[:1] == b"{" and b"learner" in head[:64]


def _catboost(head: bytes) -> bool:
    return head.startswith(b"CBM1") or (head[:1] == b"{" and not _xgboost(head) and _names_catboost(head))


def _names_catboost(head: bytes) -> bool:
    return any(key in head for key in (b'"features_info"', b'"oblivious_trees"', b'"model_info"', b'"scale_and_bias"'))


def _lightgbm(head: bytes) -> bool:
    return head.startswith((b"tree\n", b"tree\r\n"))


def _onnx(head: bytes) -> bool:
    return head[:1] == _ONNX_VERSION and head[1:2] != b"" and head[1] < 32


FORMATS: Final[tuple[tuple[Callable[[bytes], bool], str, str], ...]] = (
    (_xgboost, "xgboost_files", "XGBoostFile"),
    (_catboost, "catboost_file", "CatBoostFile"),
    (_lightgbm, "lightgbm_text", "LightGBMFile"),
    (_onnx, "onnx_file", "OnnxFile"),
)


def model_in(path: Path, data: bytes) -> Any | None:
    """The model in a file of a known format; None if the bytes are of none."""
    head = data[:_HEAD]
    for holds, module, name in FORMATS:
        if holds(head):
            made: Callable[[Path], Any] = getattr(importlib.import_module(f"elbowroom.importers.{module}"), name)
            return made(path)
    return _archived(path, data) if head.startswith(b"PK\x03\x04") else None


def _archived(path: Path, data: bytes) -> Any | None:
    """skops files are archives with a schema of plain parts; archives of torch are refused with the cure."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except MemoryError:
        raise
    except Exception:  # a damaged archive: bad names, versions, sizes
        return None
    if "schema.json" in names:
        return _skops(path, data)
    if any(name.endswith("/data.pkl") or name == "data.pkl" for name in names):
        raise InputError(
            f"{path}: this is a file of torch: a pickle, or weights that do not say how they are put together; export the "
            "network with torch.onnx.export(model.eval(), example, 'model.onnx') and give that file"
        )
    return None


# Parts of scikit-learn's own models that hold numbers and do nothing when they are made. skops does not trust those whose
# indices could lead predict out of its arrays: ours are followed by `TreeBuilder` first, which refuses such ones.
HARMLESS: Final = frozenset(
    {
        "sklearn.tree._tree.Tree",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.utils._bunch.Bunch",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.StratifiedKFold",
    }
)


def _skops(path: Path, data: bytes) -> Any:
    """Only classes that skops itself trusts are made, and `HARMLESS` ones; nothing else in the file is run."""
    try:
        from skops.io import get_untrusted_types, loads
    except ImportError:
        raise InputError(f"{path}: reading a .skops file needs skops: pip install 'elbowroom[skops]'") from None
    try:
        strange = set(get_untrusted_types(data=data))
        if strange <= HARMLESS:
            return loads(data, trusted=sorted(strange))
    except (KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:  # a damaged archive can fail anywhere
        raise InputError(
            f"{path}: this .skops file cannot be read ({type(error).__name__}); save the model again with skops.io.dump"
        ) from None
    raise InputError(
        f"{path}: this .skops file wants to make objects of {sorted(strange - HARMLESS)[:8]}, which skops does not trust by itself; save "
        "a model of scikit-learn's own parts"
    )
