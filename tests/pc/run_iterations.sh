#!/usr/bin/env bash
# Iterations with ILU(0) and ICC(0), exact solves in double storage: those of type aij, and the same bits in two solves.  bench_iterations compares.
#   run_iterations.sh           a few matrices, for tests/suite.sh
#   run_iterations.sh all       40 matrices: half from the corpus, half from GPUCSR_DATA; the table is $BUILD/tests/pc/iterations.csv
set -u
. "$(dirname "$0")/../env.sh"
work=$BUILD/tests/pc
data=${GPUCSR_DATA:-../shared/data}/matrix
mkdir -p "$work"
if [ "${GPUCSR_PREBUILT:-}" != 1 ] && ! make -s --no-print-directory -C "$ROOT" "${BUILD#"$ROOT"/}/bin/bench_iterations" >"$work/iterations.log" 2>&1; then
  not_ok "bench_iterations builds" "$work/iterations.log"
  exit 1
fi
if ! [ -x "$BUILD/bin/bench_iterations" ]; then
  skip "iterations with ILU and ICC" "bench_iterations was not built elsewhere"
  exit 0
fi
generated="grid7-12 grid27-8 convection-10 elasticity-6 corpus:mesh-low-03@0.02"
files="494_bus.mtx orsirr_2.mtx wathenSmall.mtx"
if [ "${1:-}" = all ]; then
  generated="grid7-24 grid27-16 convection-20 elasticity-10"
  for member in stencil5-const-03 stencil7-const-04 stencil9-const-02 stencil13-const-01 stencil27-const-05 stencil7-jump-02 stencil5-var-06 stencil9-var-03 mesh-low-03 mesh-high-02 mesh-mixed-01 elasticity3-04 dof2-02 dof4-05 dof6-01 mesh-dof3-03; do
    generated="$generated corpus:$member@0.05"
  done
  files="494_bus.mtx A.mtx bcsstk16.mtx rapA.mtx wathenSmall.mtx mass_0.mm mass_1.mm smooVec.mm add20.mtx ani4_amd.mtx arc130.mtx bfw782a.mtx bfwa62.mtx cage10.mtx cryg2500.mtx fuego0.mm lsc_Qu_2.mm olm1000.mtx orsirr_2.mtx pde900.mtx"
fi

header=1
: >"$work/iterations.csv"
compare() { # name, matrix: one line of the table
  local log=$work/iterations.$$
  if timeout 120 "$BUILD/bin/bench_iterations" -gpucsr_device "$GPUCSR_DEVICE" -malloc_dump -matrices "$2" >"$log" 2>&1; then ok "iterations with ILU or ICC as aij: $1"; else not_ok "iterations with ILU or ICC as aij: $1" "$log"; fi
  [ $header = 0 ] || head -2 "$log" >"$work/iterations.csv"
  header=0
  sed -n 3p "$log" >>"$work/iterations.csv"
  rm -f "$log"
}
for matrix in $generated; do compare "$matrix" "$matrix"; done
for file in $files; do
  if ! command -v xz >/dev/null; then skip "iterations: $file" "there is no xz"; elif ! [ -f "$data/$file.xz" ]; then skip "iterations: $file" "there is no $file.xz in $data"; else
    xz -dc "$data/$file.xz" >"$work/$file"
    compare "$file" "$work/$file"
  fi
done
