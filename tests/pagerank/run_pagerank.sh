#!/usr/bin/env bash
# Runs the program pagerank and compares its ranks with exact arithmetic, networkx, igraph and scipy.  Prints TAP.
#
#   GPUCSR_DATA       directory of public data sets, default ../shared/data; without it the tests that need them are skipped
#   GPUCSR_THOROUGH   =1: compares the largest graphs with networkx too, which is slow
#   PYTHON            a Python with numpy, and optionally networkx, igraph and scipy; default /usr/bin/python3
#   GPUCSR_TABLE      a CSV file to which the distances from the ranks of other programs are appended
set -u
. "$(dirname "$0")/../env.sh"
program=$BUILD/bin/pagerank
[ -x "$program" ] || { not_ok "pagerank is built ($program)"; exit 1; }
oracle=$ROOT/tests/pagerank/oracle.py
python=${PYTHON:-/usr/bin/python3}
[ -x "$python" ] || python=python3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
device=(-gpucsr_device "$GPUCSR_DEVICE")
suite=${GPUCSR_SUITE:-full}

# --- helpers ----------------------------------------------------------------------------------------------------------------
run() { # run PROCESSES ARGUMENTS: the output is in $tmp/log
  local n=$1
  shift
  "$MPIEXEC" -n "$n" "$program" "${device[@]}" "$@" >"$tmp/log" 2>&1
}
verdict() { if [ $? -eq 0 ]; then ok "$1"; else not_ok "$1" "$tmp/log"; fi; }
has() { $python -c "import numpy, $1" 2>/dev/null; }
queued=0
compared() { printf '%s\t%s\t%s\t%s\n' "$@" >>"$tmp/list"; } # compared NAME EDGES RANKS "ORACLE OPTIONS": adds a comparison; settle() runs all of them
ranked() { # ranked NAME PROCESSES EDGES "ORACLE OPTIONS" ARGUMENTS: runs the program and adds a comparison with a reference
  local name=$1 n=$2 edges=$3 options=$4 ranks=$tmp/ranks.$((++queued))
  shift 4
  if run "$n" -tol 1e-13 -ranks "$ranks" "$@"; then compared "$name" "$edges" "$ranks" "$options"; else not_ok "$name" "$tmp/log"; fi
}
settle() { # runs the comparisons added so far
  if ! has numpy; then
    cut -f1 "$tmp/list" | uniq | while read -r name; do skip "$name" "$python has no numpy"; done
  else
    $python "$oracle" compare "$tmp/list" ${GPUCSR_TABLE:+"$GPUCSR_TABLE"} 2>"$tmp/log" || not_ok "the comparisons run" "$tmp/log"
  fi
  : >"$tmp/list"
}
refused() { # refused NAME MESSAGE ARGUMENTS: fails with this message on 1 and 2 processes, without a crash, and leaves no files
  local name=$1 message=$2 n rc good=1
  [ "$suite" != gpu ] || return 0 # the device is not involved in these errors
  shift 2
  for n in 1 2; do
    rm -rf "$tmp/out" && mkdir "$tmp/out"
    run $n "$@"
    rc=$?
    [ $rc -ne 0 ] && [ $rc -lt 124 ] && grep -qF -- "$message" "$tmp/log" && ! grep -qE 'Segmentation|Caught signal number ([4-8]|11) |double free' "$tmp/log" && [ -z "$(ls "$tmp/out")" ] && continue
    echo "$n processes: exit code $rc, files left: $(ls "$tmp/out")" >>"$tmp/log"
    good=0
    break
  done
  [ $good = 1 ]
  verdict "$name"
}
value() { $python -c "import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])" "$tmp/report.json" "$1"; }
apart() { paste "$1" "$2" | awk -v most="$3" -v n="$4" '$1 != $3 { exit bad = 1 } { d = $2 - $4; s += d < 0 ? -d : d } END { exit bad || !(NR == n && s <= most) }'; } # apart A B MOST NODES: whether two files of ranks differ by at most MOST in the 1-norm

