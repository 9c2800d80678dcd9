#!/usr/bin/env python3
"""Milliseconds of processor time of an iteration of Lloyd on sparse points: `kmeans` and scikit-learn, one core each, from the same start.

    tests/bench/kmeans_sparse.py [--kmeans build/bin/kmeans] [--assign auto,brute,...] [--update auto,fixed,...] [--repeats 3] [--out kmeans_sparse.csv] [name ...]

Names: debian20, debian128, news20, news128, or debian and news with another number of clusters. The data are those of ../shared/data. The method is
that of kmeans.py: the start is k points drawn by numpy with seed 1, and an iteration is the difference of a run of `many` and one of 2 iterations, divided by
the difference of their numbers. `many` is 32 for fewer than 100 clusters, else 12. `debian` is debian-desc. `kmeans` reads PETSc's binary format.
"""
import argparse
import csv
import re
import tempfile

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kmeans', default='build/bin/kmeans')
    parser.add_argument('--assign', default='auto')
    parser.add_argument('--update', default='auto')
    parser.add_argument('--repeats', type=int, default=3)
    parser.add_argument('--out', default='kmeans_sparse.csv')
    parser.add_argument('--alone', action='store_true', help='without scikit-learn')
    parser.add_argument('names', nargs='*', default=['debian20', 'debian128', 'news20', 'news128'])
    arguments = parser.parse_args()
    with open(arguments.out, 'w', newline='') as file, tempfile.TemporaryDirectory() as folder:
        out = csv.DictWriter(file, FIELDS, lineterminator='\n')
        out.writeheader()
        for name in arguments.names:
            compare(arguments, name, folder, out)


if __name__ == '__main__':
    main()
