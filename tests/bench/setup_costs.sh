#!/usr/bin/env bash
# What the set-up of a matrix costs on this GPU, after the tests that it is right: upload, transpose, features, conversion, with
# memory from the pool and with memory from the driver.  Builds nothing: wants the programs of make check-gpu and bench_corpus.
#
#   tests/bench/setup_costs.sh folder [options of bench_corpus, such as --shard 0/10]
set -u
. "$(dirname "$0")/../env.sh"
out=$1
shift
mkdir -p "$out"
export PETSC_OPTIONS="${PETSC_OPTIONS:-} -gpucsr_device cuda"
for program in device/device device/memory kernels/kernels selector/features; do
  "$BUILD/tests/harness/mat/tests/$program" || exit 1
done
if sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null); then
  "$sanitizer" --tool memcheck --track-stream-ordered-races all --error-exitcode 9 "$BUILD/tests/harness/mat/tests/device/device" || exit 1
  "$sanitizer" --tool memcheck --track-stream-ordered-races all --error-exitcode 9 "$BUILD/tests/harness/mat/tests/kernels/kernels" -every 6 || exit 1
fi
seldom=csrvendor,csrvendorfast,coovendor,coovendorfast,sellvendor,csrpad,csrsmall,balanced,hybrid,coa8,coa32,coablock8,coablock32 # never chosen
for memory in plain pool; do
  "$BUILD/bin/bench_corpus" --scale 0.4 --shard 0/20 --threads "$(nproc)" --without $seldom "$@" --memory $memory >"$out/$memory.csv" || exit 1
done
tests/bench/setup_costs.py "$out/plain.csv" "$out/pool.csv"
