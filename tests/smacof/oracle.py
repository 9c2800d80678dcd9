#!/usr/bin/env python3
"""References for the smacof program: plain SMACOF in numpy, written to be read; scikit-learn's, where it is installed.

  oracle.py data FOLDER                          makes the data sets of the tests
  oracle.py compare FOLDER REPORT MAP TOL KEY=VALUE ...   the same iterations in numpy: stress-1 and configuration agree within TOL
  oracle.py sklearn FOLDER REPORT MAP TOL ITS    the same by scikit-learn's smacof
  oracle.py digits FOLDER                        writes digits.csv and a start, of scikit-learn's data
  oracle.py torgerson FOLDER MAP TOL             classical scaling by numpy's eigenvalues, and a plain step
  oracle.py interpolate FOLDER MAP NEW           the last eight points on a map of the first forty
"""
import json
import os
import sys
import warnings

import numpy as np


def distances(X, Y=None):
    return np.sqrt(((X[:, None] - (X if Y is None else Y)[None]) ** 2).sum(-1))


def data(folder):
    rng = np.random.default_rng(7)
    N = 48
    F = rng.normal(size=(N, 4)) + 4 * rng.integers(2, size=(N, 1))
    D = distances(F)
    X = rng.normal(size=(N, 2))
    X8 = np.c_[X, rng.normal(size=(N, 6))]
    W = np.triu(rng.random((N, N)) * (rng.random((N, N)) < 0.4), 1)
    W[np.arange(N - 1), np.arange(1, N)] = 1
    W = W + W.T
    i, j = np.nonzero(np.triu(W))
    T = np.round(D * 2) / 2  # many ties
    M = D.copy()
    M[W == 0] = np.nan
    np.fill_diagonal(M, 0)
    save = lambda name, a: np.savetxt(f"{folder}/{name}", a, delimiter=",", fmt="%.17g")
    for name, a in (("F.csv", F), ("D.csv", D), ("X0.csv", X), ("X8.csv", X8), ("W.csv", W), ("T.csv", T)):
        save(name, a)
    centres, label = 10 * rng.normal(size=(12, 5)), np.repeat(np.arange(12), 25)
    save("C.csv", centres[label] + rng.normal(size=(300, 5)))  # well separated clusters
    with open(f"{folder}/M.csv", "w") as f:  # missing: NA or nothing
        for k, row in enumerate(M):
            f.write(",".join(("NA" if (k + n) % 2 else "") if np.isnan(v) else "%.17g" % v for n, v in enumerate(row)) + "\n")
    np.savetxt(f"{folder}/pairs.txt", np.c_[i, j, D[i, j], W[i, j]], fmt=["%d", "%d", "%.17g", "%.17g"])
    with open(f"{folder}/S.mtx", "w") as f:
        f.write(f"%%MatrixMarket matrix coordinate real symmetric\n% c\n{N} {N} {len(i)}\n")
        f.writelines("%d %d %.17g\n" % (b + 1, a + 1, D[a, b]) for a, b in zip(i, j))
    with open(f"{folder}/A.mtx", "w") as f:
        f.write(f"%%MatrixMarket matrix array real symmetric\n{N} {N}\n")
        f.writelines("%.17g\n" % D[a, b] for b in range(N) for a in range(b, N))
    with open(f"{folder}/F.libsvm", "w") as f:
        for k, row in enumerate(F):
            f.write(f"{k % 3} " + " ".join("%d:%.17g" % (c + 1, v) for c, v in enumerate(row)) + "\n")
    with open(f"{folder}/names.csv", "w") as f:
        f.write('"",' + ",".join(f"p{k}" for k in range(N)) + "\n")
        f.writelines(f"p{k}," + ",".join("%.17g" % v for v in row) + "\n" for k, row in enumerate(D))
    with open(f"{folder}/D.bin", "wb") as f:  # PETSc's dense format
        np.array([1211216, N, N, -1], ">i" + os.environ["GPUCSR_INT_BYTES"]).tofile(f)
        D.astype(">f8").tofile(f)
    np.savetxt(f"{folder}/fixed.txt", np.c_[[3, 0, 20], X[[3, 0, 20]] * 2], fmt=["%d", "%.17g", "%.17g"])


def pava(y, w):
    level, mass, count = [], [], []
    for v, m in zip(y, w):
        level.append(v), mass.append(m), count.append(1)
        while len(level) > 1 and level[-2] >= level[-1]:
            m = mass[-2] + mass[-1]
            level[-2:] = [(level[-2] * mass[-2] + level[-1] * mass[-1]) / m]
            mass[-2:], count[-2:] = [m], [count[-2] + count[-1]]
    return np.repeat(level, count)


