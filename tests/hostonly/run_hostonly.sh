#!/usr/bin/env bash
# The build without CUDA: it compiles without nvcc, runs, and says in a sentence that it has no GPU part.
set -u
. "$(dirname "$0")/../env.sh"
other=$BUILD/hostonly
log=$BUILD/tests/hostonly.log
if [ "${GPUCSR_SUITE:-full}" = petsc ]; then other=$BUILD # the suite has built it without CUDA
elif [ "${GPUCSR_CHECK_NEWEST:-0}" = 1 ]; then
  skip "host-only build" "make check then builds without CUDA, for the newest PETSc, and tests that build"
  exit 0
elif [ "${CUDA_DIR:-}" = none ] || [ "$(make -s --no-print-directory print-havecuda)" = 0 ]; then
  skip "host-only build" "there is no nvcc, so every test ran with such a build"
  exit 0
elif make -s -j"${JOBS:-$CORES}" BUILD="$other" CUDA_DIR=none all >"$log" 2>&1; then ok "host-only build"
else
  not_ok "host-only build" "$log"
  exit 1
fi
app=$other/bin/bmrm
data=solvers/bmrm/data/breast-cancer.libsvm
check "host-only build trains" "$app" -f "$data" -mat_type gpucsr -bmrm_lambda 1e-3 -bmrm_eps 1e-2
if "$app" -f "$data" -mat_type gpucsr -bmrm_lambda 1e-3 -gpucsr_device cuda >"$log" 2>&1; then
  not_ok "host-only build refuses -gpucsr_device cuda"
elif grep -q 'built without CUDA' "$log"; then ok "host-only build refuses -gpucsr_device cuda in a sentence"; else
  not_ok "host-only build refuses -gpucsr_device cuda in a sentence" "$log"
fi
