"""Which known class an object is, and whether it still computes what that class computes."""

from __future__ import annotations

import inspect
from collections.abc import Container

from elbowroom.errors import UnsupportedModel

# What a subclass may define without changing a prediction: training, parameters, appearance.
_HARMLESS = frozenset(
    {
        "_compute_oob_predictions", "_set_oob_score_and_attributes", "_set_oob_score",
        "fit", "partial_fit", "fit_transform", "fit_predict", "score", "get_params", "set_params", "get_metadata_routing",
        "_parameter_constraints", "_abc_impl", "_sklearn_auto_wrap_output_keys", "_estimator_type",
        "__init__", "__doc__", "__module__", "__dict__", "__weakref__", "__qualname__", "__annotations__", "__repr__",
        "__str__", "__init_subclass__", "__subclasshook__", "__abstractmethods__", "__static_attributes__",
        "__firstlineno__", "__parameters__", "__orig_bases__", "__annotate__", "__annotate_func__",
        "__annotations_cache__", "__type_params__", "__sklearn_tags__", "__slots__",
    }
)  # fmt: skip


def _changes_nothing(name: str) -> bool:
    return name in _HARMLESS or (name.startswith("set_") and name.endswith("_request"))


def key_of(cls: type) -> tuple[str, str]:
    """Packages move their private modules between versions; the top-level package and the class name stay."""
    return cls.__module__.partition(".")[0], cls.__name__


def find_known(model: object, known: Container[tuple[str, str]]) -> type | None:
    """The first class in the method resolution order whose (package, name) is known."""
    return next((cls for cls in type(model).__mro__ if key_of(cls) in known), None)


def refuse_overrides(model: object, known: type, may: Container[str] = ()) -> None:
    """Raise if the object, or a class between it and ``known``, replaces anything that could change a prediction. What it
    ``may`` replace is read by the importer itself."""
    own = type(model)
    missing = object()
    if own is not known:
        for name in sorted({*dir(known), "__getattr__"}):
            if _changes_nothing(name) or name in may:
                continue
            if inspect.getattr_static(own, name, missing) is not inspect.getattr_static(known, name, missing):
                raise UnsupportedModel(
                    f"{own.__module__}.{own.__qualname__} is a {known.__name__} with its own {name!r}; what it predicts "
                    f"cannot be read from its attributes. Give a plain {known.__name__}"
                )
    for name in vars(model) if hasattr(model, "__dict__") else ():
        if (
            not _changes_nothing(name)
            and name not in may
            and inspect.isroutine(inspect.getattr_static(known, name, None))
        ):
            raise UnsupportedModel(
                f"this {own.__name__} object has its own {name!r}, set on the instance; what it predicts cannot be read"
            )
