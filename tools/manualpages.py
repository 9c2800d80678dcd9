#!/usr/bin/env python3
"""Makes manual pages from the comments in the sources, in the form of PETSc's.

  tools/manualpages.py <directory>                   writes one Markdown page for each public function, macro and type, and an index
  tools/manualpages.py --man <directory> <version>   writes the pages for man(1), in section 3
  tools/manualpages.py --check                       checks the comments and prints one line a finding

A comment opens with /*@ (function), /*@C (function, not for Fortran), /*MC (type of an object), /*E (enumeration) or /*S
(structure) and ends with @*/ or the letter.  Its first line is "Name - one sentence".  Public is what include/*.h declares
with PETSC_EXTERN, or defines by a typedef whose name begins as the project's types do.

The index has PETSc's sections.  A line /* MANSEC = Mat */ in the file of the comment, or else in the header, names the section.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = sorted((ROOT / "include").glob("*.h"))
PETSC = "https://petsc.org/release/manualpages/"
MANSEC = re.compile(r"^/\* MANSEC = (\w+) \*/$", re.M)
COMMENT = re.compile(r"^/\*(@C?|MC|E|S)\n(.*?)^[ ]*(?:@\*/|MC?\*/|E\*/|S\*/|M\*/)", re.S | re.M)
COLLECTIVE = ("Collective", "Not Collective", "Logically Collective", "Neighbor-wise Collective")
SECTIONS = ("Input Parameter", "Output Parameter", "Input/Output Parameter", "Options Database Key", "Value", "Values", "Note", "Notes", "References", "Example", "Errors", "Field", "Fields")


class Page:
    def __init__(self, kind, text, file, line):
        self.kind, self.file, self.line = kind, file, line
        body, _, see = text.partition(".seealso:")
        self.see = re.findall(r"`([A-Za-z0-9_]+)", see)
        lines = [line[2:] if line.startswith("  ") else line for line in body.strip("\n").split("\n")]
        head = []
        while lines and lines[0].strip():
            head.append(lines.pop(0).strip())
        self.name, _, self.brief = " ".join(head).partition(" - ")
        self.name = self.name.strip()
        self.sections = []  # (title, lines)
        title, held = "", []
        for line in lines + ["End:"]:
            m = re.match(r"([A-Z][A-Za-z/ ]*?)s?:\s*(.*)$", line)
            if line == "End:" or (m and (m.group(1) in SECTIONS or m.group(1) + "s" in SECTIONS or m.group(1) == "Level")):
                self.sections.append((title, held))
                title, held = line.split(":")[0], [m.group(2)] if m and m.group(2) else []
            else:
                held.append(line)

    def section(self, *titles):
        return [line for title, lines in self.sections for line in lines if title.rstrip("s") in titles and line.strip()]

    def collective(self):
        first = [line.strip() for line in self.sections[0][1] if line.strip()]
        return first[0].split(" on ")[0].split(";")[0].split(",")[0] if first else ""

    def parameters(self):
        found = []
        for line in self.section("Input Parameter", "Output Parameter", "Input/Output Parameter"):
            m = re.match(r"[+.-] ([A-Za-z0-9_, ]+?) +- ", line)
            if m:
                found += [name.strip() for name in m.group(1).split(",")]
        return found


def read_pages():
    pages = {}
    for folder in ("src", "solvers", "include"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            text = path.read_text()
            for m in COMMENT.finditer(text):
                page = Page(m.group(1), m.group(2), path.relative_to(ROOT), text.count("\n", 0, m.start()) + 1)
                signature = re.match(r"\s*(?:PETSC_EXTERN\s+)?(PetscErrorCode\s+" + re.escape(page.name) + r"\([^{;]*\))", text[m.end():]) if page.name else None
                page.signature = re.sub(r"\s+", " ", signature.group(1)) if signature else ""
                page.mansec = MANSEC.search(text)
                pages[page.name] = page
    return pages


def public_names():
    functions, types = {}, {}
    for header in HEADERS:
        text = header.read_text()
        for m in re.finditer(r"PETSC_EXTERN PetscErrorCode\s+([A-Za-z0-9_]+)\(", text):
            functions[m.group(1)] = header.name
        for m in re.finditer(r"typedef (?:enum|struct) \{.*?\} ([A-Za-z0-9_]+);", text, re.S):
            types[m.group(1)] = header.name
        for m in re.finditer(r"typedef struct \w+ +\*(\w+);", text):
            types[m.group(1)] = header.name
    return functions, types


def parameter_names(signature):
    inside = signature[signature.index("(") + 1:signature.rindex(")")]
    names, depth, part = [], 0, ""
    for c in inside + ",":
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            pointer = re.search(r"\(\*\s*(\w+)\s*(?:\[\])?\)", part)
            word = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", part)
            if part.strip() != "void" and (pointer or word):
                names.append(pointer.group(1) if pointer else word.group(1))
            part = ""
        else:
            part += c
    return names


def mansec(page, functions, types):
    header = functions.get(page.name) or types.get(page.name)
    line = page.mansec or (header and MANSEC.search((ROOT / "include" / header).read_text()))
    return line.group(1) if line else ""


def check(pages, functions, types):
    findings = [f"include/{h.name}: no line /* MANSEC = ... */" for h in HEADERS if not MANSEC.search(h.read_text())]

    def complain(page, what):
        findings.append(f"{page.file}:{page.line}: {page.name}: {what}")

    for name, header in sorted({**functions, **types}.items()):
        if name not in pages:
            findings.append(f"include/{header}: {name} has no manual page")
    for name in sorted(set(pages) & (set(functions) | set(types))):
        page = pages[name]
        if not page.brief:
            complain(page, "the first line must be 'Name - one sentence'")
        if not page.section("Level"):
            complain(page, "no level (beginner, intermediate, advanced, developer)")
        if not page.see:
            complain(page, "no .seealso")
        if name in types:
            continue
        if page.collective() not in COLLECTIVE:
            complain(page, f"the second paragraph must be one of {', '.join(COLLECTIVE)}")
        if not page.signature:
            complain(page, "the comment must stand before the function's definition")
        else:
            given, told = parameter_names(page.signature), page.parameters()
            for parameter in given:
                if parameter not in told:
                    complain(page, f"parameter {parameter} is not described")
            for parameter in told:
                if parameter not in given:
                    complain(page, f"describes {parameter}, which is no parameter")
    for page in pages.values():
        for other in page.see:
            ours = re.match(r"(MatGPUCSR|VecGPU|PetscGPUCSR|BMRM|TaoLSBMRM|KMeans|PageRank|SMACOF)", other)
            if ours and other not in pages:
                complain(page, f".seealso names {other}, which has no page")
    return findings


def link(name, pages):
    if name in pages:
        return f"[`{name}`]({name}.md)"
    petsc = re.match(r"(Mat|Vec|KSP|Tao|PC|MAT|VEC|TAO)(?=[A-Z])", name)
    section = petsc and {"MAT": "Mat", "VEC": "Vec", "TAO": "Tao"}.get(petsc.group(1), petsc.group(1))
    return f"[`{name}`]({PETSC}{section}/{name}/)" if petsc else f"`{name}`"


def markdown(page, pages):
    out = [f"# {page.name}", "", page.brief, ""]
    if page.signature:
        header = [h.name for h in HEADERS if re.search(rf"\b{page.name}\b", h.read_text())]
        out += ["## Synopsis", "", "```c"] + [f'#include "{h}"' for h in header[:1]] + [page.signature, "```", ""]
    for title, lines in page.sections:
        while lines and not lines[0].strip():
            lines = lines[1:]
        if title:
            out += [f"## {title}", ""]
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        for line in lines:
            item = re.match(r"[+.-] `?(.+?)`? +- (.*)$", line)
            out.append(f"- **{item.group(1).strip()}**: {item.group(2)}" if item else line)
        out.append("")
    if page.see:
        out += ["## See also", "", ", ".join(link(name, pages) for name in page.see), ""]
    out += ["## Location", "", f"{page.file}", ""]
    return "\n".join(out)


def write(pages, functions, types, directory):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    shown = {name: page for name, page in pages.items() if name in functions or name in types or page.kind == "MC"}
    for name, page in shown.items():
        (directory / f"{name}.md").write_text(markdown(page, shown))
    index = ["# Manual pages", ""]
    for section in sorted({mansec(page, functions, types) for page in shown.values()}):
        index += [f"## {section}", "", "| name | level | |", "|---|---|---|"]
        index += [f"| [{name}]({name}.md) | {page.section('Level')[0].strip()} | {page.brief} |" for name, page in sorted(shown.items()) if mansec(page, functions, types) == section]
        index += [""]
    (directory / "index.md").write_text("\n".join(index))
    print(f"{len(shown)} manual pages in {directory}")


def roff_text(text):
    """Text for troff: names between backquotes are bold, and a hyphen that begins an option is a minus sign."""
    text = text.replace("\\", "\\e")
    text = re.sub(r"(?<![\w-])-(?=[A-Za-z<:])", r"\\-", text)
    text = re.sub(r"`([^`]+)`", lambda m: "\\fB" + re.sub(r"(?<!\\)-", r"\\-", m.group(1)) + "\\fR", text)
    return re.sub(r"^(?=[.'])", r"\\&", text)


def roff_body(lines):
    out, example = [], False
    for line in lines:
        item = re.match(r"[+.-] `?(.+?)`? +- (.*)$", line)
        verbatim = line.startswith("  ") and line.strip() or line.strip() == ".vb"
        if line.strip() == ".ve" or (example and line.strip() and not line.startswith(" ")):
            out.append(".fi\n.RE")
            example = False
        if line.strip() in (".vb", ".ve"):
            line = ""
        if verbatim and not example:
            out.append(".RS 4\n.nf")
            example = True
        if item:
            out += [".TP", "\\fB" + re.sub(r"(?<!\\)-", r"\\-", item.group(1).strip().replace("`", "")) + "\\fR", roff_text(item.group(2))]
        elif line.strip():
            out.append(roff_text(line if example else line.strip()))
        elif example or out and not out[-1].startswith((".PP", ".RS")):
            out.append("" if example else ".PP")
    if example:
        out.append(".fi\n.RE")
    while out and out[-1] in ("", ".PP"):
        out.pop()
    return out


def roff(page, pages, version):
    kind = re.match(r'(\w+ = (".*?")) - (.*)$', page.brief)  # an object type: its name in C, and its name in options
    header = [h.name for h in HEADERS if re.search(rf"\b{page.name}\b", h.read_text())][:1]
    out = [f'.TH {page.name} 3 "" "gpucsr {version}" "gpucsr functions"', ".SH NAME", f"{page.name} \\- {roff_text(kind.group(3) if kind else page.brief)}", ".SH SYNOPSIS", ".nf"]
    out += [f"#include <{h}>" for h in header]
    out += [f"#define {page.name} {kind.group(2)}"] if kind and header else []
    if page.signature:
        out += ["", re.sub(r", ", ",\n    ", page.signature) if len(page.signature) > 76 else page.signature]
    out.append(".fi")
    for title, lines in page.sections:
        body = roff_body(lines)
        if body:
            out += [f".SH {title.upper() or 'DESCRIPTION'}"] + body
    ours = [name for name in dict.fromkeys(page.see) if name in pages]
    others = [name for name in dict.fromkeys(page.see) if name not in pages]
    if page.see:
        entries = [f".BR {name} (3)" for name in ours] + [f".B {name}" for name in others]
        out += [".SH SEE ALSO"] + [entry + ("," if entry.endswith(")") else " ,") for entry in entries[:-1]] + entries[-1:]
    return "\n".join(out) + "\n"


def write_man(pages, functions, types, directory, version):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    shown = {name: page for name, page in pages.items() if name in functions or name in types or page.kind == "MC"}
    for path in directory.glob("*.3"):
        if path.stem not in shown:
            path.unlink()
    for name, page in shown.items():
        (directory / f"{name}.3").write_text(roff(page, shown, version))


def main():
    pages = read_pages()
    functions, types = public_names()
    if sys.argv[1:] == ["--check"]:
        findings = check(pages, functions, types)
        print("\n".join(findings))
        return 1 if findings else 0
    if sys.argv[1:2] == ["--man"] and len(sys.argv) == 4:
        write_man(pages, functions, types, sys.argv[2], sys.argv[3])
        return 0
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    write(pages, functions, types, sys.argv[1])
    return 0


sys.exit(main())
