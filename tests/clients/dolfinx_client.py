"""Run a DOLFINx demo unmodified, then compare norms: dolfinx_client.py demo.py [gpucsr norm norm]

The demo leaves its problem and solution behind as globals; the same system is solved again by CG and Jacobi, which
multiplies by the matrix. Without references the norms are printed.
"""
import runpy
import sys

demo, kind, references = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None, [float(s) for s in " ".join(sys.argv[3:]).split()]
left = runpy.run_path(demo, run_name="__main__")
from petsc4py import PETSc  # noqa: E402

A, b, solution = left["problem"].A, left["problem"].b, left["uh"].vector
ksp = PETSc.KSP().create(A.getComm())
ksp.setType("cg")
ksp.getPC().setType("jacobi")
ksp.setTolerances(rtol=1e-10)
ksp.setOperators(A)
x = A.createVecRight()
ksp.solve(b, x)
norms = [solution.norm(), x.norm()]
if A.getComm().getRank() == 0:
    print("matrix", A.getType())
    print("norms %.12g %.12g" % tuple(norms))
if kind and not A.getType().endswith(kind):
    sys.exit("the demo's matrix is " + A.getType())
for ours, theirs in zip(norms, references):
    if abs(ours - theirs) > 1e-5 * abs(theirs):
        sys.exit("norm %.12g instead of %.12g" % (ours, theirs))
