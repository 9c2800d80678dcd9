"""PETSc's own tests: found in its examples, parsed by its own scripts, and rewritten so that they ask for our types."""
import dataclasses
import itertools
import os
import re
import sys
import tempfile

DEVICES = "cusparse|kokkos|viennacl|hipsparse"
GPU_MAT = re.compile(rf"\b(seq|mpi|)aij(?:{DEVICES})\b")
AIJ_MAT = re.compile(r"(-\w*mat_type) (seq|mpi|)aij(?=\s|$)")
GPU_VEC = re.compile(r"(-\w*vec_?type) (seq|mpi|)(?:cuda|kokkos|viennacl|hip)(?=\s|$)")
GPU_DENSE = re.compile(r"\b(seq|mpi|)dense(?:cuda|hip)\b")
GPU_SOLVER = re.compile(rf"-\w*solver_type (?:cusparseband|kokkosdevice|{DEVICES})(?=\s|$)")  # PETSc's own stands in
# options that only another vendor's code reads, with their values; and those that choose a device by its name
FOREIGN = re.compile(r"-(?:\w*(?:cuda|hip|cusparse|hipsparse|kokkos|viennacl)\w*|\w*device_type|sf_backend)(?: (?!-[A-Za-z])\S+)?(?=\s|$)")
FACTOR = re.compile(r"-\w*(?:pc_type (?:ilu|icc|lu|cholesky|bjacobi|asm|gasm)|solver_type petsc)(?=\s|$)")
DEVICE_WORDS = {"cuda", "hip", "kokkos", "kokkos_kernels", "viennacl", "hipsparse", "cusparse"}
# src folders whose `-mat_type aij` tests we take as well; `-mat_type aijcusparse` and its kin are taken wherever they are
AIJ_FOLDERS = ("mat", "ksp", "snes", "dm", "ts", "tao")


@dataclasses.dataclass
class Case:
    """One run of one program with one set of options, and what PETSc says of its output."""

    name: str          # mat/tests/ex62_8+A_mat_type-aij, as PETSc's harness would label it
    test: str          # cases of one test share a folder and run in order: one may read what another wrote
    source: str        # path of the C file
    depends: list      # further C files
    nsize: int
    args: dict         # "gpucsr" and "aij": the command's options
    group: str         # gpu: asked for a GPU type; aij: asked for plain aij; vec: only for a GPU Vec; factor: for a factorisation; hidden: for nothing
    filter: str = ""
    filter_output: str = ""
    error: bool = False  # the test wants the error message: standard error belongs to the output, the code says nothing
    diff_args: str = ""
    expected: list = dataclasses.field(default_factory=list)  # reference and its alternatives
    env: str = ""
    files: list = dataclasses.field(default_factory=list)  # to be copied to where it runs
    timefactor: float = 1
    skip: str = ""     # why it cannot run here


