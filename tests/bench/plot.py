#!/usr/bin/env python3
"""Draw docs/performance.svg: the time of aijcusparse over that of gpucsr, from the CSV that bench_spmv prints.

    tests/bench/plot.py tests/bench/results/<campaign>/spmv.csv docs/performance.svg
"""
import csv
import sys

WIDTH, ROW, LEFT, TOP = 820, 34, 150, 64
COLOURS = {"MatMult": "#4878a8", "MatMultTranspose": "#c8693c"}


def ratios(name):
    """{matrix: {operation: best aijcusparse time / gpucsr time}}, and what the head of the file says"""
    times, head = {}, ""
    with open(name) as file:
        for row in csv.reader(file):
            if row[0].startswith("#"):
                head = ",".join(row)[2:]
            elif row[0] != "matrix":
                times[row[0], row[1], row[3]] = float(row[4])
    matrices = list(dict.fromkeys(key[0] for key in times))
    return head, {m: {op: times[m, "aijcusparse", op] / times[m, "gpucsr", op] for op in COLOURS} for m in matrices}


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


if __name__ == "__main__":
    main(*sys.argv[1:3])
