"""How much room for how much noise: the chance that a Gaussian slip stays inside a room.

A carried-out change lands at center + s with s ~ N(0, sigma^2 I) in n features (the paper's appendix on the choice of
rho). The chance that s stays inside the room {||s|| <= radius} bounds the chance of success from below: outside the
room the outcome may still be the wanted one. With t = radius / sigma and the norm of the room,

* l2 (`Ball`):       P = F(t^2), F the chi-square distribution with n degrees of freedom;
* linf (`Box`):      P = (2 Phi(t) - 1)^n;
* l1 (`Diamond`):    P = P(|Z_1| + ... + |Z_n| <= t), the distribution of a sum of n half-normal variables. It has no
  elementary form for n > 2. It is computed by inverting its Laplace transform, (1 / 2 pi i) times the integral of
  exp(s t) L(s)^n / s ds, L(s) = erfcx(s / sqrt(2)), along a hyperbola through the saddle point, which is exact to about
  13 digits for every n and far out in both tails as well. The difference between two step lengths and a safety margin
  of 1e-12 (relative) are subtracted, so that the probability is never overstated. Where less than 1e-12 is missing to 1,
  the ball inside the diamond gives the bound. Between neighbouring floats the result may fall by a few 1e-15.

All three functions take numbers or arrays (numpy broadcasting). ``radius`` and ``sigma`` are in the same unit; with a
scalar radius that is the unit of the features' scales. ``n`` counts the features that have room.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from elbowroom.errors import InputError
from elbowroom.numerics import EPS, Floats
from elbowroom.problem.distances import Distance

__all__ = ["probability", "radius", "sigma"]

SAFETY: Final = 1e-12  # relative; covers rounding in the l1 quadrature, whose own error is measured on top
ASYMPTOTE: Final = math.pi / 8  # how far the hyperbola leans to the left; below pi/4, where erfcx starts to grow
REACH: Final = 7.0  # the quadrature runs over x in [0, REACH]; the integrand falls doubly exponentially
NODES: Final = 513
VANISHING: Final = 1e-120  # P(|Z_1| + ... + |Z_n| <= t) < t^n is below all floats for n >= 3


def probability(
    radius: npt.ArrayLike, sigma: npt.ArrayLike, n: npt.ArrayLike, norm: Distance | str = "l2"
) -> float | Floats:
    """The chance that N(0, sigma^2 I) in n features stays within a radius in the norm of the room.

    Args:
        radius: At least 0; in the unit of ``sigma``.
        sigma: The standard deviation of a slip in each feature.
        n: How many features have room.
        norm: "l2" (balls), "linf" (boxes) or "l1" (diamonds).

    Returns:
        A number, or an array where any argument is one.

    Examples:
        >>> round(chance.probability(0.05, sigma=0.02, n=3), 3)
        0.9
    """
    kind = _norm(norm)
    length, spread, count = np.broadcast_arrays(_radius(radius), _sigma(sigma), _features(n))
    return _shape_back(_standard_probability(length / spread, count, kind))


def radius(
    probability: npt.ArrayLike, sigma: npt.ArrayLike, n: npt.ArrayLike, norm: Distance | str = "l2"
) -> float | Floats:
    """The radius that a room needs so that N(0, sigma^2 I) stays inside with the given probability.

    Args:
        probability: Strictly between 0 and 1.
        sigma: The standard deviation of a slip in each feature.
        n: How many features have room.
        norm: "l2" (balls), "linf" (boxes) or "l1" (diamonds).

    Returns:
        A number, or an array where any argument is one.

    Examples:
        >>> round(chance.radius(0.95, sigma=0.02, n=3, norm="linf"), 4)
        0.0478
    """
    kind = _norm(norm)
    chance, spread, count = np.broadcast_arrays(_probability(probability), _sigma(sigma), _features(n))
    return _shape_back(spread * _standard_radius(chance, count, kind))


def sigma(
    probability: npt.ArrayLike, radius: npt.ArrayLike, n: npt.ArrayLike, norm: Distance | str = "l2"
) -> float | Floats:
    """The largest standard deviation for which N(0, sigma^2 I) stays inside the room with the given probability.

    Args:
        probability: Strictly between 0 and 1.
        radius: Of the room, above 0.
        n: How many features have room.
        norm: "l2" (balls), "linf" (boxes) or "l1" (diamonds).

    Returns:
        A number, or an array where any argument is one.

    Examples:
        >>> round(chance.sigma(0.95, radius=0.05, n=3), 4)
        0.0179
    """
    kind = _norm(norm)
    chance, length, count = np.broadcast_arrays(_probability(probability), _radius(radius), _features(n))
    return _shape_back(length / _standard_radius(chance, count, kind))


# ---- the three distributions for sigma = 1 --------------------------------------------------------------------------
def _standard_probability(t: Floats, n: Floats, norm: Distance) -> Floats:
    match norm:
        case Distance.L2:
            many = special.gammainc(n / 2.0, np.square(t) / 2.0)
            return np.where(n == 1, special.erf(t / math.sqrt(2.0)), many)  # t^2 of a tiny t would vanish
        case Distance.LINF:
            outside = special.erfc(t / math.sqrt(2.0))  # of one feature; log1p keeps its digits for large n
            with np.errstate(divide="ignore"):  # t = 0: log(0) = -inf, probability 0
                inside = np.where(outside < 0.5, np.log1p(-outside), np.log(special.erf(t / math.sqrt(2.0))))
            return np.asarray(np.exp(n * inside))
        case Distance.L1:
            values = [math.exp(_log_diamond(float(x), int(k))) for x, k in zip(t.ravel(), n.ravel(), strict=True)]
            return np.array(values).reshape(t.shape)


def _standard_radius(p: Floats, n: Floats, norm: Distance) -> Floats:
    match norm:
        case Distance.L2:
            small = np.sqrt(2.0 * special.gammaincinv(n / 2.0, p))
            large = np.sqrt(2.0 * special.gammainccinv(n / 2.0, 1.0 - p))  # 1 - p is exact for p >= 1/2
            return np.where(n == 1, _standard_radius(p, n, Distance.LINF), np.where(p < 0.5, small, large))
        case Distance.LINF:
            outside = -np.expm1(np.log(p) / n)  # of one feature
            one = np.exp(np.log(p) / n)
            root = np.where(outside < 0.5, special.erfcinv(outside), special.erfinv(np.minimum(one, 0.75)))
            return np.asarray(math.sqrt(2.0) * root)
        case Distance.L1:
            values = [_diamond_radius(float(x), int(k)) for x, k in zip(p.ravel(), n.ravel(), strict=True)]
            return np.array(values).reshape(p.shape)


# ---- the distribution of |Z_1| + ... + |Z_n| ------------------------------------------------------------------------
def _log_transform(s: npt.NDArray[np.complex128]) -> npt.NDArray[np.complex128]:
    """log E exp(-s |Z|) = log erfcx(s / sqrt(2)), without overflow in the left half plane."""
    z = s / math.sqrt(2.0)
    square = z * z
    huge = (z.real < 0) & (square.real > 0)  # there erfcx(z) = 2 exp(z^2) - erfcx(-z) is dominated by its first term
    value = special.wofz(1j * np.where(huge, -z, z))
    return np.where(huge, square + np.log(2.0 - np.exp(-np.where(huge, square, 0.0)) * value), np.log(value))


@lru_cache(maxsize=4096)
def _log_diamond(t: float, n: int) -> float:
    """A lower bound on log P(|Z_1| + ... + |Z_n| <= t), tight to about 1e-12.

    The integrand exp(s t + n log L(s) - log s) is convex on s > 0; its minimum c is the saddle point. On the hyperbola
    s(x) = c + m (sin a (1 - cosh x) + i cos a sinh x) it falls off doubly exponentially, and the trapezoidal rule
    converges exponentially. m is the natural width 1 / sqrt(second derivative at c).
    """
    if t <= 0.0:
        return -math.inf
    if (
        n <= 2
    ):  # one feature: erf(t / sqrt 2); two: the diamond is a square turned by 45 degrees with half side t / sqrt 2
        outside = float(special.erfc(t / math.sqrt(2.0 * n)))
        inside = math.log1p(-outside) if outside < 0.5 else math.log(float(special.erf(t / math.sqrt(2.0 * n))))
        return n * inside
    if t < VANISHING:
        return -math.inf
    c = _saddle(t, n)
    width = _natural_width(c, n)
    x = np.linspace(0.0, REACH, NODES)
    bend, rise = math.sin(ASYMPTOTE), math.cos(ASYMPTOTE)
    s = c + width * (bend * (1.0 - np.cosh(x)) + 1j * rise * np.sinh(x))
    slope = width * (-bend * np.sinh(x) + 1j * rise * np.cosh(x))
    exponent = s * t + n * _log_transform(s) - np.log(s)
    height = float(exponent[0].real)
    values = (np.exp(exponent - height) * slope).imag / math.pi  # both halves of the symmetric path
    step = x[1] - x[0]
    fine = step * (values.sum() - 0.5 * (values[0] + values[-1]))
    coarse = 2 * step * (values[::2].sum() - 0.5 * (values[0] + values[-1]))
    rounding = SAFETY + 4 * EPS * (c * t + abs(height) + n * abs(float(_log_transform(s[:1])[0].real)))
    safe = fine - abs(fine - coarse) - rounding * abs(fine)
    quadrature = min(height + math.log(safe), math.log1p(-SAFETY)) if safe > 0 else -math.inf
    return max(quadrature, _log_ball_inside(t, n))


def _log_ball_inside(t: float, n: int) -> float:
    """A lower bound on the same: the largest ball inside the diamond has the radius t / sqrt(n), and far out almost all
    of what leaves the diamond leaves it there. It takes over where the safety margin hides how close to 1 the chance is."""
    outside = float(special.gammaincc(n / 2.0, t * t / (2.0 * n))) * (1.0 + SAFETY)
    return math.log1p(-outside) if outside < 1.0 else -math.inf


def _saddle(t: float, n: int) -> float:
    """The minimum of s t + n log erfcx(s / sqrt 2) - log s over s > 0; its derivative increases strictly."""

    def derivative(log_s: float) -> float:
        s = math.exp(log_s)
        return s * (t + n * _log_slope(s)) - 1.0

    low = high = math.log((n + 1.0) / t)  # the root if t is small; the true one is never above
    while derivative(low) > 0:
        low -= 1.0
    while derivative(high) < 0:
        high += 1.0
    return math.exp(float(optimize.brentq(derivative, low, high, xtol=1e-8))) if low < high else math.exp(low)


def _log_slope(s: float) -> float:
    """d/ds log erfcx(s / sqrt 2) = s - sqrt(2 / pi) / erfcx(s / sqrt 2); by its series where that cancels."""
    if s > 1e3:
        return (2.0 / s / s - 1.0) / s
    return s - math.sqrt(2.0 / math.pi) / float(special.erfcx(s / math.sqrt(2.0)))


def _natural_width(s: float, n: int) -> float:
    """1 / sqrt(second derivative of the exponent): n times the variance of the tilted half-normal, plus 1 / s^2."""
    if s > 1e3:  # the variance is 1 / s^2, whose square root must not underflow on the way
        return s / math.sqrt(n + 1.0)
    ratio = math.sqrt(2.0 / math.pi) / float(special.erfcx(s / math.sqrt(2.0)))
    variance = max(1.0 + s * ratio - ratio * ratio, 0.0)
    return 1.0 / math.sqrt(n * variance + 1.0 / (s * s))


@lru_cache(maxsize=4096)
def _diamond_radius(p: float, n: int) -> float:
    """The t with P(|Z_1| + ... + |Z_n| <= t) = p, found on a logarithmic scale of both."""
    wanted = math.log(p)

    def miss(log_t: float) -> float:
        return max(_log_diamond(math.exp(log_t), n), -1e6) - wanted

    low = high = math.log(n)
    while miss(low) > 0:
        low -= 1.0
    while miss(high) < 0:
        high += 1.0
        if high > 60.0:
            raise InputError(f"probability {p!r} is too close to 1 for {n} features in the l1 norm; ask for less")
    return math.exp(float(optimize.brentq(miss, low, high, xtol=1e-14, rtol=1e-14)))


# ---- input ----------------------------------------------------------------------------------------------------------
def _norm(norm: Distance | str) -> Distance:
    try:
        return Distance.parse(norm)
    except InputError:
        raise InputError(f'norm={norm!r} is unknown; use "l1", "l2" or "linf"') from None


def _numbers(values: npt.ArrayLike, what: str) -> Floats:
    try:
        if np.asarray(values).dtype == bool:
            raise TypeError("truth values are not numbers")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}={values!r} is not a number or an array of numbers") from None


def _check(values: Floats, good: npt.NDArray[np.bool_], what: str, cure: str) -> Floats:
    if not good.all():
        raise InputError(f"{what}={float(values[~good].ravel()[0])!r}: {cure}")
    return values


def _radius(values: npt.ArrayLike) -> Floats:
    x = _numbers(values, "radius")
    return _check(x, np.isfinite(x) & (x >= 0), "radius", "give a finite number of at least 0")


def _sigma(values: npt.ArrayLike) -> Floats:
    x = _numbers(values, "sigma")
    return _check(x, np.isfinite(x) & (x > 0), "sigma", "give a finite number above 0")


def _probability(values: npt.ArrayLike) -> Floats:
    x = _numbers(values, "probability")
    return _check(x, (x > 0) & (x < 1), "probability", "give a number strictly between 0 and 1")


def _features(values: npt.ArrayLike) -> Floats:
    x = _numbers(values, "n")
    good = np.isfinite(x) & (x >= 1) & (x == np.floor(x))
    return _check(x, good, "n", "give the number of features, a whole number of at least 1")


def _shape_back(values: Floats) -> float | Floats:
    values = np.asarray(values, dtype=np.float64)
    return float(values) if values.ndim == 0 else values