# --- small graphs, compared with rational arithmetic ------------------------------------------------------------------------------
printf '# from to\n10 20\n20 30\n\n30\t10\n30 20\n7000000000000 10\n20 9\n20,30\r\n9 9\n4 4\n5 30\r\n 9  4 \n' >"$tmp/small.txt"
tr ',' ' ' <"$tmp/small.txt" | tr -d '\r' | grep . >"$tmp/small.clean" # the link 20 30 occurs twice
printf '1 2\n2 3\n3 1\n3 2\n4 1\n2 5\n6 5\n' >"$tmp/dangling.txt"
printf '1 2 0.5\n2 3 2\n3 1 1e-3\n3 2 4\n4 1 0.1\n2 5 0.3\n' >"$tmp/weighted.txt"
printf '# two of them\n1:3 4\n' >"$tmp/personal"
for n in 1 2 3; do
  ranked "comments, blanks, commas, 43-bit node numbers, loops, a duplicate link" $n "$tmp/small.clean" "" -f "$tmp/small.txt"
  ranked "weights" $n "$tmp/weighted.txt" "" -f "$tmp/weighted.txt"
  for policy in teleport uniform self drop; do
    for method in power gauss_seidel; do ranked "dangling nodes: $policy, -method $method" $n "$tmp/dangling.txt" dangling=$policy -f "$tmp/dangling.txt" -dangling $policy -method $method; done
  done
done
ranked "more processes than nodes" 7 "$tmp/weighted.txt" "" -f "$tmp/weighted.txt"
ranked "personalisation" 2 "$tmp/dangling.txt" "personal=1:3,4:1" -f "$tmp/dangling.txt" -personalize "$tmp/personal"
ranked "damping 0.99" 1 "$tmp/dangling.txt" damping=0.99 -f "$tmp/dangling.txt" -damping 0.99
ranked "links both ways" 2 "$tmp/dangling.txt" undirected=1 -f "$tmp/dangling.txt" -undirected
ranked "without loops" 2 "$tmp/small.clean" loops=0 -f "$tmp/small.txt" -loops false
ranked "-count_duplicates" 2 "$tmp/small.clean" count=1 -f "$tmp/small.txt" -count_duplicates
cat "$tmp/weighted.txt" "$tmp/weighted.txt" >"$tmp/double.txt"
ranked "weights of duplicate links add up" 2 "$tmp/double.txt" undirected=1 -f "$tmp/double.txt" -undirected
for n in 1 3; do
  ranked "rows by degree" $n "$tmp/small.clean" "" -f "$tmp/small.txt" -order degree
  ranked "rows by degree" $n "$tmp/dangling.txt" "dangling=uniform personal=1:3,4:1" -f "$tmp/dangling.txt" -order degree -dangling uniform -personalize "$tmp/personal"
done
for type in aij gpucsr aijgpucsr dense; do
  for method in power "gauss_seidel -blocks 2"; do
    # shellcheck disable=SC2086 # a method and its options
    ranked "-mat_type $type, -method $method" 2 "$tmp/weighted.txt" "" -f "$tmp/weighted.txt" -mat_type $type -method $method
  done
