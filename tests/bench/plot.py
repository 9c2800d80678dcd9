#!/usr/bin/env python3
"""Draw docs/performance.svg: the speedup of gpucsr over aijcusparse, from the CSV that bench_spmv prints.

    tests/bench/plot.py tests/bench/results/<campaign>/spmv.csv docs/performance.svg

Or docs/selector.svg from the predictions that train writes: for each kind of matrix the speed that the selector reaches, ratios to
cuSPARSE, and the share of the roofline.

    tests/bench/plot.py --corpus tests/bench/results/<campaign>/predictions.csv docs/selector.svg
"""
import csv
import math
import sys

import figure

OPERATIONS = ("MatMult", "MatMultTranspose")


def ratios(name):
    """{matrix, or kind of members of the corpus: {operation: aijcusparse time / gpucsr time, a geometric mean}}, and what the head of the file says"""
    times, groups, head = {}, {}, ""
    with open(name) as file:
        for row in csv.reader(file):
            if row[0].startswith("#"):
                head = ",".join(row)[2:]
            elif row[0] != "matrix":
                times[row[0], row[1], row[3]] = float(row[4])
                groups.setdefault(row[8] if len(row) > 8 and row[8] != "-" else row[0], {})[row[0]] = True
    return head, {g: {op: mean([times[m, "aijcusparse", op] / times[m, "gpucsr", op] for m in group]) for op in OPERATIONS} for g, group in groups.items()}


def main(source, target):
    head, table = ratios(source)
    plt = figure.pyplot()
    fig, ax = plt.subplots(figsize=(figure.WIDTH, 1.5 + 0.42 * len(table)))
    figure.dots(ax, list(table), {op: {matrix: row[op] for matrix, row in table.items()} for op in OPERATIONS}, "", "time of aijcusparse / time of gpucsr (more is better)", reference=1, labels=lambda v: f"{v:.2f}" if v < 10 else f"{v:.1f}")
    figure.finish(fig, OPERATIONS, "Speedup over aijcusparse on an NVIDIA H200", head.split(";")[0], target)


def mean(values):
    """geometric mean of what is positive, None of nothing"""
    logs = [math.log(v) for v in values if v > 0]
    return math.exp(sum(logs) / len(logs)) if logs else None


# panel of the figure: title, label of its axis, a ratio, what a case gives (0: nothing)
PANELS = (
    ("The choice of the selector", "speed / speed of the best kernel", False, lambda c: c["best_us"] / c["held_us"]),
    ("1e6 nonzeros or more", "share of the roofline", False, lambda c: c["roofline"] if c["nnz"] >= 1e6 else 0),
    ("cuSPARSE, mixed precision", "time of its best kernel / ours", True, lambda c: c["mixed_us"] / c["held_us"]),
    ("cuSPARSE, double precision", "time of its best kernel / ours", True, lambda c: c["double_us"] / c["held_us"]),
)


def corpus(source, target):
    kinds = {}
    with open(source) as file:
        for row in csv.DictReader(file):
            case = {k: float(row[k]) for k in ("nnz", "best_us", "held_us", "mixed_us", "double_us", "roofline")}
            kinds.setdefault(row["kind"], {}).setdefault(row["side"], []).append(case)
    plt = figure.pyplot()
    fig, axes = plt.subplots(2, 2, figsize=(figure.WIDTH, 1.9 + 0.5 * len(kinds)), sharey="row")
    for ax, (title, xlabel, ratio, value) in zip(axes.flat, PANELS):
        series = {side: {kind: mean([value(c) for c in sides.get(side, [])]) for kind, sides in kinds.items()} for side in ("A", "At")}
        figure.dots(ax, list(kinds), series, title, xlabel, log=ratio, limits=None if ratio else (0, 1.04), reference=1 if ratio else 0)
    cases = sum(len(s) for sides in kinds.values() for s in sides.values())
    figure.finish(fig, ("matrix", "transpose"), "The selector on families that it has not seen", f"Geometric means of {cases} cases: matrices and transposes, single-precision values", target)


if __name__ == "__main__":
    if sys.argv[1] == "--corpus":
        corpus(*sys.argv[2:4])
    else:
        main(*sys.argv[1:3])
