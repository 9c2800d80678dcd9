#!/usr/bin/env bash
# The pagerank program as users meet it, beside exact arithmetic, networkx, igraph and scipy.  Prints TAP.
#
#   GPUCSR_DATA   folder of public data sets, default ../shared/data; tests that want them are skipped without them
set -u
. "$(dirname "$0")/../env.sh"
program=$BUILD/bin/pagerank
[ -x "$program" ] || { not_ok "pagerank is built ($program)"; exit 1; }
oracle=$ROOT/tests/pagerank/oracle.py
python=/usr/bin/python3
[ -x $python ] || python=python3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
device=(-gpucsr_device "$GPUCSR_DEVICE")

# --- helpers ----------------------------------------------------------------------------------------------------------------
run() { # run RANKS ARGUMENTS: output in $tmp/log
  local n=$1
  shift
  if [ "$n" = 1 ]; then "$program" "${device[@]}" "$@" >"$tmp/log" 2>&1; else "$MPIEXEC" -n "$n" "$program" "${device[@]}" "$@" >"$tmp/log" 2>&1; fi
}
verdict() { if [ $? -eq 0 ]; then ok "$1"; else not_ok "$1" "$tmp/log"; fi; }
ranked() { # ranked NAME RANKS EDGES "ORACLE OPTIONS" ARGUMENTS: run, then compare with a reference
  local name=$1 n=$2 edges=$3 options=$4
  shift 4
  # shellcheck disable=SC2086
  rm -f "$tmp/ranks" && run "$n" -tol 1e-13 -ranks "$tmp/ranks" "$@" && $python "$oracle" compare "$edges" "$tmp/ranks" 1e-10 $options >>"$tmp/log" 2>&1
  verdict "$name"
}
refused() { # refused NAME MESSAGE ARGUMENTS: fails with the words, on 1 and 2 ranks, without a crash, and leaves nothing behind
  local name=$1 message=$2 n rc good=1
  shift 2
  for n in 1 2; do
    rm -rf "$tmp/out" && mkdir "$tmp/out"
    run $n "$@"
    rc=$?
    [ $rc -ne 0 ] && [ $rc -lt 124 ] && grep -qF -- "$message" "$tmp/log" && ! grep -qE 'Segmentation|Caught signal|double free' "$tmp/log" && [ -z "$(ls "$tmp/out")" ] || good=0
  done
  [ $good = 1 ]
  verdict "$name"
}
value() { $python -c "import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])" "$tmp/report.json" "$1"; }

# --- a small graph, against rational arithmetic -----------------------------------------------------------------------------
printf '# from to\n10 20\n20 30\n\n30\t10\n30 20\n7000000000000 10\n20 9\n20,30\r\n9 9\n4 4\n5 30\n' >"$tmp/small.txt"
printf '9 4\n' >>"$tmp/small.txt" # 30 and 20 link to others, 9 and 4 to themselves; made below: 20 30 is named twice
printf '1 2\n2 3\n3 1\n3 2\n4 1\n2 5\n6 5\n' >"$tmp/dangling.txt"
printf '1 2 0.5\n2 3 2\n3 1 1e-3\n3 2 4\n4 1 0.1\n2 5 0.3\n' >"$tmp/weighted.txt"
sed 's/,/ /' "$tmp/small.txt" | tr -d '\r' | grep . >"$tmp/small.clean"
for n in 1 2 3; do
  ranked "comments, blanks, commas, wide identities, loops, a link named twice, on $n" $n "$tmp/small.clean" "" -f "$tmp/small.txt"
  ranked "weights, on $n" $n "$tmp/weighted.txt" "" -f "$tmp/weighted.txt"
  for policy in teleport uniform self drop; do
    ranked "dangling nodes: $policy, on $n" $n "$tmp/dangling.txt" dangling=$policy -f "$tmp/dangling.txt" -dangling $policy
  done
done
printf '# two of them\n1:3 4\n' >"$tmp/personal"
ranked "personalisation" 2 "$tmp/dangling.txt" "personal=1:3,4:1" -f "$tmp/dangling.txt" -personalize "$tmp/personal"
ranked "personalisation, dangling rank goes anywhere" 2 "$tmp/dangling.txt" "personal=1:3,4:1 dangling=uniform" -f "$tmp/dangling.txt" -personalize "$tmp/personal" -dangling uniform
ranked "damping 0.99" 1 "$tmp/dangling.txt" damping=0.99 -f "$tmp/dangling.txt" -damping 0.99
ranked "links both ways" 2 "$tmp/dangling.txt" undirected=1 -f "$tmp/dangling.txt" -undirected
for type in aij dense; do ranked "-mat_type $type" 2 "$tmp/weighted.txt" "" -f "$tmp/weighted.txt" -mat_type $type; done
for method in "-extrapolate 4" "-method inner_outer" "-method ksp" "-method ksp -pagerank_ksp_type gmres" "-method ksp -assemble -pagerank_ksp_type richardson -pagerank_pc_type sor" \
  "-method ksp -assemble -pagerank_ksp_type richardson -pagerank_pc_type jacobi"; do
  for n in 1 2; do
    # shellcheck disable=SC2086
    ranked "$method, on $n" $n "$tmp/dangling.txt" "dangling=uniform personal=1:3,4:1" -f "$tmp/dangling.txt" -dangling uniform -personalize "$tmp/personal" $method
  done
