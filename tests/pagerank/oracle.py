"""What others say of the same graphs: references that share no code with the program.

  oracle.py edges FOLDER OUT        every graph of the public collection as an edge list, OUT/<name>.txt
  oracle.py rmat SCALE,DEGREE,SEED OUT   the links of -rmat, from its description
  oracle.py binary EDGES OUT        an edge list as a matrix in PETSc's binary format, nodes counted from 0
  oracle.py compare LIST [TABLE]    compares files of ranks with references; prints TAP, and adds lines of CSV to TABLE:
                                    graph,nodes,links,by,dangling,distance

A line of LIST holds, between tabs: name, edge list, file of ranks, options.  Options: damping=D dangling=drop|self|uniform|teleport
personal=ID:W,... undirected=1 loops=0 count=1 nodes=N column=K tolerance=T by=exact|networkx|igraph|power.  Lines whose name is the same are one
test, with as many comparisons.
"""
import collections
import gzip
import lzma
import os
import struct
import sys


def lines(path):
    with open(path, "rb") as file:
        head = file.read(6)
    opener = lzma.open if head.startswith(b"\xfd7zXZ") else gzip.open if head.startswith(b"\x1f\x8b") else open
    with opener(path, "rt") as file:
        yield from file


def public(path):
    """Pairs of node numbers, whatever the format; names tell it."""
    name = os.path.basename(path)
    text = (line for line in lines(path) if line.strip() and line.lstrip()[0] not in "#%")
    if ".graph" in name:  # METIS: line i names the neighbours of i
        header = next(text).split()
        form = header[2] if len(header) > 2 else "0"
        skip, step = (int(header[3]) if len(header) > 3 else 1) * (len(form) > 1 and form[-2] == "1"), 2 if form[-1] == "1" else 1
        for i, line in enumerate(text, 1):
            for j in line.split()[skip::step]:
                yield "%d %s\n" % (i, j)
        return
    counted = any(word in name for word in (".smat", ".jlg", "email-Enron", "facebook_combined", "polblogs"))
    for k, line in enumerate(text):
        words = line.replace(",", " ").split(None, 2)
        if k == 0 and (counted or not words[0].isdigit()):
            continue
        yield "%s %s\n" % (words[0], words[1])


def rmat(scale, degree, seed):
    """R-MAT with the quarters of Graph500, a link from each number by steps of splitmix64."""
    import numpy as np

    def mix(x):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    with np.errstate(over="ignore"):
        number = np.arange(degree << scale, dtype=np.uint64)
        state = mix(mix(np.full(1, seed, np.uint64)) ^ number)
        origin, target = np.zeros_like(number), np.zeros_like(number)
        for _ in range(scale):
            state = mix(state)
            dice = (state >> np.uint64(32)) / 2.0**32
            quarter = (dice >= 0.57).astype(np.uint64) + (dice >= 0.76) + (dice >= 0.95)
            origin, target = 2 * origin + (quarter >> np.uint64(1)), 2 * target + (quarter & np.uint64(1))
    return origin, target


class Graph:
    """Links as arrays of positions in the sorted list of nodes, each named once, with weights."""

    def __init__(self, path, options):
        import numpy as np

        with open(path) as file:
            text = file.read()
        if "#" in text or "%" in text:
            text = "".join(line for line in text.splitlines(True) if line[0] not in "#%")
        columns = len(text.split("\n", 1)[0].split())
        table = np.fromstring(text, dtype=float if columns > 2 else np.int64, sep=" ").reshape(-1, columns)
        i, j = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        weighted = columns > 2
        w = table[:, 2] if weighted else np.ones(len(i))
        self.nodes = np.arange(int(options["nodes"])) if options["nodes"] else np.unique(np.concatenate((i, j)))
        if options["undirected"]:
            once = i != j
            i, j, w = np.concatenate((i, j[once])), np.concatenate((j, i[once])), np.concatenate((w, w[once]))
        if options["loops"] == "0":
            i, j, w = i[i != j], j[i != j], w[i != j]
        n = len(self.nodes)
        key, where = np.unique(np.searchsorted(self.nodes, i) * n + np.searchsorted(self.nodes, j), return_inverse=True)
        self.i, self.j = key // n, key % n
        self.w = np.bincount(where, w, len(key)) if weighted or options["count"] else np.ones(len(key))
        self.out = np.bincount(self.i, self.w, n)


def exact(graph, damping, dangling, personal):
    """Gaussian elimination in rational numbers: no rounding at all."""
    from fractions import Fraction as F

    n = len(graph.nodes)
    v = [F(1, n)] * n
    if personal:
        total = sum(F(w) for w in personal.values())
        v = [F(personal.get(int(node), 0)) / total for node in graph.nodes]
    u = v if dangling == "teleport" else [F(1, n)] * n
    d = F(str(damping))
    A = [[F(int(i == j)) for j in range(n)] + [(1 - d) * v[i]] for i in range(n)]
    out = [sum(F(float(w)) for w, i in zip(graph.w, graph.i) if i == node) for node in range(n)]
    for i, j, w in zip(graph.i, graph.j, graph.w):
        if out[i]:
            A[j][i] -= d * F(float(w)) / out[i]
    for j in range(n):
        if out[j] == 0 and dangling == "self":
            A[j][j] -= d
        elif out[j] == 0 and dangling != "drop":
            for i in range(n):
                A[i][j] -= d * u[i]
    for k in range(n):
        pivot = next(r for r in range(k, n) if A[r][k])
        A[k], A[pivot] = A[pivot], A[k]
        for r in range(n):
            if r != k and A[r][k]:
                f = A[r][k] / A[k][k]
                A[r] = [a - f * b for a, b in zip(A[r], A[k])]
    return [float(A[k][n] / A[k][k]) for k in range(n)]


