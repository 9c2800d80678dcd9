#!/usr/bin/env python3
"""k-means on a GPU: the iteration beside other programs, a grid of sizes, the updates, the host, and lower bounds. Writes one CSV file for each part.

    tests/bench/kmeans_gpu.py [--parts rivals,grid,updates,host,kddcup] [--out folder] [--bench 'build/bin/bench_kmeans'] [--quick]

rivals   milliseconds of an iteration on uniform points: kmeans, flash-kmeans, PyTorch in single precision, CuPy, scikit-learn on the processor, all from the same first
         centroids. `wrong`: labels of the first 200,000 points, after one assignment, that differ from those by the definition in double precision.
         Of kmeans and scikit-learn the labels are those of the last centroids.
grid     50 iterations on uniform points of 1 to 32 million values, as in Dhanasekaran and Rubin (2011). `ratio`: upload and solve, with the download of the
         labels, over the floor of 50 iterations and of the copies. `iterate_ratio`: without copies. `setup_ms`: all work before the solve, which
         includes the upload. `setup_ratio`: set-up and solve, over the same floor. `copies_ratio`: upload, iterations and download, without the last assignment and the
         creation of the index set of the labels.
updates  `rank`, `fixed` and `host` on a part of that grid.
host     one core of this machine beside the GPU.
kddcup   every assignment on the points of --kddcup, whose columns are scaled to a standard deviation of 1: distances computed and time, from the same start.

The floor of an iteration is max(n k (d + 2) instructions / --instructions, 4 n (d + 1) bytes / --bandwidth) + 6 microseconds. Copies have the rate --copies.
Programs that cannot be imported are left out with a line. --device host runs everything on the host backend, for tests of this script.
"""
import argparse
import csv
import gzip
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

BEGUN = time.perf_counter()
RIVALS = [(1000000, 4, 400), (1000000, 4, 10), (4000000, 2, 100), (4000000, 8, 200), (8000000, 8, 400), (8000000, 128, 1024)]
MINEBENCH = {(1000000, 4, 400): 35.84, (1000000, 6, 400): 43.92, (4000000, 2, 100): 26.96, (1000000, 8, 400): 51.86, (4000000, 8, 200): 102.83}  # seconds by Dhanasekaran and Rubin
CHECKED = 200000
ASSIGNS = 'auto,brute,direct,tiled,tensor,hamerly,yinyang,elkan'


def say(*words):
    print(f'[{time.perf_counter() - BEGUN:6.1f} s]', *words, flush=True)


def load(name):
    """A module, or None with a line that says why."""
    try:
        return __import__(name)
    except Exception as error:
        say(f'{name} is left out: {type(error).__name__}: {error}')
        return None


class Table:
    """A CSV file that is written row by row."""

    def __init__(self, path):
        self.file, self.writer = open(path, 'w', newline=''), None

    def add(self, **row):
        if not self.writer:
            self.writer = csv.DictWriter(self.file, list(row), lineterminator='\n')
            self.writer.writeheader()
        self.writer.writerow(row)
        self.file.flush()
        say(' '.join(f'{key}={value}' for key, value in row.items()))


def floor(a, n, d, k):
    """Seconds of an iteration."""
    return max(n * k * (d + 2) / a.instructions, 4 * n * (d + 1) / a.bandwidth) + 6e-6


def ours(a, cells, *options, device=None, check=True):
    """The rows of bench_kmeans, as they are printed. cells: tuples n, d, k."""
    command = shlex.split(a.bench) + ['-gpucsr_device', device or a.device, '-cells', ','.join(str(v) for cell in cells for v in cell), *options]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=None, text=True)
    names, refused = None, []
    for line in run.stdout:
        line = line.rstrip('\n')
        if line.startswith('points,'):
            names = line.split(',')
        elif names and not line.startswith('#'):
            row = dict(zip(names, line.split(',')))
            for name in names:
                try:
                    row[name] = float(row[name])
                except ValueError:
                    pass
            yield row
        elif line.split(',')[3:] not in refused:  # the first cell that a variant refuses
            refused.append(line.split(',')[3:])
            say(line)
    if run.wait() and check:
        sys.exit(f'{command[0]} ended with code {run.returncode}')


