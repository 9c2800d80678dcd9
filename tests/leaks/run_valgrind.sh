#!/usr/bin/env bash
# Run the programs of tests/leaks/programs under valgrind; errors and leaks whose stack contains a function of gpucsr fail.
#
# Memory that MPI and PETSc do not free is not counted: leaks whose only frames of gpucsr are main() or GpAppMain(), which call MPI_Init() and
# PetscInitialize(). Memory that a test itself does not free is found by -malloc_dump in the harness.
set -u
. "$(dirname "$0")/../env.sh"
command -v valgrind >/dev/null || { skip "valgrind" "valgrind is not installed"; exit 0; }
ours=$(find src solvers examples tests -name '*.c' -o -name '*.h' -o -name '*.cu' 2>/dev/null | xargs -n1 basename | sort -u | paste -sd' ')
mpi=$(ls /usr/share/openmpi/openmpi-valgrind.supp 2>/dev/null)
mkdir -p "$BUILD/tests/valgrind"

one() { # name directory ranks command...
  local name=$1 dir=$2 ranks=$3 log=$2/log
  shift 3
  rm -rf "$dir" # a folder of its own, because programs may write files
  mkdir -p "$dir"
  (cd "$dir" && "$MPIEXEC" -n "$ranks" valgrind --log-file="$log.%p" --leak-check=full --show-leak-kinds=definite,indirect --num-callers=30 --suppressions="$ROOT/tests/leaks/fontconfig.supp" ${mpi:+--suppressions="$mpi"} "$@" >"$log.out" 2>&1 </dev/null)
  local rc=$?
  if [ $rc -ne 0 ]; then not_ok "valgrind $name: exit code $rc" "$log.out"; return; fi
  # records are separated by empty lines; print the records whose stack contains a function of gpucsr
  if sed 's/^==[0-9]*== \{0,1\}//' "$log".[0-9]* | awk -v ours="$ours" '
    BEGIN { RS = ""; FS = "\n"; n = split(ours, f, " "); for (i = 1; i <= n; i++) mine[f[i]] = 1 }
    /^(LEAK SUMMARY|HEAP SUMMARY|ERROR SUMMARY|Memcheck)/ { next }
    {
      leak = / lost in loss record/; hit = 0
      for (i = 1; i <= NF; i++) if ($i ~ /^ *(at|by) 0x/ && match($i, /\([A-Za-z0-9_.]+:[0-9]+\)$/)) {
        file = substr($i, RSTART + 1, RLENGTH - 2); sub(/:.*/, "", file)
        if ((file in mine) && !(leak && $i ~ /: (main|GpAppMain) \(/)) hit = 1
      }
      if (hit) { print; print ""; bad++ }
    }
    END { exit bad > 0 }' >"$log.ours"; then ok "valgrind $name"; else not_ok "valgrind $name" "$log.ours"; fi
}

export PETSC_OPTIONS="${PETSC_OPTIONS:-} -gpucsr_device host"
index=0
while read -r program arguments; do
  case $program in '' | '#'*) continue ;; esac
  ranks=1
  case $program in [0-9]) ranks=$program program=${arguments%% *} arguments=${arguments#* } ;; esac
  case $program in bin/*) exe=$BUILD/$program ;; *) exe=$BUILD/tests/harness/mat/tests/$program ;; esac
  index=$((index + 1)) name=${program//\//-} tap=$BUILD/tests/valgrind/$index.tap
  [ "$arguments" != "$program" ] || arguments= # no arguments follow the number of ranks
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done # two programs at a time: this is the longest script
  # shellcheck disable=SC2086 # the arguments are words
  if [ -x "$exe" ]; then one "$name" "$BUILD/tests/valgrind/$index" $ranks "$exe" ${arguments//@ROOT@/$ROOT}; else not_ok "valgrind $name: $exe is not there"; fi >"$tap" &
done <tests/leaks/programs
wait
for i in $(seq $index); do cat "$BUILD/tests/valgrind/$i.tap"; done
