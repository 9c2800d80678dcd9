#!/usr/bin/env python3
"""Measures everything about streamed data in one run, and compares it with the goals.

    stream.sh FOLDER [--bin build/bin] [--seconds 200] [--scale 1] [--parts pipeline,bigkernel,text,file,rmat] [--cupy PYTHON] [--mpiexec COMMAND] [--ranks 16]

Each program's output goes to FOLDER, as CSV with lines of remarks that begin with #. The essentials are printed: ratios, and the goals where there is one.
The programs run one after the other. A program that has not ended after its time, or after the time that --seconds leaves, is stopped and reported, and the others run.
--scale below 1 takes a fraction of BigKernel's data, and a small matrix in place of the large ones, to try the script on a machine without a GPU.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("folder")
arguments.add_argument("--bin", default=os.path.join(os.environ.get("BUILD", "build"), "bin"))
arguments.add_argument("--seconds", type=float, default=200)
arguments.add_argument("--scale", type=float, default=1)
arguments.add_argument("--parts", default="pipeline,bigkernel,text,file,rmat")
arguments.add_argument("--cupy", default="/opt/torch/.venv/bin/python3", help="a Python with CuPy; skipped if it does not exist")
arguments.add_argument("--mpiexec", default=os.environ.get("MPIEXEC", "mpiexec"))
arguments.add_argument("--ranks", type=int, default=16)
options = arguments.parse_args()
here = os.path.dirname(os.path.abspath(__file__))
start = time.monotonic()
failures = []


def run(name, command, limit):
    """Runs a program with its output in FOLDER/name.csv. Returns its rows as dictionaries; rows before a line of column names are dropped."""
    path = os.path.join(options.folder, name + ".csv")
    limit = min(limit, options.seconds - (time.monotonic() - start))
    if limit < 1:
        failures.append(f"{name}: not run, no time is left")
        return []
    began = time.monotonic()
    with open(path, "w") as out, open(os.path.join(options.folder, name + ".err"), "w") as err:
        print("# " + " ".join(command), file=out, flush=True)
        try:
            code = subprocess.run(command, stdout=out, stderr=err, timeout=limit).returncode
        except subprocess.TimeoutExpired:
            code = f"stopped after {limit:.0f} s"
        except OSError as error:
            code = str(error)
    if code:
        with open(os.path.join(options.folder, name + ".err")) as err:
            failures.append(f"{name}: {code}: {' '.join(err.read().split())[-300:]}")
    print(f"# {name}: {time.monotonic() - began:.1f} s")
    return rows(path)


def rows(path):
    """Returns the lines of a table. A line whose first field is the name of a column begins a table."""
    names, table = None, []
    with open(path, newline="") as file:
        for line in csv.reader(row for row in file if not row.startswith("#")):
            if not names or line[0] in ("storage", "program", "source", "cache", "bound", "name"):
                names = line
            elif len(line) == len(names):
                table.append(dict(zip(names, line)))
    return table


def find(table, **fields):
    """Returns the first row with these fields, or None."""
    return next((row for row in table if all(row[k] == v for k, v in fields.items())), None)


def goal(what, value, unit, least=None, most=None):
    """Prints a figure beside its goal."""
    reached = (least is None or value >= least) and (most is None or value <= most)
    text = f"at least {least}" if least is not None else f"at most {most}"
    verdict = "" if options.scale != 1 else ": reached" if reached else ": MISSED"
    print(f"  {what}: {value:.3g}{unit} (goal {text}{verdict})")


def program(name, *more):
    return [os.path.join(options.bin, name), *more]


# --- parts ----------------------------------------------------------------------------------------------------------------------


def pipeline():
    table = run("stream", program("bench_stream", "512", "3"), 60)
    for buffers in "123":
        row = find(table, source="pinned", MiB="32", buffers=buffers, resident="0.00", results="0.000")
        if row:
            print(f"  pinned, 32 MiB, {buffers} buffers: {float(row['GB/s']):.1f} GB/s, {float(row['link']):.2f} of the link")


def bigkernel():
    table = run("bigkernel", program("bench_bigkernel", "--scale", str(options.scale), "--repeats", "3"), 120)
    for name in ("kmeans", "netflix", "affinity"):
        print(f"  {name}: ms; speedup over serial, threaded, single buffer, double buffer; of the link; transfer, compute, fill, wait ms; prepare, pin s")
        for row in table:
            if row["program"] == name:
                print(f"    {row['variant']:20s} {float(row['ms']):9.2f} | {' '.join(format(row[k], '>6s') for k in ('serial', 'threaded', 'single', 'double'))} | {row['link']:5s} | "
                      f"{row['transfer_ms']} {row['compute_ms']} {row['fill_ms']} {row['wait_ms']} | {row['prepare_s']} {row['pin_s']}")
    row = find(table, program="kmeans", variant="layout")
    if row:
        goal("k-means, a pass", float(row["ms"]), " ms", most=60)
        goal("k-means, speedup over the double buffer", float(row["double"]), "", least=1.8)


def cupy(name, file):
    if not os.path.exists(options.cupy):
        print(f"  CuPy: skipped, there is no {options.cupy}")
        return None
    table = run(name, [options.cupy, os.path.join(here, "stream_cupy.py"), file], 60)
    return float(table[0]["ms"]) if table else None


def aij(name, file):
    table = run(name, [options.mpiexec, "-n", str(options.ranks), *program("bench_streammat", "-read", file, "-repeats", "4")], 60)
    return float(table[0]["ms"]) if table else None


def bounded(name, file, bound, chunk):
    table = run(name, program("bench_streammat", "-read", file, "-bounded", "-repeats", "4", "-gpucsr_device_memory", str(bound), "-mat_gpucsr_stream", "auto", "-mat_gpucsr_stream_chunk", str(chunk)), 60)
    if table:
        row = table[0]
        print(f"  device memory bound {bound / 1e6:.0f} MB, chunks {float(row['bytes']) / 1e6:.0f} MB, resident {float(row['resident']) / 1e6:.0f} MB: {row['ms']} ms, difference from aij {row['difference']}")


def matrix(part, args, ratio, bound=None, chunk=None):
    """Products with one matrix by all variants, by CuPy and by PETSc's aij on all cores."""
    file = os.path.join(tempfile.gettempdir(), f"stream_{part}_{os.getpid()}.bin")
    try:
        table = run("streammat_" + part, program("bench_streammat", *args, "-repeats", "4", "-write", file), 120)
        if not os.path.exists(file):
            return
        if bound:
            bounded("bounded_" + part, file, bound, chunk)
        peers = {"CuPy, two streams": cupy(f"cupy_{part}", file), f"aij, {options.ranks} cores": aij(f"aij_{part}", file)}
    finally:
        if os.path.exists(file):
            os.unlink(file)
    one = find(table, storage="single", encode="auto", resident="0.0", product="mult")
    double = find(table, storage="double", encode="none", buffers="2", product="mult")
    if not one or not double:
        return
    ms = float(one["ms"])
    print(f"  y = A x, nothing resident: {ms:.3f} ms, {float(one['bytes']) / 1e6:.0f} MB, encoded in {one['encode_s']} s, pinned in {one['pin_s']} s")
    goal("fraction of the link", float(one["link"]), "", least=0.9)
    goal("speedup over double-buffered double CSR", float(double["ms"]) / ms, "", least=ratio)
    for peer, time_ms in peers.items():
        if time_ms:
            print(f"  speedup over {peer}: {time_ms / ms:.2f} ({time_ms:.2f} ms)")
    for product, least in (("transpose", 0.85), ("shared", 0.85)):
        row = find(table, storage="single", encode="auto", resident="0.0", product=product)
        if row:
            goal(f"A' x, {product}: fraction of the link", float(row["link"]), "", least=least)
    row = find(table, storage="single", encode="auto", resident="0.5", product="mult")
    if row:
        goal("half resident, over half the time", 2 * float(row["ms"]) / ms, "", most=1.1)
    row = find(table, storage="single", encode="auto", resident="0.0", product="many")
    if row:
        goal("16 vectors, over one", float(row["ms"]) / ms, "", most=1.15)


