#!/usr/bin/env bash
# Tests of the program smacof, compared with SMACOF in numpy and with scikit-learn.  Prints TAP.
#
#   PYTHON   a Python with numpy and, for some tests, scikit-learn; default /usr/bin/python3
set -u
. "$(dirname "$0")/../env.sh"
program=$BUILD/bin/smacof
[ -x "$program" ] || { not_ok "smacof is built ($program)"; exit 1; }
oracle=$ROOT/tests/smacof/oracle.py
python=${PYTHON:-/usr/bin/python3}
[ -x "$python" ] || python=python3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
device=(-gpucsr_device "$GPUCSR_DEVICE")

# --- helpers ----------------------------------------------------------------------------------------------------------------
run() { # run RANKS ARGUMENTS: the output goes to $tmp/log
  local n=$1
  shift
  "$MPIEXEC" -n "$n" "$program" "${device[@]}" "$@" >"$tmp/log" 2>&1
}
verdict() { if [ $? -eq 0 ]; then ok "$1"; else not_ok "$1" "$tmp/log"; fi; }
value() { $python -c "import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])" "$tmp/report.json" "$1"; }
scaled() { # scaled NAME RANKS TOLERANCE "ORACLE OPTIONS" ARGUMENTS: compares 40 plain steps with numpy
  local name=$1 n=$2 tol=$3 options=$4 rc
  shift 4
  rm -f "$tmp/report.json" "$tmp/map.csv"
  run "$n" -start_file "${start:-$tmp/X0.csv}" -smacof_acceleration none -smacof_eps 0 -smacof_max_it 40 -report "$tmp/report.json" -coordinates "$tmp/map.csv" "$@"
  rc=$?
  case $rc:$* in 0:*'-smacof_dim 1 '*mixed) rc=3 ;; esac # in one dimension, steps rounded to single precision may stagnate earlier
  # shellcheck disable=SC2086
  [ $rc -eq 3 ] && $python "$oracle" compare "$tmp" "$tmp/report.json" "$tmp/map.csv" "$tol" $options >>"$tmp/log" 2>&1
  verdict "$name, on $n"
}
refused() { # refused NAME MESSAGE ARGUMENTS: on 1 and 2 ranks the run fails with this message, without a crash, and leaves no output
  local name=$1 message=$2 n rc good=1
  shift 2
  for n in 1 2; do
    rm -rf "$tmp/out" && mkdir "$tmp/out"
    run $n -coordinates "$tmp/out/map" "$@"
    rc=$?
    [ $rc -ne 0 ] && [ $rc -ne 3 ] && [ $rc -lt 124 ] && grep -qF -- "$message" "$tmp/log" && ! grep -qE 'Segmentation|Caught signal number ([4-8]|11) |double free' "$tmp/log" && [ -z "$(ls "$tmp/out")" ] && continue
    echo "on $n: code $rc, left behind: $(ls "$tmp/out")" >>"$tmp/log"
    good=0
    break
  done
  [ $good = 1 ]
  verdict "$name"
}

if ! $python -c 'import numpy' 2>/dev/null; then
  skip "smacof compared with numpy" "$python has no numpy"
  exit 0
fi
$python "$oracle" data "$tmp" || { not_ok "the data are made"; exit 1; }

# --- the same iterations in numpy -------------------------------------------------------------------------------------------
double=(-storage double)
for n in 1 2 4; do
  scaled "a matrix as CSV" $n 1e-10 "" -f "$tmp/D.csv" "${double[@]}"
  scaled "a matrix as CSV, single precision" $n 1e-6 "" -f "$tmp/D.csv"
  scaled "weights" $n 1e-8 weights=given -f "$tmp/D.csv" -weights "$tmp/W.csv" "${double[@]}"
  scaled "matrix-free" $n 1e-10 "" -features "$tmp/F.csv" -matrix_free
  scaled "ordinal" $n 1e-8 "data=T.csv kind=primary" -f "$tmp/T.csv" -smacof_disparity ordinal
done
dimensions="1 3 4 5 6 7 8" # each has kernels of its own, which do not depend on PETSc
[ "${GPUCSR_SUITE:-full}" != petsc ] || dimensions=3
for d in $dimensions; do
  cut -d, -f1-$d "$tmp/X8.csv" >"$tmp/start.csv"
  start=$tmp/start.csv scaled "dimension $d" 1 1e-10 dim=$d -f "$tmp/D.csv" -smacof_dim $d "${double[@]}"
  start=$tmp/start.csv scaled "dimension $d, single precision, pairs with weights" 1 1e-5 "dim=$d weights=given" -pairs "$tmp/pairs.txt" -smacof_dim $d
done
if [ "$GPUCSR_DEVICE" = cuda ]; then # kernels that only the device has
  for d in 1 2 3 4 5 6 7 8; do
    cut -d, -f1-$d "$tmp/X8.csv" >"$tmp/start.csv"
    start=$tmp/start.csv scaled "dimension $d, mixed arithmetic" 1 1e-5 dim=$d -f "$tmp/D.csv" -smacof_dim $d -smacof_arithmetic mixed
    start=$tmp/start.csv scaled "dimension $d, every row read" 2 1e-10 dim=$d -f "$tmp/D.csv" -smacof_dim $d -smacof_reading rows "${double[@]}"
    start=$tmp/start.csv scaled "dimension $d, matrix-free" 3 1e-10 dim=$d -features "$tmp/F.csv" -smacof_dim $d -matrix_free
    start=$tmp/start.csv scaled "dimension $d, matrix-free, mixed arithmetic" 1 1e-5 dim=$d -features "$tmp/F.csv" -smacof_dim $d -matrix_free -smacof_arithmetic mixed
  done
fi
for n in 1 2; do # -vec_gpu_separate: vectors have separate host and device memory, so that a missing copy changes the result
  scaled "vectors of the device" $n 1e-10 "" -f "$tmp/D.csv" "${double[@]}" -smacof_vec_type gpu -vec_gpu_separate
  scaled "vectors of the device, fixed points, pairs with weights" $n 1e-8 "fixed=1 weights=given" -pairs "$tmp/pairs.txt" -fixed "$tmp/fixed.txt" "${double[@]}" -smacof_vec_type gpu -vec_gpu_separate
