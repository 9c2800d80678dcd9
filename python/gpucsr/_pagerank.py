"""PageRank of the nodes of a graph, with a bound on the error."""
from __future__ import annotations

import ctypes
import numbers
from contextlib import nullcontext
from typing import Any, Dict, Hashable, List, Optional, Tuple, Union

import numpy as np
import scipy.sparse

from ._convert import as_vec, from_scipy
from ._library import library
from ._monitor import Bar, Watch

# The values of PageRankDanglingType. A distribution has the value 2.
_DANGLING = {"teleport": 0, "uniform": 1, "self": 3, "drop": 4}
_METHODS = ("gauss_seidel", "power", "inner_outer", "jacobi", "ksp")
_CONVERGED = 2  # PAGERANK_CONVERGED_ERROR_BOUND


class ConvergenceError(RuntimeError):
    """The maximum number of iterations did not suffice."""


ConvergenceError.__module__ = "gpucsr"  # the name under which programs know it


class _Facts:
    """Attributes of results.

    Attributes
    ----------
    ranks
        The ranks as an array in the order of the nodes; with several personalisations one row for each.
    nodes
        The nodes in this order.
    error_bound
        Upper bound on the sum of the absolute errors of the ranks.
    residual
        Sum of the absolute values of the residual.
    iterations
        Number of iterations.
    """

    ranks: np.ndarray
    nodes: Any
    error_bound: float
    residual: float
    iterations: int

    def top(self, k: int = 10) -> List[Tuple[Hashable, float]]:
        """Return the k nodes of the highest ranks, with their ranks, in descending order."""
        ranks = self.ranks if self.ranks.ndim == 1 else self.ranks[0]
        return [(self.nodes[i], float(ranks[i])) for i in np.argsort(-ranks, kind="stable")[:k]]


class RankDict(dict, _Facts):
    """Ranks by the names of the nodes, as from ``networkx.pagerank``, with the attributes ``ranks``, ``error_bound``, ``residual``, ``iterations``."""