# --- uniform points: the numbers of bench_kmeans and of kmeans -generate -----------------------------------------------------------
def generate(n, d, torch=None):
    """float32 [n, d]: a numpy array, or a tensor on the GPU if there is one."""

    def hash64(x, right):
        x = x + signed(0x9E3779B97F4A7C15)
        x = (x ^ right(x, 30)) * signed(0xBF58476D1CE4E5B9)
        x = (x ^ right(x, 27)) * signed(0x94D049BB133111EB)
        return x ^ right(x, 31)

    if torch:
        signed = lambda v: v - (1 << 64) if v >> 63 else v
        right = lambda x, s: (x >> s) & ((1 << (64 - s)) - 1)
        X, step = torch.empty(n * d, dtype=torch.float32, device='cuda'), 1 << 26
        for first in range(0, n * d, step):
            x = torch.arange(first, min(first + step, n * d), dtype=torch.int64, device='cuda')
            X[first : first + len(x)] = right(hash64(x * signed(0x9E3779B97F4A7C15), right), 40).to(torch.float32) * 2.0**-24
        return X.view(n, d)
    signed = np.uint64
    right = lambda x, s: x >> np.uint64(s)
    with np.errstate(over='ignore'):
        x = np.arange(n * d, dtype=np.uint64) * signed(0x9E3779B97F4A7C15)
        return (right(hash64(x, right), 40).astype('f4') * np.float32(2.0**-24)).reshape(n, d)


