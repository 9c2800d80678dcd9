"""Five lines that solve, train, rank, map and cluster, with the package that is installed."""
import sys

import gpucsr
import gpucsr.linalg
import networkx
import numpy
import scipy.sparse

assert str(gpucsr.load()).startswith(sys.prefix), gpucsr.load()
A, b = scipy.sparse.diags([-1, 2.5, -1], [-1, 0, 1], shape=(99, 99)), numpy.ones(99)
G = networkx.star_graph(["hub", "a", "b", "c"])
X = numpy.array([[0.0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]])
y = [0, 0, 0, 1, 1, 1]

x, info = gpucsr.linalg.cg(A, b, M="jacobi")
classes = gpucsr.LinearSVC().fit(X, y).predict(X)
ranks = gpucsr.pagerank(G)
points = gpucsr.MDS().fit_transform(X)
labels = gpucsr.KMeans(2).fit_predict(X)

assert info == 0 and numpy.linalg.norm(A @ x - b) < 1e-4
assert classes.tolist() == y
assert max(ranks, key=ranks.get) == "hub" and ranks.error_bound <= 1e-8
assert points.shape == (6, 2)
assert len(set(labels[:3])) == len(set(labels[3:])) == 1 and labels[0] != labels[3]
print("solved, trained, ranked, mapped, clustered")
