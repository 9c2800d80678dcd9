#!/usr/bin/env bash
# A bounded part of `make fuzz` with a fixed seed: mutated files through every reader, under the sanitizers.  Prints TAP.
#
#   FUZZ_COUNT     inputs, default 4000
#   FUZZ_SECONDS   time, default 15
set -u
. "$(dirname "$0")/../env.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cc=$(make -s --no-print-directory print-CC 2>/dev/null)
echo 'int main(void) { return 0; }' >"$tmp/probe.c"
if ! { ${cc:-mpicc} -fsanitize=address,undefined "$tmp/probe.c" -o "$tmp/probe" && "$tmp/probe"; } >"$tmp/log" 2>&1; then
  skip "fuzz" "the compiler has no sanitizers of addresses and undefined behaviour"
  exit 0
fi
if ! make -s -j"${JOBS:-$CORES}" "${BUILD#"$ROOT"/}/bin/fuzz" >"$tmp/log" 2>&1; then
  not_ok "fuzz: builds" "$tmp/log"
  exit 1
fi
LSAN_OPTIONS=suppressions=$ROOT/tests/fuzz/suppressions.txt timeout 300 "$BUILD/bin/fuzz" -count "${FUZZ_COUNT:-4000}" -seconds "${FUZZ_SECONDS:-15}" -seed 1 -work "$tmp" -no_signal_handler >"$tmp/log" 2>&1
rc=$?
if [ $rc -eq 0 ] && grep -q ' 0 failures$' "$tmp/log"; then
  ok "fuzz: $(sed -n 's/^# \([0-9]* inputs\) .*/\1/p' "$tmp/log") without a crash, hang, leak, report or unexplained success"
else
  mkdir -p "$BUILD/fuzz"
  cp "$tmp"/failed-* "$BUILD/fuzz/" 2>/dev/null
  TAP_LINES=200 not_ok "fuzz: exit code $rc; the inputs are in $BUILD/fuzz" "$tmp/log"
fi
idle=$(awk '$2 ~ /^[0-9]+$/ && $3 ~ /^[0-9]+$/ && NF == 4 && $2 + $3 == 0 { print $1 }' "$tmp/log" FS='[ #]+' | wc -l)
[ "$(grep -cE '^# [a-z]+ +[0-9]+ +[0-9]+  [0-9]+$' "$tmp/log")" -ge 19 ] && [ "$idle" -eq 0 ]
if [ $? -eq 0 ]; then ok "fuzz: every reader had its turn"; else not_ok "fuzz: every reader had its turn" "$tmp/log"; fi
