#!/usr/bin/env bash
# Runs the programs of tests/gpu/programs under NVIDIA's compute-sanitizer, which finds accesses out of bounds and races in shared memory.
#
# Several ranks share the GPU, each under its own sanitizer.  A program that never uses the GPU is an error (the sanitizer's exit
# code is 255), because it would test nothing.
set -u
. "$(dirname "$0")/../env.sh"
sanitizer=$(command -v compute-sanitizer || ls "${CUDA_DIR:-/usr/local/cuda}/bin/compute-sanitizer" 2>/dev/null)
[ -n "$sanitizer" ] || { skip "compute-sanitizer" "it is not installed"; exit 0; }
export PETSC_OPTIONS="${PETSC_OPTIONS:-} -gpucsr_device cuda" sanitizer
mkdir -p "$BUILD/tests/sanitizer"

one() { # tool, number of ranks, directory/program, arguments...
  local tool=$1 ranks=$2 program=$3 exe=$BUILD/tests/harness/mat/tests/$3 name log scratch
  shift 3
  name="$tool: $program on $ranks${*:+: $*}"
  log=$tool-${program//\//-}-$ranks$*
  log=$BUILD/tests/sanitizer/${log//[^a-z0-9_-]/}.log
  [ -x "$exe" ] || { skip "$name" "it has not been built"; return; }
  scratch=$(mktemp -d)
  [ "$ranks" = 1 ] || tool="$tool --report-api-errors no" # NCCL asks for kernels that it has not, and handles the failure
  # shellcheck disable=SC2086 # the tool has options
  if (cd "$scratch" && TMPDIR=$scratch timeout 300 "$MPIEXEC" -n "$ranks" "$sanitizer" --tool $tool --error-exitcode 9 "$exe" "$@" >"$log" 2>&1 </dev/null); then ok "$name"; else
    echo "exit code $?" >>"$log"
    not_ok "$name" "$log"
  fi
  rm -rf "$scratch"
}
export -f one ok not_ok skip

# the output of a program is printed at once, because programs run concurrently
grep -v '^ *#' "$ROOT/tests/gpu/programs" | while read -r first rest; do
  tools=memcheck ranks=1
  if [ "$first" = race ]; then tools="memcheck racecheck" first=${rest%% *} rest=${rest#"${rest%% *}"}; fi
  case $first in [0-9]) ranks=$first first=${rest%% *} rest=${rest#"${rest%% *}"} ;; esac
  for tool in $tools; do echo "$tool $ranks $first $rest"; done
done | xargs -P"${JOBS:-4}" -I{} bash -c 'said=$(one {}); echo "$said"'
