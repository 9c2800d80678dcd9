#!/usr/bin/env bash
# Runs the program network and compares its values with the definitions, networkx and igraph.  Prints TAP.
#
#   GPUCSR_DATA       directory of public data sets, default ../shared/data; without it the tests that need them are skipped
#   PYTHON            a Python with numpy, and optionally networkx and igraph; default /usr/bin/python3
set -u
. "$(dirname "$0")/../env.sh"
program=$BUILD/bin/network
[ -x "$program" ] || { not_ok "network is built ($program)"; exit 1; }
here=$ROOT/tests/network
python=${PYTHON:-/usr/bin/python3}
[ -x "$python" ] || python=python3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
suite=${GPUCSR_SUITE:-full}
measures="hits eigenvector katz salsa components core labels"

# --- helpers ----------------------------------------------------------------------------------------------------------------
run() { # run PROCESSES ARGUMENTS: the output is in $tmp/log
  local start=("$MPIEXEC" -n "$1")
  [ "$1" != 1 ] || start=() # without mpiexec the program starts in a third of the time
  shift
  "${start[@]}" "$program" -gpucsr_device "$GPUCSR_DEVICE" "$@" >"$tmp/log" 2>&1
}
verdict() { if [ $? -eq 0 ]; then ok "$1"; else not_ok "$1" "$tmp/log"; fi; }
has() { $python -c "import numpy, $1" 2>/dev/null; }
queued=0
computed() { # computed NAME PROCESSES EDGES "ORACLE OPTIONS" ARGUMENTS: runs the program and adds a comparison with a reference
  local name=$1 n=$2 edges=$3 options=$4 values=$tmp/values.$((++queued))
  shift 4
  if run "$n" -tol 1e-12 -values "$values" "$@"; then printf '%s\t%s\t%s\t%s\n' "$name" "$edges" "$values" "$options" >>"$tmp/list"; else not_ok "$name" "$tmp/log"; fi
}
settle() { # runs the comparisons added so far
  if ! has numpy; then
    cut -f1 "$tmp/list" | uniq | while read -r name; do skip "$name" "$python has no numpy"; done
  else
    $python "$here/oracle.py" compare "$tmp/list" 2>"$tmp/log" || not_ok "the comparisons run" "$tmp/log"
  fi
  : >"$tmp/list"
}
refused() { # refused NAME CODE MESSAGE ARGUMENTS: fails with this code and a message of one line on 1 and 2 processes, and leaves no files
  local name=$1 code=$2 message=$3 n rc good=1 processes="1 2"
  [ "$suite" != gpu ] || return 0 # the device is not involved in these errors
  [ "$code" -eq 2 ] && [ "$4" = -rmat ] && processes=1 # errors of the command line
  shift 3
  for n in $processes; do
    rm -rf "$tmp/out" && mkdir "$tmp/out"
    OMPI_MCA_orte_execute_quiet=1 run $n "$@" -values "$tmp/out/v" -report "$tmp/out/r"
    rc=$?
    [ $rc -eq "$code" ] && [ "$(grep -c '^network: ' "$tmp/log")" -eq 1 ] && grep -qF -- "$message" "$tmp/log" && [ -z "$(ls "$tmp/out")" ] && continue
    echo "$n processes: exit code $rc, files left: $(ls "$tmp/out")" >>"$tmp/log"
    good=0
    break
  done
  [ $good = 1 ]
  verdict "$name"
}
reported() { $python - "$tmp/report.json" "$1" 2>>"$tmp/log" <<'P'
import json, sys
r = json.load(open(sys.argv[1]))
assert eval(sys.argv[2]), r
P
}

