#!/usr/bin/env python3
"""Files of points for the tests of the readers of kmeans, and what the program should read.

    points.py data <folder>                       writes points in every format, and the tables that kmeans should write as centroids of clusters of one point
    points.py sums <report.json> <centroids.csv> <points> <features> <column> <sum>
    points.py serve                               runs such commands from standard input, as common.sh writes them
"""
import json
import struct
import sys

import numpy as np

from oracle import INTEGER, serve

IDX = {"uint8": (8, ">u1"), "int8": (9, ">i1"), "int16": (11, ">i2"), "int32": (12, ">i4"), "float": (13, ">f4"), "double": (14, ">f8")}


def write_table(file, X):
    """The centroids of clusters of one point each, as kmeans writes them."""
    np.savetxt(file, X, delimiter=",", fmt="%.17g", comments="", header=",".join(f"x{j}" for j in range(X.shape[1])))


def write_market(file, X, kind="coordinate real general"):
    pattern, symmetric, array = "pattern" in kind, "symmetric" in kind, "array" in kind
    entries = [(i, j) for j in range(X.shape[1]) for i in range(X.shape[0]) if (array or X[i, j]) and (not symmetric or i >= j)]
    with open(file, "w") as f:
        f.write(f"%%MatrixMarket matrix {kind}\n{X.shape[0]} {X.shape[1]}" + ("" if array else f" {len(entries)}") + "\n")
        for i, j in entries:
            f.write(("" if array else f"{i + 1} {j + 1}") + ("" if pattern else f" {X[i, j]:.17g}") + "\n")


def write_petsc(file, X, sparse):
    rows = [np.flatnonzero((x != 0) | np.isnan(x)) for x in X]
    with open(file, "wb") as f:
        f.write(np.array([1211216, *X.shape, sum(map(len, rows)) if sparse else -1], INTEGER).tobytes())
        if sparse:
            f.write(np.array([len(r) for r in rows], INTEGER).tobytes() + np.concatenate(rows).astype(INTEGER).tobytes())
            X = np.concatenate([x[r] for x, r in zip(X, rows)])
        f.write(X.astype(">f8").tobytes())


def write_libsvm(file, X):
    with open(file, "w") as f:
        f.write("# labels are numbers, lists of numbers or words\n")
        for i, x in enumerate(X):
            f.write(["1", "-1", "2,5", "word", "0.5 qid:3"][i % 5] + "".join(f" {j + 1}:{x[j]:.17g}" for j in np.flatnonzero(x)) + (" # comment\n\n" if i % 7 == 3 else "\n"))


def write_minebench(file, X):
    with open(file, "wb") as f:
        f.write(struct.pack("<2i", *X.shape) + X.astype("<f4").tobytes())


def write_idx(file, X, name):
    code, dtype = IDX[name]
    with open(file, "wb") as f:
        f.write(struct.pack(f">4B{X.ndim}i", 0, 0, code, X.ndim, *X.shape) + X.astype(dtype).tobytes())


def write_data(folder):
    rng = np.random.default_rng(11)
    X = rng.integers(-80, 80, size=(23, 6)) / 8
    X[rng.random(X.shape) < 0.4] = 0
    X[:, 3] = rng.permutation(np.arange(1, 24)) / 8
    X[5] = 0  # an empty row
    X[:, 4] = 0  # an empty column; the last one is not
    X[:, 5] += 1
    X[5, 5] = 0
    assert len(np.unique(X[:, [3, 0, 1]], axis=0)) == len(X)
    write_table(f"{folder}/points.csv", X)
    write_table(f"{folder}/selected.csv", X[:, [3, 0, 1]])
    write_libsvm(f"{folder}/points.libsvm", X)
    write_market(f"{folder}/points.mtx", X)
    write_market(f"{folder}/array.mtx", X, "array real general")
    write_petsc(f"{folder}/dense.petsc", X, False)
    write_petsc(f"{folder}/sparse.petsc", X, True)
    write_minebench(f"{folder}/points.minebench", X)
    write_idx(f"{folder}/points.idx", X, "double")
    write_petsc(f"{folder}/norows.petsc", np.zeros((0, 3)), False)
    S = np.tril(rng.integers(1, 9, size=(7, 7)) * (rng.random((7, 7)) < 0.7))
    S = S + np.tril(S, -1).T
    write_table(f"{folder}/symmetric.csv", S)
    write_market(f"{folder}/symmetric.mtx", S, "coordinate integer symmetric")
    write_market(f"{folder}/symmetricarray.mtx", S, "array real symmetric")
    B = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0]])
    write_table(f"{folder}/pattern.csv", B)
    write_market(f"{folder}/pattern.mtx", B, "coordinate pattern general")
    write_table(f"{folder}/onecolumn.csv", np.arange(5.0)[:, None])
    write_libsvm(f"{folder}/onecolumn.libsvm", np.arange(5.0)[:, None])
    write_market(f"{folder}/onecolumn.mtx", np.arange(5.0)[:, None], "array integer general")
    write_table(f"{folder}/onepoint.csv", X[:1])
    write_libsvm(f"{folder}/onepoint.libsvm", X[:1])
    write_petsc(f"{folder}/onepoint.petsc", X[:1], True)
    for k, name in enumerate(IDX):
        dtype = np.dtype(IDX[name][1])
        shape = ((9,), (9, 3), (9, 2, 2), (9, 2, 1, 2), (9, 5), (9, 2, 3))[k]
        most = np.iinfo(dtype).max if dtype.kind in "iu" else 1000
        least = np.iinfo(dtype).min if dtype.kind in "iu" else -1000
        Y = rng.permutation(np.linspace(least, most, int(np.prod(shape)))).astype(np.int64).reshape(shape)
        write_idx(f"{folder}/{name}.idx", Y, name)
        write_table(f"{folder}/{name}.csv", Y.reshape(9, -1).astype(float))
    for value, name in ((np.nan, "nan"), (np.inf, "inf")):
        Y = X.copy()
        Y[17, 2] = value
        write_petsc(f"{folder}/{name}.dense.petsc", Y, False)
        write_petsc(f"{folder}/{name}.sparse.petsc", Y, True)
        write_minebench(f"{folder}/{name}.minebench", Y)
        write_idx(f"{folder}/{name}.idx", Y, "float")


def check_sums(report, centroids, points, features, column, total):
    ours = json.load(open(report))
    means = np.loadtxt(centroids, delimiter=",", skiprows=1, ndmin=1)
    assert (ours["points"], ours["features"], len(means)) == (int(points), int(features), int(features)), f"{ours['points']} points, {ours['features']} features"
    found = means[int(column)] * ours["points"]
    assert abs(found - float(total)) <= 1e-10 * max(abs(float(total)), ours["points"]), f"sum {found:.17g}, expected {total}"


if __name__ == "__main__":
    modes = {"data": write_data, "sums": check_sums}
    modes["serve"] = lambda: serve(modes)
    modes[sys.argv[1]](*sys.argv[2:])
