"""RankSVM beside the definitions of its losses and of its score."""
import unittest

import numpy as np
import scipy.sparse

try:
    import sklearn.metrics
    from sklearn.model_selection import GridSearchCV
except ImportError:
    raise unittest.SkipTest("scikit-learn is not installed")

import gpucsr


def pairs(y, group):
    """The pairs (i, j) of samples of a query with y_i > y_j, by query."""
    for query in np.unique(group):
        members = np.flatnonzero(group == query)
        found = [(i, j) for i in members for j in members if y[i] > y[j]]
        if found:
            yield np.array(found).T


def accuracy(z, y, group):
    return np.mean([np.mean((z[i] > z[j]) + 0.5 * (z[i] == z[j])) for i, j in pairs(y, group)])


class Ranking(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(4)
        self.X = np.round(rng.normal(size=(90, 5)), 1)
        self.y = np.round(self.X @ [2, -1, 0.5, 0, 0] + rng.normal(size=90)).clip(-2, 3) + 2
        self.group = rng.integers(0, 12, 90)  # the samples of a query do not follow each other
        self.y[self.group == 3] = 1  # a query without pairs

    def test_objective(self):
        """the objective is that of the documentation, for dense and sparse samples"""
        every = np.zeros(90)
        for loss, group, scale in (("preference", self.group, None), ("preference", None, None), ("ordinal", None, "labels")):
            for X in (self.X, scipy.sparse.csr_matrix(self.X)):
                model = gpucsr.RankSVM(loss, C=0.5).fit(X, self.y, group=group)
                z = model.predict(X)
                risks = [np.mean((1 if scale is None else self.y[i] - self.y[j]) * np.maximum(0, 1 - z[i] + z[j])) for i, j in pairs(self.y, every if group is None else group)]
                self.assertEqual(len(risks), 1 if group is None else 11)
                value = np.sum(model.coef_**2) / (2 * 0.5 * 90) + np.sum(risks) / (1 if group is None else 12)  # the loss of a query without pairs is 0
                self.assertAlmostEqual(model.objective_, value, delta=1e-9)
                self.assertTrue(0 <= model.gap_ <= 1e-3 * model.objective_)

    def test_score(self):
        """the score is the part of the pairs in the right order; ties count half"""
        model = gpucsr.RankSVM().fit(self.X, self.y, group=self.group)
        self.assertAlmostEqual(model.score(self.X, self.y, group=self.group), accuracy(model.predict(self.X), self.y, self.group), delta=1e-12)
        self.assertGreater(model.score(self.X, self.y, group=self.group), 0.8)
        model.coef_ = np.array([1.0, 0, 0, 0, 0])  # many ties
        for group in (self.group, np.zeros(90)):
            self.assertAlmostEqual(model.score(self.X, self.y, group=group), accuracy(self.X[:, 0], self.y, group), delta=1e-12)
        self.assertAlmostEqual(model.score(self.X, self.y > 2), sklearn.metrics.roc_auc_score(self.y > 2, self.X[:, 0]), delta=1e-12)
        model.coef_ = np.zeros(5)
        self.assertEqual(model.score(self.X, self.y), 0.5)

    def test_names(self):
        """queries have any names, and their order does not matter"""
        names = np.array([f"query {g}" for g in self.group])
        order = np.random.default_rng(5).permutation(90)
        first = gpucsr.RankSVM(tol=1e-9).fit(self.X, self.y, group=self.group)
        second = gpucsr.RankSVM(tol=1e-9).fit(self.X[order], self.y[order], group=names[order])
        np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-3)
        self.assertGreater(np.abs(gpucsr.RankSVM(tol=1e-9).fit(self.X, self.y).coef_ - first.coef_).max(), 1e-2)

    def test_ndcg(self):
        """the loss ndcg puts the best samples first"""
        model = gpucsr.RankSVM("ndcg", C=10).fit(self.X, self.y, group=self.group)
        members = np.flatnonzero(self.group == self.group[0])
        self.assertGreater(sklearn.metrics.ndcg_score([self.y[members]], [model.predict(self.X)[members]], k=10), 0.85)
        with self.assertRaisesRegex(gpucsr.ArgumentError, "ndcg"):
            model.fit(self.X, self.y - 9, group=self.group)

    def test_search(self):
        """a grid search splits the queries with the samples"""
        search = GridSearchCV(gpucsr.RankSVM(), {"C": [0.01, 1.0]}, cv=3).fit(self.X, self.y, group=self.group)
        self.assertGreater(search.best_score_, 0.7)

    def test_refused(self):
        """wrong arguments are errors"""
        for words, model, group in (
            ("loss='nosuch'", gpucsr.RankSVM("nosuch"), None),
            ("C=0", gpucsr.RankSVM(C=0), None),
            ("group has 2 entries for 90 samples", gpucsr.RankSVM(), [40, 50]),
            ("group: the loss 'ordinal'", gpucsr.RankSVM("ordinal"), self.group),
            ("of each query are equal", gpucsr.RankSVM(), np.arange(90)),
        ):
            with self.assertRaisesRegex(ValueError, words):
                model.fit(self.X, self.y, group=group)
        with self.assertRaisesRegex(ValueError, "all labels are equal"):
            gpucsr.RankSVM().fit(self.X, np.ones(90))
        with self.assertRaisesRegex(ValueError, "are equal"):
            gpucsr.RankSVM().fit(self.X, self.y).score(self.X, np.ones(90))
