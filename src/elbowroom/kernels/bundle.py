"""Many arrays, handed to a kernel as one.

A kernel of the search needs some thirty arrays. In a tuple they become hundreds of scalar arguments of every call, and
that is where the time goes, of compiling and of calling. A `Bundle` is a frozen class of arrays and numbers that kernels
see as the address of a small table: per array its data pointer and its shape, per number the number itself. Reading a
field is a load from the table. The table never changes (arrays are changed in place, fields are not), and the loads say
so, which lets the compiler move them out of loops.

The Python object owns the arrays and the table and outlives every call. Kernels can neither make nor keep bundles.
"""

from __future__ import annotations

import ctypes
import hashlib
from dataclasses import dataclass, field, fields
from functools import cache, lru_cache
from typing import Any, Final, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    unbox,
)
from numba.np import arrayobj
from numba.np.numpy_support import from_dtype

WORD = ir.IntType(64)
B = TypeVar("B", bound="Bundle")
_HOLDS: Final = {"Floats": np.float64, "Ints": np.int64, "Words": np.uint64, "Shorts": np.int32}


_DATA: Final = object.__basicsize__  # an array begins with the head of every object; the address of its data follows


def _data_of(array: Any) -> int:
    """The address of an array's data: as ``array.ctypes.data``, which takes longer than the rest of making a bundle."""
    return _POINTER.from_address(id(array) + _DATA).value or 0


_POINTER: Final = ctypes.c_void_p
_PROBE: Final = np.zeros(3)
if _data_of(_PROBE) != _PROBE.ctypes.data:  # objects of this Python begin in another way
    raise ImportError("elbowroom needs CPython, where an array's data pointer follows the head of its object")


@dataclass(frozen=True, eq=False)
class Bundle:
    """Base class: the fields of subclasses are arrays, ints and floats."""

    def __post_init__(self) -> None:
        values = self.__dict__  # the fields in their order: nothing else is set yet
        kinds: list[Any] = []
        table: list[int] = []
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                if not value.flags.c_contiguous:
                    values[name] = value = np.ascontiguousarray(value)
                kinds.append((value.dtype, value.ndim))
                table.append(_data_of(value))
                table.extend(value.shape)
            elif isinstance(value, float):
                kinds.append(float)
                table.append(int(np.float64(value).view(np.int64)))
            else:
                kinds.append(int)
                table.append(int(value))
        words, type_of = np.array(table, dtype=np.int64), cast(Any, _type_of)
        # numba's dispatcher looks for _numba_type_ itself: a call needs no Python code to learn the types of its bundles
        values["_numba_type_"] = type_of(type(self), tuple(kinds))
        values["_table"], values["_address"] = words, _data_of(words)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are rebuilt: addresses are meaningless to another object or process."""
        return type(self), tuple(getattr(self, part.name) for part in fields(self))


# ---- scratch arrays ------------------------------------------------------------------------------------------------------
def array(*shape: str | int, fill: int = 0) -> Any:
    """A field of a bundle of scratch arrays: its shape, in sizes that are named or given, and what it holds at first."""
    return field(metadata={"shape": shape, "fill": fill})


def blank(kind: type[B], **sizes: int) -> B:
    """A bundle of fresh arrays, one per field, in the named sizes. The annotation of a field says what its array holds."""
    made = []
    for shape, fill, holds in cast(Any, _plan)(kind):
        fresh = np.zeros([sizes[size] if isinstance(size, str) else size for size in shape], holds)
        if fill:
            fresh.fill(fill)
        made.append(fresh)
    return kind(*made)


@cache
def _plan(kind: Any) -> list[tuple[tuple[str | int, ...], int, Any]]:
    """Shape, first value and type of the entries, per field."""
    return [(part.metadata["shape"], part.metadata["fill"], _HOLDS[str(part.type)]) for part in fields(kind)]


# ---- what kernels see -----------------------------------------------------------------------------------------------
class BundleType(types.Type):
    """The type of a bundle: names and types of its fields, and where they are in the table."""

    def __init__(self, name: str, members: tuple[tuple[str, types.Type], ...]) -> None:
        self.members = members
        self.places: dict[str, tuple[int, types.Type]] = {}
        place = 0
        for member, kind in members:
            self.places[member] = place, kind
            place += 1 + (kind.ndim if isinstance(kind, types.Array) else 0)
        digest = hashlib.sha256(repr(members).encode()).hexdigest()  # names of compiled functions are made of this
        super().__init__(
            name=f"{name}_{digest[:16]}"
        )  # also numba's key of a type: short, because it is looked up at every call


@lru_cache(maxsize=256)
def _type_of(bundle: Any, kinds: tuple[Any, ...]) -> BundleType:
    """``kinds``: per field the type and the number of dimensions of its array, or float or int."""
    members: list[tuple[str, types.Type]] = []
    for part, kind in zip(fields(bundle), kinds, strict=True):
        if kind is float or kind is int:
            members.append((part.name, types.float64 if kind is float else types.int64))
        else:
            members.append((part.name, types.Array(from_dtype(kind[0]), kind[1], "C")))
    return BundleType(bundle.__name__, tuple(members))


@register_model(BundleType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: BundleType) -> None:
        super().__init__(manager, kind, WORD.as_pointer())


@unbox(BundleType)
def _unbox(kind: BundleType, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "_address")
    number = c.pyapi.long_as_ulonglong(address)
    c.pyapi.decref(address)
    failed = cgutils.is_not_null(c.builder, c.pyapi.err_occurred())
    return NativeValue(c.builder.inttoptr(number, WORD.as_pointer()), is_error=failed)


@infer_getattr
class _Attributes(AttributeTemplate):
    key = BundleType

    def generic_resolve(self, kind: BundleType, name: str) -> Any:  # type: ignore[override,unused-ignore]
        place = kind.places.get(name)
        return None if place is None else place[1]


@lower_getattr_generic(BundleType)
def _field(context: Any, builder: Any, kind: BundleType, value: Any, name: str) -> Any:
    """Load a field: the number, or the pointer and the shape of an array, whose strides follow."""
    place, member = kind.places[name]

    def word(i: int) -> Any:
        loaded = builder.load(builder.gep(value, [ir.Constant(ir.IntType(32), place + i)]))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if not isinstance(member, types.Array):
        return word(0) if member == types.int64 else builder.bitcast(word(0), ir.DoubleType())
    item = context.get_data_type(member.dtype)
    size = ir.Constant(WORD, context.get_abi_sizeof(item))
    shape = [word(1 + axis) for axis in range(member.ndim)]
    strides = [size]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    array = arrayobj.make_array(member)(context, builder)
    arrayobj.populate_array(
        array,
        data=builder.inttoptr(word(0), item.as_pointer()),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=size,
        meminfo=None,
    )
    return array._getvalue()
