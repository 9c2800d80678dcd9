#!/usr/bin/env bash
# The command line of the programs: exit codes, errors in one line on any number of ranks, --help, manual pages, the tables of options.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
bin=$BUILD/bin
for p in bmrm kmeans network pagerank smacof; do [ -x "$bin/$p" ] || { not_ok "$p is built"; exit 1; }; done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
small=solvers/bmrm/data/breast-cancer.libsvm
export tmp bin small OMPI_MCA_orte_execute_quiet=1 # mpiexec adds no words of its own about exit codes
export PETSC_OPTIONS="-gpucsr_device host -gpucsr_notice 0"
python=$(command -v python3) || python=

# --- files ----------------------------------------------------------------------------------------------------------------------
printf '2 1:1 2:0.5\n1 1:-1 3:0.25\n2 2:1\n1 1:-0.5 2:-1\n' >"$tmp/data"
printf '3 1:1e200\n1 1:-1e200\n' >"$tmp/huge"
printf '0,1,2\n1,0,x\n2,1,0\n' >"$tmp/bad.csv"
printf '2 1:1\n1 x:2\n' >"$tmp/bad.libsvm"
printf '0,1,2,2\n1,0,1,3\n2,1,0,1\n2,3,1,0\n' >"$tmp/table.csv"
printf '0 1\n1 x\n' >"$tmp/bad.edges"
printf -- '-dampng 0.5\n' >"$tmp/options"
printf 'no option\n-bmrm_lambda 1 2 3\n"\n' >"$tmp/broken"
"$bin/bmrm" -gpucsr_device host -f "$tmp/data" -model "$tmp/plain.model" >/dev/null 2>&1

