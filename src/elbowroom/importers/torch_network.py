"""Torch: modules that are a chain of Linear, BatchNorm1d, ReLU, LeakyReLU and PReLU layers.

Torch has no labels of its own. Here the label of a row is the position of its first largest output; with one output it is 1
where that is positive (behind a Sigmoid: above one half), and else 0. `predict` is that rule, on the module's own outputs.
"""

from __future__ import annotations

import importlib
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers.arithmetic import DOUBLE, SINGLE, Arithmetic, Chain
from elbowroom.importers.inputs import Columns
from elbowroom.importers.network_outputs import LAST, batch_norm, labels_of_outputs, outputs_info
from elbowroom.importers.preprocessing import Preprocessing
from elbowroom.importers.torch_steps import refuse_disguises, steps_of
from elbowroom.models.linear import LinearModel
from elbowroom.models.network import ReluNetwork
from elbowroom.numerics import Floats

__all__ = ["columns", "predict", "raw_scores", "read_module"]

_BATCH_NORM_ROUNDINGS: Final = (
    16  # variance + eps, root, reciprocal, products, mean: fewer than ten, in any arrangement
)
_IDENTITIES: Final = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "Dropout1d", "Identity")
_KNOWN_LAST: Final[WeakKeyDictionary[Any, str | None]] = WeakKeyDictionary()


def columns(model: Any) -> Columns:
    """As many columns as the first layer has inputs; torch knows no names."""
    refuse_disguises(model)
    for step in steps_of(model):
        width = getattr(step.module, "in_features", None) or getattr(step.module, "num_features", None)
        if width is not None:
            return Columns.numbers(int(width), None)
    raise UnsupportedModel(
        f"torch {type(model).__name__} has no Linear or BatchNorm1d layer, so its number of columns is not known"
    )


def read_module(model: Any, preprocessing: Preprocessing) -> ReluNetwork | LinearModel:
    """The chain of layers, in the arithmetic of the parameters."""
    if not preprocessing.untouched:
        raise UnsupportedModel(
            f"{preprocessing.source_name(model)}: steps and categories in front of a torch module are not read; give a table "
            "of numbers, and put a BatchNorm1d or Linear layer in front of it that does the scaling"
        )
    refuse_disguises(model)
    arithmetic = _arithmetic(model)
    chain = Chain(preprocessing.width, arithmetic)
    chain.cast()
    last, squeezed = None, False
    for step in steps_of(model):
        if step.kind == "Squeeze":
            squeezed = squeezed or chain.width == 1
        if step.kind in (*_IDENTITIES, "Squeeze"):
            continue
        if last is not None or (squeezed and step.kind != "Sigmoid"):
            raise UnsupportedModel(
                f"{step.name} follows {last or 'squeeze'}, which is read at the end of a network only"
            )
        if step.kind in LAST:
            last = step.kind
        else:
            _add(chain, step)
    _KNOWN_LAST[model] = last
    return chain.model(outputs_info(preprocessing, chain, last, preprocessing.source_name(model)))


def _arithmetic(model: Any) -> Arithmetic:
    """The one type of all parameters, on the processor; refused by name otherwise."""
    torch = importlib.import_module("torch")
    found = None
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if not tensor.dtype.is_floating_point:
            continue
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is not torch.strided:
            raise UnsupportedModel(
                f"{name} is a {type(tensor).__name__} ({tensor.layout}); only plain dense tensors are read"
            )
        if tensor.device.type != "cpu":
            raise UnsupportedModel(
                f"{name} is on {tensor.device}, whose float32 sums are not those of IEEE arithmetic; move a copy to the "
                "processor: copy.deepcopy(model).cpu()"
            )
        if tensor.dtype not in (torch.float32, torch.float64):
            raise UnsupportedModel(f"{name} is {tensor.dtype}, too coarse for a promise; use .float() or .double()")
        if found is not None and tensor.dtype is not found:
            raise UnsupportedModel(f"{name} is {tensor.dtype}, parameters before it are {found}; use .double()")
        found = tensor.dtype
    if found is torch.float32:
        _refuse_coarse_products(torch)
    return SINGLE if found is torch.float32 else DOUBLE


