#!/usr/bin/env python3
"""Compares the products of two builds of the library on 30 members of the corpus.

    tests/bench/compare_builds.py <bench_spmv of the old build> <bench_spmv of the new build> [--rounds 9] [--csv <file>]

The builds alternate in every round, so that a change of the machine's state affects both. Every round visits the matrices in another order, because
the addresses of the arrays change the time of a gather by up to a tenth. The time of a product is its median over the rounds.
Exit status 1: the geometric mean of new time over old time is above 1.01, or one product of the new build takes more than 1.05 times as long.
"""
import argparse
import csv
import math
import random
import statistics
import subprocess
import sys

MEMBERS = """stencil5-const-09 stencil7-const-10 stencil27-const-09 stencil5-var-09 stencil7-var-12 stencil27-var-12 diagonals-07 dof2-06 dof4-08
elasticity3-13 mesh-low-13 mesh-high-09 mesh-mixed-08 mesh-dof3-08 circuit-14 circuit-dense-15 structured-10 lp-tall-08 lp-wide-09 lp-cover-08
text-counts-10 text-tfidf-11 features-08 web-15 rmat-15 kronecker-10 random-13 uneven-08 empty-rows-07 tiny-29""".split()


def products(program, batch, turn):
    members = random.Random(turn).sample(MEMBERS, len(MEMBERS))
    command = [program, "-types", "gpucsr", "-repeats", "7", "-batch", str(batch), "-matrices", ",".join(members)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    table = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {(row["matrix"], row["operation"]): (float(row["us"]), row["norm"]) for row in table}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--csv")
    options = parser.parse_args()
    runs = {options.old: [], options.new: []}
    for turn in range(options.rounds):
        for program in (options.old, options.new) if turn % 2 == 0 else (options.new, options.old):
            runs[program].append(products(program, options.batch, turn))
    rows = []
    for key in sorted(runs[options.old][0]):
        old, new = (statistics.median(run[key][0] for run in runs[program]) for program in (options.old, options.new))
        rows.append((*key, old, new, new / old, runs[options.old][0][key][1], runs[options.new][0][key][1]))
    header = ("matrix", "operation", "old_us", "new_us", "ratio", "old_norm", "new_norm")
    with open(options.csv, "w", newline="") if options.csv else sys.stdout as output:
        writer = csv.writer(output)
        writer.writerow(header)
        writer.writerows([(*row[:2], f"{row[2]:.2f}", f"{row[3]:.2f}", f"{row[4]:.4f}", *row[5:]) for row in rows])
    mean = math.exp(statistics.fmean(math.log(row[4]) for row in rows))
    worst = max(rows, key=lambda row: row[4])
    print(f"{len(rows)} products, geometric mean of new time over old time {mean:.4f}, largest ratio {worst[4]:.4f} ({worst[0]}, {worst[1]})", file=sys.stderr)
    return int(mean > 1.01 or worst[4] > 1.05)


if __name__ == "__main__":
    sys.exit(main())
