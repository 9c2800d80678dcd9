#!/usr/bin/env python3
"""Compares a picture of bmrm, an SVG with texts, with the numbers of the report.

    pictures.py quality <picture> <report>
    pictures.py path <picture> <report>
"""
import json
import re
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
RIGHT, WRONG = "#0072b2", "#d55e00"


def curves(root, width):
    """The points of all lines of this width, in the order of the file."""
    return [[tuple(map(float, p.split(","))) for p in line.get("points").split()] for line in root.iter(SVG + "polyline") if line.get("stroke-width") == width]


def expect_affine(what, pixels, values):
    """Pixels, rounded to one decimal, are an affine function of the values."""
    assert len(pixels) == len(values), f"{what}: {len(pixels)} points in the picture, {len(values)} in the report"
    low, high = min(values), max(values)
    if low == high:
        assert len(set(pixels)) == 1, f"{what}: equal values at {pixels}"
        return
    a, b = pixels[values.index(low)], pixels[values.index(high)]
    assert abs(a - b) > 20, f"{what}: {low} and {high} are both at {a}"
    for p, v in zip(pixels, values):
        at = a + (v - low) / (high - low) * (b - a)
        assert abs(p - at) < 0.16, f"{what}: {v} is at {p} instead of {at}"


def expect_curve(what, curve, values, across=lambda v: v):
    expect_affine(what + ", across", [p[0] for p in curve], [across(v[0]) for v in values])
    expect_affine(what + ", up", [-p[1] for p in curve], [v[1] for v in values])


def expect_squares(root, confusion):
    """The sides of the squares are the roots of the fractions; those of right predictions are blue."""
    found = []
    for path in root.iter(SVG + "path"):
        step = re.match(r"M(\S+) (\S+)l(\S+) 0", path.get("d") or "")
        if step and path.get("fill") in (RIGHT, WRONG):
            found.append((path.get("fill"), float(step[3])))
    want = []
    for i, row in enumerate(confusion):
        want += [(RIGHT if i == j else WRONG, (n / sum(row)) ** 0.5) for j, n in enumerate(row) if n]
    assert [f[0] for f in found] == [w[0] for w in want], f"colours of the squares: {found}, expected {want}"
    scale = found[0][1] / want[0][1]
    for (_, side), (_, root_) in zip(found, want):
        assert abs(side - scale * root_) < 1e-3 * scale, f"a square of side {side} instead of {scale * root_}"


def check_quality(root, report):
    q = report["quality"]
    lines = curves(root, "2")
    texts = [t.text for t in root.iter(SVG + "text")]
    for row in q["confusion"]:
        for n in row:
            assert str(n) in texts, f"the number {n} of the confusion matrix is missing"
    for c in q["classes"]:
        assert texts.count(c["class"]) == 2, f"class {c['class']} is not named twice"
    expect_squares(root, q["confusion"])
    if len(q["classes"]) == 2:
        expect_curve("ROC", lines.pop(0), [(0, 0)] + [p[1:] for p in q["roc"]])
        expect_curve("precision and recall", lines.pop(0), [p[1:] for p in q["precision_recall"]])
        assert any(t == f"ROC, area {report['test_auc']:.4f}" for t in texts), "the area below the ROC curve is missing"
        assert any(t == f"average precision {q['average_precision']:.4f}" for t in texts), "the average precision is missing"
    if "calibration" in q:
        expect_curve("calibration", lines.pop(0), [(b["probability"], b["fraction"]) for b in q["calibration"]])
    assert not lines, f"{len(lines)} more curves"


def check_path(root, report):
    from math import log

    path = report["path"]
    lines = curves(root, "2")[len(curves(root, "2")) - (3 if path[0]["validation"] is not None else 2):]
    lambdas = [p["lambda"] for p in path]
    for key in ("train", "validation", "nonzero_weights"):
        if path[0][key] is not None:
            expect_curve(key, lines.pop(0), list(zip(lambdas, [p[key] for p in path])), log)
    bars = [line for line in curves(root, "1") if len(line) == 2 and line[0][0] == line[1][0]]
    if path[0]["validation"] is not None:
        bars = [b for b in bars if b[0][1] > b[1][1]][-len(path):]
        assert len(bars) == len(path), f"{len(bars)} bars for {len(path)} lambdas"
        values, up = [p["validation"] for p in path], [p[1] for p in curves(root, "2")[-2]]
        low, high = values.index(min(values)), values.index(max(values))
        unit = (up[low] - up[high]) / (values[high] - values[low])  # pixels
        for bar, p in zip(bars, path):
            want = 2 * p["standard_error"] * unit
            assert abs(bar[0][1] - bar[1][1] - want) < 0.21 + 0.01 * want, f"a bar of {bar[0][1] - bar[1][1]} pixels instead of {want}"
    dotted = curves(root, "1.5")
    at = lambdas.index(next(p["lambda"] for p in path if p["chosen"]))
    assert len(dotted) == 2 and all(abs(d[0][0] - c[at][0]) < 0.16 for d, c in zip(dotted, (curves(root, "2")[-2], curves(root, "2")[-1]))), "the dotted line is not at the chosen lambda"


if __name__ == "__main__":
    picture = xml.parse(sys.argv[2]).getroot()
    with open(sys.argv[3]) as file:
        {"quality": check_quality, "path": check_path}[sys.argv[1]](picture, json.load(file))
