"""k-means clustering with the interface of scikit-learn."""
from __future__ import annotations

import ctypes
import numbers
import warnings
from contextlib import nullcontext
from typing import Any, Optional, Union

import numpy as np
import scipy.sparse

from ._estimator import SparseInput, check_choice, check_weights, samples_mat, seed_of, validate_data  # first: it checks that scikit-learn is installed
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import cosine_distances, euclidean_distances
from sklearn.utils.validation import check_is_fitted

from ._convert import as_vec, dense_mat
from ._library import library
from ._monitor import Bar, Watch

__all__ = ["KMeans"]

_STARTS = {"random": 0, "k-means++": 1, "k-means||": 2}  # the values of KMeansStart
_METRICS = {"euclidean": 0, "cosine": 1}  # the values of KMeansMetric
_STORAGES = {"auto": 0, "single": 1, "double": 2}  # the values of KMeansStorage
_LABELS, _MAX_IT = 1, -1  # KMEANS_CONVERGED_LABELS, KMEANS_DIVERGED_MAX_IT


class KMeans(SparseInput, TransformerMixin, ClusterMixin, BaseEstimator):
    """k-means clustering with exact and repeatable results.

    Labels are those of the nearest centroids in double precision, and results have the same bits on every device.

    Parameters
    ----------
    n_clusters
        Number of clusters.
    init
        ``"k-means++"``, ``"k-means||"``, ``"random"``, or an array with a centroid in each row.
    n_init
        Number of starts, of which the one with the least inertia is kept. ``"auto"`` is 10 for ``init="random"``, else 1.
    max_iter
        Maximum number of iterations of a start.
    tol
        The iteration stops when the squared norm of the change of the centroids is at most tol times the mean variance of the features. 0, the
        default, iterates until no label changes.
    metric
        ``"euclidean"``, or ``"cosine"`` for 1 minus the cosine of the angle.
    storage
        Precision of the samples on the device: ``"auto"`` is single precision if it changes no value, else double precision.
    random_state
        Seed of the start.
    progress
        Whether to show a progress bar of tqdm. On a GPU, each iteration then waits for the host.

    Attributes
    ----------
    cluster_centers_, labels_, inertia_, n_iter_
        As in scikit-learn.

    Examples
    --------
    >>> import gpucsr
    >>> km = gpucsr.KMeans(n_clusters=2, random_state=0).fit([[1.0], [2.0], [3.0], [11.0], [12.0]])
    >>> km.inertia_, sorted(km.cluster_centers_.ravel().tolist())
    (2.5, [2.0, 11.5])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Union[str, Any] = "k-means++",
        n_init: Union[str, int] = "auto",
        max_iter: int = 300,
        tol: float = 0.0,
        metric: str = "euclidean",
        storage: str = "auto",
        random_state: Any = None,
        progress: bool = False,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.metric = metric
        self.storage = storage
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "KMeans":
        """Compute the clusters of the samples, the rows of a dense or sparse matrix."""
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        weights = check_weights(sample_weight, X)
        given = not isinstance(self.init, str)
        check_choice(self.metric, _METRICS, "metric")
        check_choice(self.storage, _STORAGES, "storage")
        if not given:
            check_choice(self.init, _STARTS, "init")
        for name in ("n_clusters", "max_iter") + (() if self.n_init == "auto" else ("n_init",)):
            if not isinstance(getattr(self, name), numbers.Integral):
                raise TypeError(f"{name}={getattr(self, name)!r}: pass an integer" + (', or "auto"' if name == "n_init" else ""))
        if not 1 <= self.n_clusters <= X.shape[0]:
            raise ValueError(f"n_clusters={self.n_clusters}: there are n_samples={X.shape[0]} samples. Use at least 1 and at most the number of samples")
        n_init = (10 if not given and self.init == "random" else 1) if self.n_init == "auto" else int(self.n_init)
        if n_init < 1 or self.max_iter < 1 or self.tol < 0:
            raise ValueError(f"n_init={n_init}, max_iter={self.max_iter}, tol={self.tol}: n_init and max_iter must be at least 1, tol at least 0")
        lib = library()
        mat = samples_mat(X)
        with lib.solver("KMeans", mat) as km, Bar(self.progress, "KMeans", "iterations") as bar:
            self._configure(lib, km, X, given, n_init)
            watch = Watch(lib, "KMeans", [km], lambda k, it, inertia, changed: bar.move("inertia", inertia)) if self.progress else nullcontext()
            lib.KMeansSetPoints(km, mat)
            vec = None if weights is None else as_vec(weights)
            lib.KMeansSetWeights(km, vec)
            with watch:
                self._solve(lib, km, X, weights, given)
            self._read(lib, km, mat)
        self._n_features_out = len(self.cluster_centers_)
        return self

    def _configure(self, lib: Any, km: int, X: Any, given: bool, n_init: int) -> None:
        lib.KMeansSetClusters(km, self.n_clusters)
        lib.KMeansSetMetric(km, _METRICS[self.metric])
        lib.KMeansSetStorage(km, _STORAGES[self.storage])
        lib.KMeansSetSeed(km, seed_of(self.random_state))
        if given:
            start = np.array(self.init, dtype=np.float64)
            if start.shape != (self.n_clusters, X.shape[1]):
                raise ValueError(f"init has the shape {start.shape}. Pass an array of the shape {(self.n_clusters, X.shape[1])}: n_clusters and the number of features")
            lib.KMeansSetStartCentroids(km, dense_mat(start))
        else:
            lib.KMeansSetStart(km, _STARTS[self.init])
            lib.KMeansSetRestarts(km, n_init)
        stol = np.sqrt(self.tol * _mean_variance(X)) if self.tol else 0.0
        lib.KMeansSetTolerances(km, 0.0, stol, self.max_iter)

    def _solve(self, lib: Any, km: int, X: Any, weights: Optional[np.ndarray], given: bool) -> None:
        try:
            lib.KMeansSolve(km)
        except lib.Error:
            distinct = _count_distinct(X, weights)
            if given or distinct >= self.n_clusters:
                raise
            lib.KMeansSetClusters(km, distinct)
            lib.KMeansSolve(km)

    def _read(self, lib: Any, km: int, mat: Any) -> None:
        centroids = ctypes.c_void_p()
        lib.KMeansGetCentroids(km, ctypes.byref(centroids))
        self.cluster_centers_ = lib.dense_array(centroids.value)
        lib.MatDestroy(ctypes.byref(centroids))
        self.inertia_ = lib.get(lib.KMeansGetInertia, km, ctypes.c_double)
        self.n_iter_ = lib.get(lib.KMeansGetIterationNumber, km, lib.int)
        reason = lib.get(lib.KMeansGetConvergedReason, km, ctypes.c_int)
        if reason == _LABELS:
            self.labels_ = lib.is_array(lib.get(lib.KMeansGetLabels, km, ctypes.c_void_p))
        else:  # the centroids have moved after the last assignment
            self.labels_ = _predict(lib, km, mat)
        if reason == _MAX_IT:
            warnings.warn(f"KMeans: labels still changed after max_iter={self.max_iter} iterations. Increase max_iter or tol", ConvergenceWarning, stacklevel=3)
        missing = self.n_clusters - len(self.cluster_centers_)
        if missing > 0:  # fewer distinct samples than clusters: repeat a centroid, which gets no samples because ties go to the lowest number
            self.cluster_centers_ = np.vstack([self.cluster_centers_, np.repeat(self.cluster_centers_[:1], missing, axis=0)])
        distinct = len(np.unique(self.labels_))
        if distinct < self.n_clusters:
            warnings.warn(f"Number of distinct clusters ({distinct}) is smaller than n_clusters ({self.n_clusters}). Samples may be equal", ConvergenceWarning, stacklevel=3)

    def _check(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)

    def predict(self, X: Any, sample_weight: Any = None) -> np.ndarray:
        """Return the number of the nearest centroid of each sample."""
        X = self._check(X)
        lib = library()
        mat = samples_mat(X)
        with lib.solver("KMeans", mat) as km:
            lib.KMeansSetClusters(km, len(self.cluster_centers_))
            lib.KMeansSetMetric(km, _METRICS[self.metric])
            lib.KMeansSetStorage(km, _STORAGES[self.storage])
            lib.KMeansSetStartCentroids(km, dense_mat(self.cluster_centers_))
            return _predict(lib, km, mat)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Compute the clusters, and return the label of each sample."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X: Any) -> np.ndarray:
        """Return the distances from the samples to all centroids."""
        return self._distances(self._check(X))

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Compute the clusters, and return the distances from the samples to all centroids."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def _distances(self, X: Any, squared: bool = False) -> np.ndarray:
        if self.metric == "cosine":
            return cosine_distances(X, self.cluster_centers_)
        return euclidean_distances(X, self.cluster_centers_, squared=squared)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the inertia of the samples: the sum of their distances from the nearest centroids, squared for the Euclidean metric."""
        X = self._check(X)
        weights = check_weights(sample_weight, X)
        nearest = self._distances(X, squared=True).min(axis=1)
        return -float(nearest.sum() if weights is None else weights @ nearest)

    def _more_tags(self) -> dict:
        # As for scikit-learn's KMeans.
        return {"_xfail_checks": {"check_sample_weights_invariance": "zero sample_weight draws other first centroids than removed samples"}}

    def __sklearn_tags__(self) -> Any:
        return super().__sklearn_tags__()


def _predict(lib: Any, km: int, mat: Any) -> np.ndarray:
    labels = ctypes.c_void_p()
    lib.KMeansPredict(km, mat, ctypes.byref(labels))
    try:
        return lib.is_array(labels.value)
    finally:
        lib.ISDestroy(ctypes.byref(labels))


def _count_distinct(X: Any, weights: Optional[np.ndarray]) -> int:
    """Return the number of distinct samples that have a positive weight."""
    X = X if weights is None else X[weights > 0]
    if scipy.sparse.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        return len({(X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in zip(X.indptr[:-1], X.indptr[1:])})
    return len(np.unique(X, axis=0))


def _mean_variance(X: Any) -> float:
    if not scipy.sparse.issparse(X):
        return float(X.var(axis=0).mean())
    mean = np.asarray(X.mean(axis=0)).ravel()
    return float((np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2).mean())
