#!/usr/bin/env python3
"""Seconds of a SMACOF iteration on random features by others, on this machine: scikit-learn on the processor, mdscuda on the GPU.

  smacof_gpu_peers.py [SECONDS [POINTS ...]]     CSV on standard output; 50, 10000 16384; wants numpy, scikit-learn; mdscuda and numba if it can

An iteration is the difference of two runs from the same start, divided by their difference in iterations, so that what comes before and after does not
count; scikit-learn's eps is 0, so that it makes all it is asked for. mdscuda keeps n (n - 1) / 2 floats and makes no stress; its first run compiles.
What does not fit into the seconds is left out, and said. `smacof_rate.py` measures the smacof program alike.
"""
import sys
import time

import numpy as np

limit = float(sys.argv[1]) if len(sys.argv) > 1 else 50
points = [int(n) for n in sys.argv[2:]] or [10000, 16384]
begun = time.perf_counter()


def seconds(run, few, many):
    times = []
    for k in few, many:
        t = time.perf_counter()
        run(k)
        times.append(time.perf_counter() - t)
    return (times[1] - times[0]) / (many - few)


def sklearn(N, F, X):
    import sklearn
    from sklearn.manifold import smacof
    from sklearn.metrics import euclidean_distances

    D = euclidean_distances(F)
    D = 0.5 * (D + D.T)
    np.fill_diagonal(D, 0)
    options = {"normalized_stress": False} if sklearn.__version__ >= "1.2" else {}
    return "scikit-learn " + sklearn.__version__, seconds(lambda k: smacof(D, n_components=2, init=X, n_init=1, max_iter=k, eps=0, **options), 1, 3)


def mdscuda(N, F, X):
    import numba

    if not hasattr(np, "row_stack"):  # which numpy 2.5 has dropped and mdscuda, or what it needs, still calls
        np.row_stack = np.vstack
    from mdscuda import mds_fit, minkowski_pairs

    D = minkowski_pairs(F, sqform=False)
    mds_fit(D[:3], x_init=X[:3].astype(np.float32), max_iter=2)
    return "mdscuda 0.1.3 with numba " + numba.__version__, seconds(lambda k: mds_fit(D, x_init=X.astype(np.float32), max_iter=k), 2, 12)


print("points,program,seconds an iteration")
for peer in mdscuda, sklearn:
    for N in points:
        rng = np.random.default_rng(N)
        if time.perf_counter() - begun > limit:
            print(f"# {peer.__name__}, {N} points: no time left", flush=True)
            continue
        try:
            name, each = peer(N, rng.normal(size=(N, 8)), rng.uniform(size=(N, 2)))
            print(f"{N},{name},{each:.5g}", flush=True)
        except Exception as e:  # a peer that does not run here is said to, with its own words
            print(f"# {peer.__name__}, {N} points: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}", flush=True)