done
scaled "names and a heading" 2 1e-10 "" -f "$tmp/names.csv" "${double[@]}"
grep -q '^p47,' "$tmp/map.csv"
verdict "names stay with their points"
scaled "Matrix Market, array" 3 1e-10 "" -f "$tmp/A.mtx" "${double[@]}"
scaled "PETSc's binary format" 2 1e-10 "" -f "$tmp/D.bin" "${double[@]}"
scaled "features, stored" 2 1e-10 "" -features "$tmp/F.csv" "${double[@]}"
scaled "features from LIBSVM" 2 1e-10 "" -features "$tmp/F.libsvm" "${double[@]}"
for metric in manhattan cosine; do scaled "$metric" 2 1e-10 metric=$metric -features "$tmp/F.csv" -metric $metric "${double[@]}"; done
scaled "pairs with weights" 2 1e-8 weights=given -pairs "$tmp/pairs.txt" "${double[@]}"
scaled "pairs with weights, -smacof_mat_type aij" 2 1e-8 weights=given -pairs "$tmp/pairs.txt" -smacof_mat_type aij "${double[@]}"
scaled "pairs, single precision" 1 1e-5 weights=given -pairs "$tmp/pairs.txt"
scaled "Matrix Market, listed pairs" 2 1e-8 weights=listed -f "$tmp/S.mtx" "${double[@]}"
scaled "missing: empty and NA" 2 1e-8 "data=M.csv weights=listed" -f "$tmp/M.csv" "${double[@]}"
scaled "fixed points" 2 1e-8 fixed=1 -f "$tmp/D.csv" -fixed "$tmp/fixed.txt" "${double[@]}"
scaled "fixed points, pairs with weights" 2 1e-8 "fixed=1 weights=given" -pairs "$tmp/pairs.txt" -fixed "$tmp/fixed.txt" "${double[@]}"
scaled "interval" 2 1e-8 kind=interval -f "$tmp/D.csv" -smacof_disparity interval
scaled "spline" 2 1e-8 kind=spline -f "$tmp/D.csv" -smacof_disparity spline
scaled "ordinal, equal stays equal" 2 1e-8 "data=T.csv kind=secondary" -f "$tmp/T.csv" -smacof_disparity ordinal -smacof_ties secondary
scaled "ordinal, pairs with weights" 2 1e-8 "kind=primary weights=given" -pairs "$tmp/pairs.txt" -smacof_disparity ordinal
for n in 1 3; do
  run $n -f "$tmp/D.csv" "${double[@]}" -smacof_start torgerson -smacof_max_it 1 -smacof_acceleration none -smacof_eps 0 -coordinates "$tmp/map.csv"
  $python "$oracle" torgerson "$tmp" "$tmp/map.csv" 1e-5 >>"$tmp/log" 2>&1
  verdict "Torgerson's start, on $n"
  run $n -f "$tmp/D.csv" "${double[@]}" -smacof_eigensolver slepc -smacof_start torgerson -smacof_max_it 1 -smacof_acceleration none -smacof_eps 0 -coordinates "$tmp/map.csv"
  if grep -q 'built without SLEPc' "$tmp/log"; then skip "Torgerson's start by SLEPc, on $n" "this build has no SLEPc"
  else
    $python "$oracle" torgerson "$tmp" "$tmp/map.csv" 1e-5 >>"$tmp/log" 2>&1
    verdict "Torgerson's start by SLEPc, on $n"
  fi
done
if [ "${GPUCSR_SUITE:-full}" = petsc ]; then : # the comparison does not depend on PETSc's release
elif $python -c 'import sklearn' 2>/dev/null; then
  run 1 -f "$tmp/D.csv" "${double[@]}" -start_file "$tmp/X0.csv" -smacof_acceleration none -smacof_eps 0 -smacof_max_it 40 -report "$tmp/report.json" -coordinates "$tmp/map.csv"
  $python "$oracle" sklearn "$tmp" "$tmp/report.json" "$tmp/map.csv" 1e-8 40 >>"$tmp/log" 2>&1
  verdict "scikit-learn finds the same"
  run 1 -f "$tmp/D.csv" -start_file "$tmp/X0.csv" -smacof_acceleration none -smacof_eps 0 -smacof_max_it 40 -report "$tmp/report.json" -coordinates "$tmp/map.csv"
  $python "$oracle" sklearn "$tmp" "$tmp/report.json" "$tmp/map.csv" 1e-5 40 >>"$tmp/log" 2>&1
  verdict "scikit-learn finds the same, single precision"
else skip "scikit-learn finds the same" "$python has no scikit-learn"; fi

# --- streamed dissimilarities: the bits of the ordinary run --------------------------------------------------------------
$python -c "import numpy; numpy.savetxt('$tmp/many.csv', numpy.random.default_rng(5).random((1300, 9)), delimiter=',')"
streams() { # streams NAME RANKS ARGUMENTS
  local name=$1 n=$2 good=1 how
  shift 2
  run "$n" -smacof_stream never -smacof_max_it 9 -coordinates "$tmp/never.csv" "$@"
  for how in "-smacof_stream_resident 0 -smacof_stream_chunk 1" "-smacof_stream_resident 0 -smacof_stream_chunk 5e5 -smacof_stream_buffers 1" "-smacof_stream_resident 2e6 -smacof_stream_chunk 8e5 -smacof_stream_buffers 2" ""; do
    rm -f "$tmp/always.csv"
    # shellcheck disable=SC2086
    run "$n" -smacof_stream always -smacof_max_it 9 -coordinates "$tmp/always.csv" -report "$tmp/report.json" $how "$@"
    [ -s "$tmp/never.csv" ] && cmp "$tmp/never.csv" "$tmp/always.csv" >>"$tmp/log" 2>&1 && [ "$(value streamed)" = True ] && continue
    echo "with $how" >>"$tmp/log"
    good=0
    break
  done
  [ $good = 1 ]
  verdict "streamed, $name, on $n"
}
for n in 1 2 4; do streams "features" $n -features "$tmp/many.csv"; done
streams "every row read" 2 -features "$tmp/many.csv" -smacof_reading rows
streams "three starts" 2 -features "$tmp/many.csv" -smacof_starts 3
streams "a matrix" 2 -f "$tmp/D.csv"
streams "pairs with weights" 2 -pairs "$tmp/pairs.txt" -smacof_start random
if [ "$GPUCSR_DEVICE" = cuda ]; then # kernels that only the device has
  for d in 1 2 3 4 5 6 7 8; do
    for arithmetic in mixed double; do streams "dimension $d, $arithmetic arithmetic" 1 -features "$tmp/many.csv" -smacof_dim $d -smacof_arithmetic $arithmetic -smacof_start random; done
    streams "dimension $d, double precision" 1 -features "$tmp/many.csv" -smacof_dim $d -storage double -smacof_start random
  done