done
ranked "blocks: weights, loops, rows by degree, vectors on the device" 2 "$tmp/small.clean" "" -f "$tmp/small.txt" -method gauss_seidel -blocks 3 -order degree -mat_gpucsr_vec_type gpu
printf '1:3 4\n2\n5 6\n' >"$tmp/many"
for options in "" "-mat_gpucsr_vec_type gpu" "-mat_type aij" "-dangling self" "-dangling drop"; do
  name="three personalisations together${options:+, $options}" policy=
  case $options in -dangling*) policy=dangling=${options#* } ;; esac
  # shellcheck disable=SC2086 # an option and its value
  ranked "$name" 2 "$tmp/dangling.txt" "personal=1:3,4:1 $policy" -f "$tmp/dangling.txt" -personalize "$tmp/many" $options
  compared "$name" "$tmp/dangling.txt" "$tmp/ranks.$queued" "personal=2 column=2 $policy"
  compared "$name" "$tmp/dangling.txt" "$tmp/ranks.$queued" "personal=5,6 column=3 $policy"
done
printf '2\n' >"$tmp/u"
{ cat "$tmp/dangling.txt"; echo '5 2'; } >"$tmp/closed.txt"
ranked "-dangling vector equals links from the dangling nodes" 1 "$tmp/closed.txt" "" -f "$tmp/dangling.txt" -dangling vector -dangling_file "$tmp/u"

for method in power inner_outer ksp; do # together, and one after the other
  ranked "several personalisations and a dangling vector, -method $method" 2 "$tmp/closed.txt" personal=1:3,4:1 -f "$tmp/dangling.txt" -dangling vector -dangling_file "$tmp/u" -personalize "$tmp/many" -method $method
  compared "several personalisations and a dangling vector, -method $method" "$tmp/closed.txt" "$tmp/ranks.$queued" "personal=5,6 column=3"
done

# --- methods ----------------------------------------------------------------------------------------------------------------
methods=("power" "power -extrapolate 4" inner_outer gauss_seidel "gauss_seidel -blocks 1" jacobi ksp "ksp -pagerank_ksp_type gmres" "ksp -assemble -pagerank_ksp_type fgmres -pagerank_pc_type asm")
run 1 -f "$tmp/dangling.txt" -method eps
if grep -q 'built without SLEPc' "$tmp/log"; then skip "-method eps" "this build has no SLEPc"; else methods+=(eps "eps -pagerank_eps_type power" "eps -mat_gpucsr_vec_type gpu -vec_gpu_separate"); fi
for method in "${methods[@]}"; do
  for n in 1 2; do
    # shellcheck disable=SC2086 # a method and its options
    ranked "-method $method" $n "$tmp/dangling.txt" "dangling=uniform personal=1:3,4:1" -f "$tmp/dangling.txt" -dangling uniform -personalize "$tmp/personal" -method $method
  done
done
bad=
for method in "${methods[@]}"; do
  for damping in 0.85 0.99; do
    # shellcheck disable=SC2086
    run 1 -rmat 12,8 -method $method -damping $damping -tol 1e-9 -report "$tmp/report.json" && $python - "$tmp/report.json" <<'E' 2>>"$tmp/log" || bad="$bad, $method at $damping"
import json, sys
r = json.load(open(sys.argv[1]))
assert r["converged"] and r["error_bound"] <= 1e-9 and abs(r["sum"] - 1) <= 1e-12, r
E
  done
done
[ -z "$bad" ]
verdict "the sum of ranks is 1 to 1e-12 by ${#methods[@]} methods${bad:+; not$bad}"

# --- device loop, compared with iterations that the host controls ------------------------------------------------------------
bad=
twice() { # twice ARGUMENTS: with and without the device loop
  local by rc
  for by in true false; do
    run 1 -mat_gpucsr_vec_type gpu -device_loop $by -topk 0 -ranks "$tmp/$by.ranks" -report "$tmp/$by.json" "$@"
    rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 3 ] || return 1
  done
  apart "$tmp/true.ranks" "$tmp/false.ranks" 1e-13 "$(wc -l <"$tmp/true.ranks")" && $python - "$tmp/true.json" "$tmp/false.json" <<'E' 2>>"$tmp/log"
import json, sys
device, host = (json.load(open(name)) for name in sys.argv[1:])
assert device["device_loop"] and not host["device_loop"]
for what in ("iterations", "matmults", "reason", "converged", "dangling"):
    assert device[what] == host[what], (what, device[what], host[what])
assert abs(device["residual"] - host["residual"]) <= 1e-13 and abs(device["sum"] - host["sum"]) <= 1e-13
E
}
printf '2:3 4\n' >"$tmp/one"
for policy in teleport uniform self drop "vector -dangling_file $tmp/u"; do
  # shellcheck disable=SC2086
  twice -f "$tmp/dangling.txt" -method gauss_seidel -dangling $policy && twice -f "$tmp/dangling.txt" -dangling $policy && twice -f "$tmp/dangling.txt" -dangling $policy -personalize "$tmp/one" -damping 0.6 || bad="$bad, $policy"
done
for method in power gauss_seidel; do
  for k in 0 1 2 3; do twice -rmat 12,8 -method $method -max_it $k || bad="$bad, $k iterations of $method"; done
  twice -rmat 12,8 -method $method -tol 1e-10 || bad="$bad, R-MAT by $method"
  twice -f "$tmp/weighted.txt" -method $method -tol 1e-12 || bad="$bad, weights by $method"
done
twice -f "$tmp/small.txt" -method gauss_seidel -blocks 100 -dangling self -tol 1e-12 || bad="$bad, more blocks than rows"
[ -z "$bad" ]
verdict "the device loop gives the iterations of the host${bad:+; not$bad}"
run 1 -rmat 10,8 -mat_gpucsr_vec_type gpu -ranks_binary "$tmp/true.bin" -tol 1e-12 &&
  run 1 -rmat 10,8 -mat_gpucsr_vec_type gpu -start "$tmp/true.bin" -tol 1e-11 -report "$tmp/report.json" && [ "$(value iterations)$(value device_loop)" = 0True ] &&
  run 1 -rmat 10,8 -mat_gpucsr_vec_type gpu -start "$tmp/true.bin" -tol 1e-11 -method gauss_seidel -report "$tmp/report.json" && [ "$(value iterations)$(value device_loop)" = 0True ]
verdict "the device loop starts from the given ranks"
run 1 -rmat 10,8 -mat_gpucsr_vec_type gpu -monitor -report "$tmp/report.json" && [ "$(value device_loop)" = False ] && grep -q 'residual .* error bound' "$tmp/log" &&
  run 2 -rmat 10,8 -mat_gpucsr_vec_type gpu -report "$tmp/report.json" && [ "$(value device_loop)" = False ]
