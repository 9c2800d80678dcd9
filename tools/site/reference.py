"""Reference pages of the documentation site, as Markdown: functions and types, programs, options of the types."""
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TITLES = {"Sys": "Library and devices", "PC": "Preconditioners", "Mat": "Matrices", "Vec": "Vectors", "KSP": "Linear solvers"}


def escape_html(text):
    """Replaces < outside code, because Markdown passes <word> on as HTML."""
    parts = re.split(r"(```.*?```|`[^`\n]*`)", text, flags=re.S)
    return "".join(part if i % 2 else part.replace("<", "&lt;") for i, part in enumerate(parts))


def read_index(text):
    """Sections of the index of the manual pages, as (name, pages)."""
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        yield section.split("\n", 1)[0].strip() or "Other", re.findall(r"^\| \[(\w+)\]", section, re.M)


def write_functions(target):
    """One page for each section of the manual pages. Returns (page, title) of each."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["python3", str(ROOT / "tools/manualpages.py"), folder], check=True, stdout=subprocess.DEVNULL)
        pages = pathlib.Path(folder)
        sections = list(read_index((pages / "index.md").read_text()))
        home = {name: section for section, names in sections for name in names}
        found = []
        for section, names in sections:
            title = TITLES.get(section, section)
            out = [f"# {title}: functions and types", ""]
            for name in names:
                text = (pages / f"{name}.md").read_text()
                text = re.sub(r"^\.vb\n(.*?)^\.ve$", r"\n```\n\1```\n", text, flags=re.S | re.M)
                text = re.sub(r"^## (.*)$", r"**\1**", text, flags=re.M)
                text = re.sub(r"^# ", "## ", text)
                text = re.sub(r"\]\((\w+)\.md\)", lambda m: f"]({home[m.group(1)]}.md#{m.group(1).lower()})", text)
                out += [escape_html(text), ""]
            (target / f"{section}.md").write_text("\n".join(out))
            found.append((section, title))
    return found


def troff_text(text):
    text = text.replace("\\-", "-").replace("\\:", "").replace("\\&", "").replace("\\e", "\\")
    text = re.sub(r"\\fB(.*?)\\fR", lambda m: f"`{m.group(1)}`", text)
    text = re.sub(r"\\fI(.*?)\\fR", lambda m: f"*{m.group(1)}*", text)
    return escape_html(text)


def troff_to_markdown(text):
    """Markdown of the manual page of a program. The programs use few requests of troff; another one is an error."""
    out, term = [], 0  # term: 2 if the next line is the term of a list, 1 if the next line begins its description
    for line in text.rstrip("\n").split("\n"):
        request, _, rest = line.partition(" ") if line.startswith(".") else ("", "", line)
        if request == ".TH":
            out += [f"# {rest.split()[0]}: manual page", ""]
        elif request in (".SH", ".SS"):
            out += ["", ("## " if request == ".SH" else "### ") + rest.strip('"').capitalize(), ""]
        elif request == ".TP":
            term = 2
        elif request in (".PP", ".br"):
            out.append("")
        elif request in (".B", ".BR", ""):
            words = rest.split(" ", 1)
            rest = {".B": f"\\fB{rest}\\fR", ".BR": f"\\fB{words[0]}\\fR{words[-1]}"}.get(request, rest)
            if term == 2:
                out.append(f"- {troff_text(rest)}:")
            else:
                out.append(("  " if term else "") + troff_text(rest))
            term = max(term - 1, 0) if term == 2 else term
        else:
            raise ValueError(f"tools/site/reference.py does not know {request} of troff")
        if request in (".SH", ".SS"):
            term = 0
    return "\n".join(out) + "\n"


def write_programs(target, build):
    programs = sorted(path.parent.name for path in (ROOT / "examples").glob("*/main.c"))
    for name in programs:
        text = subprocess.run([str(build / "bin" / name), "--help-man"], check=True, capture_output=True, text=True).stdout
        (target / f"{name}.md").write_text(troff_to_markdown(text))
    return programs


def write_types(target, build):
    """The parts of -help that the types of Mat and Vec print."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as graph:
        graph.write("1 2\n2 1\n")
        graph.flush()
        text = subprocess.run([str(build / "bin" / "pagerank"), "-f", graph.name, "-help"], check=True, capture_output=True, text=True).stdout
    blocks = [block.strip("\n") for block in re.split(r"^-{20,}$", text, flags=re.M) if re.match(r"\s*gpucsr\b", block)]
    if not blocks:
        raise ValueError("pagerank -help prints no options of gpucsr")
    out = ["# Options of the types gpucsr and gpu", ""]
    out += ["This is what `-help` prints in every program that has loaded gpucsr. Each option `-gpucsr_...` of the second list sets the default of an option",
            "`-mat_gpucsr_...` of one matrix. The pages of functions and types hold the options of solvers and preconditioners.", ""]
    for block in blocks:
        title, *options = block.split("\n")
        out += [f"## {title.rstrip(':').replace('gpucsr options: defaults', 'Defaults')}", "", "| option | default | meaning |", "|---|---|---|"]
        for option in options:
            m = re.match(r"\s*(-\w+):? <(?:now )?(.*?) : .*?>:? (.*)$", option)
            if not m:
                raise ValueError(f"tools/site/reference.py does not understand this line of -help: {option}")
            out.append(f"| `{m.group(1)}` | {'`' + m.group(2).strip() + '`' if m.group(2).strip() else ''} | {escape_html(m.group(3)).replace('|', chr(92) + '|')} |")
        out.append("")
    (target / "types.md").write_text("\n".join(out))


def write_reference(target, build):
    """Writes all reference pages. Returns (page, title) in the order of the navigation."""
    target.mkdir(parents=True, exist_ok=True)
    programs = write_programs(target, build)
    write_types(target, build)
    return [(name, f"Program {name}") for name in programs] + [("types", "Options of the types")] + write_functions(target)
