"""Multidimensional scaling with the interface of scikit-learn."""
from __future__ import annotations

import ctypes
import warnings
from typing import Any, Dict

import numpy as np

from ._estimator import check_choice, seed_of, validate_data  # first: it checks that scikit-learn is installed
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from ._convert import as_vec, dense_mat
from ._library import library
from ._monitor import Bar, Watch

__all__ = ["MDS"]

_STORAGE_DOUBLE = 1  # SMACOF_STORAGE_DOUBLE
_START_TORGERSON, _START_RANDOM, _START_GIVEN = 1, 2, 3  # the values of SMACOFStart
_DISPARITIES = {True: 0, False: 3}  # SMACOF_DISPARITY_RATIO, SMACOF_DISPARITY_ORDINAL


class MDS(BaseEstimator):
    """Multidimensional scaling by majorisation (SMACOF).

    Parameters
    ----------
    n_components
        Number of coordinates of each point, at most 8.
    metric
        Whether distances approximate the dissimilarities. If false, they approximate a monotone function of them.
    n_init
        Number of starts, of which the one with the least stress is kept. All but the first are random.
    init
        ``"classical"``, classical scaling, or ``"random"``: the first start.
    max_iter
        Maximum number of iterations of a start.
    eps
        The iteration stops when a step lowers the normalised stress by less than this.
    dissimilarity
        ``"euclidean"``: X holds a point in each row, and the dissimilarities are their Euclidean distances. ``"precomputed"``: X is the symmetric matrix of
        the dissimilarities.
    random_state
        Seed of the random starts.
    progress
        Whether to show a progress bar of tqdm.

    Attributes
    ----------
    embedding_
        The coordinates, with a row for each point.
    stress_
        Sum of the squared differences between distances and disparities.
    normalized_stress_
        stress_ divided by the sum of the squared disparities.
    history_
        The normalised stress after every iteration of the best start.
    n_iter_
        Number of iterations of the best start.

    Examples
    --------
    >>> import gpucsr
    >>> mds = gpucsr.MDS(dissimilarity="precomputed").fit([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> mds.embedding_.shape, bool(mds.stress_ < 1e-4)
    ((3, 2), True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: bool = True,
        n_init: int = 1,
        init: str = "classical",
        max_iter: int = 1000,
        eps: float = 1e-6,
        dissimilarity: str = "euclidean",
        random_state: Any = None,
        progress: bool = False,
    ):
        self.n_components = n_components
        self.metric = metric
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.eps = eps
        self.dissimilarity = dissimilarity
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None, init: Any = None) -> "MDS":
        """Compute the coordinates. ``init`` is an array of first coordinates, or None."""
        self.fit_transform(X, y, init)
        return self

    def fit_transform(self, X: Any, y: Any = None, init: Any = None) -> np.ndarray:
        """Compute the coordinates, and return them."""
        X = validate_data(self, X, dtype=np.float64)
        precomputed = check_choice(self.dissimilarity, ("euclidean", "precomputed"), "dissimilarity") == "precomputed"
        n = X.shape[0]
        if precomputed and X.shape[1] != n:
            raise ValueError(f"X has the shape {X.shape}. Pass a square matrix of dissimilarities, or use dissimilarity='euclidean'")
        if self.n_init < 1 or self.max_iter < 1:
            raise ValueError(f"n_init={self.n_init}, max_iter={self.max_iter}: both must be at least 1")
        if n == 1:
            raise ValueError("X has 1 sample. Pass at least 2 samples")
        lib = library()
        mat = dense_mat(X)
        with lib.solver("SMACOF", mat) as s, Bar(self.progress, "MDS", "iterations") as bar:
            lib.SMACOFSetStorage(s, _STORAGE_DOUBLE)
            if precomputed:
                lib.SMACOFSetDissimilarities(s, mat, None)
            else:
                lib.SMACOFSetFeatures(s, mat, 0)
            lib.SMACOFSetDimension(s, self.n_components)
            lib.SMACOFSetDisparity(s, _DISPARITIES[bool(self.metric)])
            start = self._start(init, n)
            if start is not None:
                lib.SMACOFSetStartConfiguration(s, start)
                lib.SMACOFSetStart(s, _START_GIVEN)
            else:
                lib.SMACOFSetStart(s, _START_TORGERSON if check_choice(self.init, ("classical", "random"), "init") == "classical" else _START_RANDOM)
            lib.SMACOFSetStarts(s, self.n_init, 8, seed_of(self.random_state))
            lib.SMACOFSetTolerances(s, self.eps, self.max_iter)
            starts: Dict[int, list] = {}

            def observe(k: int, start: int, it: int, stress: float, reason: int) -> None:
                if not reason:  # the last call of a start repeats its stress
                    starts.setdefault(start, []).append(stress)
                    bar.move("normalised stress", stress)

            with Watch(lib, "SMACOF", [s], observe) as watch:
                lib.SMACOFSolve(s)
            self._read(lib, s, n)
            del watch  # the solver has called it for the last time
        paths = list(starts.values()) or [[self.normalized_stress_]]
        self.history_ = np.array(min(paths, key=lambda path: abs(path[-1] - self.normalized_stress_)))
        return self.embedding_

    def _start(self, init: Any, n: int) -> Any:
        if init is None:
            return None
        start = np.asarray(init, dtype=np.float64)
        if start.shape != (n, self.n_components):
            raise ValueError(f"init has the shape {start.shape}. Pass an array of the shape {(n, self.n_components)}: points and n_components")
        return as_vec(np.ascontiguousarray(start.T).reshape(-1))

    def _read(self, lib: Any, s: int, n: int) -> None:
        vector = lib.vec_array(lib.get(lib.SMACOFGetConfiguration, s, ctypes.c_void_p))
        self.embedding_ = np.ascontiguousarray(vector.reshape(-1, n).T)
        self.normalized_stress_, self.stress_ = lib.get2(lib.SMACOFGetStress, s)
        self.n_iter_ = lib.get(lib.SMACOFGetIterationNumber, s, lib.int)
        if lib.get(lib.SMACOFGetConvergedReason, s, ctypes.c_int) < 0:
            warnings.warn(f"MDS: the stress still fell after max_iter={self.max_iter} iterations. Increase max_iter or eps", ConvergenceWarning, stacklevel=3)

    def _more_tags(self) -> dict:
        return {"pairwise": self.dissimilarity == "precomputed"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.dissimilarity == "precomputed"
        return tags
