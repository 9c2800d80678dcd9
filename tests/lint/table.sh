#!/usr/bin/env bash
# Tables and files agree: one kernel = one file + one row, one format = one file + one row.
cd "$(dirname "$0")/../.." || exit 1
gp=src/mat/impls/gpucsr
bad=0
say() { echo "$*"; bad=1; }
rows() { # the first (or the given) column of a table
  sed -n "s/^$2(\([^)]*\)/\1/p" "$1" 2>/dev/null | awk -F' *, *' -v c="${3:-1}" '{gsub(/^ +| +$/, "", $c); print $c}'
}

# kernels: the row's name without its digits is the file's name; the file defines that twin for both runtimes
stems=" "
kernels() { # table, macro
  local name stem file
  for name in $(rows "$1" "$2"); do
    stem=${name%%[0-9]*}
    stems="$stems$stem "
    file=$gp/kernels/$stem.cu
    if [ ! -f "$file" ]; then say "$1: row $name has no file $file"; continue; fi
    grep -q "GP_$2($stem" "$file" || say "$file: defines no GP_$2($stem...), which the row $name needs"
    grep -q '__CUDACC__' "$file" || say "$file: holds no host twin beside the device twin"
  done
  [ -z "$(rows "$1" "$2" | sort | uniq -d)" ] || say "$1: a name stands twice"
}
kernels $gp/kernels/kernels.def SPMV
kernels $gp/kernels/spmm.def SPMM
for file in "$gp"/kernels/*.cu; do
  [ -f "$file" ] || continue
  stem=$(basename "$file" .cu)
  [[ $stems == *" $stem "* ]] || say "$file: no row of kernels.def or spmm.def names it"
done

# formats: the second column is the file's name
for stem in $(rows $gp/formats/formats.def FORMAT 2); do
  [ -f $gp/formats/"$stem".c ] || [ -f $gp/formats/"$stem".cu ] || say "formats.def: row $stem has no file $gp/formats/$stem.c"
done
for format in $(rows $gp/kernels/kernels.def SPMV 2 | sort -u) $(rows $gp/kernels/spmm.def SPMM 2 | sort -u); do
  rows $gp/formats/formats.def FORMAT 1 | grep -qx "$format" || say "kernels.def, spmm.def: the format $format is not in formats.def"
done

# operations on vectors: every one is defined somewhere beside its table
for name in $(rows src/vec/kernels/vec.def '[A-Z_]*'); do
  grep -qE "\b$name\b" src/vec/kernels/*.cu || say "vec.def: no file of src/vec/kernels defines $name"
done

# the tables are the only switch
grep -rnE 'switch *\( *(kernel|format)' src solvers 2>/dev/null && say "choose by the table, not by a switch"
exit $bad
