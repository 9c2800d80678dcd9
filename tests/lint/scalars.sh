#!/usr/bin/env bash
# Other builds of PETSc: with complex scalars the compiler stops at a sentence; with indices of 64 bits all sources compile without a
# warning.  (What such a build does at run time this does not tell.)
cd "$(dirname "$0")/../.." || exit 1
. tests/env.sh
includes=$(make -s --no-print-directory print-pincs 2>/dev/null)
[ -n "$includes" ] && command -v mpicc >/dev/null || { echo "SKIP no PETSc"; exit 77; }
bad=0
compile() { # shellcheck disable=SC2086
  mpicc -std=gnu99 -fsyntax-only -Wall -DGP_HAVE_CUDA=0 -Iinclude -Isrc -I. -Isolvers/bmrm $includes "$@" 2>&1
}
export includes
export -f compile
echo '#include "gpucsrcompat.h"' | compile -DPETSC_USE_COMPLEX -x c - | grep -q 'gpucsr needs a PETSc with real scalars in double precision' || { echo "complex scalars are not refused in a sentence"; bad=1; }
found=$(find src solvers examples -name '*.c' ! -path '*/selector/train*' ! -name solveeps.c -print0 | xargs -0 -P"$CORES" -n16 bash -c 'compile -DPETSC_USE_64BIT_INDICES "$@"' _ | grep -E 'error|warning')
[ -z "$found" ] || { echo "$found"; bad=1; }
exit $bad
