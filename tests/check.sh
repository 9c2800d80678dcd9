#!/usr/bin/env bash
# make check: set up, build, run all tests that need no GPU.  The last line is: N passed, N failed, N skipped
#
#   GPUCSR_CHECK_NEWEST=1     also tests with the newest PETSc, which is built once, with debugging and 64-bit indices, into a cache folder while the first tests run
#                             =only: tests with the newest PETSc only; unset: also tests with it if the cache has it; =0: never
set -u
. "$(dirname "$0")/env.sh"
newest=${PETSC_RELEASE:-3.26.1}
cache=${GPUCSR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucsr}/petsc-$newest-debug64
mkdir -p "$BUILD/tests"
tap=$BUILD/tests/check.tap
: >"$tap"
record() { tee -a "$tap"; }
petsc= # process group that builds the newest PETSc
trap '[ -z "$petsc" ] || kill -- -"$petsc" 2>/dev/null' EXIT

# The build takes the time in which packages are installed and in which tests wait.
if [ "${GPUCSR_CHECK_NEWEST:-0}" != 0 ] && [ ! -f "$cache/.complete" ] && tests/setup.sh build; then
  mkdir -p "$cache"
  set -m
  nice -n 10 tests/petsc/build.sh debug "$cache" >"$BUILD/tests/petsc-build.log" 2>&1 </dev/null &
  petsc=$!
  set +m
fi
if ! tests/setup.sh; then
  not_ok "the requirements of the build are installed" | record
elif [ "${GPUCSR_CHECK_NEWEST:-}" != only ]; then
  # The first part leaves to the second what that tests too.
  if [ "${GPUCSR_CHECK_NEWEST:-}" != 0 ] && [ -f "$cache/.complete" ]; then export GPUCSR_CHECK_NEWEST=1; fi
  tests/suite.sh | record
fi
if [ "${GPUCSR_CHECK_NEWEST:-}" != 0 ]; then
  start=$(date +%s)
  if [ -n "$petsc" ] && ! wait "$petsc"; then
    if [ -d "$cache.src/petsc-$newest" ]; then not_ok "PETSc $newest builds" "$BUILD/tests/petsc-build.log"; else
      skip "PETSc $newest builds" "its sources could not be fetched: $(tail -1 "$BUILD/tests/petsc-build.log")"
    fi | record
  fi
  [ -z "$petsc" ] || echo "# wait for PETSc $newest: $(($(date +%s) - start)) s"
  petsc=
  if [ -f "$cache/.complete" ]; then
    PETSC_DIR=$cache PETSC_ARCH='' BUILD=$BUILD/newest CUDA_DIR=none GPUCSR_SUITE=petsc tests/suite.sh |
      sed -u "s/^\(not ok\|ok\) - /\1 - PETSc $newest: /" | record
  else
    skip "the tests with PETSc $newest" "it is not built; make check-newest does that" | record
    [ "${GPUCSR_CHECK_NEWEST:-}" != 1 ] || GPUCSR_CHECK_NEWEST=0 tests/hostonly/run_hostonly.sh | record
  fi
fi

tap_total "$tap"
