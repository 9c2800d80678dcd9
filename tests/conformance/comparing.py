"""Compares outputs: with PETSc's reference by PETSc's own petscdiff, and number by number with a run of plain aij."""
import difflib
import os
import re
import subprocess

# type names that stand for each other; Vec types only where PETSc prints a type
MAT_NAMES = re.compile(r"\b(seq|mpi|)(?:gpucsr|aij(?:gpucsr|cusparse|kokkos|viennacl|hipsparse))\b")
VEC_NAMES = re.compile(r"(type: *)(seq|mpi)(?:gpu|cuda|kokkos|viennacl|hip)\b")
DENSE_NAMES = re.compile(r"\b(seq|mpi|)dense(?:cuda|hip)\b")
# the solver that PETSc's own stands in for
SOLVER_NAMES = re.compile(r"(package used to perform factorization: )(?:gpucsr|cusparse|kokkos|viennacl|hipsparse)\b")
SOLVER_TITLES = re.compile(r"\b(?:CUSPARSE|KOKKOS|VIENNACL|HIPSPARSE)(?= (?:LU|CHOLESKY|ILU|ICC|QR)\b)")
OUR_LINES = re.compile(r"^\s*gpucsr: ")  # what MatView adds
NUMBER = re.compile(r"(?:< *)?[-+]?(?:\b\d+\.\d*(?:[eE][-+]?\d+)?|\b\d+[eE][-+]\d+|\.\d+(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b)", re.I)


def plain(lines):
    """The same output with everybody's type names as plain aij would print them, without lines of ours alone."""
    kept = []
    for line in lines:
        if OUR_LINES.match(line):
            continue
        line = SOLVER_NAMES.sub(r"\1petsc", line)  # before the Mat types, one of which has the name of a solver
        line = MAT_NAMES.sub(r"\1aij", line)
        line = VEC_NAMES.sub(r"\1\2", line)
        line = DENSE_NAMES.sub(r"\1dense", line)
        kept.append(SOLVER_TITLES.sub("PETSC", line))
    return kept


def write(path, lines):
    with open(path, "w") as file:
        file.write("\n".join(lines))


def filtered(path, commands):
    """A test's filter is a piece of shell, which PETSc's harness puts into $'...'; so do we."""
    if not commands:
        return path
    script = f"f=$'{commands}'; eval \"cat '{path}' | $f\" > '{path}.filtered'"
    subprocess.run(["bash", "-c", script], stderr=subprocess.DEVNULL, cwd=os.path.dirname(path), stdin=subprocess.DEVNULL)
    return path + ".filtered"


def reference_difference(petscdiff, case, actual, folder):
    """"" when petscdiff finds the output equal to the reference or to one of its alternatives; else the first difference."""
    first = ""
    for expected in case.expected:
        if not os.path.isfile(expected):
            return "no reference output"
        with open(expected, errors="replace") as file:
            write(os.path.join(folder, "expected"), plain(file.read().split("\n")))
        reference = filtered(os.path.join(folder, "expected"), case.filter_output)
        command = ["bash", petscdiff, *case.diff_args.split(), reference, actual]
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            return ""
        first = first or difference(reference, actual)
    return first


def read(path):
    with open(path, errors="replace") as file:
        return file.read()


def skeleton(line):
    return "".join(NUMBER.sub(" # ", line).split())


def difference(reference, actual):
    """The first line that differs in more than floating-point numbers, from both sides."""
    a, b = ([line for line in read(p).split("\n") if line.strip()] for p in (reference, actual))
    matcher = difflib.SequenceMatcher(None, [skeleton(x) for x in a], [skeleton(x) for x in b], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            return f"reference: {a[i1].strip() if i1 < i2 else '(nothing)'} | output: {b[j1].strip() if j1 < j2 else '(nothing)'}"
    return "petscdiff sees a difference"


def value(text):
    """A number as printed; "< 1e-12" says no more than that it is small."""
    return 0.0 if text.startswith("<") else float(text)


def unit(text):
    """One in the last digit printed: two values that hardly differ may be rounded to neighbours."""
    mantissa, _, exponent = text.lstrip("< ").lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])) if text[-1].isdigit() or text[-1] == "." else 0.0


def numbers_difference(ours, theirs, rtol, atol):
    """"" when two outputs hold the same words and, within tolerances, the same numbers; and the worst ratio of error to tolerance."""
    a, b = ([line for line in read(p).split("\n") if line.strip()] for p in (ours, theirs))
    if [skeleton(x) for x in a] != [skeleton(x) for x in b]:
        return difference(theirs, ours).replace("reference:", "aij:").replace("output:", "gpucsr:"), float("inf")
    worst, where = 0.0, ""
    for x, y in zip(a, b):
        for p, q in zip(NUMBER.findall(x), NUMBER.findall(y)):
            u, v = value(p), value(q)
            if u == v or (u != u and v != v):
                continue
            ratio = abs(u - v) / (rtol * max(abs(u), abs(v)) + atol + 1.01 * max(unit(p), unit(q)))
            if not ratio <= worst:
                worst, where = ratio, f"aij: {y.strip()} | gpucsr: {x.strip()}"
    return ("" if worst <= 1 else where), worst