def _refuse_coarse_products(torch: Any) -> None:
    precision = torch.get_float32_matmul_precision()
    backend = getattr(getattr(torch.backends.mkldnn, "matmul", None), "fp32_precision", "none")
    if precision != "highest" or backend not in ("none", "ieee"):
        raise UnsupportedModel(
            f"torch multiplies float32 matrices with {precision!r} precision here (backend: {backend!r}), where labels may "
            'change; call torch.set_float32_matmul_precision("highest"), or use .double()'
        )


def _numbers(step: Any, attribute: str) -> Floats | None:
    """A parameter as float64 numbers, refused by name where one is not finite; None if there is none."""
    tensor = getattr(step.module, attribute, None)
    if tensor is None:
        return None
    array = np.array(tensor.detach().numpy(), dtype=np.float64)
    if not np.isfinite(array).all():
        raise UnsupportedModel(
            f"{step.name}.{attribute} holds {array[~np.isfinite(array)][0]}; such a network has no scores"
        )
    return array


def _add(chain: Chain, step: Any) -> None:
    match step.kind:
        case "Linear":
            chain.linear(_present(step, "weight"), _numbers(step, "bias"))
        case "BatchNorm1d":
            _add_batch_norm(chain, step)
        case "ReLU":
            chain.relu()
        case "LeakyReLU":
            chain.leaky(np.full(chain.width, float(step.slope)))
        case "PReLU":
            slope = _present(step, "weight")
            if slope.shape not in ((1,), (chain.width,)):
                raise UnsupportedModel(f"{step.name} has {slope.size} slopes for {chain.width} units")
            chain.leaky(np.broadcast_to(slope, (chain.width,)).copy())
        case kind:
            raise UnsupportedModel(
                f"{step.name} ({kind}) is not read; layers that are: Linear, BatchNorm1d, ReLU, LeakyReLU, PReLU, Dropout, "
                "Flatten, Identity, and Sigmoid, Softmax or LogSoftmax at the end"
            )


def _present(step: Any, attribute: str) -> Floats:
    found = _numbers(step, attribute)
    if found is None:
        raise UnsupportedModel(f"{step.name} has no {attribute}; the network is incomplete")
    return found


def _add_batch_norm(chain: Chain, step: Any) -> None:
    """(v - mean) / sqrt(variance + eps) * weight + bias."""
    mean, variance = _numbers(step, "running_mean"), _numbers(step, "running_var")
    if mean is None or variance is None:
        raise UnsupportedModel(
            f"{step.name} keeps no running statistics: it scales by whatever rows come together, so that a row alone has no "
            "label; use track_running_stats=True"
        )
    weight, bias = _numbers(step, "weight"), _numbers(step, "bias")
    batch_norm(chain, step.name, mean, variance, float(step.module.eps), weight, bias)


# ---- the original's own answers --------------------------------------------------------------------------------------
def _outputs(model: Any, table: Any) -> npt.NDArray[Any]:
    """What the module itself returns for rows that are cast to its own type, (rows, outputs)."""
    torch = importlib.import_module("torch")
    rows = np.asarray(table, dtype=np.float64)
    kind = next((p.dtype for p in (*model.parameters(), *model.buffers()) if p.dtype.is_floating_point), torch.float64)
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        answer = model(torch.tensor(rows).to(kind))
    if not isinstance(answer, torch.Tensor) or answer.numel() % max(len(rows), 1):
        raise InputError(f"the module returns {type(answer).__name__}; one row of outputs per row is needed")
    return np.asarray(answer.numpy()).reshape(len(rows), -1)


def _last_of(model: Any) -> str | None:
    """The last step where it makes probabilities; found once, because a trace takes longer than a prediction."""
    if model not in _KNOWN_LAST:
        _KNOWN_LAST[model] = next((step.kind for step in steps_of(model) if step.kind in LAST), None)
    return _KNOWN_LAST[model]


def predict(model: Any, table: Any) -> npt.NDArray[np.int64]:
    """Labels: the first largest output; one output: whether it is positive (behind a Sigmoid: above one half)."""
    return labels_of_outputs(_outputs(model, table), _last_of(model))


def raw_scores(model: Any, table: Any) -> Floats:
    """The outputs themselves; an empty table where a last step turns them into probabilities."""
    if _last_of(model) is not None:
        return np.empty((0, 0))
    return np.asarray(_outputs(model, table), dtype=np.float64)