def text():
    if options.scale == 1:
        matrix("text", ["-matrix", "text"], 1.8, 200000000, 8 << 20)
    else:
        matrix("text", ["-matrix", "tall"], 1.8, 30000000, 1 << 20)


def rmat():
    matrix("rmat", ["-matrix", "rmat-22" if options.scale == 1 else "tall", "-equal"], 3.3)


def file():
    table = run("chunkfile", program("bench_chunkfile", "--repeats", "2", "--file", os.path.join(tempfile.gettempdir(), f"stream_{os.getpid()}.chunks"), "256"), 60)
    for cache in ("cold", "warm"):
        ratios = [(float(row["ratio"]), row["threads"]) for row in table if row["cache"] == cache and row["reader"] == "pipeline"]
        if ratios:
            goal(f"chunk file, {cache} cache, {max(ratios)[1]} threads: rate over sequential reading", max(ratios)[0], "", least=0.85)


os.makedirs(options.folder, exist_ok=True)
for part in options.parts.split(","):
    print(f"== {part}", flush=True)
    {"pipeline": pipeline, "bigkernel": bigkernel, "text": text, "rmat": rmat, "file": file}[part]()
print(f"# {time.monotonic() - start:.0f} s")
for failure in failures:
    print("FAILED " + failure)
sys.exit(bool(failures))
