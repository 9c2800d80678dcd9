"""Centralities, core numbers, components and communities of the nodes of a graph."""
from __future__ import annotations

import ctypes
import numbers
from contextlib import nullcontext
from typing import Any, Dict, Hashable, List, Optional, Tuple, Union

import numpy as np

from ._convert import from_scipy
from ._library import library
from ._monitor import Bar, Watch
from ._pagerank import ConvergenceError, _links

_MEASURES = ("hits", "eigenvector", "katz", "salsa", "components", "core", "labels")
_SCALES = ("auto", "none", "sum", "norm", "max")  # the values of NetworkScale, in order
# The values of NetworkConvergedReason for which there is a result that is not converged, and what a caller can do.
_ITS, _STAGNATION, _ZERO, _ALPHA = -3, -4, -5, -6
_SCORE = 0  # NETWORK_RESULT_SCORE


class _Facts:
    """Attributes of results.

    Attributes
    ----------
    scores
        The values as an array in the order of the nodes; for hits and salsa a row with the authorities and one with the hubs.
    names
        The names of the rows.
    nodes
        The nodes in this order.
    quantities
        Other results by name: the eigenvalue, the number of components, the modularity and so on.
    group_sizes
        The sizes of the components or communities in descending order, else empty. Group k has the number k + 1 in ``scores``.
    residual, error_bound
        Residual of the iteration; for katz a bound on the relative error of every value. None if the measure has none.
    iterations
        Number of iterations.
    """

    scores: np.ndarray
    names: Tuple[str, ...]
    nodes: Any
    quantities: Dict[str, float]
    group_sizes: np.ndarray
    residual: Optional[float]
    error_bound: Optional[float]
    iterations: int

    def top(self, k: int = 10, name: Optional[str] = None) -> List[Tuple[Hashable, float]]:
        """Return the k nodes of the highest values, with their values, in descending order. ``name`` selects authority or hub."""
        if name is not None and name not in self.names:
            raise ValueError(f"name={name!r} is unknown. Use one of {', '.join(self.names)}")
        scores = np.atleast_2d(self.scores)[0 if name is None else self.names.index(name)]
        return [(self.nodes[i], scores[i].item()) for i in np.argsort(-scores, kind="stable")[:k]]


class NetworkDict(dict, _Facts):
    """Values by the names of the nodes, with the attributes ``scores``, ``names``, ``nodes``, ``quantities``, ``group_sizes``, ``error_bound``."""


