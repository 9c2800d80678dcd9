#!/usr/bin/env bash
# make check-gpu: the tests on the GPU of this machine.  The last line is: N passed, N failed, N skipped
#
# GPUCSR_PREBUILT=1 builds nothing and runs the programs found below $BUILD: see tests/petsc/bundle.sh for machines without PETSc.
set -u
. "$(dirname "$0")/env.sh"
if ! ls /dev/nvidia[0-9]* >/dev/null 2>&1 && ! nvidia-smi -L >/dev/null 2>&1; then
  echo "No NVIDIA GPU found on this machine; make check runs the tests with the host backend." >&2
  exit 1
fi
export GPUCSR_DEVICE=cuda GPUCSR_SUITE=gpu
mkdir -p "$BUILD/tests"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | sed 's/^/# GPU: /'
if [ "${GPUCSR_PREBUILT:-}" != 1 ]; then tests/setup.sh || exit 1; fi
tests/suite.sh | tee "$BUILD/tests/check-gpu.tap"
tap_total "$BUILD/tests/check-gpu.tap"