verdict "no device loop with -monitor or with several processes"

# --- formats ----------------------------------------------------------------------------------------------------------------
printf '%%%%MatrixMarket matrix coordinate real general\n%% c\n5 5 6\n1 2 0.5\n2 3 2\n3 1 1e-3\n3 2 4\n4 1 0.1\n2 5 0.3\n' >"$tmp/m.mtx"
ranked "Matrix Market" 2 "$tmp/weighted.txt" "" -f "$tmp/m.mtx"
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n6 6 7\n2 1\n3 2\n3 1\n4 1\n5 2\n6 5\n3 3\n' >"$tmp/s.mtx"
printf '1 2\n2 3\n3 1\n4 1\n5 2\n6 5\n3 3\n' >"$tmp/s.txt"
ranked "Matrix Market, symmetric pattern" 2 "$tmp/s.txt" undirected=1 -f "$tmp/s.mtx"
awk '{ $1--; $2--; print }' "$tmp/weighted.txt" >"$tmp/from0.txt"
sed 's/0.5/-0.5/' "$tmp/from0.txt" >"$tmp/negative.txt"
for name in from0 negative; do $python "$oracle" binary "$tmp/$name.txt" "$tmp/$name.bin"; done
for n in 1 2; do ranked "PETSc binary" $n "$tmp/from0.txt" "" -f "$tmp/from0.bin"; done
for tool in gzip xz bzip2 zstd; do
  if command -v $tool >/dev/null; then
    $tool -c "$tmp/weighted.txt" >"$tmp/weighted.$tool"
    for n in 1 3; do ranked "$tool" $n "$tmp/weighted.txt" "" -f "$tmp/weighted.$tool"; done
  else skip "$tool" "it is not installed"; fi
done
settle

awk 'BEGIN { for (i = 0; i < 40000; i++) print (i * i * 7919) % 50021 * 3, (i * 104729) % 49999 * 3 }' >"$tmp/large.txt"
gzip -c "$tmp/large.txt" >"$tmp/large.gz" 2>/dev/null
run 1 -f "$tmp/large.txt" -tol 1e-13 -ranks "$tmp/a"
products=$(run 1 -f "$tmp/large.txt" -method power -topk 0 -report "$tmp/report.json" && value matmults)
run 2 -f "$tmp/large.txt" -method gauss_seidel -topk 0 -report "$tmp/report.json" && [ "$(value matmults)" -le 20 ] && [ "$products" -ge 40 ] # 19 and 59
verdict "Gauss-Seidel by blocks takes a third of the products"
for file in large.txt large.gz; do
  run 4 -f "$tmp/$file" -tol 1e-13 -ranks "$tmp/b" && apart "$tmp/a" "$tmp/b" 1e-12 "$(wc -l <"$tmp/a")"
  verdict "equal ranks from 1 and 4 parts of a file of $(($(wc -c <"$tmp/large.txt") / 1024)) KiB, $file"
done
sed '39000s/.*/12 oops/' "$tmp/large.txt" >"$tmp/large.bad"
run 4 -f "$tmp/large.bad"
[ $? -ne 0 ] && grep -q "large.bad:39000: expected a second node number, got 'oops'" "$tmp/log"
verdict "an error in the part of the last process names its line"

# the first half of the nodes of an R-MAT graph has three quarters of the links
run 4 -rmat 12,8 -method power -mat_type aij -mat_view ::ascii_info_detail && sed -n 's/.*Local rows.* nz \([0-9]*\) .*/\1/p' "$tmp/log" | sort -n | awk '{ s += $1 } END { exit !(NR == 4 && $1 < 0.4 * s) }'
verdict "processes have about the same number of links"

# --- output --------------------------------------------------------------------------------------------------------
GPUCSR_CAIRO=none run 2 -f "$tmp/dangling.txt" -report "$tmp/report.json" -ranks_binary "$tmp/x.bin" -picture "$tmp/x.svg" -tol 1e-12 -topk 2 -monitor &&
  $python - "$tmp/report.json" <<'E' >>"$tmp/log" 2>&1