def nonnegative(B, d, w):
    """least squares with coefficients that are not negative: every subset is tried"""
    best, found = np.inf, None
    n = B.shape[1]
    for subset in range(1, 2**n):
        on = [k for k in range(n) if subset >> k & 1]
        c = np.linalg.lstsq(B[:, on] * np.sqrt(w)[:, None], d * np.sqrt(w), rcond=None)[0]
        if (c < -1e-12).any():
            continue
        error = (w * (d - B[:, on] @ c) ** 2).sum()
        if error < best - 1e-15:
            best, found = error, B[:, on] @ c
    return found


def splines(delta, degree, knots):
    low, high = delta.min(), delta.max()
    inner = np.linspace(low, high, knots + 2)
    t = np.r_[[low] * degree, inner, [high] * degree]
    x = np.minimum(delta, high - 1e-15 * (high - low))
    b = [((t[k] <= x) & (x < t[k + 1])).astype(float) for k in range(len(t) - 1)]
    for p in range(1, degree + 1):
        part = lambda k: (x - t[k]) / (t[k + p] - t[k]) * b[k] if t[k + p] > t[k] else 0
        rest = lambda k: (t[k + p + 1] - x) / (t[k + p + 1] - t[k + 1]) * b[k + 1] if t[k + p + 1] > t[k + 1] else 0
        b = [part(k) + rest(k) for k in range(len(b) - 1)]
    return np.cumsum(np.array(b)[::-1], axis=0)[::-1].T


def disparities(kind, delta, d, w):
    if kind == "ratio":
        return delta
    if kind == "interval":
        dhat = nonnegative(splines(delta, 1, 0), d, w)
    elif kind == "spline":
        dhat = nonnegative(splines(delta, 2, 4), d, w)
    elif kind == "primary":
        order = np.lexsort((d, delta))
        dhat = np.empty_like(d)
        dhat[order] = pava(d[order], w[order])
    else:
        _, block = np.unique(delta, return_inverse=True)
        mass = np.bincount(block, w)
        dhat = pava(np.bincount(block, w * d) / mass, mass)[block]
    return dhat * np.sqrt((w * delta**2).sum() / (w * dhat**2).sum())


def scale(D, W, X, its, kind, fixed=()):
    N = len(D)
    i, j = np.nonzero(np.triu(W, 1))
    delta, w = D[i, j], W[i, j]
    V = np.diag(W.sum(1)) - W
    free = np.setdiff1d(np.arange(N), list(fixed))
    for it in range(its + 1):
        d = np.sqrt(((X[i] - X[j]) ** 2).sum(1))
        dhat = disparities(kind, delta, d, w)
        stress = (w * (dhat - d) ** 2).sum() / (w * delta**2).sum()
        if it == its:
            return X, np.sqrt(stress)
        B = np.zeros((N, N))
        B[i, j] = B[j, i] = -w * np.divide(dhat, d, out=np.zeros_like(d), where=d > 0)
        np.fill_diagonal(B, -B.sum(1))
        if len(free) == N:
            X = np.linalg.pinv(V) @ (B @ X)
        else:
            Y, f = X.copy(), list(fixed)
            Y[free] = np.linalg.solve(V[np.ix_(free, free)], (B @ X)[free] - V[np.ix_(free, f)] @ X[f])
            X = Y


def procrustes(X, Y, moving=True):
    if moving:
        X, Y = X - X.mean(0), Y - Y.mean(0)
        U, _, Vt = np.linalg.svd(Y.T @ X)
        Y = Y @ U @ Vt
    return np.sqrt(((X - Y) ** 2).sum() / (X**2).sum())


def verdict(X, stress, report, csv, tol, moving=True):
    Y = np.genfromtxt(csv, delimiter=",", skip_header=1)[:, 1:]
    Y = Y.reshape(len(X), -1)
    R = json.load(open(report))
    ds, dx = abs(R["stress1"] - stress), procrustes(X, Y, moving)
    print(f"stress-1 {R['stress1']:.15g}, reference {stress:.15g}, difference {ds:.2e}, of configurations {dx:.2e}")
    return 0 if ds <= tol and dx <= 1000 * tol else 1


def load(folder, name):
    return np.genfromtxt(f"{folder}/{name}", delimiter=",", missing_values="NA")


