#!/usr/bin/env bash
# bench_bigkernel and bench_beyond on little data: all variants give the bits of the serial program; Netflix on real ratings gives the correlations of Python.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
log=$BUILD/tests/bigkernel.log
mkdir -p "$BUILD/tests"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "${GPUCSR_PREBUILT:-}" != 1 ]; then
  if make -s -C "$ROOT" -j"${JOBS:-$CORES}" "${BUILD#"$ROOT"/}/bin/bench_bigkernel" "${BUILD#"$ROOT"/}/bin/bench_beyond" >"$log" 2>&1; then ok "bench_bigkernel and bench_beyond build"; else
    not_ok "bench_bigkernel and bench_beyond build" "$log"
    exit 1
  fi
fi
if ! [ -x "$BUILD/bin/bench_bigkernel" ] || ! [ -x "$BUILD/bin/bench_beyond" ]; then
  skip "the programs of BigKernel" "bench_bigkernel and bench_beyond were not built elsewhere"
  exit 0
fi
host=--host
[ "$GPUCSR_DEVICE" = host ] || host=
# shellcheck disable=SC2086 # $host is one option or none
run() { MALLOC_PERTURB_=85 "$BUILD/bin/bench_bigkernel" $host --repeats 2 "$@" >"$work/out" 2>"$log" || { cat "$work/out" >>"$log"; return 1; }; }
variants() { # the number of variants of each program
  for program in kmeans:9 netflix:10 affinity:10; do
    [ "$(grep -c "^${program%:*}," "$work/out")" = "${program#*:}" ] || { echo "$program" >>"$log"; return 1; }
  done
}
many() { run --scale 0.002 --item 0.05 --threads 3 && variants; }      # many items, and groups of records that are larger than an item
single() { run --scale 0.001 --item 0.001 --threads 1 && variants; }   # each group is an item of its own
whole() { run --scale 0.0005 --item 32 --threads 2 && variants; }      # one item
check "many small items" many
check "items of one group" single
check "one item, several threads" whole
refused() { # refused MESSAGE ARGUMENTS
  local message=$1
  shift
  ! run "$@" && grep -qF -- "$message" "$log" && [ "$(grep -c '^bench_bigkernel: ' "$log")" = 1 ]
}
check "an unknown program is refused" refused "the programs are kmeans, netflix and affinity" --program word-count
check "a scale of 0 is refused" refused "--scale must be" --scale 0
check "a missing file of ratings is refused" refused "cannot be opened" --program netflix --ratings "$work/nothing"
printf '3 2 2\n1 1 5\n4 1 3\n' >"$work/wrong.mtx"
check "a user out of range is refused" refused "a line is wrong" --program netflix --ratings "$work/wrong.mtx"

# shellcheck disable=SC2086
beyond() { "$BUILD/bin/bench_beyond" $host --repeats 1 --threads 2 0.05; } # checks its products
check "bench_beyond: all copies of a row have the same product" beyond

name="correlations of the users of MovieLense beside Python"
data=${GPUCSR_DATA:-}/matrix-data/MovieLense.mtx.xz
correlations() { xz -dc "$data" >"$work/ratings.mtx" && run --program netflix --item 0.1 --ratings "$work/ratings.mtx" --write "$work/written" && tests/bench/correlations.py "$work/ratings.mtx" "$work/written"; }
if ! [ -f "$data" ]; then skip "$name" "there is no ../shared/data"; elif ! command -v xz >/dev/null; then skip "$name" "there is no xz"; else check "$name" correlations; fi
