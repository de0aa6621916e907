"""Universal Binary JSON, the form in which XGBoost saves its models: written, and read with every length checked.

A value is a marker byte and its content; numbers are big endian; ``[$d#l`` starts an array of 4-byte floats whose count
is a 4-byte integer. Such arrays become NumPy arrays, everything else plain Python values.

Whatever the bytes say, the work is bounded by their number: every item of a container takes at least one byte of the
file (kinds without content, such as an array of a billion times "true", are refused), and nesting is limited.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from elbowroom.errors import InputError

DEEPEST: Final = 32
_NUMBERS: Final[dict[bytes, np.dtype[Any]]] = {
    b"i": np.dtype("i1"),
    b"U": np.dtype("u1"),
    b"I": np.dtype(">i2"),
    b"l": np.dtype(">i4"),
    b"L": np.dtype(">i8"),
    b"d": np.dtype(">f4"),
    b"D": np.dtype(">f8"),
}
_WHOLE: Final = b"iUIlL"
_CONSTANTS: Final = {b"T": True, b"F": False, b"Z": None}
_MARKERS: Final = {np.dtype(kind.str.replace(">", "<")): marker for marker, kind in _NUMBERS.items()}


def decode(data: bytes) -> Any:
    """The value that the bytes hold; they must hold exactly one."""
    reader = _Reader(data)
    value = reader.value(reader.take(1), 0)
    if reader.at != len(data):
        raise reader.damaged(f"{len(data) - reader.at} bytes follow the end of the model")
    return value


def encode(value: Any) -> bytes:
    """The bytes of a document of objects, lists, texts, whole numbers, floats and NumPy arrays (as arrays of one kind)."""
    match value:
        case dict():
            return b"{" + b"".join(_text(key) + encode(item) for key, item in value.items()) + b"}"
        case list():
            return b"[#" + _count(len(value)) + b"".join(encode(item) for item in value)
        case str():
            return b"S" + _text(value)
        case int():
            return b"L" + value.to_bytes(8, "big", signed=True)
        case float():
            return b"D" + np.array(value, ">f8").tobytes()
        case np.ndarray():
            head = b"[$" + _MARKERS[value.dtype] + b"#" + _count(len(value))
            return head + value.astype(value.dtype.newbyteorder(">")).tobytes()
    raise TypeError(f"a {type(value).__name__} has no place in such a document")


def _count(number: int) -> bytes:
    return encode(number)


def _text(text: str) -> bytes:
    raw = text.encode("utf-8")
    return _count(len(raw)) + raw


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def damaged(self, why: str) -> InputError:
        return InputError(f"byte {self.at}: {why}")

    def take(self, count: int) -> bytes:
        if not 0 <= count <= len(self.data) - self.at:
            raise self.damaged(f"a part of {count} bytes does not fit into the {len(self.data)} bytes of the file")
        self.at += count
        return self.data[self.at - count : self.at]

    def peek(self) -> bytes:
        return self.data[self.at : self.at + 1]

    def count(self) -> int:
        """A number of items: a marker of a whole number, then the number."""
        marker = self.take(1)
        if marker not in _WHOLE:
            raise self.damaged(f"the marker {marker!r} stands where a length should be")
        count = int(self.number(marker))
        if count < 0:
            raise self.damaged(f"a length is {count}")
        return count

    def number(self, marker: bytes) -> int | float:
        kind = _NUMBERS[marker]
        number: int | float = np.frombuffer(self.take(kind.itemsize), kind)[0].item()
        return number

    def text(self) -> str:
        try:
            return self.take(self.count()).decode("utf-8")
        except UnicodeDecodeError:
            raise self.damaged("a text is not UTF-8") from None

    def value(self, marker: bytes, depth: int) -> Any:
        if marker in _NUMBERS:
            return self.number(marker)
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        match marker:
            case b"S":
                return self.text()
            case b"C":
                return self.take(1).decode("latin-1")
            case b"[":
                return self.items(depth + 1)
            case b"{":
                return self.members(depth + 1)
        raise self.damaged(f"{marker!r} is no marker")

    def head(self, depth: int) -> tuple[bytes | None, int | None]:
        """Kind and number of the items of a container, where it states them."""
        if depth > DEEPEST:
            raise self.damaged(f"nested more than {DEEPEST} deep")
        kind = count = None
        if self.peek() == b"$":
            self.take(1)
            kind = self.take(1)
            if kind not in _NUMBERS and kind not in (b"S", b"C", b"[", b"{"):
                raise self.damaged(f"{kind!r} is no kind of items")
        if self.peek() == b"#":
            self.take(1)
            count = self.count()
        if kind is not None and count is None:
            raise self.damaged("items of one kind without their number")
        return kind, count

    def items(self, depth: int) -> Any:
        kind, count = self.head(depth)
        if kind is not None and kind in _NUMBERS and count is not None:
            form = _NUMBERS[kind]
            return np.frombuffer(self.take(count * form.itemsize), form).astype(form.newbyteorder("="))
        found: list[Any] = []
        while not self.ended(len(found), count, b"]"):
            found.append(self.value(kind or self.take(1), depth))
        return found

    def members(self, depth: int) -> dict[str, Any]:
        kind, count = self.head(depth)
        found: dict[str, Any] = {}
        while not self.ended(len(found), count, b"}"):
            name = self.text()
            if name in found:
                raise self.damaged(f"{name!r} is there twice")
            found[name] = self.value(kind or self.take(1), depth)
        return found

    def ended(self, found: int, count: int | None, closing: bytes) -> bool:
        if count is not None:
            return found == count
        if self.peek() == closing:
            self.take(1)
            return True
        return False
