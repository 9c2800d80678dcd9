#!/usr/bin/env python3
"""Write the tables of docs/performance/ and README.md from the predictions of train for recorded tables, and from the output of bench_spmv.

    tests/bench/tables.py predictions.csv analysis.md docs/performance/spmv.md docs/performance/selector.md README.md [spmv.csv ...]

Writes between the lines <!-- figures: NAME --> and <!-- end of figures --> of the pages.  A ratio is the speedup of gpucsr over another library.
Means are geometric, over the matrices for which all cuSPARSE algorithms were timed.  The gpucsr kernel is selected by a cost model trained without the matrix's family.
"""
import csv
import math
import os
import re
import sys

LEAST = 1e5  # nonzeros: smaller matrices are a row of their own
MANY = 1e6   # nonzeros from where a product takes longer than its launch
LARGE = (5e6, 2e7)  # nonzeros from where the copy rate is a limit, and where a launch hardly counts beside it


def always(case):
    return True


def inside(case):
    return case["xcache"] <= 1


def beyond(case):
    return case["xcache"] > 1


# row: name, kinds or families, sides, further condition, goals: double, mixed, aijcusparse, its explicit transpose (None: no goal)
ROWS = (
    ("stencils, variable coefficients", ("stencil-variable",), ("A", "At"), always, 1.6, 1.25, 2.2, None),
    ("stencils, few distinct values", ("stencil-few",), ("A", "At"), always, 2.0, 1.5, 3, None),
    ("FEM, scalar", ("FEM", "FEM-unordered"), ("A", "At"), always, 1.6, 1.2, 2, None),
    ("FEM, blocks of unknowns", ("FEM-blocks",), ("A", "At"), always, 2.0, 1.5, 2.4, None),
    ("circuits with dense rows", ("circuit-dense",), ("A", "At"), always, 1.4, 1.1, 1.5, None),
    ("LP, A x", ("LP",), ("A",), always, 1.3, 1.1, 1.4, None),
    ("LP, A' y", ("LP",), ("At",), always, 1.3, 1.1, 10, None),
    ("power law, x inside the L2 cache", ("power-law",), ("A", "At"), inside, 1.2, 1.1, 1.4, None),
    ("power law, x beyond it", ("power-law",), ("A", "At"), beyond, 1.4, 1.3, 1.6, None),
    ("bag of words, A x", ("text-counts", "text-tfidf", "text-wide"), ("A",), always, 1.4, 1.1, 1.6, None),
    ("bag of words, A' y", ("text-counts", "text-tfidf", "text-wide"), ("At",), always, 1.4, 1.1, 25, 1.6),
)
TINY_RATIO, TINY_MICROSECONDS = 1.5, 4


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def predictions(name):
    with open(name) as file:
        return [{k: float(v) if re.fullmatch(r"[-+.\de]+", v) else v for k, v in row.items()} for row in csv.DictReader(file)]


def products(names, cache):
    """what bench_spmv measured: a case for each matrix and operation, with the microseconds of every type"""
    cases = {}
    for name in names:
        with open(name) as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                side = "At" if row["operation"] == "MatMultTranspose" else "A"
                x = float(row["m"] if side == "At" else row["n"])
                case = cases.setdefault((row["matrix"], side), {"matrix": row["matrix"], "kind": row["kind"], "side": side, "nnz": float(row["nnz"])})
                case["family"] = re.sub(r"(-big)?-\d+$", "", row["matrix"])
                case["xcache"] = 8 * x / cache
                case[row["type"]] = float(row["us"])
    return list(cases.values())


def belongs(case, row):
    _, groups, sides, condition = row[:4]
    return (case["kind"] in groups or case["family"] in groups) and case["side"] in sides and condition(case)


def cell(value, goal):
    if value is None:
        return "-"
    text = f"{value:.2f}" if value < 9.95 else f"{value:.1f}"
    if goal is None:
        return text
    return f"**{text}** ({goal:g})" if value >= goal else f"{text} ({goal:g})"


def ratios(cases, rival, ours):
    return [c[rival] / c[ours] for c in cases if c.get(rival, 0) > 0 and c.get(ours, 0) > 0]


def measured(row, petsc):
    """how much faster than aijcusparse MatMult() is, or MatMultTranspose(): of square families A alone, whose rows are both sides"""
    goal, explicit_goal = row[6:8]
    cases = [c for c in petsc if belongs(c, row) and (c["side"] == "A" or row[2] == ("At",))]
    values = ratios(cases, "aijcusparse", "gpucsr")
    if not values:
        return "-"
    text = cell(mean(values), goal)
    if row[2] == ("At",):
        text += " · explicit " + cell(mean(ratios(cases, "aijcusparse:explicit", "gpucsr")), explicit_goal)
    return f"{text}, {len(values)}"


def tiny(petsc):
    cases = [c for c in petsc if c["nnz"] < LEAST and c["side"] == "A" and "aijcusparse" in c]
    times = sorted(c["gpucsr"] for c in cases)
    if not cases:
        return "-", ""
    told = f"; {times[len(times) // 2]:.1f} µs a product in the median, {times[-1]:.1f} at most ({TINY_MICROSECONDS})"
    return f"{cell(mean(ratios(cases, 'aijcusparse', 'gpucsr')), TINY_RATIO)}, {len(cases)}", told


