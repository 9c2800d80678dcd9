#!/usr/bin/env python3
"""No circles of files: if file a calls a function of file b, then b calls no function of a, neither directly nor through other files.

The check reads the sources and needs no build.  A definition is a line that begins with a type and a name, is neither static nor inline, and is
followed by a brace in the first column.  A use is the name of such a function in the text of another file, outside comments and strings.  A call through a pointer
is no use, nor is one in a header."""
import pathlib
import re
import sys

NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
DEFINITION = re.compile(r"^((?:[A-Za-z_][\w*]*(?:\([^()]*\))?[ \t*]+)+)(\w+)\([^;{}]*\)\s*\n\{", re.M)
INTERNAL = re.compile(r"static|inline|_DEVICE\b")


def read_sources():
    paths = [p for root in ("src", "solvers", "examples", "tools") for p in sorted(pathlib.Path(root).rglob("*")) if p.suffix in (".c", ".cu")]
    return {str(p): NOISE.sub(" ", p.read_text(errors="replace")) for p in paths}


def program(path):
    """The program whose functions only its own files see; None for the library."""
    parts = path.split("/")
    return parts[1] if parts[0] in ("examples", "tools") else None


def find_uses(text):
    """For each file: the files whose functions it uses, each with the name of one of them."""
    owners, local = {}, {}
    for path, body in text.items():
        local[path] = set()
        for kind, name in DEFINITION.findall(body):
            local[path].add(name)
            if not INTERNAL.search(kind) and name != "main":
                owners.setdefault(name, []).append(path)
    uses = {path: {} for path in text}
    for path, body in text.items():
        for name in (set(re.findall(r"\w+", body)) & owners.keys()) - local[path]:
            for other in owners[name]:
                if program(other) in (None, program(path)):
                    uses[path][other] = name
    return uses


def find_circles(uses):
    """Strongly connected components of more than one file, by Tarjan's algorithm."""
    index, low, stack, circles = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in uses[v]:
            if w not in index:
                visit(w)
            if w in stack:
                low[v] = min(low[v], low[w])
        if low[v] == index[v]:
            at = stack.index(v)
            if len(stack) - at > 1:
                circles.append(sorted(stack[at:]))
            del stack[at:]

    for v in uses:
        if v not in index:
            visit(v)
    return circles


sys.setrecursionlimit(10000)
uses = find_uses(read_sources())
circles = find_circles(uses)
for circle in circles:
    print("these files call each other in a circle:")
    for path in circle:
        for other in sorted(set(uses[path]) & set(circle)):
            print(f"  {path} uses {uses[path][other]}() of {other}")
sys.exit(bool(circles))
