"""The plots: what is drawn is what the models and ranks hold."""
import contextlib
import sys
import unittest

import numpy as np
import scipy.sparse
from scipy.spatial.distance import pdist

import gpucsr
import gpucsr.plot as plot

try:
    from sklearn.datasets import load_iris
except ImportError:
    load_iris = None


@contextlib.contextmanager
def hidden(name):
    """Hide a package."""
    before = {key: sys.modules.pop(key) for key in list(sys.modules) if key.split(".")[0] == name}
    sys.modules[name] = None
    try:
        yield
    finally:
        del sys.modules[name]
        sys.modules.update(before)


class Missing(unittest.TestCase):
    def test_missing(self):
        """without matplotlib the error names the remedy"""
        with hidden("matplotlib"), self.assertRaisesRegex(ImportError, "^gpucsr.plot needs matplotlib, which is not installed. On Debian: apt-get install python3-matplotlib$"):
            plot.rank_distribution([0.5, 0.5])


class Drawn(unittest.TestCase):
    def setUp(self):
        try:
            import matplotlib.pyplot
        except Exception as error:  # an incomplete matplotlib raises other exceptions than ImportError
            self.skipTest(f"matplotlib cannot be imported: {type(error).__name__}")
        self.plt = matplotlib.pyplot
        self.addCleanup(self.plt.close, "all")

    def texts(self, ax):
        return [text.get_text() for text in ax.get_legend().get_texts()]


class Ranks(Drawn):
    def test_ranks(self):
        """ranks in descending order, from pagerank, a dictionary and an array"""
        A = scipy.sparse.random(40, 40, 0.1, random_state=2)
        ranks = gpucsr.pagerank(A)
        ax = self.plt.figure().add_subplot()
        for given in (ranks, ranks.ranks, dict(enumerate(ranks.ranks))):
            self.assertIs(plot.rank_distribution(given, ax=ax), ax)
            np.testing.assert_array_equal(ax.lines[-1].get_ydata(), np.sort(ranks.ranks)[::-1])
        self.assertEqual((ax.get_xscale(), ax.get_yscale(), ax.get_legend()), ("log", "log", None))
        self.assertEqual(len(plot.rank_distribution([0.0, 3.0, 1.0]).lines[0].get_ydata()), 2)
        several = plot.rank_distribution(gpucsr.pagerank(A, personalization=[{0: 1}, {1: 1}]))
        self.assertEqual((len(several.lines), self.texts(several)), (2, ["personalisation 0", "personalisation 1"]))
        several.figure.canvas.draw()
        self.assertEqual(self.texts(plot.rank_distribution(gpucsr.network(A))), ["authority", "hub"])
        with self.assertRaisesRegex(ValueError, "ranks: pass the result of gpucsr.pagerank"):
            plot.rank_distribution([])


