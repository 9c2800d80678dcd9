#!/usr/bin/env python3
"""Runs the notebooks of examples/notebooks/:   run_notebooks.py [--jupyter] [--figures <folder>] <notebook> ...

All code cells of a notebook run in one name space, one notebook after the other in this process. --jupyter runs them by nbclient instead, in
the kernel python3. --figures writes the figures that a notebook shows, as <folder>/<notebook>-<number>.png. Prints one TAP line for each notebook.
A notebook whose modules or data are missing is skipped. A notebook with stored output, or without an assertion, is an error. Exit code 3: a
notebook failed.
"""
import ast
import contextlib
import importlib.metadata
import importlib.util
import io
import json
import os
import pathlib
import re
import sys
import traceback

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def find_missing(code, needs):
    """The first module, version of a package, or file below GPUCSR_DATA that a notebook needs and that does not exist. The metadata of a notebook list versions and files."""
    for node in ast.walk(ast.parse(code)):
        names = [n.name for n in node.names] if isinstance(node, ast.Import) else [node.module] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if importlib.util.find_spec(name.split(".")[0]) is None:
                return f"the module {name} is not installed"
    for package, version in needs.get("versions", {}).items():
        if not importlib.metadata.version(package).startswith(version + "."):
            return f"the notebook is for {package} {version}"
    for name in needs.get("data", []):
        if not (pathlib.Path(os.environ.get("GPUCSR_DATA", ".")) / name).is_file():
            return f"the data {name} are not available"
    return None


def check_stored(book):
    cells = book["cells"]
    assert book["nbformat"] == 4 and len({cell["id"] for cell in cells}) == len(cells), "the notebook is not in format 4.5"
    assert cells[0]["cell_type"] == "markdown" and cells[0]["source"][0].startswith("# "), "the first cell is not a title"
    for cell in cells:
        assert cell["cell_type"] == "markdown" or (not cell["outputs"] and cell["execution_count"] is None), f"cell {cell['id']} has stored output"


def run_here(name, cells, figures):
    count = 0

    def show():
        nonlocal count
        for number in plt.get_fignums():
            count += 1
            if figures:
                plt.figure(number).savefig(figures / f"{name}-{count}.png", dpi=72, bbox_inches="tight")
        plt.close("all")

    plt.show, space = show, {"__name__": "__main__"}
    for cell in cells:
        exec(compile("".join(cell["source"]), cell["id"], "exec"), space)
    assert count, "the notebook shows no figure"


def run_jupyter(path):
    import nbclient
    import nbformat

    nbclient.NotebookClient(nbformat.read(path, as_version=4), timeout=120, kernel_name="python3").execute()


def report(path, jupyter, figures):
    name = f"notebook {path.stem}" + (", by nbclient" if jupyter else "")
    output = io.StringIO()
    try:
        book = json.loads(path.read_text())
        cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
        code = "\n".join("".join(cell["source"]) for cell in cells)
        check_stored(book)
        assert re.search(r"^assert ", code, re.M), "the notebook has no assertion"
        missing = find_missing(code, book["metadata"].get("gpucsr", {}))
        if missing:
            return f"ok - {name} # SKIP {missing}"
        with contextlib.redirect_stdout(output):
            run_jupyter(path) if jupyter else run_here(path.stem, cells, figures)
        return f"ok - {name}"
    except Exception:
        text = output.getvalue() + traceback.format_exc()
        return f"not ok - {name}\n" + "\n".join("#   " + line for line in text.rstrip().split("\n")[-30:])


def main(arguments):
    jupyter, figures, paths = False, None, []
    while arguments:
        argument = arguments.pop(0)
        if argument == "--jupyter":
            jupyter = True
        elif argument == "--figures":
            figures = pathlib.Path(arguments.pop(0))
        else:
            paths.append(pathlib.Path(argument))
    lines = [report(path, jupyter, figures) for path in paths]
    print("\n".join(lines))
    return 3 if any(line.startswith("not ok") for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
