#!/usr/bin/python3
"""Measures of network on a processor beside igraph; prints CSV.

  bench_network.py PROGRAM EDGES...

PROGRAM is bin/network; each EDGES a plain edge list of whole numbers.  hits, salsa and katz run on the directed graph, the others on the undirected
one.  Every contender is a process of its own on one core; the least of three runs counts.  Seconds are processor seconds of user and system, which
other programs on the machine disturb least.  solve: the measure alone, without reading the graph.  Those of network are the seconds of the process without those of its
start, shared out as the report says.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

MEASURES = ("hits", "eigenvector", "katz", "salsa", "components", "core", "labels")
DIRECTED = ("hits", "katz", "salsa")


def child(path, measure):
    import igraph

    start = time.process_time()
    G = igraph.Graph.Read_Edgelist(path, directed=True)
    loaded = time.process_time()
    if measure not in DIRECTED:
        G = G.as_undirected()
    ready = time.process_time()
    if measure == "hits":
        G.authority_score()
        G.hub_score()
    elif measure == "eigenvector":
        G.eigenvector_centrality()
    elif measure == "components":
        G.connected_components()
    elif measure == "core":
        G.coreness()
    elif measure == "labels":
        G.community_label_propagation()
    print(loaded - start, time.process_time() - ready)


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(program, path, measure):
    """Processor seconds of the process, and the report."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "r.json")
        env = dict(os.environ, OMPI_MCA_ess_singleton_isolated="1", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
        before = children()
        command = [program, "-gpucsr_device", "host", "-f", path, "-measure", measure, "-topk", "0", "-report", report]
        subprocess.run(command + ([] if measure in DIRECTED else ["-undirected"]), env=env, capture_output=True, check=False)
        after = children()
        with open(report) as file:
            return after - before, json.load(file)


def main():
    if sys.argv[1] == "--child":
        return child(*sys.argv[2:])
    program = sys.argv[1]
    print("graph,nodes,links,measure,iterations,matmults,reason,load,solve,igraph_load,igraph_solve")
    with tempfile.NamedTemporaryFile("w") as tiny:
        tiny.write("1 2\n2 1\n")
        tiny.flush()
        start = min(run(program, tiny.name, "hits")[0] for _ in range(5))
    for path in sys.argv[2:]:
        for measure in MEASURES:
            cpu, r = min((run(program, path, measure) for _ in range(3)), key=lambda found: found[0])
            solve = r["seconds_setup"] + r["seconds_solve"]
            share = solve / (solve + r["seconds_load"])
            others = [",,"]
            if measure not in ("katz", "salsa"):
                found = [subprocess.run([sys.executable, __file__, "--child", path, measure], check=True, capture_output=True, text=True).stdout for _ in range(3)]
                others = [",%.4f,%.4f" % min((tuple(map(float, out.split())) for out in found), key=lambda t: t[1])]
            print("%s,%d,%d,%s,%d,%d,%s,%.4f,%.4f%s" % (os.path.basename(path), r["nodes"], r["edges"], measure, r["iterations"], r["matmults"], r["reason"], (cpu - start) * (1 - share), (cpu - start) * share, others[0]), flush=True)
    return None


if __name__ == "__main__":
    main()
