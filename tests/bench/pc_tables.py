#!/usr/bin/env python3
"""Tables of docs/performance/preconditioners.md from tables of bench_pc and bench_pcfactor, as Markdown.

    pc_tables.py solves table.csv ...     every solver of each matrix
    pc_tables.py best table.csv ...       the fastest solver of gpucsr and of the other types for each matrix
    pc_tables.py factors table.csv ...    geometric means of the ratios by kind, and every ratio below 0.95
"""
import collections
import csv
import math
import sys


def read(paths):
    for path in paths:
        with open(path) as file:
            yield from csv.DictReader(line for line in file if not line.startswith("#"))


def number(ms):
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}"


def by_matrix(rows):
    groups = collections.OrderedDict()
    for row in rows:
        groups.setdefault(row["matrix"], []).append(row)
    return groups


def converged(row):
    return row["reason"].startswith("CONVERGED") and float(row["residual"]) <= 1.01e-8


def solves(rows):
    for matrix, group in by_matrix(rows).items():
        print(f"\n`{matrix}`, {int(group[0]['rows']):,} rows, {int(group[0]['nonzeros']):,} nonzeros\n")
        print("| type | solver | iterations | first solve (ms) | of which set-up | further solve | solve with new values |\n|---|---|---|---|---|---|---|")
        for row in sorted(group, key=lambda r: (r["type"] != "gpucsr", float(r["first_ms"]))):
            if not converged(row):
                print(f"| `{row['type']}` | {row['solver']} | {row['iterations']} | did not converge | | | |")
                continue
            first, solve, again = (float(row[k]) for k in ("first_ms", "solve_ms", "again_ms"))
            print(f"| `{row['type']}` | {row['solver']} | {row['iterations']} | {number(first)} | {number(max(first - solve, 0))} | {number(solve)} | {number(again)} |")


def best(rows):
    print("| matrix | rows | fastest of `gpucsr` | ms | fastest of `aijcusparse` | ms | speedup | fastest of `aij` | ms |\n|---|---|---|---|---|---|---|---|---|")
    logs = []
    for matrix, group in by_matrix(rows).items():
        chosen = {}
        for row in group:
            if converged(row) and (row["type"] not in chosen or float(row["first_ms"]) < float(chosen[row["type"]]["first_ms"])):
                chosen[row["type"]] = row
        cells = [f"`{matrix}`", f"{int(group[0]['rows']):,}"]
        for kind in ("gpucsr", "aijcusparse", "aij"):
            row = chosen.get(kind)
            cells += [row["solver"], number(float(row["first_ms"]))] if row else ["-", "-"]
            if kind == "aijcusparse":
                ratio = float(row["first_ms"]) / float(chosen["gpucsr"]["first_ms"]) if row and "gpucsr" in chosen else 0
                cells.append(f"{ratio:.2f}" if ratio else "-")
                if ratio:
                    logs.append(math.log(ratio))
        print("| " + " | ".join(cells) + " |")
    if logs:
        print(f"\nGeometric mean of the speedups: {math.exp(sum(logs) / len(logs)):.2f} on {len(logs)} matrices.")


def factors(rows):
    sums, low, applications = collections.OrderedDict(), [], collections.defaultdict(list)
    for row in rows:
        applications[row["type"]].append(float(row["numeric_us"]) / float(row["apply_us"]))
        if float(row["apply_ratio"]) == float(row["numeric_ratio"]) == 1:
            continue  # the first type
        for kind in (row["kind"], "all"):
            sums.setdefault((row["type"], kind), []).append((math.log(float(row["apply_ratio"])), math.log(max(float(row["numeric_ratio"]), 1e-9))))
        if float(row["apply_ratio"]) < 0.95 or float(row["numeric_ratio"]) < 0.95:
            low.append(row)
    print("| type | matrices | factors | speedup of an application | speedup of a numeric factorisation |\n|---|---|---|---|---|")
    for (kind, family), logs in sums.items():
        print(f"| `{kind}` | {family} | {len(logs)} | {math.exp(sum(a for a, _ in logs) / len(logs)):.2f} | {math.exp(sum(b for _, b in logs) / len(logs)):.2f} |")
    print()
    for kind, values in applications.items():
        print(f"A numeric factorisation of `{kind}` takes {sorted(values)[len(values) // 2]:.1f} applications in the median.")
    print("\n| below 0.95 | factor | type | nonzeros | application | factorisation |\n|---|---|---|---|---|---|")
    for row in low:
        print(f"| {row['matrix']} | {row['factor']} | `{row['type']}` | {int(row['nonzeros']):,} | {row['apply_ratio']} | {row['numeric_ratio']} |")


if __name__ == "__main__":
    tables = {"solves": solves, "best": best, "factors": factors}
    if len(sys.argv) < 3 or sys.argv[1] not in tables:
        sys.exit(__doc__)
    tables[sys.argv[1]](read(sys.argv[2:]))