# --- user errors: exit code, ranks, program, a part of the only line, arguments ----------------------------------------------
cat >"$tmp/cases" <<'TABLE'
2|1 3|bmrm|nothing to do: give -f|
2|1|pagerank|nothing to do: give -f|
2|1|smacof|nothing to do: give one of|
2|1 3|kmeans|nothing to do: give one of|
2|1|kmeans|unknown option -clusters; did you mean -kmeans_clusters?|-f $tmp/table.csv -clusters 2
2|1 3|kmeans|-kmeans_clusters 0: expected an integer of at least 1|-f $tmp/table.csv -kmeans_clusters 0
2|1|kmeans|expected an integer of at least 1, at most |-f $tmp/table.csv -kmeans_clusters 99999999999999999999
2|1|kmeans|expected integers, separated by commas, each of at least 1, at most |-generate 2,99999999999999999999
2|1|kmeans|-kmeans_start kmeans: expected one of random|-f $tmp/table.csv -kmeans_start kmeans
2|1|kmeans|-picture_columns needs two numbers|-f $tmp/table.csv -kmeans_clusters 2 -picture_columns 1
2|1|kmeans|-silhouette -1: expected an integer of at least 0|-f $tmp/table.csv -kmeans_clusters 2 -silhouette -1
4|1 3|kmeans|nofile: No such file or directory|-f $tmp/nofile
4|1|kmeans|nofile: No such file or directory (given by -start_file)|-f $tmp/table.csv -start_file $tmp/nofile -labels $tmp/never
5|1|kmeans|No such file or directory|-f $tmp/table.csv -kmeans_clusters 2 -picture $tmp/nowhere/p.svg -labels $tmp/never
3|1 3|kmeans||-generate 200,2 -kmeans_clusters 5 -kmeans_max_it 1
2|1 3|bmrm|unknown option -lambda; did you mean -bmrm_lambda?|-f $tmp/data -lambda 1
2|1|bmrm|unknown option --bmrm_lambda; did you mean -bmrm_lambda?|-f $tmp/data --bmrm_lambda 1
2|1|bmrm|unknown option -bmrm_epz; did you mean -bmrm_eps?|-f $tmp/data -bmrm_epz 1
2|1|bmrm|unknown option -bmrm_ksp_type|-f $tmp/data -bmrm_ksp_type cg
2|1 3|pagerank|unknown option -dampng; did you mean -damping?|-rmat 6,4 -dampng 0.5
2|1 3|pagerank|unknown option -dampng; did you mean -damping?|-rmat 6,4 -options_file $tmp/options
2|1 3|smacof|unknown option -dim; did you mean -smacof_dim?|-f $tmp/table.csv -dim 2
2|1|smacof|unknown option -mat_gpucsr_storge; did you mean -mat_gpucsr_storage?|-f $tmp/table.csv -mat_gpucsr_storge double
2|1|bmrm|unknown option -xyzzy; -help lists all options|-f $tmp/data -xyzzy
2|1 3|bmrm|is a value without an option|$tmp/data
2|1|bmrm|-scores maybe: expected true or false|-f $tmp/data -scores maybe
2|1 3|bmrm|-f needs a value: expected the name of a file|-f
2|1|pagerank|-tol needs a value: expected a number greater than 0|-rmat 6,4 -tol -topk 3
2|1 3|bmrm|-bmrm_lambda nan: expected a number greater than 0|-f $tmp/data -bmrm_lambda nan
2|1|bmrm|-bmrm_lambda 1e-3x: expected a number|-f $tmp/data -bmrm_lambda 1e-3x
2|1|bmrm|-bmrm_eps inf: expected a number of at least 0|-f $tmp/data -bmrm_eps inf
2|1|bmrm|-bmrm_cuts 9999999999999999999: expected an integer|-f $tmp/data -bmrm_cuts 9999999999999999999
2|1|bmrm|-cv 1: expected an integer of at least 2|-f $tmp/data -bmrm_path 1,0.1 -cv 1
2|1|bmrm|-bmrm_path 1,-1: expected numbers greater than 0|-f $tmp/data -bmrm_path 1,-1
2|1|bmrm|-bmrm_loss hing: expected one of hinge|-f $tmp/data -bmrm_loss hing
2|1|pagerank|-damping 1: expected a number greater than 0 and less than 1|-rmat 6,4 -damping 1
2|1|pagerank|-inner_tol nan: expected a number|-rmat 6,4 -inner_tol nan
2|1|pagerank|-rmat 6,x: expected integers|-rmat 6,x
2|1|pagerank|-rmat needs two numbers|-rmat 6
2|1|pagerank|-f and -rmat exclude each other|-f $tmp/data -rmat 6,4
2|1|smacof|-smacof_dim 9: expected an integer from 1 to 8|-f $tmp/table.csv -smacof_dim 9
2|1|smacof|several inputs: give one of|-f $tmp/table.csv -features $tmp/table.csv
2|1|bmrm|doble|-f $tmp/data -mat_gpucsr_storage doble
2|1 3|bmrm|Unknown Mat type given: foo|-f $tmp/data -mat_type foo
2|1 3|bmrm|-mat_type gpucsrstream: the programs set values of their matrices|-f $tmp/data -mat_type gpucsrstream
2|1|pagerank|use -mat_type gpucsr -mat_gpucsr_stream always|-rmat 6,4 -mat_type gpucsrstream
0|1|pagerank|warning: no effect in this run: -mat_gpucsr_stream_file|-rmat 6,4 -mat_gpucsr_stream_file x
2|1|bmrm|-mat_gpucsr_stream_file needs a value|-f $tmp/data -mat_gpucsr_stream_file
2|1|bmrm|-mat_gpucsr_stream_chunk 4kk: expected a number of bytes, which k, M, G or T may follow (1k is 1024 bytes)$|-f $tmp/data -mat_gpucsr_stream_chunk 4kk
2|1|smacof|-smacof_stream_chunk -3: expected a number of bytes of at least 1|-f $tmp/table.csv -smacof_stream_chunk -3
2|1 3|pagerank|KSP type foo|-rmat 6,4 -method ksp -pagerank_ksp_type foo
2|1 3|bmrm|-platt gives probabilities of classes, which -bmrm_loss leastsquares does not separate|-f $tmp/data -bmrm_loss leastsquares -platt 1
2|1|bmrm|gives scores without probabilities: add -platt|-f $tmp/data -test $tmp/data -predictions $tmp/p -probabilities
2|1 3|bmrm|-class_weights needs classes|-f $tmp/data -bmrm_loss leastsquares -class_weights balanced
2|1|bmrm|-probabilities: the model|-model $tmp/plain.model -predict $tmp/data -predictions $tmp/p -probabilities
2|1|bmrm|-cv chooses among several lambdas|-f $tmp/data -cv 3
2|1|bmrm|are the same file|-f $tmp/data -model $tmp/m -report $tmp/m
4|1 3|bmrm|nofile: No such file or directory|-f $tmp/nofile
4|1 3|pagerank|nofile: No such file or directory|-f $tmp/nofile
4|1 3|smacof|nofile: No such file or directory|-f $tmp/nofile
4|1|bmrm|nofile: No such file or directory (given by -test)|-f $tmp/data -test $tmp/nofile -model $tmp/never
4|1|bmrm|Is a directory|-f $tmp
4|1|bmrm|nofile: No such file or directory|-model $tmp/nofile -test $tmp/data
4|1 3|bmrm|-options_file nofile: the file cannot be read|-f $tmp/data -options_file nofile
2|1 3|bmrm|bad.csv: this is a table: give -label_column|-f $tmp/bad.csv
4|1 3|bmrm|bad.libsvm:2:3: expected <index>:<value>|-f $tmp/bad.libsvm
4|1 3|smacof|bad.csv|-f $tmp/bad.csv
5|1 3|bmrm|No such file or directory|-f $tmp/data -report $tmp/nowhere/r -model $tmp/never
5|1|pagerank|No such file or directory|-rmat 6,4 -ranks $tmp/nowhere/r
5|1|smacof|No such file or directory|-f $tmp/table.csv -coordinates $tmp/nowhere/c
5|1|pagerank|No space left on device|-rmat 6,4 >/dev/full
6|1 3|pagerank|out of memory|-rmat 27,20 -malloc_dump
3|1 3|bmrm||-f $small -bmrm_lambda 1e-6 -bmrm_max_it 2
3|1 3|bmrm||-f $tmp/huge -bmrm_loss poisson -mat_type aij
2|1 3|bmrm|-mat_gpucsr_storage single: the value 1e+200 in row 0, column 0 overflows single precision|-f $tmp/huge -mat_gpucsr_storage single
3|1|bmrm|not converged|-f $small -bmrm_lambda 1e-6 -bmrm_max_it 2 -bmrm_error_if_not_converged
3|1|bmrm||-f $small -bmrm_path 1e-6,1e-7 -bmrm_max_it 2
3|1 3|pagerank||-rmat 6,4 -max_it 1
3|1 3|smacof||-f $tmp/table.csv -smacof_max_it 1 -smacof_eps 0
0|1 3|bmrm|warning: no effect in this run: -ksp_rtoll|-f $tmp/data -ksp_rtoll 1
0|1|pagerank||-rmat 6,4 -log_view -malloc_dump -no_signal_handler
0|1|pagerank||-rmat 6,4 -method ksp -pagerank_ksp_type gmres -pagerank_pc_type none -ksp_view_final_residual 0 -options_left no
0|1|pagerank||-rmat 6,4 -prefix_push pagerank_ -ksp_type gmres -prefix_pop -method ksp
0|1|smacof||-f $tmp/table.csv -skip_petscrc
TABLE
one() { # one CODE RANKS PROGRAM PART ARGUMENTS
  local code=$1 n=$2 program=$3 part=$4 arguments=$5 err rc
  err=$(mktemp -p "$tmp")
  eval "( [ $code -ne 6 ] || ulimit -v 4000000; exec \"$MPIEXEC\" -n $n \"$bin/$program\" $arguments )" 2>"$err" >"$err.out"
  rc=$?
  sed -i '/^\[warn\] Epoll /d' "$err" # a warning of libevent in mpiexec on a busy machine, not of the program
  echo "code $rc, expected $code: $program $arguments, $n rank(s)" >"$err.log"
  cat "$err" >>"$err.log"
  if [ $rc -eq "$code" ] && ! grep -qE 'PETSC ERROR|petsc-maint|MPI_ABORT|MPI_Abort|Caught signal|WARNING! There are options' "$err" "$err.out" &&
    if [ -n "$part" ]; then [ "$(wc -l <"$err")" -eq 1 ] && grep -q "^$program: " "$err" && sed 's/$/$/' "$err" | grep -qF -- "$part"; else [ ! -s "$err" ]; fi; then
    ok "exit $code: $program ${arguments//"\$tmp/"/}, $n rank(s)"
  else
    not_ok "exit $code: $program ${arguments//"\$tmp/"/}, $n rank(s)" "$err.log"
  fi
}
export -f one ok not_ok
while IFS='|' read -r code ranks program part arguments; do
  for n in $ranks; do printf '%s\0' "$code" "$n" "$program" "$part" "$arguments"; done
