"""Solvers of linear systems with the calling sequences of ``scipy.sparse.linalg``.

The matrix is a SciPy matrix, a matrix of petsc4py, or a ``gpucsr.LinearOperator``. A ``LinearOperator`` stays on the device and keeps the
preconditioner, so use it if several systems have the same matrix.
"""
from __future__ import annotations

import ctypes
import itertools
from contextlib import contextmanager, nullcontext
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, Union

import numpy as np

from ._convert import as_array
from ._library import library
from ._operator import as_operator

__all__ = ["cg", "gmres", "bicgstab", "spsolve", "Solver"]

Preconditioner = Union[str, Dict[str, Any], None]
_numbers = itertools.count()


class Solver:
    """A Krylov method of PETSc with its preconditioner, for one matrix.

    Parameters
    ----------
    A
        A square matrix of SciPy or petsc4py, or a ``gpucsr.LinearOperator``.
    method
        Name of a KSP type that can compute the norm of the residual b - A x, for example ``"cg"``, ``"gmres"``, ``"bcgs"``, ``"fcg"``.
    M
        Preconditioner: the name of a PC type, such as ``"jacobi"``, ``"gpufsai"``, ``"ilu"``, ``"gamg"``, or a dictionary of PETSc options without
        dashes, such as ``{"pc_type": "gamg", "pc_gamg_threshold": 0.02}``. The default is no preconditioner.
    restart
        Number of iterations between restarts of gmres.

    Attributes
    ----------
    ksp
        The KSP of petsc4py.
    iterations, residual_norm, reason
        Number of iterations, norm of the residual and PETSc's reason of the last solve.

    Examples
    --------
    >>> import gpucsr.linalg, numpy, scipy.sparse
    >>> solver = gpucsr.linalg.Solver(scipy.sparse.diags([1.0, 2.0, 4.0]), "cg", M="jacobi")
    >>> x, info = solver.solve(numpy.ones(3))
    >>> info, x.tolist()
    (0, [1.0, 0.5, 0.25])
    """

    def __init__(self, A: Any, method: str, M: Preconditioner = None, restart: Optional[int] = None):
        lib = library()
        PETSc = lib.PETSc
        _check_preconditioner(M)
        self.operator = as_operator(A)
        if self.operator.shape[0] != self.operator.shape[1]:
            raise ValueError(f"the matrix has {self.operator.shape[0]} rows and {self.operator.shape[1]} columns. Pass a square matrix")
        ksp = self.ksp = PETSc.KSP().create(self.operator.mat.getComm())
        ksp.setOperators(self.operator.mat)
        try:
            ksp.setType(method)
        except PETSc.Error as error:
            ksp.destroy()
            raise lib.error(error.ierr, f"method={method!r}: ") from None
        # As in SciPy, the residual is that of the system itself, not that of the preconditioned system. PETSc selects the side of the preconditioner.
        ksp.setNormType(PETSc.KSP.NormType.NONE if method == "preonly" else PETSc.KSP.NormType.UNPRECONDITIONED)
        if restart:
            ksp.setGMRESRestart(restart)
        self._configure(PETSc, {"pc_type": M or "none"} if M is None or isinstance(M, str) else M)
        self._x, self._b = self.operator.mat.createVecs()
        self.iterations, self.residual_norm, self.reason = 0, np.nan, 0

    def _configure(self, PETSc: Any, settings: Dict[str, Any]) -> None:
        """Set options from a dictionary, under a prefix of this solver only."""
        lib = library()
        prefix = f"gpucsr_python{next(_numbers)}_"
        options = PETSc.Options(prefix)
        for name, value in settings.items():
            options[name.lstrip("-")] = value
        try:
            self.ksp.setOptionsPrefix(prefix)
            self.ksp.setFromOptions()
            with _no_notice(lib):
                self.ksp.setUp()  # preconditioners that consist of solvers read their options here
            unused = [name for name in settings if not self._is_used(lib, prefix + name.lstrip("-"))]
            if unused:
                raise ValueError(f"preconditioner {settings}: no effect: {', '.join(unused)}. Correct the spelling, or omit what this preconditioner does not read")
        except PETSc.Error as error:
            method = self.ksp.getType()
            self.ksp.destroy()
            raise lib.error(error.ierr, f"{method}, preconditioner {settings}: ") from None
        finally:
            for name in settings:
                options.delValue(name.lstrip("-"))

    @staticmethod
    def _is_used(lib: Any, option: str) -> bool:
        """Tell whether PETSc has read an option."""
        used = ctypes.c_int()
        lib.PetscOptionsUsed(None, option.encode(), ctypes.byref(used))
        return bool(used.value)

    def solve(
        self,
        b: Any,
        x0: Any = None,
        rtol: float = 1e-5,
        atol: float = 0.0,
        maxiter: Optional[int] = None,
        callback: Optional[Callable] = None,
        callback_type: str = "x",
    ) -> Tuple[np.ndarray, int]:
        """Solve A x = b; return x and info. The arguments are those of ``cg``. ``callback_type`` is ``"x"`` or ``"residual"``."""
        PETSc = library().PETSc
        n = self.operator.shape[0]
        shape = np.shape(b)
        b = as_array(b, "b").reshape(-1)
        if b.shape != (n,) or shape not in ((n,), (n, 1)):
            raise ValueError(f"b has the shape {shape}, and the matrix has {n} rows. Pass a vector with an entry for each row")
        x = np.zeros(n) if x0 is None else np.array(x0, dtype=np.float64).reshape(-1)
        if x.shape != (n,):
            raise ValueError(f"x0 has {x.size} entries, and the matrix has {n} columns. Pass a vector with an entry for each column")
        if not np.isfinite(b).all() or not np.isfinite(x).all():
            raise ValueError("b or x0 has infinite entries or NaN. Pass finite values")
        ksp = self.ksp
        if rtol < 0 or atol < 0 or (maxiter is not None and maxiter < 0):  # PETSc gives some negative numbers a meaning
            raise ValueError(f"rtol={rtol}, atol={atol}, maxiter={maxiter}: pass numbers that are not negative")
        try:
            ksp.setTolerances(rtol=rtol, atol=atol, divtol=1e300, max_it=10 * n if maxiter is None else maxiter)
        except PETSc.Error as error:
            raise library().error(error.ierr, f"rtol={rtol}, atol={atol}, maxiter={maxiter}: ") from None
        ksp.setInitialGuessNonzero(x0 is not None)
        self._x.placeArray(x)
        self._b.placeArray(b)
        try:
            if callback is not None:
                ksp.setMonitor(_monitor(callback, callback_type, float(np.linalg.norm(b)) or 1.0))
            with nullcontext() if self.reason else _no_notice(library()):
                ksp.solve(self._b, self._x)
        except PETSc.Error as error:
            cause = error.__cause__
            while isinstance(cause, PETSc.Error):
                cause = cause.__cause__
            raise cause or library().error(error.ierr, f"{ksp.getType()}: ") from None  # the cause is the exception of a callback
        finally:
            if callback is not None:
                (ksp.monitorCancel if hasattr(ksp, "monitorCancel") else ksp.cancelMonitor)()  # the name depends on the release
            self._b.resetArray()
            self._x.resetArray()
        self.iterations, self.residual_norm, self.reason = ksp.getIterationNumber(), ksp.getResidualNorm(), ksp.getConvergedReason()
        if self.reason > 0:
            info = 0
        else:
            info = self.iterations if self.reason == PETSc.KSP.ConvergedReason.DIVERGED_MAX_IT and self.iterations else self.reason
        return x.reshape(shape), info