class RankArray(_Facts):
    """Ranks by the numbers of the nodes. ``numpy.asarray`` and an index give the ranks."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self.ranks, dtype=dtype)

    def __getitem__(self, index: Any) -> Any:
        return self.ranks[index]

    def __len__(self) -> int:
        return len(self.ranks)

    def __repr__(self) -> str:
        return f"<ranks of {len(self.nodes)} nodes, error at most {self.error_bound:.3g}>"


def pagerank(
    G: Any,
    damping: float = 0.85,
    *,
    personalization: Any = None,
    dangling: Any = "teleport",
    tol: float = 1e-8,
    max_iter: int = 10000,
    weight: Optional[str] = "weight",
    method: Optional[str] = None,
    storage: str = "auto",
    progress: bool = False,
) -> Union[RankDict, RankArray]:
    """Compute the PageRank of the nodes of a graph.

    The ranks x solve ``x = d P x + (1 - d) v``. P holds the probabilities of the links, d is the damping and v the personalisation.

    Parameters
    ----------
    G
        A graph of networkx or igraph, directed or not, or a square SciPy matrix or array whose entry (i, j) is the weight of the link from i to j.
    damping
        Probability of following a link; ``alpha`` of networkx.
    personalization
        Weights of the nodes to which the random walk restarts: a dictionary from nodes to weights, or an array with an entry for each node. It is
        scaled to the sum 1. A list of dictionaries, or an array with several rows, gives one vector of ranks each. The default is uniform.
    dangling
        Where the walk continues from a node without links: ``"teleport"`` like a restart, ``"uniform"``, ``"self"``, ``"drop"``, or a dictionary or
        array of weights.
    tol
        Upper bound on the error: the sum of the absolute errors of all ranks.
    max_iter
        Maximum number of iterations.
    weight
        Attribute of the edges with the weights of the links, for networkx and igraph. Edges without it have the weight 1. ``None`` ignores weights.
    method
        ``"gauss_seidel"``, ``"power"``, ``"inner_outer"``, ``"jacobi"`` or ``"ksp"``. The default is power for several personalisations, else gauss_seidel.
    storage
        Precision of the weights on the device, as for ``from_scipy``.
    progress
        Whether to show a progress bar of tqdm. On a GPU, each iteration then waits for the host.

    Returns
    -------
    RankDict or RankArray
        For networkx a dictionary from nodes to ranks, or to arrays of ranks if there are several personalisations. For igraph and SciPy an object that
        behaves as an array. Both have the attributes ``error_bound``, ``residual``, ``iterations``, ``ranks`` and ``nodes``, and the method ``top``.

    Raises
    ------
    ConvergenceError
        The iterations did not reach the tolerance.

    Examples
    --------
    >>> import gpucsr, scipy.sparse
    >>> ranks = gpucsr.pagerank(scipy.sparse.csr_matrix([[0, 1, 0], [0, 0, 1], [1, 1, 0]]))
    >>> [node for node, rank in ranks.top(2)]
    [1, 2]
    >>> bool(ranks.error_bound <= 1e-8)
    True
    """
    for name, value in (("damping", damping), ("tol", tol), ("max_iter", max_iter)):
        if not isinstance(value, numbers.Integral if name == "max_iter" else numbers.Real):
            raise TypeError(f"{name}={value!r}: pass {'an integer' if name == 'max_iter' else 'a number'}")
    links, nodes, named = _links(G, weight)
    index = {node: i for i, node in enumerate(nodes)} if named else None
    n = links.shape[0]
    if n == 0:
        raise ValueError("the graph has no nodes. Pass a graph with at least one node")
    lib = library()
    several = isinstance(personalization, (list, tuple)) and len(personalization) > 0 and not np.isscalar(personalization[0]) or np.ndim(personalization) == 2
    personal = [] if personalization is None else list(personalization) if several else [personalization]
    personal = [as_vec(_distribution(p, n, index, "personalization")) for p in personal]
    mat = from_scipy(links, storage)
    with lib.solver("PageRank", mat) as pr:
        lib.PageRankSetGraph(pr, mat)
        lib.PageRankSetDamping(pr, damping)
        if isinstance(dangling, str):
            if dangling not in _DANGLING:
                raise ValueError(f"dangling={dangling!r} is unknown. Use one of {', '.join(_DANGLING)}, or weights")
            lib.PageRankSetDangling(pr, _DANGLING[dangling], None)
        else:
            target = as_vec(_distribution(dangling, n, index, "dangling"))
            lib.PageRankSetDangling(pr, 2, target)
        if personal:
            lib.PageRankSetPersonalizations(pr, len(personal), (ctypes.c_void_p * len(personal))(*[v.handle for v in personal]))
        try:
            lib.PageRankSetMethod(pr, (method or ("power" if len(personal) > 1 else "gauss_seidel")).encode())
        except lib.ArgumentError:
            raise ValueError(f"method={method!r} is unknown. Use one of {', '.join(_METHODS)}") from None
        lib.PageRankSetTolerances(pr, tol, max_iter)
        with Bar(progress, "PageRank", "iterations") as bar, _watch(lib, pr, bar) if progress else nullcontext() as watch:
            lib.PageRankSolve(pr)
        out = _result(lib, pr, nodes, named, several)
        if lib.get(lib.PageRankGetConvergedReason, pr, ctypes.c_int) != _CONVERGED:
            raise ConvergenceError(f"PageRank: after {out.iterations} iterations the error is at most {out.error_bound:.3g}, above tol={tol:g}. Increase max_iter or tol")
    return out


def _watch(lib: Any, pr: int, bar: Bar) -> Watch:
    """Return a monitor that moves a progress bar. An iteration computes the residual, the change, or both; the other is -1."""

    def observe(k: int, it: int, residual: float, change: float) -> None:
        bar.move("residual" if residual >= 0 else "change", residual if residual >= 0 else change, it)

    return Watch(lib, "PageRank", [pr], observe)


def _result(lib: Any, pr: int, nodes: Any, named: bool, several: bool) -> Union[RankDict, RankArray]:
    count, vectors = lib.int(), ctypes.POINTER(ctypes.c_void_p)()
    lib.PageRankGetRanks(pr, ctypes.byref(count), ctypes.byref(vectors))
    ranks = np.array([lib.vec_array(vectors[i]) for i in range(count.value)])
    ranks = ranks if several else ranks[0]
    out = RankDict(zip(nodes, ranks.T if several else ranks.tolist())) if named else RankArray()
    out.ranks, out.nodes = ranks, nodes
    out.residual, out.error_bound = lib.get2(lib.PageRankGetResidual, pr)
    out.iterations = lib.get(lib.PageRankGetIterationNumber, pr, lib.int)
    return out


def _distribution(weights: Any, n: int, index: Optional[Dict[Hashable, int]], what: str) -> np.ndarray:
    """Return weights of nodes as an array with the sum 1."""
    if isinstance(weights, dict):
        out = np.zeros(n)
        for node, value in weights.items():
            position = index.get(node) if index is not None else node if isinstance(node, (int, np.integer)) and 0 <= node < n else None
            if position is None:
                raise ValueError(f"{what}: the graph has no node {node!r}. Use nodes of the graph")
            out[position] = value
    else:
        out = np.array(weights, dtype=np.float64).reshape(-1)
    if out.size != n:
        raise ValueError(f"{what}: there are {out.size} weights for {n} nodes. Give a weight for each node, or a dictionary")
    if not np.isfinite(out).all() or (out < 0).any() or not out.sum() > 0:
        raise ValueError(f"{what}: weights must be finite and not negative, and one of them must be positive")
    return out / out.sum()


def _links(G: Any, weight: Optional[str]) -> tuple:
    """Return the matrix of the links, entry (j, i) for the link from i to j, the nodes, and whether they have names."""
    if scipy.sparse.issparse(G) or isinstance(G, np.ndarray):
        A, nodes, named = G, None, False
    elif hasattr(G, "adj") and hasattr(G, "nodes"):
        import networkx

        nodes, named = list(G), True
        if not nodes:
            return scipy.sparse.csr_matrix((0, 0)), nodes, named
        A = networkx.to_scipy_sparse_array(G, nodelist=nodes, weight=weight, dtype=np.float64, format="csr")
    elif hasattr(G, "vcount") and hasattr(G, "get_edgelist"):
        A, nodes, named = _igraph_matrix(G, weight), None, False
    else:
        raise TypeError(f"a graph of type {type(G).__name__} is not supported. Pass a graph of networkx or igraph, or a SciPy matrix")
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"the matrix of the links has the shape {A.shape}. Pass a square matrix")
    return scipy.sparse.csr_matrix(A.T), range(A.shape[0]) if nodes is None else nodes, named


def _igraph_matrix(G: Any, weight: Optional[str]) -> scipy.sparse.csr_matrix:
    n, edges = G.vcount(), np.array(G.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    values = np.array(G.es[weight], dtype=np.float64) if weight in G.es.attributes() else np.ones(len(edges))
    source, target = edges.T
    if not G.is_directed():  # an edge is a link in both directions, and igraph counts a loop twice
        source, target, values = np.r_[source, target], np.r_[target, source], np.r_[values, values]
    return scipy.sparse.csr_matrix((values, (source, target)), shape=(n, n))
