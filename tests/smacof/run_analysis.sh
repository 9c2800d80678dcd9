#!/usr/bin/env bash
# Tests of what the program smacof computes about a map, compared with numpy.  Prints TAP.
#
#   PYTHON   a Python with numpy; default /usr/bin/python3
set -u
. "$(dirname "$0")/../env.sh"
program=$BUILD/bin/smacof
[ -x "$program" ] || { not_ok "smacof is built ($program)"; exit 1; }
python=${PYTHON:-/usr/bin/python3}
[ -x "$python" ] || python=python3
if ! $python -c 'import numpy' 2>/dev/null; then
  skip "analyses of smacof compared with numpy" "$python has no numpy"
  exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

run() { # run RANKS ARGUMENTS: the output goes to $tmp/log
  local n=$1
  shift
  "$MPIEXEC" -n "$n" "$program" -gpucsr_device "$GPUCSR_DEVICE" "$@" >"$tmp/log" 2>&1
}
oracle() { $python "$ROOT/tests/smacof/analysis.py" "$1" "$tmp" "${@:2}" >>"$tmp/log" 2>&1; }
verdict() { if [ $? -eq 0 ]; then ok "$1"; else not_ok "$1" "$tmp/log"; fi; }
refused() { # refused NAME CODE MESSAGE ARGUMENTS: the run ends with this exit code and one line that has the message, and leaves no output
  local name=$1 code=$2 message=$3 rc
  shift 3
  rm -rf "$tmp/out" && mkdir "$tmp/out"
  run "${ranks:-1}" -coordinates "$tmp/out/map" "$@"
  rc=$?
  [ $rc -eq "$code" ] && [ "$(grep -cF -- "$message" "$tmp/log")" = 1 ] && [ -z "$(ls "$tmp/out")" ] || { echo "code $rc, left behind: $(ls "$tmp/out")" >>"$tmp/log" && false; }
  verdict "$name"
}
oracle data || { not_ok "the data are made" "$tmp/log"; exit 1; }
double=(-storage double)

# --- rotation to a target, stress of each point ---------------------------------------------------------------------------
for n in 1 2 4; do
  run $n -f "$tmp/D.csv" "${double[@]}" -coordinates "$tmp/plain.csv" && run $n -f "$tmp/D.csv" "${double[@]}" -target "$tmp/target.csv" -coordinates "$tmp/map.csv" -report "$tmp/report.json" &&
    grep -q '^rotated to the target: correlation 0\.9' "$tmp/log" && oracle target "$tmp/plain.csv" "$tmp/map.csv" "$tmp/report.json"
  verdict "rotation to a target, and the stress of each point, on $n"
done
printf 'p0,0,0\n' >"$tmp/fixed.txt"
sed '2,$s/,.*/,1,0.1/' "$tmp/target.csv" >"$tmp/place.csv"
head -5 "$tmp/target.csv" >"$tmp/short.csv"
ranks=2 refused "a target in one place" 4 "place.csv: all points of the target are in one place" -f "$tmp/D.csv" -target "$tmp/place.csv"
refused "a target of fewer points" 4 "short.csv: 4 lines of coordinates for 12 points" -f "$tmp/D.csv" -target "$tmp/short.csv"
refused "a target and fixed points" 2 "-target cannot be combined with -fixed" -f "$tmp/D.csv" -target "$tmp/target.csv" -fixed "$tmp/fixed.txt"

