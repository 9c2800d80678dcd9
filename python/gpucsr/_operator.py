"""A linear operator of SciPy whose products run on the device."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
import scipy.sparse.linalg

from ._convert import as_array, from_scipy, to_scipy
from ._library import library


class LinearOperator(scipy.sparse.linalg.LinearOperator):
    """A matrix that stays on the device, with the interface of ``scipy.sparse.linalg.LinearOperator``.

    It can be passed to all functions of ``gpucsr.linalg``, which keep their preconditioners in it, and to all functions of SciPy that accept
    linear operators.

    Parameters
    ----------
    A
        A matrix of SciPy, a dense array, or a matrix of petsc4py on one process. A matrix of petsc4py is not copied.
    storage
        Precision of the values on the device, as for ``from_scipy``.

    Attributes
    ----------
    mat
        The matrix of petsc4py.

    Examples
    --------
    >>> import gpucsr, numpy, scipy.sparse
    >>> A = gpucsr.LinearOperator(scipy.sparse.diags([1.0, 2.0, 4.0]))
    >>> (A @ numpy.ones(3)).tolist()
    [1.0, 2.0, 4.0]
    >>> (A.T @ numpy.ones(3)).tolist()
    [1.0, 2.0, 4.0]
    """

    def __init__(self, A: Any, storage: str = "auto"):
        PETSc = library().PETSc
        self.mat = A if isinstance(A, PETSc.Mat) else from_scipy(A, storage)
        if self.mat.getComm().size != 1:
            raise ValueError("the matrix is distributed over several processes. Use the objects of petsc4py instead of LinearOperator")
        super().__init__(np.float64, self.mat.getSize())
        self._right, self._left = self.mat.createVecs()
        self.solvers: dict = {}  # solvers of gpucsr.linalg for this matrix

    def _apply(self, product: Any, x: np.ndarray, vec_x: Any, vec_y: Any, n: int) -> np.ndarray:
        x, y = as_array(x).reshape(-1), np.empty(n)
        vec_x.placeArray(x)
        vec_y.placeArray(y)
        try:
            product(vec_x, vec_y)
        finally:
            vec_y.resetArray()
            vec_x.resetArray()
        return y

    def _matvec(self, x: np.ndarray) -> np.ndarray:
        return self._apply(self.mat.mult, x, self._right, self._left, self.shape[0])

    def _rmatvec(self, x: np.ndarray) -> np.ndarray:
        return self._apply(self.mat.multTranspose, x, self._left, self._right, self.shape[1])

    def _matmat(self, X: np.ndarray) -> np.ndarray:
        PETSc = library().PETSc
        X = np.asfortranarray(as_array(X))
        result = self.mat.matMult(PETSc.Mat().createDense(X.shape, array=X, comm=PETSc.COMM_SELF))
        out = result.getDenseArray(readonly=True).copy()
        result.destroy()
        return out

    def to_scipy(self) -> Any:
        """Return the matrix in SciPy's CSR format."""
        return to_scipy(self.mat)


def as_operator(A: Any, storage: Optional[str] = None) -> LinearOperator:
    """Return A if it is a LinearOperator of gpucsr, else one with its values."""
    return A if isinstance(A, LinearOperator) else LinearOperator(A, storage or "auto")
