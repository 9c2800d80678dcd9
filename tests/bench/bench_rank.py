#!/usr/bin/env python3
"""PageRank on a GPU beside a power iteration by CuPy (cuSPARSE CSR), or, where CuPy is missing, beside cuSPARSE CSR through the plug-in.

  bench_rank.py PROGRAM [SCALE,DEGREE]      PROGRAM: bin/bench_rank; default 24,16

Runs PROGRAM on graphs of the sizes of web-Stanford, web-BerkStan and web-Google and on an R-MAT graph of 2^SCALE nodes, prints its CSV,
then the figures beside the goals, in the same run: links a second of the product, and their ratio to the rival.
CuPy multiplies a matrix of doubles with 32-bit columns, made of the same draws, duplicates out; its ranks are compared with the program's.
"""
import csv
import os
import struct
import subprocess
import sys
import tempfile

SMALL = (281903, 2312497, 685230, 7600595, 875713, 5105039)


def mix(cp, x):
    x = x + cp.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> cp.uint64(30))) * cp.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> cp.uint64(27))) * cp.uint64(0x94D049BB133111EB)
    return x ^ (x >> cp.uint64(31))


def links(cp, scale, degree, seed):
    """The links of -rmat on the device, as target << 32 | origin, each once and in order."""
    number = cp.arange(degree << scale, dtype=cp.uint64)
    state = mix(cp, mix(cp, cp.full(1, seed, cp.uint64)) ^ number)
    key = cp.zeros_like(number)
    for _ in range(scale):
        state = mix(cp, state)
        dice = state >> cp.uint64(32)
        quarter = (dice >= cp.uint64(2448131359)).astype(cp.uint64) + (dice >= cp.uint64(3264175145)) + (dice >= cp.uint64(4080218931))
        key = key * cp.uint64(2) + ((quarter & cp.uint64(1)) << cp.uint64(32)) + (quarter >> cp.uint64(1))
    key.sort()
    first = cp.ones(len(key), bool)
    first[1:] = key[1:] != key[:-1]
    return key[first]


def seconds(cp, work, least=10):
    best = float("inf")
    for _ in range(least):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        best = min(best, cp.cuda.get_elapsed_time(begin, end) * 1e-3)
    return best


def by_cupy(scale, degree, ranks):
    """Links, seconds of a product, seconds of the iterations, 1-norm of the difference to the program's ranks."""
    import cupy as cp
    import cupyx.scipy.sparse as sparse
    import numpy as np

    n = 1 << scale
    key = links(cp, scale, degree, 1)
    origin = (key & cp.uint64(0xFFFFFFFF)).astype(cp.int32)
    start = cp.searchsorted(key >> cp.uint64(32), cp.arange(n + 1, dtype=cp.uint64)).astype(cp.int32)
    del key
    A = sparse.csr_matrix((cp.ones(len(origin)), origin, start), (n, n))
    out = cp.bincount(origin, minlength=n).astype(cp.float64)
    lost, scaled = out == 0, 1 / cp.where(out == 0, 1, out)
    kept = {}

    def iterate():
        x = cp.full(n, 1.0 / n)
        while True:
            y = 0.85 * (A @ (scaled * x) + x[lost].sum() / n) + 0.15 / n
            change, x = float(abs(y - x).sum()), y
            if change <= 1e-8 * 0.15:
                break
        kept["x"] = x

    x = cp.full(n, 1.0 / n)
    A @ x
    product = seconds(cp, lambda: [A @ x for _ in range(10)]) / 10
    iterate()
    whole = seconds(cp, iterate, 3)
    with open(ranks, "rb") as file:
        kind, rows = struct.unpack(">2i", file.read(8))
        ours = np.frombuffer(file.read(), ">f8", rows)
    return len(origin), product, whole, float(abs(cp.asnumpy(kept["x"]) - ours).sum())


def main():
    program = sys.argv[1]
    scale, degree = map(int, (sys.argv[2] if len(sys.argv) > 2 else "24,16").split(","))
    with tempfile.TemporaryDirectory() as folder:
        ranks = os.path.join(folder, "x.bin")
        sizes = ",".join(map(str, SMALL + (1 << scale, degree << scale)))
        out = subprocess.run([program, "-sizes", sizes, "-write", ranks] + sys.argv[3:], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
        print(out, end="")
        rows = list(csv.DictReader(line for line in out.splitlines() if line[0] != "#"))
        ours = [row for row in rows if row["asked"] == "auto"]
        for row in ours[:-1]:
            print("# %s nodes: ranks to 1e-8 in %s ms after loading (goal 1.5), led by the host %s" % (row["nodes"], row["device_loop_ms"], row["host_loop_ms"]))
        rate = float(ours[-1]["glinks_per_s"])
        print("# R-MAT 2^%d x %d: product %.1f G links/s by %s (goal 60)" % (scale, degree, rate, ours[-1]["kernel"]))
        try:
            found = by_cupy(scale, degree, ranks)
        except ImportError as why:
            print("# CuPy: %s" % why)
        else:
            m, product, whole, distance = found
            assert m == int(ours[-1]["links"]), "CuPy's graph has %d links" % m
            assert distance <= 2e-8, "CuPy's ranks differ by %g" % distance
            best = float(ours[-1]["device_loop_ms"]) or float(ours[-1]["host_loop_ms"])
            print("# CuPy: product %.1f G links/s, %.2f times slower; iterations %.2f ms, %.2f times slower (goal 1.6, aim 2.5)" % (1e-9 * m / product, rate * product * 1e9 / m, 1e3 * whole, 1e3 * whole / best))
        vendor = [row for row in rows[-4:] if row["kernel"] == "csrvendor"]
        if vendor:
            print("# cuSPARSE CSR through the plug-in: %s G links/s, %.2f times slower" % (vendor[0]["glinks_per_s"], rate / float(vendor[0]["glinks_per_s"])))


main()
