"""Conversion of matrices and vectors between SciPy, NumPy and petsc4py."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
import scipy.sparse

from ._library import library

STORAGES = ("single", "double", "auto")  # the values of MatGPUCSRStorage, in order


def check_real(array: Any, what: str) -> None:
    if array.dtype.kind in "SUVMm":
        raise TypeError(f"{what}: values of the type {array.dtype} are not supported. Pass real numbers")
    if np.issubdtype(array.dtype, np.complexfloating):
        raise ValueError(f"{what}: complex values ({array.dtype}) are not supported. Pass real values")


def as_array(values: Any, what: str = "vector") -> np.ndarray:
    """Return values as a contiguous array in double precision, without a copy if they are one."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.flags.c_contiguous:
        return values
    array = np.asarray(values)
    check_real(array, what)
    return np.ascontiguousarray(array, dtype=np.float64)


def canonical_csr(A: Any) -> tuple:
    """Return a matrix in CSR format with sorted columns and no duplicates, and whether its arrays are those of A."""
    check_real(A, "matrix")
    same = scipy.sparse.issparse(A) and A.format == "csr"
    csr = A if same else scipy.sparse.csr_matrix(A)
    if not csr.has_canonical_format:
        csr = csr.copy() if same else csr
        csr.sum_duplicates()
        same = False
    return csr, same


def from_scipy(A: Any, storage: str = "auto", comm: Any = None, copy: bool = True) -> Any:
    """Convert a SciPy matrix to a PETSc matrix of type gpucsr.

    Parameters
    ----------
    A
        A sparse matrix or array of SciPy in any format, or a dense array. On a communicator of several processes, every process passes its own
        rows, and all processes pass the same number of columns.
    storage
        Precision of the values on the device. ``"auto"`` is single precision if it holds every value exactly, else double precision.
        ``"single"`` rounds the values, ``"double"`` does not.
    comm
        Communicator of petsc4py or mpi4py. The default has this process only.
    copy
        If false, and A is a CSR matrix in double precision with sorted columns and the integers of PETSc, the PETSc matrix uses the arrays of A.
        Then do not change A afterwards. Not on several processes.

    Returns
    -------
    petsc4py.PETSc.Mat
        The matrix. The values are uploaded to the device by its first product.

    Examples
    --------
    >>> import gpucsr, scipy.sparse
    >>> A = gpucsr.from_scipy(scipy.sparse.diags([1.0, 2.0, 4.0]))
    >>> A.getType(), A.getSize()
    ('seqaijgpucsr', (3, 3))
    """
    lib = library()
    PETSc = lib.PETSc
    if storage not in STORAGES:
        raise ValueError(f"storage={storage!r} is unknown. Use one of {', '.join(STORAGES)}")
    comm = PETSc.COMM_SELF if comm is None else comm
    if getattr(A, "ndim", 2) != 2:
        raise ValueError(f"A has {A.ndim} dimensions. Pass a matrix")
    csr, shared = canonical_csr(A if hasattr(A, "dtype") else np.asarray(A))
    if max(csr.shape[1], csr.nnz) > np.iinfo(PETSc.IntType).max:
        raise ValueError(f"A has {csr.nnz} nonzeros in {csr.shape[1]} columns, too many for the integers of this PETSc ({np.dtype(PETSc.IntType)})")
    arrays = [as_type(csr.indptr, PETSc.IntType), as_type(csr.indices, PETSc.IntType), as_type(csr.data, np.float64)]
    if comm.size == 1:
        if copy and shared:
            arrays = [new if new is not old else new.copy() for new, old in zip(arrays, (csr.indptr, csr.indices, csr.data))]
        mat = PETSc.Mat().createAIJWithArrays(csr.shape, tuple(arrays), comm=comm)
    else:
        rows = (csr.shape[0], PETSc.DETERMINE)
        square = sum_over(PETSc, comm, csr.shape[0]) == csr.shape[1]  # the layouts of rows and columns are then equal
        mat = PETSc.Mat().createAIJ((rows, (csr.shape[0] if square else PETSc.DECIDE, csr.shape[1])), csr=tuple(arrays), comm=comm)
    mat.convert("gpucsr")
    lib.MatGPUCSRSetStorage(mat, STORAGES.index(storage))
    return mat


def sum_over(PETSc: Any, comm: Any, value: int) -> int:
    """Return the sum of a value over the processes of a communicator."""
    vec = PETSc.Vec().createMPI((1, PETSc.DETERMINE), comm=comm)
    vec.set(0.0)
    vec.array[0] = value
    return int(vec.sum())


def as_type(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Return an array with the type, and the array itself if it has it."""
    return array if array.dtype == np.dtype(dtype) and array.flags.c_contiguous else np.ascontiguousarray(array, dtype)


def to_scipy(A: Any) -> scipy.sparse.csr_matrix:
    """Convert a PETSc matrix to a SciPy matrix in CSR format, with all columns and the rows of this process.

    Parameters
    ----------
    A
        A sparse matrix of petsc4py, of any type.

    Examples
    --------
    >>> import gpucsr, scipy.sparse
    >>> A = gpucsr.from_scipy(scipy.sparse.eye(3) * 2)
    >>> print(gpucsr.to_scipy(A).toarray().trace())
    6.0
    """
    if not isinstance(A, library().PETSc.Mat):
        raise TypeError(f"A has the type {type(A).__name__}. Pass a matrix of petsc4py")
    indptr, indices, data = A.getValuesCSR()
    shape = (A.getLocalSize()[0], A.getSize()[1])
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=shape, copy=False)


def as_vec(values: Any, comm: Any = None) -> Any:
    """Return a vector of petsc4py that uses the memory of an array.

    An array in double precision with contiguous entries is not copied: a change of the vector changes the array. Other values are converted first. With
    several processes, every process passes its own entries.

    Examples
    --------
    >>> import gpucsr, numpy
    >>> x = numpy.zeros(3)
    >>> v = gpucsr.as_vec(x)
    >>> v.set(2.0)
    >>> x.tolist()
    [2.0, 2.0, 2.0]
    """
    PETSc = library().PETSc
    array = as_array(values)
    return PETSc.Vec().createWithArray(array, comm=PETSc.COMM_SELF if comm is None else comm)


def as_numpy(vec: Any, writable: bool = False) -> np.ndarray:
    """Return the local entries of a vector of petsc4py as an array, without a copy on the host.

    Entries that are on a GPU are copied to the host first. The array is read-only, unless ``writable`` is true. Delete a writable array before
    the next use of the vector.

    Examples
    --------
    >>> import gpucsr
    >>> gpucsr.as_numpy(gpucsr.as_vec([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    if not isinstance(vec, library().PETSc.Vec):
        raise TypeError(f"vec has the type {type(vec).__name__}. Pass a vector of petsc4py")
    return vec.array if writable else vec.array_r


def dense_mat(X: np.ndarray, comm: Optional[Any] = None) -> Any:
    """Return a dense PETSc matrix with the values of an array."""
    PETSc = library().PETSc
    return PETSc.Mat().createDense(X.shape, array=np.asfortranarray(X, dtype=np.float64), comm=PETSc.COMM_SELF if comm is None else comm)
