"""What the estimators for scikit-learn share."""
from __future__ import annotations

from typing import Any

import numpy as np

try:
    import sklearn.base  # noqa: F401
except ImportError:
    raise ImportError("the estimators of gpucsr need scikit-learn, which is not installed. On Debian: apt-get install python3-sklearn") from None

import scipy.sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from ._convert import dense_mat, from_scipy

try:  # scikit-learn 1.6 or newer
    from sklearn.utils.validation import validate_data
except ImportError:

    def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **arguments: Any) -> Any:
        return estimator._validate_data(X, y, **arguments)


class SparseInput:
    """Tells scikit-learn 1.6 and newer that an estimator accepts sparse samples."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


def seed_of(random_state: Any) -> int:
    """Return a seed for the generators of the library; one random state gives one seed."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def check_weights(sample_weight: Any, X: Any) -> Any:
    """Return the weights of the samples as an array, or None if there are none."""
    if sample_weight is None:
        return None
    weights = np.ascontiguousarray(_check_sample_weight(sample_weight, X, dtype=np.float64))
    if (weights < 0).any() or not weights.sum() > 0:
        raise ValueError("sample_weight: weights must not be negative, and one of them must be positive")
    return weights


def samples_mat(X: Any, storage: str = "auto") -> Any:
    """Return a PETSc matrix with the samples: dense, or of type gpucsr if X is sparse."""
    return from_scipy(X, storage) if scipy.sparse.issparse(X) else dense_mat(X)


def check_choice(value: Any, choices: Any, name: str) -> Any:
    if value not in choices:
        raise ValueError(f"{name}={value!r} is unknown. Use one of {', '.join(map(repr, choices))}")
    return value
