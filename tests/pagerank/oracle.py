"""What others say of the same graph: compares a file of ranks with references that share no code with the program.

  oracle.py edges IN OUT                     any graph file of the public collection as an edge list
  oracle.py compare EDGES RANKS TOLERANCE [damping=D] [dangling=drop|self|uniform|teleport] [personal=ID:W,...] [undirected=1] [by=exact|networkx|igraph|power]
"""
import lzma
import gzip
import sys


def lines(path):
    with open(path, "rb") as file:
        head = file.read(6)
    opener = lzma.open if head.startswith(b"\xfd7zXZ") else gzip.open if head.startswith(b"\x1f\x8b") else open
    with opener(path, "rt") as file:
        yield from file


def edges(path):
    """Pairs of node numbers, whatever the format; names tell it."""
    name = path.rsplit("/", 1)[-1]
    text = (line for line in lines(path) if line.strip() and line.lstrip()[0] not in "#%")
    if ".graph" in name:  # METIS: line i names the neighbours of i
        header = next(text).split()
        form = header[2] if len(header) > 2 else "0"
        skip, step = (int(header[3]) if len(header) > 3 else 1) * (len(form) > 1 and form[-2] == "1"), 2 if form[-1] == "1" else 1
        for i, line in enumerate(text, 1):
            for j in line.split()[skip::step]:
                yield i, int(j)
        return
    counted = any(word in name for word in (".smat", ".jlg", "email-Enron", "facebook_combined", "polblogs"))
    for k, line in enumerate(text):
        words = line.replace(",", " ").split()
        if k == 0 and (counted or not words[0].isdigit()):
            continue
        yield int(words[0]), int(words[1])


def read(path):
    """Edge list with optional weights as a dictionary of dictionaries; equal links once."""
    out = {}
    for line in lines(path):
        if line[0] in "#%":
            continue
        words = line.split()
        i, j = int(words[0]), int(words[1])
        w = float(words[2]) if len(words) > 2 else 1.0
        out.setdefault(j, {})
        row = out.setdefault(i, {})
        row[j] = row.get(j, 0.0) + w if len(words) > 2 else 1.0
    return out


def exact(graph, damping, dangling, personal):
    """Gaussian elimination in rational numbers: no rounding at all."""
    from fractions import Fraction as F

    nodes = sorted(graph)
    at = {node: k for k, node in enumerate(nodes)}
    n = len(nodes)
    v = [F(0)] * n
    for node, w in (personal or {node: 1 for node in nodes}).items():
        v[at[node]] += F(w)
    total = sum(v)
    v = [x / total for x in v]
    u = v if dangling == "teleport" else [F(1, n)] * n
    d = F(str(damping))
    A = [[F(int(i == j)) for j in range(n)] + [(1 - d) * v[i]] for i in range(n)]
    for node in nodes:
        j, weight = at[node], sum(F(w) for w in graph[node].values())
        for target, w in graph[node].items() if weight else ():
            A[at[target]][j] -= d * F(w) / weight
        if not weight and dangling == "self":
            A[j][j] -= d
        elif not weight and dangling != "drop":
            for i in range(n):
                A[i][j] -= d * u[i]
    for k in range(n):
        pivot = next(r for r in range(k, n) if A[r][k])
        A[k], A[pivot] = A[pivot], A[k]
        for r in range(n):
            if r != k and A[r][k]:
                f = A[r][k] / A[k][k]
                A[r] = [a - f * b for a, b in zip(A[r], A[k])]
    return {node: float(A[k][n] / A[k][k]) for node, k in at.items()}


def power(graph, damping, dangling, personal):
    """Plain power iteration with scipy, to the last digit; rank of dangling nodes as asked."""
    import numpy
    import scipy.sparse

    nodes = sorted(graph)
    at = {node: k for k, node in enumerate(nodes)}
    rows, cols, vals = [], [], []
    for node in nodes:
        weight = sum(graph[node].values())
        for target, w in graph[node].items():
            rows.append(at[target])
            cols.append(at[node])
            vals.append(w / weight)
    n = len(nodes)
    P = scipy.sparse.csr_matrix((vals, (rows, cols)), (n, n))
    lost = numpy.array([not graph[node] for node in nodes], dtype=float)
    x = numpy.full(n, 1.0 / n)
    for _ in range(2000):
        y = damping * (P @ x) + (1 - damping) / n
        y += 0 if dangling == "drop" else damping * (lost * x if dangling == "self" else (lost @ x) / n)
        if abs(y - x).sum() < 1e-15:
            break
        x = y
    return dict(zip(nodes, x))


def networkx_ranks(graph, damping, dangling, personal):
    import networkx

    G = networkx.DiGraph()
    G.add_nodes_from(graph)
    G.add_weighted_edges_from((i, j, w) for i, row in graph.items() for j, w in row.items())
    return networkx.pagerank(G, damping, personalization=personal, tol=1e-14 / len(graph), max_iter=2000)


def igraph_ranks(graph, damping, dangling, personal):
    import igraph

    nodes = sorted(graph)
    at = {node: k for k, node in enumerate(nodes)}
    links = [(at[i], at[j]) for i, row in graph.items() for j in row]
    G = igraph.Graph(n=len(nodes), edges=links, directed=True)
    weights = [w for row in graph.values() for w in row.values()]
    return dict(zip(nodes, G.pagerank(damping=damping, weights=weights, implementation="prpack")))


def main():
    if sys.argv[1] == "edges":
        with open(sys.argv[3], "w") as out:
            out.writelines("%d %d\n" % pair for pair in edges(sys.argv[2]))
        return
    file, ranks, tolerance = sys.argv[2], sys.argv[3], float(sys.argv[4])
    o = {"damping": "0.85", "dangling": "teleport", "personal": "", "undirected": "", "by": "exact", "column": "1"}
    o.update(word.split("=", 1) for word in sys.argv[5:])
    graph = read(file)
    if o["undirected"]:
        for i in list(graph):
            for j, w in list(graph[i].items()):
                graph[j][i] = w
    personal = {int(e.split(":")[0]): float((e.split(":") + ["1"])[1]) for e in o["personal"].split(",") if e} or None
    by = {"exact": exact, "power": power, "networkx": networkx_ranks, "igraph": igraph_ranks}[o["by"]]
    reference = by(graph, float(o["damping"]), o["dangling"], personal)
    with open(ranks) as lines_of_ranks:
        ours = {int(words[0]): float(words[int(o["column"])]) for words in map(str.split, lines_of_ranks)}
    if set(ours) != set(reference):
        sys.exit("%d nodes, expected %d" % (len(ours), len(reference)))
    distance = sum(abs(ours[node] - reference[node]) for node in reference)
    print("%s: 1-norm of the difference %.2e" % (o["by"], distance))
    if not distance <= tolerance:
        sys.exit("more than %g" % tolerance)


main()
