#!/usr/bin/env python3
"""Milliseconds of processor time of an iteration of Lloyd on sparse points: `kmeans` and scikit-learn, one core each, from the same start.

    tests/bench/kmeans_sparse.py [--kmeans build/bin/kmeans] [--assign auto,brute,...] [--update auto,fixed,...] [--repeats 3] [--out kmeans_sparse.csv] [name ...]
    tests/bench/kmeans_sparse.py --device cuda [--bench build/bin/bench_kmeans] [--many 42] [--threads 16] ... [name ...]

Names: debian20, debian128, news20, news128, or debian and news with another number of clusters. The data are those of ../shared/data. The method is
that of kmeans.py: the start is k points drawn by numpy with seed 1, and an iteration is the difference of a run of `many` and one of 2 iterations, divided by
the difference of their numbers. `many` is 32 for fewer than 100 clusters, else 12. `debian` is debian-desc. `kmeans` reads PETSc's binary format.

With --device cuda, bench_kmeans solves many times in one process, because loading kernels in a new process takes longer than the iterations whose difference is wanted. After a
first solve, it repeats pairs of solves of 2 and of --many iterations. Each pair gives the milliseconds of an iteration, its assignment (between events of the device) and its update.
The table has the medians over the pairs, and the least and the largest time of an iteration. 25 pairs of 2 and 42 iterations contain 1000 iterations that count. --many
must be below the number of iterations to convergence, which is 47 for debian128.

`product_ms` is the product of the points with as many vectors as there are clusters, by MatGPUCSRMultMany() in the same process (median of 20). Its vectors are in double precision.
`torch_product_ms` and `cupy_product_ms` are the product with a matrix in single precision, by PyTorch and CuPy, which call cuSPARSE (median of 20). `sklearn_ms` is the time of an
iteration of scikit-learn in single precision on --threads cores.

Names may be generated128 then: 800,000 points with 47,236 features and 55 million nonzeros. The numbers of nonzeros of the points have a Poisson distribution with mean
71.5. Feature j of a nonzero is the integral part of 47,236 u^3 for uniform u; features that repeat in a point are dropped. The values are uniform.
Programs that cannot be imported are left out.
"""
import argparse
import csv
import re
import statistics
import subprocess
import sys
import tempfile
import time

from kmeans import DATA, milliseconds, ours, theirs  # sets one thread; must come before numpy
import bz2
import lzma
import numpy as np
from sklearn.datasets import load_svmlight_file

FILES = {'debian': (lzma.open, f'{DATA}/svm/debian-desc.libsvm.xz'), 'news': (bz2.open, f'{DATA}/svm/news20.bz2')}
FIELDS = ['data', 'points', 'features', 'nonzeros', 'clusters', 'assign', 'update', 'ours_ms', 'sklearn_single_ms', 'sklearn_double_ms', 'sklearn_over_ours', 'inertia_difference', 'distances', 'repeats']
FEW = 2


def write_petsc(X, path):
    """With 32-bit indices."""
    with open(path, 'wb') as file:
        for part in ([1211216, *X.shape, X.nnz], np.diff(X.indptr), X.indices):
            file.write(np.array(part, '>i4').tobytes())
        file.write(X.data.astype('>f8').tobytes())


