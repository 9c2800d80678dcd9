#!/usr/bin/env python3
"""The smacof program beside scikit-learn's smacof on its digits (1,797 points), from the same start to the same stress; prints CSV.

  smacof_peers.py PROGRAM [RUNS]     wants numpy and scikit-learn

Both on one core; processor seconds of user and system, which other programs on the machine disturb least, the least of RUNS (3).  Of scikit-learn it is
the call of smacof() alone, with the distances in memory, as it stops by its defaults; of the program the whole process, from reading the features to the last
iteration, as far as it takes to reach that stress.
"""
import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import sklearn
from sklearn.datasets import load_digits
from sklearn.manifold import smacof

program, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
F = load_digits().data
D = np.sqrt(((F[:, None] - F[None]) ** 2).sum(-1))
X0 = np.random.default_rng(1).uniform(size=(len(F), 2))
warnings.simplefilter("ignore")


def stress1(X):
    d = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    return np.sqrt(((D - d) ** 2).sum() / (D**2).sum())


def spent():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


best = np.inf
for _ in range(runs):
    begin = time.process_time()
    X, _, its = smacof(D, n_components=2, init=X0, n_init=1, normalized_stress=False, return_n_iter=True)
    best = min(best, time.process_time() - begin)
goal = stress1(X)
print("who,stress-1,iterations,processor seconds,times faster")
print(f"scikit-learn {sklearn.__version__},{goal:.9f},{its},{best:.3f},1")
with tempfile.TemporaryDirectory() as folder:
    features, start, report = (os.path.join(folder, name) for name in ("features.csv", "start.csv", "report.json"))
    np.savetxt(features, F, delimiter=",", fmt="%g")
    np.savetxt(start, X0, delimiter=",", fmt="%.17g")
    for steps in ("none", "relaxed", "anderson"):
        for how in (["-storage", "single"], ["-storage", "double"]):
            args = [program, "-gpucsr_device", "host", "-features", features, "-start_file", start, "-smacof_acceleration", steps, "-smacof_eps", "0", "-report", report] + how
            log = subprocess.run(args + ["-smacof_monitor", "-smacof_max_it", "400"], capture_output=True, text=True).stdout
            k = next(int(i) for i, s in re.findall(r"^ *(\d+) stress-1 ([0-9.]+)", log, re.M) if float(s) <= goal)
            mine = np.inf
            for _ in range(runs):
                begin = spent()
                subprocess.run(args + ["-smacof_max_it", str(k)], capture_output=True)
                mine = min(mine, spent() - begin)
            R = json.load(open(report))
            print(f"smacof {' '.join(how)} {steps},{R['stress1']:.9f},{R['iterations']},{mine:.3f},{best / mine:.1f}", flush=True)