fi
refused "streaming of a wrong size" "expected a number of bytes of at least 1, or -1 for the default" -f "$tmp/D.csv" -smacof_stream_chunk 0
refused "streaming by a wrong name" "-smacof_stream sometimes" -f "$tmp/D.csv" -smacof_stream sometimes

# --- steps, starts, outputs -------------------------------------------------------------------------------------------
its() { # its STEPS: prints the number of iterations
  run 1 -features "$tmp/C.csv" "${double[@]}" -smacof_eps 1e-12 -smacof_max_it 5000 -smacof_acceleration "$1" -report "$tmp/report.json" && value iterations
}
plain=$(its none) && relaxed=$(its relaxed) && anderson=$(its anderson) && echo "plain $plain relaxed $relaxed anderson $anderson" >>"$tmp/log" && [ $((10 * plain)) -ge $((18 * relaxed)) ] && [ $((2 * plain)) -ge $((7 * anderson)) ]
verdict "relaxed steps halve the iterations, extrapolation saves more (plain ${plain:-?}, ${relaxed:-?}, ${anderson:-?})"
run 1 -f "$tmp/D.csv" -smacof_monitor && awk '/stress-1 .*falls by/ { if ($6 + 0 < -1e-9 && $7 + 0 < -1e-9) exit 1; n++ } END { exit n < 5 }' "$tmp/log" && grep -q CONVERGED_STRESS "$tmp/log"
verdict "the monitor, and the reason"
run 2 -f "$tmp/D.csv" "${double[@]}" -smacof_start random -smacof_starts 5 -smacof_seed 3 -report "$tmp/report.json" -coordinates_binary "$tmp/x.bin" -stress_per_point "$tmp/points.csv" &&
  $python - "$tmp" <<'P' >>"$tmp/log" 2>&1
import json, os, re, sys
import numpy as np
t = sys.argv[1]
R = json.load(open(t + "/report.json"))
each = [float(v) for v in re.findall(r"start \d: stress-1 ([0-9.]+)", open(t + "/log").read())]
assert len(each) == 5 and abs(min(each) - R["stress1"]) < 1e-9 and each[R["best_start"]] == min(each)
width = os.environ["GPUCSR_INT_BYTES"]
assert list(np.fromfile(t + "/x.bin", ">i" + width, 4)) == [1211216, 48, 2, -1]
X = np.fromfile(t + "/x.bin", ">f8", offset=4 * int(width)).reshape(48, 2)
D = np.loadtxt(t + "/D.csv", delimiter=",")
d = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
P = np.genfromtxt(t + "/points.csv", delimiter=",", skip_header=1)
assert abs(((D - d) ** 2).sum(1) - P[:, 1]).max() < 1e-4 and abs(P[:, 2].sum() - 100) < 1e-6
assert abs(R["stress_raw"] - ((D - d) ** 2).sum() / 2) < 1e-3 and abs(R["stress_normalised"] - R["stress1"] ** 2) < 1e-15
P
verdict "five starts keep the best; binary coordinates, stress per point, report"

together() { # together NAME ARGUMENTS: starts that share passes over the data give the same bits as separate starts, on 1 and 2 ranks
  local name=$1 n b good=1
  shift
  for n in 1 2; do
    for b in 1 2 8; do run $n "$@" -smacof_start random -smacof_starts 5 -smacof_batch $b -coordinates "$tmp/b$b.csv" && sed '/^dissim/d;/seconds/d;/^SMACOF/d' "$tmp/log" >"$tmp/b$b.log" || good=0; done
    for b in 2 8; do cmp "$tmp/b1.csv" "$tmp/b$b.csv" >>"$tmp/log" 2>&1 && cmp "$tmp/b1.log" "$tmp/b$b.log" >>"$tmp/log" 2>&1 || good=0; done
    [ "$(grep -c '^start [0-4]: stress-1' "$tmp/b8.log")" = 5 ] || good=0
  done
  [ $good = 1 ]
  verdict "starts that share passes give the same bits: $name"
}
together "a matrix" -f "$tmp/D.csv"
together "a matrix, vectors of two memories" -f "$tmp/D.csv" -smacof_vec_type gpu -vec_gpu_separate
together "matrix-free" -features "$tmp/F.csv" -matrix_free
together "pairs with weights" -pairs "$tmp/pairs.txt" -smacof_max_it 30 -smacof_eps 1e-3
together "ordinal" -f "$tmp/T.csv" -smacof_disparity ordinal -smacof_eps 1e-4

head -40 "$tmp/F.csv" >"$tmp/F40.csv"
tail -8 "$tmp/F.csv" >"$tmp/F8.csv"
run 1 -features "$tmp/F40.csv" -coordinates "$tmp/map40.csv" && run 1 -interpolate "$tmp/F8.csv" -features "$tmp/F40.csv" -map_file "$tmp/map40.csv" -smacof_eps 1e-13 -smacof_max_it 20000 -coordinates "$tmp/new1.csv" -map "$tmp/new.svg" &&
  run 3 -interpolate "$tmp/F8.csv" -features "$tmp/F40.csv" -map_file "$tmp/map40.csv" -smacof_eps 1e-13 -smacof_max_it 20000 -coordinates "$tmp/new3.csv" &&
  $python "$oracle" interpolate "$tmp" map40.csv new1.csv >>"$tmp/log" 2>&1 && $python "$oracle" interpolate "$tmp" map40.csv new3.csv >>"$tmp/log" 2>&1
