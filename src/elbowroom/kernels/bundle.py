"""Many arrays, handed to a kernel as one.

A kernel of the search needs some thirty arrays. In a tuple they become hundreds of scalar arguments of every call, and
that is where the time goes, of compiling and of calling. A `Bundle` is a frozen class of arrays and numbers that kernels
see as the address of a small table: per array its data pointer and its shape, per number the number itself. Reading a
field is a load from the table. The table never changes (arrays are changed in place, fields are not), and the loads say
so, which lets the compiler move them out of loops.

The Python object owns the arrays and the table and outlives every call. Kernels can neither make nor keep bundles.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, Final, TypeVar

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
NUMBER = -1  # in place of a number of dimensions
B = TypeVar("B", bound="Bundle")
_HOLDS: Final = {"Floats": np.float64, "Ints": np.int64, "Words": np.uint64, "Shorts": np.int32}


@dataclass(frozen=True, eq=False)
class Bundle:
    """Base class: the fields of subclasses are arrays, ints and floats."""

    def __post_init__(self) -> None:
        members: list[tuple[str, np.dtype[Any], int]] = []
        table: list[int] = []
        for name, value in self._fields():
            if isinstance(value, np.ndarray):
                value = np.ascontiguousarray(value)
                object.__setattr__(self, name, value)
                members.append((name, value.dtype, value.ndim))
                table += [value.ctypes.data, *value.shape]
            else:
                number = np.float64(value) if isinstance(value, float) else np.int64(value)
                members.append((name, number.dtype, NUMBER))
                table.append(int(number.view(np.int64)))
        words = np.array(table, dtype=np.int64)
        object.__setattr__(self, "_table", words)
        object.__setattr__(self, "_address", words.ctypes.data)
        # numba's dispatcher looks for this attribute itself: a call needs no Python code to learn the types of its bundles
        object.__setattr__(self, "_numba_type_", _type_of(type(self).__name__, tuple(members)))

    def _fields(self) -> Iterator[tuple[str, Any]]:
        for part in fields(self):
            yield part.name, getattr(self, part.name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are rebuilt: addresses are meaningless to another object or process."""
        return type(self), tuple(value for _, value in self._fields())


# ---- scratch arrays ------------------------------------------------------------------------------------------------------
def array(*shape: str | int, fill: int = 0) -> Any:
    """A field of a bundle of scratch arrays: its shape, in sizes that are named or given, and what it holds at first."""
    return field(metadata={"shape": shape, "fill": fill})


def blank(kind: type[B], **sizes: int) -> B:
    """A bundle of fresh arrays, one per field, in the named sizes. The annotation of a field says what its array holds."""
    made = {}
    for part in fields(kind):
        shape = tuple(sizes[size] if isinstance(size, str) else size for size in part.metadata["shape"])
        made[part.name] = np.full(shape, part.metadata["fill"], _HOLDS[str(part.type)])
    return kind(**made)


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
def _type_of(name: str, members: tuple[tuple[str, np.dtype[Any], int], ...]) -> BundleType:
    kinds = []
    for member, dtype, ndim in members:
        scalar = from_dtype(dtype)
        kinds.append((member, scalar if ndim == NUMBER else types.Array(scalar, ndim, "C")))
    return BundleType(name, tuple(kinds))


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
