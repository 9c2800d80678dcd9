#!/usr/bin/env bash
# Compares the CUDA implementation of the passes of the smacof program with the host implementation, for every dimension, storage, shape and way of reading.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
program=$BUILD/bin/bench_smacof
if [ "${GPUCSR_PREBUILT:-}" != 1 ]; then make -s "${BUILD#"$ROOT"/}/bin/bench_smacof" >"$BUILD/tests/passes.log" 2>&1 || { not_ok "bench_smacof builds" "$BUILD/tests/passes.log"; exit 0; }; fi
if [ ! -x "$program" ]; then
  skip "smacof passes beside the host's" "bench_smacof has not been built"
else
  for limits in "" "130 65536"; do # all sizes with all shared memory; then few points with 64 kB of shared memory, as on compute capability 7.5
    name="smacof passes beside the host's${limits:+, 64 kB a block}"
    # shellcheck disable=SC2086 # two words
    if "$program" --check $limits >"$BUILD/tests/passes.log" 2>&1; then ok "$name: $(tail -1 "$BUILD/tests/passes.log")"; else not_ok "$name" "$BUILD/tests/passes.log"; fi
  done
fi
