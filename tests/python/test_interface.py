"""The package agrees with the headers of the library, and its documentation with what it does."""
import contextlib
import doctest
import importlib
import importlib.util
import io
import pickle
import re
import sys
import unittest
from pathlib import Path

import gpucsr
from gpucsr import _library, _monitor, _signatures

ROOT = Path(__file__).resolve().parents[2]
HEADERS = "\n".join(path.read_text() for path in sorted((ROOT / "include").glob("*.h")))


def letter(argument):
    """The letter of _signatures.py for an argument of a declaration."""
    argument = argument.strip()
    if argument == "const char[]":
        return "s"
    if argument == "NetworkMeasure":  # const char *
        return "s"
    if argument in ("PetscInt", "PetscInt64", "PetscReal"):
        return {"PetscInt": "i", "PetscInt64": "l", "PetscReal": "d"}[argument]
    if argument.endswith("MonitorFn") or "(*)" in argument:
        return "f"
    if argument in ("MPI_Comm", "Mat", "Vec", "KMeans", "PageRank", "BMRM", "SMACOF", "Network"):
        return "p"
    if argument.endswith("[]") and not argument.endswith("*[]") and not argument.startswith("const char *"):
        return "p"  # an array of objects that the function reads
    if argument.endswith(("*", "*[]")) or argument.startswith("const char *["):
        return "o"
    return "e"


def members(enumeration):
    """The values of an enumeration of the headers."""
    body = re.search(r"typedef enum \{([^}]*)\} " + enumeration + ";", HEADERS).group(1)
    out, value = {}, -1
    for line in body.split(","):
        name, _, given = (part.strip() for part in line.partition("="))
        value = int(given) if given else value + 1
        out[name] = value
    return out


def plots():
    """Whether matplotlib and scikit-learn, which the examples of plots need, can be imported."""
    try:
        import matplotlib.pyplot  # noqa: F401
        import sklearn  # noqa: F401
    except Exception:  # an incomplete matplotlib raises other exceptions than ImportError
        return False
    return True


