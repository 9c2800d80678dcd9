#!/usr/bin/env bash
# Build, run everything once and print TAP: PETSc's harness over tests/<room>/*.c, then every tests/*/run_*.sh.
#
#   GPUCSR_SUITE    full (default), petsc (only what depends on the PETSc in use), gpu (only what uses the device)
#   GPUCSR_DEVICE   host (default), cuda: the runtime that the tests ask for
set -u
. "$(dirname "$0")/env.sh"
: "${GPUCSR_SUITE:=full}"
export GPUCSR_SUITE
mkdir -p "$BUILD/tests"
start=$(date +%s)
lap() { echo "# $1: $(($(date +%s) - start)) s"; start=$(date +%s); }

if [ "${GPUCSR_PREBUILT:-}" = 1 ]; then
  echo "# programs built elsewhere"
elif make -s -j"${JOBS:-$(nproc)}" all >"$BUILD/tests/build.log" 2>&1; then
  ok "the library and the apps build"
  if grep -q 'warning:' "$BUILD/tests/build.log"; then not_ok "without warnings" "$BUILD/tests/build.log"; fi
else
  not_ok "the library and the apps build" "$BUILD/tests/build.log"
  exit 1
fi
lap build
tests/harness.sh
lap harness
for script in tests/*/run_*.sh; do
  case $GPUCSR_SUITE:$script in
  full:*/gpu/*) continue ;;
  full:* | petsc:*/clients/* | gpu:*/clients/* | petsc:*/bmrm/* | gpu:*/bmrm/* | petsc:*/pagerank/* | gpu:*/pagerank/* | petsc:*/smacof/* | gpu:*/gpu/*) "$script" ;;
  *) continue ;;
  esac
  rc=$?
  [ $rc -eq 0 ] || [ $rc -eq 1 ] || not_ok "$script ended with code $rc"
  lap "$script"
done