def compare(arguments, name, folder, out):
    data, k = re.fullmatch('([a-z]+)([0-9]+)', name).groups()
    opener, path = FILES[data]
    X, k = load_svmlight_file(opener(path))[0], int(k)
    many = 32 if k < 100 else 12
    points = f'{folder}/points.petsc'
    write_petsc(X, points)
    M = X[np.random.default_rng(1).choice(X.shape[0], k, replace=False)].toarray()
    start = f'{folder}/start.csv'
    np.savetxt(start, M, delimiter=',', fmt='%.17g')
    runs = {}
    variants = [(assign, update) for assign in arguments.assign.split(',') for update in arguments.update.split(',')]
    for _ in range(arguments.repeats):
        for iterations in (FEW, many):
            for assign, update in variants:
                runs.setdefault((assign, update, iterations), []).append(ours(arguments.kmeans, points, start, k, iterations, assign, ['-kmeans_update', update]))
            for kind in ('f4', 'f8') if not arguments.alone else ():
                runs.setdefault((kind, iterations), []).append(theirs(X.astype(kind), M.astype(kind), iterations))
    single, double = (milliseconds(runs[kind, FEW], runs[kind, many]) if not arguments.alone else np.nan for kind in ('f4', 'f8'))
    for assign, update in variants:
        mine, report = milliseconds(runs[assign, update, FEW], runs[assign, update, many]), runs[assign, update, many][0][1]
        difference = report['inertia'] / runs['f8', many][0][1]['inertia'] - 1 if not arguments.alone else np.nan
        line = dict(zip(FIELDS, [data, *X.shape, X.nnz, k, assign, update, f'{mine:.1f}', f'{single:.1f}', f'{double:.1f}', f'{min(single, double) / mine:.1f}', f'{difference:.1e}', report['distances'], arguments.repeats]))
        out.writerow(line)
        print(' '.join(f'{key}={value}' for key, value in line.items()), flush=True)


def generated(n=800000, d=47236):
    import scipy.sparse

    rng = np.random.default_rng(2)
    counts = np.minimum(rng.poisson(71.5, n), d)
    keys = np.repeat(np.arange(n, dtype=np.int64) * d, counts) + (d * rng.random(counts.sum()) ** 3).astype(np.int64)
    keys.sort()
    keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))]
    starts = np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) * d)
    return scipy.sparse.csr_matrix((rng.random(len(keys), dtype='f4'), (keys % d).astype('i4'), starts.astype('i4')), (n, d))


def product_of_torch(X, M):
    import torch

    A = torch.sparse_csr_tensor(torch.as_tensor(X.indptr), torch.as_tensor(X.indices), torch.as_tensor(X.data), X.shape, device='cuda')
    B = torch.as_tensor(M, device='cuda').T.contiguous()
    return (lambda: A @ B), torch.cuda.synchronize


def product_of_cupy(X, M):
    import cupy
    import cupyx.scipy.sparse

    A, B = cupyx.scipy.sparse.csr_matrix(X), cupy.asfortranarray(cupy.asarray(M).T)
    return (lambda: A @ B), cupy.cuda.runtime.deviceSynchronize


def product_milliseconds(make, X, M):
    """NaN without the module, or if it fails."""
    try:
        multiply, wait = make(X.astype('f4'), M.astype('f4'))
        times = []
        for _ in range(23):
            wait()
            begin = time.perf_counter()
            multiply()
            wait()
            times.append(1e3 * (time.perf_counter() - begin))
        return statistics.median(times[3:])
    except Exception as error:
        print(f'{make.__name__}: {type(error).__name__}: {error}', flush=True)
        return np.nan


def bench(arguments, points, start, X, k, many):
    """The rows of bench_kmeans, which repeats solves in one process, as dictionaries."""
    command = [arguments.bench, '-gpucsr_device', arguments.device, '-matrix', points, '-start', start, '-cells', f'{X.shape[0]},{X.shape[1]},{k}']
    command += ['-assign', arguments.assign, '-update', arguments.update, '-few', str(FEW), '-many', str(many), '-repeats', str(arguments.repeats)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith('#')]
    if done.returncode or len(lines) < 2:
        sys.exit(f'{" ".join(command)} ended with code {done.returncode}: {done.stdout}')
    return csv.DictReader(lines)


def sklearn_seconds(X, M, iterations, threads):
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads):
        begin = time.perf_counter()
        model = KMeans(len(M), init=M, n_init=1, tol=0, max_iter=iterations, algorithm='lloyd').fit(X)
        return time.perf_counter() - begin, {'iterations': model.n_iter_, 'inertia': float(model.inertia_)}


