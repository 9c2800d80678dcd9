#!/usr/bin/env bash
# The readers of points of the program kmeans: all formats on several ranks, damaged files, public data sets.  Prints TAP.
#
# A file is read right if clusters of one point each, which start from the points, have the points as centroids.
set -u
. "$(dirname "$0")/common.sh" "$(dirname "$0")/points.py"

reads() { # reads NAME RANKS EXPECTED FILE ARGUMENTS: input from $tmp/pipe where FILE is -
  local name=$1 n=$2 expected=$tmp/$3 file=$4
  shift 4
  [ "$file" = - ] || file=$tmp/$file
  run "$n" -f "$file" "$@" -start_file "$expected" -kmeans_clusters $(($(wc -l <"$expected") - 1)) -centroids "$tmp/centroids.csv" && cmp <(tail -n +2 "$expected") <(tail -n +2 "$tmp/centroids.csv") >>"$tmp/log" 2>&1
  verdict "reads $name on $n"
}
ranks=1
refused() { # refused NAME CODE MESSAGE ARGUMENTS: one line with the words and the exit code, on 1 and 2 ranks by turns
  local name=$1 code=$2 message=$3 rc
  shift 3
  ranks=$((3 - ranks))
  run $ranks -kmeans_clusters 1 "$@"
  rc=$?
  echo "code $rc" >>"$tmp/log"
  [ $rc -eq "$code" ] && grep -qF -- "$message" "$tmp/log" && [ "$(grep -c '^kmeans: ' "$tmp/log")" -eq 1 ] && ! grep -q 'PETSC ERROR' "$tmp/log"
  verdict "refused: $name"
}

compare data "$tmp" || { not_ok "the files are made" "$tmp/log"; exit 1; }

# --- formats ----------------------------------------------------------------------------------------------------------------
gzip -k "$tmp/points.libsvm" "$tmp/points.minebench"
xz -k "$tmp/points.libsvm" "$tmp/points.idx"
for file in points.libsvm points.mtx array.mtx dense.petsc sparse.petsc; do
  reads "$file" 1 points.csv "$file"
  reads "$file with -columns" 3 selected.csv "$file" -columns 3,0-1
done
reads "points.libsvm" 4 points.csv points.libsvm
reads "points.csv with -columns" 3 selected.csv points.csv -columns 3,0-1
reads "points.minebench.gz" 2 points.csv points.minebench.gz
reads "points.idx.xz with -columns" 2 selected.csv points.idx.xz -columns 3,0-1
reads "points.libsvm.gz" 1 points.csv points.libsvm.gz
reads "points.libsvm.xz" 2 points.csv points.libsvm.xz
reads "LIBSVM from standard input" 1 points.csv - <"$tmp/points.libsvm"
mkfifo "$tmp/pipe.libsvm" "$tmp/pipe.idx"
xz -dc "$tmp/points.libsvm.xz" >"$tmp/pipe.libsvm" &
reads "LIBSVM from a pipe" 2 points.csv pipe.libsvm
cat "$tmp/points.idx" >"$tmp/pipe.idx" &
reads "idx from a pipe" 1 points.csv pipe.idx -format idx
reads "a symmetric file in coordinates" 2 symmetric.csv symmetric.mtx
reads "a symmetric array" 3 symmetric.csv symmetricarray.mtx
reads "a pattern" 2 pattern.csv pattern.mtx
reads "one column of LIBSVM" 3 onecolumn.csv onecolumn.libsvm
reads "one column of an array" 1 onecolumn.csv onecolumn.mtx
reads "one point of LIBSVM" 3 onepoint.csv onepoint.libsvm
reads "one point in PETSc's format" 3 onepoint.csv onepoint.petsc
n=1
for type in uint8 int8 int16 int32 float double; do
  reads "idx of $type" $n $type.csv $type.idx
  n=$((3 - n))
done
printf '1\n2\n3\n' >"$tmp/labels.libsvm"
run 1 -f "$tmp/labels.libsvm" -kmeans_clusters 2 && grep -q ' 1 columns' "$tmp/log"
verdict "lines of one number are a table"
printf 'name,a,kind,b,c\np,1,x,2,nan\nq,3,y,4,5\nr,?,z,6,7\n' >"$tmp/words.csv"
run 2 -f "$tmp/words.csv" -columns 2 -kmeans_clusters 1 -centroids "$tmp/centroids.csv" && [ "$(tail -1 "$tmp/centroids.csv")" = 4 ]
verdict "words, missing values and NaN in columns that are left out"

# --- what is refused --------------------------------------------------------------------------------------------------------
while IFS='|' read -r text message; do
  printf "1 1:1 2:2\n$text\n3 4:4\n" >"$tmp/bad.libsvm"
  refused "LIBSVM, $text" 4 "bad.libsvm:2:$message" -f "$tmp/bad.libsvm"
