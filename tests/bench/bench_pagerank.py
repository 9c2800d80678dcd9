#!/usr/bin/python3
"""The whole of a PageRank on a processor, file to ranks, beside networkx and beside numpy and scipy alone; prints CSV.

  bench_pagerank.py PROGRAM EDGES...

PROGRAM is bin/pagerank; each EDGES a plain edge list of whole numbers.  Every contender is a process of its own on one core, with the same
damping and the same stop (an error of 1e-8 in the 1-norm); the least of three runs counts (of one where a run takes longer than 20 s).  Processor seconds are those of user and system,
which other programs on the machine disturb least; what it takes to start (PETSc and MPI, measured with a graph of one link; imports of Python's
libraries) is not counted.  networkx is left out above 5 million links,
where it needs too much memory.
"""
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

TOLERANCE = 1e-8


def by_networkx(path):
    import networkx
    import networkx.algorithms.link_analysis.pagerank_alg  # noqa: F401
    import scipy.sparse  # noqa: F401

    yield
    G = networkx.read_edgelist(path, create_using=networkx.DiGraph, nodetype=int)
    yield
    networkx.pagerank(G, 0.85, tol=TOLERANCE * 0.15 / len(G), max_iter=1000)
    yield


def by_scipy(path):
    import warnings

    import numpy as np
    import scipy.sparse

    warnings.simplefilter("ignore")
    yield
    with open(path) as file:
        links = np.fromstring("".join(line for line in file if line[0] != "#"), dtype=np.int64, sep=" ").reshape(-1, 2)
    nodes, ends = np.unique(links, return_inverse=True)
    n, ends = len(nodes), ends.reshape(-1, 2)
    A = scipy.sparse.csr_matrix((np.ones(len(ends)), (ends[:, 1], ends[:, 0])), (n, n))
    A.sum_duplicates()
    A.data[:] = 1
    yield
    out = np.asarray(A.sum(axis=0)).ravel()
    lost, scale = out == 0, 1 / np.where(out == 0, 1, out)
    x = np.full(n, 1 / n)
    while True:
        y = 0.85 * (A @ (scale * x) + x[lost].sum() / n) + 0.15 / n
        change, x = abs(y - x).sum(), y
        if change <= TOLERANCE * 0.15:
            break
    yield


def clock():
    return time.process_time()


def child(name, path):
    steps = {"networkx": by_networkx, "scipy": by_scipy}[name](path)
    times = [(next(steps), clock(), time.time()) for _ in range(3)]
    print(times[1][1] - times[0][1], times[2][1] - times[1][1], times[2][2] - times[0][2])


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(program, path, *options):
    """Processor seconds of the process, seconds of the clock, and the report."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "r.json")
        env = dict(os.environ, OMPI_MCA_ess_singleton_isolated="1")
        before, start = children(), time.time()
        command = [program, "-gpucsr_device", "host", "-f", path, "-tol", str(TOLERANCE), "-topk", "0", "-report", report]
        out = subprocess.run(command + list(options), env=env, check=True, capture_output=True, text=True).stdout
        wall, after = time.time() - start, children()
        with open(report) as file:
            return after - before, wall, json.load(file), out


def ours(program, path, startup):
    """Processor seconds of loading and solving, shared out as the report says; bytes that are read and parsed in a second."""
    cpu, wall, r, _ = min((run(program, path) for _ in range(3)), key=lambda found: found[0])
    cpu = max(cpu - startup, 0)
    share = r["seconds_load"] / (r["seconds_load"] + r["seconds_solve"])
    seconds = min(float(re.search(r"^GraphRead +\d+ \d\.\d ([0-9.e+-]+)", run(program, path, "-max_it", "1", "-tol", "10", "-log_view")[3], re.M)[1]) for _ in range(3))
    return cpu * share, cpu * (1 - share), wall, r, os.path.getsize(path) / 1e6 / seconds


def main():
    if sys.argv[1] == "--child":
        return child(*sys.argv[2:])
    print("graph,bytes,nodes,links,program,cpu_load,cpu_solve,cpu_total,wall_total,mb_per_s,read_mb_per_s")
    with tempfile.NamedTemporaryFile("w") as tiny:
        tiny.write("1 2\n")
        tiny.flush()
        startup = min(run(sys.argv[1], tiny.name)[0] for _ in range(5))
    for path in sys.argv[2:]:
        size, name = os.path.getsize(path), os.path.basename(path)
        load, solve, wall, r, read = ours(sys.argv[1], path, startup)
        print("%s,%d,%d,%d,pagerank,%.3f,%.3f,%.3f,%.3f,%.0f,%.0f" % (name, size, r["nodes"], r["edges"], load, solve, load + solve, wall, size / 1e6 / max(load, 1e-3), read), flush=True)
        for other in ("networkx", "scipy"):
            if other == "networkx" and r["edges"] > 5e6:
                continue
            best = None
            while best is None or (len(best) < 3 and sum(best[0]) < 20):
                out = subprocess.run([sys.executable, __file__, "--child", other, path], check=True, capture_output=True, text=True).stdout
                best = sorted((best or []) + [tuple(map(float, out.split()))], key=lambda t: t[0] + t[1])
            load, solve, wall = best[0]
            print("%s,%d,%d,%d,%s,%.3f,%.3f,%.3f,%.3f,%.0f," % (name, size, r["nodes"], r["edges"], other, load, solve, load + solve, wall, size / 1e6 / load), flush=True)
    return None


main()
