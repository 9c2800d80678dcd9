#!/usr/bin/env python3
"""Checks a picture by its structure: nothing is cut off, no text covers another one, ticks are round.

    picture.py <file> [TEXT...]       the texts must be in the picture

SVG with texts, PDF (texts and their boxes by pdftotext), SVG of Cairo (places of the letters) and PNG (size, and a white edge if Pillow is installed).
"""
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as xml
import zlib

SVG = "{http://www.w3.org/2000/svg}"


def inside(boxes, width, height):
    for text, (left, top, right, bottom) in boxes:
        assert 0 <= left and 0 <= top and right <= width and bottom <= height, f"{text} at {left, top, right, bottom} leaves the picture of {width} x {height}"


def apart(boxes):
    for k, (text, a) in enumerate(boxes):
        for other, b in boxes[:k]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], f"{text} covers {other}: {a}, {b}"


def measure(text):
    """The width of a text in multiples of its size: about that of a sans-serif font."""
    return sum(0.3 if c in "iljtfI.,:;'| " else 0.85 if c in "mwMW%" else 0.58 for c in text)


def number(text):
    """The value of a number along an axis, else None."""
    text = text.replace("\u2212", "-")
    power = re.fullmatch("10([\u207b\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)", text)
    if power:
        return 10.0 ** int(power[1].translate(str.maketrans("\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "-0123456789")))
    return float(text) if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?", text) else None


def is_round(ticks):
    """Equal steps of 1, 2 or 5 times a power of ten, or powers of ten and 2 and 5 times them."""
    step = ticks[1] - ticks[0]
    linear = all(abs(b - a - step) < 1e-6 * abs(step) for a, b in zip(ticks, ticks[1:])) and f"{step:e}"[:8] in ("1.000000", "2.000000", "5.000000")
    log = all(t > 0 and f"{t:e}"[:8] in ("1.000000", "2.000000", "5.000000") for t in ticks)
    return linear or log


def round_ticks(places):
    """places: (number, the coordinate that the ticks of one axis share, the other coordinate)"""
    axes = {}
    for value, shared, along in places:
        axes.setdefault(shared, []).append((along, value))
    axes = [[value for _, value in sorted(axis)] for axis in axes.values() if len(axis) > 1]
    assert axes, "no axis has ticks"
    for axis in axes:
        ticks, sign = [], 1 if axis[0] < axis[1] else -1
        for value in axis + [-sign * float("inf")]:
            if ticks and sign * value <= sign * ticks[-1]:  # the next panel begins
                assert len(ticks) > 1 and is_round(ticks[::sign]), f"ticks {ticks}"
                ticks = []
            ticks.append(value)


def check_svg_texts(root, width, height):
    boxes, places = [], []
    for t in root.iter(SVG + "text"):
        x, y = (float(v) for v in re.match(r"translate\((\S+) (\S+)\)", t.get("transform")).groups())
        size, anchor = float(t.get("font-size")), t.get("text-anchor")
        long = size * measure(t.text)
        from_ = {"start": 0, "middle": -long / 2, "end": -long}[anchor]
        if "rotate" in t.get("transform"):
            boxes.append((t.text, (x - 0.75 * size, y - long / 2, x + 0.2 * size, y + long / 2)))
        else:
            boxes.append((t.text, (x + from_, y - 0.75 * size, x + from_ + long, y + 0.2 * size)))
            value = number(t.text)
            if value is not None and anchor != "start":
                places.append((value, ("x", x) if anchor == "end" else ("y", y), y if anchor == "end" else x))
    inside(boxes, width, height)
    apart(boxes)
    round_ticks(places)
    return [text for text, _ in boxes]


def check_svg(data):
    root = xml.fromstring(data)
    assert root.tag == SVG + "svg"
    width, height = (float(v) for v in root.get("viewBox").split()[2:])
    if root.find(".//" + SVG + "text") is not None:
        return check_svg_texts(root, width, height)
    letters = [(u.get("{http://www.w3.org/1999/xlink}href"), float(u.get("x")), float(u.get("y"))) for u in root.iter(SVG + "use")]
    assert len(letters) > 20, "no letters"
    for name, x, y in letters:
        assert 0 <= x <= width - 3 and 8 <= y <= height - 2, f"letter {name} at {x, y} leaves the picture of {width} x {height}"
    return None


def check_pdf(file, data):
    assert data.startswith(b"%PDF-") and data.rstrip().endswith(b"%%EOF") and b"CreationDate" not in data
    try:
        page = subprocess.run(["pdftotext", "-bbox", file, "-"], capture_output=True, check=True, text=True).stdout
    except FileNotFoundError:
        return None
    width, height = (float(v) for v in re.search('<page width="(.*?)" height="(.*?)">', page).groups())
    boxes = []
    for *box, text in re.findall(r'<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*?)</word>', page):
        left, top, right, bottom = (float(v) for v in box)
        turned = len(text) > 1 and bottom - top > 1.3 * (right - left)
        slim = 0.17 * (right - left if turned else bottom - top)  # the boxes hold the space between lines
        boxes.append((text, (left + slim, top, right - slim, bottom) if turned else (left, top + slim, right, bottom - slim)))
    inside(boxes, width, height)
    apart(boxes)
    return [" ".join(text for text, _ in boxes)] + [text for text, _ in boxes]


def check_png(file, data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[-8:-4] == b"IEND"
    width, height = struct.unpack(">II", data[16:24])
    assert width == 1600 and 300 < height < 4000, f"{width} x {height} pixels"
    at, rows = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        rows += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    assert len(zlib.decompress(rows)) == height * (1 + width * data[25] // 2 * 3), "pixels are missing"
    try:
        from PIL import Image
    except ImportError:
        return None
    image = Image.open(file).convert("L")
    for edge in ((0, 0, width, 6), (0, 0, 6, height), (width - 6, 0, width, height), (0, height - 6, width, height)):
        assert image.crop(edge).getextrema()[0] == 255, f"something is cut off at the edge {edge}"
    return None


def main(file, *wanted):
    data = open(file, "rb").read()
    texts = check_pdf(file, data) if file.endswith(".pdf") else check_png(file, data) if file.endswith(".png") else check_svg(data)
    for text in wanted if texts is not None else ():
        assert any(text in t for t in texts), f"{text} is not in the picture: {texts}"


if __name__ == "__main__":
    main(*sys.argv[1:])
