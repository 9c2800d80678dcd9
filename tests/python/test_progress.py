"""The course of the iterations: histories and progress bars."""
import contextlib
import sys
import types
import unittest

import numpy as np
import scipy.sparse

try:
    from sklearn.datasets import load_iris
except ImportError:
    load_iris = None

import gpucsr
from gpucsr._monitor import Bar


class Recorder:
    """Stands for tqdm.tqdm, and keeps what a bar shows."""

    bars: list = []

    def __init__(self, desc, unit):
        self.desc, self.unit, self.n, self.texts, self.open = desc, unit, 0, [], True
        self.bars.append(self)

    def set_postfix_str(self, text, refresh):
        self.texts.append(text)

    def update(self, step):
        self.n += step

    def close(self):
        self.open = False


class Interrupted(Recorder):
    def update(self, step):
        raise KeyboardInterrupt


@contextlib.contextmanager
def modules(**replaced):
    """Replace modules, or hide them by None. Modules that are imported meanwhile stay."""
    before = {name: sys.modules.get(name, modules) for name in replaced}
    sys.modules.update(replaced)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is modules:
                del sys.modules[name]
            else:
                sys.modules[name] = module


@contextlib.contextmanager
def bars(kind=Recorder):
    """Replace tqdm; yields the list of the bars that are made."""
    module = types.ModuleType("tqdm.auto")
    module.tqdm = kind
    kind.bars.clear()
    with modules(**{"tqdm": types.ModuleType("tqdm"), "tqdm.auto": module}):
        yield kind.bars


class Bars(unittest.TestCase):
    def test_pagerank(self):
        """the bar of pagerank counts the iterations"""
        A = scipy.sparse.random(50, 50, 0.1, random_state=1)
        for method in ("gauss_seidel", "power"):
            with bars() as made:
                ranks = gpucsr.pagerank(A, method=method, progress=True)
            self.assertEqual((len(made), made[0].desc, made[0].n, made[0].open), (1, "PageRank", ranks.iterations, False))
            self.assertRegex(made[0].texts[-1], "^(residual|change) .*e-")
            np.testing.assert_array_equal(ranks.ranks, gpucsr.pagerank(A, method=method).ranks)

    def test_interrupt(self):
        """an exception in a bar, as by Ctrl-C, stops the solve"""
        with bars(Interrupted) as made, self.assertRaises(KeyboardInterrupt):
            gpucsr.pagerank(scipy.sparse.random(50, 50, 0.1, random_state=1), method="power", progress=True)
        self.assertFalse(made[0].open)
        self.assertEqual(len(gpucsr.pagerank(np.ones((3, 3)))), 3)  # the library still works

    def test_missing(self):
        """without tqdm the error names the remedy"""
        with modules(**{"tqdm": None, "tqdm.auto": None}):
            with self.assertRaisesRegex(ImportError, "^progress=True needs tqdm, which is not installed. On Debian: apt-get install python3-tqdm$"):
                gpucsr.pagerank(np.ones((3, 3)), progress=True)
            Bar(False, "", "").move("", 1.0)

    def test_tqdm(self):
        """a bar of tqdm shows the name and the residual"""
        try:
            import tqdm.auto  # noqa: F401
        except ImportError:
            self.skipTest("tqdm is not installed")
        import io

        with contextlib.redirect_stderr(io.StringIO()) as text:
            gpucsr.pagerank(scipy.sparse.random(50, 50, 0.1, random_state=1), method="power", progress=True)
        self.assertRegex(text.getvalue(), "PageRank: [0-9]+ iterations .*residual")


@unittest.skipIf(load_iris is None, "scikit-learn is not installed")
class Estimators(unittest.TestCase):
    def setUp(self):
        self.X, self.y = load_iris(return_X_y=True)

    def test_models(self):
        """histories of linear models end with the objective and the bound, and the bar counts the passes"""
        for model, y in ((gpucsr.Ridge(progress=True), self.y), (gpucsr.LinearSVC(progress=True), self.y > 1), (gpucsr.LogisticRegression(progress=True), self.y), (gpucsr.RankSVM(progress=True), self.y)):
            with bars() as made:
                model.fit(self.X, y)
            self.assertEqual((len(made), made[0].desc, made[0].n, made[0].open), (1, type(model).__name__, model.n_iter_, False))
            history = model.history_
            self.assertEqual(history.shape, (model.n_iter_ + 1, 2))
            self.assertTrue((np.diff(history[:, 0]) <= 1e-12 * history[:-1, 0]).all() and (np.diff(history[:, 1]) >= 0).all())  # an objective that is computed anew differs by rounding
            self.assertEqual(history[-1].tolist(), [model.objective_, model.lower_bound_])
            quiet = model.set_params(progress=False).fit(self.X, y)
            np.testing.assert_array_equal(quiet.history_, history)

    def test_classes(self):
        """with a model for each class there is a history for each, and one bar"""
        with bars() as made:
            model = gpucsr.LinearSVC(progress=True).fit(self.X, self.y)
        self.assertEqual((len(made), made[0].n), (1, model.n_iter_))
        self.assertEqual([history[-1].tolist() for history in model.history_], np.column_stack([model.objective_, model.lower_bound_]).tolist())

    def test_clusters(self):
        """the bar of KMeans counts the assignments of all starts"""
        with bars() as made:
            model = gpucsr.KMeans(5, n_init=2, random_state=0, progress=True).fit(self.X)
        self.assertEqual((made[0].desc, made[0].open), ("KMeans", False))
        self.assertGreater(made[0].n, model.n_iter_)
        self.assertTrue(made[0].texts[0].startswith("inertia "))
        with bars(Interrupted), self.assertRaises(KeyboardInterrupt):
            gpucsr.KMeans(5, random_state=0, progress=True).fit(self.X)

    def test_maps(self):
        """the history of MDS is that of the best start"""
        with bars() as made:
            model = gpucsr.MDS(n_init=3, random_state=0, progress=True).fit(self.X[::3])
        self.assertTrue((np.diff(model.history_) <= 0).all())
        self.assertAlmostEqual(model.history_[-1], model.normalized_stress_, delta=1e-12)
        self.assertLessEqual(abs(len(model.history_) - model.n_iter_), 1)
        self.assertGreater(made[0].n, len(model.history_))
