#!/usr/bin/env bash
# The passes of the smacof program on the GPU beside those on the host: every dimension, storage, shape and way of reading.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
program=$BUILD/bin/bench_smacof
if [ "${GPUCSR_PREBUILT:-}" != 1 ]; then make -s "${BUILD#"$ROOT"/}/bin/bench_smacof" >"$BUILD/tests/passes.log" 2>&1 || { not_ok "bench_smacof builds" "$BUILD/tests/passes.log"; exit 0; }; fi
if [ ! -x "$program" ]; then
  skip "smacof passes beside the host's" "bench_smacof has not been built"
elif "$program" --check >"$BUILD/tests/passes.log" 2>&1; then
  ok "smacof passes beside the host's: $(tail -1 "$BUILD/tests/passes.log")"
else
  not_ok "smacof passes beside the host's" "$BUILD/tests/passes.log"
fi