@unittest.skipIf(load_iris is None, "scikit-learn is not installed")
class Models(Drawn):
    def setUp(self):
        super().setUp()
        self.X, self.y = load_iris(return_X_y=True)

    def test_convergence(self):
        """the gap of one model, of several models and of several classes; the stress of a map"""
        first, second = gpucsr.Ridge().fit(self.X, self.y), gpucsr.LogisticRegression().fit(self.X, self.y)
        ax = plot.convergence(first)
        self.assertEqual((ax.get_yscale(), ax.get_legend()), ("log", None))
        ax = plot.convergence({"ridge": first, "logistic": second}, ax=ax)
        self.assertEqual((len(ax.lines), self.texts(ax)), (3, ["ridge", "logistic"]))
        np.testing.assert_array_equal(ax.lines[1].get_xdata(), ax.lines[0].get_xdata())
        shown = ax.lines[2].get_xdata().astype(int)
        np.testing.assert_array_equal(ax.lines[2].get_ydata(), (second.history_[:, 0] - second.history_[:, 1])[shown])
        self.assertEqual(shown[-1], second.n_iter_)
        ax = plot.convergence(gpucsr.LinearSVC().fit(self.X, self.y))
        self.assertEqual(self.texts(ax), ["0", "1", "2"])
        mds = gpucsr.MDS(random_state=0).fit(self.X[::5])
        np.testing.assert_array_equal(plot.convergence(mds).lines[0].get_ydata(), mds.history_)
        ax.figure.canvas.draw()
        for words, models in (("Ridge has no history_", gpucsr.Ridge()), ("do not fit into one plot", {"a": mds, "b": first})):
            with self.assertRaisesRegex(ValueError, words):
                plot.convergence(models)

    def test_path(self):
        """the coefficients of a path are those of models with these parameters"""
        estimator, values = gpucsr.LogisticRegression("l1"), [1.0, 0.01, 0.1]
        ax = plot.regularization_path(estimator, self.X, self.y > 0, values, names=list("abcd"), top=2)
        self.assertFalse(hasattr(estimator, "coef_"))
        coef = np.array([gpucsr.LogisticRegression("l1", C=C).fit(self.X, self.y > 0).coef_[0] for C in sorted(values)])
        drawn = np.array([line.get_ydata() for line in ax.lines]).T
        np.testing.assert_array_equal(drawn[:, np.lexsort(drawn)], coef[:, np.lexsort(coef)])
        self.assertEqual(self.texts(ax), ["abcd"[j] for j in np.argsort(-np.abs(coef).max(axis=0), kind="stable")[:2]])
        ax = plot.regularization_path(gpucsr.Ridge(), scipy.sparse.csr_matrix(self.X), self.y, [1, 10], top=0, sample_weight=np.ones(150))
        self.assertEqual((ax.get_xlabel(), len(ax.lines), ax.get_legend()), ("alpha", 4, None))
        ax = plot.regularization_path(gpucsr.LinearSVC(), self.X, self.y, [1])  # several classes: norms
        self.assertAlmostEqual(max(line.get_ydata()[0] for line in ax.lines), np.linalg.norm(gpucsr.LinearSVC().fit(self.X, self.y).coef_, axis=0).max(), delta=1e-12)
        for words, arguments in (("parameter 'nosuch'", {"parameter": "nosuch"}), ("positive", {"values": [0]}), ("2 names for 4", {"names": ["a", "b"]})):
            with self.assertRaisesRegex(ValueError, words):
                plot.regularization_path(estimator, self.X, self.y, **arguments)

    def test_map(self):
        """points, labels and groups of a map"""
        mds = gpucsr.MDS(random_state=0).fit(self.X[::10])
        labels = ["", *"bcdefghijklmno"]
        ax = plot.mds_map(mds, labels, groups=self.y[::10])
        np.testing.assert_array_equal(np.vstack([c.get_offsets() for c in ax.collections]), mds.embedding_)
        self.assertEqual(([text.get_text() for text in ax.texts], self.texts(ax)), (labels[1:], ["0", "1", "2"]))
        ax.figure.canvas.draw()
        line = plot.mds_map(mds.embedding_[:, :1])
        np.testing.assert_array_equal(line.collections[0].get_offsets()[:, 1], 0)
        for words, arguments in (("labels has 2 entries for 15 points", {"labels": ["a", "b"]}), ("groups has 1 entries", {"groups": [1]})):
            with self.assertRaisesRegex(ValueError, words):
                plot.mds_map(mds, **arguments)

    def test_shepard(self):
        """distances by dissimilarities; the line of an ordinal map never falls and gives the stress"""
        X = self.X[::5]
        D = np.round(np.linalg.norm(X[:, None] - X[None], axis=2), 1)
        mds = gpucsr.MDS(metric=False, dissimilarity="precomputed", random_state=0).fit(D)
        ax = plot.shepard(mds, D)
        np.testing.assert_array_equal(ax.collections[0].get_offsets(), np.column_stack([D[np.triu_indices(30, 1)], pdist(mds.embedding_)]))
        line = ax.lines[0].get_ydata()
        self.assertTrue((np.diff(line) >= 0).all())
        stress = np.square(pdist(mds.embedding_)[np.lexsort((pdist(mds.embedding_), D[np.triu_indices(30, 1)]))] - line).sum()
        self.assertAlmostEqual(stress / np.square(line).sum(), mds.normalized_stress_, delta=1e-3)
        metric = gpucsr.MDS(random_state=0).fit(X)
        ax = plot.shepard(metric, X, max_pairs=50)
        self.assertEqual(len(ax.collections[0].get_offsets()), 50)
        self.assertEqual(ax.lines[0].get_xdata().tolist(), ax.lines[0].get_ydata().tolist())
        with self.assertRaisesRegex(ValueError, "the map has 30 points"):
            plot.shepard(metric, X[:10])
