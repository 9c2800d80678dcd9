"""Builds the test programs and runs their cases, with our types and with plain aij."""
import concurrent.futures
import glob
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading


HERE = os.path.dirname(os.path.abspath(__file__))

class Once:
    """Results of functions that several threads may ask for and one computes."""

    def __init__(self):
        self.lock, self.results = threading.Lock(), {}

    def __call__(self, key, function):
        with self.lock:
            mine = key not in self.results
            future = self.results.setdefault(key, concurrent.futures.Future())
        if mine:
            try:
                future.set_result(function())
            except BaseException as failure:
                future.set_exception(failure)
        return future.result()


class Run:
    """What a command left: its output as a list of lines, and why it did not end well ("" if it did)."""

    def __init__(self, lines, failure):
        self.lines, self.failure = lines, failure


class Runner:
    def __init__(self, petsc_dir, petsc_arch, work, examples, library, device, storage, timeout):
        self.work, self.timeout, self.storage = work, timeout, storage
        self.src = examples.src
        self.once = Once()
        self.prebuilt = os.environ.get("GPUCSR_PREBUILT") == "1"  # tests/petsc/bundle.sh took the programs along
        self.make = {} if self.prebuilt else {v: self._make_variable(v) for v in ("CC", "pincs", "petsclib")}
        self.mpiexec = os.environ.get("MPIEXEC", "mpiexec")
        # as PETSc's harness sets them; -malloc_dump prints what is not freed, so a leak is a difference
        common = "-check_pointer_intensity 0 -error_output_stdout -malloc_dump -options_left no "
        common += examples.harness.conf["PETSC_TEST_OPTIONS"]
        self.petsc_options = {"aij": common, "gpucsr": f"{common} -dll_append {library} -gpucsr_device {device}"}
        self.env = dict(os.environ, wPETSC_DIR=petsc_dir, PETSC_DIR=petsc_dir, PETSC_ARCH=petsc_arch, LC_ALL="C")
        self.env.pop("PETSC_OPTIONS", None)

    @staticmethod
    def _make_variable(name):
        command = ["make", "-s", "--no-print-directory", "print-" + name]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def build(self, case):
        """The program's path and "", or None and the compiler's complaint."""
        return self.once(("build", case.source), lambda: self._build(case))

    def _build(self, case):
        program = os.path.join(self.work, "bin", os.path.relpath(case.source, self.src)[:-2].replace("/", "-"))
        if self.prebuilt:
            return (program, "") if os.path.exists(program) else (None, "not among the programs brought along")
        os.makedirs(os.path.dirname(program), exist_ok=True)
        sources = " ".join(shlex.quote(s) for s in [case.source] + case.depends)
        command = f"{self.make['CC']} -w {self.make['pincs']}"
        with open(case.source, errors="replace") as file:
            vendors = sorted(set(re.findall(r"\b(?:Mat|Vec|MAT|VEC)\w*(?:CUDA|CUSPARSE|KOKKOS|HIP|VIENNACL)\w*", file.read())))
        if vendors:
            # after PETSc's headers, where a newer PETSc without CUDA has stand-ins of these names
            with open(program + ".names.h", "w") as file:
                file.write("#include <petsc.h>\n" + "".join(f"#define {n} {re.sub('CUDA|HIP', '', n)}\n" for n in vendors if not n.isupper()))
            command += f" -include {program}.names.h -include {HERE}/plain.h"
        # a source tree serves the few that include its private headers; tests/petsc/build.sh leaves one beside what it builds
        tops = glob.glob(f"{self.src}/../include") + glob.glob(f"{self.env['PETSC_DIR']}.src/petsc-*/include")
        command += "".join(f" -I{top}" for top in tops)
        command += f" {sources} -o {program} {self.make['petsclib']} -lm"
        inputs = [case.source, f"{HERE}/plain.h"] + case.depends
        if os.path.exists(program) and os.path.getmtime(program) > max(os.path.getmtime(i) for i in inputs):
            with open(program + ".command") as file:
                if file.read() == command:
                    return program, ""
        done = subprocess.run(command, shell=True, capture_output=True, text=True, errors="replace")
        if done.returncode == 0:
            with open(program + ".command", "w") as file:
                file.write(command)
            return program, ""
        found = re.search(r"(?:fatal )?error: .*|undefined reference to .*", done.stderr)
        return None, found[0] if found else done.stderr.strip().split("\n")[-1]

    def run(self, case, kind, program):
        """Equal commands run once: tests for several vendors' types become the same when ours takes their place."""
        tool = os.stat(program).st_mtime_ns
        # a test's cases share a folder, so they are the same run only with the same predecessors: their files
        key = repr((kind, program, tool, case.nsize, case.args[kind], case.env, case.error, case.files, self.petsc_options[kind]))
        return self.once(key, lambda: self._kept(case, kind, program, key) if kind == "aij" else self._run(case, kind, program))

    def _kept(self, case, kind, program, key):
        """Plain aij does not change while we work: its outputs are kept from one use of the suite to the next."""
        path = os.path.join(self.work, "aij", hashlib.sha1(key.encode()).hexdigest())
        if os.path.exists(path):
            with open(path) as file:
                failure, *lines = file.read().split("\n")
            return Run(lines, failure)
        run = self._run(case, kind, program)
        if run.failure != "time limit":
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path + f".{threading.get_ident()}", "w") as file:
                file.write("\n".join([run.failure] + run.lines))
            os.rename(file.name, path)
        return run

    def folder(self, case, kind):
        return os.path.join(self.work, "run", kind, case.test.replace("/", "-"))

    def prepare(self, case):
        """Fresh folders for a test's cases."""
        for kind in ("gpucsr", "aij"):
            folder = self.folder(case, kind)
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)

    def _run(self, case, kind, program):
        folder = self.folder(case, kind)
        for file in case.files:
            if os.path.isdir(file):
                shutil.copytree(file, os.path.join(folder, os.path.basename(file)), dirs_exist_ok=True)
            elif os.path.exists(file):
                shutil.copy(file, folder)
        command = f"exec {self.mpiexec} -n {case.nsize} {program} -petsc_ci {case.args[kind]}"
        options = self.petsc_options[kind]
        if kind == "gpucsr":
            options += f" -gpucsr_storage {self.storage}"
        mat = "aijgpucsr" if kind == "gpucsr" else "aij"
        env = dict(self.env, PETSC_OPTIONS=options, **{f"CONFORMANCE_MAT{s.upper()}AIJ": s + mat for s in ("", "seq", "mpi")})
        env.update(word.split("=", 1) for word in shlex.split(case.env) if "=" in word)
        # through bash: options may hold quotes and ${wPETSC_DIR}
        process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT if case.error else subprocess.PIPE, start_new_session=True, text=True, errors="replace")
        try:
            out, err = process.communicate(timeout=self.timeout * case.timefactor)
        except subprocess.TimeoutExpired:
            self._end(process)
            return Run([], "time limit")
        if process.returncode and not case.error:
            return Run(out.split("\n"), self._reason(process.returncode, out + (err or "")))
        return Run(out.split("\n"), "")

    @staticmethod
    def _end(process):
        """mpiexec ends its ranks when it is asked to; if it does not listen, all of them are ended."""
        for sig in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, sig)
                process.communicate(timeout=10)
                return
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue

    @staticmethod
    def _reason(code, text):
        """PETSc's first sentence about an error; its lines begin with [rank]PETSC ERROR:"""
        # (ranks write at the same time)
        said = [line.strip() for line in re.sub(r"\[\d+\]PETSC ERROR:", "\n@", text).split("\n") if line.startswith("@ ")]
        said = list(dict.fromkeys(line[2:] for line in said if not line.startswith("@ ---")))
        if said:
            return " ".join(said[:2])
        last = [line for line in text.split("\n") if line.strip() and not line.startswith("----")]
        return f"code {code}" + (f": {last[0].strip()}" if last else "")