done <"$tmp/cases" | xargs -0 -n5 -P6 bash -c 'out=$(one "$@"); echo "$out"' _
if [ ! -e "$tmp/never" ]; then ok "a wrong request leaves no model"; else not_ok "a wrong request leaves no model"; fi

# --- options of other programs, and PETSc's own messages --------------------------------------------------------------------------
(export PETSC_OPTIONS="$PETSC_OPTIONS -lambda 3 -other_program yes"; "$bin/pagerank" -rmat 6,4 >"$tmp/out" 2>"$tmp/err") && [ ! -s "$tmp/err" ]
if [ $? -eq 0 ]; then ok "PETSC_OPTIONS may hold options of other programs"; else not_ok "PETSC_OPTIONS may hold options of other programs" "$tmp/err"; fi
(export PETSC_OPTIONS="$PETSC_OPTIONS -damping 7"; "$bin/pagerank" -rmat 6,4 >"$tmp/out" 2>"$tmp/err")
if [ $? -eq 2 ] && grep -q 'pagerank: -damping 7: expected' "$tmp/err"; then ok "values in PETSC_OPTIONS are checked"; else not_ok "values in PETSC_OPTIONS are checked" "$tmp/err"; fi

# --- errors on one rank, and internal errors --------------------------------------------------------------------------------
cat >"$tmp/client.c" <<'SOURCE'
#include "app/program/appmain.h"
static const GpAppOption options[] = {{"-mode", GP_APP_INT, "n", "[0,9]", "0", PETSC_FALSE, "What fails."}, {NULL}};
static const GpAppManual manual = {.title = "client", .synopsis = "", .description = "", .prefix = "", .nested = "", .also = "", .options = options};
static PetscErrorCode Nothing(MPI_Comm comm, void *context) { return PETSC_SUCCESS; }
static PetscErrorCode Run(MPI_Comm comm, void *context, PetscBool *converged)
{
  PetscInt    mode = 0, *unfreed;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-mode", &mode, NULL));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscMalloc1(100, &unfreed));
  if (mode == 1) {
    PetscCheck(rank != 1, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "rank 1 cannot read");
    PetscCallMPI(MPI_Barrier(comm));
  }
  PetscCheck(mode != 2, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "every rank\ncannot \001 read");
  PetscCheck(mode != 3, comm, PETSC_ERR_PLIB, "a broken invariant");
  PetscCheck(mode != 4 || rank == 0, PETSC_COMM_SELF, PETSC_ERR_MEM, "higher ranks are full");
  PetscFunctionReturn(PETSC_SUCCESS);
}
int main(int argc, char **argv)
{
  const GpAppProgram program = {"client", &manual, Nothing, NULL, Nothing, Run, NULL};

  return GpAppMain(argc, argv, &program);
}
SOURCE
if make -s client SOURCE="$tmp/client.c" TARGET="$tmp/client" FLAGS="-I$ROOT/src -I$ROOT/include -L$BUILD/lib -lgpucsr -Wl,-rpath,$BUILD/lib" >"$tmp/log" 2>&1; then
  client() { # client NAME CODE RANKS LINES PART MODE
    timeout 60 "$MPIEXEC" -n "$3" "$tmp/client" -mode "$6" -malloc_dump >"$tmp/out" 2>"$tmp/err"
    local rc=$?
    echo "code $rc" >>"$tmp/err"
    if [ $rc -eq "$2" ] && [ "$(grep -c '^client: ' "$tmp/err")" -eq "$4" ] && grep -qF -- "$5" "$tmp/err"; then ok "$1"; else not_ok "$1" "$tmp/err"; fi
  }
  client "an error of one rank alone ends all ranks" 4 3 1 "client: rank 1 cannot read" 1
  client "an error of every rank is printed once, in one line" 4 3 1 "client: every rank cannot ? read" 2
  client "an error of the program keeps PETSc's trace, 1 rank" 1 1 0 "a broken invariant" 3
  client "an error of the program keeps PETSc's trace, 3 ranks" 1 3 0 "a broken invariant" 3
  client "ranks that end well wait for those that fail" 6 3 1 "client: higher ranks are full" 4
