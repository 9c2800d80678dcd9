#!/usr/bin/env python3
"""Iterations of the smacof program to within 1e-6 (1e-4) of the final normalised stress, by plain, relaxed and extrapolated steps.

  smacof_steps.py PROGRAM     prints a table; wants numpy, and scikit-learn for the digits
"""
import re
import subprocess
import sys
import tempfile

import numpy as np

program = sys.argv[1]


def clusters(seed):
    rng = np.random.default_rng(seed)
    return (10 * rng.normal(size=(12, 5)))[np.repeat(np.arange(12), 50)] + rng.normal(size=(600, 5))


def roll():
    rng = np.random.default_rng(3)
    t = 1.5 * np.pi * (1 + 2 * rng.random(600))
    return np.c_[t * np.cos(t), 21 * rng.random(600), t * np.sin(t)]


def run(file, start, steps):
    args = [program, "-gpucsr_device", "host", "-features", file, "-storage", "double", "-smacof_start", start, "-smacof_acceleration", steps]
    out = subprocess.run(args + ["-smacof_eps", "1e-13", "-smacof_max_it", "20000", "-smacof_monitor"], capture_output=True, text=True).stdout
    at = [(int(i), float(s)) for i, s in re.findall(r"^ *(\d+) stress-1 ([0-9.]+)", out, re.M)]
    final = at[-1][1] ** 2
    reach = lambda tol: next(i for i, s in at if s * s <= final * (1 + tol))
    return reach(1e-6), reach(1e-4), at[-1][1]


sets = {f"12 clusters, {s}": clusters(s) for s in (10, 11, 12, 13, 20, 21, 22, 23)}
sets["Swiss roll"] = roll()
try:
    from sklearn.datasets import load_digits

    sets["digits (1797 points)"] = load_digits().data
except ImportError:
    pass
print("| data, start | plain | relaxed | anderson | plain / relaxed | plain / anderson | final stress-1 |\n|---|---|---|---|---|---|---|")
for name, F in sets.items():
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
        np.savetxt(f, F, delimiter=",", fmt="%.17g")
        f.flush()
        for start in ("torgerson", "random"):
            r = [run(f.name, start, steps) for steps in ("none", "relaxed", "anderson")]
            cells = " | ".join(f"{a} ({b})" for a, b, _ in r)
            final = ", ".join(sorted({"%.6f" % s for _, _, s in r}))
            print(f"| {name}, {start} | {cells} | {r[0][0] / r[1][0]:.2f} | {r[0][0] / r[2][0]:.2f} | {final} |", flush=True)
