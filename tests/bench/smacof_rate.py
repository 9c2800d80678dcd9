#!/usr/bin/env python3
"""Seconds of an iteration of the smacof program on random features, its distances in float, and the rate at which it reads them.

  smacof_rate.py PROGRAM [DEVICE [POINTS ...]]     prints a table; cuda, 4096 10000 16384 32768; wants numpy

An iteration is the difference of runs of 20 and of 120 passes, divided by 100, so that the start does not count; the least of two.  A pass reads
half of the matrix, N^2 / 2 floats.  `bench_smacof` times the pass alone: what is between the two is spent on steps.
"""
import json
import subprocess
import sys
import tempfile

import numpy as np

program = sys.argv[1]
device = sys.argv[2] if len(sys.argv) > 2 else "cuda"
points = [int(n) for n in sys.argv[3:]] or [4096, 10000, 16384, 32768]


def run(folder, steps, passes):
    args = [program, "-gpucsr_device", device, "-features", folder + "/features.csv", "-smacof_start", "random", "-smacof_eps", "0", "-smacof_acceleration", steps]
    r = subprocess.run(args + ["-smacof_max_it", str(passes), "-report", folder + "/report.json"], capture_output=True, text=True)
    if r.returncode != 3:
        sys.exit(r.stdout + r.stderr)
    R = json.load(open(folder + "/report.json"))
    return R["seconds_solve"], R["iterations"], R


print("| points | steps | pass | ms an iteration | GB/s of N^2 / 2 floats | bytes crossed |\n|---|---|---|---|---|---|")
for N in points:
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(folder + "/features.csv", np.random.default_rng(N).normal(size=(N, 8)), delimiter=",", fmt="%.6g")
        for steps in "none", "relaxed", "anderson":
            few, many = (min((run(folder, steps, k) for _ in range(2)), key=lambda r: r[0]) for k in (20, 120))
            each = (many[0] - few[0]) / (many[1] - few[1])
            R = many[2]
            print(f"| {N} | {steps} | {R['pass']} | {1e3 * each:.3f} | {2e-9 * N * N / each:.0f} | {R['bytes_crossed']} |", flush=True)