# --- small graphs, compared with the definitions ------------------------------------------------------------------------------
printf '10 20\n20 30\n30 10\n30 20\n70 10\n20 9\n9 9\n4 4\n5 30\n9 4\n5 9\n9 10\n' >"$tmp/directed.txt"
printf 'Anna,Berta,3\nBerta,Clara,1\nClara,Anna,2\nDora,Anna,1\nAnna,Clara,0.5\nClara,Dora,1.5\n' >"$tmp/names.csv"
printf '1 2\n2 3\n4 5\n6 7\n7 8\n8 6\n9 9\n' >"$tmp/parts.txt"
printf '1 2\n1 3\n1 4\n1 5\n1 6\n' >"$tmp/star.txt"
awk 'BEGIN { s = 1; for (k = 0; k < 900; k++) { s = (s * 16807) % 2147483647; a = s % 300; s = (s * 16807) % 2147483647; b = int((s % 300) * (s % 1000) / 1000); print a, b, 1 + s % 4 } for (k = 0; k < 300; k++) print k, (k + 1) % 300, 1 }' >"$tmp/random.txt"
cut -d ' ' -f 1,2 "$tmp/random.txt" >"$tmp/random.pairs"
for m in $measures; do
  order=degree
  [ $m != labels ] || order=given # the order of the rows decides between labels of equal weight
  computed "$m: karate club" 1 "$here/karate.txt" "measure=$m undirected=1" -f "$here/karate.txt" -undirected -measure $m
  computed "$m: directed, loops, numbers with gaps" 1 "$tmp/directed.txt" "measure=$m" -f "$tmp/directed.txt" -measure $m
  computed "$m: weights, names" "$([ $m = salsa ] && echo 2 || echo 1)" "$tmp/names.csv" "measure=$m" -f "$tmp/names.csv" -measure $m
  for n in 1 4; do computed "$m: 300 nodes, weights" $n "$tmp/random.txt" "measure=$m" -f "$tmp/random.txt" -measure $m; done
  computed "$m: 300 nodes, undirected, without loops, -order $order" 1 "$tmp/random.pairs" "measure=$m undirected=1 loops=0" -f "$tmp/random.pairs" -undirected -loops false -measure $m -order $order
  computed "$m: a star, which is bipartite" 1 "$tmp/star.txt" "measure=$m undirected=1" -f "$tmp/star.txt" -undirected -measure $m
  [ $m = eigenvector ] || computed "$m: several components" 1 "$tmp/parts.txt" "measure=$m undirected=1" -f "$tmp/parts.txt" -undirected -measure $m
done
for s in sum norm max; do computed "-scale $s" 1 "$tmp/random.txt" "measure=eigenvector scale=$s" -f "$tmp/random.txt" -measure eigenvector -scale $s; done
for s in none max; do computed "-scale $s" 1 "$tmp/random.txt" "measure=katz scale=$s alpha=0.01" -f "$tmp/random.txt" -measure katz -alpha 0.01 -scale $s; done
computed "katz by another KSP" 1 "$tmp/random.txt" "measure=katz" -f "$tmp/random.txt" -measure katz -network_ksp_type gmres
printf '1 2\n2 3\n1 3\n3 4\n' >"$tmp/dag.txt"
computed "katz of a graph without cycles" 1 "$tmp/dag.txt" "measure=katz alpha=5" -f "$tmp/dag.txt" -measure katz -alpha 5
for m in hits eigenvector; do computed "$m with a basis of 2 vectors" 1 "$tmp/random.txt" "measure=$m" -f "$tmp/random.txt" -measure $m -basis 2; done
settle