verdict "new points on an existing map, on 1 and 3"
for steps in anderson relaxed; do
  o=(-features "$tmp/C.csv" "${double[@]}" -smacof_eps 1e-12 -smacof_acceleration $steps)
  run 1 "${o[@]}" -coordinates "$tmp/a.csv" && { run 1 "${o[@]}" -smacof_max_it 15 -checkpoint "$tmp/ck" -checkpoint_every 6; [ $? -eq 3 ]; } && run 1 "${o[@]}" -restart "$tmp/ck" -coordinates "$tmp/b.csv" && cmp "$tmp/a.csv" "$tmp/b.csv"
  verdict "a restart gives the same bits, $steps"
done
for n in 1 2; do
  o=(-f "$tmp/D.csv" -smacof_starts 5 -smacof_batch 2)
  run $n "${o[@]}" -coordinates "$tmp/a.csv" -stress_per_point "$tmp/a.points" && run $n "${o[@]}" -checkpoint "$tmp/several" -checkpoint_every 23 && run $n "${o[@]}" -restart "$tmp/several" -coordinates "$tmp/b.csv" -stress_per_point "$tmp/b.points" &&
    cmp "$tmp/a.csv" "$tmp/b.csv" && cmp "$tmp/a.points" "$tmp/b.points" && [ "$(grep -c '^start' "$tmp/log")" -lt 5 ]
  verdict "a restart between several starts, on $n"
