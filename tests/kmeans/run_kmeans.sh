#!/usr/bin/env bash
# The program kmeans as users meet it, beside numpy and scikit-learn; what it refuses.  Prints TAP.
set -u
. "$(dirname "$0")/common.sh" "$(dirname "$0")/oracle.py"
ranks=1
refused() { # refused NAME CODE MESSAGE ARGUMENTS: one line with the words, the exit code, nothing left behind; on 1 and 2 ranks by turns
  local name=$1 code=$2 message=$3 rc
  shift 3
  ranks=$((3 - ranks))
  rm -rf "$tmp/out" && mkdir "$tmp/out"
  run $ranks -labels "$tmp/out/labels" "$@"
  rc=$?
  echo "on $ranks: code $rc, expected $code; left behind: $(ls "$tmp/out")" >>"$tmp/log"
  [ $rc -eq "$code" ] && grep -qF -- "$message" "$tmp/log" && [ "$(grep -c '^kmeans: ' "$tmp/log")" -eq 1 ] && ! grep -q 'PETSC ERROR' "$tmp/log" && [ -z "$(ls "$tmp/out")" ]
  verdict "$name"
}

compare data "$tmp" || { not_ok "the data are made" "$tmp/log"; exit 1; }
out=(-report "$tmp/report.json" -labels "$tmp/labels.csv" -centroids "$tmp/centroids.csv")
given=(-start_file "$tmp/start.csv" -kmeans_clusters 6)

# --- formats, ranks and algorithms ------------------------------------------------------------------------------------------
gzip -k "$tmp/points.idx" "$tmp/points.minebench"
for format in csv petsc mtx idx minebench idx.gz minebench.gz; do
  run 1 -f "$tmp/points.$format" "${given[@]}" "${out[@]}" && compare lloyd "$tmp"/{points.csv,start.csv,report.json,labels.csv,centroids.csv}
  verdict "points as $format beside numpy"
done
assigns=(brute hamerly yinyang elkan direct tiled)
[ "$GPUCSR_DEVICE" = host ] || assigns+=(tensor) # on the host it is tiled
for assign in "${assigns[@]}" localcolumns; do
  run 2 -f "$tmp/points.csv" -weights "$tmp/weights.txt" -kmeans_empty keep -kmeans_assign $assign "${given[@]}" "${out[@]}" &&
    compare lloyd "$tmp"/{points.csv,start.csv,report.json,labels.csv,centroids.csv,weights.txt}
  verdict "weights and $assign on two ranks beside numpy"
