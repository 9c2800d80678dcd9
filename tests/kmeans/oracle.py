#!/usr/bin/env python3
"""Data for the tests of the program kmeans, and its results beside numpy and scikit-learn.

    oracle.py data <folder>                       writes the same points in every format
    oracle.py lloyd <points.csv> <start.csv> <report.json> <labels.csv> <centroids.csv> [<weights>]
    oracle.py sklearn <points.csv> <start.csv> <report.json>
    oracle.py sparse <points.csv> <metric> <labels.csv> <centroids.csv> [<weights>]
"""
import json
import struct
import sys

import numpy as np


def write_data(folder):
    rng = np.random.default_rng(7)
    X = np.round(64 * (rng.normal(size=(400, 5)) + 6 * rng.integers(0, 4, size=(400, 1)))) / 64  # every format holds these numbers exactly
    X[rng.random(X.shape) < 0.2] = 0
    np.savetxt(f"{folder}/points.csv", X, delimiter=",", fmt="%.17g")
    np.savetxt(f"{folder}/start.csv", X[[3, 77, 150, 202, 301, 399]], delimiter=",", fmt="%.17g")
    np.savetxt(f"{folder}/weights.txt", rng.integers(0, 4, size=400) * 0.5, fmt="%g")
    with open(f"{folder}/points.mtx", "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n400 5 {np.count_nonzero(X)}\n")
        for i, j in zip(*np.nonzero(X)):
            file.write(f"{i + 1} {j + 1} {X[i, j]:.17g}\n")
    with open(f"{folder}/points.petsc", "wb") as file:
        file.write(struct.pack(">4i", 1211216, 400, 5, -1) + X.astype(">f8").tobytes())
    with open(f"{folder}/points.minebench", "wb") as file:
        file.write(struct.pack("<2i", 400, 5) + X.astype("<f4").tobytes())
    with open(f"{folder}/points.idx", "wb") as file:
        file.write(struct.pack(">4B2i", 0, 0, 13, 2, 400, 5) + X.astype(">f4").tobytes())


def lloyd(points, start, report, labels, centroids, weights=None):
    """Lloyd's iteration to its end, with the same start."""
    X, M = np.loadtxt(points, delimiter=","), np.loadtxt(start, delimiter=",")
    w = np.loadtxt(weights) if weights else np.ones(len(X))
    last = None
    while True:
        D = ((X[:, None, :] - M[None]) ** 2).sum(2)
        L = D.argmin(1)
        if last is not None and (L == last).all():
            break
        last = L
        M = np.array([np.average(X[L == c], axis=0, weights=w[L == c]) if w[L == c].sum() else M[c] for c in range(len(M))])
    inertia = float((w * D[np.arange(len(X)), L]).sum())
    ours = json.load(open(report))
    found = np.loadtxt(labels, delimiter=",", skiprows=1, dtype=int)[:, 1]
    C = np.loadtxt(centroids, delimiter=",", skiprows=1)
    assert (found == L).all(), f"{(found != L).sum()} labels differ"
    assert np.allclose(C, M, rtol=1e-12, atol=1e-12), "centroids differ"
    assert abs(ours["inertia"] - inertia) <= 1e-12 * inertia, f"inertia {ours['inertia']}, numpy {inertia}"
    assert ours["sizes"] == np.bincount(L, minlength=len(M)).tolist(), "sizes differ"


def sklearn(points, start, report):
    from sklearn.cluster import KMeans

    X, M = np.loadtxt(points, delimiter=","), np.loadtxt(start, delimiter=",")
    theirs = KMeans(len(M), init=M, n_init=1, tol=0).fit(X).inertia_
    ours = json.load(open(report))["inertia"]
    assert abs(ours - theirs) <= 1e-6 * theirs, f"inertia {ours}, scikit-learn {theirs}"


def sparse(points, metric, labels, centroids, weights=None):
    """The fixed point of Lloyd's iteration of sparse points: labels by their definition, bit for bit, and centroids that are the means."""
    X, M = np.loadtxt(points, delimiter=","), np.loadtxt(centroids, delimiter=",", skiprows=1)
    w = np.loadtxt(weights) if weights else np.ones(len(X))
    if metric == "cosine":
        X /= np.abs(X).max(1)[:, None]
        X /= np.sqrt(np.cumsum(X * X, axis=1)[:, -1])[:, None]
    dot, square = np.zeros((len(X), len(M))), np.zeros(len(M))
    for j in range(X.shape[1]):  # zeros add nothing
        dot += X[:, j][:, None] * M[:, j]
        square += M[:, j] * M[:, j]
    L = (-dot if metric == "cosine" else square - 2 * dot).argmin(1)
    found = np.loadtxt(labels, delimiter=",", skiprows=1, dtype=int)[:, 1]
    assert (found == L).all(), f"{(found != L).sum()} labels differ"
    for c in range(len(M)):
        mean = np.average(X[L == c], axis=0, weights=w[L == c])
        mean /= np.linalg.norm(mean) if metric == "cosine" else 1
        assert np.allclose(mean, M[c], rtol=1e-11, atol=1e-11), f"centroid {c} differs"


if __name__ == "__main__":
    {"data": write_data, "lloyd": lloyd, "sklearn": sklearn, "sparse": sparse}[sys.argv[1]](*sys.argv[2:])
