"""What the definitions and other programs say of the same graphs: references that share no code with the program network.

  oracle.py edges FILE OUT     a graph of the public collection as an edge list
  oracle.py compare LIST       compares files of values with references; prints TAP

A line of LIST holds, between tabs: name, edge list, file of values, options.  Options: measure=M undirected=1 loops=0 alpha=A scale=S tolerance=T
by=definition|networkx|igraph.  Lines whose name is the same are one test, with as many comparisons.
"""
import collections
import csv
import importlib.util
import os
import sys

import numpy as np


def load_pagerank_oracle():
    """The oracle of pagerank reads the formats of the public collection."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pagerank", "oracle.py")
    spec = importlib.util.spec_from_file_location("pagerank_oracle", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Graph:
    """L[j,i]: the weight of the link from node i to node j.  Nodes in the order of their numbers, or in that of their first line."""

    def __init__(self, path, undirected, loops):
        weights = collections.OrderedDict()
        names = []
        for line in open(path):
            if not line.strip() or line[0] in "#%":
                continue
            words = next(csv.reader([line.strip()], delimiter="," if "," in line else " "))
            names += words[:2]
            key, w = (words[0], words[1]), float(words[2]) if len(words) > 2 else None
            weights[key] = weights.get(key, 0) + w if w is not None else 1.0
            if undirected and key[0] != key[1]:
                key = (words[1], words[0])
                weights[key] = weights.get(key, 0) + w if w is not None else 1.0
        names = list(collections.OrderedDict.fromkeys(names))
        self.names = sorted(names, key=int) if all(name.isdigit() for name in names) else names
        at = {name: k for k, name in enumerate(self.names)}
        self.links = {(at[a], at[b]): w for (a, b), w in weights.items() if loops or a != b}
        self.n = len(self.names)

    def matrix(self):
        L = np.zeros((self.n, self.n))
        for (i, j), w in self.links.items():
            L[j, i] = w
        return L

    def neighbours(self):
        """Weights of the undirected graph without loops."""
        out = [collections.defaultdict(float) for _ in range(self.n)]
        for (i, j), w in self.links.items():
            if i != j and w > 0:
                out[i][j] += w
                out[j][i] += w
        return out


def dominant(M):
    """The eigenvector for the largest eigenvalue, projected from a vector of ones if there are several (M symmetric)."""
    if abs(M - M.T).max() == 0:
        values, vectors = np.linalg.eigh(M)
        space = vectors[:, values > values[-1] * (1 - 1e-9)]
        return space @ (space.T @ np.ones(len(M)))
    values, vectors = np.linalg.eig(M)
    v = vectors[:, np.argmax(values.real)].real
    return v * np.sign(v.sum())


def hits(graph, options):
    L = graph.matrix()
    a = dominant(L @ L.T)
    return [a, L.T @ a / np.linalg.norm(L.T @ a) * np.linalg.norm(a)]


def eigenvector(graph, options):
    return [dominant(graph.matrix())]


def katz(graph, options):
    L = graph.matrix()
    alpha = float(options["alpha"]) or 0.85 / max(abs(np.linalg.eigvals(L)))
    return [np.linalg.solve(np.eye(graph.n) - alpha * L, np.ones(graph.n))]


def salsa(graph, options):
    """Many steps of the random walk from the nodes with links, with equal probability."""

    def walk(L):
        incoming, outgoing = L.sum(1), L.sum(0)
        back = (L / np.where(incoming > 0, incoming, 1)[:, None]).T
        step = L / np.where(outgoing > 0, outgoing, 1) @ back
        for _ in range(60):
            step = step @ step
            total = step.sum(0)
            step /= np.where(total > 0, total, 1)
        return step @ ((incoming > 0) / (incoming > 0).sum())

    L = graph.matrix()
    return [walk(L), walk(L.T)]


def number(labels):
    """Numbers of the groups from 1, by descending size, then by the first member."""
    members = collections.defaultdict(list)
    for k, label in enumerate(labels):
        members[label].append(k)
    order = sorted(members.values(), key=lambda group: (-len(group), group[0]))
    out = np.zeros(len(labels))
    for k, group in enumerate(order):
        out[group] = k + 1
    return out


def components(graph, options):
    near, labels = graph.neighbours(), [-1] * graph.n
    for start in range(graph.n):
        todo = [start] if labels[start] < 0 else []
        while todo:
            v = todo.pop()
            if labels[v] < 0:
                labels[v] = start
                todo += near[v]
    return [number(labels)]


def core(graph, options):
    near, out, alive, k = graph.neighbours(), np.zeros(graph.n), set(range(graph.n)), 0
    while alive:
        low = [v for v in alive if sum(u in alive for u in near[v]) <= k]
        for v in low:
            out[v] = k
        alive -= set(low)
        k += not low
    return [out]


def mix(x):
    mask = (1 << 64) - 1
    x = (x + 0x9E3779B97F4A7C15) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def labels(graph, options):
    """As docs/network.md defines it."""
    near, colour, label = graph.neighbours(), {}, list(range(graph.n))
    for v in sorted(range(graph.n), key=mix, reverse=True):
        taken = {colour.get(u) for u in near[v]}
        colour[v] = next(c for c in range(graph.n) if c not in taken)
    order = sorted(range(graph.n), key=lambda v: colour[v])
    changed = True
    while changed:
        changed = False
        for v in order:
            sums = collections.defaultdict(float)
            for u in sorted(near[v]):
                sums[label[u]] += near[v][u]
            if sums and sums.get(label[v], 0) < max(sums.values()):
                label[v] = max((l for l in sums if sums[l] == max(sums.values())), key=mix)
                changed = True
    return [number(label)]


def networkx_values(graph, options):
    import networkx

    measure = options["measure"]
    G = networkx.DiGraph()
    G.add_nodes_from(range(graph.n))
    G.add_weighted_edges_from((i, j, w) for (i, j), w in graph.links.items())
    U = networkx.Graph(G)
    U.remove_edges_from(list(networkx.selfloop_edges(U)))
    if measure == "components":
        label = {v: k for k, group in enumerate(networkx.connected_components(U)) for v in group}
        return [number([label[k] for k in range(graph.n)])]
    if measure == "core":
        found = [networkx.core_number(U)]
    elif measure == "katz":
        found = [networkx.katz_centrality(G, float(options["alpha"]), tol=1e-14, max_iter=10000, normalized=False, weight="weight")]
    elif measure == "eigenvector":
        found = [networkx.eigenvector_centrality(G, tol=1e-14, max_iter=10000, weight="weight")]
    else:
        hubs, authorities = networkx.hits(G, tol=1e-14)
        found = [authorities, hubs]
    return [np.array([values[k] for k in range(graph.n)]) for values in found]


def igraph_values(graph, options):
    import igraph

    measure = options["measure"]
    G = igraph.Graph(n=graph.n, edges=list(graph.links), directed=True)
    w = list(graph.links.values())
    if measure == "components":
        return [number(G.connected_components(mode="weak").membership)]
    if measure == "core":
        G = G.as_undirected().simplify()
        return [np.array(G.coreness())]
    if measure == "eigenvector":
        return [np.array(G.eigenvector_centrality(weights=w))]
    return [np.array(G.authority_score(weights=w)), np.array(G.hub_score(weights=w))]


def compare(graphs, edges, values, words):
    """The largest difference, relative to the largest value, and None, or what is wrong."""
    o = dict(measure="hits", undirected="", loops="1", alpha="0", scale="", tolerance="1e-8", by="definition")
    o.update(word.split("=", 1) for word in words.split())
    key = (edges, o["undirected"], o["loops"])
    if key not in graphs:
        graphs[key] = Graph(edges, o["undirected"] == "1", o["loops"] == "1")
    graph = graphs[key]
    expected = {"definition": globals().get(o["measure"]), "networkx": networkx_values, "igraph": igraph_values}[o["by"]](graph, o)
    rows = list(csv.reader(open(values), delimiter=" "))
    if [row[0] for row in rows] != graph.names or any(len(row) != 1 + len(expected) for row in rows):
        return 0, "%s does not have the %d nodes with %d values each" % (values, graph.n, len(expected))
    found = [np.array([float(row[1 + k]) for row in rows]) for k in range(len(expected))]
    worst = 0
    for e, f in zip(expected, found):
        if o["measure"] in ("components", "core", "labels"):
            worst = max(worst, float((e != f).sum()))
            continue
        if min(f) < 0:
            return 0, "a value of %s is negative" % values
        scale = o["scale"] or ("none" if o["measure"] == "katz" else "sum")
        norm = {"none": 1, "sum": abs(e).sum(), "norm": np.linalg.norm(e), "max": abs(e).max()}[scale]
        worst = max(worst, abs(e / norm - f).max() / abs(e / norm).max())
    return worst, None if worst <= float(o["tolerance"]) else "%s by %s, %s: difference %.2e" % (o["measure"], o["by"], os.path.basename(edges), worst)


def main():
    command, source = sys.argv[1:3]
    if command == "edges":
        with open(sys.argv[3], "w") as out:
            out.writelines(load_pagerank_oracle().public(source))
        return
    graphs, tests = {}, collections.OrderedDict()
    for line in open(source):
        name, edges, values, words = line.rstrip("\n").split("\t")
        tests.setdefault(name, []).append(compare(graphs, edges, values, words))
    for name, found in tests.items():
        wrong = [what for _, what in found if what]
        print("%s - %s (%sat most %.1e apart)" % ("not ok" if wrong else "ok", name, "%d, " % len(found) if len(found) > 1 else "", max(distance for distance, _ in found)))
        for what in wrong:
            print("#   " + what)


if __name__ == "__main__":
    main()
