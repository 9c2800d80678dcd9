"""Eigenvalues of a Laplacian by SLEPc, which knows nothing of gpucsr: with aij, with gpucsr and PETSc's vectors, and with
gpucsr and gpu vectors, for which SLEPc's default basis (a BV of a type it knows) gives way to -bv_type vecs."""
import math
import sys

import slepc4py

slepc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402

n, m, wanted = 40, 43, 4  # a grid whose eigenvalues are simple


def laplacian(kind, vectors):
    A = PETSc.Mat().create(PETSc.COMM_WORLD)
    A.setSizes([n * m, n * m])
    A.setOptionsPrefix(kind + "_" + vectors + "_")
    PETSc.Options()[kind + "_" + vectors + "_mat_gpucsr_storage"] = "double"
    PETSc.Options()[kind + "_" + vectors + "_mat_gpucsr_vec_type"] = vectors
    A.setType(kind)
    A.setFromOptions()
    A.setPreallocationNNZ((5, 4))
    for row in range(*A.getOwnershipRange()):
        i, j = divmod(row, m)
        A[row, row] = 4.0
        for ii, jj in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if 0 <= ii < n and 0 <= jj < m:
                A[row, ii * m + jj] = -1.0
    A.assemble()
    return A


def largest(kind, vectors, basis):
    A = laplacian(kind, vectors)
    eps = SLEPc.EPS().create(A.getComm())
    eps.setOperators(A)
    eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
    eps.setDimensions(wanted, 24)
    eps.setTolerances(1e-10, 1000)
    if basis:
        eps.getBV().setType(basis)
    eps.setFromOptions()
    eps.solve()
    if eps.getConverged() < wanted:
        sys.exit("%s with %s vectors: %d of %d eigenvalues converged" % (kind, vectors, eps.getConverged(), wanted))
    error = max(eps.computeError(k) for k in range(wanted))
    if error > 1e-9:
        sys.exit("%s with %s vectors: an eigenpair's relative residual is %g" % (kind, vectors, error))
    return [eps.getEigenvalue(k).real for k in range(wanted)]


def mode(k, n):
    return 4 * math.sin(k * math.pi / (2 * (n + 1))) ** 2


exact = sorted((mode(i, n) + mode(j, m) for i in range(1, n + 1) for j in range(1, m + 1)), reverse=True)[:wanted]
for kind, vectors, basis in (("aij", "standard", None), ("gpucsr", "standard", None), ("gpucsr", "gpu", "vecs")):
    found = largest(kind, vectors, basis)
    worst = max(abs(a - b) / b for a, b in zip(found, exact))
    if not worst <= 1e-9:
        sys.exit("%s with %s vectors: eigenvalues %s, not %s" % (kind, vectors, found, exact))
