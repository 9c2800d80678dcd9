#!/usr/bin/env bash
# Products of a matrix with more than 2^31 nonzeros, whose rows a function returns.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
exe=$BUILD/tests/harness/mat/tests/stream/beyond log=$BUILD/tests/beyond.log
name="a matrix with more than 2^31 nonzeros"
available=$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
if [ ! -x "$exe" ]; then
  skip "$name" "tests/stream/beyond.c has not been built"
elif [ "${available:-0}" -lt 12 ]; then
  skip "$name" "it needs 12 GB of host memory, and $available GB are available"
else
  timeout 300 "$exe" -gpucsr_device "$GPUCSR_DEVICE" -gpucsr_notice 0 -rows 33600000 >"$log" 2>&1
  if [ $? -eq 0 ]; then ok "$name: $(tail -1 "$log")"; else not_ok "$name" "$log"; fi
fi