def power(graph, damping, dangling, personal):
    """As the GAP benchmark pulls rank, but to the last digit: x = (1 - d)/n + d (sum of rank/outdegree); lost rank is lost, or shared."""
    import numpy as np
    import scipy.sparse

    n = len(graph.nodes)
    A = scipy.sparse.csr_matrix((graph.w, (graph.j, graph.i)), (n, n))
    lost = graph.out == 0
    scale = 1 / np.where(lost, 1, graph.out)
    x = np.full(n, 1.0 / n)
    for _ in range(2000):
        y = damping * (A @ (scale * x)) + (1 - damping) / n
        y += 0 if dangling == "drop" else damping * (lost * x if dangling == "self" else x[lost].sum() / n)
        if abs(y - x).sum() < 1e-15:
            break
        x = y
    return x


def networkx_ranks(graph, damping, dangling, personal):
    import networkx

    G = networkx.DiGraph()
    G.add_nodes_from(range(len(graph.nodes)))
    G.add_weighted_edges_from(zip(graph.i.tolist(), graph.j.tolist(), graph.w.tolist()))
    ranks = networkx.pagerank(G, damping, tol=1e-14 / len(graph.nodes), max_iter=2000)
    return [ranks[k] for k in range(len(graph.nodes))]


def igraph_ranks(graph, damping, dangling, personal):
    import igraph
    import numpy

    G = igraph.Graph(n=len(graph.nodes), edges=numpy.stack((graph.i, graph.j), 1), directed=True)
    return G.pagerank(damping=damping, weights=None if (graph.w == 1).all() else graph.w.tolist(), implementation="prpack")


def compare(graphs, edges, ranks, words, table):
    """The 1-norm of the difference and None, or what is wrong."""
    import numpy as np

    o = dict(damping="0.85", dangling="teleport", personal="", undirected="", loops="", count="", nodes="", by="exact", column="1", tolerance="1e-10")
    o.update(word.split("=", 1) for word in words.split())
    key = (edges, o["undirected"], o["loops"], o["count"], o["nodes"])
    if key not in graphs:
        if len(graphs) > 4:
            graphs.clear()
        graphs[key] = Graph(edges, o)
    graph = graphs[key]
    personal = {int(e.split(":")[0]): float((e.split(":") + ["1"])[1]) for e in o["personal"].split(",") if e}
    by = {"exact": exact, "power": power, "networkx": networkx_ranks, "igraph": igraph_ranks}[o["by"]]
    with open(ranks) as file:
        words = file.read().split()
    found = np.array(words).reshape(len(graph.nodes), -1) if len(words) % len(graph.nodes) == 0 else None
    if found is None or (found[:, 0].astype(np.int64) != graph.nodes).any():
        return 0, "%s does not name the %d nodes" % (ranks, len(graph.nodes))
    distance = abs(found[:, int(o["column"])].astype(float) - np.array(by(graph, float(o["damping"]), o["dangling"], personal))).sum()
    if table and o["by"] != "exact":
        table.write("%s,%d,%d,%s,%s,%.2e\n" % (os.path.basename(edges)[:-4], len(graph.nodes), len(graph.i), o["by"], o["dangling"], distance))
    return distance, None if distance <= float(o["tolerance"]) else "by %s, %s: 1-norm of the difference %.2e" % (o["by"], os.path.basename(edges), distance)


def compare_all(path, table=None):
    graphs, tests = {}, collections.OrderedDict()
    table = open(table, "a") if table else None
    for line in lines(path):
        name, edges, ranks, words = line.rstrip("\n").split("\t")
        tests.setdefault(name, []).append(compare(graphs, edges, ranks, words, table))
    for name, found in tests.items():
        wrong = [what for _, what in found if what]
        print("%s - %s (%sat most %.1e apart)" % ("not ok" if wrong else "ok", name, "%d, " % len(found) if len(found) > 1 else "", max(distance for distance, _ in found)))
        for what in wrong:
            print("#   " + what)


def main():
    command, source = sys.argv[1:3]
    if command == "compare":
        return compare_all(source, *sys.argv[3:])
    if command == "edges":
        for name in sorted(os.listdir(source)):
            with open(os.path.join(sys.argv[3], name + ".txt"), "w") as out:
                out.writelines(public(os.path.join(source, name)))
    elif command == "rmat":
        pairs = zip(*(numbers.tolist() for numbers in rmat(*map(int, source.split(",")))))
        with open(sys.argv[3], "w") as out:
            out.writelines("%d %d\n" % pair for pair in pairs)
    elif command == "binary":
        rows = collections.defaultdict(dict)
        for line in lines(source):
            i, j, w = (line.split() + ["1"])[:3]
            rows[int(i)][int(j)] = float(w)
        n, links = 1 + max(max(rows), max(max(row) for row in rows.values())), [sorted(rows[r].items()) for r in range(1 + max(rows))]
        links += [[]] * (n - len(links))
        flat = [link for row in links for link in row]
        with open(sys.argv[3], "wb") as out:
            integers = (1211216, n, n, len(flat), *map(len, links), *(j for j, _ in flat))
            out.write(struct.pack(">%d%s" % (len(integers), {"4": "i", "8": "q"}[os.environ["GPUCSR_INT_BYTES"]]), *integers))
            out.write(struct.pack(">%dd" % len(flat), *(w for _, w in flat)))
    return None


if __name__ == "__main__":
    main()
