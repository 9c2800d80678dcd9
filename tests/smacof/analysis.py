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


globals()[sys.argv[1]](*sys.argv[2:])
