#!/usr/bin/env python3
"""PageRank on a GPU beside a power iteration by CuPy (cuSPARSE CSR).

  bench_rank.py PROGRAM [SCALE,DEGREE] [OPTION ...]      PROGRAM: bin/bench_rank; default 24,16; options go to PROGRAM

Runs PROGRAM on graphs with the degrees of SNAP's web graphs and on an R-MAT graph of 2^SCALE nodes, prints its CSV, then the figures
beside the goals, in the same run: links a second of the product, and their ratio to the rival.
CuPy multiplies a matrix of doubles with 32-bit columns, made of the same draws, duplicates out; its ranks are compared with the program's.
"""
import os
import platform
import struct
import subprocess
import sys
import tempfile

WEB = ["web-%s%s" % (name, hosts) for name in ("Stanford", "NotreDame", "BerkStan", "Google") for hosts in ("", "-hosts")]


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


def seconds(cp, work, times=11):
    """The median."""
    found = []
    for _ in range(times):
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        found.append(cp.cuda.get_elapsed_time(begin, end) * 1e-3)
    return sorted(found)[times // 2]


def by_cupy(scale, degree, ranks):
    """What it took, and the 1-norm of the difference to the program's ranks."""
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
    lost, scaled = (out == 0).astype(cp.float64), 1 / cp.where(out == 0, 1, out)
    found = {"version": cp.__version__, "links": len(origin)}

    def iterate():
        x, products = cp.full(n, 1.0 / n), 0
        while True:
            y = 0.85 * (A @ (scaled * x) + cp.dot(lost, x) / n) + 0.15 / n
            change, x, products = float(abs(y - x).sum()), y, products + 1
            if change <= 1e-8 * 0.15:
                break
        found["x"], found["products"] = x, products

    x = cp.full(n, 1.0 / n)
    A @ x
    found["product"] = seconds(cp, lambda: [A @ x for _ in range(10)]) / 10
    iterate()
    found["whole"] = seconds(cp, iterate, 5)
    with open(ranks, "rb") as file:
        kind, rows = struct.unpack(">2i", file.read(8))
        ours = np.frombuffer(file.read(), ">f8", rows)
    found["distance"] = float(abs(cp.asnumpy(found.pop("x")) - ours).sum())
    return found


def machine():
    try:
        command = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem", "--format=csv,noheader"]
        print("# " + subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout.strip())
    except (OSError, subprocess.CalledProcessError):
        pass
    print("# %s, %d cores" % (platform.platform(), os.cpu_count()), flush=True)


def run(program, ranks, graphs, options):
    """Prints and returns the lines of its CSV; what is printed when somebody stops us is not lost."""
    rows, keys = [], None
    command = [program, "-graphs", ",".join(graphs), "-write", ranks] + options
    with subprocess.Popen(command, stdout=subprocess.PIPE, universal_newlines=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            if line[0] == "#":
                continue
            words = line.rstrip("\n").split(",")
            if keys:
                rows.append(dict(zip(keys, words)))
            keys = keys or words
    if process.returncode:
        sys.exit("%s ended with code %d" % (program, process.returncode))
    return rows


def main():
    program = sys.argv[1]
    scale, degree = map(int, (sys.argv[2] if len(sys.argv) > 2 else "24,16").split(","))
    machine()
    with tempfile.TemporaryDirectory() as folder:
        ranks = os.path.join(folder, "x.bin")
        rows = run(program, ranks, WEB + ["rmat-%d-%d" % (scale, degree)], sys.argv[3:])
        ours = [row for row in rows if row["asked"] == "auto"]
        name = "rmat-%d-%d" % (scale, degree)
        for row in ours:
            how = "%s blocks" % row["blocks"] if int(row["blocks"]) else "power iterations"
            if row["graph"] == name:
                print("# %s, %s: product %s G links/s by %s (goal 60)" % (name, how, row["glinks_per_s"], row["kernel"]), flush=True)
            else:
                print("# %s, %s: ranks to 1e-8 in %s ms after loading (goal 1.5), led by the host %s" % (row["graph"], how, row["device_loop_ms"], row["host_loop_ms"]))
        ours = [row for row in ours if row["graph"] == name]
        rate = max(float(row["glinks_per_s"]) for row in ours)
        best = min(float(row["device_loop_ms"]) or float(row["host_loop_ms"]) for row in ours)
        try:
            found = by_cupy(scale, degree, ranks)
        except ImportError as why:
            print("# CuPy: %s" % why)
        else:
            assert found["links"] == int(ours[0]["links"]), "CuPy's graph has %d links" % found["links"]
            assert found["distance"] <= 2e-8, "CuPy's ranks differ by %g" % found["distance"]
            print("# CuPy %s: product %.1f G links/s, %.2f times slower; %d iterations %.2f ms, %.2f times slower (goal 1.6, aim 2.5)" % (
                found["version"], 1e-9 * found["links"] / found["product"], rate * found["product"] * 1e9 / found["links"], found["products"], 1e3 * found["whole"], 1e3 * found["whole"] / best))


main()