done
for metric in euclidean cosine; do
  good=1
  for case in 1.fixed 4.fixed 1.changed 2.changed; do
    run ${case%.*} -f "$tmp/points.mtx" -kmeans_metric $metric -kmeans_assign sparse -kmeans_update ${case#*.} -kmeans_clusters 37 -kmeans_restarts 2 \
      -labels "$tmp/labels.$case" -centroids "$tmp/centroids.$case" || good=0
    cmp "$tmp/labels.1.fixed" "$tmp/labels.$case" >>"$tmp/log" 2>&1 && cmp "$tmp/centroids.1.fixed" "$tmp/centroids.$case" >>"$tmp/log" 2>&1 || good=0
  done
  [ $good = 1 ] && compare sparse "$tmp/points.csv" $metric "$tmp"/{labels,centroids}.1.fixed
  verdict "sparse points, $metric: numpy's labels, and the same bytes with fixed and changed on 1, 2 and 4 ranks"
done
for start in random kmeans++ parallel; do
  good=1 n=4 first=
  for assign in auto "${assigns[@]}"; do
    n=$((n == 4 ? 1 : 2 * n))
    run $n -f "$tmp/points.csv" -kmeans_start $start -kmeans_clusters 9 -kmeans_restarts 3 -kmeans_seed 5 -kmeans_assign "$assign" -labels "$tmp/labels.$assign" -centroids "$tmp/centroids.$assign" -report "$tmp/report.$assign" || good=0
    : "${first:=$assign}"
    cmp "$tmp/labels.$first" "$tmp/labels.$assign" >>"$tmp/log" 2>&1 && cmp "$tmp/centroids.$first" "$tmp/centroids.$assign" >>"$tmp/log" 2>&1 || good=0
    [ "$(grep inertia "$tmp/report.$first")" = "$(grep inertia "$tmp/report.$assign")" ] && [ $good = 1 ] || { good=0; break; }
  done
  [ $good = 1 ] && compare fixedpoint "$tmp/points.csv" "$tmp"/{report,labels,centroids}.$first
  verdict "start $start: labels, centroids and inertia beside numpy, the same bytes by every assignment, on 1, 2 and 4 ranks by turns"
done
run 2 -generate 500,2 -kmeans_start parallel -kmeans_reduce mpi -kmeans_view && [ "$(grep -c 'KMeans Object' "$tmp/log")" = 1 ] && grep -q 'sums over 2 ranks by mpi: the setting of -kmeans_reduce' "$tmp/log"
verdict "-kmeans_view shows one solver, and how the ranks add their sums"

# --- points in host memory ---------------------------------------------------------------------------------------------------
for metric in euclidean cosine; do
  good=1
  for n in 1 2 4; do
    for stream in never "always -kmeans_stream_chunk 16384" "always -kmeans_stream_chunk 3000 -kmeans_stream_resident 9000 -kmeans_stream_buffers 2 -kmeans_stream_threads 2"; do
      run $n -generate 9000,3 -kmeans_metric $metric -kmeans_clusters 9 -kmeans_max_it 9 -kmeans_stream $stream -labels "$tmp/labels.now" -centroids "$tmp/centroids.now" -report "$tmp/report.now" -kmeans_view || [ $? -eq 3 ] || good=0
      [ "$n $stream" = "1 never" ] && for result in labels centroids report; do cp "$tmp/$result.now" "$tmp/$result.first"; done
      for result in labels centroids; do cmp "$tmp/$result.first" "$tmp/$result.now" >>"$tmp/log" 2>&1 || good=0; done
      [ "$(grep inertia "$tmp/report.first")" = "$(grep inertia "$tmp/report.now")" ] || good=0
      if [ "$stream" = never ]; then grep -q '"stream": null' "$tmp/report.now"; else grep -q 'streamed from host memory: [1-9]' "$tmp/log" && grep -q '"stream": {"blocks": [1-9]' "$tmp/report.now"; fi || good=0
    done
  done
  [ $good = 1 ]
  verdict "streamed points, $metric: the same bytes on 1, 2 and 4 ranks"
done

# --- checkpoints: the bytes of a run without interruption, on other numbers of ranks ------------------------------------------
resumed=4
continues() { # continues NAME ARGUMENTS: the first run stops after 7 iterations on 2 ranks, or has left a checkpoint already; the second runs on 1, 2 and 4 ranks by turns
  local name=$1 good=1
  shift
  resumed=$((resumed == 4 ? 1 : 2 * resumed))
  rm -f "$tmp"/{labels,centroids,report}.[12]
  run 1 "$@" -labels "$tmp/labels.1" -centroids "$tmp/centroids.1" -report "$tmp/report.1"
  [ -s "$tmp/checkpoint" ] || run $((resumed == 2 ? 3 : 2)) "$@" -kmeans_max_it 7 -kmeans_checkpoint "$tmp/checkpoint"
  run $resumed "$@" -kmeans_restart "$tmp/checkpoint" -labels "$tmp/labels.2" -centroids "$tmp/centroids.2" -report "$tmp/report.2"
  for result in labels centroids; do cmp "$tmp/$result.1" "$tmp/$result.2" >>"$tmp/log" 2>&1 || good=0; done
  diff <(grep -E 'inertia|iterations|reason' "$tmp/report.1") <(grep -E 'inertia|iterations|reason' "$tmp/report.2") >>"$tmp/log" || good=0
  [ $good = 1 ]
  verdict "$name, continued on $resumed"
  rm -f "$tmp/checkpoint"
}
for start in random kmeans++ parallel; do
  continues "a checkpoint after 7 of 20 iterations, start $start" -generate 2000,2 -kmeans_clusters 12 -kmeans_start $start -kmeans_max_it 20
done
run 2 -generate 4000,3 -kmeans_clusters 12 -kmeans_max_it 7 -kmeans_stream always -kmeans_stream_chunk 16384 -kmeans_checkpoint "$tmp/checkpoint"
continues "a checkpoint of streamed points" -generate 4000,3 -kmeans_clusters 12 -kmeans_max_it 20
restarts=3
[ "${GPUCSR_DEVICE:-host}" = cuda ] && restarts=100 # a GPU would end before the signal
"$program" "${device[@]}" -generate 20000,4 -kmeans_clusters 40 -kmeans_restarts $restarts -kmeans_max_it 30 -kmeans_assign brute -kmeans_checkpoint "$tmp/checkpoint" -kmeans_checkpoint_every 7 >"$tmp/log" 2>&1 &
victim=$!
for _ in $(seq 200); do
  [ -s "$tmp/checkpoint" ] && break
  sleep 0.05
done
kill -TERM $victim
wait $victim
[ $? -eq 143 ] && [ -z "$(find "$tmp" -name '*.part')" ] && continues "a checkpoint of a run that a signal ended" -generate 20000,4 -kmeans_clusters 40 -kmeans_restarts $restarts -kmeans_max_it 30 || not_ok "a signal ends a run" "$tmp/log"
run 1 -f "$tmp/points.csv" -kmeans_clusters 9 -kmeans_max_it 2 -kmeans_checkpoint "$tmp/foreign"
# --- mini-batches -----------------------------------------------------------------------------------------------------------
for n in 1 2; do
  run $n -f "$tmp/points.csv" -weights "$tmp/weights.txt" -kmeans_batch 48 -kmeans_max_it 30 -kmeans_empty keep "${given[@]}" "${out[@]}"
  [ $? -eq 3 ] && compare batch 48 30 "$tmp"/{points.csv,start.csv,report.json,labels.csv,centroids.csv,weights.txt}
  verdict "batches on $n ranks beside numpy"
done
for format in csv mtx; do
  good=1
  for n in 1 $([ $format = csv ] && echo 2) 4; do
    run $n -f "$tmp/points.$format" -kmeans_batch 50 -kmeans_rtol 1e-4 -kmeans_clusters 9 -kmeans_restarts 2 -kmeans_seed 5 -labels "$tmp/labels.$n" -centroids "$tmp/centroids.$n" -report "$tmp/report.json" || good=0
    grep -q CONVERGED_INERTIA "$tmp/report.json" || good=0
    for result in labels centroids; do cmp "$tmp/$result.1" "$tmp/$result.$n" >>"$tmp/log" 2>&1 || good=0; done
  done
  [ $good = 1 ]
  verdict "batches of $format: the same bytes on several numbers of ranks"
done
run 1 -f "$tmp/points.csv" -kmeans_batch 50 -kmeans_rtol 1e-4 -kmeans_clusters 9 -kmeans_seed 5 -labels "$tmp/labels.1" && run 2 -f "$tmp/points.csv" -kmeans_batch 50 -kmeans_rtol 1e-4 -kmeans_clusters 9 -kmeans_seed 5 -kmeans_assign columns -labels "$tmp/labels.2" && cmp "$tmp/labels.1" "$tmp/labels.2" >>"$tmp/log" 2>&1
verdict "batches of points by columns: the same labels"
continues "a checkpoint of batches" -generate 3000,2 -kmeans_clusters 12 -kmeans_batch 700 -kmeans_max_it 20
choices=("direct:-generate 50,32" "tiled:-generate 50,33")
if [ "$GPUCSR_DEVICE" = host ]; then choices+=("sparse:-f $tmp/points.mtx" "yinyang:-generate 50,3 -kmeans_metric cosine" "elkan:-generate 50,33 -kmeans_metric cosine"); else choices+=("tensor:-generate 500,33 -kmeans_clusters 64" "cells:-generate 500000,2 -kmeans_clusters 10"); fi
good=1
for case in "${choices[@]}"; do
  # shellcheck disable=SC2086 # several words
  run 1 -kmeans_clusters 3 ${case#*:} -kmeans_view && grep -q "assignment ${case%%:*}:" "$tmp/log" && grep -q 'chosen because' "$tmp/log" || good=0
done
[ $good = 1 ]
verdict "the assignment that auto chooses"
run 1 -f "$tmp/points.csv" -columns 0,2-3 -kmeans_clusters 2 -centroids "$tmp/centroids.csv" && head -1 "$tmp/centroids.csv" | grep -qx 'x0,x1,x2'
verdict "three of five columns"
run 2 -generate 500,3 -kmeans_clusters 4 -kmeans_max_it 1 -labels "$tmp/labels.csv"
[ $? -eq 3 ] && [ "$(wc -l <"$tmp/labels.csv")" = 501 ]
verdict "generated points; one iteration ends with code 3 and results"
color=$ROOT/../shared/data/kmeans/color17695.bin.xz
if [ -f "$color" ]; then
  run 1 -f "$color" -kmeans_clusters 20 -kmeans_assign yinyang "${out[@]}" && grep -q '"points": 17695' "$tmp/report.json"
  verdict "color17695"
  run 1 -f "$color" -kmeans_clusters 20 -kmeans_max_it 1 -centroids "$tmp/first.csv"
  xz -dc "$color" >"$tmp/color"
  from=(-f "$color" -kmeans_clusters 20 -start_file "$tmp/first.csv" -report)
  run 1 "${from[@]}" "$tmp/lloyd.json" && for seed in 1 2 3; do run 1 "${from[@]}" "$tmp/batch.$seed.json" -kmeans_batch 1000 -kmeans_seed $seed; done
  if compare have sklearn; then
    compare minibatch "$tmp/color" "$tmp"/{first.csv,lloyd.json,batch.{1,2,3}.json}
    verdict "batches of color17695 beside scikit-learn"
  fi
else
  skip "color17695" "$color is missing"
fi
if compare have sklearn; then
  run 1 -f "$tmp/points.csv" "${given[@]}" -report "$tmp/report.json" && compare sklearn "$tmp"/{points.csv,start.csv,report.json}
  verdict "inertia beside scikit-learn"
else
  skip "inertia beside scikit-learn" "$python has no scikit-learn"
fi

# --- other results ----------------------------------------------------------------------------------------------------------
run 2 -f "$tmp/points.csv" -kmeans_clusters 7 -kmeans_restarts 3 -report "$tmp/report.json" && compare report "$tmp/report.json"
verdict "the report has all fields"
if compare have sklearn; then
  for case in csv,euclidean,400,1+3 csv,cosine,90,3 mtx,euclidean,90,1 mtx,cosine,1000,1+3; do
    IFS=, read -r format metric m on <<<"$case"
    good=1
    for n in ${on/+/ }; do
      run $n -f "$tmp/points.$format" -kmeans_clusters 5 -kmeans_metric "$metric" -silhouette "$m" -labels "$tmp/labels.csv" -report "$tmp/report.$n" &&
        compare silhouette "$tmp"/{points.csv,labels.csv} "$tmp/report.$n" "$metric" "$m" && [ "$(grep silhouette "$tmp/report.${on%+3}")" = "$(grep silhouette "$tmp/report.$n")" ] || good=0
    done
    [ $good = 1 ]
    verdict "silhouette of $m points, $metric, $format: scikit-learn's on ${on/+/ and } ranks, with the same bits"
  done
else
  skip "silhouette beside scikit-learn" "$python has no scikit-learn"
fi
export GPUCSR_CAIRO=none # pictures in SVG with texts; tests/app/run_pictures.sh tests the other formats
run 1 -generate 50,2 -kmeans_clusters 1 -silhouette 10 -report "$tmp/report.json" -picture "$tmp/one.svg" && grep -q 'silhouette undefined' "$tmp/log" && grep -q '"silhouette": null' "$tmp/report.json" && grep -q '>50 points in 1 cluster<' "$tmp/one.svg"
verdict "one cluster has no silhouette"
for n in 1 3; do run $n -f "$tmp/points.csv" -weights "$tmp/weights.txt" -kmeans_clusters 6 -picture "$tmp/picture$n.svg"; done
compare axes "$tmp"/{points.csv,weights.txt,picture1.svg} && cmp "$tmp/picture1.svg" "$tmp/picture3.svg"
verdict "picture: principal axes beside numpy, the same bytes on 1 and 3 ranks"
(echo "one,two,three & four,five,six" && cat "$tmp/points.csv") >"$tmp/heads.csv"
run 2 -f "$tmp/heads.csv" -columns 0,2-3 -kmeans_clusters 12 -picture_columns 2,1 -picture "$tmp/heads.svg" -centroids "$tmp/heads.out" && grep -q '>five<' "$tmp/heads.svg" && grep -q '>three &amp; four<' "$tmp/heads.svg" && head -1 "$tmp/heads.out" | grep -qx 'one,"three & four",five' &&
  run 1 -f "$tmp/heads.csv" -columns 4 -kmeans_clusters 2 -picture "$tmp/heads.ppm" && [ "$(wc -c <"$tmp/heads.ppm")" -gt 300000 ]
verdict "picture of two columns with headings, and of one column by PetscDraw"
binary=(-labels "$tmp/labels.csv" -labels_binary "$tmp/labels.petsc" -centroids "$tmp/centroids.csv" -centroids_binary "$tmp/centroids.petsc")
run 2 -f "$tmp/points.csv" -kmeans_clusters 7 "${binary[@]}" && compare binary "$tmp"/{labels.csv,labels.petsc,centroids.csv,centroids.petsc}
verdict "labels and centroids in PETSc's binary format"
good=1
for n in 1 2; do
  run $n -start_file "$tmp/centroids.petsc" -predict "$tmp/points.csv" -predictions "$tmp/out.csv" && cmp "$tmp/labels.csv" "$tmp/out.csv" || good=0
  run $n -f "$tmp/points.csv" -kmeans_clusters 7 -start_file "$tmp/centroids.$([ $n = 1 ] && echo csv || echo petsc)" -labels "$tmp/labels.$n" -report "$tmp/report.json" &&
    cmp "$tmp/labels.csv" "$tmp/labels.$n" && grep -q '"iterations": 2' "$tmp/report.json" || good=0
done
[ $good = 1 ]
verdict "centroids as text and binary start a run again, and predict without one"
head -150 "$tmp/points.csv" >"$tmp/first.csv"
run 2 -f "$tmp/first.csv" -kmeans_clusters 5 -centroids "$tmp/centroids.csv" -predict "$tmp/points.csv" -predictions "$tmp/out.csv" && compare predict "$tmp"/{points.csv,centroids.csv,out.csv}
verdict "new points beside numpy"

run 2 -f "$tmp/points.csv" -kmeans_clusters 5 -kmeans_monitor && grep -q '^   1 KMeans inertia [0-9.]* changed labels 400$' "$tmp/log" && grep -q 'changed labels 0$' "$tmp/log" &&
  (cd "$tmp" && run 2 -f points.csv -kmeans_clusters 5 -kmeans_monitor draw -draw_type image -draw_save monitor.ppm -draw_save_single_file) && [ "$(cat "$tmp"/monitor*ppm | head -c 2)" = P6 ] # some releases of PETSc write monitor..ppm
verdict "the monitor prints lines and plots"

# --- what is refused --------------------------------------------------------------------------------------------------------
printf '1,2\n3,\n5,6\n' >"$tmp/missing.csv"
printf '1,2\n3,4,5\n5,6\n' >"$tmp/ragged.csv"
printf '1,2\n0,0\n5,6\n' >"$tmp/zero.csv"
printf '1,2\n1,2\n3,4\n1,2\n' >"$tmp/twice.csv"
printf '1,2\n2,2\n3,4\n' >"$tmp/line.csv"
printf '1\n-1\n1\n1\n' >"$tmp/negative.txt"
printf '0\n0\n0\n0\n' >"$tmp/zeros.txt"
printf '1e200,1\n2,3\n4,5\n' >"$tmp/huge.csv"
head -c 500 "$tmp/points.minebench" >"$tmp/short.minebench"
head -c 500 "$tmp/points.idx" >"$tmp/short.idx"
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real general\n20000 60000 20000"; for (i = 1; i <= 20000; i++) print i, 3 * i, 1 + i % 7 }' >"$tmp/wide.mtx"
printf '1\ninf\n1\n1\n' >"$tmp/inf.txt"
printf '1\nnan\n1\n1\n' >"$tmp/nan.txt"
printf '1,2\n3,4\n5,nan\n' >"$tmp/nan.csv"
printf '1,2\n3,inf\n5,6\n' >"$tmp/inf.csv"
refused "sums beyond 32 bits" 2 "20000 clusters with 60000 features need 2.4e+09 sums" -f "$tmp/wide.mtx" -kmeans_clusters 20000
refused "NaN in a table" 4 "nan.csv:3: the value in column 1 (counted from 0) is missing or NaN; fill it in, or remove the row, or select other columns by -columns" -f "$tmp/nan.csv" -kmeans_clusters 2
refused "an infinite value in a table" 4 "inf.csv:2:" -f "$tmp/inf.csv" -kmeans_clusters 2
refused "infinite weights" 4 "inf.txt:2:" -f "$tmp/twice.csv" -weights "$tmp/inf.txt" -kmeans_clusters 2
refused "NaN in the weights" 4 "nan.txt:2:" -f "$tmp/twice.csv" -weights "$tmp/nan.txt" -kmeans_clusters 2
refused "more clusters than points" 2 "500 clusters of 400 points" -f "$tmp/points.csv" -kmeans_clusters 500
refused "dense points for the assignment sparse" 2 "the points are a dense matrix" -f "$tmp/points.csv" -kmeans_assign sparse
refused "no clusters" 2 "-kmeans_clusters" -f "$tmp/points.csv" -kmeans_clusters 0
refused "a negative number of clusters" 2 "-kmeans_clusters -3: expected an integer of at least 1" -f "$tmp/points.csv" -kmeans_clusters -3
refused "a batch without restarts" 2 "-kmeans_restart_batch 0: expected auto, or a number of at least 1" -f "$tmp/points.csv" -kmeans_clusters 3 -kmeans_restart_batch 0
streamed=(-generate 500,3 -kmeans_clusters 3 -kmeans_stream always)
refused "streamed points and columns" 2 "-kmeans_assign columns: the points are streamed from host memory" "${streamed[@]}" -kmeans_assign columns
refused "streamed points and the update rank" 2 "-kmeans_update rank: the points are streamed from host memory" "${streamed[@]}" -kmeans_update rank
refused "streamed points and mini-batches" 2 "-kmeans_batch 100: the points are streamed from host memory" "${streamed[@]}" -kmeans_batch 100
refused "sparse points that shall be streamed" 2 "-kmeans_stream always: the points are sparse" -f "$tmp/points.mtx" -kmeans_clusters 3 -kmeans_stream always
refused "blocks without bytes" 2 "-kmeans_stream_chunk 0: expected a number of bytes" "${streamed[@]}" -kmeans_stream_chunk 0
refused "no points" 2 "nothing to do" -kmeans_clusters 3
refused "a missing value" 4 "missing.csv:2:" -f "$tmp/missing.csv" -kmeans_clusters 2
refused "a ragged row" 4 "ragged.csv:2:" -f "$tmp/ragged.csv" -kmeans_clusters 2
refused "a zero row with the cosine metric" 2 "row 1 (counted from 0) is zero" -f "$tmp/zero.csv" -kmeans_clusters 2 -kmeans_metric cosine
refused "fewer distinct points than clusters" 2 "only 2 distinct points" -f "$tmp/twice.csv" -kmeans_clusters 3
refused "negative weights" 4 "negative.txt:2: the weight is negative, missing or NaN" -f "$tmp/twice.csv" -weights "$tmp/negative.txt" -kmeans_clusters 2
refused "weights that are all zero" 4 "zeros.txt: all weights are zero" -f "$tmp/twice.csv" -weights "$tmp/zeros.txt" -kmeans_clusters 2
refused "too few weights" 4 "400 points need one weight" -f "$tmp/points.csv" -weights "$tmp/zeros.txt" -kmeans_clusters 2
refused "a start of another shape" 2 "Start centroids: 6 x 5, but 7 clusters are wanted; use -kmeans_clusters 6" -f "$tmp/points.csv" -start_file "$tmp/start.csv" -kmeans_clusters 7
refused "values beyond double precision" 2 "exceed the range" -f "$tmp/huge.csv" -kmeans_clusters 2
refused "a truncated MineBench file" 4 "truncated" -f "$tmp/short.minebench" -kmeans_clusters 2
refused "a truncated idx file" 4 "truncated" -f "$tmp/short.idx" -kmeans_clusters 2
refused "33 features and points in local memory" 2 "-kmeans_assign columns: the points have 33 features, more than 32; use -kmeans_assign tiled" -generate 50,33 -kmeans_clusters 2 -kmeans_assign columns
refused "sparse points and naive" 2 "the points are sparse" -f "$tmp/points.mtx" -kmeans_clusters 2 -kmeans_assign naive
refused "sparse points and direct" 2 "the points are sparse" -f "$tmp/points.mtx" -kmeans_clusters 2 -kmeans_assign direct
refused "the cosine metric and tensor" 2 "for -kmeans_metric euclidean" -f "$tmp/line.csv" -kmeans_clusters 2 -kmeans_metric cosine -kmeans_assign tensor
refused "33 features and direct" 2 "33 features, more than 32" -generate 50,33 -kmeans_clusters 2 -kmeans_assign direct
ranks=1 # the next test takes two ranks
refused "NCCL and sums on the host" 2 "-kmeans_reduce nccl: the update adds on the host; use -kmeans_reduce auto or mpi" -f "$tmp/points.csv" -kmeans_update host -kmeans_reduce nccl
ranks=1
[ "$GPUCSR_DEVICE" = host ] && refused "NCCL without GPUs" 2 "-kmeans_reduce nccl: NCCL needs GPUs; this is the host backend; use -kmeans_reduce auto or mpi" -f "$tmp/points.csv" -kmeans_reduce nccl
refused "a missing file" 4 "No such file" -f "$tmp/nothing" -kmeans_clusters 2
refused "a column that does not exist" 2 "-columns 0,9" -f "$tmp/points.csv" -columns 0,9 -kmeans_clusters 2
foreign=(-kmeans_restart "$tmp/foreign")
refused "a checkpoint of other points" 4 "foreign: number of points: 400 in the checkpoint, 300 in this run" -generate 300,5 -kmeans_clusters 9 "${foreign[@]}"
refused "a checkpoint of other values" 4 "foreign: values of the points: others in the checkpoint" -generate 400,5 -kmeans_clusters 9 "${foreign[@]}" -kmeans_storage single
refused "a checkpoint of other weights" 4 "foreign: weights of the points: others in the checkpoint" -f "$tmp/points.csv" -weights "$tmp/weights.txt" -kmeans_clusters 9 "${foreign[@]}"
refused "a checkpoint with other clusters" 4 "foreign: -kmeans_clusters: 9 in the checkpoint, 8 in this run" -f "$tmp/points.csv" -kmeans_clusters 8 "${foreign[@]}"
refused "a checkpoint with another metric" 4 "foreign: -kmeans_metric: euclidean in the checkpoint, cosine in this run" -f "$tmp/points.csv" -kmeans_clusters 9 -kmeans_metric cosine "${foreign[@]}"
refused "a checkpoint with another seed" 4 "foreign: -kmeans_seed: 0 in the checkpoint, 1 in this run" -f "$tmp/points.csv" -kmeans_clusters 9 -kmeans_seed 1 "${foreign[@]}"
refused "a checkpoint with other batches" 4 "foreign: -kmeans_batch: 0 in the checkpoint, 50 in this run" -f "$tmp/points.csv" -kmeans_clusters 9 -kmeans_batch 50 "${foreign[@]}"
refused "batches of more points than there are" 2 "batches of 500 points from 400 points" -f "$tmp/points.csv" -kmeans_clusters 9 -kmeans_batch 500
refused "batches and lower bounds" 2 "-kmeans_assign elkan: lower bounds need all points" -f "$tmp/points.csv" -kmeans_clusters 9 -kmeans_batch 50 -kmeans_assign elkan
refused "batches and differences of sums" 2 "-kmeans_update changed needs all points" -f "$tmp/points.csv" -kmeans_clusters 9 -kmeans_batch 50 -kmeans_update changed
refused "sparse points and sort" 2 "-kmeans_update sort: the points are sparse" -f "$tmp/points.mtx" -kmeans_clusters 2 -kmeans_update sort
refused "an unknown option" 2 "-kmeans_colour" -f "$tmp/points.csv" -kmeans_colour red
refused "a start with other columns" 2 "Start centroids: 6 x 5, but the points have 3 features" -f "$tmp/points.csv" -columns 0-2 -start_file "$tmp/start.csv" -kmeans_clusters 6
refused "new points with other columns" 2 "twice.csv: the points have 2 features, the centroids 5" -f "$tmp/points.csv" -kmeans_clusters 3 -predict "$tmp/twice.csv" -predictions "$tmp/out/new"
refused "a given start without a file" 2 "-kmeans_start given needs the first centroids: -start_file" -f "$tmp/points.csv" -kmeans_start given
refused "a file of centroids with another start" 2 "-start_file excludes -kmeans_start random" -f "$tmp/points.csv" "${given[@]}" -kmeans_start random
run 1 -f "$tmp/points.csv" -picture "$tmp/picture.gif" || grep -qx 'kmeans: picture .*picture.gif: this PETSc was built without support for .gif; use the ending .svg, .pdf or .png' "$tmp/log"
verdict "a picture in a format that PETSc may lack"
refused "columns of no picture" 2 "-picture_columns needs a picture" -f "$tmp/points.csv" -picture_columns 0,1
refused "new points without an output" 2 "-predict needs a file for the clusters of the new points" -f "$tmp/points.csv" -predict "$tmp/points.csv"
refused "a prediction alone with other outputs" 2 "-labels needs points to compute centroids from: -f <points>" -start_file "$tmp/start.csv" -predict "$tmp/points.csv" -predictions "$tmp/out/new"
printf 'a,b\n1,2\n3,\n' >"$tmp/gap.csv"
refused "a missing value in the centroids" 4 "gap.csv:3: the value in column 1 (counted from 0) is missing or NaN; fill it in, or remove the row" -f "$tmp/twice.csv" -start_file "$tmp/gap.csv" -kmeans_clusters 2
[ "$(grep -c -- -columns "$tmp/log")" -eq 0 ]
verdict "an error in the centroids does not name -columns"
refused "columns of the picture that do not exist" 2 "-picture_columns 0,5: the points have columns 0 to 4" -f "$tmp/points.csv" -picture_columns 0,5 -picture "$tmp/out/picture.svg"
refused "a monitor that is neither text nor a picture" 2 "-kmeans_monitor needs a viewer for text (ascii) or pictures (draw)" -f "$tmp/points.csv" -kmeans_clusters 2 -kmeans_monitor binary:"$tmp/monitor"
refused "device memory too small for the points" 6 " bytes asked for, " -generate 1000,4 -gpucsr_device_memory 9000
refused "device memory that is no number of bytes" 2 "9q: expected a number of bytes" -generate 1000,4 -gpucsr_device_memory 9q
