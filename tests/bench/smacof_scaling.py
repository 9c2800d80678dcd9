#!/usr/bin/env python3
"""Seconds of an iteration of the smacof program on random features, on one GPU and on several, and the efficiency.

  smacof_scaling.py PROGRAM MPIEXEC [RANKS [POINTS ...]]     CSV on standard output; 1,2,4 and 32768 100000; wants numpy

An iteration is the difference of runs of 5 and of many plain steps, divided by the difference, so that the start does not count; of the latter the faster of two. Few
bytes are transferred between host and device if NCCL adds the sums of the ranks, which needs one GPU for each rank.
"""
import json
import subprocess
import sys
import tempfile

import numpy as np

program, mpiexec = sys.argv[1:3]
ranks = [int(p) for p in (sys.argv[3] if len(sys.argv) > 3 else "1,2,4").split(",")]
points = [int(n) for n in sys.argv[4:]] or [32768, 100000]
few = 5


def run(folder, p, many, mode):
    launch = [] if p == 1 else [mpiexec, "-n", str(p)]
    args = [program, "-gpucsr_device", "cuda", "-features", folder + "/features.csv", "-smacof_start", "random", "-smacof_eps", "0", "-smacof_acceleration", "none"]
    args += ["-smacof_max_it", str(many), "-report", folder + "/report.json"] + (["-matrix_free"] if mode == "computed" else [])
    r = subprocess.run(launch + args, capture_output=True, text=True)
    if r.returncode != 3:
        sys.exit(r.stdout + r.stderr)
    return json.load(open(folder + "/report.json"))


print("points,distances,ranks,milliseconds an iteration,efficiency,stress-1,bytes crossed")
for N in points:
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(folder + "/features.csv", np.random.default_rng(N).normal(size=(N, 8)), delimiter=",", fmt="%.6g")
        for mode in "stored", "computed":
            many = few + (1000 if N < 50000 else 200) // (10 if mode == "computed" else 1)
            alone = None
            for p in ranks:
                least = [min((run(folder, p, k, mode) for _ in range(times)), key=lambda R: R["seconds_solve"]) for k, times in ((few, 1), (many, 2))]
                each = (least[1]["seconds_solve"] - least[0]["seconds_solve"]) / (many - few)
                alone = alone or each * p
                print(f"{N},{mode},{p},{1e3 * each:.4g},{alone / (p * each):.3f},{least[1]['stress1']:.12g},{least[1]['bytes_crossed']}", flush=True)