done
printf '2\n' >"$tmp/u"
run 1 -f "$tmp/dangling.txt" -dangling vector -dangling_file "$tmp/u" -tol 1e-13 -ranks "$tmp/a" && { cat "$tmp/dangling.txt"; echo '5 2'; } >"$tmp/closed.txt" &&
  $python "$oracle" compare "$tmp/closed.txt" "$tmp/a" 1e-10 >>"$tmp/log" 2>&1
verdict "dangling nodes: a vector of their own is like links of theirs"

# --- formats ----------------------------------------------------------------------------------------------------------------
printf '%%%%MatrixMarket matrix coordinate real general\n%% c\n5 5 6\n1 2 0.5\n2 3 2\n3 1 1e-3\n3 2 4\n4 1 0.1\n2 5 0.3\n' >"$tmp/m.mtx"
ranked "Matrix Market" 2 "$tmp/weighted.txt" "" -f "$tmp/m.mtx"
printf '%%%%MatrixMarket matrix coordinate pattern symmetric\n6 6 7\n2 1\n3 2\n3 1\n4 1\n5 2\n6 5\n3 3\n' >"$tmp/s.mtx"
printf '1 2\n2 3\n3 1\n4 1\n5 2\n6 5\n3 3\n' >"$tmp/s.txt"
ranked "Matrix Market, symmetric pattern" 2 "$tmp/s.txt" undirected=1 -f "$tmp/s.mtx"
for tool in gzip xz bzip2; do
  if command -v $tool >/dev/null; then
    $tool -c "$tmp/weighted.txt" >"$tmp/weighted.$tool"
    for n in 1 3; do ranked "$tool, on $n" $n "$tmp/weighted.txt" "" -f "$tmp/weighted.$tool"; done
  else skip "$tool" "it is not installed"; fi
done

awk 'BEGIN { for (i = 0; i < 40000; i++) print (i * i * 7919) % 50021 * 3, (i * 104729) % 49999 * 3 }' >"$tmp/large.txt"
xz -c "$tmp/large.txt" >"$tmp/large.xz" 2>/dev/null
run 1 -f "$tmp/large.txt" -tol 1e-13 -ranks "$tmp/a"
for file in large.txt large.xz; do
  run 4 -f "$tmp/$file" -tol 1e-13 -ranks "$tmp/b" && paste "$tmp/a" "$tmp/b" | awk '$1 != $3 { exit bad = 1 } { d = $2 - $4; s += d < 0 ? -d : d } END { exit bad || !(NR > 1000 && s < 1e-12) }'
  verdict "the same from 1 and 4 parts of a file of $(($(wc -c <"$tmp/large.txt") / 1024)) KiB, $file"
done
sed '39000s/.*/12 oops/' "$tmp/large.txt" >"$tmp/large.bad"
run 4 -f "$tmp/large.bad"
[ $? -ne 0 ] && grep -q "large.bad: line 39000: expected a second node number, got 'oops'" "$tmp/log"
verdict "a bad line in the last rank's part is named"

# --- what is written --------------------------------------------------------------------------------------------------------
run 2 -f "$tmp/dangling.txt" -report "$tmp/report.json" -ranks_binary "$tmp/x.bin" -picture "$tmp/x.svg" -tol 1e-12 -topk 2 &&
  [ "$(value nodes) $(value edges) $(value dangling) $(value converged)" = "6 7 1 True" ] && $python - "$tmp/report.json" <<'P' >>"$tmp/log" 2>&1
