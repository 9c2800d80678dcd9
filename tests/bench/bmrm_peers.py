#!/usr/bin/env python3
"""Time bin/bmrm beside liblinear, scikit-learn and TAOBMRM on the host, all to the same objective.

    tests/bench/bmrm_peers.py --bmrm build/bin/bmrm --out peers.csv a9a w8a text.svm     # with a Python that has scikit-learn
    tests/bench/bmrm_peers.py --figure peers.csv docs/bmrm-peers.svg

The problem is lambda/2 |w|^2 + mean hinge loss, without a bias.  The optimum is that of bin/bmrm with a certified relative gap of 1e-5.
A peer runs with every setting of a list, from coarse to fine, and the first that comes within 1e-4 (relative) counts: nobody who does not
know the optimum can stop there.  bin/bmrm stops by itself, with a certificate of 1e-4 (`certified`), and is also run to the pass at which it
gets below this objective (`reached`).  Seconds are the least of the repeats: wall and processor time of the whole process, and processor time
of the solution, without reading the file.  Programs that do not say it are run once more without a solution, and that is subtracted.
TAOBMRM (--tao: a Python with petsc4py) gets the data as petsc4py reads them from -save_binary, once; the clock stops at the first evaluation
that is good enough, or at --limit processor seconds.
"""
import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

LAMBDA = 1e-5
NEAR = 1e-4
FIELDS = ['data', 'rows', 'cols', 'nnz', 'program', 'setting', 'objective', 'relative_excess', 'wall_s', 'cpu_s', 'solve_cpu_s', 'repeats']


def objective(X, y, w):
    import numpy
    return LAMBDA / 2 * float(w @ w) + float(numpy.maximum(0, 1 - y * (X @ w)).mean())


def processor():
    """Processor seconds of all commands so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command):
    """Wall and processor seconds of a command on one thread, and what it prints."""
    begin, before = time.perf_counter(), processor()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(os.environ, OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1'))
    if done.returncode:
        sys.exit(f'{" ".join(command)}\n{done.stdout}')
    return time.perf_counter() - begin, processor() - before, done.stdout


def sklearn_worker(file, method, setting):
    """One training, in a process of its own: prints the seconds of the fit and the objective."""
    import warnings
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import LinearSVC
    warnings.simplefilter('ignore')
    X, y = load_svmlight_file(file)
    X.indices, X.indptr = X.indices.astype('int32'), X.indptr.astype('int32')  # which liblinear wants
    if method == 'LinearSVC':
        model = LinearSVC(loss='hinge', C=1 / (LAMBDA * X.shape[0]), fit_intercept=False, tol=float(setting), max_iter=100000, random_state=0)
    else:
        last = X.shape[0] * int(setting) // 3  # the mean over the last third is better than that of all, or than no mean
        model = SGDClassifier(loss='hinge', alpha=LAMBDA, fit_intercept=False, max_iter=int(setting), tol=None, average=2 * last, random_state=0)
    begin = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - begin
    print(json.dumps([seconds, objective(X, y, model.coef_[0])]))


def tao_worker(file, target, limit):
    """TAOBMRM until an evaluation reaches the target, or the limit in seconds: prints the seconds and the best objective."""
    import numpy
    from petsc4py import PETSc
    PETSc.Options()['tao_bmrm_lambda'] = LAMBDA
    viewer = PETSc.Viewer().createBinary(file, 'r')
    X, y = PETSc.Mat().load(viewer), PETSc.Vec().load(viewer)
    t = numpy.where(y.getArray() > y.sum() / y.getSize(), 1.0, -1.0)
    z, d = X.createVecLeft(), X.createVecLeft()
    begin = time.process_time()
    best = [numpy.inf]

    def evaluate(tao, x, g):
        X.mult(x, z)
        slack = 1 - t * z.getArray()
        f = float(numpy.maximum(0, slack).mean())
        d.setArray(numpy.where(slack > 0, -t, 0) / t.size)
        X.multTranspose(d, g)
        best[0] = min(best[0], f + LAMBDA / 2 * x.dot(x))
        seconds = time.process_time() - begin
        if best[0] <= float(target) or seconds > float(limit):
            print(json.dumps([seconds, best[0]]), flush=True)
            os._exit(0)
        return f

    tao = PETSc.TAO().create()
    tao.setType('bmrm')
    tao.setSolution(X.createVecRight())
    tao.setObjectiveGradient(evaluate, X.createVecRight())
    tao.setTolerances(gatol=1e-7)
    tao.setMaximumIterations(100000)
    tao.setFromOptions()
    tao.solve()
    print(json.dumps([time.process_time() - begin, best[0]]))


def bmrm(program, file, repeats, *options):
    """Wall and processor seconds, the report, and the objective after each pass."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'report')
        for _ in range(repeats):
            wall, cpu, text = run([program, '-f', file, '-bias', '0', '-bmrm_lambda', str(LAMBDA), '-bmrm_eps', '0', '-bmrm_monitor', '-report', report, *options])
            with open(report) as stream:
                known = json.load(stream)
            rows.append((wall, cpu, known, [float(j) for j in re.findall(r'BMRM objective ([0-9.]+)', text)]))
    return rows