import json, sys
r = json.load(open(sys.argv[1]))
assert (r["nodes"], r["edges"], r["dangling"], r["converged"], r["reason"]) == (6, 7, 1, True, "CONVERGED_ERROR_BOUND")
assert abs(r["sum"] - 1) <= 1e-12 and r["error_bound"] <= 1e-12 and abs(r["error_bound"] * 0.15 - r["residual"]) < 1e-18
assert [e["node"] for e in r["topk"]] == [2, 5] and all(e["certain"] for e in r["topk"]) and r["method"] == "gauss_seidel" and r["iterations"] < r["matmults"] <= r["iterations"] + 3
assert r["seconds_load"] > 0 and r["seconds_solve"] > 0
E
verdict "the report"
run 2 -f "$tmp/dangling.txt" -monitor -method power -tol 1e-12 -report "$tmp/report.json" && [ "$(grep -c 'residual .* error bound' "$tmp/log")" = $(($(value iterations) + 1)) ]
verdict "the monitor prints a line for each iteration"
grep -o 'bound [^ ]* *[0-9.]* %' "$tmp/log" | awk 'NR == 1 && $3 != 0 { exit bad = 1 } $3 < last { exit bad = 1 } { last = $3 } END { exit bad || last != 100 }'
verdict "the monitor prints the progress from 0 to 100 %"
run 2 -f "$tmp/dangling.txt" -monitor -tol 1e-12 -report "$tmp/report.json" && [ "$(grep -c '^ *[0-9]* change' "$tmp/log")" = "$(value iterations)" ] && grep -q 'error bound .* 100.0 %' "$tmp/log"
verdict "the monitor prints the changes of sweeps and the computed residuals"
run 2 -f "$tmp/dangling.txt" -personalize "$tmp/many" -topk 2 -report "$tmp/report.json" && [ "$(value topk | grep -o "'vector': [0-9], 'node': [0-9]*" | tr -dc '0-9\n' | paste -sd,)" = 12,11,22,23,35,36 ] &&
  [ "$(grep -c '^personalisation' "$tmp/log")" = 3 ]
