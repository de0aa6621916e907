"""What all scikit-learn importers need: fitted or not, column names, class labels, finite arrays."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from elbowroom.errors import InputError, UnsupportedModel
from elbowroom.importers.inputs import Columns
from elbowroom.models.base import Label
from elbowroom.numerics import EPS, Floats
from elbowroom.visible import named

# Where predict compares probabilities and not scores: expit(z) > 1/2, or the first largest softmax entry. Close to a tie
# these lose at most a few ulp of one half (or of 1 / sum), which a score difference of 16 eps outweighs.
PROBABILITY_ERROR: Final = 16 * EPS
MOST_COLUMNS: Final = 10**7


def require_fitted(estimator: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise InputError(f"this {type(estimator).__name__} is not fitted; call fit first") from None


def column_count(estimator: Any) -> int:
    """How many columns the estimator was fitted on; a number that nothing can have been fitted on is refused before
    anything is made of that size."""
    count = estimator.n_features_in_
    if not isinstance(count, (int, np.integer)) or not 0 <= count <= MOST_COLUMNS:
        raise InputError(
            f"this {type(estimator).__name__} says that it was fitted on {named(count)} columns (n_features_in_); the object is "
            "damaged: fit it again"
        )
    return int(count)


def columns(model: Any) -> Columns:
    """Width and names of what the estimator was fitted on."""
    require_fitted(model)
    names = getattr(model, "feature_names_in_", None)
    return Columns.numbers(column_count(model), None if names is None else tuple(str(name) for name in names))


def labels(model: Any) -> tuple[Label, ...]:
    """Class labels as plain Python values."""
    classes = model.classes_
    if isinstance(classes, list) or np.ndim(classes) != 1 or getattr(model, "n_outputs_", 1) != 1:
        _refuse_several_outputs(model)
    return _plain(model, np.asarray(classes))


def binarized_labels(model: Any) -> tuple[Label, ...]:
    """Class labels of an estimator that encodes them with a LabelBinarizer, where several outputs hide."""
    if str(model._label_binarizer.y_type_).startswith("multilabel"):
        _refuse_several_outputs(model)
    return _plain(model, np.asarray(model.classes_))


def _plain(model: Any, classes: npt.NDArray[Any]) -> tuple[Label, ...]:
    plain = tuple(classes.tolist())
    if classes.dtype.kind in "mM" and any(isinstance(label, int) for label in plain):
        kind = {"M": "datetime64", "m": "timedelta64"}[classes.dtype.kind]  # numpy has no plain value for nanoseconds
        raise UnsupportedModel(
            f"the labels of this {type(model).__name__} are {classes.dtype}, finer or longer than a plain Python date; "
            f'fit it on y.astype("{kind}[us]"), or on text'
        )
    return plain


def _refuse_several_outputs(model: Any) -> None:
    raise UnsupportedModel(
        f"this {type(model).__name__} predicts several outputs at once; only one label per row can be explained: "
        "fit one model per output"
    )


def finite(model: Any, attribute: str, values: npt.ArrayLike) -> Floats:
    """The values as float64, refused if one of them is not a finite number."""
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0]) if array.ndim else ()
        where = f"[{', '.join(map(str, place))}]" if place else ""
        raise UnsupportedModel(
            f"{type(model).__name__}.{attribute}{where} is {array[place]}; a model with such a value has no scores"
        )
    return array
