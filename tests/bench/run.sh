#!/usr/bin/env bash
# make bench: run every $BUILD/bin/bench_* with the options given, on the device that is there.
set -u
. "$(dirname "$0")/../env.sh"
found=0
for program in "$BUILD"/bin/bench_*; do
  [ -x "$program" ] || continue
  found=1
  if [ "$(basename "$program")" = bench_corpus ]; then # takes no options of PETSc, and minutes
    echo "== the campaign behind the selector's model, into $BUILD/campaign"
    tests/bench/campaign.sh "$BUILD/campaign" "${CAMPAIGN_SECONDS:-300}" --threads "$CORES" || exit 1
    continue
  fi
  echo "== $(basename "$program") $*"
  "$program" "$@" || exit 1
done
[ $found = 1 ] || echo "there are no tests/bench/bench_*.c"
