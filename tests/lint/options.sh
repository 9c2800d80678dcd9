#!/usr/bin/env bash
# Every option in the sources is documented in README.md or docs/*.md, and every documented option is in the sources.
cd "$(dirname "$0")/../.." || exit 1
bad=0
options='-(mat_gpucsr|vec_gpu|gpucsr|bmrm|tao_lsbmrm)_[A-Za-z0-9_]*[a-z0-9]'
insource=$(grep -rhoE -- "\"$options\"" --include='*.[ch]' --include='*.cu' src solvers examples 2>/dev/null | tr -d '"' | sort -u)
# every row of the table is an option of a matrix and, unless it is a viewer, a process-wide option
rows=$(sed -nE 's/^OPTION\(([a-z_]+), ([A-Z]+),.*/\1 \2/p' src/mat/impls/gpucsr/image/gpucsroptions.def)
insource=$( (echo "$insource"; awk '{ print "-mat_gpucsr_" $1 } $2 != "VIEWER" { print "-gpucsr_" $1 }' <<<"$rows") | sort -u)
# both the sources and the pages write options of Tao and Mat with their full names
indocs=$(grep -hoE -- "(^|[^a-zA-Z0-9_/-])$options" README.md docs/*.md 2>/dev/null | sed 's/^[^-]*//' | sort -u)
for o in $insource; do
  grep -qxF -- "$o" <<<"$indocs" || { echo "$o: in the sources, not in README.md or docs/*.md"; bad=1; }
done
for o in $indocs; do
  grep -qxF -- "$o" <<<"$insource" || { echo "$o: in README.md or docs/*.md, not in the sources"; bad=1; }
done
exit $bad
