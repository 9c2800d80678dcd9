#!/usr/bin/env python3
"""PETSc's own tests of its GPU matrices, run with ours: see README.md.

make conformance ARGS="..."  is the way to start it; the environment comes from tests/env.sh.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import os
import sys
import time

import comparing
import petsctests
import running

HERE = os.path.dirname(os.path.abspath(__file__))
# what can become of a case, in the order of the table's columns
OUTCOMES = "passed", "failed", "excepted", "aij fails alike", "aij fails otherwise", "not built", "skipped"
PASSED, FAILED, EXCEPTED, ALIKE, DIFFERS, UNBUILT, SKIPPED = OUTCOMES
GROUPS = {"gpu": "GPU Mat types", "aij": "-mat_type aij", "vec": "GPU Vec types alone", "factor": "factorisations", "hidden": "-mat_seqaij_type"}
Result = collections.namedtuple("Result", "case outcome reason worst seconds")


class Tolerances:
    """The table in the file "tolerances": the last line that fits a case counts, and exceptions beside it."""

    def __init__(self, path, storage):
        self.rows, self.exceptions = [], []
        with open(path) as file:
            for line in file:
                words, _, why = line.partition("#")
                words = words.split()
                if words and words[0] in (storage, "both"):
                    if words[2] in ("ends", "fails"):
                        self.exceptions.append((words[1], words[2], " ".join(words[3:]), why.strip()))
                    else:
                        self.rows.append((words[1], float(words[2]), float(words[3])))

    def of(self, case):
        """Relative and absolute tolerance."""
        return [row for row in self.rows if fnmatch.fnmatch(case.name, row[0])][-1][1:]

    def exception(self, case):
        """"ends": the run must end well, whatever it prints; "fails": the test's own check cannot pass; the words it must fail with; and why."""
        return ([e[1:] for e in self.exceptions if fnmatch.fnmatch(case.name, e[0])] or [("", "", "")])[-1]


class Judge:
    """Runs a case and says what became of it."""

    def __init__(self, runner, petscdiff, tolerances):
        self.runner, self.petscdiff, self.tolerances = runner, petscdiff, tolerances

    def test(self, cases):
        """The cases of one test, in order."""
        self.runner.prepare(cases[0])
        results = []
        for case in cases:
            start = time.time()
            outcome, reason, worst = self.case(case)
            results.append(Result(case, outcome, reason, worst, time.time() - start))
        return results

    def case(self, case):
        if case.skip:
            return SKIPPED, case.skip, 0
        program, complaint = self.runner.build(case)
        if not program:
            return UNBUILT, complaint, 0
        ours, theirs = self._judged(case, "gpucsr", program), self._judged(case, "aij", program)
        numbers, worst = "", 0
        if not ours.failure and not theirs.failure:
            numbers, worst = comparing.numbers_difference(ours.path, theirs.path, *self.tolerances.of(case))
        if worst == float("inf") and theirs.difference and not ours.difference:
            numbers = ""  # ours prints what the reference does and aij something else: there is nothing to compare with
        reason = ours.difference or numbers
        if not reason:
            return PASSED, "", worst
        if not theirs.difference:
            exception, words, why = self.tolerances.exception(case)
            excepted = exception == "fails" and words in reason or exception == "ends" and not ours.failure
            return (EXCEPTED, why, worst) if excepted else (FAILED, reason, worst)
        if ours.failure and theirs.failure:  # ranks interrupt each other's sentences
            a, b = (set(" ".join(comparing.plain([x.failure])).split()) for x in (ours, theirs))
            alike = a <= b or b <= a
        else:
            alike = ours.failure == theirs.failure and not numbers
        return (ALIKE, reason, worst) if alike else (DIFFERS, f"{reason} -- {numbers or 'aij: ' + theirs.difference}", worst)

    def _judged(self, case, kind, program):
        run = self.runner.run(case, kind, program)
        folder = self.runner.folder(case, kind)
        path = os.path.join(folder, "output")
        comparing.write(path, comparing.plain(run.lines))
        run = running.Run(run.lines, run.failure)  # equal commands share a run, not its judgement
        run.path = comparing.filtered(path, case.filter)
        run.difference = run.failure or comparing.reference_difference(self.petscdiff, case, run.path, folder)
        return run


