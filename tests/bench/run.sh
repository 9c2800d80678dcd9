#!/usr/bin/env bash
# make bench: run every $BUILD/bin/bench_* with the options given, on the device that is there.
set -u
. "$(dirname "$0")/../env.sh"
found=0
for program in "$BUILD"/bin/bench_*; do
  [ -x "$program" ] || continue
  found=1
  echo "== $(basename "$program") $*"
  "$program" "$@" || exit 1
done
[ $found = 1 ] || echo "there are no tests/bench/bench_*.c"