# --- published values, and properties of the results --------------------------------------------------------------------------
club=(-f "$here/karate.txt" -undirected)
run 1 "${club[@]}" -measure eigenvector -scale max -report "$tmp/report.json" && reported 'abs(r["eigenvalue"] - 6.725697727631732) < 1e-9 and r["topk"][0]["node"] == 34 and abs(r["topk"][0]["value"] - 1) < 1e-14'
verdict "karate club: the largest eigenvalue is 6.7257, and member 34 is first" # M. E. J. Newman, "Networks", 2010
run 2 "${club[@]}" -measure core -report "$tmp/report.json" && reported '(r["largest_core"], r["largest_core_nodes"]) == (4, 10) and r["topk"][9]["value"] == 4 and r["topk"][0]["certain"] is None'
verdict "karate club: 10 members are in the 4-core"
run 1 "${club[@]}" -measure labels -report "$tmp/report.json" && reported '0.3 < r["modularity"] <= 0.4198 and sum(g["size"] for g in r["groups"]) == 34'
verdict "karate club: the modularity is at most 0.4198, the largest of all divisions" # U. Brandes et al., "On modularity clustering", 2008
run 1 "${club[@]}" -measure katz -tol 1e-13 -values "$tmp/exact" && run 1 "${club[@]}" -measure katz -tol 0.2 -values "$tmp/rough" -report "$tmp/report.json" &&
  paste -d ' ' "$tmp/exact" "$tmp/rough" >"$tmp/both" && $python - "$tmp/both" "$tmp/report.json" <<'P' 2>>"$tmp/log"
import json, sys
rows = [list(map(float, line.split())) for line in open(sys.argv[1])]
r = json.load(open(sys.argv[2]))
worst = max(abs(a - b) / b for _, a, _, b in rows)
assert 1e-12 < worst <= r["error_bound"] <= 0.2, (worst, r)
order = [int(k) for _, k in sorted((-a, k) for k, a, _, _ in rows)]
for place, e in enumerate(r["topk"]):
    if e["certain"]:
        assert {f["node"] for f in r["topk"][:place + 1]} == set(order[:place + 1]), (e, order)
assert any(e["certain"] for e in r["topk"]) and not all(e["certain"] for e in r["topk"]), r
P
verdict "katz: the bound is above the error, and certain places are right"
for n in 1 4; do run $n -rmat 10,8 -measure labels -values "$tmp/labels.$n"; done
cmp "$tmp/labels.1" "$tmp/labels.4" >"$tmp/log"
verdict "labels: 1 and 4 processes write the same bytes"

# --- output ---------------------------------------------------------------------------------------------------------------------
printf 'source,target,weight\nParis,London,3\nLondon,"New York",1\n"New York",Paris,2\nRome,Paris,1\n' >"$tmp/cities.csv"
run 2 -f "$tmp/cities.csv" -measure katz -alpha 0.1 -topk 2 -report "$tmp/report.json" -values "$tmp/v" -values_binary "$tmp/b" -picture "$tmp/p.svg" -monitor &&
  reported 'r["weighted"] and r["nodes"] == 4 and r["alpha"] == 0.1 and [e["node"] for e in r["topk"]] == ["London", "Paris"] and r["topk"][0]["certain"] and r["reason"] == "CONVERGED_ERROR_BOUND"' &&
  grep -q '^"New York" 1\.' "$tmp/v" && [ "$(grep -c ' residual ' "$tmp/log")" -ge 2 ] && grep -q '<svg' "$tmp/p.svg" && [ "$(wc -c <"$tmp/b")" -eq $((2 * GPUCSR_INT_BYTES + 32)) ]
verdict "names, the list, the report, the monitor and all files"
run 1 -f "$tmp/parts.txt" -measure components -topk 2 -report "$tmp/report.json" -picture "$tmp/p.svg" && grep -q '^   1 3 nodes, the first is 1$' "$tmp/log" && reported 'r["components"] == 4 and [g["size"] for g in r["groups"]] == [3, 3] and r["groups"][1]["first"] == 6'
verdict "the list of the largest components"
run 1 -f "$tmp/random.txt" -measure labels -monitor && grep -q 'changed labels 0$' "$tmp/log"
verdict "the monitor of labels prints how many changed"

# --- no convergence, errors -----------------------------------------------------------------------------------------------------
for options in "hits -max_it 1" "eigenvector -max_it 1" "katz -max_it 0 -alpha 0.01" "labels -max_it 1"; do
  # shellcheck disable=SC2086 # a measure and its options
  run 1 -f "$tmp/random.txt" -measure $options -values "$tmp/v" -report "$tmp/report.json"
  [ $? -eq 3 ] && [ -s "$tmp/v" ] && reported 'not r["converged"] and r["reason"] == "DIVERGED_ITS"' && grep -q 'increase -max_it' "$tmp/log"
  verdict "too few iterations: $options"
