"""The estimators beside scikit-learn, and scikit-learn's own checks of them."""
import inspect
import pickle
import unittest
import warnings

import numpy as np
import scipy.sparse

try:
    import sklearn.cluster
    import sklearn.linear_model
    import sklearn.svm
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    raise unittest.SkipTest("scikit-learn is not installed")

import gpucsr

ESTIMATORS = ("KMeans", "MDS", "LinearSVC", "LogisticRegression", "Ridge", "LinearSVR", "RankSVM")


def scaled(load):
    X, y = load(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def objective(model, X, z, y, loss, lam, weights=None):
    """The objective of a linear model with one score."""
    return lam / 2 * np.sum(model.coef_**2) + np.average(loss(z, y), weights=weights)


def results(estimator):
    """Run scikit-learn's checks; yield the name of each and its exception, or None."""
    if "on_fail" in inspect.signature(check_estimator).parameters:  # scikit-learn 1.6 or newer
        expected = {}
        if hasattr(estimator, "n_clusters"):  # as for scikit-learn's KMeans
            why = "weights change the draws of the first centroids"
            expected = {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}
        for result in check_estimator(estimator, on_fail=None, expected_failed_checks=expected):
            yield result["check_name"], result["exception"] if result["status"] == "failed" else None
        return
    for estimator, check in check_estimator(estimator, generate_only=True):
        try:
            check(estimator)
            yield str(check), None
        except unittest.SkipTest:
            pass
        except Exception as error:
            yield str(check), error


class Checks(unittest.TestCase):
    def test_check_estimator(self):
        """all estimators pass scikit-learn's checks"""
        failures, ran = [], 0
        for name in ESTIMATORS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for check, error in results(getattr(gpucsr, name)()):
                    ran += 1
                    if error:
                        failures.append(f"{name}: {check}: {error}")
        self.assertEqual(failures, [])
        self.assertGreater(ran, 200)

    def test_pickle(self):
        """trained estimators are pickled without the objects of PETSc"""
        X, y = scaled(load_iris)
        for name in ESTIMATORS:
            model = getattr(gpucsr, name)().fit(X, y)
            copy = pickle.loads(pickle.dumps(model))
            if hasattr(model, "predict"):
                np.testing.assert_array_equal(copy.predict(X), model.predict(X))


class Clusters(unittest.TestCase):
    def setUp(self):
        self.X = np.round(scaled(load_iris)[0], 6)

    def test_kmeans(self):
        """from equal centroids, labels and inertia are those of scikit-learn"""
        start = self.X[[0, 60, 120]]
        ours = gpucsr.KMeans(3, init=start).fit(self.X)
        theirs = sklearn.cluster.KMeans(3, init=start, n_init=1, tol=0).fit(self.X)
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        self.assertAlmostEqual(ours.inertia_, theirs.inertia_, delta=1e-9 * theirs.inertia_)
        np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-9)
        np.testing.assert_allclose(ours.transform(self.X), theirs.transform(self.X), atol=1e-9)
        np.testing.assert_array_equal(ours.predict(self.X[::2]), theirs.predict(self.X[::2]))
        self.assertAlmostEqual(ours.score(self.X), theirs.score(self.X), delta=1e-7)

    def test_sparse(self):
        """sparse samples, weights, seeds and starts"""
        w = np.arange(150.0)
        for init in ("k-means++", "k-means||", "random"):
            dense = gpucsr.KMeans(4, init=init, random_state=5, n_init=2).fit(self.X, sample_weight=w)
            again = gpucsr.KMeans(4, init=init, random_state=5, n_init=2).fit(scipy.sparse.csr_matrix(self.X), sample_weight=w)
            np.testing.assert_array_equal(dense.labels_, again.labels_)
            self.assertAlmostEqual(-dense.score(self.X, sample_weight=w), dense.inertia_, delta=1e-8 * dense.inertia_)

    def test_cosine(self):
        """the cosine metric"""
        model = gpucsr.KMeans(3, metric="cosine", random_state=0).fit(self.X + 5)
        self.assertAlmostEqual(-model.score(self.X + 5), model.inertia_, delta=1e-8)
        np.testing.assert_array_equal(model.predict(self.X + 5), model.labels_)

    def test_stopping(self):
        """labels are those of the centroids, also if the iteration stops early"""
        early = gpucsr.KMeans(5, tol=0.5, random_state=1).fit(self.X)
        np.testing.assert_array_equal(early.predict(self.X), early.labels_)
        with self.assertWarnsRegex(ConvergenceWarning, "max_iter=1"):
            early = gpucsr.KMeans(5, max_iter=1, random_state=1).fit(self.X)
        np.testing.assert_array_equal(early.predict(self.X), early.labels_)
        self.assertAlmostEqual(-early.score(self.X), early.inertia_, delta=1e-8 * early.inertia_)

    def test_few(self):
        """fewer distinct samples than clusters give a warning"""
        with self.assertWarnsRegex(ConvergenceWarning, "2\\) is smaller than n_clusters \\(3"):
            model = gpucsr.KMeans(3).fit([[0.0], [0.0], [1.0], [1.0]])
        self.assertEqual((model.cluster_centers_.shape, model.inertia_), ((3, 1), 0.0))

    def test_refused(self):
        """wrong settings are errors"""
        for words, settings in (("n_samples=150", {"n_clusters": 151}), ("init='nosuch'", {"init": "nosuch"}), ("metric='nosuch'", {"metric": "nosuch"}), ("shape", {"init": np.ones((2, 2))}), ("max_iter=0", {"max_iter": 0})):
            with self.assertRaisesRegex(ValueError, words):
                gpucsr.KMeans(**settings).fit(self.X)
        for words, settings in (("n_clusters=2.5", {"n_clusters": 2.5}), ("n_init='many'", {"n_init": "many"})):
            with self.assertRaisesRegex(TypeError, words):
                gpucsr.KMeans(**settings).fit(self.X)
        with self.assertRaisesRegex(gpucsr.ArgumentError, "Start centroids: row 0, column 0 is not a finite number"):  # the library finds this error
            gpucsr.KMeans(2, init=np.full((2, self.X.shape[1]), np.nan)).fit(self.X)


