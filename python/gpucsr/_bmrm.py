"""Training of linear models by the object BMRM of the library."""
from __future__ import annotations

import ctypes
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Dict, List, Optional

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

from . import device
from ._convert import as_vec, dense_mat, from_scipy
from ._library import library
from ._monitor import Bar, Watch


@dataclass
class Problem:
    """A regularised risk: lambda Omega(w) + the weighted mean of the loss."""

    loss: str
    lam: float
    penalty: str
    tol: float
    max_iter: int
    l1_ratio: float = 0.5
    classes: int = 0  # number of classes, for losses with a score for each class
    fit_intercept: bool = True
    parameters: Optional[Dict[str, float]] = None  # parameters of the loss
    progress: str = ""  # name of the model in a progress bar, or nothing


@dataclass
class Solution:
    """Coefficients, with a row for each score, and the certificate of their accuracy."""

    coef: np.ndarray
    intercept: np.ndarray
    objective: np.ndarray
    lower_bound: np.ndarray
    iterations: int
    history: List[np.ndarray]  # for each model the objective and the lower bound before the first pass and after every pass


def train(X: Any, targets: List[np.ndarray], weights: Optional[np.ndarray], problem: Problem, queries: Optional[np.ndarray] = None) -> Solution:
    """Solve a problem for each vector of targets. All share the passes over the samples."""
    lib = library()
    n, d = X.shape
    mat = _with_intercept(X) if problem.fit_intercept else _matrix(X)
    factor = None
    if problem.fit_intercept:  # the regulariser does not contain the intercept
        factor = as_vec(np.r_[np.ones(d), 0.0])
    vec = None if weights is None else as_vec(weights)
    queries_vec = None if queries is None else as_vec(queries)
    labels = [as_vec(target) for target in targets]
    with ExitStack() as stack:
        solvers = [stack.enter_context(lib.solver("BMRM", mat)) for _ in targets]
        for solver, label in zip(solvers, labels):
            _configure(lib, solver, problem)
            lib.BMRMSetData(solver, mat, label)
            if vec is not None:
                lib.BMRMSetExampleWeights(solver, vec)
            if queries_vec is not None:
                lib.BMRMSetQueries(solver, queries_vec)
            if factor is not None:
                lib.BMRMSetWeights(solver, factor)
        history: List[list] = [[] for _ in targets]
        bar = stack.enter_context(Bar(bool(problem.progress), problem.progress, "passes"))

        def observe(k: int, it: int, objective: float, bound: float) -> None:
            history[k].append((objective, bound))
            bar.move("gap", objective - bound, it)

        with Watch(lib, "BMRM", solvers, observe) as watch:
            if len(solvers) == 1:
                lib.BMRMSolve(solvers[0])
            else:
                lib.BMRMSolveMany(len(solvers), (ctypes.c_void_p * len(solvers))(*solvers))
        solution = _read(lib, solvers, d, problem)
        solution.history = [np.array(rows) for rows in history]
        del watch  # the solvers have called it for the last time
        return solution


def _configure(lib: Any, solver: int, problem: Problem) -> None:
    lib.BMRMSetLossType(solver, problem.loss.encode())
    for name, value in (problem.parameters or {}).items():
        lib.BMRMSetLossParameter(solver, name.encode(), value)
    lib.BMRMSetRegularizerType(solver, problem.penalty.encode())
    if problem.penalty == "elasticnet":
        lib.BMRMSetElasticNetRatio(solver, problem.l1_ratio)
    if problem.classes:
        lib.BMRMSetClasses(solver, problem.classes)
    lib.BMRMSetLambda(solver, problem.lam)
    lib.BMRMSetTolerances(solver, 0.0, problem.tol, problem.max_iter)


def _read(lib: Any, solvers: List[int], d: int, problem: Problem) -> Solution:
    columns = d + problem.fit_intercept
    rows, bounds, iterations = [], [], 0
    for solver in solvers:
        rows.append(lib.vec_array(lib.get(lib.BMRMGetSolution, solver, ctypes.c_void_p)).reshape(-1, columns))
        bounds.append(lib.get2(lib.BMRMGetObjective, solver))
        iterations = max(iterations, lib.get(lib.BMRMGetIterationNumber, solver, lib.int))
        reason = lib.get(lib.BMRMGetConvergedReason, solver, ctypes.c_int)
        if reason <= 0:
            gap, objective = bounds[-1][0] - bounds[-1][1], bounds[-1][0]
            why = f"after max_iter={problem.max_iter} passes" if reason == -3 else "because of rounding errors"
            remedy = "Increase max_iter or tol, or scale the features" if reason == -3 else "Increase tol, or scale the features"
            warnings.warn(f"training with the loss {problem.loss} stopped {why}, with the gap {gap:.3g} of the objective {objective:.6g}. {remedy}", ConvergenceWarning, stacklevel=4)
    weights = np.vstack(rows)
    objective, bound = np.array(bounds).T
    intercept = weights[:, d].copy() if problem.fit_intercept else np.zeros(len(weights))
    return Solution(np.ascontiguousarray(weights[:, :d]), intercept, objective, bound, iterations, [])


def _matrix(X: Any) -> Any:
    """Return a matrix with the samples. Dense samples stay dense on the host; on a GPU they are of type gpucsr too, whose products run there."""
    if scipy.sparse.issparse(X):
        return from_scipy(X)
    if device() == "host":
        return dense_mat(X)
    n, d = X.shape
    return from_scipy(scipy.sparse.csr_matrix((X.reshape(-1), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=X.shape))


def _with_intercept(X: Any) -> Any:
    """Return a matrix with the samples and a last column of ones."""
    n, d = X.shape
    if not scipy.sparse.issparse(X):
        out = np.empty((n, d + 1), order="F")
        out[:, :d] = X
        out[:, d] = 1.0
        return _matrix(out)
    indptr = X.indptr + np.arange(n + 1, dtype=X.indptr.dtype)
    ends = indptr[1:] - 1
    before = np.ones(X.nnz + n, dtype=bool)
    before[ends] = False
    data, indices = np.empty(X.nnz + n), np.empty(X.nnz + n, dtype=X.indices.dtype)
    data[before], data[ends] = X.data, 1.0
    indices[before], indices[ends] = X.indices, d
    return from_scipy(scipy.sparse.csr_matrix((data, indices, indptr), shape=(n, d + 1)), copy=False)