# --- similarities ---------------------------------------------------------------------------------------------------------
oracle similarities
good=1
converts() { # converts RANKS SOURCE METHOD ARGUMENTS: writes the dissimilarities; the run stops before the first iteration
  # shellcheck disable=SC2046 # two words or none
  run "$1" "${@:4}" "${double[@]}" -similarity "$3" $([ "$3" = constant ] && echo -similarity_constant 40) -smacof_max_it 0 -shepard_data "$tmp/$2.$3.$1.shepard"
  [ $? -eq 3 ] || { cp "$tmp/log" "$tmp/failed" && good=0; }
}
for method in reverse reciprocal ranks exp gaussian cooccurrence gravity transition constant; do converts 1 counts $method -f "$tmp/counts.csv"; done
for method in confusion membership probability; do converts 1 share $method -f "$tmp/share.csv"; done
converts 1 corr corr -f "$tmp/corr.csv"
for n in 2 4; do for method in ranks gravity; do converts $n uneven $method -f "$tmp/uneven.csv" -symmetrize; done; done
converts 4 uneven reverse -f "$tmp/uneven.csv" -symmetrize
converts 2 triangle ranks -f "$tmp/triangle.txt"
converts 4 triangle cooccurrence -f "$tmp/triangle.txt"
converts 2 pairs gravity -pairs "$tmp/counts.pairs"
converts 4 pairs ranks -pairs "$tmp/counts.pairs"
[ $good = 1 ] && oracle converted || { cat "$tmp/failed" >>"$tmp/log" 2>/dev/null && false; }
verdict "similarities become the dissimilarities of R's formulas, on 1, 2 and 4"
ranks=2 refused "a correlation above 1" 4 "uneven.csv: The similarity of points 0 and 0 (counted from 0) is" -f "$tmp/uneven.csv" -similarity corr
refused "a proportion above 1" 4 "counts.csv: The similarity of points" -f "$tmp/counts.csv" -similarity confusion
refused "a negative count" 4 "the conversion \`gravity\` needs finite numbers of at least 0" -f "$tmp/corr.csv" -similarity gravity
refused "a constant that is too small" 4 "the conversion \`constant\` needs numbers of at most 5, the constant" -f "$tmp/counts.csv" -similarity constant -similarity_constant 5
refused "a constant without its conversion" 2 "-similarity_constant needs -similarity constant" -f "$tmp/counts.csv" -similarity corr -similarity_constant 3
printf 'A,1\nB,0.5,1\nC,0.2,0.9,1\n' >"$tmp/triangle.csv"
ranks=2 refused "a triangle of similarities with its diagonal" 4 "triangle.csv: the last numbers of all lines are equal" -f "$tmp/triangle.csv" -similarity corr
refused "similarities of features" 2 "-similarity cannot be combined with -features" -features "$tmp/counts.csv" -similarity corr
refused "an unknown conversion" 2 "-similarity cosine" -f "$tmp/counts.csv" -similarity cosine

# --- stress by dimension ----------------------------------------------------------------------------------------------------
export GPUCSR_CAIRO=none # pictures in SVG with texts
for n in 1 2 4; do
  for d in 1 2 3; do run $n -f "$tmp/D.csv" "${double[@]}" -smacof_dim $d -smacof_starts 3 -smacof_max_it 5000 -report "$tmp/dim$d.json" -coordinates "$tmp/dim$d.csv"; done
  run $n -f "$tmp/D.csv" "${double[@]}" -smacof_starts 3 -smacof_max_it 5000 -scree 1,3 -scree_plot "$tmp/scree.svg" -report "$tmp/report.json" -coordinates "$tmp/map.csv" && cmp "$tmp/dim2.csv" "$tmp/map.csv" >>"$tmp/log" 2>&1 &&
    oracle scree "$tmp/report.json" "$tmp"/dim[1-3].json
  verdict "the stress of each dimension, and the map of one, are those of separate runs, on $n"
done
run 1 -f "$tmp/D.csv" -smacof_max_it 1 -smacof_eps 10 -scree 1,2
verdict "the tolerance holds in each dimension"
run 2 -f "$tmp/D.csv" -smacof_start random -smacof_max_it 2 -smacof_dim 3 -scree 2,3 -report "$tmp/report.json"
[ $? -eq 3 ] && grep -q '"scree": \[{"dim": 2, "stress1": [0-9.e-]*, "converged": false}' "$tmp/report.json"
verdict "a dimension that does not converge ends with code 3"
refused "a range of one dimension" 2 "-scree: expected two dimensions from 1 to 8" -f "$tmp/D.csv" -scree 3
refused "a descending range" 2 "-scree: expected two dimensions from 1 to 8" -f "$tmp/D.csv" -scree 3,2
refused "a picture without dimensions" 2 "-scree_plot needs the dimensions" -f "$tmp/D.csv" -scree_plot "$tmp/out/scree.svg"
refused "dimensions and fixed points" 2 "-scree cannot be combined with" -f "$tmp/D.csv" -scree 1,3 -fixed "$tmp/fixed.txt"
exit 0
