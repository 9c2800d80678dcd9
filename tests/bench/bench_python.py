#!/usr/bin/env python3
"""Times of the Python package beside SciPy and scikit-learn, as tables for docs/python.md.

    PYTHONPATH=python GPUCSR_LIBRARY=build/lib/libgpucsr.so OMP_NUM_THREADS=1 tests/bench/bench_python.py <folder of data sets>
"""
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse
import sklearn.cluster
import sklearn.linear_model
import sklearn.svm
from sklearn.datasets import load_digits, load_svmlight_file

import gpucsr
import gpucsr.linalg

warnings.simplefilter("ignore")
gpucsr.device()  # starts PETSc


def seconds(function, repeats=1, tries=3):
    """The smallest mean time of a call in several tries."""
    best = np.inf
    for _ in range(tries):
        start = time.perf_counter()
        for _ in range(repeats):
            function()
        best = min(best, (time.perf_counter() - start) / repeats)
    return best


def overhead():
    print("| call, matrix of 20 rows | time in us |\n|---|---|")
    A, x = scipy.sparse.eye(20, format="csr"), np.ones(20)
    op = gpucsr.LinearOperator(A)
    for name, call in (
        ("`A @ x`, SciPy", lambda: A @ x),
        ("`op @ x`", lambda: op @ x),
        ("`op.rmatvec(x)`", lambda: op.rmatvec(x)),
        ('`cg(op, b, M="jacobi")`, one iteration', lambda: gpucsr.linalg.cg(op, x, M="jacobi")),
        ("`spsolve(op, b)`, kept factorisation", lambda: gpucsr.linalg.spsolve(op, x)),
    ):
        print(f"| {name} | {1e6 * seconds(call, 2000):.1f} |")


def conversion():
    print("\n| matrix, size of its arrays | `A.copy()` in s | `from_scipy(A)` in s | `from_scipy(A, copy=False)` in s | `createAIJ(csr=...)` in s |\n|---|---|---|---|---|")
    from petsc4py import PETSc

    for rows, per in ((200_000, 27), (2_000_000, 7)):
        rng = np.random.default_rng(1)
        columns = np.sort(rng.integers(0, rows // per, (rows, per)) + np.arange(per) * (rows // per), axis=1).astype(np.int32)
        A = scipy.sparse.csr_matrix((rng.random(rows * per), columns.reshape(-1), np.arange(0, rows * per + 1, per, dtype=np.int32)), shape=(rows, rows))
        A.has_canonical_format
        times = [
            seconds(call)
            for call in (A.copy, lambda: gpucsr.from_scipy(A), lambda: gpucsr.from_scipy(A, copy=False), lambda: PETSc.Mat().createAIJ(A.shape, csr=(A.indptr, A.indices, A.data), comm=PETSc.COMM_SELF))
        ]
        print(f"| {rows} rows, {per} nonzeros each, {12e-6 * A.nnz:.0f} MB | " + " | ".join(f"{t:.3f}" for t in times) + " |")


def linear(folder):
    print("\n| data | model | score, gpucsr | score, scikit-learn | time in s, gpucsr | time in s, scikit-learn |\n|---|---|---|---|---|---|")
    sets = [("digits", *load_digits(return_X_y=True))]
    for name, file in (("a9a", "a9a"), ("w8a", "w8a")):
        if (folder / "svm" / file).is_file():
            sets.append((name, *load_svmlight_file(str(folder / "svm" / file))))
    for name, X, y in sets:
        X = X / 16 if name == "digits" else X
        for model, ours, theirs in (
            ("LinearSVC", gpucsr.LinearSVC(), sklearn.svm.LinearSVC()),
            ('LinearSVC, loss="hinge"', gpucsr.LinearSVC(loss="hinge"), sklearn.svm.LinearSVC(loss="hinge")),
            ("LogisticRegression", gpucsr.LogisticRegression(), sklearn.linear_model.LogisticRegression(max_iter=1000)),
        ):
            times = [seconds(lambda: m.fit(X, y), 1, 1) for m in (ours, theirs)]
            print(f"| {name} | {model} | {ours.score(X, y):.4f} | {theirs.score(X, y):.4f} | {times[0]:.2f} | {times[1]:.2f} |", flush=True)


def clusters():
    print("\n| points | clusters | inertia, gpucsr | inertia, scikit-learn | time in s, gpucsr | time in s, scikit-learn |\n|---|---|---|---|---|---|")
    rng = np.random.default_rng(1)
    for name, X, k in (("digits", load_digits().data, 10), ("200000 uniform, 8 features", rng.random((200_000, 8)), 32)):
        start = X[rng.choice(len(X), k, replace=False)]  # equal first centroids: equal iterations
        models = gpucsr.KMeans(k, init=start), sklearn.cluster.KMeans(k, init=start, n_init=1, tol=0)
        times = [seconds(lambda: m.fit(X), 1, 1) for m in models]
        print(f"| {name} | {k} | " + " | ".join(f"{m.inertia_:.8g}" for m in models) + " | " + " | ".join(f"{t:.2f}" for t in times) + " |", flush=True)


overhead()
conversion()
linear(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("../shared/data"))
clusters()