done <<'X'
2 3:x|5: expected a finite number as value
2 0:1|3: indices are counted from 1
2 3:1 2:1|7: indices must ascend
2 3=1|3: expected <index>:<value>
2 3:nan|5: expected a finite number as value
2 3:1e999|5: the value is too large
2 qid:x 3:1|3: expected qid:<number>
2 99999999999:1|3: the index does not fit PetscInt
2 2000000000:1| feature 2000000000 in data of 4 entries
X
printf '1\n2\n' >"$tmp/empty.libsvm"
refused "LIBSVM without features" 4 "empty.libsvm: no line has a feature" -f "$tmp/empty.libsvm" -format libsvm
for value in nan inf; do
  words="the value in row 17, column 2 (counted from 0) is $([ $value = nan ] && echo NaN || echo infinite)"
  for file in $value.dense.petsc $value.sparse.petsc $value.minebench $value.idx; do
    refused "$file" 4 "$file: $words" -f "$tmp/$file" -columns 1-2,5
  done
done
reads "NaN in a column that is left out" 2 selected.csv nan.minebench -columns 3,0-1
refused "words in a column that is selected" 4 "words.csv:2: column 1 (counted from 0) holds 'x', which is no number" -f "$tmp/words.csv" -columns 0-1
refused "a missing value in a column that is selected" 4 "words.csv:4: the value in column 0 (counted from 0) is missing" -f "$tmp/words.csv" -columns 0,2
for columns in 1,1 0-6 3, ,3 2-1 x; do
  refused "-columns $columns" 2 "-columns $columns: the points have columns 0 to 5" -f "$tmp/points.csv" -columns $columns
done
printf '%%%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1\n' >"$tmp/huge.mtx"
printf '%%%%MatrixMarket matrix array real general\n2000000000 1000000000\n1\n' >"$tmp/hugearray.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n0 3 0\n' >"$tmp/norows.mtx"
printf '\0\0\10\4\177\377\377\377\177\377\377\377\177\377\377\377\177\377\377\377abc' >"$tmp/huge.idx"
printf '\0\0\15\2\0\0\0\0\0\0\0\2' >"$tmp/zero.idx"
printf '\377\377\377\177\0\1\0\0abc' >"$tmp/huge.minebench"
head -c 100 "$tmp/points.minebench" >"$tmp/short.minebench"
{ cat "$tmp/points.minebench"; printf x; } >"$tmp/long.minebench"
{ cat "$tmp/points.idx"; printf x; } >"$tmp/long.idx"
head -c 60 "$tmp/points.idx.xz" >"$tmp/short.idx.xz"
refused "a header of 2e9 rows" 4 "huge.mtx:2: 2000000000 rows" -f "$tmp/huge.mtx"
refused "a Matrix Market file without rows" 4 "norows.mtx:2: a matrix of 0 x 3" -f "$tmp/norows.mtx"
refused "a PETSc file without rows" 4 "norows.petsc: a matrix of 0 x 3 holds no points" -f "$tmp/norows.petsc"
refused "an array of 2e18 numbers" 4 "hugearray.mtx:2: " -f "$tmp/hugearray.mtx"
refused "an idx header of 2e37 values" 4 "huge.idx: the header says" -f "$tmp/huge.idx" -format idx
refused "an idx file without points" 4 "zero.idx: the header says 0 points" -f "$tmp/zero.idx" -format idx
refused "a MineBench header of 1e14 values" 4 "huge.minebench: the header says 2147483647 points" -f "$tmp/huge.minebench" -format minebench
refused "a truncated MineBench file" 4 "truncated" -f "$tmp/short.minebench"
refused "a MineBench file that is too long" 4 "561 bytes, more than they take" -f "$tmp/long.minebench"
refused "an idx file that is too long" 4 "more than they take" -f "$tmp/long.idx"
refused "a truncated compressed file" 4 "short.idx.xz: xz cannot decompress the file" -f "$tmp/short.idx.xz" -format idx
printf 'a\n1\n' >"$tmp/short.csv"
refused "a table as Matrix Market" 4 "got 'a'" -f "$tmp/short.csv" -format market
refused "a table as idx" 4 "points.csv: this is no idx file" -f "$tmp/points.csv" -format idx

# --- public data: the number of points, the number of features, and the sum of a column that python computed -------------------------
data=${GPUCSR_DATA:-nothing}
while read -r file n d column total arguments; do
  if [ ! -f "$data/$file" ]; then
    skip "$file" "$data/$file is missing"
    continue
  fi
  # shellcheck disable=SC2086 # arguments are words
  run 1 -f "$data/$file" -kmeans_clusters 1 -report "$tmp/report.json" -centroids "$tmp/centroids.csv" $arguments && compare sums "$tmp/report.json" "$tmp/centroids.csv" $n $d $column $total
  verdict "$file"
done <<'X'
kmeans/color17695.bin.xz 17695 9 3 0.04728310033078742
kmeans/edge17695.bin.xz 17695 18 3 -0.08846389385871589
kmeans/t10k-images-idx3-ubyte.gz 10000 784 406 1394392
kmeans/t10k-labels-idx1-ubyte.gz 10000 1 0 45000
kmeans/kddcup.data_10_percent.gz 494021 38 19 164156109 -columns 0,4-40
kmeans/iris.data.xz 150 4 2 563.8 -columns 0-3
kmeans/cities_geonames.tsv.xz 135233 2 1 4444879.7941 -columns 3-4
svm/letterrecognition.libsvm.xz 20000 16 7 92572
svm/usps.libsvm.xz 7291 256 7 -333.704
svm/news20.bz2 15935 62061 7 858
X