class Interface(unittest.TestCase):
    def test_signatures(self):
        """the arguments of all C functions are those of the headers"""
        lines = [line.split() for line in _signatures.SIGNATURES.split("\n") if line]
        self.assertGreater(len(lines), 60)
        for name, *letters in lines:
            found = re.search(r"PETSC_EXTERN PetscErrorCode +" + name + r"\(([^;]*)\);", HEADERS)
            self.assertIsNotNone(found, name)
            arguments = [] if found.group(1) == "void" else found.group(1).split(",")
            self.assertEqual("".join(map(letter, arguments)), "".join(letters), name)

    def test_monitors(self):
        """the arguments of monitors are those of the headers"""
        for kind, letters in _monitor.NUMBERS.items():
            found = re.search(r"typedef PetscErrorCode \(\*" + kind + r"MonitorFn\)\(([^;]*)\);", HEADERS)
            self.assertEqual("".join(map(letter, found.group(1).split(","))), "p" + letters + "o", kind)

    def test_enumerations(self):
        """the values of enumerations are those of the headers"""
        from gpucsr import _convert, _network, _pagerank

        self.assertEqual([f"MAT_GPUCSR_STORAGE_{s.upper()}" for s in _convert.STORAGES], sorted(members("MatGPUCSRStorage"), key=members("MatGPUCSRStorage").get))
        dangling = members("PageRankDanglingType")
        self.assertEqual({name: dangling["PAGERANK_DANGLING_" + name.upper()] for name in _pagerank._DANGLING}, _pagerank._DANGLING)
        self.assertEqual(dangling["PAGERANK_DANGLING_VECTOR"], 2)
        self.assertEqual(members("PageRankConvergedReason")["PAGERANK_CONVERGED_ERROR_BOUND"], _pagerank._CONVERGED)

        self.assertEqual([f"NETWORK_SCALE_{s.upper()}" for s in _network._SCALES], sorted(members("NetworkScale"), key=members("NetworkScale").get))
        reasons = members("NetworkConvergedReason")
        self.assertEqual((_network._ITS, _network._STAGNATION, _network._ZERO, _network._ALPHA), tuple(reasons["NETWORK_DIVERGED_" + name] for name in ("ITS", "STAGNATION", "ZERO", "ALPHA")))
        self.assertEqual(members("NetworkResultType")["NETWORK_RESULT_SCORE"], _network._SCORE)

    def test_enumerations_estimators(self):
        """the values of enumerations in the estimators are those of the headers"""
        try:
            from gpucsr import cluster, manifold
        except ImportError as error:
            self.skipTest(str(error))
        start = members("KMeansStart")
        self.assertEqual(cluster._STARTS, {"random": start["KMEANS_START_RANDOM"], "k-means++": start["KMEANS_START_PLUSPLUS"], "k-means||": start["KMEANS_START_PARALLEL"]})
        self.assertEqual(cluster._METRICS, {name: members("KMeansMetric")["KMEANS_METRIC_" + name.upper()] for name in cluster._METRICS})
        self.assertEqual(cluster._STORAGES, {name: members("KMeansStorage")["KMEANS_STORAGE_" + name.upper()] for name in cluster._STORAGES})
        reasons = members("KMeansConvergedReason")
        self.assertEqual((cluster._LABELS, cluster._MAX_IT), (reasons["KMEANS_CONVERGED_LABELS"], reasons["KMEANS_DIVERGED_MAX_IT"]))
        start = members("SMACOFStart")
        self.assertEqual((manifold._START_TORGERSON, manifold._START_RANDOM, manifold._START_GIVEN), tuple(start["SMACOF_START_" + name] for name in ("TORGERSON", "RANDOM", "GIVEN")))
        self.assertEqual(manifold._STORAGE_DOUBLE, members("SMACOFStorage")["SMACOF_STORAGE_DOUBLE"])
        disparity = members("SMACOFDisparity")
        self.assertEqual(manifold._DISPARITIES, {True: disparity["SMACOF_DISPARITY_RATIO"], False: disparity["SMACOF_DISPARITY_ORDINAL"]})
        self.assertEqual(members("BMRMConvergedReason")["BMRM_DIVERGED_MAX_IT"], -3)

    def test_version(self):
        """the version is that of the library"""
        parts = [re.search(r"#define GPUCSR_VERSION_" + part + r" *(\d+)", HEADERS).group(1) for part in ("MAJOR", "MINOR", "PATCH")]
        self.assertEqual(gpucsr.__version__, ".".join(parts))

    def test_documentation(self):
        """public functions have docstrings, and the examples in them are right"""
        attempted = 0
        plot = ["plot"] if plots() else []
        for name in ("_library", "_convert", "_operator", "linalg", "_pagerank", "_network", "cluster", "linear_model", "manifold", "ranking", *plot):
            try:
                module = importlib.import_module("gpucsr." + name)
            except ImportError:
                continue  # scikit-learn is missing
            result = doctest.testmod(module)
            if name == "plot":
                sys.modules["matplotlib.pyplot"].close("all")
            self.assertEqual(result.failed, 0, name)
            attempted += result.attempted
        self.assertGreater(attempted, 25)
        for name in gpucsr.__all__:
            try:
                self.assertTrue(getattr(gpucsr, name).__doc__, name)
            except ImportError:
                continue

    def test_page(self):
        """the programs of docs/python.md run"""
        for module in ("sklearn", "networkx"):
            if importlib.util.find_spec(module) is None:
                self.skipTest(f"{module} is not installed")
        if not plots():
            self.skipTest("matplotlib cannot be imported")
        blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "python.md").read_text(), re.M | re.S)
        self.assertGreater(len(blocks), 6)
        names: dict = {}
        with contextlib.redirect_stdout(io.StringIO()):
            for block in blocks:
                exec(compile(block, "docs/python.md: " + block.split("\n")[0], "exec"), names)
        sys.modules["matplotlib.pyplot"].close("all")

    def test_device(self):
        """the device has a name"""
        self.assertTrue(gpucsr.device())

    def test_unknown_name(self):
        """an unknown name is an AttributeError"""
        with self.assertRaisesRegex(AttributeError, "nosuch"):
            gpucsr.nosuch

    def test_error(self):
        """an error of the library is an exception with a message in one line, and of petsc4py's class"""
        from petsc4py import PETSc

        lib = _library.library()
        with self.assertRaises(PETSc.Error) as caught:
            lib.MatGPUCSRSetStorage(PETSc.Mat().create(PETSc.COMM_SELF), 1)
        self.assertIsInstance(caught.exception, ValueError)
        self.assertIsInstance(caught.exception, gpucsr.Error)
        self.assertRegex(str(caught.exception), "^Matrix of type .* is not a gpucsr matrix; use .*$")
        self.assertEqual(caught.exception.ierr, 62)
        copy = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((type(copy), str(copy), copy.ierr), (gpucsr.ArgumentError, str(caught.exception), 62))
