"""A small validator for the keywords of JSON Schema that the published description uses; an unknown keyword is an error.

Equality and types are those of the specification: 1 and 1.0 are equal and both integers, true is neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

SILENT = {"$schema", "$id", "$defs", "title", "description"}


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "number": is_number,
    "integer": lambda v: is_number(v) and v == int(v),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}


def same(a: Any, b: Any) -> bool:
    return isinstance(a, bool) == isinstance(b, bool) and a == b


class Validator:
    """Validates against one document, to which all references point."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    def fits(self, value: Any, schema: Any = None) -> bool:
        schema = self.document if schema is None else schema
        if isinstance(schema, bool):
            return schema
        return all(self._holds(key, wanted, value, schema) for key, wanted in schema.items() if key not in SILENT)

    def _holds(self, key: str, wanted: Any, value: Any, schema: dict[str, Any]) -> bool:
        match key:
            case "$ref":
                target = self.document
                for part in wanted.removeprefix("#/").split("/"):
                    target = target[part]
                return self.fits(value, target)
            case "type":
                names = [wanted] if isinstance(wanted, str) else wanted
                return any(TYPES[name](value) for name in names)
            case "const":
                return same(value, wanted)
            case "enum":
                return any(same(value, one) for one in wanted)
            case "dependentRequired":
                return not isinstance(value, dict) or all(
                    name not in value or all(other in value for other in others) for name, others in wanted.items()
                )
            case "anyOf":
                return any(self.fits(value, one) for one in wanted)
            case "oneOf":
                return sum(self.fits(value, one) for one in wanted) == 1
            case "minimum":
                return not is_number(value) or value >= wanted
            case "maximum":
                return not is_number(value) or value <= wanted
            case "exclusiveMinimum":
                return not is_number(value) or value > wanted
            case "exclusiveMaximum":
                return not is_number(value) or value < wanted
            case "maxLength":
                return not isinstance(value, str) or len(value) <= wanted
            case "pattern":
                return not isinstance(value, str) or re.search(wanted, value) is not None
            case "items":
                return not isinstance(value, list) or all(self.fits(item, wanted) for item in value)
            case "minItems":
                return not isinstance(value, list) or len(value) >= wanted
            case "maxItems":
                return not isinstance(value, list) or len(value) <= wanted
            case "required":
                return not isinstance(value, dict) or all(name in value for name in wanted)
            case "minProperties":
                return not isinstance(value, dict) or len(value) >= wanted
            case "properties":
                return not isinstance(value, dict) or all(
                    self.fits(value[name], inner) for name, inner in wanted.items() if name in value
                )
            case "additionalProperties":
                known = schema.get("properties", {})
                return not isinstance(value, dict) or all(
                    self.fits(inner, wanted) for name, inner in value.items() if name not in known
                )
        raise AssertionError(f"the validator does not know the keyword {key!r}")
