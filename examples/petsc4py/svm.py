"""Train from Python: a support vector machine by -tao_type lsbmrm, on data that bin/bmrm reads too.

    PETSC_OPTIONS="-dll_append $(pkg-config --variable=plugin gpucsr)" python3 svm.py data.petsc

Writes made-up data to the file, reads them back, trains, and prints the objective at lambda 1e-2, which is also what
bmrm -f data.petsc -bmrm_lambda 1e-2 finds.  Runs under mpiexec too.
"""
import sys

import petsc4py

petsc4py.init(sys.argv)
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402

file, lam = sys.argv[1], 1e-2
comm = PETSc.COMM_WORLD

# examples in the rows of a matrix, labels in a vector, one after the other in a binary file
m, n = 300, 40
X = PETSc.Mat().createAIJ((m, n), nnz=n, comm=comm)
y = X.createVecLeft()
for i in range(*X.getOwnershipRange()):
    rng = np.random.default_rng(i)
    columns = np.sort(rng.choice(n, 12, replace=False)).astype(PETSc.IntType)
    values = rng.standard_normal(12)
    X.setValues([i], columns, values)
    y[i] = 1 if values[columns < n // 2].sum() + 0.5 * rng.standard_normal() > 0 else -1
X.assemble()
y.assemble()
viewer = PETSc.Viewer().createBinary(file, "w", comm=comm)
X.view(viewer)
y.view(viewer)
viewer.destroy()

# any program with petsc4py reads what bmrm -save_binary or the lines above have written
viewer = PETSc.Viewer().createBinary(file, "r", comm=comm)
X = PETSc.Mat().create(comm)
X.setType("gpucsr")
X.setFromOptions()
X.load(viewer)
y = X.createVecLeft()
y.load(viewer)
viewer.destroy()
slack, slope = y.duplicate(), y.duplicate()


def risk(tao, w, g):
    """The mean hinge loss and a subgradient; lambda/2 |w|^2 is lsbmrm's own."""
    X.mult(w, slack)
    slack.array = np.maximum(1 - y.array_r * slack.array_r, 0)
    slope.array = np.where(slack.array_r > 0, -y.array_r / m, 0)
    X.multTranspose(slope, g)
    return slack.sum() / m


w = X.createVecRight()
PETSc.Options()["tao_lsbmrm_lambda"] = lam
tao = PETSc.TAO().create(comm)
tao.setType("lsbmrm")
tao.setSolution(w)
tao.setObjectiveGradient(risk, w.duplicate())
tao.setTolerances(gatol=1e-7)
tao.setMaximumIterations(2000)
tao.setFromOptions()
tao.solve()
if tao.getConvergedReason() <= 0:
    sys.exit("not converged: reason %d, gap %g" % (tao.getConvergedReason(), tao.getSolutionStatus()[2]))
objective = risk(tao, w, w.duplicate()) + lam / 2 * w.dot(w)
PETSc.Sys.Print("objective %.12g" % objective, comm=comm)
