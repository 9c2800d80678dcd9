"""Runs the test cases of the modules that are named on the command line, and prints a TAP line for each."""
import importlib
import logging
import os
import sys
import unittest
import warnings

# matplotlib draws without a screen and without a file of settings, and prints no notices about its font cache.
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("MATPLOTLIBRC", "/dev/null")
logging.getLogger("matplotlib").setLevel(logging.ERROR)


def run(test):
    result = unittest.TestResult()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning that a test does not expect is a failure
        for category, message in (
            (DeprecationWarning, ""),
            (PendingDeprecationWarning, ""),
            (FutureWarning, ""),
            (ImportWarning, ""),
        ):  # of other packages
            warnings.filterwarnings("ignore", message, category)
        test.run(result)
    name = f"python: {test.id().split('.')[0]}: {test.shortDescription() or test.id()}"
    for _, why in result.skipped:
        print(f"ok - {name} # SKIP {why}")
        return True
    for _, trace in result.failures + result.errors:
        print(f"not ok - {name}")
        print("\n".join("#   " + line for line in trace.splitlines()[-40:]))
        return False
    print(f"ok - {name}", flush=True)
    return True


def cases(suite):
    for entry in suite:
        if isinstance(entry, unittest.TestSuite):
            yield from cases(entry)
        else:
            yield entry


good = True
for module in sys.argv[1:]:
    try:
        tests = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(module))
    except unittest.SkipTest as why:
        print(f"ok - python: {module} # SKIP {why}")
        continue
    for test in cases(tests):
        good &= run(test)
sys.exit(not good)
