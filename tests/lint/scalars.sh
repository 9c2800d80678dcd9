#!/usr/bin/env bash
# Other configurations of PETSc: with complex scalars the compilation stops with a message, and with 64-bit indices all sources compile without
# warnings.  This does not test the programs at run time.
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
echo '#include "gpucsrcompat.h"' | compile -DPETSC_USE_COMPLEX -x c - | grep -q 'gpucsr needs a PETSc with real scalars in double precision' || { echo "complex scalars do not stop the compilation with the message"; bad=1; }
[ "${GPUCSR_CHECK_NEWEST:-0}" != 1 ] || exit $bad # make check then compiles and tests with a PETSc that has 64-bit indices
found=$(find src solvers examples -name '*.c' ! -path '*/spmv/*_host.c' ! -name solveeps.c -print0 | xargs -0 -P"$CORES" -n16 bash -c 'compile -DPETSC_USE_64BIT_INDICES "$@"' _ | grep -E 'error|warning')
[ -z "$found" ] || { echo "$found"; bad=1; }
exit $bad
