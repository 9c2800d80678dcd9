#!/usr/bin/env python3
"""Products with a matrix in pinned host memory by CuPy.

    stream_cupy.py FILE [chunk MiB [repeats]]     FILE: written by `bench_streammat -write`; defaults: 32 MiB, 20 repeats

Compressed rows in double precision are cut into chunks of whole rows. Each chunk is copied from pinned memory to one of two device buffers, each with a stream of its own, and
multiplied there by cupyx's CSR product (cuSPARSE). So copies overlap products. Prints CSV: name, bytes of a product, milliseconds (median), GB/s, relative difference from
the product with the whole matrix on the device.
"""
import sys
import time

import cupy
import cupyx.scipy.sparse as sparse
import numpy
from cupyx import cusparse


def pinned(array):
    """Returns a copy of a numpy array in pinned memory."""
    memory = cupy.cuda.alloc_pinned_memory(array.nbytes)
    copy = numpy.frombuffer(memory, array.dtype, array.size)
    copy[...] = array
    return copy


def read(name):
    """Reads a matrix that bench_streammat has written."""
    m, n, nnz = (int(k) for k in numpy.fromfile(name, numpy.int64, 3))
    rowptr = numpy.fromfile(name, numpy.int32, m + 1, offset=24)
    col = numpy.fromfile(name, numpy.int32, nnz, offset=24 + 4 * (m + 1))
    val = numpy.fromfile(name, numpy.float64, nnz, offset=(24 + 4 * (m + 1 + nnz) + 7) // 8 * 8)
    return m, n, rowptr, col, val


class Chunks:
    """Chunks of whole rows of at most `most` nonzeros, in pinned memory, and the matrices in the device buffers that receive them."""

    def __init__(self, m, n, rowptr, col, val, most, buffers=2):
        self.cut = [0]
        while self.cut[-1] < m:
            end = int(numpy.searchsorted(rowptr, rowptr[self.cut[-1]] + most, side="right")) - 1
            self.cut.append(max(end, self.cut[-1] + 1))
        sizes = [(int(rowptr[b] - rowptr[a]), b - a) for a, b in zip(self.cut, self.cut[1:])]
        nnz, rows = max(s[0] for s in sizes), max(s[1] for s in sizes)
        self.streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(buffers)]
        self.buffers = [(cupy.zeros(nnz), cupy.zeros(nnz, numpy.int32), cupy.zeros(rows + 1, numpy.int32)) for _ in range(buffers)]
        self.host, self.matrix = [], []
        for k, (a, b) in enumerate(zip(self.cut, self.cut[1:])):
            piece = slice(rowptr[a], rowptr[b])
            self.host.append((pinned(val[piece]), pinned(col[piece]), pinned((rowptr[a : b + 1] - rowptr[a]).astype(numpy.int32))))
            parts = tuple(d[: h.size] for d, h in zip(self.buffers[k % buffers], self.host[k]))
            A = sparse.csr_matrix((b - a, n), dtype=numpy.float64)
            A.data, A.indices, A.indptr = parts
            A.has_canonical_format = True  # CuPy would check it in the first product, and would add up nonzeros of one place
            self.matrix.append(A)
        self.bytes = sum(h.nbytes for hosts in self.host for h in hosts)

    def multiply(self, x, y):
        """y = A x. Waits for the result."""
        for k, A in enumerate(self.matrix):
            stream = self.streams[k % len(self.streams)]
            with stream:
                for device, host in zip((A.data, A.indices, A.indptr), self.host[k]):
                    device.set(host, stream=stream)
                cusparse.spmv(A, x, y[self.cut[k] : self.cut[k + 1]])
        for stream in self.streams:
            stream.synchronize()


def main():
    name = sys.argv[1]
    most = int(float(sys.argv[2] if len(sys.argv) > 2 else 32) * 2**20 / 12)
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    m, n, rowptr, col, val = read(name)
    x, y = cupy.random.default_rng(1).random(n), cupy.zeros(m)
    A = sparse.csr_matrix((cupy.asarray(val), cupy.asarray(col), cupy.asarray(rowptr)), shape=(m, n))
    A.has_canonical_format = True
    whole = cusparse.spmv(A, x)
    chunks = Chunks(m, n, rowptr, col, val, most)
    cupy.cuda.runtime.deviceSynchronize()
    chunks.multiply(x, y)
    difference = float(abs(y - whole).max() / abs(whole).max())
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        chunks.multiply(x, y)
        seconds.append(time.perf_counter() - start)
    median = sorted(seconds)[repeats // 2]
    print("name,bytes,ms,GB/s,difference")
    print(f"CuPy {cupy.__version__} double CSR two streams,{chunks.bytes},{1e3 * median:.4f},{1e-9 * chunks.bytes / median:.2f},{difference:.2g}")
    if not difference < 1e-12:
        sys.exit("the product with chunks differs from that with the whole matrix")


main()