import json, sys
r = json.load(open(sys.argv[1]))
assert abs(r["sum"] - 1) <= 1e-12 and r["error_bound"] <= 1e-12 and abs(r["error_bound"] * 0.15 - r["residual"]) < 1e-18
assert [e["node"] for e in r["topk"]] == [2, 5] and all(e["certain"] for e in r["topk"]) and r["matmults"] == r["iterations"] + 1
assert r["seconds_load"] > 0 and r["seconds_solve"] > 0
P
verdict "the report"
grep -q '<polyline' "$tmp/x.svg" && ! ls "$tmp"/*.part >/dev/null 2>&1
verdict "the picture, and nothing half-written"
run 1 -f "$tmp/dangling.txt" -start "$tmp/x.bin" -tol 1e-11 -report "$tmp/report.json" && [ "$(value iterations)" = 0 ]
verdict "a start from ranks in PETSc's binary format"
printf '1:3 4\n2\n5 6\n' >"$tmp/many"
run 2 -f "$tmp/dangling.txt" -personalize "$tmp/many" -tol 1e-13 -ranks "$tmp/ranks" && $python "$oracle" compare "$tmp/dangling.txt" "$tmp/ranks" 1e-10 personal=1:3,4:1 >>"$tmp/log" 2>&1 &&
  $python "$oracle" compare "$tmp/dangling.txt" "$tmp/ranks" 1e-10 personal=2 column=2 >>"$tmp/log" 2>&1 && $python "$oracle" compare "$tmp/dangling.txt" "$tmp/ranks" 1e-10 personal=5,6 column=3 >>"$tmp/log" 2>&1
verdict "three personalisations at once"
run 1 -rmat 10,8 -seed 3 -ranks "$tmp/a" -report "$tmp/report.json" && e=$(value edges) && run 3 -rmat 10,8 -seed 3 -ranks "$tmp/b" -report "$tmp/report.json" && [ "$e" = "$(value edges)" ] &&
  paste "$tmp/a" "$tmp/b" | awk '{ d = $2 - $4; s += d < 0 ? -d : d } END { exit !(NR == 1024 && s < 1e-14) }'
verdict "the R-MAT graph is the same on 1 and 3 ranks"
run 1 -f "$tmp/dangling.txt" -tol 1e-13 -max_it 3 -ranks "$tmp/a"
[ $? -eq 3 ] && grep -q DIVERGED_ITS "$tmp/log" && grep -q 'is above -tol' "$tmp/log" && [ -s "$tmp/a" ]
verdict "too few iterations: said, code 3, the ranks so far are written"

# --- bad input --------------------------------------------------------------------------------------------------------------
printf '1 2\n2 x\n' >"$tmp/bad1"
printf '1 2\n# c\n2\n' >"$tmp/bad2"
printf '1 2 3\n2 3\n' >"$tmp/bad3"
printf '1 2 -3\n' >"$tmp/bad4"
printf '1 99999999999999999999\n' >"$tmp/bad5"
printf '# nothing\n' >"$tmp/empty"
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n1 9 1\n' >"$tmp/bad6"
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 5\n1 2 1\n' >"$tmp/bad7"
printf '1 77\n' >"$tmp/unknown"
printf '1:0 2:0\n' >"$tmp/zero"
o="$tmp/out/r"
refused "a word for a number" "bad1: line 2: expected a second node number, got 'x'" -f "$tmp/bad1" -ranks "$o"
refused "a missing number" "bad2: line 3: expected a second node number, got the end of the line" -f "$tmp/bad2" -ranks "$o"
refused "weights on some lines" "bad3: line 2" -f "$tmp/bad3" -ranks "$o"
refused "a negative weight" "bad4: line 1: expected a weight that is finite and not negative, got '-3'" -f "$tmp/bad4" -ranks "$o"
refused "an identity beyond 63 bits" "bad5: line 1" -f "$tmp/bad5" -ranks "$o"
refused "no links" "the file holds no links" -f "$tmp/empty" -ranks "$o"
refused "an index beyond the header's" "bad6: line 4: expected node numbers from 1 to the number of rows" -f "$tmp/bad6" -ranks "$o"
refused "fewer entries than promised" "the header promises 5 entries, the file holds 1" -f "$tmp/bad7" -ranks "$o"
refused "no such file" "No such file" -f "$tmp/nosuch" -ranks "$o"
refused "damping 1" "must lie between 0 and 1" -f "$tmp/dangling.txt" -damping 1 -ranks "$o"
refused "an unknown node in a personalisation" "unknown: line 1: expected nodes of the graph, got '77'" -f "$tmp/dangling.txt" -personalize "$tmp/unknown" -ranks "$o"
refused "a personalisation that sums to 0" "zero: line 1: the weights sum to 0" -f "$tmp/dangling.txt" -personalize "$tmp/zero" -ranks "$o"
refused "nothing to do" "give -f <file> or -rmat" -ranks "$o"
refused "a folder that is not there" "Cannot create" -f "$tmp/dangling.txt" -ranks "$tmp/out/no/r"

# --- real graphs, beside other programs -------------------------------------------------------------------------------------
graphs=${GPUCSR_DATA:-../shared/data}/graph
if [ ! -d "$graphs" ]; then
  skip "real graphs" "the folder of public data sets is not there ($graphs)"
else
  for by in networkx igraph power; do
    module=$by
    [ $by = power ] && module=scipy.sparse
    if ! $python -c "import $module" 2>/dev/null; then
      skip "real graphs by $by" "$python has no $module"
      continue
    fi
    bad=0 n=0
    for file in "$graphs"/*; do
      [ -f "$tmp/$(basename "$file").txt" ] || $python "$oracle" edges "$file" "$tmp/$(basename "$file").txt" || continue
      edges=$tmp/$(basename "$file").txt
      policy=teleport
      [ $by = power ] && policy=drop
      n=$((n + 1))
      if ! { run 1 -f "$edges" -tol 1e-12 -dangling $policy -ranks "$tmp/ranks" && $python "$oracle" compare "$edges" "$tmp/ranks" 1e-10 by=$by dangling=$policy >>"$tmp/log" 2>&1; }; then
        bad=$((bad + 1))
        cp "$tmp/log" "$tmp/bad.log"
      fi
    done
    if [ $bad = 0 ] && [ $n -gt 0 ]; then ok "$n real graphs by $by"; else not_ok "$bad of $n real graphs by $by" "$tmp/bad.log"; fi
  done
fi
exit 0
