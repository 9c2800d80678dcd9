#!/usr/bin/env bash
# The kernels under NVIDIA's compute-sanitizer: accesses out of bounds, races in shared memory, use of unset memory.
set -u
. "$(dirname "$0")/../env.sh"
sanitizer=$(command -v compute-sanitizer || ls "${CUDA_DIR:-/usr/local/cuda}/bin/compute-sanitizer" 2>/dev/null)
[ -n "$sanitizer" ] || { skip "compute-sanitizer" "it is not installed"; exit 0; }
export PETSC_OPTIONS="${PETSC_OPTIONS:-} -gpucsr_device cuda"
found=0
for program in "$BUILD"/tests/harness/mat/tests/{kernels/*,mat/update,device/coo}; do
  case $program in *.sh | *.in | *.o | *.d) continue ;; esac
  [ -f "$program" ] && [ -x "$program" ] || continue
  found=1
  name=$(basename "$(dirname "$program")")/$(basename "$program")
  for tool in memcheck racecheck; do
    log=$BUILD/tests/sanitizer-${name/\//-}-$tool.log
    if timeout 500 "$sanitizer" --tool $tool --error-exitcode 9 "$program" >"$log" 2>&1; then ok "$tool: $name"; else
      not_ok "$tool: $name" "$log"
    fi
  done
done
[ $found = 1 ] || skip "compute-sanitizer" "no programs have been built"
