#!/usr/bin/env bash
# Compares the bits of every repeatable SpMV kernel on the test matrices with checksums that were recorded on an NVIDIA H200.
# A kernel that is meant to change is recorded again; the commit says why.
#
#   tests/gpu/run_checksums.sh            compares; other GPUs are skipped, because some kernels adapt their grid to the GPU
#   tests/gpu/run_checksums.sh --record   writes tests/gpu/checksums-h200.tsv
set -u
. "$(dirname "$0")/../env.sh"
recorded=tests/gpu/checksums-h200.tsv
program=$BUILD/tests/harness/mat/tests/kernels/kernels
measured=$BUILD/tests/checksums.tsv
name="products have the recorded bits"
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1)
case $gpu in
*H200*) ;;
*)
  skip "$name" "recorded on an NVIDIA H200, this GPU is ${gpu:-unknown}"
  exit 0
  ;;
esac
if [ ! -x "$program" ]; then
  skip "$name" "the test program kernels has not been built"
  exit 0
fi
if ! "$program" -gpucsr_device cuda -vendor false -checksums "$measured" >"$BUILD/tests/checksums.log" 2>&1; then
  not_ok "$name" "$BUILD/tests/checksums.log"
  exit 0
fi
LC_ALL=C sort -o "$measured" "$measured"
if [ "${1:-}" = --record ]; then
  cp "$measured" "$recorded"
elif diff "$recorded" "$measured" >"$BUILD/tests/checksums.log"; then
  ok "$name: $(wc -l <"$measured") kernels and matrices"
else
  not_ok "$name" "$BUILD/tests/checksums.log"
fi
