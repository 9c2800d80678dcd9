"""Checks of tests/lint/references.sh. Prints one line a finding; exit code 1 if there is any."""
import fnmatch
import os
import re
import subprocess
import sys

CODE = (".c", ".h", ".cu", ".cuh", ".def")
SOURCES = CODE + (".py", ".sh", ".mk")
# Functions and options with these beginnings are those of the project; all others are PETSc's or another library's.
OURS = re.compile(r"(Gp[A-Z]|GP_|MatGPUCSR|MatMPIAIJGPUCSR|MatSeqAIJGPUCSR|PetscGPUCSR|VecGPU|BMRM|PageRank|Network[A-Z]|SMACOF|KMeans|KSPGPU|PCGPU|Corpus)\w*$|\w+_(GPUCSR|MPIAIJGPUCSR|GPU|GPUCG|GPUBCGS|GPUGMRES|GPUPoly|LSBMRM)$")
OPTION = re.compile(r"-(?:mat_gpucsr|vec_gpu|gpucsr|bmrm|tao_lsbmrm|pagerank|network|smacof|kmeans|ksp_gpu|pc_gpupoly|pc_gpufsai|pc_gpuspai)_[A-Za-z0-9_]*[a-z0-9]")
# Options of PETSc's objects within a solver.
OBJECTS = re.compile(r"-(bmrm|pagerank|network|smacof|pc_gpufsai|pc_gpuspai)_(ksp|pc|mat|vec|eps|st|pep|sub)(_|$)")
# Paths of a build, of PETSc or of a user. Names of a file "new" belong to examples.
OUTSIDE = re.compile(r"^(/|~|\$|\.\./shared|\./|build|https?:|ksp/ksp/|snes/|share/|include/petsc|\.\./|config/|bundle/)|^(petsc|cuda)[\w/]*\.h$|petsc/private/|[<>$ ]|(^|[/_r])new[._]")

bad = 0


def complain(where, what):
    global bad
    bad = 1
    print(f"{where}: {what}")


def git_files():
    done = subprocess.run(["git", "ls-files"], capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else []


def read(name):
    with open(name, errors="replace") as file:
        return file.read()


def anchors(text):
    """The names that a heading gets on a page."""
    out = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        out.add(re.sub(r" ", "-", re.sub(r"[^\w\- ]", "", heading.strip())))
    return out


def check_links(page, number, line, texts):
    for target in re.findall(r"\]\(([^)\s]+)\)", line):
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(path):
            complain(f"{page}:{number}", f"link to {target}: there is no such file")
        elif anchor and path.endswith(".md") and anchor not in anchors(texts.get(path) or read(path)):
            complain(f"{page}:{number}", f"link to {target}: there is no such heading")


def exists(path, paths):
    """Whether a path, or the end of a longer one, is in the tree. May contain * ? [] and, for several files, {a,b}."""
    braces = re.search(r"\{([^}]*)\}", path)
    if braces:
        return all(exists(path[:braces.start()] + part + path[braces.end():], paths) for part in braces.group(1).split(","))
    path = path.rstrip("/")
    return any(fnmatch.fnmatch(p, path) or fnmatch.fnmatch(p, "*/" + path) for p in paths)


def check_code(page, number, code, paths, targets, identifiers, options):
    users = re.match(r"docs/[^/]*\.md$", page) and page != "docs/architecture.md"
    for word in code.split():
        word = word.strip("(),;:").rstrip(".")
        name = re.sub(r":\d+$", "", word)
        if OUTSIDE.search(name) or not re.match(r"[\w.*?\[\]{},/-]+$", name) or name.startswith("-"):
            continue
        # A path begins with a folder of the tree, or has the ending of a source. On users' pages a name without a folder may be a user's file.
        path = exists(name.split("/")[0], paths) if "/" in name else not users
        if path and ("/" in name or re.match(r"[^\W_].*\.\w+$", name) and name.endswith(SOURCES)) and not exists(name, paths):
            complain(f"{page}:{number}", f"`{name}`: there is no such file or folder")
    for target in re.findall(r"(?:^|[ ;&]|\()make (?:-s )?([a-z][\w-]*)(?= |$)", code):
        if target not in targets:
            complain(f"{page}:{number}", f"`make {target}`: the makefile has no such target")
    for name in re.findall(r"(\w+)\(\)", code):
        if OURS.match(name) and name not in identifiers and not name.endswith("_new"):
            complain(f"{page}:{number}", f"`{name}()`: the sources have no such function")
    for option in OPTION.findall(code):
        if option not in options and not OBJECTS.match(option) and not any(o.startswith(option + "_") for o in options):
            complain(f"{page}:{number}", f"`{option}`: the sources have no such option")


def collect_options(texts):
    """Options in the sources: in strings, and in the table of the options of a matrix, all of which but viewers exist for the whole process too.
    Second result: options to which an object adds its default prefix."""
    found, prefixed = set(), set()
    for name, text in texts.items():
        if not name.startswith(("src/", "solvers/", "examples/")) or not name.endswith(CODE):
            continue
        strings = re.findall(r'"(-[^"]*)"', text)
        found.update(OPTION.findall(" ".join(strings)))
        if name.startswith(("solvers/pagerank/", "solvers/network/")):
            prefixed.update("-%s_%s" % (name.split("/")[1], s[1:]) for s in strings)
        if name.endswith("gpucsroptions.def"):
            for option, kind in re.findall(r"^OPTION\((\w+), (\w+),", text, re.M):
                found.add(f"-mat_gpucsr_{option}")
                if kind != "VIEWER":
                    found.add(f"-gpucsr_{option}")
    return found, prefixed


def main():
    names = git_files()
    if not names:
        print("SKIP no git repository")
        return 77
    names = [n for n in names if os.path.isfile(n)]
    paths = set(names)
    for name in names:
        while name := os.path.dirname(name):
            paths.add(name)
    texts = {n: read(n) for n in names if n.endswith(SOURCES + (".md", "README", "makefile"))}
    identifiers = set(re.findall(r"\w+", "\n".join(t for n, t in texts.items() if n.endswith(SOURCES))))
    options, prefixed = collect_options(texts)
    targets = set(re.findall(r"^([a-z][\w-]*)(?=[ \w-]*:)", texts["makefile"], re.M)) | {w for line in re.findall(r"^([a-z][\w -]*):", texts["makefile"], re.M) for w in line.split()}
    documented = set()
    for page, text in texts.items():
        if not page.endswith((".md", "README")) or page.startswith(("CHANGELOG", "tests/bench/results/")):
            continue
        if page == "README.md" or re.match(r"docs/[^/]*\.md$", page):
            documented.update(OPTION.findall(text))
        for number, line in enumerate(text.split("\n"), 1):
            check_links(page, number, line, texts)
            plain = line.startswith("    ") or page.endswith("README")
            for code in re.findall(r"`([^`]+)`", line) + ([line] if plain else []):
                check_code(page, number, code, paths, targets, identifiers, options | prefixed)
    for option in sorted(options - documented):
        if not option.startswith("-kmeans_"):  # docs/kmeans.md refers to -help for some
            complain(option, "in the sources, but neither in README.md nor in docs/*.md")
    return bad


sys.exit(main())
