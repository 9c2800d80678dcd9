#!/usr/bin/env bash
# Preconditioners with real matrices (GPUCSR_DATA, default ../shared/data; without it the tests are skipped): the number of iterations as a share of Jacobi's.
set -u
. "$(dirname "$0")/../env.sh"
work=$BUILD/tests/pc
mkdir -p "$work"
data=${GPUCSR_DATA:-../shared/data}/matrix
if ! make -s --no-print-directory BUILD="$BUILD" client SOURCE="$ROOT/tests/pc/pc_client.c" TARGET="$work/client" FLAGS="-I$ROOT/include -I$ROOT/src -L$BUILD/lib -lgpucsr -Wl,-rpath,$BUILD/lib" >"$work/client.log" 2>&1; then
  not_ok "the program for real matrices compiles" "$work/client.log"
  exit 1
fi

solve() { # matrix, ranks, options...: prints the iterations with Jacobi, with a smaller and with a larger pattern
  xz -dc "$data/$1.mtx.xz" >"$work/$1.mtx" || return
  "$MPIEXEC" -n "$2" "$work/client" -gpucsr_device "$GPUCSR_DEVICE" -malloc_dump -f "$work/$1.mtx" "${@:3}" >"$work/$1.log" 2>&1 </dev/null
}
skipped() { # matrix, name of the test
  if ! command -v xz >/dev/null; then skip "$2" "there is no xz"; elif ! [ -f "$data/$1.mtx.xz" ]; then skip "$2" "there is no $1.mtx.xz in $data"; else return 1; fi
}
faster() { # matrix, ranks, largest share of Jacobi's iterations with the smaller and with the larger pattern, options...
  local name="iterations: $1, ranks: $2${5:+, ${*:5}}"
  if skipped "$1" "$name"; then return; fi
  if solve "$1" "$2" "${@:5}" && awk -v small="$3" -v large="$4" 'NF == 3 && $2 > 0 && $2 <= small * $1 && $3 > 0 && $3 <= large * $1 { right = 1 } END { exit NR != 1 || !right }' "$work/$1.log"; then ok "$name"
  else not_ok "$name" "$work/$1.log"; fi
}
refused() { # matrix that is not positive definite
  local name="gpufsai: $1 is refused"
  if skipped "$1" "$name"; then return; fi
  if solve "$1" 1 -expect_failure && [ "$(cat "$work/$1.log")" = "0 -1 -1" ]; then ok "$name"; else not_ok "$name" "$work/$1.log"; fi
}

faster 494_bus 1 0.45 0.2
faster 494_bus 2 0.45 0.2 -pc_gpufsai_local 0
faster bcsstk13 1 0.5 0.3
faster bcsstk16 1 0.7 0.7
faster bcsstk16 2 0.7 0.7
faster wathenSmall 1 0.75 0.4
faster wathenSmall 2 0.75 0.4 -pc_gpufsai_storage double -pc_gpufsai_local 0
faster orsirr_2 1 0.75 0.35 -nonsymmetric
faster orsirr_2 2 0.9 0.5 -nonsymmetric -pc_gpuspai_storage double
faster pde900 1 0.7 0.5 -nonsymmetric
faster pde900 2 0.7 0.5 -nonsymmetric -pc_gpuspai_local 0
faster bfw782a 1 0.4 0.25 -nonsymmetric
refused Ashear
refused rmat_11_lap
