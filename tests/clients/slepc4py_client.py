"""Eigenvalues and singular values by SLEPc, which knows nothing of gpucsr: with aij, and with gpucsr and PETSc's or gpu vectors.
No option of SLEPc is set: for gpu vectors the library itself sees to basis vectors (BV) that take them."""
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


def check(what, found, exact):
    worst = max(abs(a - b) / b for a, b in zip(found, exact))
    if not worst <= 1e-9:
        sys.exit("%s: %s, not %s" % (what, found, exact))


def basis(what, bv, vectors):
    if (bv.getType() == "vecs") != (vectors == "gpu"):
        sys.exit("%s: the basis vectors are of type %s" % (what, bv.getType()))


def eigenvalues(solver, kind, vectors, A):
    what = "%s, %s with %s vectors" % (solver, kind, vectors)
    eps = SLEPc.EPS().create(A.getComm())
    eps.setOperators(A)
    eps.setProblemType(SLEPc.EPS.ProblemType.HEP)
    eps.setType(solver)
    if solver == "lobpcg":
        eps.setWhichEigenpairs(SLEPc.EPS.Which.SMALLEST_REAL)
    eps.setDimensions(wanted, SLEPc.DECIDE if solver == "lobpcg" else 24)
    eps.setTolerances(1e-10, 3000)
    eps.setFromOptions()
    eps.solve()
    basis(what, eps.getBV(), vectors)
    if eps.getConverged() < wanted:
        sys.exit("%s: %d of %d eigenvalues converged" % (what, eps.getConverged(), wanted))
    error = max(eps.computeError(k) for k in range(wanted))
    if error > 1e-8:
        sys.exit("%s: an eigenpair's relative residual is %g" % (what, error))
    check(what, [eps.getEigenvalue(k).real for k in range(wanted)], smallest if solver == "lobpcg" else largest)


def singularvalues(solver, kind, vectors, A):
    what = "SVD %s, %s with %s vectors" % (solver, kind, vectors)
    svd = SLEPc.SVD().create(A.getComm())
    svd.setOperators(A)
    svd.setType(solver)
    svd.setDimensions(wanted, 24)
    svd.setTolerances(1e-10, 3000)
    svd.setFromOptions()
    svd.solve()
    basis(what, svd.getBV()[0], vectors)
    if svd.getConverged() < wanted:
        sys.exit("%s: %d of %d values converged" % (what, svd.getConverged(), wanted))
    check(what, [svd.getValue(k) for k in range(wanted)], largest)


def mode(k, n):
    return 4 * math.sin(k * math.pi / (2 * (n + 1))) ** 2


exact = sorted(mode(i, n) + mode(j, m) for i in range(1, n + 1) for j in range(1, m + 1))
smallest, largest = exact[:wanted], exact[:-wanted - 1:-1]
for kind, vectors in (("aij", "standard"), ("gpucsr", "standard"), ("gpucsr", "gpu")):
    A = laplacian(kind, vectors)
    for solver in ("krylovschur", "lobpcg", "gd", "jd") if vectors == "gpu" else ("krylovschur",):
        eigenvalues(solver, kind, vectors, A)
    for solver in ("cross", "trlanczos", "lanczos") if vectors == "gpu" else ("cross",):
        singularvalues(solver, kind, vectors, A)
