#!/usr/bin/env bash
# Makes a cost model: runs bench_corpus for a number of seconds, then train, predictions and figures, and writes all into a folder.
#
#   tests/bench/campaign.sh folder seconds [options of bench_corpus]
#
# If a kernel loses the device, bench_corpus stops. It is started again and continues with the next matrix. A kernel or format that stopped it twice is
# excluded, with a message.  BENCH and TRAIN name the programs; default: those of the build.  With TRAIN=none, for a part of a campaign, only the
# table is made; train reads the tables of all parts together.
set -u
out=$1
seconds=$2
shift 2
: "${BENCH:=${BUILD:-build}/bin/bench_corpus}" "${TRAIN:=${BUILD:-build}/bin/train}"
mkdir -p "$out"
table=$out/corpus.csv errors=$out/errors.txt log=$out/begun.txt without=none
: >"$table"
: >"$errors"
: >"$log"
start=$(date +%s)
while left=$((seconds - $(date +%s) + start)); [ $left -gt 3 ]; do
  timeout -k 2 $((left + 8)) "$BENCH" "$@" --seconds $left --log "$log" --without "$without" >>"$table" 2>>"$errors"
  rc=$?
  [ $rc -le 1 ] && break
  echo "campaign: bench_corpus ended with $rc at $(tail -1 "$log"): $(grep -v '^WRONG' "$errors" | tail -1)" | tee -a "$errors"
  twice=$(sed -n 's/.*(\S* A[t]* \(kernel\|format\) \(\S*\)).*/\2/p' "$errors" | grep -v '^$' | sort | uniq -c | awk '$1 >= 4 {print $2}' | paste -sd,) # each failure is printed twice
  without=none${twice:+,$twice}
done
if grep 'skipped' "$table"; then exit 0; fi
[ "$without" = none ] || echo "campaign: left out after losing the device twice: ${without#none,}"
[ -s "$errors" ] && { echo "campaign: $(grep -c '^WRONG' "$errors") wrong products, by kernel:"; sed -n 's/^WRONG: \S* A[t]* \(\S*\):.*/\1/p' "$errors" | sort | uniq -c; }
grep '^# ' "$table" | cut -c1-400
[ "$TRAIN" = none ] && exit 0
"$TRAIN" --source "$table, commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)" --exclude csrvendorfast,coovendorfast --model "$out/model.h" --predictions "$out/predictions.csv" "$table" >"$out/analysis.md" || exit 1
cat "$out/analysis.md"
