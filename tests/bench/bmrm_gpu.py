#!/usr/bin/env python3
"""Time the trainer on a GPU beside one core of the host, PETSc's TAOBMRM and scikit-learn, all to the same objective.

    tests/bench/bmrm_gpu.py --bin build/bin --out bmrm_gpu.csv a9a w8a reuters:781265,47236,91 kdd99.petsc:4898431,127,22
    tests/bench/bmrm_gpu.py --figure bmrm_gpu.csv docs/bmrm-gpu.svg

Data are LIBSVM files, or name:rows,columns,each for what textgen generates, as binary data if the name ends with .petsc.  The objective is that of bench_bmrm on the GPU at a certified gap of
1e-4, lambda 1e-5, hinge loss, no bias; `resident` is the least of its solutions from nothing once the data are there, `first` the one with upload and
the loading of kernels.  Everybody else runs on one core each, at the same time; of a peer's settings, from coarse to fine, the first that is as good
counts, or the best one.  Whole runs are those of bin/bmrm with reading: from the text, and from its -save_binary.  Seconds are wall seconds.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

LAMBDA = 1e-5
FIELDS = ['data', 'rows', 'cols', 'nnz', 'program', 'setting', 'passes', 'objective', 'reached', 'solve_s', 'whole_s']
PEERS = [('LinearSVC', setting) for setting in ('1e-1', '3e-2', '1e-2', '3e-3')] + [('SGDClassifier', setting) for setting in ('3', '10', '30')]


def read(file):
    """The matrix and the labels of a file of bin/bmrm -save_binary."""
    import numpy
    from scipy.sparse import csr_matrix
    with open(file, 'rb') as stream:
        _, m, n, nnz = numpy.fromfile(stream, '>i4', 4).tolist()
        starts = numpy.zeros(m + 1, 'i4')
        starts[1:] = numpy.cumsum(numpy.fromfile(stream, '>i4', m))
        columns = numpy.fromfile(stream, '>i4', nnz).astype('i4')
        values = numpy.fromfile(stream, '>f8', nnz).astype('f8')
        numpy.fromfile(stream, '>i4', 2)
        labels = numpy.fromfile(stream, '>f8', m)
    return csr_matrix((values, columns, starts), shape=(m, n)), numpy.where(labels > labels.mean(), 1.0, -1.0)


def peer(file, method, setting):
    """One training of scikit-learn's: prints the seconds of the fit and the objective."""
    import warnings
    import numpy
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import LinearSVC
    warnings.simplefilter('ignore')
    X, y = read(file)
    if method == 'LinearSVC':
        model = LinearSVC(loss='hinge', C=1 / (LAMBDA * X.shape[0]), fit_intercept=False, tol=float(setting), max_iter=100000, random_state=0)
    else:
        last = X.shape[0] * int(setting) // 3
        model = SGDClassifier(loss='hinge', alpha=LAMBDA, fit_intercept=False, max_iter=int(setting), tol=None, average=2 * last, random_state=0)
    begin = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - begin
    w = model.coef_[0]
    print(json.dumps([seconds, LAMBDA / 2 * float(w @ w) + float(numpy.maximum(0, 1 - y * (X @ w)).mean())]), flush=True)