def labels_by_definition(X, M, torch=None):
    """The label of each point: the least sum of squares over ascending features in double precision, the lowest number of equals."""
    found = np.empty(len(X), np.int64)
    step = max(1, (1 << 27) // len(M))
    if torch:
        X, M = torch.as_tensor(X, device='cuda').double(), torch.as_tensor(M, device='cuda').double()
        for i in range(0, len(X), step):
            D = torch.zeros(len(X[i : i + step]), len(M), dtype=torch.float64, device='cuda')
            for j in range(X.shape[1]):  # kernels of their own: differences, squares and sums round one by one
                E = X[i : i + step, j, None] - M[None, :, j]
                D += E.mul_(E)
            numbers = torch.arange(len(M), device='cuda').expand_as(D)
            found[i : i + step] = torch.where(D == D.min(1, keepdim=True).values, numbers, len(M)).min(1).values.cpu().numpy()
        return found
    X, M, step = np.asarray(X, float), np.asarray(M, float), max(1, step // 16)
    for i in range(0, len(X), step):
        D = np.zeros((len(X[i : i + step]), len(M)))
        for j in range(X.shape[1]):
            D += (X[i : i + step, j, None] - M[None, :, j]) ** 2
        found[i : i + step] = D.argmin(1)
    return found


# --- other programs: each returns a function of a number of iterations that gives labels (of the last assignment) and centroids -------------------
def lloyd_torch(torch, X, M):
    torch.backends.cuda.matmul.allow_tf32 = False
    step = max(1, (1 << 28) // len(M))

    def run(iterations):
        C = M.clone()
        L = torch.empty(len(X), dtype=torch.int64, device=X.device)
        for _ in range(iterations):
            square = (C * C).sum(1)
            for i in range(0, len(X), step):
                L[i : i + step] = torch.addmm(square, X[i : i + step], C.T, alpha=-2).argmin(1)
            sums = torch.zeros_like(C).index_add_(0, L, X)
            C = sums / torch.bincount(L, minlength=len(C)).clamp(min=1)[:, None]
        return L, C

    return run


def lloyd_cupy(cupy, X, M):
    import cupyx

    add_at = getattr(cupyx, 'scatter_add', None) or cupy.add.at
    X, M = cupy.from_dlpack(X), cupy.from_dlpack(M)
    step = max(1, (1 << 28) // len(M))

    def run(iterations):
        C = M.copy()
        L = cupy.empty(len(X), cupy.int64)
        for _ in range(iterations):
            square = (C * C).sum(1)
            for i in range(0, len(X), step):
                S = X[i : i + step] @ C.T
                S *= -2
                S += square
                L[i : i + step] = S.argmin(1)
            sums = cupy.zeros_like(C)
            add_at(sums, L, X)
            C = sums / cupy.maximum(cupy.bincount(L, minlength=len(C)), 1)[:, None].astype(cupy.float32)
        return L, C

    return run


def lloyd_flash(flash, X, M):
    def run(iterations):
        L, C, _ = flash.batch_kmeans_Euclid(X[None], len(M), max_iters=iterations, tol=0.0, init_centroids=M.clone()[None])
        return L[0], C[0]

    return run


def time_rival(a, run, wait, budget=4.0):
    """First call; median and least time of an iteration from differences of two runs."""

    def seconds(iterations):
        wait()
        begin = time.perf_counter()
        result = run(iterations)
        wait()
        return time.perf_counter() - begin, result

    first, one = seconds(1)
    again, _ = seconds(1)
    many = int(min(20, max(2, budget / 4 / max(again, 1e-6))))
    each, begun = [], time.perf_counter()
    while len(each) < 3 or (len(each) < 5 and time.perf_counter() - begun < budget / 2):
        each.append((seconds(1 + many)[0] - seconds(1)[0]) / many)
        if time.perf_counter() - begun > budget:
            break
    return first, statistics.median(each), min(each), one


def run_rivals(a):
    torch = load('torch')
    torch = torch if torch and torch.cuda.is_available() else None
    cells = [(n // (100 if d < 100 else 2000), d, min(k, 200)) for n, d, k in RIVALS] if a.quick else RIVALS
    table = Table(f'{a.out}/rivals.csv')

    def add(cell, name, first, median, least, wrong):
        least_time = floor(a, *cell)
        table.add(points=cell[0], features=cell[1], clusters=cell[2], program=name, first_ms=f'{1e3 * first:.4g}', iteration_ms=f'{1e3 * median:.4g}', least_ms=f'{1e3 * least:.4g}', wrong=wrong, floor_ms=f'{1e3 * least_time:.4g}', floor_fraction=f'{least_time / median:.3f}')

    modules = {name: load(name) for name in ('cupy', 'flash_kmeans')} if torch else {}
    for n, d, k in dict.fromkeys(cells) if torch else []:
        X = generate(n, d, torch)
        M = X[:k].clone()
        right = labels_by_definition(X[:CHECKED], M, torch)
        for name, make, module in (('PyTorch, fp32', lloyd_torch, torch), ('flash-kmeans', lloyd_flash, modules['flash_kmeans']), ('CuPy', lloyd_cupy, modules['cupy'])):
            if not module:
                continue
            try:
                first, median, least, (L, _) = time_rival(a, make(module, X, M), torch.cuda.synchronize)
                L = L.get() if hasattr(L, 'get') else L.cpu().numpy()
                add((n, d, k), name, first, median, least, int((L[:CHECKED] != right).sum()))
                del L
            except Exception as error:
                say(f'{name} on {n} x {d}, {k} clusters: {type(error).__name__}: {str(error)[:200]}')
            if modules['cupy']:
                modules['cupy'].get_default_memory_pool().free_all_blocks()
            torch.cuda.empty_cache()
        del X, M
    if torch:
        torch.cuda.empty_cache()
    with tempfile.TemporaryDirectory() as folder:
        for small in (True, False):  # the set-up of the largest points takes most of the time
            part = [cell for cell in cells if (cell[0] * cell[1] < 10**8) == small]
            if not part:
                continue
            rows = ours(a, part, '-write', f'{folder}/{small}', '-few', '2', '-many', '102' if small else '12', '-repeats', '5' if small else '2')
            for number, row in enumerate(rows):
                n, d, k = (int(row[name]) for name in ('points', 'features', 'clusters'))
                C = np.fromfile(f'{folder}/{small}{number}.centroids').reshape(-1, d)
                L = np.fromfile(f'{folder}/{small}{number}.labels', np.int32)
                X = generate(min(n, CHECKED), d, torch)
                right = labels_by_definition(X, C, torch)
                add((n, d, k), f'kmeans, {row["assign_used"]}, {row["update_used"]}', row['first_solve_s'], row['iteration_s'], row['least_s'], int((L != right).sum()))
    run_sklearn(a, cells[:3], add)


def run_sklearn(a, cells, add):
    if not load('sklearn'):
        return
    from sklearn.cluster import KMeans

    for n, d, k in cells:
        X = generate(n, d)

        def run(iterations):
            model = KMeans(k, init=X[:k], n_init=1, max_iter=iterations, tol=0, algorithm='lloyd').fit(X)
            return model.labels_, model.cluster_centers_

        first, median, least, (L, C) = time_rival(a, run, lambda: None, 2.0)
        add((n, d, k), f'scikit-learn, {os.cpu_count()} cores', first, median, least, int((L[:CHECKED] != labels_by_definition(X[:CHECKED], C)).sum()))


# --- the grid of Dhanasekaran and Rubin ----------------------------------------------------------------------------------------------
def grid_cells(a, values, clusters, features=(2, 4, 6, 8)):
    million = 10**4 if a.quick else 10**6
    return [(v * million // d, d, k) for v in values for d in features for k in clusters]


def run_grid(a):
    table, worst = Table(f'{a.out}/grid.csv'), (0, None)
    cells = grid_cells(a, (1, 2, 4, 8, 16, 32), (10, 100, 200, 400)) + ([] if a.quick else [cell for cell in MINEBENCH if cell not in grid_cells(a, (1, 2, 4, 8, 16, 32), (10, 100, 200, 400))])
    times = {}
    for row in ours(a, cells, '-assign', a.assign, '-update', a.update, '-few', '2', '-many', '50', '-repeats', '1' if a.quick else '3'):
        n, d, k = (int(row[name]) for name in ('points', 'features', 'clusters'))
        copied = (4 * n * d + 4 * n) / a.copies
        iterate = row['iterations'] * row['iteration_s']
        total = row['upload_s'] + row['solve_s']
        least = 50 * floor(a, n, d, k)
        ratio = total / (least + copied)
        table.add(points=n, features=d, clusters=k, assign=row['assign_used'], update=row['update_used'], iterations=int(row['iterations']), setup_ms=f'{1e3 * row["setup_s"]:.4g}', upload_ms=f'{1e3 * row["upload_s"]:.4g}', download_ms=f'{1e3 * row["download_s"]:.4g}', iterate_ms=f'{1e3 * iterate:.4g}',
                  solve_ms=f'{1e3 * row["solve_s"]:.4g}', floor_ms=f'{1e3 * least:.4g}', copies_ms=f'{1e3 * copied:.4g}', ratio=f'{ratio:.3f}', copies_ratio=f'{(iterate + row["upload_s"] + row["download_s"]) / (least + copied):.3f}', setup_ratio=f'{(row["setup_s"] + row["solve_s"]) / (least + copied):.3f}', iterate_ratio=f'{iterate / least:.3f}', above_two=int(ratio > 2), minebench_s=MINEBENCH.get((n, d, k), ''), speedup=f'{MINEBENCH[n, d, k] / total:.0f}' if (n, d, k) in MINEBENCH else '')
        worst = max(worst, (ratio, (n, d, k)))
        times[n * d, d, k] = max(iterate, 1e-9)
    say(f'largest ratio {worst[0]:.3f} at {worst[1]}')
    for d in (2, 4, 6, 8):
        for k in (10, 100, 200, 400):
            line = sorted((v, t) for (v, dd, kk), t in times.items() if (dd, kk) == (d, k))
            if len(line) > 2:
                slope = np.polyfit(np.log([v for v, _ in line]), np.log([t for _, t in line]), 1)[0]
                say(f'd {d}, k {k}: time grows as (n d)^{slope:.2f}; from {line[-2][0]} to {line[-1][0]} values by a factor of {line[-1][1] / line[-2][1]:.2f}')


def run_updates(a):
    table = Table(f'{a.out}/updates.csv')
    seconds = {}
    cells = grid_cells(a, (1, 4, 16), (10, 100, 400))
    for row in ours(a, cells, '-assign', a.assign, '-update', a.updates, '-few', '1', '-many', '6', '-repeats', '1' if a.quick else '3'):
        n, d, k = (int(row[name]) for name in ('points', 'features', 'clusters'))
        seconds[n, d, k, row['update']] = row
        table.add(points=n, features=d, clusters=k, assign=row['assign_used'], update=row['update'], iteration_ms=f'{1e3 * row["iteration_s"]:.4g}', assign_ms=f'{1e3 * row["assign_s"]:.4g}', update_ms=f'{1e3 * row["update_s"]:.4g}')
    for k in (10, 100, 400):
        for name, of, by, what in (('host over rank', 'host', 'rank', 'iteration_s'), ('rank over fixed', 'rank', 'fixed', 'update_s'), ('host over fixed', 'host', 'fixed', 'iteration_s')):
            ratios = [seconds[n, d, kk, of][what] / max(seconds[n, d, kk, by][what], 1e-9) for n, d, kk in cells if kk == k and (n, d, k, of) in seconds and (n, d, k, by) in seconds]
            if ratios:
                say(f'k {k}, {name} ({what[:-2]}): min {min(ratios):.2f}, mean {statistics.mean(ratios):.2f}, max {max(ratios):.2f}')


def run_host(a):
    table = Table(f'{a.out}/host.csv')
    cells = [(n // 100, d, min(k, n // 100)) for n, d, k in list(MINEBENCH)[:4]] if a.quick else list(MINEBENCH)[:4]
    gpu = {}
    for row in ours(a, cells, '-few', '2', '-many', '102', '-repeats', '3'):
        gpu[row['points'], row['features'], row['clusters']] = row['iteration_s']
    for row in ours(a, cells, '-few', '1', '-many', '3', '-repeats', '1', device='host'):
        here = gpu[row['points'], row['features'], row['clusters']]
        table.add(points=int(row['points']), features=int(row['features']), clusters=int(row['clusters']), host_assign=row['assign_used'], host_ms=f'{1e3 * row["iteration_s"]:.4g}', gpu_ms=f'{1e3 * here:.4g}', speedup=f'{row["iteration_s"] / here:.1f}')


def run_kddcup(a):
    if not os.path.exists(a.kddcup):
        return say(f'kddcup is left out: {a.kddcup} is missing')
    table = Table(f'{a.out}/kddcup.csv')
    say('reading', a.kddcup)
    columns = [j for j in range(41) if j not in (1, 2, 3)]
    with gzip.open(a.kddcup, 'rt') as file:
        X = np.loadtxt(file, delimiter=',', usecols=columns, max_rows=5000 if a.quick else None)
    X = (X / np.maximum(X.std(0), 1e-30)).astype('<f4')
    k = 20 if a.quick else 100
    say('read', X.shape)
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/points', 'wb') as file:
            file.write(np.array(X.shape, '<i4').tobytes() + X.tobytes())
        rows = list(ours(a, [(*X.shape, k)], '-file', f'{folder}/points', '-kmeans_start', 'kmeans++', '-kmeans_empty', 'farthest', '-assign', ASSIGNS, '-few', '1', '-many', '20' if a.quick else '100', '-repeats', '1', check=False))
    best = min((row['assign_s'] + row['update_s'] for row in rows), default=0)
    for row in rows:
        each, iterations = row['assign_s'] + row['update_s'], row['iterations']
        table.add(points=len(X), features=X.shape[1], clusters=k, assign=row['assign'], used=row['assign_used'], iterations=int(iterations), iteration_ms=f'{1e3 * each:.4g}', over_best=f'{each / best:.3f}', solve_ms=f'{1e3 * row["solve_s"]:.4g}', distances=int(row['distances']), distances_fraction=f'{row["distances"] / (len(X) * k * iterations):.4f}', inertia=row['inertia'])


def main():
    parts = {'rivals': run_rivals, 'grid': run_grid, 'updates': run_updates, 'host': run_host, 'kddcup': run_kddcup}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--parts', default=','.join(parts))
    parser.add_argument('--out', default='.')
    parser.add_argument('--bench', default='build/bin/bench_kmeans', help='the program, also with words before it')
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--assign', default='auto', help='the assignment in grid and updates')
    parser.add_argument('--update', default='auto', help='the update in grid')
    parser.add_argument('--updates', default='fixed,rank,rankstable,host', help='the updates of that part')
    parser.add_argument('--kddcup', default=os.path.join(os.path.dirname(__file__), '../../../shared/data/kmeans/kddcup.data_10_percent.gz'))
    parser.add_argument('--instructions', type=float, default=33.5e12)
    parser.add_argument('--bandwidth', type=float, default=4.29e12)
    parser.add_argument('--copies', type=float, default=55.5e9)
    parser.add_argument('--quick', action='store_true', help='a hundredth of the points, for tests')
    a = parser.parse_args()
    os.makedirs(a.out, exist_ok=True)
    for name in a.parts.split(','):
        say('==', name)
        parts[name](a)
    say('done')


if __name__ == '__main__':
    main()