class Examples:
    """The examples of one installed PETSc, read through the Python modules that come with them."""

    def __init__(self, folder, petsc_dir, petsc_arch, vec, groups):
        self.folder, self.vec, self.groups = folder, vec, groups
        sys.path.insert(0, os.path.join(folder, "config"))
        sys.dont_write_bytecode = True
        import gmakegentest  # PETSc's: knows what this PETSc was built with
        import testparse     # PETSc's: parses TEST blocks

        self.testparse = testparse
        with tempfile.TemporaryDirectory() as scratch:
            # wants a PETSC_ARCH, but an installed PETSC_DIR has none
            self.harness = gmakegentest.generateExamples(petsc_dir=petsc_dir, petsc_arch=petsc_arch, testdir=scratch)
        self.src = self.harness.srcdir

    def cases(self):
        """Every case of the wanted groups, in a fixed order."""
        for root, dirs, files in os.walk(self.src):
            dirs[:] = sorted(d for d in dirs if d != "output")
            if "/tests" not in root and "/tutorials" not in root:
                continue
            for name in sorted(f for f in files if f.endswith(".c")):
                path = os.path.join(root, name)
                with open(path, errors="replace") as file:
                    text = file.read()
                if "/*TEST" in text and ({"hidden", "factor"} & set(self.groups) or re.search(rf"aij(?:{DEVICES})|mat_type|vec_?type", text)):
                    yield from self._of_source(path)

    def _of_source(self, path):
        tests = self.testparse.parseTestFile(path, 0)[os.path.basename(path)]
        build = {"SKIP": [], "requires": without_devices(tests.get("requires", ""))}
        # what is not C needs a device compiler: the program is then missing a part, and does not link
        depends = [os.path.join(os.path.dirname(path), d) for d in tests.get("depends", "").split() if d.endswith(".c")]
        self.harness._isRun(build)
        for test, block in tests.items():
            if test in self.testparse.buildkeys or not isinstance(block, dict) or "TODO" in tests or "TODO" in block:
                continue
            for n, leaf in enumerate(leaves(block)):
                if "command" in leaf:
                    continue
                for suffix, nsize, args in self._expanded(leaf):
                    name = f"{os.path.relpath(os.path.dirname(path), self.src)}/{test[3:]}"
                    letter = "+" + "abcdefghijklmnopqrstuvwxyz"[n % 26] if "subtests" in block else ""
                    case = self._case(path, depends, name, letter + suffix, test, leaf, nsize, args)
                    if case:
                        case.skip = ", ".join(build["SKIP"]) or case.skip
                        yield case

    def _expanded(self, leaf):
        """{{a b}} is a loop; like PETSc's scripts, the loops' options come last."""
        sizes = leaf.get("nsize", "1")
        sizes = self.testparse.parseLoopArgs("nsize " + sizes)[1].split() if "{{" in sizes else [sizes]
        fixed, loops = [], []
        for option in re.split(r" (?=-[a-zA-Z])", " " + leaf.get("args", "").strip()):
            if "{{" in option:
                key, values, _ = self.testparse.parseLoopArgs(option.strip())
                loops.append([f"-{key} {v}" for v in values.split()])
            elif option.strip():
                fixed.append(option.strip())
        for nsize in sizes:
            for chosen in itertools.product(*loops):
                label = ([f"nsize-{nsize}"] if len(sizes) > 1 else []) + [c[1:].replace(" ", "-") for c in chosen]
                yield "".join("+" + part for part in label), int(nsize), " ".join(fixed + list(chosen))

    def _case(self, path, depends, name, suffix, test, leaf, nsize, args):
        where = os.path.dirname(path)
        if GPU_MAT.search(args):
            group = "gpu"
        elif GPU_VEC.search(args):
            group = "vec"
        elif AIJ_MAT.search(args) and os.path.relpath(path, self.src).startswith(AIJ_FOLDERS):
            group = "aij"
        else:
            group = "hidden"  # whatever it makes as seqaij becomes ours, behind its back
        if "factor" in self.groups and FACTOR.search(args):
            group = "factor"  # also what other groups contain: here the solver type gpucsr factorises
        if group not in self.groups:
            return None
        requires = {"SKIP": [], "requires": without_devices(leaf.get("requires", ""))}
        self.harness._isRun(requires)
        output = leaf.get("output_file", f"output/{self.testparse.getDefaultOutputFileRoot(test)}.out")
        output = os.path.join(where, output)
        alternatives = [output[:-4] + "_alt" + (f"_{i}" if i > 1 else "") + ".out" for i in range(1, 9)]
        wanted = leaf.get("filter", "")
        return Case(
            name=name + suffix, test=f"{name}", source=path, depends=depends, nsize=nsize, group=group,
            args={kind: rewritten(args, group, kind, self.vec) for kind in ("gpucsr", "aij")},
            filter=re.sub(r"^Error:\s*", "", wanted), filter_output=leaf.get("filter_output", ""),
            error=wanted.startswith("Error:"), diff_args=leaf.get("diff_args", ""), env=leaf.get("env", ""),
            expected=[output] + [a for a in alternatives if os.path.isfile(a)],
            files=[os.path.join(where, f) for f in leaf.get("localrunfiles", "").split()],
            timefactor=float(leaf.get("timeoutfactor", 1)), skip=", ".join(requires["SKIP"]))


def leaves(block):
    """A test, or each of its subtests with what it inherits."""
    if "subtests" not in block:
        yield block
        return
    common = {k: v for k, v in block.items() if k != "subtests" and not isinstance(v, dict)}
    for subtest in block["subtests"]:
        leaf = dict(common)
        for key, value in block[subtest].items():
            leaf[key] = f"{common[key]} {value}" if key in ("args", "requires", "env", "diff_args") and key in common else value
        yield leaf


def without_devices(requires):
    """What a test requires beside a device of somebody's: ours needs none."""
    return " ".join(r for r in requires.split() if r not in DEVICE_WORDS)


def rewritten(args, group, kind, vec):
    """The options that ask for our types ("gpucsr") or, in the same places, for PETSc's plain ones ("aij")."""
    mat = "aijgpucsr" if kind == "gpucsr" else "aij"
    vector = vec if kind == "gpucsr" else "standard"
    if group == "aij":
        # the name that users type; its seq and mpi forms have no shorter one
        args = AIJ_MAT.sub(lambda m: f"{m[1]} {m[2]}{mat}" if m[2] or kind == "aij" else f"{m[1]} gpucsr", args)
    if group in ("hidden", "factor") and kind == "gpucsr":
        args += " -mat_seqaij_type seqaijgpucsr"
    args = GPU_MAT.sub(rf"\1{mat}", args)
    args = GPU_DENSE.sub(r"\1dense", args)
    args = GPU_VEC.sub(lambda m: f"{m[1]} {m[2]}{vector}" if vector != "standard" else f"{m[1]} {m[2] or vector}", args)
    args = GPU_SOLVER.sub("", args)
    return FOREIGN.sub("", args)