done
head -c 3000 "$tmp/several" >"$tmp/half"
export GPUCSR_CAIRO=none # pictures in SVG with texts; tests/app/run_pictures.sh tests the other formats
run 2 -features "$tmp/F.libsvm" -smacof_disparity spline -map "$tmp/map.svg" -shepard "$tmp/shepard.svg" -shepard_data "$tmp/shepard.csv" && $python - "$tmp" <<'P' >>"$tmp/log" 2>&1
import sys
import xml.dom.minidom as xml
import numpy as np
t = sys.argv[1]
markers = lambda f: sum(p.getAttribute("d").count("M") for p in xml.parse(f"{t}/{f}").getElementsByTagName("path"))
D = np.loadtxt(t + "/D.csv", delimiter=",")
assert markers("map.svg") == 48 + 3 and markers("shepard.svg") == 2 * 48 * 47 // 2 + 2 # with those of the legends
S = np.genfromtxt(t + "/shepard.csv", delimiter=",", skip_header=1)
i, j = S[:, 0].astype(int), S[:, 1].astype(int)
assert len(S) == 48 * 47 // 2 and (i > j).all() and abs(D[i, j] - S[:, 2]).max() < 1e-12
o = np.argsort(S[:, 2])
assert (np.diff(S[o, 3]) >= -1e-9).all() and abs((S[:, 3] ** 2).sum() / (S[:, 2] ** 2).sum() - 1) < 1e-9
P
verdict "map and Shepard diagram"
awk 'BEGIN { for (i = 0; i < 48; i++) print (i % 2 ? "odd" : "even") }' >"$tmp/labels"
run 1 -f "$tmp/D.csv" -labels "$tmp/labels" -map "$tmp/map.svg" && grep -q '>even</text>' "$tmp/map.svg" && [ "$(grep '"#d55e00"' "$tmp/map.svg" | grep -o M | wc -l)" = 25 ]
verdict "colours by label"
run 2 -f "$tmp/D.csv" -labels "$tmp/labels" -map "$tmp/map.ppm" -shepard "$tmp/shepard.ppm" && $python - "$tmp" <<'P' >>"$tmp/log" 2>&1
import sys
import numpy as np
def seen(name):
    b = open(sys.argv[1] + "/" + name, "rb").read()
    w, h = (int(n) for n in b.split()[1:3])
    assert b.split()[0] == b"P6" and b.split()[3] == b"255" and w == 600 and h > 300
    colours, count = np.unique(np.frombuffer(b[-3 * w * h:], "u1").reshape(-1, 3), axis=0, return_counts=True)
    return {tuple(int(v) for v in c): int(n) for c, n in zip(colours, count)}
m, s = seen("map.ppm"), seen("shepard.ppm")
assert m[0, 0, 255] > 24 * 20 and m[255, 0, 0] > 24 * 20 and m[255, 255, 255] > 100000 # each label has 24 points of about 50 pixels
assert s[0, 0, 255] > 300 and s[255, 0, 0] > 300
P
verdict "pictures by PetscDraw"
(cd "$tmp" && run 1 -f "$tmp/D.csv" -map draw -map_draw_type image -map_draw_save drawn.ppm -map_draw_save_single_file) && [[ "$(cat "$tmp"/drawn*ppm | head -c 14 | tr '\n' ' ')" =~ ^P6\ 600\ [0-9]{3}\ 255$ ]]
verdict "a picture with the options of PetscDraw"

for steps in none relaxed anderson; do # the start is copied to the device; each iteration copies only the stress back
  run 1 -features "$tmp/C.csv" "${double[@]}" -vec_gpu_separate -smacof_acceleration $steps -smacof_eps 0 -smacof_max_it 30 -report "$tmp/report.json"
  [ $? -eq 3 ] && crossed=$(value bytes_crossed) && echo "crossed $crossed" >>"$tmp/log" && [ "$crossed" -gt 0 ] && [ "$crossed" -le $((16 * $(value points))) ]
  verdict "coordinates stay on the device, $steps (${crossed:-?} bytes in 30 iterations)"
done
run 1 -features "$tmp/C.csv" "${double[@]}" -smacof_vec_type seq -report "$tmp/report.json" && [ "$(value pass)" = host ] && [ "$(value bytes_crossed)" = 0 ]
verdict "-smacof_vec_type seq: everything on the host"

# --- invalid and unusual input ------------------------------------------------------------------------------------------------------
printf '0,1,2\n1,0,-3\n2,-3,0\n' >"$tmp/negative.csv"
printf '0,1,2\n1,0,nan\n2,nan,0\n' >"$tmp/nan.csv"
printf '0,1,2\n1.5,0,3\n2,3,0\n' >"$tmp/asymmetric.csv"
printf '0,1,2\n1,0,3\n' >"$tmp/oblong.csv"
printf '1,1,2\n1,0,3\n2,3,0\n' >"$tmp/diagonal.csv"
printf '0,1,2\n1,0,x\n2,3,0\n' >"$tmp/word.csv"
printf '0,1,2\n1,0\n2,3,0\n' >"$tmp/ragged.csv"
printf '0,1e300\n1e300,0\n' >"$tmp/huge.csv"
printf '0 1 1\n1 2 1\n3 4 2\n' >"$tmp/parts.txt"
printf '0 1 1\n1 2.5 1\n' >"$tmp/half.txt"
printf '0 1 1\n1 2 1\n0 1 2\n' >"$tmp/twice.txt"
printf '0,0\n1,2\n' >"$tmp/zero.csv"
$python - "$tmp" <<'P'
import os, struct, sys

integer = {"4": "i", "8": "q"}[os.environ["GPUCSR_INT_BYTES"]]
for name, a, b in ("nan.bin", float("nan"), float("nan")), ("unlike.bin", 4, 5):
    values = [0, 1, 2, 1, 0, a, 2, b, 0]
    open(sys.argv[1] + "/" + name, "wb").write(struct.pack(f">4{integer}9d", 1211216, 3, 3, -1, *values))
P
printf '0,1,2\n1,0,3\n2,3,0\n' >"$tmp/three.csv"
printf '0,1,0\n1,0,0\n0,0,0\n' >"$tmp/Wparts.csv"
printf '0,1,1\n1,0,-2\n1,-2,0\n' >"$tmp/Wnegative.csv"
printf '0,1,1\n3,0,1\n1,1,0\n' >"$tmp/Wunlike.csv"
printf '0 1 1\n1 0 2\n1 2 1\n' >"$tmp/unlike.txt"
printf '0 1 1 -1\n1 2 1 1\n' >"$tmp/Wnegative.txt"
printf '1,2\n3,\n5,6\n' >"$tmp/gap.csv"
printf '1,2\n3,inf\n5,6\n' >"$tmp/inf.csv"
: >"$tmp/empty.csv"
refused "nan in PETSc's binary format" "The dissimilarity of points 1 and 2 (counted from 0) is nan: it must be finite and not negative" -f "$tmp/nan.bin"
refused "an asymmetric matrix in PETSc's binary format" "-symmetrize takes the mean" -f "$tmp/unlike.bin"
for column in 7 100000000 -5; do
  $python -c "import struct; w = 'i' if $GPUCSR_INT_BYTES == 4 else 'q'; open('$tmp/column.bin', 'wb').write(struct.pack('>13' + w + '6d', 1211216, 3, 3, 6, 2, 2, 2, 1, 2, 0, 2, 0, $column, 1, 1, 1, 1, 1, 1))"
  refused "PETSc's binary format, column $column of 3" "row 2: column index $column " -f "$tmp/column.bin"
done
{ printf '\0\0\0\0'; cat "$tmp/nan.bin"; } >"$tmp/wide.bin" && tail -c +5 "$tmp/nan.bin" >"$tmp/narrow.bin"
if [ "$GPUCSR_INT_BYTES" = 4 ]; then refused "PETSc's binary format, 64-bit indices" "the file was written by a PETSc with 64-bit indices" -f "$tmp/wide.bin"
else refused "PETSc's binary format, 32-bit indices" "the file was written by a PETSc with 32-bit indices" -f "$tmp/narrow.bin"; fi
refused "two orders of a pair" "The dissimilarity of points 0 and 1 (counted from 0) is 1: in the other order it has another value" -pairs "$tmp/unlike.txt"
refused "a negative weight" "The weight of points 1 and 2 (counted from 0) is -2: it must be finite and not negative" -f "$tmp/three.csv" -weights "$tmp/Wnegative.csv"
refused "a negative weight in a list" "The weight of points 0 and 1 (counted from 0) is -1" -pairs "$tmp/Wnegative.txt"
refused "asymmetric weights" "The weight of points 0 and 1 (counted from 0) is 1: in the other order it has another value" -f "$tmp/three.csv" -weights "$tmp/Wunlike.csv"
refused "weights that leave two components" "2 components. Numbers of points: 2 with point 0, 1 with point 2" -f "$tmp/three.csv" -weights "$tmp/Wparts.csv"
refused "a missing feature" "feature 1 of point 1 (counted from 0) is missing" -features "$tmp/gap.csv"
refused "an infinite feature" "inf.csv:2:3: field 2: expected a finite number, at most 1.8e308, got 'inf'" -features "$tmp/inf.csv"
refused "device memory too small for the dissimilarities" "allocating device memory for the dissimilarities (-smacof_stream always streams them from the host; -smacof_vec_type seq runs on the host; with more processes each has fewer): out of device memory on" -f "$tmp/D.csv" -smacof_vec_type gpu -vec_gpu_separate -smacof_stream never -gpucsr_device_memory 4000
refused "an empty file" "empty.csv: the file holds no numbers" -f "$tmp/empty.csv"
refused "a batch of no starts" "-smacof_batch 0: expected an integer of at least 1" -f "$tmp/three.csv" -smacof_batch 0
refused "a history that is too long" "-smacof_anderson_history 21: expected an integer from 1 to 20" -f "$tmp/three.csv" -smacof_anderson_history 21
refused "a negative dissimilarity" "The dissimilarity of points 1 and 2 (counted from 0) is -3: it must be finite and not negative" -f "$tmp/negative.csv"
refused "nan" "nan.csv:2:5: field 3: expected a finite number, or NA or an empty field for a missing value, got 'nan'" -f "$tmp/nan.csv"
refused "an asymmetric matrix" "-symmetrize takes the mean" -f "$tmp/asymmetric.csv"
refused "an oblong matrix" "dissimilarities are a square matrix" -f "$tmp/oblong.csv"
refused "a diagonal that is not 0" "the diagonal must be 0" -f "$tmp/diagonal.csv"
refused "a word instead of a number" "word.csv:2:5: field 3: expected a finite number, got 'x'" -f "$tmp/word.csv"
refused "a short line" "ragged.csv:2: expected 3 fields as in the first line of data, got 2" -f "$tmp/ragged.csv"
refused "a value beyond single precision" "use -storage double" -f "$tmp/huge.csv"
refused "pairs in two components" "2 components. Numbers of points: 3 with point 0, 2 with point 3" -pairs "$tmp/parts.txt"
refused "a point that is no integer" "half.txt:2: expected two points, counted from 0, got 2.5" -pairs "$tmp/half.txt"
refused "a pair named twice" "1 entries occur more than once in the file" -pairs "$tmp/twice.txt"
refused "a zero vector with the cosine metric" "all features of point 0 (counted from 0) are 0" -features "$tmp/zero.csv" -metric cosine
refused "a missing file" "nosuch: No such file or directory" -f "$tmp/nosuch"
refused "no arguments" "nothing to do: give one of -f <matrix>, -pairs <list>, -features <vectors>"
refused "dimension 9" "-smacof_dim 9: expected an integer from 1 to 8" -f "$tmp/D.csv" -smacof_dim 9
refused "Torgerson's start without all pairs" "-smacof_start torgerson needs all pairs with weight 1" -f "$tmp/S.mtx" -smacof_start torgerson
refused "a checkpoint of something else" "a checkpoint of other dissimilarities or other options" -f "$tmp/D.csv" -restart "$tmp/ck"
refused "a truncated checkpoint" "is damaged or truncated" -f "$tmp/D.csv" -restart "$tmp/half"
run 1 -f "$tmp/D.csv" -smacof_starts 2 -checkpoint "$tmp/second" -checkpoint_every 1
refused "a checkpoint of more starts at once" "a checkpoint of 2 starts at once, for which -smacof_batch 1 is too small" -f "$tmp/D.csv" -smacof_starts 5 -smacof_batch 1 -restart "$tmp/second"
refused "a checkpoint of a later start" "a checkpoint of start 1 (counted from 0), for which -smacof_starts 1 is too small" -f "$tmp/D.csv" -restart "$tmp/second"
refused "a report of an interpolation" "-interpolate supports only the outputs" -interpolate "$tmp/F8.csv" -features "$tmp/F40.csv" -map_file "$tmp/map40.csv" -report "$tmp/out/report.json"
refused "too few labels" "48 labels for 3 points" -f "$tmp/asymmetric.csv" -symmetrize -labels "$tmp/labels" -map "$tmp/out/map.svg"
run 1 -f "$tmp/nan.csv" -missing nan -coordinates "$tmp/map.csv" && run 2 -f "$tmp/asymmetric.csv" -symmetrize
verdict "nan as a missing value, the mean of two orders, if options ask for it"
printf '0\n' >"$tmp/one.csv"
for n in 1 2; do run $n -f "$tmp/one.csv" -coordinates "$tmp/map.csv" && [ "$(tail -1 "$tmp/map.csv")" = 0,0,0 ] || false; verdict "one point, on $n"; done
printf '0,1\n1,0\n' >"$tmp/two.csv"
run 3 -f "$tmp/two.csv" -smacof_dim 5 -report "$tmp/report.json" && $python -c "import sys; sys.exit($(value stress1) > 1e-6)"
verdict "more dimensions than points, more ranks than points"
run 2 -f "$tmp/three.csv" -smacof_start random -smacof_dim 6 -smacof_starts 3 -smacof_eps 1e-9 -report "$tmp/report.json" && $python -c "import sys; sys.exit($(value stress1) > 1e-3)"
verdict "more dimensions than points, random starts"
printf '1,2\n1,2\n3,4\n5,5\n1,2\n' >"$tmp/Fsame.csv"
for o in "-matrix_free -smacof_start random" "-smacof_start torgerson"; do
  # shellcheck disable=SC2086
  run 2 -features "$tmp/Fsame.csv" $o -smacof_eps 1e-12 -coordinates "$tmp/map.csv" && $python -c "
import sys, numpy as np
X = np.genfromtxt(sys.argv[1], delimiter=',', skip_header=1)[:, 1:]
sys.exit(int(abs(X[[1, 4]] - X[0]).max() > 1e-3 or abs(np.hypot(*(X[2] - X[0])) - 8**.5) > 1e-3))" "$tmp/map.csv"
  verdict "equal vectors get equal coordinates ($o)"
done
printf '0,0,0\n0,0,0\n0,0,0\n' >"$tmp/same.csv"
run 1 -f "$tmp/same.csv" -report "$tmp/report.json" && awk -v s="$(value stress1)" 'BEGIN { exit !(s >= 0 && s < 1e-149) }' # the CUDA implementation adds 1e-300 to squares of distances
verdict "all points coincide"
printf '0,0,5\n0,0,5\n5,5,0\n' >"$tmp/coincide.csv"
for s in torgerson random; do run 2 -f "$tmp/coincide.csv" -smacof_start $s -smacof_eps 1e-12 -report "$tmp/report.json" && $python -c "import sys; sys.exit($(value stress1) > 1e-3)"; verdict "two points that coincide, $s"; done

# --- tables, names, and inputs that earlier versions mishandled -----------------------------------------------------------------------
$python - "$tmp" <<'P'
import sys
import numpy as np
t = sys.argv[1]
rng = np.random.default_rng(3)
def table(names, quote, corner, D, sep=",", header=True, tri=False):
    q = ('"%s"' if quote else "%s")
    rows = [sep.join((corner if corner is not None else []) + [q % n for n in names])] if header else []
    return "\n".join(rows + [sep.join([q % n] + ["%.17g" % v for v in (d[:k + 1] if tri else d)]) for k, (n, d) in enumerate(zip(names, D))]) + "\n"
X = rng.normal(size=(14, 2))
D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
waves = [434, 445, 465, 472, 490, 504, 537, 555, 584, 600, 610, 628, 651, 674]  # the wavelengths of R's data set ekman; the dissimilarities are others
write = lambda name, text: open(f"{t}/{name}", "w").write(text)
np.savetxt(t + "/plain14.csv", D, delimiter=",", fmt="%.17g")
write("waves.csv", table(waves, True, ['""'], D))
write("waves.txt", table(waves, True, None, D, " "))
write("waves_all.csv", "\n".join(",".join('"%s"' % f.strip('"') for f in line.split(",")) for line in table(waves, True, ['""'], D).splitlines()) + "\n")
write("waves_plain.tsv", table(waves, False, ["wl"], D, "\t"))
write("waves_semi.csv", table(waves, False, [""], D, ";").replace(".", ","))
cities = ["Athens", "Barcelona", "Hook of Holland", "Lyons, \"\"old\"\"", "#1"]
Y = rng.normal(size=(5, 2))
E = np.sqrt(((Y[:, None] - Y[None]) ** 2).sum(-1))
write("cities.csv", table(cities, True, ['""'], E))
write("cities.txt", table(cities, True, None, E, " "))
write("lower.txt", table(cities, True, None, E, " ", header=False, tri=True))
write("dist.txt", " ".join('"%s"' % c for c in cities[:-1]) + "\n" + "".join('"%s" ' % c + " ".join("%.17g" % E[k, j] for j in range(k)) + "\n" for k, c in enumerate(cities) if k))
write("named.pairs", "from,to,km\n" + "".join('"%s","%s",%.17g\n' % (cities[j], cities[i], E[i, j]) for i in range(5) for j in range(i)))
np.savetxt(t + "/plain5.csv", E, delimiter=",", fmt="%.17g")
write("cities.fixed", '"Hook of Holland",0.5,0.25\n"#1",1.5,0.75\n')
np.savetxt(t + "/plain5.fixed", [[2, .5, .25], [4, 1.5, .75]], delimiter=",", fmt="%g")
write("people.csv", "person,height,weight\nAnn,1,2\nBob,2,4\nCy,3,1\nDee,0,0\n")
P
same() { # same NAME POINTS LIKE FILE...: each file gives the same map as LIKE, on 1 and 3 ranks
  local name=$1 points=$2 like=$3 f n
  shift 3
  run 1 -f "$tmp/$like" -storage double -coordinates "$tmp/like.csv" || { verdict "$name"; return; }
  for f in "$@"; do
    for n in 1 3; do
      local input=(-f "$tmp/$f")
      case $f in *.pairs) input=(-pairs "$tmp/$f" -start_file "$tmp/like0.csv") ;; esac
      run $n "${input[@]}" -storage double -coordinates "$tmp/map.csv" -report "$tmp/report.json" && [ "$(value points)" = "$points" ] && [ "$(grep -c "$f: .* rows, .* columns" "$tmp/log")" = 1 ] &&
        $python - "$tmp" >>"$tmp/log" 2>&1 <<'P' || { verdict "$name: $f, on $n"; return; }
import csv, json, sys
import numpy as np
t = sys.argv[1]
rows = list(csv.reader(open(t + "/map.csv")))[1:]
like = np.genfromtxt(t + "/like.csv", delimiter=",", skip_header=1)[:, 1:]
assert json.load(open(t + "/report.json"))["names"] == [r[0] for r in rows], rows
assert rows[0][0] in ("434", "Athens") and rows[2][0] in ("465", "Hook of Holland") and rows[-1][0] in ("674", "#1"), rows
X = np.array([[float(v) for v in r[1:]] for r in rows])
d = lambda X: np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
assert abs(d(X) - d(like)).max() < (1e-3 if len(sys.argv) > 2 else 1e-8), abs(d(X) - d(like)).max()
P
    done
  done
  true
  verdict "$name"
}
same "wavelengths as quoted headings and names" 14 plain14.csv waves.csv waves.txt waves_all.csv waves_plain.tsv waves_semi.csv
same "names with blanks, commas and quotes; triangles" 5 plain5.csv cities.csv cities.txt lower.txt dist.txt
cut -d, -f2- "$tmp/like.csv" | tail -n +2 >"$tmp/like0.csv"
same "pairs of names" 5 plain5.csv named.pairs
for n in 1 2; do # a file of -coordinates is read again, with its rows in any order
  run $n -f "$tmp/cities.csv" -coordinates "$tmp/a.csv" -stress_per_point "$tmp/a.points" && { head -1 "$tmp/a.csv"; tail -n +2 "$tmp/a.csv" | sort; } >"$tmp/sorted.csv" && ! cmp -s "$tmp/a.csv" "$tmp/sorted.csv" &&
    run $n -f "$tmp/cities.csv" -start_file "$tmp/sorted.csv" -smacof_max_it 0 -smacof_eps 0 -smacof_acceleration none -coordinates "$tmp/b.csv" && false || { [ $? -le 3 ] && $python - "$tmp" >>"$tmp/log" 2>&1 <<'P'
import csv, sys
t = sys.argv[1]
a, b, p = (list(csv.reader(open(f"{t}/{f}")))[1:] for f in ("a.csv", "b.csv", "a.points"))
assert [r[0] for r in a] == [r[0] for r in b] == [r[0] for r in p] == ["Athens", "Barcelona", "Hook of Holland", 'Lyons, "old"', "#1"], (a, b, p)
assert all(abs(float(u) - float(v)) < 1e-6 for r, s in zip(a, b) for u, v in zip(r[1:], s[1:])), (a, b)
P
  }
  verdict "-coordinates is read by -start_file, by name, on $n"
