#!/usr/bin/env bash
# make check: set up, build, run all tests that need no GPU.  The last line is: N passed, N failed, N skipped
#
#   GPUCSR_CHECK_NEWEST=1     also tests with the newest PETSc, which is built once, with debugging, into a cache folder (about ten minutes)
#                             =only: tests with the newest PETSc only; unset: also tests with it if the cache has it; =0: never
set -u
. "$(dirname "$0")/env.sh"
newest=${PETSC_RELEASE:-3.26.1}
cache=${GPUCSR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucsr}/petsc-$newest-debug
mkdir -p "$BUILD/tests"
tap=$BUILD/tests/check.tap
: >"$tap"
record() { tee -a "$tap"; }

if ! tests/setup.sh; then
  not_ok "the requirements of the build are installed" | record
elif [ "${GPUCSR_CHECK_NEWEST:-}" != only ]; then
  tests/suite.sh | record
fi
if [ "${GPUCSR_CHECK_NEWEST:-}" != 0 ]; then
  if [ -n "${GPUCSR_CHECK_NEWEST:-}" ] && [ ! -f "$cache/.complete" ]; then
    mkdir -p "$cache"
    if ! tests/petsc/build.sh debug "$cache" >"$BUILD/tests/petsc-build.log" 2>&1; then
      if [ -d "$cache.src/petsc-$newest" ]; then not_ok "PETSc $newest builds" "$BUILD/tests/petsc-build.log"; else
        skip "PETSc $newest builds" "its sources could not be fetched: $(tail -1 "$BUILD/tests/petsc-build.log")"
      fi | record
    fi
  fi
  if [ -f "$cache/.complete" ]; then
    PETSC_DIR=$cache PETSC_ARCH='' BUILD=$BUILD/newest CUDA_DIR=none GPUCSR_SUITE=petsc tests/suite.sh |
      sed -u "s/^\(not ok\|ok\) - /\1 - PETSc $newest: /" | record
  else
    skip "the tests with PETSc $newest" "it is not built; make check-newest does that" | record
  fi
fi

tap_total "$tap"
