"""Matrices, vectors, products and linear solvers beside SciPy."""
import time
import unittest

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

import gpucsr
import gpucsr.linalg


def grid(n, shift=0.0):
    """The five-point matrix on n x n points; unsymmetric with a shift."""
    line = scipy.sparse.diags([-1 - shift, 2.2, -1 + shift], [-1, 0, 1], shape=(n, n))
    eye = scipy.sparse.eye(n)
    return (scipy.sparse.kron(line, eye) + scipy.sparse.kron(eye, line)).tocsr()


def random_matrix(rows, columns, seed=1):
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((rows, columns))
    dense[rng.random((rows, columns)) > 0.3] = 0
    return scipy.sparse.csr_matrix(dense)


def seconds(function, repeats):
    """The smallest time of three, of one call. Processor time, so that other programs do not count."""
    best = np.inf
    for _ in range(3):
        start = time.process_time()
        for _ in range(repeats):
            function()
        best = min(best, (time.process_time() - start) / repeats)
    return best


class Matrices(unittest.TestCase):
    def test_formats(self):
        """matrices of all formats and types are converted and come back unchanged"""
        A = random_matrix(13, 7)
        for B in (A, A.tocsc(), A.tocoo(), A.tolil(), A.todok(), scipy.sparse.csr_array(A), A.toarray(), A.astype(np.float32), scipy.sparse.csr_matrix(A != 0)):
            M = gpucsr.from_scipy(B)
            self.assertEqual(M.getType(), "seqaijgpucsr")
            expected = B.toarray() if scipy.sparse.issparse(B) else B
            np.testing.assert_array_equal(gpucsr.to_scipy(M).toarray(), expected.astype(float))

    def test_duplicates(self):
        """duplicates are added and columns sorted, in a copy"""
        A = scipy.sparse.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3, 3, 3])), shape=(3, 3))
        M = gpucsr.from_scipy(A)
        self.assertEqual(gpucsr.to_scipy(M)[0].toarray().tolist(), [[2.0, 0.0, 5.0]])
        self.assertEqual(A.indices.tolist(), [2, 0, 2])

    def test_copy(self):
        """a copy does not change with the matrix; without copy the memory is shared"""
        A = random_matrix(5, 5)
        copied, shared = gpucsr.from_scipy(A), gpucsr.from_scipy(A, copy=False)
        first = A.data[0]
        A.data[0] = 77.0
        self.assertEqual(gpucsr.to_scipy(copied).data[0], first)
        self.assertEqual(gpucsr.to_scipy(shared).data[0], 77.0)

    def test_storage(self):
        """storage selects the precision of products"""
        A = scipy.sparse.csr_matrix([[1.0 / 3.0]])
        for storage, expected in (("single", float(np.float32(1 / 3))), ("double", 1 / 3), ("auto", 1 / 3)):
            self.assertEqual((gpucsr.LinearOperator(A, storage) @ np.ones(1))[0], expected, storage)

    def test_refused(self):
        """wrong matrices are refused"""
        for A, words in ((np.eye(2) * 1j, "complex"), (np.ones(3), "dimensions")):
            with self.assertRaisesRegex(ValueError, words):
                gpucsr.from_scipy(A)
        with self.assertRaisesRegex(ValueError, "storage='half'.*single, double, auto"):
            gpucsr.from_scipy(np.eye(2), storage="half")
        for words, call in (
            ("matrix: values of the type <U1", lambda: gpucsr.from_scipy(np.array([["a"]]))),
            ("A has the type csr_matrix", lambda: gpucsr.to_scipy(random_matrix(2, 2))),
            ("vec has the type ndarray", lambda: gpucsr.as_numpy(np.ones(2))),
        ):
            with self.assertRaisesRegex(TypeError, words):
                call()

    def test_empty(self):
        """matrices without rows, columns or entries"""
        for shape in ((0, 0), (0, 3), (3, 0), (3, 3)):
            self.assertEqual(gpucsr.to_scipy(gpucsr.from_scipy(scipy.sparse.csr_matrix(shape))).shape, shape)

    def test_vectors(self):
        """vectors share the memory of arrays"""
        x = np.arange(4.0)
        v = gpucsr.as_vec(x)
        v.scale(2.0)
        self.assertEqual(x.tolist(), [0, 2, 4, 6])
        read = gpucsr.as_numpy(v)
        self.assertTrue(np.shares_memory(read, x))
        self.assertFalse(read.flags.writeable)
        del read
        write = gpucsr.as_numpy(v, writable=True)
        norm = v.norm()
        write[:] = 1.0
        del write
        self.assertEqual((v.norm(), norm), (2.0, np.sqrt(56)))


