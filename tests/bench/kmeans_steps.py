#!/usr/bin/env python3
"""The figures of Gunarathne et al., "Iterative statistical kernels on contemporary GPUs" (2013), on the GPU of this machine.

    tests/bench/kmeans_steps.py [--kmeans build/bin/kmeans] [--features 2,4] [--clusters 100,300] [--points 1024,...] [--out kmeans_steps.csv]
    tests/bench/kmeans_steps.py --draw kmeans_steps.csv kmeans_steps.svg

Times the assignments of uniform points: the five steps of the paper, `brute` and `direct`. The time of an iteration is seconds_assign of the report,
divided by the number of assignments. It begins when the centroids are on the device and includes the launches. Every run has several restarts, and the
CUDA modules are loaded before (CUDA_MODULE_LOADING=EAGER).

- An iteration of N points with D features and M centroids has (3DM + M)N flops, as in the paper.
- Kept: the points stay on the device. Resent: they are copied to the device in every iteration; this adds their bytes divided by --rate, and is not measured.
- The overhead is 2T - T'. T is the time of an iteration and T' that of one with twice the centroids, hence twice the distances.
- `direct` adds the points to the sums of the update in the same kernel, and moves the centroids without the host. Its time is that of a whole iteration.
- The overhead and points in double precision are measured for localcolumns and the largest number of clusters only.

Writes a line of CSV for each run, and prints tables in Markdown with the figures of the paper.
"""
import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

STEPS = ['naive', 'localpoints', 'localcentroids', 'columns', 'localcolumns']
ASSIGNS = STEPS + ['brute', 'direct']
PAPER = {'naive': '20 GFLOP/s', 'localpoints': '+75 %', 'localcentroids': '+160 %', 'columns': 'nothing', 'localcolumns': '+140 %'}
POINTS = [1024, 4096, 8192, 32768, 131072, 524288, 4194304]
FIELDS = ['device', 'features', 'clusters', 'points', 'assign', 'storage', 'assignments', 'microseconds', 'gflops', 'resent_gflops', 'rechecked']


def measure(options, features, clusters, points, assign, storage):
    """The line of a run, or None if the device does not have the assignment."""
    few = points <= 1 << 19
    command = [options.kmeans, '-gpucsr_device', options.device, '-generate', f'{points},{features}', '-kmeans_clusters', str(clusters), '-kmeans_start', 'random', '-kmeans_empty', 'keep',
               '-kmeans_restarts', '5' if few else '2', '-kmeans_max_it', '20' if few else '10', '-kmeans_assign', assign, '-kmeans_storage', storage]
    with tempfile.NamedTemporaryFile() as file:
        done = subprocess.run(command + ['-report', file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, 'CUDA_MODULE_LOADING': 'EAGER'})
        if 'this algorithm runs on the host only' in done.stdout:
            return None
        if done.returncode not in (0, 3):
            sys.exit(' '.join(command) + '\n' + done.stdout)
        report = json.load(open(file.name))
    assignments = report['distances'] / (points * clusters)
    seconds = report['seconds_assign'] / assignments
    flops = (3 * features * clusters + clusters) * points
    sent = points * features * (4 if report['storage'] == 'single' else 8) / options.rate
    return {'device': report['device'], 'features': features, 'clusters': clusters, 'points': points, 'assign': assign, 'storage': report['storage'], 'assignments': f'{assignments:.0f}',
            'microseconds': f'{seconds * 1e6:.2f}', 'gflops': f'{flops / seconds * 1e-9:.1f}', 'resent_gflops': f'{flops / (seconds + sent) * 1e-9:.1f}', 'rechecked': f"{report['rechecked'] / report['distances']:.2g}"}


def measure_all(options):
    with open(options.out, 'w', newline='') as file:
        out = csv.DictWriter(file, FIELDS, lineterminator='\n')
        out.writeheader()
        for features in options.features:
            for clusters in options.clusters:
                runs = [(clusters, assign, 'single') for assign in ASSIGNS]
                if clusters == max(options.clusters):
                    runs += [(2 * clusters, 'localcolumns', 'single'), (clusters, 'localcolumns', 'double')]
                for points in options.points:
                    for k, assign, storage in runs:
                        line = measure(options, features, k, points, assign, storage) if k <= points else None
                        if line:
                            out.writerow(line)
                            file.flush()


def read(name):
    """{(features, clusters, assign, storage): {points: line}}"""
    table = {}
    with open(name) as file:
        for line in csv.DictReader(file):
            line = {field: value if field in ('device', 'assign', 'storage') else float(value) for field, value in line.items()}
            table.setdefault((int(line['features']), int(line['clusters']), line['assign'], line['storage']), {})[int(line['points'])] = line
    return table


def print_table(heads, rows):
    print('| ' + ' | '.join(heads) + ' |\n|' + '---|' * len(heads))
    for row in rows:
        print('| ' + ' | '.join(row) + ' |')
    print()


def print_rates(table, features, clusters):
    """GFLOP/s of all assignments, with points kept and resent."""
    present = [a for a in ASSIGNS if (features, clusters, a, 'single') in table]
    for field, title in (('gflops', 'kept on the device'), ('resent_gflops', 'resent in every iteration')):
        print(f'GFLOP/s, {features} features, {clusters} centroids, points {title}:\n')
        sizes = sorted(table[features, clusters, present[0], 'single'])
        print_table(['points'] + present, [[f'{n:,}'] + [f"{table[features, clusters, a, 'single'][n][field]:.3g}" for a in present] for n in sizes])


