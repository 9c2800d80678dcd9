#!/usr/bin/env bash
# Tests k-means on two GPUs: sums over the GPUs by NCCL and by MPI give the bits of one GPU, with one and with two integers for each sum. Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
exe=$BUILD/tests/harness/mat/tests/kmeans/ranks log=$BUILD/tests/ranks.log
name="k-means on two GPUs, sums by NCCL and by MPI"
device=(-gpucsr_device cuda -gpucsr_notice 0)
[ -x "$exe" ] || { skip "$name" "tests/kmeans/ranks.c has not been built"; exit 0; }
"$MPIEXEC" -n 2 "$BUILD/bin/kmeans" "${device[@]}" -generate 1000,2 -kmeans_reduce auto -kmeans_view >"$log" 2>&1
sums=$(sed -n 's/^ *sums over 2 ranks by //p' "$log")
case $sums in
nccl*) ;;
*"share a GPU"* | *"cannot be opened"* | *"is older than"*) skip "$name" "${sums#mpi: }"; exit 0 ;;
*) not_ok "$name" "$log"; exit 0 ;;
esac
for arguments in "" "-points 2200000 -max_it 10"; do # with more than 2097152 points a sum has two integers
  # shellcheck disable=SC2086 # several words
  if timeout 300 "$MPIEXEC" -n 2 "$exe" "${device[@]}" -require_nccl $arguments >"$log" 2>&1; then ok "$name${arguments:+: $arguments}"; else not_ok "$name${arguments:+: $arguments}" "$log"; fi
done