class Operators(unittest.TestCase):
    def test_products(self):
        """products with vectors and matrices, and with the transpose, as in SciPy"""
        A = random_matrix(13, 7)
        op = gpucsr.LinearOperator(A)
        self.assertIsInstance(op, scipy.sparse.linalg.LinearOperator)
        x, y, X = np.arange(7.0), np.arange(13), np.arange(21.0).reshape(7, 3)
        np.testing.assert_allclose(op @ x, A @ x, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(op.T @ y, A.T @ y, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(op @ X, A @ X, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(op @ x[::-1], A @ x[::-1], rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(op.matvec(x[:, None]), (A @ x)[:, None], rtol=1e-13, atol=1e-13)
        self.assertEqual((op.to_scipy() != A).nnz, 0)

    def test_scipy(self):
        """SciPy's own solvers accept the operator"""
        A = grid(12)
        values = scipy.sparse.linalg.eigsh(gpucsr.LinearOperator(A), k=2, return_eigenvectors=False, v0=np.ones(144))
        np.testing.assert_allclose(values, scipy.sparse.linalg.eigsh(A, k=2, return_eigenvectors=False, v0=np.ones(144)), rtol=1e-10)

    def test_petsc(self):
        """a matrix of petsc4py is used in place"""
        M = gpucsr.from_scipy(grid(4))
        op = gpucsr.LinearOperator(M)
        M.scale(2.0)
        np.testing.assert_allclose(op @ np.ones(16), 2 * (grid(4) @ np.ones(16)), rtol=1e-13, atol=1e-13)

    def test_overhead(self):
        """a product and a solve with a small matrix take less than 50 us"""
        op, x = gpucsr.LinearOperator(scipy.sparse.eye(20)), np.ones(20)
        self.assertLess(seconds(lambda: op @ x, 500), 50e-6)
        self.assertLess(seconds(lambda: gpucsr.linalg.cg(op, x, M="jacobi"), 500), 50e-6)

    def test_conversion_speed(self):
        """the conversion from SciPy takes about as long as a copy"""
        rows, per = 100000, 20
        rng = np.random.default_rng(1)
        columns = np.sort(rng.integers(0, rows // per, (rows, per)) + np.arange(0, rows, rows // per), axis=1)
        A = scipy.sparse.csr_matrix((rng.random(rows * per), columns.reshape(-1), np.arange(0, rows * per + 1, per)), shape=(rows, rows))
        self.assertTrue(A.has_canonical_format)
        kept = []  # so that all matrices are in new memory
        copy = seconds(lambda: kept.append(A.copy()), 1)
        self.assertLess(seconds(lambda: kept.append(gpucsr.from_scipy(A)), 1), 10 * copy + 0.05)
        self.assertLess(seconds(lambda: kept.append(gpucsr.from_scipy(A, copy=False)), 1), 2 * copy + 0.05)


class Solvers(unittest.TestCase):
    def check(self, function, A, M, **arguments):
        b = np.arange(A.shape[0]) % 7 + 1.0
        steps = []
        x, info = function(gpucsr.LinearOperator(A), b, M=M, rtol=1e-9, callback=steps.append, **arguments)
        self.assertEqual(info, 0)
        self.assertLessEqual(np.linalg.norm(A @ x - b), 1.1e-9 * np.linalg.norm(b))
        self.assertGreater(len(steps), 1)
        return x, steps

    def test_solvers(self):
        """cg, gmres and bicgstab reach the tolerance with several preconditioners"""
        for M in (None, "jacobi", "icc", "gamg", "gpufsai", {"pc_type": "gpupoly", "pc_gpupoly_degree": 3}):
            x, steps = self.check(gpucsr.linalg.cg, grid(20), M)
            np.testing.assert_array_equal(steps[-1], x)
        for function in (gpucsr.linalg.gmres, gpucsr.linalg.bicgstab):
            for M in (None, "ilu", "gpuspai"):
                self.check(function, grid(20, 0.3), M)
        norms = self.check(gpucsr.linalg.gmres, grid(20, 0.3), "ilu", restart=5)[1]
        self.assertLessEqual(norms[-1], 1e-9)

    def test_settings(self):
        """options of a dictionary reach the preconditioner, and only this one"""
        one = gpucsr.linalg.Solver(grid(8), "cg", {"pc_type": "ilu", "pc_factor_levels": 2})
        two = gpucsr.linalg.Solver(grid(8), "cg", "ilu")
        entries = [int(s.ksp.getPC().getFactorMatrix().getInfo()["nz_used"]) for s in (one, two)]
        self.assertGreater(*entries)

    def test_kept(self):
        """an operator keeps its solver, which sees new values of the matrix"""
        A = grid(8)
        op = gpucsr.LinearOperator(A)
        b = np.ones(64)
        gpucsr.linalg.cg(op, b, M="icc")
        solver = op.solvers["gpucg"][1]
        op.mat.scale(2.0)
        x, info = gpucsr.linalg.cg(op, b, M="icc", rtol=1e-10)
        self.assertIs(op.solvers["gpucg"][1], solver)
        self.assertLess(np.linalg.norm(2 * (A @ x) - b), 1e-8)
        gpucsr.linalg.cg(op, b, M="jacobi")
        self.assertIsNot(op.solvers["gpucg"][1], solver)

    def test_start(self):
        """the initial guess and the absolute tolerance are used"""
        A, exact = grid(10), np.arange(100.0)
        x, info = gpucsr.linalg.cg(A, A @ exact, x0=exact, rtol=1e-6)
        np.testing.assert_array_equal(x, exact)
        x, info = gpucsr.linalg.cg(A, A @ exact, rtol=0.0, atol=1e9)
        self.assertEqual((info, x.any()), (0, False))
        x, info = gpucsr.linalg.cg(A, np.zeros((100, 1)))
        self.assertEqual((info, x.shape, x.any()), (0, (100, 1), False))

    def test_info(self):
        """info is the number of iterations that did not suffice"""
        self.assertEqual(gpucsr.linalg.cg(grid(20), np.arange(400.0), maxiter=3)[1], 3)

    def test_callback_error(self):
        """an exception of a callback reaches the caller"""

        def stop(x):
            raise KeyError("stop")

        with self.assertRaises(KeyError):
            gpucsr.linalg.cg(grid(20), np.arange(400.0), callback=stop)

    def test_sides(self):
        """a method that supports one side of the preconditioner only measures the residual of the system itself"""
        A, b = grid(20), np.arange(400.0)
        for method in ("fcg", "cgs", "fgmres"):
            x, info = gpucsr.linalg.Solver(A, method, "jacobi").solve(b, rtol=1e-9)
            self.assertEqual(info, 0, method)
            self.assertLessEqual(np.linalg.norm(A @ x - b), 1.1e-9 * np.linalg.norm(b), method)

    def test_preconditioner_type(self):
        """a matrix as preconditioner is refused, as is a list"""
        for M in (scipy.sparse.eye(16), ["jacobi"]):
            with self.assertRaisesRegex(TypeError, "M has the type"):
                gpucsr.linalg.cg(grid(4), np.ones(16), M=M)

    def test_direct(self):
        """spsolve solves with vectors and matrices"""
        A, B = grid(10, 0.3), np.arange(200.0).reshape(100, 2)
        expected = scipy.sparse.linalg.spsolve(A, B)
        np.testing.assert_allclose(gpucsr.linalg.spsolve(A, B), expected, rtol=1e-11)
        np.testing.assert_allclose(gpucsr.linalg.spsolve(A, B[:, 0]), expected[:, 0], rtol=1e-11)
        with self.assertRaisesRegex(np.linalg.LinAlgError, "2 rows is singular"):
            gpucsr.linalg.spsolve(scipy.sparse.csr_matrix(np.ones((2, 2))), np.ones(2))

    def test_refused(self):
        """wrong arguments are errors with one line"""
        A = grid(4)
        for words, call in (
            ("Unable to find requested PC type nosuch", lambda: gpucsr.linalg.cg(A, np.ones(16), M="nosuch")),
            ("b has the shape", lambda: gpucsr.linalg.cg(A, np.ones(15))),
            ("x0 has 3 entries", lambda: gpucsr.linalg.cg(A, np.ones(16), x0=np.ones(3))),
            ("square", lambda: gpucsr.linalg.gmres(random_matrix(3, 4), np.ones(3))),
            ("NaN", lambda: gpucsr.linalg.gmres(A, np.full(16, np.nan))),
            ("no effect: pc_factor_level\\.", lambda: gpucsr.linalg.cg(A, np.ones(16), M={"pc_type": "ilu", "pc_factor_level": 1})),
            ("method='nosuch'", lambda: gpucsr.linalg.Solver(A, "nosuch")),
            ("rtol=2", lambda: gpucsr.linalg.cg(A, np.ones(16), rtol=2)),
            ("maxiter=-1", lambda: gpucsr.linalg.cg(A, np.ones(16), maxiter=-1)),
            ("rtol=-1", lambda: gpucsr.linalg.cg(A, np.ones(16), rtol=-1)),
            ("atol=-2", lambda: gpucsr.linalg.cg(A, np.ones(16), atol=-2)),
        ):
            with self.assertRaisesRegex(ValueError, words) as caught:
                call()
            self.assertNotIn("\n", str(caught.exception))
