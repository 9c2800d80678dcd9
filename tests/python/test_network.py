"""Measures of graphs beside their definitions, networkx and igraph."""
import os
import unittest

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

import gpucsr

MEASURES = ("hits", "eigenvector", "katz", "salsa", "components", "core", "labels")
LINKS = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("a", "e"), ("f", "g")]


class Arrays(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(3)
        self.A = rng.random((30, 30)) * (rng.random((30, 30)) < 0.1)
        self.A[7] = self.A[:, 7] = 0

    def test_hits(self):
        """hubs and authorities are singular vectors; the top list selects one of them"""
        hubs, values, authorities = np.linalg.svd(self.A)
        for G in (self.A, scipy.sparse.csr_matrix(self.A), scipy.sparse.coo_array(self.A)):
            found = gpucsr.network(G, "hits", scale="none", tol=1e-12)
            np.testing.assert_allclose(np.asarray(found), np.abs([authorities[0], hubs[:, 0]]), atol=1e-7)
            self.assertAlmostEqual(found.quantities["singular_value"], values[0], delta=1e-9)
        self.assertEqual(found.names, ("authority", "hub"))
        for row, name in enumerate(found.names):
            self.assertEqual(found.top(1, name), [(int(found[row].argmax()), found[row].max())])
        self.assertLessEqual(found.residual, 1e-12)
        self.assertIsNone(found.error_bound)
        np.testing.assert_allclose(gpucsr.network(self.A).scores.sum(axis=1), 1)

    def test_katz(self):
        """Katz centrality within its error bound, with alpha or the damping"""
        largest = np.abs(np.linalg.eigvals(self.A)).max()
        for alpha, arguments in ((0.85 / largest, {}), (0.5 / largest, {"damping": 0.5}), (0.1, {"alpha": 0.1})):
            found = gpucsr.network(self.A, "katz", tol=1e-10, **arguments)
            exact = np.linalg.solve(np.eye(30) - alpha * self.A.T, np.ones(30))
            self.assertAlmostEqual(found.quantities["alpha"], alpha, delta=1e-8)
            np.testing.assert_allclose(np.asarray(found), exact, rtol=1e-6)
            self.assertLessEqual(found.error_bound, 1e-10)

    def test_salsa(self):
        """in a connected graph, SALSA scores are the shares of the degrees"""
        A = np.ones((6, 6)) * np.arange(1, 7)
        found = gpucsr.network(A, "salsa")
        np.testing.assert_allclose(found[0], np.arange(1, 7) / 21, atol=1e-12)
        np.testing.assert_allclose(found[1], 1 / 6, atol=1e-12)

    def test_components(self):
        """components are those of SciPy, by descending size"""
        A = scipy.sparse.random(60, 60, 0.012, random_state=4)
        found = gpucsr.network(A, "components")
        count, labels = scipy.sparse.csgraph.connected_components(A, connection="weak")
        self.assertEqual(found.quantities["components"], count)
        np.testing.assert_array_equal(found.group_sizes, np.sort(np.bincount(labels))[::-1])
        np.testing.assert_array_equal(found.group_sizes, np.bincount(found.scores)[1:])
        self.assertEqual(len(set(zip(labels, found.scores.tolist()))), count)
        self.assertEqual(found.scores.dtype, np.int64)

    def test_same(self):
        """results have the same bits in every call, and a progress bar is optional"""
        for measure in MEASURES:
            first, second = gpucsr.network(self.A, measure), gpucsr.network(self.A, measure)
            np.testing.assert_array_equal(first.scores, second.scores)
            self.assertEqual(len(first), len(first.scores))

    def test_refused(self):
        """wrong arguments and iterations that do not converge are errors"""
        for error, words, measure, arguments in (
            (ValueError, "measure='nosuch'.*hits", "nosuch", {}),
            (ValueError, "scale='nosuch'.*auto", "hits", {"scale": "nosuch"}),
            (ValueError, "the measure hits has no alpha", "hits", {"alpha": 0.1}),
            (ValueError, "alpha=100: it must be less than 1 divided by", "katz", {"alpha": 100}),
            (ValueError, "alpha=0: it must be positive", "katz", {"alpha": 0}),
            (ValueError, "Damping 2", "katz", {"damping": 2}),
            (ValueError, "Tolerance", "hits", {"tol": -1}),
            (TypeError, "max_iter=2.5", "hits", {"max_iter": 2.5}),
            (TypeError, "alpha='0.1'", "katz", {"alpha": "0.1"}),
            (gpucsr.ConvergenceError, "hits: after 1 iterations the residual is", "hits", {"max_iter": 1, "tol": 1e-15}),
        ):
            with self.assertRaisesRegex(error, words):
                gpucsr.network(self.A, measure, **arguments)
        for G, measure, error, words in (
            (np.ones((2, 3)), "hits", ValueError, "square"),
            (3, "hits", TypeError, "int"),
            (-np.ones((2, 2)), "core", ValueError, "not negative"),
            (np.zeros((0, 0)), "hits", ValueError, "no nodes"),
            (np.zeros((3, 3)), "hits", gpucsr.ConvergenceError, "no links"),
            (np.eye(3, k=1), "eigenvector", gpucsr.ConvergenceError, "no cycle"),
        ):
            with self.assertRaisesRegex(error, words):
                gpucsr.network(G, measure)
        with self.assertRaisesRegex(ValueError, "name='nosuch'.*authority, hub"):
            gpucsr.network(self.A).top(1, "nosuch")


class Networkx(unittest.TestCase):
    def setUp(self):
        try:
            import networkx
        except ImportError:
            self.skipTest("networkx is not installed")
        self.nx = networkx
        self.karate = networkx.karate_club_graph()

    def test_centralities(self):
        """centralities by name, with and without weights"""
        for G in (self.karate, self.nx.DiGraph(self.karate.edges)):  # the largest singular value is simple
            hubs, authorities = self.nx.hits(G, tol=1e-13, max_iter=1000)
            found = gpucsr.network(G, "hits", tol=1e-12)
            self.assertEqual(list(found), list(G))
            for node in G:
                np.testing.assert_allclose(found[node], [authorities[node], hubs[node]], atol=1e-7)
        for weight in ("weight", None):
            found = gpucsr.network(self.karate, "eigenvector", scale="norm", weight=weight, tol=1e-12)
            expected = self.nx.eigenvector_centrality_numpy(self.karate, weight=weight)
            self.assertLess(max(abs(found[node] - expected[node]) for node in expected), 1e-8)
            found = gpucsr.network(self.karate, "katz", alpha=0.03, scale="norm", weight=weight, tol=1e-12)
            expected = self.nx.katz_centrality_numpy(self.karate, alpha=0.03, weight=weight)
            self.assertLess(max(abs(found[node] - expected[node]) for node in expected), 1e-8)

    def test_groups(self):
        """core numbers, components, and the modularity of communities"""
        self.assertEqual(dict(gpucsr.network(self.karate, "core")), self.nx.core_number(self.karate))
        found = gpucsr.network(self.nx.DiGraph(LINKS), "components")
        self.assertEqual(dict(found), {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 2, "g": 2})
        found = gpucsr.network(self.karate, "labels", weight=None)
        groups = [{node for node in found if found[node] == k + 1} for k in range(len(found.group_sizes))]
        self.assertEqual([len(group) for group in groups], found.group_sizes.tolist())
        self.assertAlmostEqual(found.quantities["modularity"], self.nx.community.modularity(self.karate, groups, weight=None), delta=1e-9)

    def test_top(self):
        """the top list has the names of nodes"""
        found = gpucsr.network(self.nx.DiGraph(LINKS), "salsa")
        self.assertEqual(found["a"].shape, (2,))
        self.assertEqual(found.top(1, "authority")[0][0], "a")


class Igraph(unittest.TestCase):
    def test_igraph(self):
        """measures of igraph graphs"""
        os.environ.setdefault("MATPLOTLIBRC", "/dev/null")  # igraph imports matplotlib, which wants a file of settings
        try:
            import igraph
        except Exception as error:
            self.skipTest(f"igraph cannot be imported: {type(error).__name__}")
        G = igraph.Graph([(0, 1), (1, 2), (2, 0), (3, 0), (0, 4), (5, 6)])
        self.assertEqual(gpucsr.network(G, "core").scores.tolist(), G.coreness())
        self.assertEqual((gpucsr.network(G, "components").scores - 1).tolist(), G.connected_components().membership)
        G.es["weight"] = range(1, 7)
        for weight in ("weight", None):
            found = gpucsr.network(G, "eigenvector", scale="max", weight=weight, tol=1e-12)
            np.testing.assert_allclose(np.asarray(found), G.eigenvector_centrality(weights=weight), atol=1e-7)
