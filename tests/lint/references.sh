#!/usr/bin/env bash
# Paths, links, functions, make targets and options that pages name exist in the tree, and every option in the sources is documented in README.md or docs/*.md.
#
# A path may be the end of a longer one, so that a page can leave out a common beginning.  Functions and options of PETSc are not checked.
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || { echo "SKIP python3 is not installed"; exit 77; }
exec python3 tests/lint/references.py
