#!/usr/bin/env python3
"""Checks that docs/troubleshooting.md quotes messages that exist. Prints one line a finding; exit code 1 if there is any.

A message is the code in the first column of a table. "..." stands for what differs between runs. All parts between must occur in
the string literals of one source file, in any letter case; adjacent literals are joined first.
"""
import pathlib
import re
import sys

PAGE = "docs/troubleshooting.md"


def literals(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"\s*(?:PetscInt_FMT|PRI\w+|GP_\w+)?\s*"', "", text)  # adjacent literals, also with the format of a number between
    return "\n".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', text)).lower()


def main(page):
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    sources = [p for d in ("src", "solvers", "examples") for p in (root / d).rglob("*") if p.suffix in (".c", ".h", ".cu", ".cuh")]
    texts = [literals(p.read_text(errors="replace")) for p in sources]
    bad = count = 0
    for number, line in enumerate(pathlib.Path(page).read_text().split("\n"), 1):
        message = re.match(r"\| `([^`]+)` \|", line)
        if not message:
            continue
        count += 1
        parts = [part.strip().lower() for part in message.group(1).split("...") if part.strip()]
        if not any(all(part in text for part in parts) for text in texts):
            print(f"{page}:{number}: no source has the message: {message.group(1)}")
            bad = 1
    if count < 10:
        print(f"{page}: only {count} messages")
        bad = 1
    return bad


sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else PAGE))
