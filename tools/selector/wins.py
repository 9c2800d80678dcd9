#!/usr/bin/env python3
"""Counts, for each kernel of recorded tables, the matrices on which it is faster than the best of a set of other kernels.

    tools/selector/wins.py --core team,dia,... [--margin 0.03] [--list] corpus-0.csv.xz ...

The tables are those of bench_corpus.  A row of the output has the number of matrices and transposes won by more than the margin, and the largest
speedup over the best kernel of the set, with caches warm and cold.  --list prints the matrices too.
"""
import argparse
import csv
import lzma


def read(name):
    """yields the rows of a table, whose lines may begin with comments"""
    with (lzma.open if name.endswith(".xz") else open)(name, "rt") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def times(row, sort):
    """microseconds of each kernel that was timed; sort: k warm, c cold"""
    columns = (column.split(":") for column in row if column and column.startswith(sort + ":"))
    return {kernel: float(row[f"{sort}:{kernel}:{fmt}"]) for _, kernel, fmt in columns if float(row[f"{sort}:{kernel}:{fmt}"] or 0) > 0}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--core", required=True, help="names of the kernels of the set, separated by commas")
    parser.add_argument("--margin", type=float, default=0.03)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("tables", nargs="+")
    args = parser.parse_args()
    core = set(args.core.split(","))
    won = {}
    for row in (row for name in args.tables for row in read(name)):
        for sort in "kc":
            us = times(row, sort)
            best = min((t for kernel, t in us.items() if kernel in core), default=None)
            for kernel, t in us.items():
                speedups = won.setdefault(kernel, {"k": [], "c": []})[sort]
                if kernel not in core and best and best > (1 + args.margin) * t:
                    speedups.append((best / t, row["matrix"], row["side"]))
    print("| kernel | warm | largest speedup | cold | largest speedup |\n|---|---|---|---|---|")
    for kernel, by in won.items():
        if kernel not in core:
            print(f"| {kernel} | " + " | ".join(f"{len(by[s])} | {max(by[s], default=('-',))[0]:.4}" for s in "kc") + " |")
        if args.list:
            for sort in "kc":
                for speedup, matrix, side in sorted(by[sort], reverse=True):
                    print(f"  {'warm' if sort == 'k' else 'cold'} {speedup:.3f} {matrix} {side}")


main()
