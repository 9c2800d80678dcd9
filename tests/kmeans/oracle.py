#!/usr/bin/env python3
"""Data for the tests of the program kmeans, and its results beside numpy and scikit-learn.

    oracle.py data <folder>                       writes the same points in every format
    oracle.py lloyd <points.csv> <start.csv> <report.json> <labels.csv> <centroids.csv> [<weights>]
    oracle.py fixedpoint <points.csv> <report.json> <labels.csv> <centroids.csv>
    oracle.py batch <size> <iterations> <points.csv> <start.csv> <report.json> <labels.csv> <centroids.csv> [<weights>]
    oracle.py minibatch <points.minebench> <start.csv> <lloyd.json> <report.json>...
    oracle.py sklearn <points.csv> <start.csv> <report.json>
    oracle.py sparse <points.csv> <metric> <labels.csv> <centroids.csv> [<weights>]
    oracle.py report <report.json>                the report has all fields
    oracle.py silhouette <points.csv> <labels.csv> <report.json> <metric> <m>
    oracle.py axes <points.csv> <weights> <picture.svg>
    oracle.py binary <labels.csv> <labels.petsc> <centroids.csv> <centroids.petsc>
    oracle.py predict <points.csv> <centroids.csv> <predictions.csv>
    oracle.py have <module>                       Python has the module
    oracle.py serve                               runs such commands from standard input, as common.sh writes them
"""
import contextlib
import importlib
import json
import os
import re
import struct
import sys
import traceback
import xml.dom.minidom

import numpy as np

INTEGER = ">i" + os.environ.get("GPUCSR_INT_BYTES", "4")  # integers in PETSc's binary files


def write_data(folder):
    rng = np.random.default_rng(7)
    X = np.round(64 * (rng.normal(size=(400, 5)) + 6 * rng.integers(0, 4, size=(400, 1)))) / 64  # every format holds these numbers exactly
    X[rng.random(X.shape) < 0.2] = 0
    X[(X == 0).all(1)] = 1  # the cosine metric refuses zero rows
    np.savetxt(f"{folder}/points.csv", X, delimiter=",", fmt="%.17g")
    np.savetxt(f"{folder}/start.csv", X[[3, 77, 150, 202, 301, 399]], delimiter=",", fmt="%.17g")
    np.savetxt(f"{folder}/weights.txt", rng.integers(0, 4, size=400) * 0.5, fmt="%g")
    with open(f"{folder}/points.mtx", "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n400 5 {np.count_nonzero(X)}\n")
        for i, j in zip(*np.nonzero(X)):
            file.write(f"{i + 1} {j + 1} {X[i, j]:.17g}\n")
    with open(f"{folder}/points.petsc", "wb") as file:
        file.write(np.array([1211216, 400, 5, -1], INTEGER).tobytes() + X.astype(">f8").tobytes())
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


def fixedpoint(points, report, labels, centroids):
    """Of a converged solution: each label is that of the nearest centroid, the lowest of equals; each centroid is the mean of its points."""
    X, C = np.loadtxt(points, delimiter=","), np.loadtxt(centroids, delimiter=",", skiprows=1)
    found = np.loadtxt(labels, delimiter=",", skiprows=1, dtype=int)[:, 1]
    ours = json.load(open(report))
    D = np.zeros((len(X), len(C)))
    for x, m in zip(X.T, C.T):  # ascending features, one sum after the other
        D += (x[:, None] - m) ** 2
    assert ours["reason"] == "CONVERGED_LABELS", ours["reason"]
    assert (found == D.argmin(1)).all(), f"{(found != D.argmin(1)).sum()} labels differ"
    assert np.allclose(C, [X[found == c].mean(0) for c in range(len(C))], rtol=1e-12, atol=1e-12), "a centroid is not the mean of its points"
    assert abs(ours["inertia"] - D.min(1).sum()) <= 1e-12 * ours["inertia"], "inertia differs"


