#!/usr/bin/env python3
"""Time of whole solves by CuPy on a GPU and by PyAMG on the processor, to the residual of bench_pc, on the grids of bench_pc: CSV.

    pc_peers.py [--matrices grid7-128,grid27-96,convection-96] [--peers cupy,sa,rs] [--tolerance 1e-8] [--repeats 2] [--seconds 60]

A peer whose packages are missing is skipped. first_ms contains the set-up of the preconditioner, and for CuPy the copy of the matrix to the GPU; solve_ms is the median of
further solves. One small system is solved before, so that programs are loaded.
"""
import argparse
import inspect
import sys
import time

import numpy as np
import scipy.sparse as sp


def coupling(x, y, z):
    return 1 + 0.3 * np.sin(0.11 * x + 0.5) * np.sin(0.07 * y + 0.3) * np.cos(0.05 * z)


def grid(n, wide, flow):
    """The matrix of pcmatrices.c: n^3 points, homogeneous Dirichlet conditions."""
    z, y, x = np.meshgrid(*(np.arange(n),) * 3, indexing="ij")
    row = (z * n + y) * n + x
    rows, columns, values, diagonal = [], [], [], np.zeros(row.shape)
    for dz in (-1, 0, 1):
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                distance = abs(dx) + abs(dy) + abs(dz)
                if not distance or (distance > 1 and not wide):
                    continue
                v = coupling(2 * x + dx, 2 * y + dy, 2 * z + dz)
                if flow:
                    u, w = 2 * (2 * y - n + 1) / n, -2 * (2 * x - n + 1) / n
                    v = v + np.maximum(0, -(dx * u + dy * w + dz * 0.5))
                diagonal += v
                inside = (x + dx >= 0) & (x + dx < n) & (y + dy >= 0) & (y + dy < n) & (z + dz >= 0) & (z + dz < n)
                rows.append(row[inside])
                columns.append(row[inside] + (dz * n + dy) * n + dx)
                values.append(-v[inside])
    rows.append(row.ravel())
    columns.append(row.ravel())
    values.append(diagonal.ravel())
    return sp.csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(n**3, n**3))


def matrix(name):
    kind, n = name.rsplit("-", 1)
    return grid(int(n), kind == "grid27", kind == "convection"), kind != "convection"


class CuPy:
    """A Krylov method of CuPy with Jacobi."""

    def __init__(self, method):
        import cupy
        import cupyx.scipy.sparse as csp
        import cupyx.scipy.sparse.linalg as linalg

        self.cupy, self.csp, self.linalg, self.method = cupy, csp, linalg, method
        self.name = f"cupy {method} jacobi"

    def setup(self, A):
        cp = self.cupy
        self.A = self.csp.csr_matrix(A)
        inverse = 1 / self.A.diagonal()
        self.M = self.linalg.LinearOperator(A.shape, matvec=lambda v: inverse * v, dtype=np.float64)
        self.b = cp.ones(A.shape[0])
        cp.cuda.Device().synchronize()

    def solve(self, tolerance):
        count = [0]

        def step(_):
            count[0] += 1

        solver = getattr(self.linalg, self.method)
        tol = "rtol" if "rtol" in inspect.signature(solver).parameters else "tol"  # it depends on the version
        x, _ = solver(self.A, self.b, M=self.M, callback=step, maxiter=5000, **{tol: tolerance})
        self.cupy.cuda.Device().synchronize()
        return self.cupy.asnumpy(x), count[0]


class PyAMG:
    """Conjugate gradients or GMRES with algebraic multigrid of PyAMG, on the processor."""

    def __init__(self, kind):
        import pyamg

        self.make = {"sa": pyamg.smoothed_aggregation_solver, "rs": pyamg.ruge_stuben_solver}[kind]
        self.name = f"pyamg {kind}"

    def setup(self, A):
        self.A, self.b = A, np.ones(A.shape[0])
        self.ml = self.make(A, max_coarse=500)
        symmetric = abs(A - A.T).max() < 1e-12
        self.accel = "cg" if symmetric else "bicgstab"

    def solve(self, tolerance):
        residuals = []
        x = self.ml.solve(self.b, tol=tolerance, accel=self.accel, maxiter=500, residuals=residuals)
        return x, len(residuals) - 1


def measure(name, A, make, tolerance, repeats):
    b, rtol = np.ones(A.shape[0]), tolerance
    for _ in range(4):
        start = time.time()
        peer = make()
        peer.setup(A)
        x, its = peer.solve(rtol)
        first = time.time() - start
        residual = np.linalg.norm(b - A @ x) / np.linalg.norm(b)
        if residual <= tolerance:
            break
        rtol *= 0.5 * tolerance / residual
    times = []
    for _ in range(repeats):
        start = time.time()
        peer.solve(rtol)
        times.append(time.time() - start)
    print(f"{name},{A.shape[0]},{A.nnz},{peer.name},{its},{residual:.2e},{1e3 * first:.1f},{1e3 * sorted(times)[len(times) // 2]:.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--matrices", default="grid7-128,grid27-96,convection-96")
    parser.add_argument("--peers", default="cupy,sa,rs", help="CuPy with Jacobi; smoothed aggregation and Ruge-Stueben of PyAMG")
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    start = time.time()
    print("matrix,rows,nonzeros,peer,iterations,residual,first_ms,solve_ms")
    for name in args.matrices.split(","):
        A, symmetric = matrix(name)
        small = matrix(name.rsplit("-", 1)[0] + "-8")[0]
        makers = {"cupy": lambda: CuPy("cg" if symmetric else "gmres"), "sa": lambda: PyAMG("sa"), "rs": lambda: PyAMG("rs")}
        for make in (makers[key] for key in args.peers.split(",")):
            if time.time() - start > args.seconds:
                print("# no time for the rest", file=sys.stderr)
                return
            try:
                peer = make()
                peer.setup(small)
                peer.solve(1e-6)
                measure(name, A, make, args.tolerance, args.repeats)
            except Exception as error:  # a peer that is missing or fails must not stop the others
                print(f"# {name}: {type(error).__name__}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