def print_gains(table, features, clusters):
    """The gain of each step at the largest number of points, and the points from which it has 90 % of its best rate."""
    rows, before, first = [], None, None
    for step in STEPS:
        lines = table[features, clusters, step, 'single']
        now, best = lines[max(lines)]['gflops'], max(line['gflops'] for line in lines.values())
        first = first or now
        full = min(n for n, line in lines.items() if line['gflops'] >= 0.9 * best)
        rows.append([f'`{step}`', f'{now:.3g}', f'{100 * (now / before - 1):+.0f} %' if before else '', f'{100 * (now / first - 1):+.0f} %' if before else '', PAPER[step], f'{full:,}'])
        before = now
    print(f'Gains with the most points, {features} features, {clusters} centroids. The paper has at most 100 GFLOP/s, and its GPU is saturated from 8192 points:\n')
    print_table(['step', 'GFLOP/s', 'gain over the step before', 'gain over naive', 'paper', 'points for 90 % of the best rate'], rows)


def print_iterations(table, features, clusters, rate):
    """GFLOP/s over the number of iterations, of which the first one includes the copy of the points."""
    lines = table[features, clusters, 'localcolumns', 'single']
    rows = []
    for n, line in sorted(lines.items()):
        seconds, sent = line['microseconds'] * 1e-6, n * features * 4 / rate
        flops = (3 * features * clusters + clusters) * n
        rows.append([f'{n:,}'] + [f'{flops * count / (seconds * count + sent) * 1e-9:.3g}' for count in (1, 2, 5, 10, 20, 50, 100)])
    print(f'GFLOP/s of `localcolumns` over the number of iterations, with one copy of the points, {features} features, {clusters} centroids:\n')
    print_table(['points', '1', '2', '5', '10', '20', '50', '100'], rows)


def print_overheads(table, features, clusters):
    """The overhead 2T - T', and the time in double precision relative to that in single precision."""
    once, twice, double = (table.get((features, k, 'localcolumns', storage), {}) for k, storage in ((clusters, 'single'), (2 * clusters, 'single'), (clusters, 'double')))
    rows = []
    for n in sorted(once.keys() & twice.keys() & double.keys()):
        T, other = once[n]['microseconds'], twice[n]['microseconds']
        rows.append([f'{n:,}', f'{T:.1f}', f'{other:.1f}', f'{2 * T - other:.1f}', f'{100 * (2 * T - other) / T:.0f} %', f"{double[n]['microseconds'] / T:.2f}"])
    print(f"Overhead 2T - T' of `localcolumns` in microseconds, {features} features, {clusters} centroids. The last column is the time with points in double precision, divided by T:\n")
    print_table(['points', 'T', "T'", "2T - T'", "2T - T', relative to T", 'double / single'], rows)


def print_tables(options):
    table = read(options.out)
    print(f"Device: {next(iter(next(iter(table.values())).values()))['device']}; copies at {options.rate * 1e-9:g} GB/s.\n")
    for features in options.features:
        for clusters in options.clusters:
            print_rates(table, features, clusters)
            print_gains(table, features, clusters)
        print_iterations(table, features, max(options.clusters), options.rate)
        print_overheads(table, features, max(options.clusters))


def draw(source, target):
    """Draws GFLOP/s over the number of points, a panel for each number of features and centroids. Both axes are logarithmic."""
    import figure
    table = read(source)
    panels = sorted({(d, k) for d, k, assign, _ in table if assign == 'naive'})
    rates = [line['gflops'] for lines in table.values() for line in lines.values()]
    columns = min(2, len(panels))
    plt = figure.pyplot()
    fig, axes = plt.subplots(-(-len(panels) // columns), columns, figsize=(figure.WIDTH, 0.9 + 2.9 * -(-len(panels) // columns)), sharey=True, squeeze=False)
    for ax, (d, k) in zip(axes.flat, panels):
        for a, assign in enumerate(ASSIGNS):
            line = sorted(table.get((d, k, assign, 'single'), {}).items())
            ax.loglog([n for n, _ in line], [v['gflops'] for _, v in line], color=figure.SERIES[a % 7][0], marker=figure.SERIES[a % 7][1], markersize=5)
        ax.set_ylim(min(rates) / 1.5, max(rates) * 1.5)
        figure.log_axis(ax.yaxis, min(rates), max(rates))
        ax.set_title(f'{d} features, {k} centroids')
        ax.set_xlabel('points')
    for ax in axes[:, 0]:
        ax.set_ylabel('GFLOP/s')
    for ax in list(axes.flat)[len(panels):]:
        ax.set_visible(False)
    figure.finish(fig, ASSIGNS, 'Speed of an assignment', '', target)


def numbers(text):
    return [int(n) for n in text.split(',')]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--kmeans', default='build/bin/kmeans')
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--features', type=numbers, default=[2, 4])
    parser.add_argument('--clusters', type=numbers, default=[100, 300])
    parser.add_argument('--points', type=numbers, default=POINTS)
    parser.add_argument('--rate', type=float, default=55.5e9, help='bytes a second of copies to the device')
    parser.add_argument('--out', default='kmeans_steps.csv')
    parser.add_argument('--draw', nargs=2, metavar=('CSV', 'SVG'), help='draw a table that was measured before')
    options = parser.parse_args()
    if options.draw:
        draw(*options.draw)
    else:
        measure_all(options)
        print_tables(options)


if __name__ == '__main__':
    main()