class NetworkArray(_Facts):
    """Values in the order of the nodes. An index and ``numpy.asarray`` act on ``scores``: for hits and salsa, index 0 gives the authorities of all nodes and index 1 the hubs."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.scores, dtype=dtype)

    def __getitem__(self, index: Any) -> Any:
        return self.scores[index]

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<{', '.join(self.names)} of {len(self.nodes)} nodes>"


def network(
    G: Any,
    measure: str = "hits",
    *,
    alpha: Optional[float] = None,
    damping: float = 0.85,
    scale: str = "auto",
    tol: float = 1e-8,
    max_iter: int = 10000,
    weight: Optional[str] = "weight",
    storage: str = "auto",
    progress: bool = False,
) -> Union[NetworkDict, NetworkArray]:
    """Compute a measure of the nodes of a graph.

    Parameters
    ----------
    G
        A graph of networkx or igraph, directed or not, or a square SciPy matrix or array whose entry (i, j) is the weight of the link from i to j.
    measure
        ``"hits"``, ``"eigenvector"``, ``"katz"`` or ``"salsa"``: centralities. ``"core"``: core numbers. ``"components"``: numbers of the weakly
        connected components. ``"labels"``: numbers of communities, by label propagation. Components and communities are counted from 1 by
        descending size.
    alpha
        katz: weight of a link in a walk, less than 1 divided by the largest eigenvalue. The default is ``damping`` divided by that eigenvalue.
    damping
        katz: alpha times the largest eigenvalue, if alpha is not given.
    scale
        Scale of centralities. ``"sum"``: their sum is 1. ``"norm"``: their 2-norm is 1. ``"max"``: the largest value is 1. ``"none"``: not scaled.
        ``"auto"``: ``"none"`` for katz and ``"sum"`` for the others.
    tol
        hits, eigenvector: upper bound on the residual divided by the eigenvalue. katz: upper bound on the relative error of every value. Other
        measures ignore it.
    max_iter
        Maximum number of iterations.
    weight
        Attribute of the edges with the weights of the links, for networkx and igraph. Edges without it have the weight 1. ``None`` ignores weights.
    storage
        Precision of the weights on the device, as for ``from_scipy``.
    progress
        Whether to show a progress bar of tqdm. It moves at each restart (hits, eigenvector), linear solve (katz) or sweep (labels).

    Returns
    -------
    NetworkDict or NetworkArray
        For networkx a dictionary from nodes to values, for igraph and SciPy an object that behaves as an array. hits and salsa give an authority and
        a hub score for each node. The attributes are ``scores``, ``names``, ``nodes``, ``quantities``, ``group_sizes``, ``residual``, ``error_bound``
        and ``iterations``; the method ``top`` returns the nodes of the highest values.

    Raises
    ------
    ConvergenceError
        The iterations did not reach the tolerance; or all values of hits or salsa are 0 because the graph has no links, or those of eigenvector because it has
        no cycle.

    Examples
    --------
    >>> import gpucsr, scipy.sparse
    >>> A = scipy.sparse.csr_matrix([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    >>> gpucsr.network(A, "hits").top(1, "authority")[0][0], gpucsr.network(A, "core").scores.tolist()
    (2, [2, 2, 2, 0])
    >>> gpucsr.network(A, "components").group_sizes.tolist()
    [3, 1]
    """
    _check(measure, alpha, damping, scale, tol, max_iter)
    links, nodes, named = _links(G, weight)
    if links.shape[0] == 0:
        raise ValueError("the graph has no nodes. Pass a graph with at least one node")
    lib = library()
    mat = from_scipy(links, storage)
    if hasattr(G, "is_directed") and not G.is_directed():
        mat.setOption(lib.PETSc.Mat.Option.SYMMETRIC, True)  # then the solver does not need the transpose
    with lib.solver("Network", mat) as nw, Bar(progress, f"network {measure}", "iterations") as bar:
        lib.NetworkSetGraph(nw, mat)
        lib.NetworkSetMeasure(nw, measure.encode())
        lib.NetworkSetScale(nw, _SCALES.index(scale))
        lib.NetworkSetTolerances(nw, tol, max_iter)
        lib.NetworkSetDamping(nw, damping)
        if alpha is not None:
            lib.NetworkSetAlpha(nw, alpha)
        text = "changes" if measure == "labels" else "residual"
        with Watch(lib, "Network", [nw], lambda k, it, value: bar.move(text, value, it)) if progress else nullcontext() as watch:
            lib.NetworkSolve(nw)
        out = _result(lib, nw, nodes, named)
        _check_reason(lib.get(lib.NetworkGetConvergedReason, nw, ctypes.c_int), measure, out, alpha, tol)
        del watch  # the solver has called it for the last time
    return out


def _check(measure: str, alpha: Any, damping: Any, scale: str, tol: Any, max_iter: Any) -> None:
    for name, value, choices in (("measure", measure, _MEASURES), ("scale", scale, _SCALES)):
        if value not in choices:
            raise ValueError(f"{name}={value!r} is unknown. Use one of {', '.join(choices)}")
    for name, value in (("damping", damping), ("tol", tol), ("max_iter", max_iter), *([] if alpha is None else [("alpha", alpha)])):
        if not isinstance(value, numbers.Integral if name == "max_iter" else numbers.Real):
            raise TypeError(f"{name}={value!r}: pass {'an integer' if name == 'max_iter' else 'a number'}")
    if alpha is not None and measure != "katz":
        raise ValueError(f"alpha={alpha!r}: the measure {measure} has no alpha. Use measure='katz', or no alpha")
    if alpha is not None and not alpha > 0:
        raise ValueError(f"alpha={alpha!r}: it must be positive")


def _result(lib: Any, nw: int, nodes: Any, named: bool) -> Union[NetworkDict, NetworkArray]:
    count, names, vectors = lib.int(), ctypes.POINTER(ctypes.c_char_p)(), ctypes.POINTER(ctypes.c_void_p)()
    lib.NetworkGetResults(nw, ctypes.byref(count), ctypes.byref(names), ctypes.byref(vectors))
    scores = np.array([lib.vec_array(vectors[i]) for i in range(count.value)])
    labels = tuple(names[i].decode() for i in range(count.value))
    if lib.get(lib.NetworkGetResultType, nw, ctypes.c_int) != _SCORE:
        scores = scores.astype(np.int64)
    scores = scores[0] if len(scores) == 1 else scores
    out = NetworkDict(zip(nodes, scores.tolist() if scores.ndim == 1 else scores.T)) if named else NetworkArray()
    out.scores, out.names, out.nodes = scores, labels, nodes
    residual, bound = lib.get2(lib.NetworkGetResidual, nw)
    out.residual, out.error_bound = None if residual < 0 else residual, None if bound < 0 else bound
    out.iterations = lib.get(lib.NetworkGetIterationNumber, nw, lib.int)
    values = ctypes.POINTER(ctypes.c_double)()
    lib.NetworkGetQuantities(nw, ctypes.byref(count), ctypes.byref(names), ctypes.byref(values))
    out.quantities = {names[i].decode(): values[i] for i in range(count.value)}
    sizes, members = ctypes.POINTER(lib.int)(), ctypes.POINTER(lib.int)()
    lib.NetworkGetGroups(nw, ctypes.byref(count), ctypes.byref(sizes), ctypes.byref(members))
    out.group_sizes = np.array([sizes[i] for i in range(count.value)], dtype=np.int64)
    return out


def _check_reason(reason: int, measure: str, out: _Facts, alpha: Optional[float], tol: float) -> None:
    if reason > 0:
        return
    if reason == _ALPHA:
        raise ValueError(f"alpha={alpha:g}: it must be less than 1 divided by the largest eigenvalue. Use a smaller alpha, or damping instead of alpha")
    if reason == _ZERO:
        raise ConvergenceError(f"{measure}: all values are 0, because the graph has no {'cycle' if measure == 'eigenvector' else 'links'}. Use another measure, for example katz")
    why = "the linear solver stagnated" if reason == _STAGNATION else f"the residual is {out.residual:.3g}" if out.residual is not None else "the result still changed"
    raise ConvergenceError(f"{measure}: after {out.iterations} iterations {why}, tol={tol:g}. Increase max_iter or tol")