class Maps(unittest.TestCase):
    def test_mds(self):
        """distances in the plane are found again"""
        points = np.random.default_rng(0).random((40, 2))
        D = np.linalg.norm(points[:, None] - points[None], axis=2)
        for X, kind in ((points, "euclidean"), (D, "precomputed")):
            model = gpucsr.MDS(dissimilarity=kind, random_state=0, eps=1e-12).fit(X)
            found = np.linalg.norm(model.embedding_[:, None] - model.embedding_[None], axis=2)
            np.testing.assert_allclose(found, D, atol=1e-4)
            self.assertLess(model.normalized_stress_, 1e-8)
        start = np.random.default_rng(1).random((40, 2))
        np.testing.assert_allclose(gpucsr.MDS(random_state=0).fit_transform(points, init=start).shape, (40, 2))

    def test_stress(self):
        """the stress is that of the embedding, and not above that of scikit-learn"""
        X = scaled(load_iris)[0][::3]
        D = np.linalg.norm(X[:, None] - X[None], axis=2)
        model = gpucsr.MDS(random_state=0, n_init=4, eps=1e-9).fit(X)
        E = model.embedding_
        stress = np.square(np.linalg.norm(E[:, None] - E[None], axis=2) - D).sum() / 2
        self.assertAlmostEqual(model.stress_, stress, delta=1e-6 * stress)
        ordinal = gpucsr.MDS(metric=False, random_state=0).fit(X)
        self.assertLess(ordinal.normalized_stress_, model.normalized_stress_)
        with self.assertWarnsRegex(ConvergenceWarning, "max_iter=1"):
            gpucsr.MDS(max_iter=1, init="random", random_state=0).fit(X)

    def test_refused(self):
        """wrong settings are errors"""
        for words, settings in (("square", {"dissimilarity": "precomputed"}), ("init='nosuch'", {"init": "nosuch"}), ("n_init=0", {"n_init": 0}), ("imension", {"n_components": 9})):
            with self.assertRaisesRegex(ValueError, words):
                gpucsr.MDS(**settings).fit(np.random.default_rng(0).random((10, 3)))


