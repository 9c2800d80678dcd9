#!/usr/bin/env bash
# The programs tell in their summaries and reports what the storage did to the values of their matrices, and print no notice.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
[ -x "$BMRM" ] || { not_ok "bmrm is built ($BMRM)"; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
printf '1 1:0.1 2:0.5\n-1 1:-0.3 3:1e-45\n' >data.svm
printf '1 2\n2 3\n3 1\n2 1\n' >graph.txt
printf '1 2 0.3\n2 3 0.1\n3 1 0.7\n2 1 0.9\n' >weights.txt
printf '0,1,2,\n1,0,3,4\n2,3,0,5\n,4,5,0\n' >distances.csv
# told NAME RANKS WORDS MEMBERS COMMAND...: the summary has the words, the report has the members, and stderr has no notice of gpucsr
told() {
  local name="$1, $2 rank(s)" ranks=$2 words=$3 members=$4
  shift 4
  rm -f report.json
  timeout 60 "$MPIEXEC" -n "$ranks" "$@" -gpucsr_device host -report report.json >log 2>err
  rc=$?
  tr -d ' \n' <report.json >flat 2>/dev/null
  cat err >>log
  if [ $rc -eq 0 ] && ! grep -q 'gpucsr: single storage' log && grep -qF -- "$words" log && grep -qF -- "$members" flat; then ok "$name"; else not_ok "$name" log; fi
}
bin=$BUILD/bin
for n in 1 2; do
  told "bmrm, single" $n 'matrix values in single precision: 3 of 4 rounded, 1 lost, largest relative change 4.01e-01' '"mat_storage":"single","mat_values":4,"mat_rounded":3,"mat_lost":1,"largest_relative_change":0.40129' \
    "$BMRM" -f data.svm -bias 0 -bmrm_lambda 0.1
  told "bmrm, auto" $n 'matrix values in double precision: all 4 exact' '"mat_storage":"double","mat_values":4,"mat_rounded":0,"mat_lost":0,"largest_relative_change":0' "$BMRM" -f data.svm -bias 0 -bmrm_lambda 0.1 -gpucsr_storage auto
  told "bmrm with another type of matrix" $n 'certified gap' '"mat_storage":null,"mat_values":null,"mat_rounded":null,"mat_lost":null,"largest_relative_change":null' "$BMRM" -f data.svm -bias 0 -bmrm_lambda 0.1 -mat_type aij
  told "pagerank, a graph without weights" $n 'matrix values in single precision: all 4 exact' '"mat_storage":"single","mat_values":4,"mat_rounded":0' "$bin/pagerank" -f graph.txt
  told "pagerank, a graph with weights" $n 'matrix values in double precision: all 4 exact' '"mat_storage":"double","mat_values":4,"mat_rounded":0' "$bin/pagerank" -f weights.txt
  told "smacof, the Laplacian of incomplete data" $n 'matrix values in double precision: all 14 exact' '"mat_storage":"double","mat_values":14,"mat_rounded":0' "$bin/smacof" -f distances.csv
done
