#!/usr/bin/env python3
"""Runs the commands of a tutorial and compares their output:   run_tutorial.py <page> <working folder>

Blocks ```sh run one after the other in one shell, which stops at the first failure. Blocks ```sh gpu are skipped, because they need a
GPU. Blocks ```sh build compile the library again and run only if GPUCSR_TUTORIALS=all is set. Each line of a block ```text must be in the output of the commands before it, in this order; "..." matches any text. Prints the
differences; exit code 1 if there is any.
"""
import os
import pathlib
import re
import subprocess
import sys


def read_blocks(text):
    blocks = re.findall(r"^```(sh|sh gpu|sh build|text)\n(.*?)^```$", text, re.S | re.M)
    return [("sh" if kind == "sh build" and os.environ.get("GPUCSR_TUTORIALS") == "all" else kind, body) for kind, body in blocks]


def find_missing(expected, output):
    lines = [" ".join(line.split()) for line in output.split("\n")]
    at = 0
    for line in expected.strip("\n").split("\n"):
        pattern = re.compile(".*?".join(re.escape(part) for part in " ".join(line.split()).split("...")) + "$")
        while at < len(lines) and not pattern.match(lines[at]):
            at += 1
        if at == len(lines):
            return line
        at += 1
    return None


def main(page, folder):
    blocks = read_blocks(pathlib.Path(page).read_text())
    folder = pathlib.Path(folder)
    script = ["set -eo pipefail"]
    for number, (kind, body) in enumerate(blocks):
        if kind == "sh":
            script += [f"exec >'{folder}/output.{number}' 2>&1", body]
    script.append("exec >/dev/null; echo complete >'%s/complete'" % folder)
    code = subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder).returncode
    outputs = sorted(folder.glob("output.*"), key=lambda path: int(path.suffix[1:]))
    if code or not (folder / "complete").exists() or not outputs:
        print(f"{page}: a command failed with exit code {code}. The last output is:")
        print(outputs[-1].read_text() if outputs else "none")
        return 1
    bad, checked, output = 0, 0, None
    for number, (kind, body) in enumerate(blocks):
        if kind == "text" and output is not None:
            checked += 1
            line = find_missing(body, output)
            if line is not None:
                print(f"{page}: the output has no line: {line}\nThe output is:\n{output}")
                bad = 1
        else:
            output = (folder / f"output.{number}").read_text() if kind == "sh" else None
    if not checked:
        print(f"{page}: no output was compared")
    return 1 if bad or not checked else 0


sys.exit(main(sys.argv[1], sys.argv[2]))