def least(rows, idle=None):
    """The least of wall, processor and solution seconds; the last is what is more than the run without a solution, where that is given."""
    wall, cpu = min(row[0] for row in rows), min(row[1] for row in rows)
    return wall, cpu, min(row[2] for row in rows) if idle is None else cpu - idle


def campaign(arguments):
    from sklearn.datasets import load_svmlight_file
    import numpy
    me = os.path.abspath(__file__)
    out = csv.DictWriter(open(arguments.out, 'w', newline=''), FIELDS, lineterminator='\n')
    out.writeheader()
    for file in arguments.files:
        X, y = load_svmlight_file(file)
        exact = bmrm(arguments.bmrm, file, 1, '-mat_type', 'aij', '-bmrm_eps_rel', '1e-5')[0][2]
        best = exact['objective']
        limit = best * (1 + NEAR)
        shape = {'data': os.path.basename(file), 'rows': X.shape[0], 'cols': X.shape[1], 'nnz': X.nnz}

        def record(name, setting, found, seconds, repeats):
            line = dict(shape, program=name, setting=setting, objective=f'{found:.10f}', relative_excess=f'{found / best - 1:.2e}', repeats=repeats)
            line.update({key: f'{value:.3f}' for key, value in zip(('wall_s', 'cpu_s', 'solve_cpu_s'), seconds)})
            out.writerow(line)
            print(line, flush=True)

        for name, options in (('bmrm aij', ['-mat_type', 'aij']), ('bmrm gpucsr', ['-mat_type', 'gpucsr', '-gpucsr_device', 'host', '-mat_gpucsr_storage', 'double'])):
            idle = least(bmrm(arguments.bmrm, file, arguments.repeats, '-bmrm_max_it', '0', *options), 0)[1]
            rows = bmrm(arguments.bmrm, file, arguments.repeats, '-bmrm_eps_rel', str(NEAR), *options)
            record(name, 'certified', rows[0][2]['objective'], least(rows, idle), arguments.repeats)
            passes = next(k for k, found in enumerate(rows[0][3]) if found <= limit)
            rows = bmrm(arguments.bmrm, file, arguments.repeats, '-bmrm_max_it', str(passes), *options)
            record(name, 'reached', rows[0][2]['objective'], least(rows, idle), arguments.repeats)
        for name, settings in (('LinearSVC', [1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4]), ('SGDClassifier', [30, 100, 300])):
            for setting in settings:
                found, rows = None, []
                for _ in range(arguments.repeats):
                    wall, cpu, text = run([sys.executable, me, '--sklearn', file, name, str(setting)])
                    fit, found = json.loads(text)
                    rows.append((wall, cpu, fit))
                    if found > limit:
                        break
                if found <= limit or setting == settings[-1]:
                    record(name, setting, found, least(rows), len(rows))
                    break
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, 'model')
            train = ['liblinear-train', '-q', '-s', '3', '-c', f'{1 / (LAMBDA * X.shape[0]):.17g}']
            idle = min(run([*train, '-e', '1e9', file, model])[1] for _ in range(arguments.repeats))
            for setting in ('1e-1', '3e-2', '1e-2', '3e-3', '1e-3', '1e-4'):
                rows = []
                for _ in range(arguments.repeats):
                    wall, cpu, _ = run([*train, '-e', setting, file, model])
                    rows.append((wall, cpu))
                lines = open(model).read().split('\nw\n')
                w = numpy.array([float(v) for v in lines[1].split()])
                order = re.search(r'label (\S+)', lines[0]).group(1)
                found = objective(X, y, w if float(order) > 0 else -w)
                if found <= limit or setting == '1e-4':
                    record('liblinear', setting, found, least(rows, idle), arguments.repeats)
                    break
            if arguments.tao:
                cache = os.path.join(folder, 'cache')
                bmrm(arguments.bmrm, file, 1, '-mat_type', 'aij', '-bmrm_max_it', '1', '-save_binary', cache)
                wall, cpu, text = run([arguments.tao, me, '--taobmrm', cache, str(limit), str(arguments.limit)])
                seconds, found = json.loads(text.splitlines()[-1])
                record('TAOBMRM', 'reached' if found <= limit else 'not reached', found, (wall, cpu, seconds), 1)


