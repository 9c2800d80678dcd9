#!/usr/bin/env bash
# gpuamg with Laplacians of real graphs (GPUCSR_DATA, default ../shared/data; without it the tests are skipped): at most 1.3 times as many iterations as GAMG.
set -u
. "$(dirname "$0")/../env.sh"
work=$BUILD/tests/pc
mkdir -p "$work"
data=${GPUCSR_DATA:-../shared/data}/graph
if ! make -s --no-print-directory BUILD="$BUILD" client SOURCE="$ROOT/tests/pc/amg_client.c" TARGET="$work/amg_client" FLAGS="-I$ROOT/include -I$ROOT/src -L$BUILD/lib -lgpucsr -Wl,-rpath,$BUILD/lib" >"$work/amg_client.log" 2>&1; then
  not_ok "the program for graphs compiles" "$work/amg_client.log"
  exit 1
fi

compare() { # graph, ranks
  local name="gpuamg: Laplacian of $1, ranks: $2" file=$work/$1.graph
  if ! command -v xz >/dev/null; then skip "$name" "there is no xz"; elif ! [ -f "$data/$1.graph.xz" ]; then skip "$name" "there is no $1.graph.xz in $data"; else
    xz -dc "$data/$1.graph.xz" >"$file"
    if "$MPIEXEC" -n "$2" "$work/amg_client" -gpucsr_device "$GPUCSR_DEVICE" -gpucsr_storage double -malloc_dump -gamg_mg_levels_pc_type jacobi -f "$file" >"$file.log" 2>&1 </dev/null &&
      awk 'NF == 2 && $1 > 0 && $1 <= 1.3 * $2 { right = 1 } END { exit NR != 1 || !right }' "$file.log"; then ok "$name"; else not_ok "$name" "$file.log"; fi
    rm -f "$file"
  fi
}
compare 4elt 1
compare 4elt 2
compare fe_4elt2 1
compare copter2 1
compare brack2_3 1
