"""Convex polygons in the plane: cutting them by lines, and growing them by a room. Plain numpy, vertices anticlockwise."""

from __future__ import annotations

import numpy as np

ON_LINE = 1e-12  # relative; a vertex this near to a line lies on it
SMALLEST = 1e-11  # polygons thinner than this are dropped


def rectangle(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])


def side(polygon: np.ndarray, normal: np.ndarray, limit: float) -> np.ndarray | None:
    """The part with normal . p <= limit; None if it is (almost) empty."""
    value = polygon @ normal - limit
    value[np.abs(value) <= ON_LINE * (np.abs(polygon) @ np.abs(normal) + abs(limit))] = 0.0
    if (value >= 0).all():
        return None
    if (value <= 0).all():
        return polygon
    points = []
    for i in range(len(polygon)):
        j = (i + 1) % len(polygon)
        if value[i] <= 0:
            points.append(polygon[i])
        if value[i] * value[j] < 0:
            share = value[i] / (value[i] - value[j])
            points.append(polygon[i] + share * (polygon[j] - polygon[i]))
    found = _without_repeats(np.array(points))
    return found if len(found) >= 3 and _thickness(found) > SMALLEST else None


def split(polygons: list[np.ndarray], normal: np.ndarray, limit: float) -> list[np.ndarray]:
    """All parts on both sides of a line."""
    if not np.abs(normal).max() > 0.0:
        return polygons
    parts = [p for polygon in polygons for p in (side(polygon, normal, limit), side(polygon, -normal, -limit))]
    return [p for p in parts if p is not None]


def hull(points: np.ndarray) -> np.ndarray:
    """The convex hull (Andrew's monotone chain)."""
    ordered = points[np.lexsort((points[:, 1], points[:, 0]))]

    def chain(rows: np.ndarray) -> list[np.ndarray]:
        kept: list[np.ndarray] = []
        for p in rows:
            while len(kept) >= 2 and _turn(kept[-2], kept[-1], p) <= 0.0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def half_planes(polygon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Outward unit normals and offsets of the sides: inside iff normals @ p <= offsets."""
    along = np.roll(polygon, -1, axis=0) - polygon
    length = np.linalg.norm(along, axis=1)
    keep = length > 0
    normal = np.stack([along[keep, 1], -along[keep, 0]], axis=1) / length[keep, None]
    return normal, np.einsum("ij,ij->i", normal, polygon[keep])


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _without_repeats(points: np.ndarray) -> np.ndarray:
    size = np.abs(points).max(initial=1e-300)
    keep = np.abs(points - np.roll(points, 1, axis=0)).max(axis=1) > ON_LINE * size
    return points[keep]


def _thickness(polygon: np.ndarray) -> float:
    """The smallest width over the directions of the sides."""
    normal, offset = half_planes(polygon)
    return float((offset - (polygon @ normal.T).min(axis=0)).min(initial=np.inf))
