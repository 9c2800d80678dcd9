"""PageRank beside networkx and igraph."""
import os
import unittest

import numpy as np
import scipy.sparse

import gpucsr

LINKS = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("a", "e")]  # e is dangling


def by_definition(A, damping, v, dangling):
    """The ranks by a dense solve."""
    A = np.asarray(A, dtype=float)
    sums = A.sum(axis=1)
    P = np.where(sums[:, None] > 0, A / np.where(sums > 0, sums, 1)[:, None], dangling[None, :]).T
    return np.linalg.solve(np.eye(len(A)) - damping * P, (1 - damping) * v)


class Arrays(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(3)
        self.A = rng.random((30, 30)) * (rng.random((30, 30)) < 0.1)
        self.A[7] = 0
        self.uniform = np.full(30, 1 / 30)

    def test_definition(self):
        """ranks of a SciPy matrix and of an array are within the error bound of a dense solve"""
        for damping in (0.5, 0.85, 0.99):
            expected = by_definition(self.A, damping, self.uniform, self.uniform)
            for G in (self.A, scipy.sparse.csr_matrix(self.A), scipy.sparse.coo_array(self.A)):
                ranks = gpucsr.pagerank(G, damping, tol=1e-10)
                self.assertLessEqual(np.abs(np.asarray(ranks) - expected).sum(), ranks.error_bound + 1e-14)
                self.assertLessEqual(ranks.error_bound, 1e-10)
        self.assertEqual(len(ranks), 30)
        self.assertEqual(ranks.top(1)[0][0], int(expected.argmax()))

    def test_personalization(self):
        """personalisations as array, dictionary and several at once"""
        v = np.arange(30.0)
        expected = by_definition(self.A, 0.85, v / v.sum(), v / v.sum())
        np.testing.assert_allclose(np.asarray(gpucsr.pagerank(self.A, personalization=v)), expected, atol=1e-8)
        np.testing.assert_allclose(np.asarray(gpucsr.pagerank(self.A, personalization={i: i for i in range(30)})), expected, atol=1e-8)
        both = gpucsr.pagerank(self.A, personalization=np.stack([v, np.ones(30)]))
        self.assertEqual(both.ranks.shape, (2, 30))
        np.testing.assert_allclose(both[0], expected, atol=1e-8)
        np.testing.assert_allclose(both[1], by_definition(self.A, 0.85, self.uniform, self.uniform), atol=1e-8)

    def test_dangling(self):
        """links of dangling nodes"""
        v, w = np.arange(30.0) / 435, np.zeros(30)
        w[4] = 1
        np.testing.assert_allclose(np.asarray(gpucsr.pagerank(self.A, personalization=v, dangling="uniform")), by_definition(self.A, 0.85, v, self.uniform), atol=1e-8)
        np.testing.assert_allclose(np.asarray(gpucsr.pagerank(self.A, personalization=v, dangling={4: 2})), by_definition(self.A, 0.85, v, w), atol=1e-8)
        loop = self.A.copy()
        loop[loop.sum(axis=1) == 0, :] = np.eye(30)[loop.sum(axis=1) == 0]
        np.testing.assert_allclose(np.asarray(gpucsr.pagerank(self.A, dangling="self")), by_definition(loop, 0.85, self.uniform, w), atol=1e-8)
        self.assertLess(np.asarray(gpucsr.pagerank(self.A, dangling="drop")).sum(), 0.999)

    def test_refused(self):
        """wrong arguments are errors"""
        for error, words, arguments in (
            (gpucsr.ConvergenceError, "after 2 iterations the error is at most", dict(max_iter=2, method="power")),
            (ValueError, "30 nodes", dict(personalization=[1, 2])),
            (ValueError, "no node 30", dict(personalization={30: 1})),
            (ValueError, "not negative", dict(personalization=-np.ones(30))),
            (ValueError, "Damping 1.5", dict(damping=1.5)),
            (ValueError, "method='nosuch'.*gauss_seidel", dict(method="nosuch")),
            (TypeError, "damping='0.85'", dict(damping="0.85")),
            (TypeError, "max_iter=2.5", dict(max_iter=2.5)),
            (ValueError, "dangling='nosuch'", dict(dangling="nosuch")),
        ):
            with self.assertRaisesRegex(error, words):
                gpucsr.pagerank(self.A, **arguments)
        for G, error, words in ((np.ones((2, 3)), ValueError, "square"), (3, TypeError, "int"), (-np.ones((2, 2)), ValueError, "not negative"), (np.zeros((0, 0)), ValueError, "no nodes")):
            with self.assertRaisesRegex(error, words):
                gpucsr.pagerank(G)


class Networkx(unittest.TestCase):
    def setUp(self):
        try:
            import networkx
        except ImportError:
            self.skipTest("networkx is not installed")
        self.nx = networkx

    def check(self, G, ours=None, **arguments):
        theirs = self.nx.pagerank(G, tol=1e-13, max_iter=1000, **arguments)
        ranks = gpucsr.pagerank(G, tol=1e-10, **(ours or arguments))
        self.assertEqual(list(ranks), list(theirs))
        self.assertLess(sum(abs(ranks[node] - theirs[node]) for node in theirs), 1e-9)

    def test_networkx(self):
        """ranks by name of networkx graphs: directed, undirected, with weights, several edges, loops"""
        self.check(self.nx.karate_club_graph())
        G = self.nx.DiGraph(LINKS)
        self.check(G)
        self.check(G, personalization={"a": 1, "e": 2})
        self.check(G, dangling={"b": 1})
        self.check(G, alpha=0.6, ours={"damping": 0.6})
        G["a"]["b"]["weight"] = 5
        G["a"]["b"]["cost"] = 0.1
        self.check(G)
        self.check(G, weight="cost")
        self.check(G, weight=None)
        self.check(self.nx.MultiDiGraph(LINKS + [("a", "b"), ("b", "b")]))
        self.check(self.nx.Graph(LINKS + [("b", "b")]))

    def test_several(self):
        """several personalisations give an array for each node"""
        G = self.nx.DiGraph(LINKS)
        ranks = gpucsr.pagerank(G, personalization=[{"a": 1}, {"b": 1}])
        one = gpucsr.pagerank(G, personalization={"b": 1})
        self.assertEqual(ranks["c"].shape, (2,))
        self.assertAlmostEqual(ranks["c"][1], one["c"], delta=2e-8)

    def test_unknown(self):
        """an unknown node and an empty graph are errors"""
        with self.assertRaisesRegex(ValueError, "no node 'z'"):
            gpucsr.pagerank(self.nx.DiGraph(LINKS), personalization={"z": 1})
        with self.assertRaisesRegex(ValueError, "no nodes"):
            gpucsr.pagerank(self.nx.DiGraph())


class Igraph(unittest.TestCase):
    def test_igraph(self):
        """ranks of igraph graphs"""
        os.environ.setdefault("MATPLOTLIBRC", "/dev/null")  # igraph imports matplotlib, which wants a file of settings
        try:
            import igraph
        except Exception as error:
            self.skipTest(f"igraph cannot be imported: {type(error).__name__}")
        edges = [(0, 1), (1, 1), (1, 2), (2, 0), (3, 0), (0, 4), (0, 1)]
        for directed in (True, False):
            G = igraph.Graph(edges, directed=directed)
            np.testing.assert_allclose(np.asarray(gpucsr.pagerank(G, tol=1e-12)), G.pagerank(), atol=1e-9)
            G.es["weight"] = range(1, 8)
            np.testing.assert_allclose(np.asarray(gpucsr.pagerank(G, tol=1e-12)), G.pagerank(weights="weight"), atol=1e-9)
            np.testing.assert_allclose(np.asarray(gpucsr.pagerank(G, tol=1e-12, weight=None)), G.pagerank(), atol=1e-9)