class Classifiers(unittest.TestCase):
    LOSSES = {
        "hinge": lambda z, y: np.maximum(0, 1 - y * z),
        "squared_hinge": lambda z, y: np.maximum(0, 1 - y * z) ** 2,
        "logistic": lambda z, y: np.logaddexp(0, -y * z),
    }

    def setUp(self):
        self.X, self.y = scaled(load_breast_cancer)
        self.w = np.arange(len(self.y)) % 3 / 2.0

    def test_objective(self):
        """the objective is that of the documentation, and the gap is within the tolerance"""
        for model, loss in ((gpucsr.LinearSVC(loss="hinge", C=0.1), "hinge"), (gpucsr.LinearSVC(C=0.1), "squared_hinge"), (gpucsr.LogisticRegression(C=0.1), "logistic")):
            for X in (self.X, scipy.sparse.csr_matrix(self.X)):
                for w in (None, self.w):
                    model.fit(X, self.y, sample_weight=w)
                    lam = 1 / (0.1 * (len(self.y) if w is None else w.sum()))
                    value = objective(model, X, model.decision_function(X), 2 * self.y - 1, self.LOSSES[loss], lam, w)
                    self.assertAlmostEqual(value, model.objective_, delta=1e-9)
                    self.assertAlmostEqual(model.objective_ - model.lower_bound_, model.gap_, delta=1e-15)
                    self.assertTrue(0 <= model.gap_ <= 1e-4 * model.objective_)

    def test_sklearn(self):
        """probabilities and classes are those of scikit-learn"""
        for load, settings in ((load_breast_cancer, {}), (load_breast_cancer, {"class_weight": "balanced"}), (load_iris, {}), (load_iris, {"class_weight": {0: 1, 1: 3, 2: 0.5}})):
            X, y = scaled(load)
            names = np.array(["x", "y", "z"])[y]
            if settings.get("class_weight") not in (None, "balanced"):
                settings = {"class_weight": {"xyz"[c]: w for c, w in settings["class_weight"].items()}}
            ours = gpucsr.LogisticRegression(tol=1e-8, **settings).fit(X, names)
            theirs = sklearn.linear_model.LogisticRegression(tol=1e-10, max_iter=10000, **settings).fit(X, names)
            np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-4)
            np.testing.assert_allclose(ours.predict_log_proba(X), np.log(ours.predict_proba(X)), atol=1e-9)
            np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
            np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=5e-3)

    def test_svc(self):
        """without an intercept, coefficients are those of scikit-learn, also for several classes and absolute values"""
        X, y = scaled(load_iris)
        for settings in ({}, {"penalty": "l1", "C": 0.3}):
            ours = gpucsr.LinearSVC(tol=1e-9, fit_intercept=False, **settings).fit(X, y)
            theirs = sklearn.svm.LinearSVC(tol=1e-9, fit_intercept=False, max_iter=100000, dual=not settings, **settings).fit(X, y)
            np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
            self.assertEqual((ours.coef_.shape, ours.intercept_.tolist(), ours.gap_.shape), ((3, 4), [0, 0, 0], (3,)))
            np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))

    def test_elasticnet(self):
        """elasticnet lies between its limits"""
        zeros = [np.sum(gpucsr.LogisticRegression(penalty="elasticnet", l1_ratio=r, C=0.01).fit(self.X, self.y).coef_ == 0) for r in (0, 0.5, 1)]
        self.assertTrue(0 == zeros[0] < zeros[1] < zeros[2])

    def test_stopping(self):
        """too few passes give a warning with the gap"""
        with self.assertWarnsRegex(ConvergenceWarning, "max_iter=2 passes, with the gap"):
            model = gpucsr.LinearSVC(max_iter=2).fit(self.X, self.y)
        self.assertGreater(model.gap_, 1e-4 * model.objective_)

    def test_refused(self):
        """wrong settings are errors"""
        for words, model in (("C=0", gpucsr.LinearSVC(C=0)), ("loss='nosuch'", gpucsr.LinearSVC(loss="nosuch")), ("penalty='elasticnet'", gpucsr.LinearSVC(penalty="elasticnet")), ("l1_ratio=2", gpucsr.LogisticRegression(l1_ratio=2)), ("tol=0", gpucsr.LogisticRegression(tol=0))):
            with self.assertRaisesRegex(ValueError, words):
                model.fit(self.X, self.y)
        with self.assertRaisesRegex(ValueError, "of 1 class"):
            gpucsr.LinearSVC().fit(self.X, self.y, sample_weight=self.y)
        with self.assertRaisesRegex(ValueError, "sample_weight"):
            gpucsr.LinearSVC().fit(self.X, self.y, sample_weight=-np.ones(len(self.y)))


class Regressors(unittest.TestCase):
    def setUp(self):
        self.X, self.y = scaled(load_diabetes)
        self.w = np.arange(len(self.y)) % 3 / 2.0

    def test_ridge(self):
        """coefficients are those of scikit-learn"""
        for X in (self.X, scipy.sparse.csr_matrix(self.X)):
            for w in (None, self.w):
                ours = gpucsr.Ridge(alpha=2, tol=1e-12).fit(X, self.y, sample_weight=w)
                theirs = sklearn.linear_model.Ridge(alpha=2).fit(self.X, self.y, sample_weight=w)
                np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-2)
                self.assertAlmostEqual(ours.intercept_, theirs.intercept_, delta=1e-2)

    def test_svr(self):
        """the objective is that of the documentation"""
        for settings, loss in (
            ({}, lambda z, y: np.abs(z - y)),
            ({"epsilon": 9.0}, lambda z, y: np.maximum(0, np.abs(z - y) - 9)),
            ({"epsilon": 9.0, "loss": "squared_epsilon_insensitive"}, lambda z, y: np.maximum(0, np.abs(z - y) - 9) ** 2),
        ):
            model = gpucsr.LinearSVR(C=3, **settings).fit(self.X, self.y)
            self.assertAlmostEqual(objective(model, self.X, model.predict(self.X), self.y, loss, 1 / (3 * len(self.y))) / model.objective_, 1, delta=1e-9)
            self.assertTrue(0 <= model.gap_ <= 1e-4 * model.objective_)
        with self.assertRaisesRegex(ValueError, "Ridge"):
            gpucsr.LinearSVR(loss="squared_epsilon_insensitive").fit(self.X, self.y)
