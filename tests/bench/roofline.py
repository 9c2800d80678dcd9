#!/usr/bin/env python3
"""How near large matrices come to the copy rate, from tables of bench_corpus: a table in Markdown.

    tests/bench/roofline.py table.csv ... [--page docs/performance.md]

Shares of the measured copy rate when cold, A and its transpose, of the kernel that the selector chose: by the bytes of its format and of the vectors,
and by the least bytes of compressed rows with the same contract (a float and an index a nonzero, a pointer a row, x and y once), which a format that
keeps less passes.  --page writes the table between <!-- figures: roofline --> and <!-- end of figures --> of that page.
"""
import csv
import re
import sys

from tables import mean, put

GOAL = 0.85
GROUPS = ("stencil-variable", "stencil-few", "FEM", "FEM-blocks")


def cases(name):
    """every product of a table: sizes, the kernel chosen, and of every kernel measured microseconds warm and cold and bytes"""
    with open(name) as file:
        lines = file.read().splitlines()
    copyrate = float(re.search(r"copy rate ([\d.e+]+)", next(line for line in lines if line.startswith("#")))[1])
    out = []
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        vectors = 8.0 * (float(row["m"]) + float(row["n"]))
        kernels = {}
        for column in row:
            if column.startswith("k:") and row[column] and row["c" + column[1:]]:
                kernel, fmt = column.split(":")[1:]
                kernels[kernel] = (float(row[column]), float(row["c" + column[1:]]), float(row["traffic:" + fmt]) + vectors)
        out.append({"matrix": row["matrix"], "kind": row["kind"], "side": row["side"], "nnz": float(row["nnz"]), "chosen": row["chosen"], "kernels": kernels,
                    "least": 8.0 * float(row["nnz"]) + 4.0 * (float(row["m"]) + 1) + vectors, "copyrate": copyrate})
    return out


def share(case, kernel, least=False):
    _, cold, own = case["kernels"][kernel]
    return (case["least"] if least else own) / (1e-6 * cold) / case["copyrate"]


def line(both):
    """one matrix: A and its transpose"""
    case = both[0]
    best = min(case["kernels"], key=lambda k: case["kernels"][k][1])
    chosen = [c["chosen"] if c["chosen"] in c["kernels"] else min(c["kernels"], key=lambda k: c["kernels"][k][1]) for c in both]
    own = [share(c, k) for c, k in zip(both, chosen)]
    least = [share(c, k, True) for c, k in zip(both, chosen)]
    warm, cold, _ = case["kernels"][chosen[0]]
    other = "" if best == chosen[0] else f"`{best}` {case['kernels'][best][1]:.1f}"
    text = " · ".join(f"**{v:.2f}**" if v >= GOAL else f"{v:.2f}" for v in own)
    return f"| {case['matrix']} | {case['nnz'] / 1e6:.1f} | `{chosen[0]}` | {warm:.1f} · {cold:.1f} | {text} | {' · '.join(f'{v:.2f}' for v in least)} | {other} |", own, least


def table(names):
    found = [c for name in names for c in cases(name) if c["kernels"]]
    out = ["| matrix | nonzeros (1e6) | kernel chosen | µs warm · cold | share of the copy rate by the format's bytes, A · A' | by the least bytes of compressed rows | faster, cold |", "|---|---|---|---|---|---|---|"]
    for group in GROUPS:
        owns, leasts = [], []
        for matrix, nnz in sorted({(c["matrix"], c["nnz"]) for c in found if c["kind"] == group}):
            text, own, least = line([c for c in found if (c["matrix"], c["nnz"]) == (matrix, nnz)])
            out.append(text)
            owns += own
            leasts += least
        if owns:
            out.append(f"| *{group}: mean, worst of {len(owns)}* | | | | *{mean(owns):.2f}, {min(owns):.2f}* | *{mean(leasts):.2f}, {min(leasts):.2f}* | |")
    return out


def main(*arguments):
    names = list(arguments)
    page = None
    if "--page" in names:
        at = names.index("--page")
        page = names[at + 1]
        del names[at : at + 2]
    if not names:
        sys.exit(__doc__)
    if page:
        put(page, {"roofline": table(names)})
    else:
        print("\n".join(table(names)))


if __name__ == "__main__":
    main(*sys.argv[1:])
