#!/usr/bin/env bash
# Kernels are launched by the functions of include/gpucsrdevice.cuh and src/device/gplaunch.h, which check the launch and decide whether the next
# product may be launched early.  Raw launches would bypass that rule.  Streams are chosen by GpDevSetStream() and GpDevPushStream() only.
cd "$(dirname "$0")/../.." || exit 1
bad=0
refuse() { # what to say, pattern
  # shellcheck disable=SC2046
  found=$(grep -nE "$2" $(git ls-files '*.c' '*.h' '*.cu' '*.cuh' | grep -E '^(src|solvers|examples|include)/' | grep -vE '^(src/device/|include/gpucsrdevice.cuh)')) || return 0
  printf '%s:\n%s\n' "$1" "$found"
  bad=1
}
refuse 'launch by GpLaunch() or a function beside it (gpucsrdevice.cuh)' '<<<|cudaLaunch(CooperativeKernel|Kernel)'
refuse 'the launch functions check every launch' 'cudaGetLastError|cudaPeekAtLastError'
refuse 'capture by GpGraphCaptureBegin() or PetscGPUCSRGraphCreate()' 'cudaStreamBeginCapture|cudaGraph(Launch|Instantiate)'
exit $bad
