"""The parts of a question as JSON: labels that keep their type, targets, rooms and spaces."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final

import numpy as np

from elbowroom.errors import InputError
from elbowroom.problem.decimals import LARGEST
from elbowroom.problem.freedom import Freedom
from elbowroom.problem.kinds import Direction, Kind, Missing
from elbowroom.problem.on import On
from elbowroom.problem.parsing import Radius
from elbowroom.problem.reader import Reader, number_out
from elbowroom.problem.rooms import Box, Room, room_of
from elbowroom.problem.scales import Scale
from elbowroom.problem.shapes import Shape
from elbowroom.problem.space import Feature, Group, Space
from elbowroom.problem.target import Target
from elbowroom.result.slant_json import causes_in, covariance_in, slant_out

ROOMS: Final = {shape.value: room_of(shape) for shape in Shape}
FEWEST: Final = 2  # models that are several
LABELS: Final[tuple[type, ...]] = (bool, int, float, str, bytes, date, datetime, timedelta)


def label_out(label: object, what: str) -> dict[str, Any] | None:
    """A label with the name of its type: bytes as hexadecimal digits, dates as ISO 8601, durations in microseconds."""
    if label is None:
        return None
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, tuple):  # what each of several models says
        return {"type": "each", "value": [label_out(one, what) for one in label]}
    if type(label) not in LABELS:
        known = ", ".join(kind.__name__ for kind in LABELS)
        raise InputError(f"{what} {label!r}: a {type(label).__name__} has no JSON form; JSON labels are {known}")
    value: object = label
    match label:
        case float():
            value = number_out(label)
        case bytes():
            value = label.hex()
        case date():  # a datetime is a date as well
            value = label.isoformat()
        case timedelta():
            value = label // timedelta(microseconds=1)
    return {"type": type(label).__name__, "value": value}


def label_in(entry: Reader) -> Any:
    if entry.value is None:
        return None
    value = entry.at("value")
    match entry.at("type").text():
        case "bool":
            return value.truth()
        case "int":
            return value.whole()
        case "float":
            return value.number(infinite=True)
        case "str":
            return value.text()
        case "each":
            return tuple(map(label_in, value.items()))
        case "bytes":
            return value.parsed(bytes.fromhex, bytes.hex, "an even number of hexadecimal digits")
        case "date":
            return value.parsed(date.fromisoformat, date.isoformat, "a date such as 2024-02-29")
        case "datetime":
            return value.parsed(datetime.fromisoformat, datetime.isoformat, "a time such as 2024-02-29T12:00:00")
        case "timedelta":
            try:
                return timedelta(microseconds=value.whole())
            except OverflowError:
                raise value.wrong("a number of microseconds in the range of timedelta") from None
        case other:
            raise entry.at("type").wrong(f"one of {[kind.__name__ for kind in LABELS]}, not {other!r:.60}")


def target_out(target: Target) -> dict[str, Any]:
    """A class with its least probability, or the range of wanted values: files about classes are as they always were."""
    if target.each:
        some = {} if target.count is None else {"count": target.count, "always": list(target.always)}
        return {"each": [target_out(one) for one in target.each], **some}
    if target.values is not None:
        return {"at_least": target.at_least, "at_most": target.at_most}
    return {"label": label_out(target.label, "target"), "probability": target.probability}


def target_in(entry: Reader) -> Target:
    if "each" in entry.mapping():
        each = tuple(map(target_in, entry.at("each").items()))
        if len(each) < FEWEST or any(one.each for one in each):
            raise entry.at("each").wrong("the targets of two models or more")
        if "count" not in entry.mapping():
            return Target(each=each)
        count = entry.at("count").whole(1, len(each) - 1)
        always = tuple(place.whole(0, len(each) - 1) for place in entry.at("always").items())
        if len(always) > count or list(always) != sorted(set(always)):
            raise entry.at("always").wrong(f"rising positions of at most {count} models")
        return Target(each=each, count=count, always=always)
    if "at_least" in entry.mapping() or "at_most" in entry.mapping():
        ends = {key: entry.at(key) for key in ("at_least", "at_most")}
        if all(end.value is None for end in ends.values()):
            raise entry.wrong("a range of values with at least one end")
        low, high = (None if end.value is None else end.number() for end in ends.values())
        return Target(at_least=low, at_most=high)
    probability = entry.at("probability")
    return Target(label_in(entry.at("label")), None if probability.value is None else probability.number())


def room_out(room: Room) -> dict[str, Any]:
    for name, kind in ROOMS.items():
        if type(room) is kind:
            fields = {"shape": name, "radius": radius_out(room.radius)}
            if isinstance(room, Box):
                fields |= {"low": radius_out(room.low), "high": radius_out(room.high)}
                fields |= {} if room.on is On.ALL else {"on": On.parse(room.on).value}
            return fields | {"categories": _freedom_out(room.categories)}
    raise InputError(f"a room of type {type(room).__name__} has no JSON form; the known ones are {list(ROOMS)}")


def _freedom_out(categories: Freedom | None) -> dict[str, Any] | None:
    if categories is None:
        return None
    return {
        name: how if isinstance(how, str) else [label_out(label, f"category of {name!r}") for label in how]
        for name, how in categories.items()
    }


def _freedom_in(entry: Reader) -> Freedom | None:
    if entry.value is None:
        return None
    free: dict[str, str | tuple[Any, ...]] = {}
    for name in entry.mapping():
        how = entry.at(name)
        free[name] = tuple(map(label_in, how.items())) if isinstance(how.value, list) else how.text()
    return free


def radius_out(radius: Radius | None) -> object:
    if isinstance(radius, Mapping):
        return {name: number_out(width) for name, width in radius.items()}
    if isinstance(radius, (tuple, list, np.ndarray)):
        return [number_out(width) for width in radius]
    return radius if radius is None else number_out(float(radius))  # type: ignore[arg-type]


def room_in(entry: Reader) -> Room:
    name = entry.at("shape").text()
    free = _freedom_in(entry.at("categories"))
    if name not in ROOMS:
        raise entry.at("shape").wrong(f"one of {list(ROOMS)}, not {name!r}")
    kind = ROOMS[name]
    if issubclass(kind, Box):
        radius, low, high = (radius_in(entry.at(key)) for key in ("radius", "low", "high"))
        on = entry.at("on").choice(On) if "on" in entry.mapping() else On.ALL
        return kind(radius, low, high, free, on)
    size = radius_in(entry.at("radius"))
    if size is None:
        raise entry.at("radius").wrong("a number, a list or a mapping")
    return kind(size, free)


def radius_in(entry: Reader) -> Radius | None:
    if entry.value is None:
        return None
    if isinstance(entry.value, dict):
        return {name: entry.at(name).number() for name in entry.mapping()}
    if isinstance(entry.value, list):
        return tuple(item.number() for item in entry.items())
    return entry.number()


def space_out(space: Space) -> dict[str, Any]:
    features = [
        {
            "name": f.name,
            "kind": Kind(f.kind).value,
            "lower": number_out(f.lower),
            "upper": number_out(f.upper),
            "immutable": f.immutable,
            "direction": Direction(f.direction).value,
            "scale": number_out(f.scale),
            "weight": number_out(f.weight),
            **prices_out(f),
            "unit": f.unit,
        }
        | ({} if f.missing is Missing.KEEP else {"missing": Missing(f.missing).value})
        | ({} if f.typical is None else {"typical": number_out(f.typical)})
        | ({} if f.decimals is None else {"decimals": f.decimals})
        for f in space.features
    ]
    measure = {} if space.measure is None else {"measure": space.measure.value}
    return {"features": features, "groups": [_group_out(g) for g in space.groups], **measure, **slant_out(space)}


def prices_out(feature: Feature) -> dict[str, Any]:
    """Written where a price differs from the weight, so that files without prices stay as they were."""
    found: dict[str, Any] = {}
    for way in ("price_up", "price_down"):
        slopes = getattr(feature, way)
        if isinstance(slopes, tuple):
            found[way] = [[number_out(start), number_out(slope)] for start, slope in slopes]
        elif slopes != 1.0:
            found[way] = number_out(slopes)
    if feature.price_change != 0.0:
        found["price_change"] = number_out(feature.price_change)
    if feature.percentiles is not None:
        found["percentiles"] = [[number_out(value), number_out(share)] for value, share in feature.percentiles]
    return found


def prices_in(entry: Reader) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for way in ("price_up", "price_down"):
        slopes = entry.maybe(way)
        if slopes is not None and isinstance(slopes.value, list):
            found[way] = [tuple(part.number() for part in pair.items(2)) for pair in slopes.items()]
        elif slopes is not None:
            found[way] = slopes.number()
    change, levels = entry.maybe("price_change"), entry.maybe("percentiles")
    if change is not None:
        found["price_change"] = change.number()
    if levels is not None:
        found["percentiles"] = [tuple(part.number() for part in pair.items(2)) for pair in levels.items()]
    return found


def _group_out(group: Group) -> dict[str, Any]:
    """Labels are written where there are any, so that files without them stay as they were."""
    plain = {"name": group.name, "members": list(group.members), "weight": number_out(group.weight)}
    if group.labels is None:
        return plain
    labels = [label_out(label, f"category of {group.name!r}") for label in group.labels]
    return plain | {"labels": labels, "pandas_category": group.pandas_category}


def _group_in(entry: Reader) -> Group:
    labels = entry.at("labels") if "labels" in entry.mapping() else None
    return Group(
        entry.at("name").text(),
        tuple(m.text() for m in entry.at("members").items()),
        entry.at("weight").number(),
        None if labels is None else tuple(map(label_in, labels.items())),
        labels is not None and entry.at("pandas_category").truth(),
    )


def space_in(entry: Reader) -> Space:
    features = tuple(
        Feature(
            name=f.at("name").text(),
            kind=f.at("kind").choice(Kind),
            lower=f.at("lower").number(infinite=True),
            upper=f.at("upper").number(infinite=True),
            immutable=f.at("immutable").truth(),
            direction=f.at("direction").choice(Direction),
            scale=f.at("scale").number(),
            weight=f.at("weight").number(),
            **prices_in(f),
            unit=None if f.at("unit").value is None else f.at("unit").text(),
            missing=f.at("missing").choice(Missing) if "missing" in f.mapping() else Missing.KEEP,
            typical=f.at("typical").number() if "typical" in f.mapping() else None,
            decimals=f.at("decimals").whole(0, LARGEST) if "decimals" in f.mapping() else None,
        )
        for f in entry.at("features").items()
    )
    measure = entry.at("measure").choice(Scale) if "measure" in entry.mapping() else None
    causes, covariance = entry.maybe("causes"), entry.maybe("covariance")
    return Space(
        features,
        tuple(map(_group_in, entry.at("groups").items())),
        measure=measure,
        causes=None if causes is None else causes_in(causes),
        covariance=None if covariance is None else covariance_in(covariance),
    )


def floats_out(values: np.ndarray[Any, Any]) -> list[float | str]:
    return [number_out(float(v)) for v in values]