def families(cases, petsc):
    out = ["| family | cases | best cuSPARSE, double | best cuSPARSE, mixed | the same over our best kernel | from 1e6 nonzeros up: double, mixed | aijcusparse, through PETSc: ratio, matrices |", "|---|---|---|---|---|---|---|"]
    for row in ROWS:
        mine = [c for c in cases if belongs(c, row) and c["nnz"] >= LEAST and c["mixed_us"] > 0]
        many = [c for c in mine if c["nnz"] >= MANY]
        double, mixed, best = (mean(ratios(mine, a, b)) for a, b in (("double_us", "held_us"), ("mixed_us", "held_us"), ("mixed_us", "best_us")))
        later = ", ".join(cell(mean(ratios(many, a, "held_us")), None) for a in ("double_us", "mixed_us"))
        out.append(f"| {row[0]} | {len(mine)} | {cell(double, row[4])} | {cell(mixed, row[5])} | {cell(best, None)} | {later} | {measured(row, petsc)} |")
    ratio, told = tiny(petsc)
    out.append(f"| tiny, under 1e5 nonzeros, through PETSc | - | - | - | - | - | {ratio}{told} |")
    return out


def goals(cases):
    """the other figures that were set as goals"""
    share = [c["best_us"] / c["held_us"] for c in cases]
    mixed = [c for c in cases if c["mixed_us"] > 0]
    below = [sum(c["mixed_us"] < 0.95 * c[us] for c in mixed) for us in ("held_us", "seen_us", "best_us")]
    out = ["| | figure | goal |", "|---|---|---|",
           f"| selected kernel under cross-validation by family, speed relative to the best kernel: mean, minimum | {mean(share):.3f}, {min(share):.2f} | 0.97, 0.85 |",
           f"| cases of {len(mixed)} slower than 0.95 times the best mixed cuSPARSE: under cross-validation by family, with all families in training, best kernel | {below[0]}, {below[1]}, {below[2]} | 0 |"]
    for large in LARGE:
        roof = [c["roofline"] for c in cases if c["nnz"] >= large and c["roofline"] > 0 and c["kind"].startswith(("FEM", "stencil"))]
        if roof:
            out.append(f"| FEM and stencils of {large:.0e} nonzeros and more, cold: share of the copy rate by the bytes of the format and the vectors: mean, worst of {len(roof)} | {mean(roof):.2f}, {min(roof):.2f} | 0.85 |")
    return out


def short(cases, petsc):
    """README's: two figures a family, and what users of PETSc have"""
    out = ["| matrices | over the best cuSPARSE, float values | over the best cuSPARSE, double | over `aijcusparse` |", "|---|---|---|---|"]
    for row in ROWS:
        mine = [c for c in cases if belongs(c, row) and c["nnz"] >= LEAST and c["mixed_us"] > 0]
        double, mixed = (mean(ratios(mine, a, "held_us")) for a in ("double_us", "mixed_us"))
        through = mean(ratios([c for c in petsc if belongs(c, row) and (c["side"] == "A" or row[2] == ("At",))], "aijcusparse", "gpucsr"))
        if mine:
            out.append(f"| {row[0]} | {cell(mixed, None)} | {cell(double, None)} | {cell(through, None)} |")
    return out


PARTS = ("The model:", "Candidates:", "Cost in products", "Best sets by smallest mean loss")


def selector(analysis):
    """of what train printed the parts that a reader of the page wants, each a line of words and a table"""
    with open(analysis) as file:
        blocks = file.read().split("\n\n")
    out = []
    for part in PARTS:
        at = next((k for k, block in enumerate(blocks) if block.startswith(part)), None)
        if at is None or at + 1 == len(blocks):
            sys.exit(f"tables.py: {analysis} has no part '{part}'")
        out += ["", blocks[at] + ":" * (not blocks[at].endswith(":")), "", blocks[at + 1].strip()]
    return out[1:]


def put(page, tables):
    with open(page) as file:
        text = file.read()
    for name, lines in tables.items():
        found = re.compile(rf"(<!-- figures: {name} -->\n).*?(<!-- end of figures -->)", re.S)
        if not found.search(text):
            sys.exit(f"tables.py: {page} has no place for the table {name}")
        body = "\n" + "\n".join(lines) + "\n\n"
        text = found.sub(lambda m: m.group(1) + body + m.group(2), text)
    with open(page + ".new", "w") as file:
        file.write(text)
    os.replace(page + ".new", page)


def main(table, analysis, spmv, selection, readme, *names):
    cases = predictions(table)
    if not cases:
        sys.exit(f"tables.py: {table} holds no matrix")
    cache = max((8 * c["n"] / c["xcache"] for c in cases if c["xcache"] > 0), default=math.inf)
    petsc = products(names, cache)
    put(spmv, {"families": families(cases, petsc), "goals": goals(cases)})
    put(selection, {"selector": selector(analysis)})
    put(readme, {"families": short(cases, petsc)})


if __name__ == "__main__":
    main(*sys.argv[1:])