def compare_on_gpu(arguments, name, folder, out):
    data, k = re.fullmatch('([a-z]+)([0-9]+)', name).groups()
    k = int(k)
    X = generated() if data == 'generated' else load_svmlight_file(FILES[data][0](FILES[data][1].replace(DATA, arguments.data)))[0]
    X.sort_indices()
    M = X[np.random.default_rng(1).choice(X.shape[0], k, replace=False)]
    points, start = f'{folder}/points.petsc', f'{folder}/start.petsc'
    write_petsc(X, points)
    write_petsc(M, start)
    M, runs = M.toarray(), {}
    row = dict(data=data, points=X.shape[0], features=X.shape[1], nonzeros=X.nnz, clusters=k)
    row['torch_product_ms'], row['cupy_product_ms'] = (f'{product_milliseconds(make, X, M):.3f}' for make in (product_of_torch, product_of_cupy))
    if not arguments.alone:
        few, more = (min((sklearn_seconds(X.astype('f4'), M.astype('f4'), iterations, arguments.threads) for _ in range(3)), key=lambda run: run[0]) for iterations in (FEW, 12))
        row.update(threads=arguments.threads, sklearn_ms=f'{1e3 * (more[0] - few[0]) / (more[1]["iterations"] - few[1]["iterations"]):.1f}')
    for run in bench(arguments, points, start, X, k, arguments.many):
        milliseconds = lambda field: 1e3 * float(run[field])
        line = dict(row, assign=run['assign_used'], update=run['update_used'], product_ms=f'{milliseconds("product_s"):.4f}', assign_ms=f'{milliseconds("assign_s"):.4f}', update_ms=f'{milliseconds("update_s"):.4f}', iteration_ms=f'{milliseconds("iteration_s"):.4f}')
        line.update(least_ms=f'{milliseconds("least_s"):.4f}', most_ms=f'{milliseconds("most_s"):.4f}', rechecked=f'{int(run["rechecked"]) / int(run["distances"]):.1e}', inertia=run['inertia'], iterations=int(float(run['iterations'])), repeats=arguments.repeats, device=arguments.device)
        out.append(line)
        print(' '.join(f'{key}={value}' for key, value in line.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kmeans', default='build/bin/kmeans')
    parser.add_argument('--assign', default='auto')
    parser.add_argument('--update', default='auto')
    parser.add_argument('--bench', default='build/bin/bench_kmeans', help='the program, with --device cuda')
    parser.add_argument('--many', type=int, default=42, help='iterations of the longer solve, with --device cuda')
    parser.add_argument('--repeats', type=int, help='default 3, with --device cuda 25')
    parser.add_argument('--out', default='kmeans_sparse.csv')
    parser.add_argument('--alone', action='store_true', help='without scikit-learn')
    parser.add_argument('--device', default='host', help='cuda: times on the GPU; gpu-host: the same measurements of the host backend')
    parser.add_argument('--data', default=DATA, help='folder that has the folder svm, with --device cuda')
    parser.add_argument('--threads', type=int, default=16, help='of scikit-learn, with --device cuda')
    parser.add_argument('names', nargs='*')
    arguments = parser.parse_args()
    arguments.repeats = arguments.repeats or (3 if arguments.device == 'host' else 25)
    if arguments.device != 'host':
        arguments.device, lines = arguments.device.removeprefix('gpu-'), []
        with tempfile.TemporaryDirectory() as folder:
            for name in arguments.names or ['debian128', 'generated128']:
                compare_on_gpu(arguments, name, folder, lines)
        with open(arguments.out, 'w', newline='') as file:
            out = csv.DictWriter(file, lines[0], lineterminator='\n')
            out.writeheader()
            out.writerows(lines)
        return
    with open(arguments.out, 'w', newline='') as file, tempfile.TemporaryDirectory() as folder:
        out = csv.DictWriter(file, FIELDS, lineterminator='\n')
        out.writeheader()
        for name in arguments.names or ['debian20', 'debian128', 'news20', 'news128']:
            compare(arguments, name, folder, out)


if __name__ == '__main__':
    main()
