#!/usr/bin/env python3
"""Builds the documentation site with Sphinx:   tools/site/build.py [--quick] <folder of the build> <version>

The pages are those that docs/README.md lists. Each section of it becomes a part of the navigation. Pages that other pages link to
are added without a place in the navigation. A broken link, a page of docs/ that docs/README.md does not list, and every warning of
Sphinx are errors. --quick checks all this without writing HTML. Exit code 77: Sphinx, its parser of Markdown or its theme is missing.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from notebook import notebook_to_markdown
from reference import ROOT, write_reference

INDEX = pathlib.Path("docs/README.md")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"(^```.*?^```[^\n]*$|`[^`\n]+`)", re.S | re.M)


def find_python():
    """A Python that has Sphinx. That of Debian's packages need not be the first one in PATH."""
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        if os.path.exists(python) and subprocess.run([python, "-c", "import sphinx, myst_parser, furo"], capture_output=True).returncode == 0:
            return python
    return None


class Stage:
    """The folder of sources for Sphinx: copies of the pages, in which links have been adapted."""

    def __init__(self, folder):
        self.folder, self.pages, self.linked, self.findings = folder, set(), [], []
        shutil.rmtree(folder, ignore_errors=True)

    def place(self, path):
        return pathlib.Path("index.md") if path == INDEX else path

    def page_of(self, path):
        """The place of the page. That of a notebook is beside a copy of the notebook, which readers can download."""
        return path.with_suffix(".md") if path.suffix == ".ipynb" else self.place(path)

    def put(self, path, data):
        target = self.folder / self.place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def adapt_link(self, page, match, linked):
        mark, text, target = match.groups()
        if re.match(r"\w+:|#", target):
            return match.group(0)
        name, hash_sign, anchor = target.partition("#")
        path = pathlib.Path(os.path.normpath(page.parent / name))
        if (ROOT / path).is_dir():
            if not (ROOT / path / "README.md").exists():
                return text  # a folder has no page
            path = path / "README.md"
        if not (ROOT / path).is_file() or ".." in path.parts:
            self.findings.append(f"{page}: link to {target}: there is no such file")
        elif path.suffix == ".md" or path.suffix == ".ipynb" and path != page:
            linked.append(path)
        else:
            self.put(path, (ROOT / path).read_bytes())
        relative = os.path.relpath(self.place(path) if path == page else self.page_of(path), self.place(page).parent)
        return f"{mark}[{text}]({relative}{hash_sign}{anchor})"

    def add(self, page, orphan=False, tail=""):
        """Adds a page, then those to which it links and which have no place in the navigation."""
        if page in self.pages:
            return
        self.pages.add(page)
        linked = []
        text = notebook_to_markdown(ROOT / page) if page.suffix == ".ipynb" else (ROOT / page).read_text()
        code = FENCE.findall(text)
        text = FENCE.sub("\0", text)  # links in code stay
        text = LINK.sub(lambda m: self.adapt_link(page, m, linked), text)
        text = re.sub("\0", lambda m: code.pop(0), text)
        self.put(self.page_of(page), (("---\norphan: true\n---\n" if orphan else "") + text + tail).encode())
        self.linked += linked


def read_navigation(text):
    """Sections of docs/README.md, as (title, [(title of the page, path)])."""
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        title, body = section.split("\n", 1)
        pages = re.findall(r"^- \[([^\]]+)\]\(([^)#]+\.(?:md|ipynb))\)", body, re.M)
        yield title.strip(), [(name, pathlib.Path(os.path.normpath(INDEX.parent / path))) for name, path in pages]


def toctree(caption, entries):
    lines = [f"{name} <{path.with_suffix('').as_posix()}>" for name, path in entries]
    return "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", ""] + lines + ["```", ""])


def stage_pages(stage, build):
    sections = list(read_navigation((ROOT / INDEX).read_text()))
    listed = [path for _, pages in sections for _, path in pages]
    for path in sorted((ROOT / "docs").rglob("*.md")):
        path = path.relative_to(ROOT)
        if path != INDEX and path not in listed:
            stage.findings.append(f"{path}: {INDEX} does not list this page")
    reference = write_reference(stage.folder / "reference", build)
    entries = [(title, pathlib.Path("reference") / f"{name}.md") for name, title in reference]
    tail = "\n## Reference\n\n" + "\n".join(f"- [{title}]({path.as_posix()})" for title, path in entries) + "\n"
    tail += "".join(toctree(*section) for section in sections) + toctree("Reference", entries)
    stage.add(INDEX, tail=tail)
    for path in listed:
        if (ROOT / path).is_file():
            stage.add(path)
    while stage.linked:
        stage.add(stage.linked.pop(), orphan=True)


def localise_styles(site):
    """Debian's Furo imports a style sheet from a path of a web server; copies it into the site, so that the site works from a file."""
    styles = site / "_static/styles/furo.css"
    text = styles.read_text()
    imported = re.search(r"@import url\((/javascript/[^)]+)\);", text)
    if imported:
        source = pathlib.Path("/usr/share") / imported.group(1).lstrip("/")
        styles.write_text(text.replace(imported.group(0), source.read_text() if source.exists() else "body { margin: 0 }"))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--quick"]
    if len(arguments) != 2:
        print(__doc__)
        return 2
    build = pathlib.Path(arguments[0]).resolve()
    python = find_python()
    if not python:
        print("Sphinx is missing: on Debian and Ubuntu, apt-get install python3-sphinx python3-myst-parser furo", file=sys.stderr)
        return 77
    stage = Stage(build / "site-pages")
    stage_pages(stage, build)
    if stage.findings:
        print("\n".join(stage.findings), file=sys.stderr)
        return 1
    quick = len(arguments) != len(sys.argv) - 1
    site = build / ("site-check" if quick else "site")
    shutil.rmtree(site, ignore_errors=True)
    command = [python, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "dummy" if quick else "html", "-c", str(ROOT / "tools/site"), "-d", str(build / "site-cache"), "-E",
               str(stage.folder), str(site)]
    code = subprocess.run(command, env={**os.environ, "GPUCSR_RELEASE": arguments[1], "PYTHONDONTWRITEBYTECODE": "1"}).returncode
    if code == 0 and not quick:
        localise_styles(site)
        print(f"{site}/index.html")
    return 1 if code else 0


sys.exit(main())
