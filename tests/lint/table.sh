#!/usr/bin/env bash
# The tables agree with the files: a kernel is one file and one row of its table, and so is a format.
cd "$(dirname "$0")/../.." || exit 1
gp=src/mat/impls/gpucsr
bad=0
say() { echo "$*"; bad=1; }
rows() { # rows TABLE MACRO [COLUMN]: a column of a table, by default the first
  sed -n "s/^$2(\([^)]*\).*/\1/p" "$1" 2>/dev/null | awk -F' *, *' -v c="${3:-1}" '{gsub(/^ +| +$/, "", $c); print $c}'
}

# kernels: the name of the row without its digits is the name of the file, which defines the CUDA implementation
stems=" "
kernels() { # kernels TABLE ROW-MACRO IMPLEMENTATION-MACRO
  local name stem file
  for name in $(rows "$1" "$2"); do
    stem=${name%%[0-9]*}
    stems="$stems$stem "
    file=$(echo $gp/spmv/*/"${stem}_kernel.cu")
    if [ ! -f "$file" ]; then say "$1: row $name needs one file $file"; continue; fi
    grep -q "GP_$3($stem" "$file" || say "$file: GP_$3($stem...) is missing, which the row $name needs"
  done
  [ -z "$(rows "$1" "$2" | sort | uniq -d)" ] || say "$1: a name occurs twice"
}
kernels $gp/spmv/common/kernels.def 'SPMV[A-Z_]*' SPMV
kernels $gp/spmv/spmm/spmm.def SPMM SPMM
for file in "$gp"/spmv/*/*_kernel.cu; do
  stem=$(basename "$file" _kernel.cu)
  [[ $stems == *" $stem "* ]] || say "$file: has no row in kernels.def or spmm.def"
done

# formats: the second column is the name of the file, the third the product on the host
for host in $(rows $gp/spmv/common/formats.def FORMAT 3 | sort -u); do
  grep -q "^GP_SPMV($host)" $gp/spmv/*/*_host.c || say "formats.def: no file *_host.c defines GP_SPMV($host)"
done
for stem in $(rows $gp/spmv/common/formats.def 'FORMAT[A-Z_]*' 2); do
  ls $gp/spmv/*/"$stem".c* >/dev/null 2>&1 || grep -qE "GpFmtBuild_$stem\\(|^GP_VENDOR_FORMAT\\($stem," $gp/spmv/*/*.c* || say "formats.def: no file below $gp/spmv defines GpFmtBuild_$stem()"
done
for format in $(rows $gp/spmv/common/kernels.def 'SPMV[A-Z_]*' 2 | sort -u) $(rows $gp/spmv/spmm/spmm.def SPMM 2 | sort -u); do
  rows $gp/spmv/common/formats.def 'FORMAT[A-Z_]*' 1 | grep -qx "$format" || say "kernels.def, spmm.def: the format $format is not in formats.def"
done

# vector operations: a file in the directory of the table defines each one
for name in $(rows src/vec/kernels/vec.def '[A-Z_]*'); do
  grep -qE "\b$name\b" src/vec/kernels/*.cu || say "vec.def: no file of src/vec/kernels defines $name"
done

# kernels and formats are selected through the tables only
grep -rnE 'switch *\( *(kernel|format)' src solvers 2>/dev/null && say "select by the table, not by a switch statement"
exit $bad