verdict "the list of highest ranks of every personalisation"
grep -q '<polyline' "$tmp/x.svg" && ! ls "$tmp"/*.part >/dev/null 2>&1
verdict "the picture, and no temporary file is left"
run 1 -f "$tmp/dangling.txt" -start "$tmp/x.bin" -tol 1e-11 -report "$tmp/report.json" && [ "$(value iterations)" = 0 ]
verdict "a start from ranks in PETSc's binary format"
run 2 -f "$tmp/dangling.txt" -personalize "$tmp/many" -ranks_binary "$tmp/x3.bin" -tol 1e-12 && run 1 -f "$tmp/dangling.txt" -personalize "$tmp/many" -start "$tmp/x3.bin" -tol 1e-11 -report "$tmp/report.json" && [ "$(value iterations)$(value vectors)" = 03 ]
verdict "a start for several personalisations"
run 3 -f "$tmp/dangling.txt" -order degree -start "$tmp/x.bin" -tol 1e-11 -ranks_binary "$tmp/y.bin" -report "$tmp/report.json" && [ "$(value iterations)" = 0 ] &&
  run 1 -f "$tmp/dangling.txt" -start "$tmp/y.bin" -tol 1e-11 -report "$tmp/report.json" && [ "$(value iterations)" = 0 ]
verdict "binary ranks are in the order of node numbers, for every order of the rows"
printf '1 2\n2 3\n3 1\n4 1\n' >"$tmp/ring.txt" && printf '1 2\n2 1\n3 4\n4 3\n' >"$tmp/pairs.txt"
run 1 -f "$tmp/ring.txt" -topk 2 -report "$tmp/report.json" && [ "$(value topk | tr -dc A-Za-z0-9,: | grep -o 'node:[0-9]*\|certain:[A-Za-z]*' | paste -sd,)" = node:1,certain:True,node:2,certain:True ] &&
  run 1 -f "$tmp/pairs.txt" -topk 4 -report "$tmp/report.json" && [ "$(value topk | grep -o 'False' | wc -l)" = 3 ]
verdict "places are certain if ranks differ, and not if ranks are equal"
run 1 -f "$tmp/dangling.txt" -tol 1e-13 -max_it 3 -ranks "$tmp/a"
[ $? -eq 3 ] && grep -q DIVERGED_ITS "$tmp/log" && grep -q 'is above -tol' "$tmp/log" && [ -s "$tmp/a" ]
verdict "too few iterations: message, exit code 3, the current ranks are written"

# --- graphs of other formats, nodes with names ---------------------------------------------------------------------------------
printf 'source,target,weight\r\nParis,London,3\r\nLondon,"New York",1\r\n"New York",Paris,2\r\nRome,Paris,1\r\n' >"$tmp/cities.csv"
printf '# of two\n"New York":3 Rome\n' >"$tmp/cities.personal"
for n in 1 3; do
  run $n -f "$tmp/cities.csv" -tol 1e-12 -topk 4 -ranks "$tmp/cities.ranks" -report "$tmp/report.json" && grep -qx "$tmp/cities.csv: 4 nodes with names, 4 links with weights, edge list, separated by commas, headings" "$tmp/log" &&
    grep -q '^ *1 node [A-Z]' "$tmp/log" && [ "$(cut -d' ' -f1 "$tmp/cities.ranks" | paste -sd,)" = 'Paris,London,"New,Rome' ] && [ "$(value topk | grep -o "'node': '[A-Za-z ]*'" | sort | paste -sd,)" = "'node': 'London','node': 'New York','node': 'Paris','node': 'Rome'" ]
  verdict "names of nodes in ranks, the list and the report, $n rank(s)"
  run $n -f "$tmp/cities.csv" -tol 1e-12 -personalize "$tmp/cities.personal" -damping 1e-9 -topk 2 && grep -q '^ *1 node New York *0\.7[45]' "$tmp/log" && grep -q '^ *2 node Rome *0\.2[45]' "$tmp/log"
  verdict "a personalisation names nodes, $n rank(s)"
done
printf 'Paris:1\nOslo\n' >"$tmp/cities.unknown"
refused "a personalisation with an unknown name" "cities.unknown:2: expected nodes of the graph, got 'Oslo'" -f "$tmp/cities.csv" -personalize "$tmp/cities.unknown" -ranks "$tmp/out/r"
printf '1 2\n2 1\n1 3\n3 1\n3 4\n4 3\n' >"$tmp/path.txt"
printf '4 3\n2 3\n1\n1 4\n3\n' >"$tmp/path.any" && ranked "METIS" 2 "$tmp/path.txt" "" -f "$tmp/path.any"
printf '*Vertices 4\n*Edges\n1 2\n1 3\n3 4\n' >"$tmp/path.pajek" && ranked "Pajek" 2 "$tmp/path.txt" "" -f "$tmp/path.pajek"
printf 'graph [ node [ id 1 ] node [ id 2 ] node [ id 3 ] node [ id 4 ] edge [ source 1 target 2 ] edge [ source 1 target 3 ] edge [ source 3 target 4 ] ]\n' >"$tmp/path.gml" && ranked "GML" 2 "$tmp/path.txt" "" -f "$tmp/path.gml"
printf 'p edge 4 3\ne 1 2\ne 1 3\ne 3 4\n' >"$tmp/path.dimacs" && ranked "DIMACS" 2 "$tmp/path.txt" "" -f "$tmp/path.dimacs"
printf '1 2 {}\n1 3 {}\n3 4 {}\n' >"$tmp/path.networkx" && ranked "networkx's edge list" 2 "$tmp/path.txt" undirected=1 -f "$tmp/path.networkx" -undirected
printf '4 6\n' | cat - "$tmp/path.txt" >"$tmp/path.sizes" && ranked "numbers of nodes and edges in the first line" 2 "$tmp/path.txt" "" -f "$tmp/path.sizes"
graphs=${GPUCSR_DATA:-../shared/data}/graph
if [ -d "$graphs" ]; then
  while read -r file words; do
    run 1 -f "$graphs/$file" -topk 0 -max_it 0 -mat_type aij
    grep -qF "$file: $words" "$tmp/log"
    verdict "$file: $words"
  done <<'E'
4elt.graph.xz 15606 nodes, 45878 undirected edges, METIS
brack2_3.graph.xz 62631 nodes, 366559 undirected edges, METIS
wb-cs.stanford.smat.xz 9914 nodes, 36854 links with weights, edge list, first line '9914 9914 36854' read as
as-caida20071105.jlg 26475 nodes, 53381 undirected edges
email-Enron.txt.xz 36692 nodes, 367662 links, edge list, first line '36692 367662' read as
web-edu.txt.xz 3031 nodes, 6474 links
DE_edges.csv.xz 9498 nodes, 153138 links, edge list, separated by commas, headings
E
  run 1 -f "$graphs/airports.smat.xz"
  [ $? -eq 4 ] && grep -qF "airports.smat.xz:2: expected a weight that is finite and not negative, got '-757'" "$tmp/log"
  verdict "airports.smat.xz: its weights are negative"
else skip "public graphs of other formats" "the directory of public data sets does not exist ($graphs)"; fi

# --- bad input --------------------------------------------------------------------------------------------------------------
o="$tmp/out/r"
badfile() { # badfile NAME TEXT MESSAGE: a file of links with this text
  printf '%b' "$2" >"$tmp/bad"
  refused "$1" "$3" -f "$tmp/bad" -ranks "$o"
}
market='%%MatrixMarket matrix coordinate real general\n'
badfile "a word for a number" '1 2\n2 x\n' "bad:2: expected a second node number, got 'x'"
badfile "a missing number" '1 2\n# c\n2\n' "bad:3: expected a second node number, got the end of the line"
badfile "a negative number" '1 2\n2 -3\n' "bad:2: expected a second node number, got '-3'"
badfile "weights on some lines" '1 2 3.5\n2 3\n' "bad:2: lines before had a weight"
badfile "no weights on some lines" '7 3\n4 5\n1 2 3\n' "bad:3: lines before had no weight"
badfile "a weight on the first line alone" '1 2 3\n2 3\n' "bad:1: '1 2 3': expected no weight, because the lines below have none"
badfile "a file that may be METIS or an edge list" '3 3\n2 3\n1 3\n1 2\n' "choose by -graph_format metis or -graph_format edges"
badfile "a truncated METIS file" '4 3\n2 3\n1\n1 4\n\n' "the header says 3 edges"
badfile "XML without a graph" '<?xml version="1.0"?>\n<svg/>\n' "bad"
badfile "a negative weight" '1 2 -3\n' "bad:1: expected a weight that is finite and not negative, got '-3'"
badfile "a node number beyond 63 bits" '1 2\n1 99999999999999999999\n' "bad:2: expected a second node number, got '99999999999999999999'"
badfile "no links" '# nothing\n' "the file holds no links"
badfile "an index larger than the sizes in the header" "${market}3 3 2\n1 2 1\n1 9 1\n" "bad:4: expected a row from 1 to 3 and a column from 1 to 3, got '9'"
badfile "fewer entries than in the header" "${market}3 3 5\n1 2 1\n" "the header says 5 entries, the file holds 1"
badfile "fewer entries than in the header, symmetric" '%%MatrixMarket matrix coordinate pattern symmetric\n5 5 4\n2 1\n3 2\n' "the header says 4 entries, the file holds 2"
badfile "more entries than in the header" "${market}3 3 1\n1 2 1\n2 2 1\n" "bad:4: entry 2 of a matrix whose header says 1"
badfile "two billion nodes in a small file" '%%MatrixMarket matrix coordinate pattern general\n2147483646 2147483646 1\n1 2\n' "bad:2: 2147483646 rows and 2147483646 columns in a file of"
badfile "more nodes than PetscInt can count" "${market}99999999999 99999999999 1\n1 2 1\n" "bad:2: 99999999999 rows and 99999999999 columns $([ "$GPUCSR_INT_BYTES" = 8 ] || echo "do not fit PetscInt")"
refused "a missing file" "No such file" -f "$tmp/nosuch" -ranks "$o"
for damping in -0.2 0 1 1.5; do refused "damping $damping" "expected a number greater than 0 and less than 1" -f "$tmp/dangling.txt" -damping $damping -ranks "$o"; done
printf '1 77\n' >"$tmp/unknown"
printf '1:0 2:0\n' >"$tmp/zero"
refused "an unknown node in a personalisation" "unknown:1: expected nodes of the graph, got '77'" -f "$tmp/dangling.txt" -personalize "$tmp/unknown" -ranks "$o"
refused "a personalisation that sums to 0" "zero:1: the weights sum to 0" -f "$tmp/dangling.txt" -personalize "$tmp/zero" -ranks "$o"
printf '1:\n3 4\n' >"$tmp/halved"
refused "a personalisation with a colon but no weight" "halved:1: expected <node>[:<weight>]" -f "$tmp/dangling.txt" -personalize "$tmp/halved" -ranks "$o"
refused "a matrix with a negative entry" "the weight of a link must be finite and not negative, got -0.5" -f "$tmp/negative.bin" -ranks "$o"
{ printf '\0\0\0\0'; cat "$tmp/negative.bin"; } >"$tmp/wide.bin" && tail -c +5 "$tmp/negative.bin" >"$tmp/narrow.bin"
if [ "$GPUCSR_INT_BYTES" = 4 ]; then refused "a matrix with 64-bit indices" "the file was written by a PETSc with 64-bit indices" -f "$tmp/wide.bin" -ranks "$o"
else refused "a matrix with 32-bit indices" "the file was written by a PETSc with 32-bit indices" -f "$tmp/narrow.bin" -ranks "$o"; fi
refused "no arguments" "give -f <file> or -rmat" -ranks "$o"
memory="allocating the partial sums of the iterations (-mat_gpucsr_vec_type standard keeps them on the host): out of device memory on host: 50800 bytes asked for, "
refused "device memory too small for sweeps" "$memory" -rmat 8,8 -mat_gpucsr_vec_type gpu -gpucsr_device_memory 52000 -ranks "$o"
damaged() { # damaged FILE COLUMN: a 3 x 3 matrix in PETSc's binary format, of whose three nonzeros the last has this column
  $python -c "import struct, sys; w = 'i' if $GPUCSR_INT_BYTES == 4 else 'q'; open('$1', 'wb').write(struct.pack('>10' + w + '3d', 1211216, 3, 3, 3, 1, 1, 1, 1, 2, $2, 1, 1, 1))"
}
for column in 7 100000000 -5; do
  damaged "$tmp/column.bin" $column
  for method in power gauss_seidel; do refused "a matrix with column $column of 3, -method $method" "column.bin: row 2: column index $column of a 3 x 3 matrix" -f "$tmp/column.bin" -method $method -ranks "$o"; done
done
refused "a matrix instead of a start vector" "expected vector 1 of 1 in PETSc's binary format" -f "$tmp/dangling.txt" -start "$tmp/column.bin" -ranks "$o"
refused "an output file that is a directory" "Is a directory" -f "$tmp/dangling.txt" -ranks "$tmp"
refused "an output directory that does not exist" "cannot create" -f "$tmp/dangling.txt" -ranks "$tmp/out/no/r"

[ "$suite" != petsc ] || exit 0 # the comparison with other programs does not depend on the PETSc

# --- larger graphs, compared with other programs -----------------------------------------------------------------------------------
for n in 1 3; do run $n -rmat 16,16 -seed 1 -tol 1e-12 -ranks "$tmp/rmat.$n" -topk 0 || not_ok "an R-MAT graph on $n ranks" "$tmp/log"; done
apart "$tmp/rmat.1" "$tmp/rmat.3" 1e-13 65536
verdict "the R-MAT graph is the same on 1 and 3 ranks"
run 2 -rmat 16,16 -seed 1 -tol 1e-12 -order degree -ranks "$tmp/rmat.degree" -topk 0 && apart "$tmp/rmat.1" "$tmp/rmat.degree" 1e-12 65536
verdict "the R-MAT graph with rows by degree"
graphs=${GPUCSR_DATA:-../shared/data}/graph
names=()
if [ -d "$graphs" ]; then
  mkdir "$tmp/public"
  $python "$oracle" edges "$graphs" "$tmp/public"
  mapfile -t names < <(ls "$tmp/public")
else skip "public graphs" "the directory of public data sets does not exist ($graphs)"; fi
has numpy && $python "$oracle" rmat 16,16,1 "$tmp/rmat.txt"
same=1
for name in "${names[@]}"; do
  run 1 -f "$tmp/public/$name" -tol 1e-12 -topk 0 -mat_type aij -ranks "$tmp/a" && mv "$tmp/a" "$tmp/public/$name.aij" || same=0
  run 1 -f "$tmp/public/$name" -tol 1e-12 -topk 0 -ranks "$tmp/public/$name.ranks" && run 1 -f "$tmp/public/$name" -tol 1e-12 -topk 0 -dangling drop -ranks "$tmp/public/$name.drop" || not_ok "$name" "$tmp/log"
  apart "$tmp/public/$name.ranks" "$tmp/public/$name.aij" 1e-12 "$(wc -l <"$tmp/public/$name.ranks")" || { same=0 && echo "# $name"; }
done
if [ -n "${names[*]}" ]; then
  [ $same = 1 ]
  verdict "public graphs: -mat_type aij gives the same ranks (${#names[@]})"
fi
run 1 -rmat 16,16 -seed 1 -tol 1e-12 -mat_type aij -ranks "$tmp/rmat.aij" -topk 0 && apart "$tmp/rmat.1" "$tmp/rmat.aij" 1e-12 65536
verdict "an R-MAT graph of 2^16 nodes: -mat_type aij gives the same ranks"
for by in networkx igraph scipy; do
  if ! has $by; then
    skip "larger graphs by $by" "$python has no $by"
    continue
  fi
  declare have$by=1
  [ $by = scipy ] || compared "an R-MAT graph of 2^16 nodes by $by" "$tmp/rmat.txt" "$tmp/rmat.1" "by=$by nodes=65536"
done
for name in "${names[@]}"; do
  edges=$tmp/public/$name
  [ -z "${havenetworkx:-}" ] || { [ "${GPUCSR_THOROUGH:-0}" != 1 ] && [ "$(wc -c <"$edges")" -gt 1000000 ]; } || compared "public graphs by networkx" "$edges" "$edges.ranks" by=networkx
  [ -z "${haveigraph:-}" ] || compared "public graphs by igraph" "$edges" "$edges.ranks" by=igraph
  [ -z "${havescipy:-}" ] || compared "public graphs with rank dropped as in the GAP benchmark" "$edges" "$edges.drop" "by=power dangling=drop"
done
settle
exit 0