done
run 1 -f "$tmp/random.txt" -measure eigenvector -max_it 7 -report "$tmp/report.json"
[ $? -eq 3 ] && reported 'r["iterations"] == 7'
verdict "eigenvector: -max_it is the number of products"
run 2 -f "$tmp/dag.txt" -measure eigenvector -report "$tmp/report.json"
[ $? -eq 3 ] && reported 'r["reason"] == "DIVERGED_ZERO" and r["topk"][0]["value"] == 0' && grep -q 'no cycle' "$tmp/log"
verdict "eigenvector: a graph without cycles"
printf '%%%%MatrixMarket matrix coordinate pattern general\n3 3 0\n' >"$tmp/empty.mtx"
for m in $measures; do
  [ $m != katz ] || continue
  run 1 -f "$tmp/empty.mtx" -measure $m -report "$tmp/report.json"
  rc=$?
  case $m in
  hits | salsa | eigenvector) [ $rc -eq 3 ] && reported 'r["reason"] == "DIVERGED_ZERO"' ;;
  *) [ $rc -eq 0 ] ;;
  esac
  verdict "$m: a graph without links"
done
refused "katz of a graph without cycles needs -alpha" 2 "no cycle" -f "$tmp/dag.txt" -measure katz
refused "katz: too few iterations for the largest eigenvalue" 3 "increase -max_it" "${club[@]}" -measure katz -max_it 1
refused "alpha above the limit" 2 "-alpha 0.149: too large for this graph" "${club[@]}" -measure katz -alpha 0.149
run 1 "${club[@]}" -measure katz -alpha 0.148
verdict "alpha below the limit"
refused "an unknown measure" 2 "-measure betweenness" -rmat 6,4 -measure betweenness
refused "-alpha with another measure" 2 "-alpha needs -measure katz" -rmat 6,4 -alpha 0.1
refused "-alpha and -damping" 2 "exclude each other" -rmat 6,4 -measure katz -alpha 0.1 -damping 0.5
refused "a file that does not exist" 4 "nofile: No such file or directory" -f "$tmp/nofile"
printf '1 2 1\n2 1 -1\n' >"$tmp/negative.txt"
refused "a negative weight" 4 "negative.txt:2" -f "$tmp/negative.txt"

[ "$suite" = full ] || exit 0 # the comparison with other programs does not depend on the PETSc and the device

# --- public graphs, compared with other programs ------------------------------------------------------------------------------------
graphs=${GPUCSR_DATA:-../shared/data}/graph
if [ ! -d "$graphs" ]; then
  skip "public graphs" "the directory of public data sets does not exist ($graphs)"
else
  for name in web-edu.txt.xz polblogs.txt.xz; do
    [ -e "$graphs/$name" ] || { skip "$name" "it is not in $graphs"; continue; }
    $python "$here/oracle.py" edges "$graphs/$name" "$tmp/$name.txt"
    for by in networkx igraph; do
      [ $by = igraph ] || [ $name = web-edu.txt.xz ] || continue # networkx is slow
      has $by || { skip "$name by $by" "$python has no $by"; continue; }
      for m in components core; do computed "public graphs by $by: $m" 1 "$tmp/$name.txt" "measure=$m by=$by" -f "$tmp/$name.txt" -measure $m; done
      for m in hits eigenvector; do computed "public graphs by $by: $m" 1 "$tmp/$name.txt" "measure=$m undirected=1 by=$by tolerance=1e-6" -f "$tmp/$name.txt" -undirected -measure $m; done
      [ $by = igraph ] || computed "public graphs by $by: katz" 1 "$tmp/$name.txt" "measure=katz alpha=0.002 by=$by" -f "$tmp/$name.txt" -measure katz -alpha 0.002
    done
  done
  settle
fi
exit 0