done
for n in 1 2; do
  run $n -f "$tmp/cities.csv" -fixed "$tmp/cities.fixed" -storage double -coordinates "$tmp/a.csv" && run $n -f "$tmp/plain5.csv" -fixed "$tmp/plain5.fixed" -storage double -coordinates "$tmp/b.csv" && grep -q '^"Hook of Holland",0.5,0.25$' "$tmp/a.csv" && sed 's/^.*,\([^,]*,[^,]*\)$/\1/' "$tmp/a.csv" | cmp - <(sed 's/^.*,\([^,]*,[^,]*\)$/\1/' "$tmp/b.csv") >>"$tmp/log" 2>&1
  verdict "fixed points by name, on $n"
done
run 1 -features "$tmp/people.csv" -report "$tmp/report.json" -coordinates "$tmp/a.csv" && grep -q '4 rows, 2 columns, headings, row names, separated by commas' "$tmp/log" && [ "$(value names)" = "['Ann', 'Bob', 'Cy', 'Dee']" ] && [ "$(value features)" = "['height', 'weight']" ]
verdict "names of points and features in the report"
run 1 -interpolate "$tmp/people.csv" -features "$tmp/people.csv" -map_file "$tmp/a.csv" -coordinates "$tmp/b.csv" && grep -q '^Dee,' "$tmp/b.csv"
verdict "names of new points"
printf '0,1\n1,0\n' >"$tmp/d2.csv"
labels() { # labels NAME TEXT TEXTS: the labels of the picture, read by an XML parser
  printf "$2" >"$tmp/some.lab"
  run 1 -f "$tmp/d2.csv" -labels "$tmp/some.lab" -map "$tmp/map.svg" && $python -c "import sys, xml.dom.minidom as x; sys.exit(not set(eval(sys.argv[2])) <= {t.firstChild.data for t in x.parse(sys.argv[1]).getElementsByTagName('text')})" "$tmp/map.svg" "$3" >>"$tmp/log" 2>&1
  verdict "labels: $1"
}
labels "a control character" 'a\001b\nc\n' "['a\ufffdb', 'c']"
labels "a byte of Latin-1" 'a\377b\nc\n' "['a\ufffdb', 'c']"
labels "markup" '<script>alert(1)</script>\n"&x\n' "['<script>alert(1)</script>', '\"&x']"
labels "UTF-8 and half of it" 'Z\303\274rich \342\202\nHook of Holland\n' "['Z\xfcrich \ufffd\ufffd', 'Hook of Holland']"
for disparity in interval spline ordinal; do
  run 3 -f "$tmp/d2.csv" -smacof_disparity $disparity -report "$tmp/report.json" && [ "$(value stress1)" = 0 ] || [ "$($python -c "print($(value stress1) < 1e-6)")" = True ]
  verdict "more ranks than points, $disparity"