def hash64(x):
    """SplitMix64."""
    mask = 2**64 - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def permute(number, n, seed):
    """The place of a point in the order of the batches: a Feistel network, repeated until the result is below n."""
    half = 0
    while n > 4**half:
        half += 1
    while True:
        left, right = number >> half, number & (2**half - 1)
        for r in range(4):
            left, right = right, left ^ (hash64((hash64(seed + r) + right) % 2**64) & (2**half - 1))
        number = left << half | right
        if number < n:
            return number


def batch(size, iterations, points, start, report, labels, centroids, weights=None):
    """Mini-batches with seed 0, from the same start; a last assignment of all points."""
    X, M = np.loadtxt(points, delimiter=","), np.loadtxt(start, delimiter=",")
    w = np.loadtxt(weights) if weights else np.ones(len(X))
    size, n = int(size), len(X)
    many = -(-n // size)
    member = np.array([permute(i, n, 0) // size for i in range(n)])
    assert sorted(np.bincount(member)) == sorted([size] * (n // size) + [n % size] * (n % size > 0)), "a batch has another size"
    count, first = np.zeros(len(M)), hash64(0) % many
    for it in range(int(iterations)):
        B = np.flatnonzero(member == (first + it) % many)
        L = ((X[B, None, :] - M[None]) ** 2).sum(2).argmin(1)
        for c in range(len(M)):
            mine = B[L == c]
            if w[mine].sum() > 0:
                count[c] += w[mine].sum()
                M[c] += (w[mine, None] * (X[mine] - M[c])).sum(0) / count[c]
    D = ((X[:, None, :] - M[None]) ** 2).sum(2)
    L = D.argmin(1)
    ours = json.load(open(report))
    inertia = float((w * D[np.arange(n), L]).sum())
    assert np.allclose(np.loadtxt(centroids, delimiter=",", skiprows=1), M, rtol=1e-10, atol=1e-10), "centroids differ"
    assert (np.loadtxt(labels, delimiter=",", skiprows=1, dtype=int)[:, 1] == L).all(), "labels differ"
    assert abs(ours["inertia"] - inertia) <= 1e-10 * inertia, f"inertia {ours['inertia']}, numpy {inertia}"
    assert ours["iterations"] == int(iterations), f"{ours['iterations']} iterations"


def minibatch(points, start, lloyd, *reports):
    """300 batches of 1000 points with several seeds, beside Lloyd's iteration and MiniBatchKMeans from the same start."""
    from sklearn.cluster import MiniBatchKMeans

    data = open(points, "rb").read()
    n, d = struct.unpack("<2i", data[:8])
    X, M = np.frombuffer(data[8:], "<f4").reshape(n, d).astype(float), np.loadtxt(start, delimiter=",", skiprows=1)
    best = json.load(open(lloyd))["inertia"]
    ours = np.mean([json.load(open(r))["inertia"] for r in reports])
    make = lambda seed: MiniBatchKMeans(len(M), init=M, n_init=1, batch_size=1000, max_iter=300000 // n, tol=0, max_no_improvement=None, reassignment_ratio=0, random_state=seed)
    theirs = np.mean([make(seed).fit(X).inertia_ for seed in range(len(reports))])
    print(f"inertia over that of Lloyd: {ours / best:.4f}, scikit-learn {theirs / best:.4f}")
    assert ours <= 1.05 * best, "more than 5 % above Lloyd's iteration"
    assert ours <= 1.02 * theirs, "more than 2 % above scikit-learn"


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


def report(file):
    fields = """points features clusters nnz storage start assign assign_change update reason converged iterations restarts inertia sizes distances rechecked silhouette
        seconds_load seconds_start seconds_assign seconds_update seconds_solve bytes_crossed stream ranks device"""
    ours = json.load(open(file))
    assert set(ours) == set(fields.split()), set(ours) ^ set(fields.split())
    assert sum(ours["sizes"]) == ours["points"] and len(ours["sizes"]) == ours["clusters"]
    assert ours["silhouette"] is None and ours["restarts"] == 3 and ours["storage"] == "single" and ours["start"] == "kmeans++"
    assert ours["distances"] > 0 and 0 <= ours["seconds_start"] + ours["seconds_assign"] <= ours["seconds_solve"]


def silhouette(points, labels, report, metric, m):
    """The mean silhouette of a sample of m points, beside scikit-learn."""
    from sklearn.metrics import silhouette_samples

    X, L = np.loadtxt(points, delimiter=","), np.loadtxt(labels, delimiter=",", skiprows=1, dtype=int)[:, 1]
    theirs = silhouette_samples(X, L, metric=metric)
    numbers = [sample(len(X), int(m), s) for s in range(int(m))] if int(m) < len(X) else range(len(X))
    assert len(set(numbers)) == len(numbers)
    ours = json.load(open(report))["silhouette"]
    assert abs(ours - theirs[list(numbers)].mean()) <= 1e-10, f"silhouette {ours}, scikit-learn {theirs[list(numbers)].mean()}"


def sample(n, m, s):
    """Number of point s of a sample of m: one of each of m parts."""
    first, last = int(n / m * s), n if s == m - 1 else int(n / m * (s + 1))
    return first + hash64(s) % max(last - first, 1)


def axes(points, weights, picture):
    """The shares of the principal axes, and one marker for each point and centroid."""
    X, w = np.loadtxt(points, delimiter=","), np.loadtxt(weights)
    values = np.linalg.eigvalsh(np.cov(X.T, aweights=w))[::-1]
    text = open(picture).read()
    xml.dom.minidom.parseString(text)
    ours = [float(share) for share in re.findall(r"\(([0-9.]+) % of variance", text)]
    assert len(ours) == 2 and all(abs(o - 100 * t / values.sum()) <= 0.0501 for o, t in zip(ours, values)), f"shares {ours}, numpy {100 * values / values.sum()}"
    markers = sum(path.count("M") for path in re.findall(r"<path [^>]*>", text) if not re.search('"#(000000|ffffff)"', path)) # the crosses are black and white
    assert markers == len(X) + 6, f"{markers} markers for {len(X)} points and a legend of 6"


def binary(labels, labels_binary, centroids, centroids_binary):
    L = np.loadtxt(labels, delimiter=",", skiprows=1, dtype=int)[:, 1]
    M = np.loadtxt(centroids, delimiter=",", skiprows=1)
    data = open(labels_binary, "rb").read()
    width = ">i4" if len(data) == 4 * (2 + len(L)) else ">i8"
    assert np.array_equal(np.frombuffer(data, width), np.concatenate([[1211218, len(L)], L])), "the index set differs"
    data = open(centroids_binary, "rb").read()
    header = 4 * np.dtype(width).itemsize
    assert np.array_equal(np.frombuffer(data[:header], width), [1211216, *M.shape, -1]), "the header of the matrix differs"
    assert np.array_equal(np.frombuffer(data[header:], ">f8").reshape(M.shape), M), "the matrix differs"


def predict(points, centroids, predictions):
    X, M = np.loadtxt(points, delimiter=","), np.loadtxt(centroids, delimiter=",", skiprows=1)
    L = ((X[:, None, :] - M[None]) ** 2).sum(2).argmin(1)
    found = np.loadtxt(predictions, delimiter=",", skiprows=1, dtype=int)
    assert (found[:, 0] == np.arange(len(X))).all() and (found[:, 1] == L).all(), "predictions differ"


def serve(modes):
    """Each line of standard input has a file for messages, a mode and its arguments, separated by tabs. The answer is ok or failed."""
    for line in sys.stdin:
        log, mode, *arguments = line.rstrip("\n").split("\t")
        with open(log, "a") as file, contextlib.redirect_stdout(file):
            try:
                modes[mode](*arguments)
                answer = "ok"
            except Exception:
                traceback.print_exc(file=file)
                answer = "failed"
        print(answer, flush=True)


if __name__ == "__main__":
    modes = {"data": write_data, "lloyd": lloyd, "fixedpoint": fixedpoint, "batch": batch, "minibatch": minibatch, "sklearn": sklearn, "report": report, "silhouette": silhouette, "axes": axes, "binary": binary, "predict": predict, "sparse": sparse, "have": importlib.import_module}
    modes["serve"] = lambda: serve(modes)
    modes[sys.argv[1]](*sys.argv[2:])