else
  not_ok "the client builds" "$tmp/log"
fi

# --- --help, --version, manual pages ------------------------------------------------------------------------------------------------
for p in bmrm kmeans network pagerank smacof; do
  "$MPIEXEC" -n 3 "$bin/$p" --help >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] && awk 'length($0) > 100 { bad = 1 } END { exit bad || NR > 40 || NR < 20 }' "$tmp/out" && [ "$(grep -c "^  $p -" "$tmp/out")" -eq 3 ]
  if [ $? -eq 0 ]; then ok "$p --help: one screen with three examples, printed once"; else not_ok "$p --help: one screen with three examples, printed once" "$tmp/out"; fi
  if "$bin/$p" --version >"$tmp/out" 2>&1 && grep -qE "^$p \(gpucsr [0-9.]+\), PETSc 3\.[0-9.]+ with (32|64)-bit indices, with(out)? CUDA$" "$tmp/out"; then ok "$p --version"; else not_ok "$p --version" "$tmp/out"; fi
  "$bin/$p" --help-man >"$tmp/$p.1"
  missing=$("$bin/$p" --help-options | cut -f1 | while read -r o; do grep -qF -- "${o//-/\\-}" "$tmp/$p.1" || echo "$o"; done)
  for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' FILES EXAMPLES 'SEE ALSO'; do grep -qx ".SH $section" "$tmp/$p.1" || missing="$missing $section"; done
  if [ -z "$missing" ]; then ok "$p.1 has every section and option"; else not_ok "$p.1 has every section and option"; fi
  if ! command -v groff >/dev/null; then
    skip "groff formats $p.1 without warnings" "groff is not installed"
  elif groff -man -ww -Tutf8 -rLL=100n "$tmp/$p.1" 2>&1 >/dev/null | grep -v 'cannot adjust\|break' >"$tmp/err"; then
    not_ok "groff formats $p.1 without warnings" "$tmp/err"
  else
    ok "groff formats $p.1 without warnings"
  fi
done

# --- the tables have what the programs register, with the same choices and defaults ---------------------------------------------------
if [ -n "$python" ]; then
  for p in bmrm kmeans network pagerank smacof; do
    "$bin/$p" --help-options >"$tmp/table"
    parameters=(-)
    [ $p != bmrm ] || parameters=(quantile epsilon huber novelty fbeta ndcg multiclass)
    for loss in "${parameters[@]}"; do
      if [ "$loss" = - ]; then "$bin/$p" -help; else "$bin/$p" -help -bmrm_loss "$loss"; fi
    done >"$tmp/help" 2>"$tmp/err"
    if "$python" tests/app/frontdoor.py $p "$tmp/table" "$tmp/help" >>"$tmp/err" 2>&1; then ok "$p: the table of options is that of the program"; else not_ok "$p: the table of options is that of the program" "$tmp/err"; fi
  done
fi
exit 0
