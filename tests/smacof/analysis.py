#!/usr/bin/env python3
"""References in numpy for what smacof computes about a map: analysis.py CHECK FOLDER ARGUMENTS."""
import json
import sys

import numpy as np


def distances(X):
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))


def table(file):
    return np.genfromtxt(file, delimiter=",", skip_header=1)[:, 1:]


def near(what, a, b, tol):
    error = np.max(np.abs(np.asarray(a, float) - np.asarray(b, float)))
    print(f"{what}: difference {error:.2e}, tolerance {tol:.0e}")
    assert error <= tol, (a, b)


def data(t):
    """12 named points in a space of 3 dimensions, and a target in 2"""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(12, 3)) * [3, 2, 0.6]
    D = distances(X)
    names = ["p%d" % k for k in range(12)]
    with open(t + "/D.csv", "w") as f:
        f.write("," + ",".join(names) + "\n")
        f.writelines(n + "," + ",".join("%.17g" % v for v in d) + "\n" for n, d in zip(names, D))
    Y = 5 + 2 * X[:, [1, 0]] * [1, -1] + 0.1 * rng.normal(size=(12, 2))
    with open(t + "/target.csv", "w") as f:  # the rows are in another order
        f.write("point,x1,x2\n")
        f.writelines("%s,%.17g,%.17g\n" % (names[k], *Y[k]) for k in rng.permutation(12))
    np.savetxt(t + "/Y.txt", Y)


def ranks(v):
    """ranks from 1 on in ascending order, the mean rank for equal values; nan stays nan"""
    known = np.sort(v[~np.isnan(v)])
    return np.where(np.isnan(v), np.nan, (np.searchsorted(known, v) + np.searchsorted(known, v, "right") + 1) / 2)


def convert(S, method, constant=1.0):
    """sim2diss() of R's smacof, written from its formulas"""
    eps = np.finfo(float).eps
    top, low, total = np.nanmax(S), np.nanmin(S), np.nansum(S)
    sums = np.outer(np.nansum(S, 1), np.nansum(S, 0))
    some = np.where(S == 0, np.nan, S)
    return {
        "corr": lambda: np.sqrt(1 - S),
        "reverse": lambda: top + low - S,
        "reciprocal": lambda: 1 / some,
        "ranks": lambda: ranks(-S),
        "exp": lambda: -np.log((eps + S) / (eps + top)),
        "gaussian": lambda: np.sqrt(-np.log((eps + S) / (eps + top))),
        "cooccurrence": lambda: 1 / (1 + total * S / sums),
        "gravity": lambda: np.sqrt(sums / (total * some)),
        "confusion": lambda: 1 - S,
        "transition": lambda: 1 / np.sqrt(some),
        "membership": lambda: 1 - S,
        "probability": lambda: 1 / np.sqrt(np.arcsin(some)),
        "constant": lambda: constant - S,
    }[method]()


def similarities(t):
    """correlations, proportions with zeros, counts with ties and zeros, counts that are not symmetric, a triangle without diagonal, and a list of pairs with a missing one"""
    rng = np.random.default_rng(13)
    save = lambda name, a, fmt="%.17g": np.savetxt(f"{t}/{name}", a, delimiter=",", fmt=fmt)
    save("corr.csv", np.corrcoef(rng.normal(size=(9, 20))))
    P = np.triu(np.round(rng.random((9, 9)), 2), 1)
    P[0, 5] = P[2, 7] = 0
    save("share.csv", P + P.T + np.eye(9))
    C = np.triu(rng.integers(1, 30, size=(9, 9)))
    C[1, 4] = C[3, 8] = 0
    C = C + np.triu(C, 1).T
    save("counts.csv", C, "%d")
    save("uneven.csv", C + np.triu(rng.integers(0, 5, size=(9, 9)), 1), "%d")
    with open(t + "/triangle.txt", "w") as f:
        f.writelines(" ".join("%d" % C[i, j] for j in range(i)) + "\n" for i in range(1, 9))
    with open(t + "/counts.pairs", "w") as f:
        f.writelines("%d %d %d\n" % (i, j, C[i, j]) for i in range(9) for j in range(i) if (i, j) != (6, 2))


def converted(t):
    """every file SOURCE.METHOD.RANKS.shepard has the dissimilarities of R's formulas"""
    import glob

    files = sorted(glob.glob(t + "/*.shepard"))
    assert len(files) >= 20, files
    for file in files:
        source, method = file[len(t) + 1 :].split(".")[:2]
        if source in ("triangle", "pairs"):
            S = np.loadtxt(t + "/counts.csv", delimiter=",")
            np.fill_diagonal(S, np.nan)
            if source == "pairs":
                S[6, 2] = S[2, 6] = np.nan
        else:
            S = np.loadtxt(f"{t}/{source}.csv", delimiter=",")
        D = convert(S, method, 40.0)
        D = np.where(np.isnan(D), D.T, np.where(np.isnan(D.T), D, (D + D.T) / 2))  # the mean, or the one that is not missing
        R = np.genfromtxt(file, delimiter=",", skip_header=1)
        E = np.full(D.shape, np.nan)
        E[R[:, 0].astype(int), R[:, 1].astype(int)] = R[:, 2]
        below = np.tril_indices(len(D), -1)
        assert (np.isnan(D[below]) == np.isnan(E[below])).all() and not np.isnan(D[below]).all(), file
        near(file, np.nan_to_num(E[below]), np.nan_to_num(D[below]), 1e-12 * np.nanmax(D[below]))


def target(t, plain, rotated, report):
    """the map `rotated` is the map `plain` after the best rigid motion to the target; the distances, the stress of the points"""
    X, Z, Y = table(plain), table(rotated), np.loadtxt(t + "/Y.txt")
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    U, S, Vt = np.linalg.svd(Xc.T @ Yc)
    R = json.load(open(report))
    near("coordinates", Z, Xc @ U @ Vt + Y.mean(0), 1e-10)
    near("correlation", R["target"]["correlation"], S.sum() / np.linalg.norm(Xc) / np.linalg.norm(Yc), 1e-12)
    near("dilation", R["target"]["dilation"], S.sum() / (Xc**2).sum(), 1e-12)
    D = table(t + "/D.csv")
    error = ((D - distances(Z)) ** 2).sum(1)
    near("stress of the points", R["stress_percent"], 100 * error / error.sum(), 1e-8)
    near("stress", R["stress_raw"], error.sum() / 2, 1e-8)
    assert R["target"]["correlation"] > 0.9 and abs(X - Z).max() > 0.1


def scree(t, report, *each):
    """the stress of every dimension is that of a run with this dimension; the picture has a marker for each"""
    import xml.dom.minidom as xml

    R = json.load(open(report))["scree"]
    assert [r["dim"] for r in R] == list(range(1, 4)) and all(r["converged"] for r in R)
    for r, file in zip(R, each):
        near(f"dimension {r['dim']}", r["stress1"], json.load(open(file))["stress1"], 1e-12)
    assert R[0]["stress1"] > 2 * R[1]["stress1"] > 4 * R[2]["stress1"]
    texts = {e.firstChild.data for e in xml.parse(t + "/scree.svg").getElementsByTagName("text")}
    assert {"Stress by dimension", "dimension", "stress-1", "12 points, ratio disparities"} <= texts, texts
    assert {"1", "2", "3"} <= texts and "1.5" not in texts, texts


globals()[sys.argv[1]](*sys.argv[2:])