@contextmanager
def _no_notice(lib: Any) -> Iterator[None]:
    """Suppress the notice on rounded values: preconditioners may round the values of their own matrices."""
    lib.PetscGPUCSRSetNotice(False)
    try:
        yield
    finally:
        lib.PetscGPUCSRSetNotice(lib.PETSc.Options().getBool("gpucsr_notice", True))


def _check_preconditioner(M: Any) -> None:
    if M is not None and not isinstance(M, (str, dict)):
        raise TypeError(f"M has the type {type(M).__name__}. Pass the name of a PC type, or a dictionary of PETSc's options")


def _monitor(callback: Callable, kind: str, scale: float) -> Callable:
    def monitor(ksp: Any, iteration: int, norm: float) -> None:
        if iteration:
            callback(ksp.buildSolution().array_r.copy() if kind == "x" else norm / scale)

    return monitor


def _solver(A: Any, method: str, M: Preconditioner, restart: Optional[int] = None) -> Solver:
    """Return a solver; that of the operator if it has been used with the same settings before."""
    _check_preconditioner(M)
    operator = as_operator(A)
    key = (method, tuple(sorted(M.items())) if isinstance(M, dict) else M, restart)
    solver = operator.solvers.get(method)
    if solver is None or solver[0] != key:
        solver = operator.solvers[method] = (key, Solver(operator, method, M, restart))
    return solver[1]


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: Optional[int] = None,
    M: Preconditioner = None,
    callback: Optional[Callable[[np.ndarray], None]] = None,
) -> Tuple[np.ndarray, int]:
    """Solve a symmetric positive definite system by conjugate gradients.

    Parameters
    ----------
    A
        Matrix of SciPy or petsc4py, or ``gpucsr.LinearOperator``.
    b
        Right side.
    x0
        Initial guess; zero by default.
    rtol, atol
        The iteration stops when the norm of the residual is at most ``max(rtol * norm(b), atol)``.
    maxiter
        Maximum number of iterations; ten times the number of rows by default.
    M
        Preconditioner: the name of a PC type of PETSc or gpucsr, or a dictionary of PETSc options. An option without effect is an error. The
        default is no preconditioner. Unlike SciPy, a matrix or an operator is not accepted.
    callback
        Function that is called with the solution after each iteration.

    Returns
    -------
    x : numpy.ndarray
        The solution.
    info : int
        0 after success. A positive value is the number of iterations, after which the residual was still too large. A negative value is PETSc's
        ``KSPConvergedReason``.

    Examples
    --------
    >>> import gpucsr.linalg, numpy, scipy.sparse
    >>> A = scipy.sparse.diags([-1, 2.5, -1], [-1, 0, 1], shape=(50, 50))
    >>> b = numpy.ones(50)
    >>> x, info = gpucsr.linalg.cg(A, b, M="jacobi", rtol=1e-10)
    >>> info, bool(numpy.linalg.norm(A @ x - b) <= 1e-9)
    (0, True)
    """
    return _solver(A, "gpucg", M).solve(b, x0, rtol, atol, maxiter, callback)


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 30,
    maxiter: Optional[int] = None,
    M: Preconditioner = None,
    callback: Optional[Callable[[float], None]] = None,
) -> Tuple[np.ndarray, int]:
    """Solve a system by the generalised minimal residual method, preconditioned from the right.

    Arguments and results are those of ``cg``, with two differences. ``restart`` is the number of iterations between restarts; ``maxiter`` counts
    all iterations, not restarts. ``callback`` is called with the norm of the residual divided by that of b.
    """
    return _solver(A, "gmres", M, restart).solve(b, x0, rtol, atol, maxiter, callback, "residual")


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: Optional[int] = None,
    M: Preconditioner = None,
    callback: Optional[Callable[[np.ndarray], None]] = None,
) -> Tuple[np.ndarray, int]:
    """Solve a system by the stabilised biconjugate gradient method, preconditioned from the right. Arguments and results are those of ``cg``."""
    return _solver(A, "bcgs", M).solve(b, x0, rtol, atol, maxiter, callback)


