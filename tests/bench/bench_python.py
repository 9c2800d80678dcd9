#!/usr/bin/env python3
"""Times of the Python package beside SciPy and scikit-learn, as tables for docs/python.md.

    PYTHONPATH=python GPUCSR_LIBRARY=build/lib/libgpucsr.so OMP_NUM_THREADS=1 tests/bench/bench_python.py <folder of data sets> <tables>

The tables are those named, or all: overhead conversion linear ranking clusters. The times are processor seconds, which other programs on the machine disturb
least. On a GPU, those of gpucsr are seconds of the clock, in a column of their own.
"""
import io
import lzma
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
HOST = gpucsr.device() == "host"  # starts PETSc


def seconds(function, repeats=1, tries=3):
    """The smallest mean time of a call in several tries."""
    clock = time.process_time if HOST else time.perf_counter
    best = np.inf
    for _ in range(tries):
        start = clock()
        for _ in range(repeats):
            function()
        best = min(best, (clock() - start) / repeats)
    return best


HEADINGS = "time in s, gpucsr, one core | time in s, gpucsr, GPU | time in s, scikit-learn, one core"


def times(ours, theirs):
    """The cells below HEADINGS."""
    first, second = seconds(ours, 1, 1), seconds(theirs, 1, 1)
    return (f"{first:.2f} | not measured yet" if HOST else f"| {first:.2f}") + f" | {second:.2f}"


def read(folder, name):
    """A data set in LIBSVM format, or None if it is not there."""
    for suffix, unpack in (("", bytes), (".xz", lzma.decompress)):
        path = folder / "svm" / (name + suffix)
        if path.is_file():
            return io.BytesIO(unpack(path.read_bytes()))
    return None


def overhead(folder):
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


def conversion(folder):
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
    print(f"\n| data | model | score, gpucsr | score, scikit-learn | gap / objective, gpucsr | {HEADINGS} |\n|---|---|---|---|---|---|---|---|")
    sets = {"digits": load_digits(return_X_y=True)}
    for name, file in (("a9a", "a9a"), ("w8a", "w8a"), ("letter", "letterrecognition.libsvm")):
        text = read(folder, file)
        if text is not None:
            sets[name] = load_svmlight_file(text)
    for name, (X, y) in sets.items():
        X = X / {"digits": 16, "letter": 15}.get(name, 1)
        for model, ours, theirs in (
            ("LinearSVC", gpucsr.LinearSVC(), sklearn.svm.LinearSVC()),
            ('LinearSVC, loss="hinge"', gpucsr.LinearSVC(loss="hinge"), sklearn.svm.LinearSVC(loss="hinge")),
            ("LogisticRegression", gpucsr.LogisticRegression(), sklearn.linear_model.LogisticRegression(max_iter=1000)),
        ):
            cells = times(lambda: ours.fit(X, y), lambda: theirs.fit(X, y))
            gap = np.max(ours.gap_ / ours.objective_)
            reached = f"{gap:.0e}" + ("" if gap <= ours.tol else ": not converged")
            print(f"| {name} | {model} | {ours.score(X, y):.4f} | {theirs.score(X, y):.4f} | {reached} | {cells} |", flush=True)


def ranking(folder):
    text = read(folder, "a9a")
    if text is None:
        return
    print("\n| data | model | score | gap / objective | passes | time in s, gpucsr, one core | time in s, gpucsr, GPU |\n|---|---|---|---|---|---|---|")
    X, y = load_svmlight_file(text)
    queries = np.arange(len(y)) // 100
    for name, loss, group in (("a9a, one query", "preference", None), ("a9a, queries of 100 samples", "preference", queries), ("a9a, all pairs", "ordinal", None)):
        model = gpucsr.RankSVM(loss)
        cell = f"{seconds(lambda: model.fit(X, y, group=group), 1, 1):.2f}"
        print(f"| {name} | {loss} | {model.score(X, y, group=group):.4f} | {model.gap_ / model.objective_:.1e} | {model.n_iter_} | {cell + ' | not measured yet' if HOST else '| ' + cell} |", flush=True)


def clusters(folder):
    print(f"\n| points | clusters | inertia, gpucsr | inertia, scikit-learn | {HEADINGS} |\n|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(1)
    for name, X, k in (("digits", load_digits().data, 10), ("200000 uniform, 8 features", rng.random((200_000, 8)), 32)):
        start = X[rng.choice(len(X), k, replace=False)]  # equal first centroids: equal iterations
        models = gpucsr.KMeans(k, init=start), sklearn.cluster.KMeans(k, init=start, n_init=1, tol=0)
        cells = times(*(lambda m=m: m.fit(X) for m in models))
        print(f"| {name} | {k} | " + " | ".join(f"{m.inertia_:.8g}" for m in models) + f" | {cells} |", flush=True)


TABLES = {table.__name__: table for table in (overhead, conversion, linear, ranking, clusters)}
for table in sys.argv[2:] or TABLES:
    TABLES[table](Path(sys.argv[1]) if len(sys.argv) > 1 else Path("../shared/data"))