def compare(folder, report, csv, tol, options):
    o = dict(e.split("=") for e in options)
    D = load(folder, o.get("data", "D.csv"))
    N = len(D)
    W = 1.0 - np.eye(N)
    if o.get("weights") == "given":
        W = load(folder, "W.csv")
    elif o.get("weights") == "listed":
        W = (load(folder, "W.csv") > 0).astype(float)
    D = np.nan_to_num(D)
    X, fixed = load(folder, "X8.csv")[:, : int(o.get("dim", 2))], []
    if o.get("fixed"):
        F = np.loadtxt(f"{folder}/fixed.txt")
        fixed = F[:, 0].astype(int)
        X[fixed] = F[:, 1:]
    if o.get("metric"):
        F = load(folder, "F.csv")
        U = F / np.linalg.norm(F, axis=1)[:, None]
        D = np.abs(F[:, None] - F[None]).sum(-1) if o["metric"] == "manhattan" else 1 - U @ U.T
        np.fill_diagonal(D, 0)
    X, stress = scale(D, W, X, int(o.get("its", 40)), o.get("kind", "ratio"), list(fixed))
    return verdict(X, stress, report, csv, tol, not len(fixed))


def sklearn(folder, report, csv, tol, its):
    from sklearn.manifold import smacof

    warnings.simplefilter("ignore")
    D, X0 = load(folder, "D.csv"), load(folder, "X0.csv")
    best = None
    for n in (its, its + 1, its + 2):  # versions differ in whether the last configuration or the one before has the stress that they return
        X, raw = smacof((D + D.T) / 2, n_components=2, init=X0, n_init=1, max_iter=n, eps=0, normalized_stress=False)
        d = distances(X)
        stress = np.sqrt(((D - d) ** 2).sum() / (D**2).sum())
        R = json.load(open(report))
        if best is None or abs(R["stress1"] - stress) < abs(R["stress1"] - best[1]):
            best = (X, stress)
    return verdict(*best, report, csv, tol)


def torgerson(folder, csv, tol):
    D = load(folder, "D.csv")
    J = np.eye(len(D)) - 1 / len(D)
    value, vector = np.linalg.eigh(-0.5 * J @ D**2 @ J)
    X = vector[:, [-1, -2]] * np.sqrt(value[[-1, -2]])
    Y = np.genfromtxt(csv, delimiter=",", skip_header=1)[:, 1:]
    # one plain step from it
    X, _ = scale(D, 1.0 - np.eye(len(D)), X, 1, "ratio")
    print(procrustes(X, Y))
    return 0 if procrustes(X, Y) <= tol else 1


def interpolate(folder, known, new):
    """each new point is where its own transform leaves it, and nearer to its dissimilarities than its neighbourhood is"""
    F = load(folder, "F.csv")
    X, Y = (np.genfromtxt(f"{folder}/{name}", delimiter=",", skip_header=1)[:, 1:] for name in (known, new))
    delta, d = distances(F[40:], F[:40]), distances(Y, X)
    G = X.mean(0) + ((delta / d)[:, :, None] * (Y[:, None] - X[None])).mean(1)
    around = [((delta - distances(Y + s, X)) ** 2).sum(1) for s in 0.01 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])]
    print(abs(G - Y).max())
    return 0 if abs(G - Y).max() < 1e-5 and (np.min(around, 0) > ((delta - d) ** 2).sum(1)).all() else 1


def digits(folder):
    from sklearn.datasets import load_digits

    X = load_digits()
    np.savetxt(f"{folder}/digits.csv", np.c_[X.data], delimiter=",", fmt="%g")
    np.savetxt(f"{folder}/digits.labels", X.target, fmt="%d")
    np.savetxt(f"{folder}/digits.start", np.random.default_rng(1).normal(size=(len(X.data), 2)), delimiter=",", fmt="%.17g")
    return 0


a = sys.argv
if a[1] == "data":
    sys.exit(data(a[2]))
if a[1] == "compare":
    sys.exit(compare(a[2], a[3], a[4], float(a[5]), a[6:]))
if a[1] == "sklearn":
    sys.exit(sklearn(a[2], a[3], a[4], float(a[5]), int(a[6])))
if a[1] == "torgerson":
    sys.exit(torgerson(a[2], a[3], float(a[4])))
if a[1] == "interpolate":
    sys.exit(interpolate(*a[2:]))
if a[1] == "digits":
    sys.exit(digits(a[2]))
sys.exit(__doc__)