done
printf '0,1:1.0000,2:0.0000\n1,1:0.5403,2:0.9093\n0,1:,2:-0.5366\n' >"$tmp/comma.libsvm"
for o in -features -f -labels -pairs; do
  input=(-f "$tmp/d2.csv")
  [ $o = -labels ] || input=()
  refused "LIBSVM with commas, $o" "expected a finite number, got '" "${input[@]}" $o "$tmp/comma.libsvm"
done
printf '0,0\n1,0\n0,1\n' >"$tmp/r8_f.csv"
printf 'point,x1,x2\n0,0,0\n1,1,0\n2,0,1\n' >"$tmp/r8_map.csv"
printf '1e155,0\n' >"$tmp/r8_nf.csv"
printf '1e155,1,1\n' >"$tmp/r8_new.csv"
printf '0,1e200,1\n1e200,0,1\n1,1,0\n' >"$tmp/vast.csv"
printf '0,1e-200\n1e-200,0\n' >"$tmp/minute.csv"
printf '"","a","b"\n"p",1,2\n"q",2,1\n' >"$tmp/ab.csv"
printf '"","b","a"\n"n",1,2\n' >"$tmp/ba.csv"
printf '"","D1","D2"\n"p",0,0\n"q",1,1\n' >"$tmp/abmap.csv"
refused "features in another order" "ba.csv: feature 1 (counted from 1) has the heading 'b', but 'a' in $tmp/ab.csv" -interpolate "$tmp/ba.csv" -features "$tmp/ab.csv" -map_file "$tmp/abmap.csv"
refused "a start file for random starts" "-start_file cannot be combined with -smacof_start random" -f "$tmp/d2.csv" -start_file "$tmp/abmap.csv" -smacof_start random
refused "new points too far away" "r8_nf.csv: the stress of new point 0 (counted from 0) is beyond the range" -interpolate "$tmp/r8_nf.csv" -features "$tmp/r8_f.csv" -map_file "$tmp/r8_map.csv"
refused "new dissimilarities too large" "r8_new.csv: the stress of new point 0 (counted from 0) is beyond the range" -interpolate "$tmp/r8_new.csv" -map_file "$tmp/r8_map.csv"
refused "squares too large" "vast.csv: the sum of the squares of the dissimilarities, of which the largest is 1e+200, is beyond the range" -f "$tmp/vast.csv" -storage double
refused "squares too small" "minute.csv: the sum of the squares of the dissimilarities, of which the largest is 1e-200, is beyond the range" -f "$tmp/minute.csv" -storage double
refused "distances too large" "the sum of the squares of the distances is beyond the range of double precision" -features "$tmp/r8_nf.csv" -features "$tmp/vast.csv" -storage double
printf '0 1 1\n\n0 2147483645 1\n' >"$tmp/far.pairs"
printf '%%%%MatrixMarket matrix coordinate real general\n2147483646 2147483646 1\n1 2 1\n' >"$tmp/far.mtx"
printf '+1 1:1\n-1 2147483646:1\n' >"$tmp/far.libsvm"
refused "a point far away" "far.pairs:3: 2147483646 points (each vector of coordinates takes at least 34.4 GB" -pairs "$tmp/far.pairs"
refused "a header far too large" "far.mtx:2: 2147483646 rows and 2147483646 columns in a file of 76 bytes" -f "$tmp/far.mtx"
refused "a feature far away" "far.libsvm:2: with feature 2147483646, 2 dense vectors take 34.4 GB" -features "$tmp/far.libsvm"
refused "very many knots" "-smacof_spline_knots 2147483647: expected an integer from 0 to 22" -f "$tmp/d2.csv" -smacof_disparity spline -smacof_spline_knots 2147483647
printf 'city,A,B\nA,0,1\nC,1,0\n' >"$tmp/AC.csv"
printf 'city,B,A\nA,0,1\nB,1,0\n' >"$tmp/swapped.csv"
printf 'city,C,A\nC,0,1\nA,1,0\n' >"$tmp/AB.map.weights"
printf 'point,x,y\nA,0,0\nB,1,1\n' >"$tmp/AB.map"
refused "columns in another order than rows" "swapped.csv: column 1 has the heading of row 2" -f "$tmp/swapped.csv"
refused "weights in another order" "AB.map.weights: row 1 (counted from 1) is named 'C', but 'A' in the dissimilarities: write both in the same order" -f "$tmp/AC.csv" -weights "$tmp/AB.map.weights"
refused "coordinates of another point" "AB.map:3: no point, or more than one, has this name" -f "$tmp/AC.csv" -start_file "$tmp/AB.map"
refused "a fixed point by a name that no point has" "AB.map:3: no point, or more than one, has this name" -f "$tmp/AC.csv" -fixed "$tmp/AB.map"
run 1 -f "$tmp/AC.csv" -table_names no -table_header no
[ $? -eq 4 ] && grep -q "AC.csv:1:1: field 1: expected a finite number, got 'city'" "$tmp/log"
verdict "-table_header, -table_names"
exit 0
