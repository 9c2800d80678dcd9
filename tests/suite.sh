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
elif make -s -j"${JOBS:-$CORES}" all >"$BUILD/tests/build.log" 2>&1; then
  ok "the library and the apps build"
  if grep -q 'warning:' "$BUILD/tests/build.log"; then not_ok "without warnings" "$BUILD/tests/build.log"; fi
else
  not_ok "the library and the apps build" "$BUILD/tests/build.log"
  exit 1
fi
lap build
whole() { (flock 9 && cat) 9>"$BUILD/tests/suite.lock"; } # what is said by several at a time comes in pieces that are whole
one() { # a script
  local script=$1 start rc log scratch
  log=$BUILD/tests/$(basename "$script" .sh).tap
  start=$(date +%s)
  scratch=$(mktemp -d) # what the script leaves there goes with it
  TMPDIR=$scratch "$script" >"$log" 2>&1
  rc=$?
  rm -rf "$scratch"
  {
    cat "$log"
    [ $rc -eq 0 ] || [ $rc -eq 1 ] || not_ok "$script ended with code $rc"
    echo "# $script: $(($(date +%s) - start)) s"
  } | whole
}
# Conformance takes what the others leave of the processors, from the beginning to the end; polite (nice), but not so that its runs starve.
if [ "$GPUCSR_SUITE" = full ]; then one tests/conformance/run_conformance.sh & fi
# The scripts of this suite, two at a time for each core, because most of them wait for one short program after the other. On a GPU:
# a machine with 8 cores or more runs the harness and four scripts at a time, others one thing after the other. GPUCSR_GPU_JOBS=1 is for a shared GPU.
jobs=$((2 * ${JOBS:-$CORES}))
if [ "$GPUCSR_SUITE" = gpu ]; then
  jobs=${GPUCSR_GPU_JOBS:-$((CORES >= 8 ? 4 : 1))}
  [ "$jobs" = 1 ] || export JOBS="${JOBS:-$((CORES / 2))}"
fi
if [ "$GPUCSR_SUITE" = gpu ] && [ "$jobs" -gt 1 ]; then
  (tests/harness.sh >"$BUILD/tests/harness.tap"; whole <"$BUILD/tests/harness.tap") & # whole holds a lock while it reads
else
  tests/harness.sh | whole
  lap harness
fi
# The longest come first, so that none of them is left over alone.
export -f one whole not_ok
scripts=()
for script in $(printf '%s\n' tests/{smacof,pagerank,leaks,bmrm}/run_*.sh tests/*/run_*.sh | awk '!seen[$0]++'); do
  case $GPUCSR_SUITE:$script in
  *:*/conformance/*) continue ;;
  full:*/gpu/*) continue ;;
  full:* | petsc:*/clients/* | gpu:*/clients/* | petsc:*/bmrm/* | gpu:*/bmrm/* | petsc:*/pagerank/* | petsc:*/smacof/* | gpu:*/smacof/* | gpu:*/pagerank/* | gpu:*/gpu/*) scripts+=("$script") ;;
  esac
done
printf '%s\0' "${scripts[@]}" | xargs -0 -P"$jobs" -I{} bash -c 'one {}'
lap scripts
wait
