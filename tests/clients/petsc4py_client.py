"""What a user of petsc4py does with a matrix, once as aij and once as gpucsr; the library is named in PETSC_OPTIONS."""
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

n = 60


def convection(kind):
    """an unsymmetric five-point matrix"""
    A = PETSc.Mat().create(PETSc.COMM_WORLD)
    A.setSizes([n * n, n * n])
    A.setType(kind)
    A.setFromOptions()
    A.setPreallocationNNZ((5, 4))
    first, last = A.getOwnershipRange()
    for row in range(first, last):
        i, j = divmod(row, n)
        A[row, row] = 4.1
        for ii, jj, value in ((i - 1, j, -1.3), (i + 1, j, -0.7), (i, j - 1, -1.1), (i, j + 1, -0.9)):
            if 0 <= ii < n and 0 <= jj < n:
                A[row, ii * n + jj] = value
    A.assemble()
    return A


def close(what, ours, theirs, tolerance):
    """the two may be of different Vec types: compare as plain vectors"""
    plain = theirs.duplicate()
    plain.array[:] = ours.array_r
    difference = (plain - theirs).norm() / theirs.norm()
    if not difference <= tolerance:
        sys.exit("%s: relative difference %g, more than %g" % (what, difference, tolerance))


def solve(A, b, kind):
    ksp = PETSc.KSP().create(A.getComm())
    ksp.setType(kind)
    ksp.getPC().setType("jacobi")
    ksp.setOperators(A)
    ksp.setTolerances(rtol=1e-10, max_it=2000)
    x = A.createVecRight()
    ksp.solve(b, x)
    if ksp.getConvergedReason() <= 0:
        sys.exit("%s did not converge: %d" % (kind, ksp.getConvergedReason()))
    return x


aij = convection("aij")
for storage, tolerance in (("double", 1e-13), ("single", 1e-6)):
    PETSc.Options()["mat_gpucsr_storage"] = storage
    A = convection("gpucsr")
    if not A.getType().endswith("aijgpucsr"):
        sys.exit("the type is " + A.getType())
    x, y = A.createVecs()
    first, last = x.getOwnershipRange()
    for k in range(first, last):
        x.setValue(k, 1.0 + (k * 7919 % 101) / 101.0)
    x.assemble()
    u, v = aij.createVecs()
    u.array[:] = x.array_r
    A.mult(x, y)
    aij.mult(u, v)
    close(storage + " mult", y, v, tolerance)
    A.multTranspose(x, y)
    aij.multTranspose(u, v)
    close(storage + " multTranspose", y, v, tolerance)
    A.multAdd(x, x, y)
    aij.multAdd(u, u, v)
    close(storage + " multAdd", y, v, tolerance)
    # new values on the same pattern reach the device
    A.scale(2.0)
    A.mult(x, y)
    aij.mult(u, v)
    v.scale(2.0)
    close(storage + " mult after scale", y, v, tolerance)
    A.scale(0.5)
    for kind in ("gmres", "bicg", "lsqr"):
        close(storage + " " + kind, solve(A, x, kind), solve(aij, u, kind), 1e3 * tolerance + 1e-6)
# vectors of our type, from Python: written by the host, used by the device, and back
x = PETSc.Vec().create(PETSc.COMM_WORLD)
x.setSizes(100)
x.setType("gpu")
if x.getType() not in ("seqgpu", "mpigpu"):
    sys.exit("the Vec type is " + x.getType())
first, last = x.getOwnershipRange()
x.array[:] = range(first, last)
y = x.duplicate()
y.set(2.0)
y.axpy(3.0, x)
if abs(y.sum() - (200 + 3 * 4950)) > 1e-9 or abs(x.dot(y) - (2 * 4950 + 3 * 328350)) > 1e-6:
    sys.exit("gpu vectors: sum %g, dot %g" % (y.sum(), x.dot(y)))
if any(y.array_r[k] != 2.0 + 3.0 * (first + k) for k in range(last - first)):
    sys.exit("gpu vectors: the host's values are old")
A = convection("gpucsr")
A.setVecType("gpu")
b = A.createVecLeft()
b.set(1.0)
close("gmres with gpu vectors", solve(A, b, "gmres"), solve(aij, aij.createVecLeft() + 1.0, "gmres"), 1e-4)

if PETSc.COMM_WORLD.getRank() == 0:
    print("petsc4py is content")
