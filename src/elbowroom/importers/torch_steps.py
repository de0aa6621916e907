"""Which layers a torch module runs, one after another: read from containers, or from a trace of its own forward.

A `Sequential` runs its parts in order. Any other module is traced by torch.fx: its forward is called once with a stand-in
that notes what is done to it. Only a plain chain of known layers and functions is accepted. A forward that looks at what it
is given (its type, its numbers) cannot be traced that way and is refused; the replay compares all others with the original.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from elbowroom.errors import UnsupportedModel

_CURE: Final = "; write the network as nn.Sequential, or export it to ONNX"
_HOOKS: Final = ("_forward_hooks", "_forward_pre_hooks")
# What a forward asks in order to behave differently while it is traced.
_EVASIVE: Final = frozenset(
    {"isinstance", "type", "is_tracing", "is_scripting", "is_compiling", "is_fx_tracing", "Proxy"}
)


@dataclass(frozen=True, eq=False)
class Step:
    """One layer: its kind by class name, the module that holds its numbers, and the slope of a leaky one."""

    name: str
    kind: str
    module: Any = None
    slope: float = 0.0


def refuse_disguises(model: Any) -> None:
    """Raise where a call of the module is not simply its forward, or not the forward of evaluation."""
    torch = importlib.import_module("torch")
    internals = torch.nn.modules.module
    if any(getattr(internals, f"_global{hook}", None) for hook in _HOOKS):
        raise UnsupportedModel("hooks on all torch modules are registered; what a module computes cannot be read")
    for path, module in model.named_modules():
        name = f"{path or 'the module'} ({type(module).__name__})"
        if isinstance(module, torch.jit.ScriptModule):
            raise UnsupportedModel(f"{name} is compiled by TorchScript; give the module it was made from")
        if isinstance(module, torch.nn.modules.lazy.LazyModuleMixin):
            raise UnsupportedModel(f"{name} does not know its inputs yet; call the network once")
        if type(module).__name__ == "OptimizedModule" or getattr(module, "_compiled_call_impl", None) is not None:
            raise UnsupportedModel(f"{name} is compiled; give the module before torch.compile")
        if any(getattr(module, hook, None) for hook in _HOOKS):
            raise UnsupportedModel(
                f"{name} has hooks that run at every call and may change its output; remove them first"
            )
        own = next((n for n in vars(module) if callable(getattr(type(module), n, None))), None)
        if own is not None:
            raise UnsupportedModel(f"{name} has its own {own!r}, set on the object; what it computes cannot be read")
        if type(module).__call__ is not torch.nn.Module.__call__ or _replaces(torch, type(module)):
            raise UnsupportedModel(f"{name} replaces how torch calls a module; what it computes cannot be read")
        if getattr(module, "parametrizations", None) is not None:
            raise UnsupportedModel(
                f"{name} has parametrized weights; call torch.nn.utils.parametrize.remove_parametrizations first"
            )
        if module.training:
            raise UnsupportedModel(
                f"{name} is in training mode, where outputs are random or depend on the batch; call .eval()"
            )


def _replaces(torch: Any, kind: type) -> bool:
    return any(
        getattr(kind, name, None) is not getattr(torch.nn.Module, name, None)
        for name in ("_call_impl", "_wrapped_call_impl", "__getattr__", "__getattribute__", "named_modules", "modules")
    )


def steps_of(model: Any) -> list[Step]:
    """All layers in the order in which they run."""
    return list(_steps("", model))


def _steps(path: str, module: Any) -> Iterator[Step]:
    nn = importlib.import_module("torch.nn")
    kind = type(module)
    name = f"{path or 'the module'} ({kind.__name__})"
    plain = nn.Sequential
    if isinstance(module, plain) and kind.forward is plain.forward and kind.__iter__ is plain.__iter__:
        for part, child in module._modules.items():  # named_children leaves out a layer that is used twice
            yield from _steps(f"{path}.{part}" if path else part, child)
    elif kind.__module__.partition(".")[0] == "torch":
        yield from _leaf(name, module, nn)
    else:
        yield from _traced(path, name, module)


def _leaf(name: str, module: Any, nn: Any) -> Iterator[Step]:
    kind = type(module)
    if kind is nn.Flatten:
        if (module.start_dim, module.end_dim) not in ((1, -1), (1, 1)):
            raise UnsupportedModel(
                f"{name} mixes rows: start_dim={module.start_dim}, end_dim={module.end_dim}; use nn.Flatten()"
            )
    elif kind in (nn.Softmax, nn.LogSoftmax):
        yield Step(name, _along_outputs(name, module.dim, kind.__name__))
    elif kind is nn.LeakyReLU:
        yield Step(name, "LeakyReLU", slope=float(module.negative_slope))
    elif getattr(nn, kind.__name__, None) is kind:
        yield Step(name, kind.__name__, module)
    else:
        raise UnsupportedModel(f"{name} is {kind.__module__}.{kind.__qualname__}, which is not read{_CURE}")


def _along_outputs(name: str, dim: object, kind: str) -> str:
    if dim not in (None, 1, -1):
        raise UnsupportedModel(f"{name} runs over dim={dim}, that is over the rows; use dim=1")
    return kind


# ---- a module with its own forward -----------------------------------------------------------------------------------
def _traced(path: str, name: str, module: Any) -> Iterator[Step]:
    fx = importlib.import_module("torch.fx")
    code = getattr(type(module).forward, "__code__", None)
    asked = sorted(_EVASIVE & set(code.co_names)) if code is not None else ["no code that can be traced"]
    if asked:
        raise UnsupportedModel(f"the forward of {name} uses {asked[0]}; it cannot be traced{_CURE}")
    try:
        graph = fx.Tracer().trace(module)
    except Exception as error:  # whatever the forward does with the stand-in
        raise UnsupportedModel(
            f"the forward of {name} cannot be traced ({type(error).__name__}: {str(error)[:200]}){_CURE}"
        ) from None
    nodes = [node for node in graph.nodes if node.op != "get_attr"]
    inputs = [node for node in nodes if node.op == "placeholder"]
    if len(inputs) != 1:
        raise UnsupportedModel(
            f"the forward of {name} takes {len(inputs)} arguments; one table of rows is needed{_CURE}"
        )
    last = inputs[0]
    for node in nodes:
        if node.op == "placeholder":
            continue
        if [other.op for other in node.all_input_nodes if other is not last] or last not in node.all_input_nodes:
            raise UnsupportedModel(f"the forward of {name} is not a chain: {node.format_node()!s:.200}{_CURE}")
        if node.op == "output":
            if node.args != (last,):
                raise UnsupportedModel(f"the forward of {name} does not return one tensor{_CURE}")
            continue
        yield from _node(path, name, module, node)
        last = node


def _node(path: str, name: str, module: Any, node: Any) -> Iterator[Step]:
    if node.op == "call_module":
        if len(node.args) != 1 or node.kwargs:
            raise UnsupportedModel(f"the forward of {name} calls {node.target} with more than a table of rows{_CURE}")
        inner = module.get_submodule(node.target)
        yield from _steps(f"{path}.{node.target}" if path else str(node.target), inner)
        return
    what = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))
    where = f"{what} in the forward of {name}"
    known = _functions().get(node.target)
    if known is None or (node.op == "call_method") != isinstance(node.target, str):
        raise UnsupportedModel(f"{where} is not read{_CURE}")
    step = known(
        where, tuple(node.args[1:]), {k: v for k, v in node.kwargs.items() if k not in ("inplace", "_stacklevel")}
    )
    if step is not None:
        yield step


_Reader = Callable[[str, tuple[Any, ...], dict[str, Any]], Step | None]


def _functions() -> dict[Any, _Reader]:
    """What may be done to a tensor besides calling modules; methods by their names."""
    torch = importlib.import_module("torch")
    F = torch.nn.functional
    return {
        F.relu: _plain("ReLU"), torch.relu: _plain("ReLU"), "relu": _plain("ReLU"),
        F.leaky_relu: _leaky,
        torch.sigmoid: _plain("Sigmoid"), F.sigmoid: _plain("Sigmoid"), "sigmoid": _plain("Sigmoid"),
        F.softmax: _soft("Softmax"), torch.softmax: _soft("Softmax"), "softmax": _soft("Softmax"),
        F.log_softmax: _soft("LogSoftmax"), torch.log_softmax: _soft("LogSoftmax"), "log_softmax": _soft("LogSoftmax"),
        F.dropout: _dropout,
        torch.flatten: _flatten, "flatten": _flatten, "contiguous": _nothing,
        torch.squeeze: _squeeze, "squeeze": _squeeze,
    }  # fmt: skip


def _refuse_arguments(where: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if args or kwargs:
        raise UnsupportedModel(f"{where} has arguments that are not read: {(*args, *kwargs)!s:.100}{_CURE}")


def _plain(kind: str) -> _Reader:
    def read(where: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
        _refuse_arguments(where, args[1:] if kind == "ReLU" and args in ((True,), (False,)) else args, kwargs)
        return Step(where, kind)

    return read


def _nothing(where: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    _refuse_arguments(where, args, kwargs)


def _leaky(where: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    slope = args[0] if args else kwargs.pop("negative_slope", 0.01)
    _refuse_arguments(where, args[2:], kwargs)
    if not isinstance(slope, (int, float)):
        raise UnsupportedModel(f"{where} has a slope that is not a plain number{_CURE}")
    return Step(where, "LeakyReLU", slope=float(slope))


def _soft(kind: str) -> _Reader:
    def read(where: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
        dim = args[0] if args else kwargs.pop("dim", None)
        if kwargs.pop("dtype", None) is not None:
            raise UnsupportedModel(f"{where} changes the type of its numbers{_CURE}")
        _refuse_arguments(where, args[1:], kwargs)
        return Step(where, _along_outputs(where, dim, kind))

    return read


def _dropout(where: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    training = args[1] if len(args) > 1 else kwargs.get("training", True)
    if training is not False:
        raise UnsupportedModel(
            f"{where} is random at every call; use F.dropout(x, training=self.training), or nn.Dropout"
        )


def _flatten(where: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    start = args[0] if args else kwargs.get("start_dim", 0)
    end = args[1] if len(args) > 1 else kwargs.get("end_dim", -1)
    if (start, end) not in ((1, -1), (1, 1)):
        raise UnsupportedModel(f"{where} mixes rows; use start_dim=1")


def _squeeze(where: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Step:
    dim = args[0] if args else kwargs.get("dim")
    if dim not in (1, -1):
        raise UnsupportedModel(f"{where} depends on the number of rows; use squeeze(1)")
    return Step(where, "Squeeze")
