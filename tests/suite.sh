#!/usr/bin/env bash
# Build, run everything once and print TAP: PETSc's harness over tests/<directory>/*.c, then every tests/*/run_*.sh.
#
#   GPUCSR_SUITE    full (default), petsc (only what depends on the PETSc in use), gpu (only what uses the device)
#   GPUCSR_DEVICE   host (default), cuda: the backend that the tests use
set -u
. "$(dirname "$0")/env.sh"
: "${GPUCSR_SUITE:=full}"
export GPUCSR_SUITE
mkdir -p "$BUILD/tests"
start=$(date +%s)
lap() { echo "# $1: $(($(date +%s) - start)) s"; start=$(date +%s); }

if [ "${GPUCSR_PREBUILT:-}" = 1 ]; then
  echo "# programs built elsewhere"
elif make -s -j"${JOBS:-$CORES}" all man >"$BUILD/tests/build.log" 2>&1; then
  ok "the library and the apps build"
  if grep -q 'warning:' "$BUILD/tests/build.log"; then not_ok "without warnings" "$BUILD/tests/build.log"; fi
else
  not_ok "the library and the apps build" "$BUILD/tests/build.log"
  exit 1
fi
lap build
whole() { (flock 9 && cat) 9>"$BUILD/tests/suite.lock"; } # prints the output of one script at a time, because scripts run concurrently
one() { # runs one script
  local script=$1 start rc log scratch
  log=$BUILD/tests/$(basename "$script" .sh).tap
  start=$(date +%s)
  scratch=$(mktemp -d) # removed with everything that the script leaves in it
  TMPDIR=$scratch "$script" >"$log" 2>&1
  rc=$?
  rm -rf "$scratch"
  {
    cat "$log"
    [ $rc -eq 0 ] || [ $rc -eq 1 ] || not_ok "$script ended with code $rc"
    echo "# $script: $(($(date +%s) - start)) s"
  } | whole
}
# The conformance tests run in the background from the beginning to the end, at a lower priority (nice) that still lets them progress.
if [ "$GPUCSR_SUITE" = full ]; then one tests/conformance/run_conformance.sh & fi
# Two scripts run per core, because most scripts wait for many short programs. On a GPU, a machine with 8 cores or more runs the harness and
# four scripts concurrently, and other machines run one after the other. Set GPUCSR_GPU_JOBS=1 for a shared GPU.
jobs=$((2 * ${JOBS:-$CORES}))
if [ "$GPUCSR_SUITE" = gpu ]; then
  jobs=${GPUCSR_GPU_JOBS:-$((CORES >= 8 ? 4 : 1))}
  [ "$jobs" = 1 ] || export JOBS="${JOBS:-$((CORES / 2))}"
fi
if [ "$GPUCSR_SUITE" = gpu ] && [ "$jobs" -gt 1 ]; then
  (tests/harness.sh >"$BUILD/tests/harness.tap"; whole <"$BUILD/tests/harness.tap") & # not a pipe, because whole would hold its lock during the complete run
else
  tests/harness.sh | whole
  lap harness
fi
# The longest scripts start first, so that no long script runs alone at the end.
export -f one whole not_ok
scripts=()
for script in $(printf '%s\n' tests/{leaks/run_valgrind,smacof/run_smacof,bmrm/run_learner,pagerank/run_pagerank,clients/run_resident,bmrm/run_bmrm,kmeans/run_kmeans,clients/run_clients,fuzz/run_fuzz}.sh tests/*/run_*.sh | awk '!seen[$0]++'); do
  case $GPUCSR_SUITE:$script in
  *:*/conformance/*) continue ;;
  full:*/gpu/*) continue ;;
  full:* | petsc:*/hostonly/* | petsc:*/clients/* | petsc:*/install/* | gpu:*/clients/* | petsc:*/bmrm/* | gpu:*/bmrm/* | petsc:*/pagerank/* | petsc:*/network/* | petsc:*/smacof/* | petsc:*/kmeans/* | gpu:*/smacof/* | gpu:*/pagerank/* | gpu:*/network/* | gpu:*/kmeans/* | gpu:*/bench/* | gpu:*/stream/* | gpu:*/gpu/*) scripts+=("$script") ;;
  esac
done
printf '%s\0' "${scripts[@]}" | xargs -0 -P"$jobs" -I{} bash -c 'one {}'
lap scripts
wait
