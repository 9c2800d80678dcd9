"""Compares the table of options of a program (--help-options) with the options that it registers (-help)."""
import re
import subprocess
import sys

program, table_file, help_file = sys.argv[1:4]
LIBRARY = ("-gpucsr_", "-mat_gpucsr_", "-vec_gpu_", "-mat_type")
bad = 0


def complain(text):
    global bad
    bad = 1
    print(text)


table = {}
library = set()
for line in open(table_file):
    name, _, argument, _, initial = line.rstrip("\n").split("\t")
    if name in table:
        complain(f"{name} is twice in the table")
    if name.startswith(LIBRARY):
        library.add(name)
    else:
        table[name] = (argument, initial)


def number(text):
    try:
        return float(text)
    except ValueError:
        return text.lower()


# Of PETSc's own options, some come before those of the program and some after.
own = False
headings = re.compile("Options of the (program|[a-z]+ program|scaling|path)|PageRank of the nodes|Measures of the nodes|(Dissimilarities|Files) of the|Multidimensional scaling by majorisation|Tables in text|Graphs in files|BMRM|-bmrm_|Clusters of points|-kmeans_")
registered = set()
for line in open(help_file):
    if not line.startswith(" ") and line.rstrip().endswith(":"):
        own = bool(headings.search(line))
    m = re.match(r"  (-[A-Za-z_0-9]+):? ?(?:<(?:now )?(.*?) : (?:formerly )?.*?>)?(.*)", line)
    if not own or not m:
        continue
    name, initial, rest = m.groups()
    if name.startswith(LIBRARY):
        continue
    registered.add(name)
    if name not in table:
        complain(f"{name} is registered, but not in the table")
        continue
    choices = re.search(r"\((?:choose )?one of\) ([^()]*?) ?\(", rest)
    if choices and set(choices.group(1).split()) != set(table[name][0].split("|")):
        complain(f"{name}: the choices are {choices.group(1)}, those of the table {table[name][0]}")
    if table[name][1] and initial is not None and name != "-bmrm_loss" and number(initial) != number(table[name][1]):
        complain(f"{name}: the default is {initial}, that of the table {table[name][1]}")

source = subprocess.run(["grep", "-rhoE", r'"-bmrm_[a-z]+[A-Z][A-Za-z]*"', "solvers/bmrm/object/bmrmoptions.c"], capture_output=True, text=True).stdout
if program == "bmrm":
    registered |= set(source.replace('"', "").split())
for name in sorted(set(table) - registered):
    complain(f"{name} is in the table, but not registered")

source = subprocess.run(["grep", "-rhoE", r'"-(gpucsr|mat_gpucsr|vec_gpu)_[a-z_]+[a-z]"', "src", "--include=*.c", "--include=*.h", "--exclude-dir=app"], capture_output=True, text=True).stdout
source = set(source.replace('"', "").split()) | {"-mat_type"}
for line in open("src/mat/impls/gpucsr/image/gpucsroptions.def"):
    row = re.match(r"OPTION\((\w+), (\w+)", line)
    if row:
        source.add("-mat_gpucsr_" + row.group(1))
        if row.group(2) != "VIEWER":
            source.add("-gpucsr_" + row.group(1))
for name in sorted(source ^ library):
    complain(f"{name} is {'in the sources, but not in' if name in source else 'not in the sources, but in'} src/app/program/applibrary.c")
sys.exit(bad)