def table(results, storage):
    rows = [["", "cases", *OUTCOMES]]
    for group in [*GROUPS, None]:
        chosen = [r for r in results if group in (None, r.case.group)]
        if chosen:
            counts = collections.Counter(r.outcome for r in chosen)
            rows.append([GROUPS.get(group, "all"), str(len(chosen)), *(str(counts[o]) for o in OUTCOMES)])
    width = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    print(f"\n{storage} storage")
    for row in rows:
        print("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, width))))


def lists(results):
    """What did not pass, equal reasons of one program together."""
    for outcome, title in ((EXCEPTED, "Excepted by the table of tolerances"), (ALIKE, "Plain aij fails alike"),
                           (DIFFERS, "Plain aij fails otherwise"), (UNBUILT, "Not built"), (FAILED, "Failed where plain aij passes")):
        groups = collections.defaultdict(list)
        for r in results:
            if r.outcome == outcome:
                groups[os.path.relpath(r.case.source, SRC)[:-2], r.reason].append(r.case.name)
        if groups:
            print(f"\n{title}:")
        for (program, reason), names in groups.items():
            print(f"  {program}, {len(names)} of its cases: {reason[:300]}")
            if outcome in (FAILED, DIFFERS):
                print("".join(f"    {name}\n" for name in names), end="")


def tap(results):
    """One line for each program."""
    programs = collections.defaultdict(list)
    for r in results:
        programs[os.path.relpath(r.case.source, SRC)[:-2]].append(r)
    for program, rs in programs.items():
        counts = collections.Counter(r.outcome for r in rs)
        told = ", ".join(f"{counts[o]} {o}" for o in OUTCOMES if counts[o])
        if counts[FAILED]:
            print(f"not ok - conformance: {program}: {told}")
            for r in rs:
                if r.outcome == FAILED:
                    print(f"#   {r.case.name}: {r.reason}")
        elif counts[PASSED]:
            print(f"ok - conformance: {program}: {told}")
        else:
            print(f"ok - conformance: {program} # SKIP {told}: {rs[0].reason[:120]}")


def arguments():
    p = argparse.ArgumentParser(prog="make conformance ARGS=...", description="Runs PETSc's own tests of GPU matrices with ours.")
    p.add_argument("pattern", nargs="*", default=["*"], help="cases to run, such as 'mat/tests/ex62*'; default all")
    p.add_argument("-j", type=int, default=os.cpu_count(), help="how many cases run at a time")
    p.add_argument("--storage", choices=("double", "single", "both"), default="both", help="precision of the values on the device")
    p.add_argument("--group", choices=GROUPS, action="append", 
                   help="which cases: gpu, aij, vec (default; vec only with our Vec), factor (all with a "
                   "factorisation, by the solver type gpucsr), hidden (all others, with -mat_seqaij_type)")
    p.add_argument("--vec", default=os.environ.get("CONFORMANCE_VEC", "gpu"), help="what GPU Vec types become: gpu (default) or standard")
    p.add_argument("--device", default=os.environ.get("GPUCSR_DEVICE", "host"), help="-gpucsr_device: host, cuda or auto")
    p.add_argument("--timeout", type=float, default=120, help="seconds for one run")
    p.add_argument("--tap", action="store_true", help="one line of TAP for each program instead of the table")
    p.add_argument("--list", action="store_true", help="only name the cases and their options")
    p.add_argument("--verbose", "-v", action="store_true", help="a line for each case as it ends")
    return p.parse_args()


def find(candidates, what):
    for path in candidates:
        if os.path.exists(path):
            return os.path.realpath(path)
    sys.exit(f"conformance: {what} not found; looked for {', '.join(candidates)}")


def main():
    global SRC
    a = arguments()
    petsc_dir, petsc_arch = os.environ["PETSC_DIR"], os.environ.get("PETSC_ARCH", "")
    prefix = os.path.join(petsc_dir, petsc_arch)
    folder = find([os.path.join(prefix, "share/petsc/examples"), petsc_dir], "PETSc's examples package")
    petscdiff = find([os.path.join(top, "lib/petsc/bin/petscdiff") for top in (prefix, petsc_dir, f"{folder}/../../..")], "petscdiff")
    groups = a.group or (["gpu", "aij"] + (["vec"] if a.vec != "standard" else []))
    examples = petsctests.Examples(folder, petsc_dir, petsc_arch, a.vec, groups)
    SRC = examples.src
    cases = [c for c in examples.cases() if any(fnmatch.fnmatch(c.name, p) for p in a.pattern)]
    if a.list:
        for c in cases:
            print(f"{c.name}  [{c.group}, {c.nsize}]  {c.args['gpucsr']}" + (f"  # skipped: {c.skip}" if c.skip else ""))
        return 0
    tests = collections.defaultdict(list)
    for c in cases:
        tests[c.test].append(c)
    failed = False
    work = os.path.join(os.environ["BUILD"], "tests/conformance")
    for storage in ("double", "single") if a.storage == "both" else (a.storage,):
        runner = running.Runner(petsc_dir, petsc_arch, work, examples, os.environ["GPUCSR_LIB"], a.device, storage, a.timeout)
        judge = Judge(runner, petscdiff, Tolerances(os.path.join(HERE, "tolerances"), storage))
        results = []
        with concurrent.futures.ThreadPoolExecutor(a.j) as pool:
            for rs in pool.map(judge.test, tests.values()):
                results += rs
                if a.verbose:
                    for r in rs:
                        print(f"{r.outcome:18} {r.seconds:6.1f} s {r.worst:9.2g} {r.case.name} {r.reason}", flush=True)
        if a.tap:
            tap(results)
        else:
            lists(results)
            table(results, storage)
        failed |= any(r.outcome == FAILED for r in results)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
