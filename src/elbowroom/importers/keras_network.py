"""Keras 3: a `Sequential` of Dense, BatchNormalization, Normalization and piecewise linear activations, in float32.

Tried with the torch backend; others are refused by name. Keras has no labels of its own: see `network_outputs`. Rows are
cast to float32 when they are handed over, and ``model.predict`` computes the outputs.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from elbowroom.errors import UnsupportedModel
from elbowroom.importers.arithmetic import SINGLE, Chain
from elbowroom.importers.inputs import Columns
from elbowroom.importers.network_outputs import LAST, batch_norm, labels_of_outputs, outputs_info
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.models.linear import LinearModel
from elbowroom.models.network import ReluNetwork
from elbowroom.numerics import Floats

__all__ = ["columns", "predict", "raw_scores", "read_model"]

_CURE: Final = '; export it with model.export("model.onnx", format="onnx") and give that file'
_BACKENDS: Final = ("torch",)
_IDENTITIES: Final = (
    "Dropout",
    "GaussianDropout",
    "GaussianNoise",
    "AlphaDropout",
    "Flatten",
    "Identity",
    "InputLayer",
)
_ACTIVATIONS: Final = ("linear", "relu", "leaky_relu", "sigmoid", "softmax", "log_softmax")
_NORMALIZATION_ROUNDINGS: Final = 8


def columns(model: Any) -> Columns:
    """As many columns as the input has."""
    _refuse_unknown(model)
    shape = tuple(model.input_shape)
    if len(shape) != 2 or shape[1] is None:
        raise UnsupportedModel(f"{model.name}: its input has the shape {shape}; (rows, columns) is needed")
    return Columns.numbers(int(shape[1]), None)


def _refuse_unknown(model: Any) -> None:
    keras = importlib.import_module("keras")
    backend = keras.backend.backend()
    if backend not in _BACKENDS:
        raise UnsupportedModel(
            f"keras runs on {backend} here, whose arithmetic was not tried; set KERAS_BACKEND=torch{_CURE}"
        )
    if type(model) is not keras.Sequential:
        raise UnsupportedModel(f"keras {type(model).__name__} may compute anything; only Sequential is read{_CURE}")
    if not model.built:
        raise UnsupportedModel(
            f"{model.name} is not built; give keras.Input((columns,)) as its first layer, and train it"
        )
    for part in (model, *model.layers):
        if any(getattr(part, hooks, None) for hooks in ("_forward_hooks", "_forward_pre_hooks")):
            raise UnsupportedModel(f"{part.name} has hooks that run at every call; remove them first")
        own = next((name for name in ("call", "__call__", "forward") if name in vars(part)), None)
        if own is not None:
            raise UnsupportedModel(
                f"{part.name} has its own {own!r}, set on the object; what it computes cannot be read"
            )
        if part.compute_dtype != "float32" or part.variable_dtype != "float32":
            raise UnsupportedModel(f"{part.name} computes in {part.compute_dtype}; float32 is read")


def _steps(model: Any) -> list[tuple[str, Any, Any]]:
    """(kind, layer, argument) in order; activations inside layers are steps of their own."""
    keras = importlib.import_module("keras")
    found: list[tuple[str, Any, Any]] = []
    for layer in model.layers:
        kind = type(layer).__name__
        if type(layer) is keras.Sequential:
            found += _steps(layer)
        elif getattr(keras.layers, kind, None) is not type(layer):
            raise UnsupportedModel(f"{layer.name} is a {type(layer).__module__}.{kind}, which is not read{_CURE}")
        elif kind not in _IDENTITIES:
            if kind != "Activation":
                found.append((kind, layer, None))
            if kind in ("Dense", "Activation"):
                found += _activation(keras, layer)
    return found


def _activation(keras: Any, layer: Any) -> list[tuple[str, Any, Any]]:
    name = next((n for n in _ACTIVATIONS if getattr(keras.activations, n) is layer.activation), None)
    match name:
        case "linear":
            return []
        case "relu":
            return [("ReLU", layer, 0.0)]
        case "leaky_relu":
            return [("ReLU", layer, 0.2)]
        case "sigmoid" | "softmax" | "log_softmax":
            return [({"sigmoid": "Sigmoid", "softmax": "Softmax", "log_softmax": "LogSoftmax"}[name], layer, None)]
        case _:
            shown = getattr(layer.activation, "__name__", type(layer.activation).__name__)
            raise UnsupportedModel(
                f"{layer.name}: the activation {shown!r} is not read; piecewise linear ones are, such as 'relu'"
            )


def read_model(model: Any, preprocessing: Preprocessing) -> ReluNetwork | LinearModel:
    """The layers one after another."""
    if not preprocessing.untouched:
        raise UnsupportedModel("steps and categories in front of a keras model are not read; give a table of numbers")
    _refuse_unknown(model)
    chain = Chain(preprocessing.width, SINGLE)
    chain.cast()
    last = None
    for kind, layer, argument in _steps(model):
        if last is not None:
            raise UnsupportedModel(f"{layer.name} follows {last}, which is read at the end of a network only")
        if kind in LAST:
            last = _along_outputs(kind, layer)
        else:
            _add(chain, kind, layer, argument)
    return chain.model(outputs_info(preprocessing, chain, last, f"keras {type(model).__name__}"))


def _along_outputs(kind: str, layer: Any) -> str:
    if getattr(layer, "axis", -1) not in (-1, 1):
        raise UnsupportedModel(f"{layer.name} runs over axis {layer.axis}; use axis=-1")
    return kind


def _numbers(layer: Any, attribute: str) -> Floats | None:
    variable = getattr(layer, attribute, None)
    if variable is None:
        return None
    array = np.array(importlib.import_module("keras").ops.convert_to_numpy(variable), dtype=np.float64)
    if not np.isfinite(array).all():
        raise UnsupportedModel(
            f"{layer.name}.{attribute} holds {array[~np.isfinite(array)][0]}; such a network has no scores"
        )
    return array


def _present(layer: Any, attribute: str) -> Floats:
    found = _numbers(layer, attribute)
    if found is None:
        raise UnsupportedModel(f"{layer.name} has no {attribute}; the network is incomplete")
    return found


def _add(chain: Chain, kind: str, layer: Any, argument: Any) -> None:
    match kind:
        case "Dense":
            if getattr(layer, "lora_enabled", False) or getattr(layer, "quantization_mode", None) is not None:
                raise UnsupportedModel(f"{layer.name} is quantized or has a low-rank part; merge it first")
            chain.linear(_present(layer, "kernel").T, _numbers(layer, "bias"))
        case "BatchNormalization":
            if layer.axis not in (-1, 1, [1], [-1]):
                raise UnsupportedModel(f"{layer.name} runs over axis {layer.axis}; use axis=-1")
            mean, variance = _present(layer, "moving_mean"), _present(layer, "moving_variance")
            batch_norm(
                chain,
                layer.name,
                mean,
                variance,
                float(layer.epsilon),
                _numbers(layer, "gamma"),
                _numbers(layer, "beta"),
            )
        case "Normalization":
            _add_normalization(chain, layer)
        case "ReLU" if argument is not None:  # inside another layer
            chain.leaky(np.full(chain.width, argument))
        case "ReLU":
            if layer.max_value is not None or layer.threshold:
                raise UnsupportedModel(f"{layer.name} has a max_value or a threshold, which is not read")
            chain.leaky(np.full(chain.width, float(layer.negative_slope)))
        case "LeakyReLU":
            chain.leaky(np.full(chain.width, float(layer.negative_slope)))
        case "PReLU":
            chain.leaky(np.broadcast_to(_present(layer, "alpha"), (chain.width,)).copy())
        case _:
            raise UnsupportedModel(
                f"{layer.name} ({kind}) is not read; layers that are: Dense, BatchNormalization, Normalization, ReLU, "
                f"LeakyReLU, PReLU, Dropout, Flatten, and sigmoid or softmax at the end{_CURE}"
            )


def _add_normalization(chain: Chain, layer: Any) -> None:
    """(v - mean) / max(sqrt(variance), epsilon), where epsilon is 1e-7."""
    mean, variance = _numbers(layer, "mean"), _numbers(layer, "variance")
    if mean is None or variance is None or layer.invert:
        raise UnsupportedModel(f"{layer.name} has no statistics, or is inverted; call its adapt first")
    mean, variance = (np.broadcast_to(part.reshape(-1), (chain.width,)) for part in (mean, variance))
    if not (variance > 1e-12).all():
        raise UnsupportedModel(
            f"{layer.name} divides by the root of a variance that is almost 0; leave constant columns out"
        )
    factor = 1.0 / np.sqrt(variance)
    chain.scale(factor, -mean * factor, np.abs(mean * factor), _NORMALIZATION_ROUNDINGS)


# ---- the original's own answers --------------------------------------------------------------------------------------
def _outputs(model: Any, table: Any) -> npt.NDArray[Any]:
    with np.errstate(over="ignore"):
        rows = np.asarray(table, dtype=np.float64).astype(np.float32)
    return np.asarray(model.predict(rows, verbose=0, batch_size=4096)).reshape(len(rows), -1)


def _last_of(model: Any) -> str | None:
    return next((kind for kind, _, _ in _steps(model) if kind in LAST), None)


def predict(model: Any, table: Any) -> npt.NDArray[np.int64]:
    """Labels: the first largest output; one output: whether it is positive (behind a sigmoid: above one half)."""
    return labels_of_outputs(_outputs(model, table), _last_of(model))


def raw_scores(model: Any, table: Any) -> Floats:
    """The outputs themselves; an empty table where a last step turns them into probabilities."""
    return np.empty((0, 0)) if _last_of(model) is not None else np.asarray(_outputs(model, table), dtype=np.float64)
