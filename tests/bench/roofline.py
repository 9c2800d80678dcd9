#!/usr/bin/env python3
"""Compute the fraction of the copy rate that large matrices reach, from tables of bench_corpus: a table in Markdown.

    tests/bench/roofline.py [--page docs/performance/spmv.md] table.csv [table.csv ...]

The output lists every matrix of the first table, and a summary by kind of matrix for the others.  Shares of the measured copy rate, cold, of the kernel that
the selector chose and of the fastest, A and its transpose: by the bytes of the kernel's format and of the vectors, and by the least bytes of compressed
rows with the same contract (a float and an index a nonzero, a pointer a row, x and y once), which a format that keeps less passes.
--page writes between <!-- figures: roofline --> and <!-- end of figures --> of that page.
"""
import csv
import os
import re
import sys

from tables import mean, put

GOAL = 0.85
KINDS = ("stencil-variable", "stencil-few", "FEM", "FEM-blocks")
ATOMIC = ("csrvendorfast", "coovendorfast")  # do not repeat their bits


class Case:
    """a product of a table: kernels has of every kernel measured microseconds warm and cold, and the bytes that it moves"""

    def __init__(self, row, copyrate):
        self.matrix, self.kind, self.nnz, self.copyrate = row["matrix"], row["kind"], float(row["nnz"]), copyrate
        vectors = 8.0 * (float(row["m"]) + float(row["n"]))
        self.least = 8.0 * self.nnz + 4.0 * (float(row["m"]) + 1) + vectors
        self.kernels = {}
        for column in row:
            if column.startswith("k:") and row[column] and row["c" + column[1:]]:
                kernel, fmt = column.split(":")[1:]
                if kernel not in ATOMIC:
                    self.kernels[kernel] = (float(row[column]), float(row["c" + column[1:]]), float(row["traffic:" + fmt]) + vectors)
        self.fastest = min(self.kernels, key=lambda kernel: self.kernels[kernel][1], default=None)
        self.missing = "" if row["chosen"] in self.kernels else row["chosen"]  # chosen, but not in this table
        self.chosen = self.fastest if self.missing else row["chosen"]

    def share(self, kernel):
        _, cold, own = self.kernels[kernel]
        return own / (1e-6 * cold) / self.copyrate, self.least / (1e-6 * cold) / self.copyrate


def read(name):
    with open(name) as file:
        lines = file.read().splitlines()
    copyrate = float(re.search(r"copy rate ([\d.e+]+)", next(line for line in lines if line.startswith("#")))[1])
    return [case for case in (Case(row, copyrate) for row in csv.DictReader(line for line in lines if not line.startswith("#"))) if case.kernels]


def told(shares, goal=True):
    return " · ".join(f"**{share:.2f}**" if goal and share >= GOAL else f"{share:.2f}" for share in shares)


def summary(shares):
    return f"{mean(shares):.2f}, {min(shares):.2f}"


def line(both):
    """one matrix: A and its transpose"""
    case = both[0]
    chosen = [c.share(c.chosen) for c in both]
    warm, cold, _ = case.kernels[case.chosen]
    own, least = case.share(case.fastest)
    faster = "" if case.fastest == case.chosen else f"`{case.fastest}` {case.kernels[case.fastest][1]:.1f} µs, {own:.2f}, {least:.2f}"
    who = f"`{case.chosen}`" + (f" (`{case.missing}` was not measured)" if case.missing else "")
    return f"| {case.matrix} | {case.nnz / 1e6:.1f} | {who} | {warm:.1f} · {cold:.1f} | {told([s[0] for s in chosen])} | {told([s[1] for s in chosen], False)} | {faster} |"


def kindline(kind, cases, name):
    chosen = [c.share(c.chosen) for c in cases]
    best = [c.share(c.fastest) for c in cases]
    sizes = sorted(c.nnz / 1e6 for c in cases)
    text = f"| *{kind}{name}: mean, worst of {len(cases)}* | *{sizes[0]:.0f} to {sizes[-1]:.0f}* | | | *{summary([s[0] for s in chosen])}* | *{summary([s[1] for s in chosen])}* |"
    return text + f" *the fastest: {summary([s[0] for s in best])}; {summary([s[1] for s in best])}* |"


def table(names):
    out = ["| matrix | nonzeros (1e6) | kernel chosen | µs warm · cold | share of the copy rate by the format's bytes, A · A' | by the least bytes of compressed rows | a faster one: cold, both shares |", "|---|---|---|---|---|---|---|"]
    for name in names:
        cases = read(name)
        for kind in KINDS:
            mine = [c for c in cases if c.kind == kind]
            if name == names[0]:
                out += [line([c for c in mine if c.matrix == matrix]) for matrix in sorted({c.matrix for c in mine})]
            if mine:
                out.append(kindline(kind, mine, "" if name == names[0] else ", " + os.path.splitext(os.path.basename(name))[0]))
    return out


def main(*arguments):
    names = list(arguments)
    page = None
    if names[:1] == ["--page"]:
        page = names[1]
        del names[:2]
    if not names:
        sys.exit(__doc__)
    if page:
        put(page, {"roofline": table(names)})
    else:
        print("\n".join(table(names)))


if __name__ == "__main__":
    main(*sys.argv[1:])
