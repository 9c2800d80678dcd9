#!/usr/bin/env python3
"""Compare the set-up costs of matrices in tables of bench_corpus, in microseconds and as multiples of a product by the selected kernel.

    tests/bench/setup_costs.py table.csv [table.csv.xz ...]      one column a table; medians over the matrices that all of them have
"""
import csv
import lzma
import statistics
import sys

GOALS = {"features, decision and conversion": 40, "transpose": 30}


def read(path):
    """(matrix, side) -> {what: (microseconds, products)}, nonzeros, format chosen"""
    with (lzma.open if path.endswith(".xz") else open)(path, "rt") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    of = {name.split(":")[1]: (name, name.split(":")[2]) for name in rows[0] if name.startswith("k:")}
    table = {}
    for row in rows:
        kernel, fmt = of[row["chosen"]]
        if not row[kernel]:
            continue  # not timed here
        product = float(row[kernel])
        features, build = float(row["selection"]), float(row["b:" + fmt] or 0)
        cost = {"features and decision": features, "conversion": build, "features, decision and conversion": features + build}
        cost["transpose" if row["side"] == "At" else "upload"] = float(row["transpose" if row["side"] == "At" else "upload"])
        table[row["matrix"], row["side"]] = {what: (us, us / product) for what, us in cost.items()}, float(row["nnz"]), fmt
    return table


def tell(title, tables, keys):
    print(f"\n{title}")
    for what in ("upload", "transpose", "features and decision", "conversion", "features, decision and conversion"):
        having = [key for key in keys if all(what in table[key][0] for table in tables)]
        if not having:
            continue
        cells = [tuple(statistics.median(table[key][0][what][i] for key in having) for i in (0, 1)) for table in tables]
        goal = f"   (at most {GOALS[what]} products)" if what in GOALS else ""
        print(f"  {what:34s} {len(having):4d}" + "".join(f"  {us:9.1f} us {products:7.1f}" for us, products in cells) + goal)


def main():
    tables = [read(path) for path in sys.argv[1:]]
    if not tables:
        sys.exit(__doc__)
    print("tables:", *sys.argv[1:])
    shared = [key for key in tables[0] if all(key in table and table[key][2] == tables[0][key][2] for table in tables)]
    for low, high in ((1e5, 1e6), (1e6, 1e9)):
        tell(f"{low:g} to {high:g} nonzeros", tables, [key for key in shared if low <= tables[0][key][1] < high])
    for fmt in sorted({tables[0][key][2] for key in shared}):
        tell(f"format {fmt}, from 1e+06 nonzeros", tables, [key for key in shared if tables[0][key][2] == fmt and tables[0][key][1] >= 1e6])


if __name__ == "__main__":
    main()
