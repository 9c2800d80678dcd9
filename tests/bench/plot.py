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

WIDTH, ROW, LEFT, TOP = 820, 34, 150, 64
COLOURS = {"MatMult": "#4878a8", "MatMultTranspose": "#c8693c"}


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
    return head, {g: {op: mean([times[m, "aijcusparse", op] / times[m, "gpucsr", op] for m in group]) for op in COLOURS} for g, group in groups.items()}


def bar(x, y, length, colour, label):
    return (f'<rect x="{x}" y="{y}" width="{length:.1f}" height="12" fill="{colour}"/>'
            f'<text x="{x + length + 5:.1f}" y="{y + 10.5}" font-size="11">{label}</text>')


def main(source, target):
    head, table = ratios(source)
    caption = head.split(";")[0]
    scale = (WIDTH - LEFT - 160) / 4.0  # up to 4x to scale; longer bars are cut and say so
    height = TOP + ROW * len(table) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           f'<text x="{LEFT}" y="22" font-size="15">Time of aijcusparse / time of gpucsr, NVIDIA H200 (longer is faster)</text>']
    for k, (operation, colour) in enumerate(COLOURS.items()):
        out.append(f'<rect x="{LEFT + 170 * k}" y="34" width="12" height="12" fill="{colour}"/>'
                   f'<text x="{LEFT + 170 * k + 18}" y="44.5" font-size="12">{operation}</text>')
    for k, (matrix, row) in enumerate(table.items()):
        y = TOP + ROW * k
        out.append(f'<text x="{LEFT - 8}" y="{y + 18}" font-size="12" text-anchor="end">{matrix}</text>')
        for j, (operation, colour) in enumerate(COLOURS.items()):
            ratio = row[operation]
            out.append(bar(LEFT, y + 13 * j, min(ratio, 4) * scale, colour, f"{ratio:.2f}" if ratio < 4 else f"{ratio:.1f}, cut"))
    out.append(f'<line x1="{LEFT + scale}" y1="{TOP - 4}" x2="{LEFT + scale}" y2="{height - 36}" stroke="#888" stroke-dasharray="3,3"/>')
    out.append(f'<text x="{LEFT}" y="{height - 14}" font-size="10" fill="#555">{caption}</text></svg>')
    with open(target, "w") as file:
        file.write("\n".join(out) + "\n")


def mean(values):
    """geometric mean of what is positive, None of nothing"""
    logs = [math.log(v) for v in values if v > 0]
    return math.exp(sum(logs) / len(logs)) if logs else None


# column of the figure: title, longest bar, what a case gives (0: nothing)
PANELS = (
    ("speed of the choice / of the best kernel", 1.0, lambda c: c["best_us"] / c["held_us"]),
    ("time of the best mixed cuSPARSE / ours", 4.0, lambda c: c["mixed_us"] / c["held_us"]),
    ("time of the best double cuSPARSE / ours", 4.0, lambda c: c["double_us"] / c["held_us"]),
    ("share of the roofline, 1e6 nonzeros up", 1.0, lambda c: c["roofline"] if c["nnz"] >= 1e6 else 0),
)


def corpus(source, target):
    kinds = {}
    with open(source) as file:
        for row in csv.DictReader(file):
            case = {k: float(row[k]) for k in ("nnz", "best_us", "held_us", "mixed_us", "double_us", "roofline")}
            kinds.setdefault(row["kind"], {}).setdefault(row["side"], []).append(case)
    panel, row, left, top = 210, 30, 130, 74
    width, height = left + len(PANELS) * (panel + 60), top + row * len(kinds) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="20" font-size="15">The selector on matrices of families that it has not seen: geometric means</text>']
    colours = {"A": "#4878a8", "At": "#c8693c"}
    for k, (side, colour) in enumerate(colours.items()):
        out.append(f'<rect x="{left + 90 * k}" y="29" width="12" height="12" fill="{colour}"/><text x="{left + 90 * k + 18}" y="39.5" font-size="12">{side}</text>')
    for p, (title, longest, value) in enumerate(PANELS):
        x, scale = left + p * (panel + 60), panel / longest
        out.append(f'<text x="{x}" y="{top - 12}" font-size="11">{title}</text>')
        for k, (kind, sides) in enumerate(kinds.items()):
            if p == 0:
                out.append(f'<text x="{left - 8}" y="{top + row * k + 16}" font-size="12" text-anchor="end">{kind}</text>')
            for j, (side, colour) in enumerate(colours.items()):
                ratio = mean([value(c) for c in sides.get(side, [])])
                if ratio is not None:
                    out.append(bar(x, top + row * k + 12 * j, min(ratio, longest) * scale, colour, f"{ratio:.2f}"))
        if longest > 1:
            out.append(f'<line x1="{x + scale}" y1="{top - 4}" x2="{x + scale}" y2="{height - 36}" stroke="#888" stroke-dasharray="3,3"/>')
    cases = sum(len(s) for sides in kinds.values() for s in sides.values())
    out.append(f'<text x="{left}" y="{height - 14}" font-size="10" fill="#555">{cases} matrices and transposes of the corpus; single values, warm</text></svg>')
    with open(target, "w") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--corpus":
        corpus(*sys.argv[2:4])
    else:
        main(*sys.argv[1:3])
