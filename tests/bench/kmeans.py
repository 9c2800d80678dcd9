#!/usr/bin/env python3
"""Milliseconds of processor time of an iteration of Lloyd: `kmeans` and scikit-learn, one core each, from the same start.

    tests/bench/kmeans.py [--kmeans build/bin/kmeans] [--assign auto,brute,...] [--repeats 3] [--out kmeans.csv] [name ...]

Names: color20, color100, letter26, fashion10, kddcup100, or any of color, letter, fashion and kddcup with another number of clusters. The data are
those of ../shared/data. The columns of kddcup are scaled to a standard deviation of 1.

The start is k distinct points, drawn by numpy with seed 1, plus noise of 1e-3 standard deviations. Without noise distances tie in such data, and
rounding errors of scikit-learn decide. The programs run in turns. The time of an iteration is the difference of two runs, of 2 and of up to 102
iterations (Fashion-MNIST 22, kddcup 10), divided by the difference of their numbers of iterations. So loading, the start and the last assignment cancel.
Of all repeats the run with the least time counts. scikit-learn gets the points in single and in double precision; the faster one counts.
`inertia_difference` is relative, after the longer run.
"""
import argparse
import csv
import gzip
import json
import lzma
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

for threads in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS'):
    os.environ[threads] = '1'
import numpy as np
from sklearn.cluster import KMeans

DATA = os.path.join(os.path.dirname(__file__), '../../../shared/data')
FIELDS = ['data', 'points', 'features', 'clusters', 'assign', 'ours_ms', 'sklearn_single_ms', 'sklearn_double_ms', 'sklearn_over_ours', 'inertia_difference', 'distances', 'repeats']


def color():
    text = lzma.open(f'{DATA}/kmeans/color17695.bin.xz').read()
    return np.frombuffer(text, '<f4', offset=8).reshape(np.frombuffer(text, '<i4', 2))


def letter():
    X = []
    for line in lzma.open(f'{DATA}/svm/letterrecognition.libsvm.xz', 'rt'):
        x = np.zeros(16, 'f4')
        for entry in line.split()[1:]:
            j, value = entry.split(':')
            x[int(j) - 1] = float(value)
        X.append(x)
    return np.array(X)


def fashion():
    return np.frombuffer(gzip.open(f'{DATA}/kmeans/t10k-images-idx3-ubyte.gz').read(), 'u1', offset=16).reshape(-1, 784).astype('f4')


def kddcup():
    rows = [line.rstrip('.\n').split(',') for line in gzip.open(f'{DATA}/kmeans/kddcup.data_10_percent.gz', 'rt')]
    X = np.array([[float(v) for j, v in enumerate(row[:41]) if j not in (1, 2, 3)] for row in rows])
    return (X / np.maximum(X.std(0), 1e-30)).astype('f4')


def processor():
    """Processor seconds of all commands so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def ours(program, points, start, k, iterations, assign, options=()):
    """Processor seconds of a run and its report."""
    with tempfile.NamedTemporaryFile() as report:
        before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        command = [program, *options, '-f', points, '-start_file', start, '-kmeans_clusters', str(k), '-kmeans_max_it', str(iterations), '-kmeans_empty', 'keep', '-kmeans_assign', assign, '-report', report.name]
        done = subprocess.run(command + ['-gpucsr_device', 'host'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode not in (0, 3):
            sys.exit(done.stdout)
        return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before, json.load(open(report.name))


def theirs(X, M, iterations):
    before = time.process_time()
    model = KMeans(len(M), init=M, n_init=1, tol=0, max_iter=iterations, algorithm='lloyd').fit(X)
    return time.process_time() - before, {'iterations': model.n_iter_, 'inertia': float(model.inertia_)}


def milliseconds(few, many):
    """Of an iteration, from runs (seconds, report) of few and of many iterations."""
    a, b = min(few, key=lambda run: run[0]), min(many, key=lambda run: run[0])
    return 1e3 * (b[0] - a[0]) / (b[1]['iterations'] - a[1]['iterations'])


def compare(arguments, name, folder, out):
    data, k = re.fullmatch('([a-z]+)([0-9]+)', name).groups()
    X, k = globals()[data](), int(k)
    few, many = {'kddcup': (2, 10), 'fashion': (2, 22)}.get(data, (2, 102))
    rng, distinct = np.random.default_rng(1), np.unique(X, axis=0)
    M = distinct[rng.choice(len(distinct), k, replace=False)]
    M = (M + 1e-3 * X.std(0) * rng.normal(size=M.shape)).astype('f4')
    points, start = f'{folder}/points.bin', f'{folder}/start.csv'
    with open(points, 'wb') as file:
        file.write(np.array(X.shape, '<i4').tobytes() + X.astype('<f4').tobytes())
    np.savetxt(start, M, delimiter=',', fmt='%.9g')
    runs = {}
    for _ in range(arguments.repeats):
        for iterations in (few, many):
            for assign in arguments.assign.split(','):
                runs.setdefault((assign, iterations), []).append(ours(arguments.kmeans, points, start, k, iterations, assign))
            for kind in ('f4', 'f8') if not arguments.alone else ():
                runs.setdefault((kind, iterations), []).append(theirs(X.astype(kind), M.astype(kind), iterations))
    single, double = (milliseconds(runs[kind, few], runs[kind, many]) if not arguments.alone else np.nan for kind in ('f4', 'f8'))
    for assign in arguments.assign.split(','):
        mine, report = milliseconds(runs[assign, few], runs[assign, many]), runs[assign, many][0][1]
        difference = report['inertia'] / runs['f8', many][0][1]['inertia'] - 1 if not arguments.alone else np.nan
        line = dict(zip(FIELDS, [data, *X.shape, k, assign, f'{mine:.3f}', f'{single:.3f}', f'{double:.3f}', f'{min(single, double) / mine:.2f}', f'{difference:.1e}', report['distances'], arguments.repeats]))
        out.writerow(line)
        print(' '.join(f'{key}={value}' for key, value in line.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kmeans', default='build/bin/kmeans')
    parser.add_argument('--assign', default='auto')
    parser.add_argument('--repeats', type=int, default=3)
    parser.add_argument('--out', default='kmeans.csv')
    parser.add_argument('--alone', action='store_true', help='without scikit-learn')
    parser.add_argument('names', nargs='*', default=['color20', 'color100', 'letter26', 'fashion10', 'kddcup100'])
    arguments = parser.parse_args()
    with open(arguments.out, 'w', newline='') as file, tempfile.TemporaryDirectory() as folder:
        out = csv.DictWriter(file, FIELDS, lineterminator='\n')
        out.writeheader()
        for name in arguments.names:
            compare(arguments, name, folder, out)


if __name__ == '__main__':
    main()