def spsolve(A: Any, b: Any) -> np.ndarray:
    """Solve a system by a sparse LU factorisation; PETSc computes it, and the device solves with its triangles.

    Parameters
    ----------
    A
        Matrix of SciPy or petsc4py, or ``gpucsr.LinearOperator``, which keeps the factorisation.
    b
        A vector, or a matrix with a right side in each column.

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is singular.

    Examples
    --------
    >>> import gpucsr.linalg, numpy, scipy.sparse
    >>> A = scipy.sparse.csr_matrix([[4.0, 1.0], [2.0, 8.0]])
    >>> gpucsr.linalg.spsolve(A, A @ numpy.array([1.0, 2.0])).round(12).tolist()
    [1.0, 2.0]
    """
    operator = as_operator(A, "double")
    solver = _solver(operator, "preonly", "lu")
    right = np.asarray(b.toarray() if hasattr(b, "toarray") else b)
    columns = [right] if right.ndim == 1 else list(right.T)
    out = []
    for column in columns:
        x, info = solver.solve(column)
        if info or not np.isfinite(x).all():
            raise np.linalg.LinAlgError(f"the matrix with {operator.shape[0]} rows is singular: the LU factorisation has a zero pivot")
        out.append(x)
    return out[0].copy() if right.ndim == 1 else np.column_stack(out)
