"""Every process passes its own rows: the product is that of the complete matrix."""
import numpy as np
import scipy.sparse

import gpucsr

gpucsr.load()
from petsc4py import PETSc  # noqa: E402

comm = PETSc.COMM_WORLD
for rows, columns in ((23, 23), (23, 11)):
    rng = np.random.default_rng(2)
    A = scipy.sparse.csr_matrix(rng.random((rows, columns)) * (rng.random((rows, columns)) < 0.3))
    edges = np.linspace(0, rows, comm.size + 1).astype(int)
    first, last = edges[comm.rank], edges[comm.rank + 1]
    M = gpucsr.from_scipy(A[first:last], comm=comm)
    assert M.getType() == ("seqaijgpucsr" if comm.size == 1 else "mpiaijgpucsr"), M.getType()
    assert M.getSize() == (rows, columns) and M.getOwnershipRange() == (first, last)
    x, y = M.createVecs()
    lower, upper = x.getOwnershipRange()
    assert rows != columns or (lower, upper) == (first, last)
    v = np.arange(columns) + 1.0
    x.array[:] = v[lower:upper]
    M.mult(x, y)
    np.testing.assert_allclose(gpucsr.as_numpy(y), (A @ v)[first:last], rtol=1e-13)
    back = gpucsr.to_scipy(M)
    assert (back != A[first:last]).nnz == 0
    if comm.size > 1:
        try:
            gpucsr.LinearOperator(M)
        except ValueError as error:
            assert "several processes" in str(error)
        else:
            raise AssertionError("LinearOperator accepts a distributed matrix")
PETSc.Sys.Print("right")