def figure(source, target, xlabel='processor seconds to the same objective', note='One core; certified: with a gap of 1e-4; reached: as soon as the objective is reached'):
    """A panel for each data set: seconds of the solution on a logarithmic axis."""
    import figure as fig
    rows = [row for row in csv.DictReader(open(source)) if float(row['relative_excess']) <= 1.01 * NEAR]
    sets = {}
    for row in rows:
        ours = row['program'].startswith('bmrm')
        name = f"{row['program']}, {row['setting']}" if ours else row['program']
        sets.setdefault(row['data'], {})[name] = (float(row['solve_cpu_s']), ours)
    seconds = [s for panel in sets.values() for s, _ in panel.values()]
    plt = fig.pyplot()
    picture, axes = plt.subplots(len(sets), 1, figsize=(fig.WIDTH, 0.9 + sum(0.3 + 0.27 * len(panel) for panel in sets.values())), sharex=True, squeeze=False, gridspec_kw={'height_ratios': [len(panel) for panel in sets.values()]})
    for ax, (data, panel) in zip(axes[:, 0], sets.items()):
        series = {kind: {name: s for name, (s, mine) in panel.items() if mine == ours} for kind, ours in (('bmrm', True), ('others', False))}
        fig.dots(ax, list(panel), series, data, xlabel if ax is axes[-1, 0] else '', limits=(min(seconds) / 1.5, max(seconds) * 3), labels=lambda v: f'{v:.3g} s', between=0)
    fig.finish(picture, ('bmrm', 'others'), 'Time of training a linear SVM', note, target)


def main():
    if len(sys.argv) > 1 and sys.argv[1] in ('--sklearn', '--taobmrm', '--figure'):
        {'--sklearn': sklearn_worker, '--taobmrm': tao_worker, '--figure': figure}[sys.argv[1]](*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--bmrm', default='build/bin/bmrm')
    parser.add_argument('--out', default='peers.csv')
    parser.add_argument('--repeats', type=int, default=5)
    parser.add_argument('--tao', help='a Python with petsc4py')
    parser.add_argument('--limit', type=int, default=300, help='processor seconds for TAOBMRM')
    parser.add_argument('files', nargs='+')
    campaign(parser.parse_args())


if __name__ == '__main__':
    main()
