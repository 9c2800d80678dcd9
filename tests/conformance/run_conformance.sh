#!/usr/bin/env bash
# PETSc's own tests of its GPU matrices, run with ours (README.md tells how).
#
#   run_conformance.sh                    for tests/suite.sh: the installed PETSc, double storage, every case; a line of TAP for each program
#   run_conformance.sh table [options]    for make conformance: both storages, as a table; --newest takes the newest PETSc
#                                         (make check-newest builds it), --help lists the other options
set -u
. "$(dirname "$0")/../env.sh"
options=()
if [ "${1:-}" = table ]; then
  shift
  for option in "$@"; do
    if [ "$option" = --newest ]; then
      PETSC_DIR=${GPUCSR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucsr}/petsc-${PETSC_RELEASE:-3.26.1}-debug64
      BUILD=$BUILD/newest
      GPUCSR_LIB=$BUILD/lib/libgpucsr.so
      PETSC_ARCH=
      if [ ! -f "$PETSC_DIR/.complete" ]; then
        echo "conformance: the newest PETSc is not built; make check-newest does that" >&2
        exit 1
      fi
      make -s CUDA_DIR=none all >&2 || exit 1
    else
      options+=("$option")
    fi
  done
else
  options=(--tap --storage double --timeout 300) # beside all other tests
  # nothing to test with is no failure
  why=
  if ! command -v python3 >/dev/null; then why="there is no python3"; fi
  for dir in "$PETSC_DIR/$PETSC_ARCH/share/petsc/examples" "$PETSC_DIR"; do
    if [ -f "$dir/config/testparse.py" ]; then examples=$dir; fi
  done
  if [ -z "${examples:-}" ]; then why="PETSc's examples are not installed (Debian: libpetsc<version>-dev-examples)"; fi
  if [ -n "$why" ]; then
    skip "conformance" "$why"
    exit 0
  fi
fi
exec nice -n 3 python3 "$ROOT/tests/conformance/conformance.py" ${options[@]+"${options[@]}"}