def start(command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ, OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1'))


def finish(process, limit=None):
    """What a command prints; nothing where it took too long."""
    try:
        text = process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    if process.returncode:
        sys.exit(f'{" ".join(process.args)}\n{text}')
    return text


class Campaign:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.stream = open(arguments.out, 'w', newline='')
        self.out = csv.DictWriter(self.stream, FIELDS, lineterminator='\n')
        self.out.writeheader()

    def tool(self, name):
        return os.path.join(self.arguments.bin, name)

    def record(self, shape, program, setting, passes, objective, reached, solve, whole=None):
        line = dict(zip(FIELDS, [*shape, program, setting, passes, f'{objective:.10f}', 'yes' if reached else 'no', f'{solve:.4f}', '' if whole is None else f'{whole:.3f}']))
        self.out.writerow(line)
        self.stream.flush() # a run may be cut by a time limit
        print(line, flush=True)

    def bench(self, file, *options):
        """The lines of bench_bmrm."""
        text = finish(start([self.tool('bench_bmrm'), file, '-bmrm_lambda', str(LAMBDA), '-bmrm_eps', '1e-4', *options]))
        return list(csv.DictReader(text.splitlines()))

    def whole(self, shape, file, name, *options):
        """Starts a whole run; what is returned waits for it and records it."""
        report = os.path.join(self.folder, 'report')
        process = start([self.tool('bmrm'), '-f', file, '-bias', '0', '-bmrm_lambda', str(LAMBDA), '-bmrm_eps', '1e-4', '-report', report, *options])

        def record():
            finish(process)
            with open(report) as stream:
                known = json.load(stream)
            self.record(shape, 'bmrm ' + known['mat_type'], name, known['iterations'], known['objective'], True, known['seconds_solve'], known['seconds_load'] + known['seconds_solve'])

        return record

    def run(self, data):
        name, _, sizes = data.partition(':')
        text, cache = data, os.path.join(self.folder, 'cache')
        if sizes:
            text = os.path.join(self.folder, name)
            finish(start([self.tool('textgen'), text, *sizes.split(',')]))
        if sizes and text.endswith('.petsc'):
            os.rename(text, cache)
        else:
            finish(start([self.tool('bmrm'), '-f', text, '-mat_type', 'aij', '-bmrm_max_it', '0', '-save_binary', cache]))
        gpu = ['-mat_type', 'gpucsr', '-gpucsr_device', self.arguments.device]
        ours = self.bench(cache, *gpu, '-repeats', '7')[0]
        shape, target = [os.path.basename(name).removesuffix('.petsc'), ours['rows'], ours['cols'], ours['nnz']], float(ours['objective'])
        self.record(shape, ours['program'] + ' ' + self.arguments.device, 'resident', ours['passes'], target, True, float(ours['least_s']))
        self.record(shape, ours['program'] + ' ' + self.arguments.device, 'first', ours['passes'], target, True, float(ours['first_s']))
        if os.path.exists(text):
            self.whole(shape, text, 'from text', *gpu)()
        self.whole(shape, cache, 'from binary', *gpu)()
        if sizes and os.path.exists(text):
            os.remove(text)
        host = self.whole(shape, cache, 'from binary', '-mat_type', 'aij')
        running = [(method, setting, start([sys.executable, os.path.abspath(__file__), '--peer', cache, method, setting])) for method, setting in PEERS]
        for line in self.bench(cache, '-mat_type', 'aij', '-repeats', '1', '-tao', str(self.arguments.limit)):
            tao = line['program'].startswith('TAO')
            self.record(shape, line['program'].split(' ')[0] + ' aij', 'one core', line['passes'], float(line['objective']), not tao or ' reached' in line['program'].replace('not reached', ''), float(line['least_s']))
        host()
        best, end = {}, time.perf_counter() + self.arguments.limit
        for method, setting, process in running:
            printed = finish(process, max(1, end - time.perf_counter()))
            if printed is None:
                print(f'{name}: {method} {setting} took more than {self.arguments.limit} s', flush=True)
                continue
            seconds, found = json.loads(printed)
            before = best.get(method)
            if before is None or (before[1] > target and found < before[1]):
                best[method] = (setting, found, seconds)
        for method, (setting, found, seconds) in best.items():
            self.record(shape, method, setting, '', found, found <= target, seconds)


def figure(source, target):
    """The picture of bmrm_peers.py, of the solutions that are as good as ours."""
    import bmrm_peers
    with tempfile.NamedTemporaryFile('w', newline='') as stream:
        out = csv.DictWriter(stream, ['data', 'program', 'setting', 'relative_excess', 'solve_cpu_s'])
        out.writeheader()
        for row in csv.DictReader(open(source)):
            if row['reached'] == 'yes' and not row['whole_s']:
                out.writerow({'data': row['data'], 'program': row['program'].replace('seqaij', ''), 'setting': row['setting'], 'relative_excess': 0, 'solve_cpu_s': row['solve_s']})
        stream.flush()
        bmrm_peers.figure(stream.name, target, 'seconds to the same objective', 'bmrm on gpucsr: an NVIDIA H200. All others: one core')


def main():
    if len(sys.argv) > 1 and sys.argv[1] in ('--peer', '--figure'):
        {'--peer': peer, '--figure': figure}[sys.argv[1]](*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--bin', default='build/bin')
    parser.add_argument('--out', default='bmrm_gpu.csv')
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--limit', type=float, default=30, help='seconds for every peer')
    parser.add_argument('data', nargs='+')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(arguments, folder)
        for data in arguments.data:
            campaign.run(data)


if __name__ == '__main__':
    main()
