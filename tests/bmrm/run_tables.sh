#!/usr/bin/env bash
# Data of bmrm in tables: columns of labels, names of classes and features, in training, models, predictions and reports.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
[ -x "$BMRM" ] || { not_ok "bmrm is built ($BMRM)"; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
run() { # run RANKS ARGUMENTS
  local n=$1
  shift
  timeout 60 "$MPIEXEC" -n "$n" "$BMRM" -gpucsr_device host -mat_type aij "$@" >log 2>&1
}
verdict() { if [ "$1" -eq 0 ]; then ok "$2"; else not_ok "$2" log; fi }
refused() { # refused NAME CODE MESSAGE ARGUMENTS
  local name=$1 code=$2 message=$3
  shift 3
  run 2 "$@"
  [ $? -eq "$code" ] && grep -qF -- "bmrm: $message" log && ! grep -q 'PETSC ERROR' log
  verdict $? "refused: $name"
}
awk 'BEGIN { srand(3); print "sepal,petal,noise,species"
  for (i = 0; i < 60; i++) { k = i % 3; printf "%.3f,%.3f,%.3f,%s\n", k + rand() * 0.3, (k - 1) * (k - 1) + rand() * 0.2, i % 4 ? rand() : 0, k == 0 ? "setosa" : k == 1 ? "\"versi,color\"" : "virginica x" } }' >iris.csv
many=(-bmrm_loss softmax -bmrm_lambda 1e-4 -bias 1 -bias_factor 0.1)
for n in 1 3; do
  run $n -f iris.csv -label_column species "${many[@]}" -model m$n -test iris.csv -predictions p$n -report r.json &&
    grep -qF 'iris.csv: 60 rows, 4 columns, headings, no row names, separated by commas; 60 examples, 3 features, 165 nonzeros, classes by name' log &&
    grep -qF '"classes": ["setosa", "versi,color", "virginica x"]' r.json && grep -qF '"features": ["sepal", "petal", "noise"]' r.json && awk -F'"accuracy": ' '/test_accuracy/ { split($0, v, ": "); found = v[2] + 0 > 0.95 } END { exit !found }' r.json
  verdict $? "three classes by name, $n rank(s)"
  [ "$(sort -u p$n)" = "$(printf 'setosa\nversi,color\nvirginica x')" ] && [ "$(sed -n '/^class names$/,/^weights/p' m$n | head -8 | tr '\n' '|')" = 'class names|setosa|versi,color|virginica x|feature names|sepal|petal|noise|' ]
  verdict $? "predictions and the model have the names, $n rank(s)"
done
awk -F, 'BEGIN { OFS = "\t" } { print "extra" NR == 1 ? "extra" : NR, $3, $1, $2 }' iris.csv | sed '1s/^[^\t]*/extra/' >swapped.tsv
for n in 1 2; do
  run $n -model m1 -predict swapped.tsv -predictions p && cmp -s p p1 && grep -q 'no labels' log
  verdict $? "columns in another order, one more, and no labels, $n rank(s)"
done
grep -v setosa iris.csv >two.csv
run 1 -f two.csv -label_column 4 -bmrm_lambda 1e-4 -bias 1 -model m -test two.csv -predictions p && [ "$(sort p | uniq -c | awk '{ print $1 }' | tr '\n' ' ')" = "20 20 " ] && grep -qx 'versi,color' p
verdict $? "two classes by name, the column by its number"
awk -F, 'NR > 1 { print $1 ";" $2 ";" $3 ";" (/setosa/ ? 1 : /versi/ ? 2 : 3) }' iris.csv >numbers.csv
awk -F';' '{ printf "%s", $4; for (k = 1; k < 4; k++) if ($k != 0) printf " %d:%s", k, $k; print "" }' numbers.csv >numbers.libsvm
run 1 -f numbers.csv -label_column 4 "${many[@]}" -model a && run 1 -f numbers.libsvm "${many[@]}" -model b && cmp -s a b && grep -qx 'bmrm-model 1' a
verdict $? "a table of numbers is the same as LIBSVM"
run 1 -f numbers.csv -label_column 1 -bmrm_loss leastsquares -bmrm_lambda 1e-3 -test numbers.csv -report r.json && grep -q '"test_rmse": 0' r.json
verdict $? "labels that are numbers, for a regression"
sed -E 's/^([^,]*),([^,]*),([^,]*),(.*)$/\4,\1,\2,\3/' iris.csv >first.csv
run 1 -f first.csv -label_column species "${many[@]}" -model m && cmp -s m m1
verdict $? "labels in the first column are not row names"
gzip -c iris.csv | run 1 -f - -label_column species "${many[@]}" -model m && cmp -s m m1
verdict $? "a compressed table from standard input"
refused "no column of labels" 2 "iris.csv: this is a table: give -label_column" -f iris.csv
refused "a column that is not there" 2 "iris.csv: no column 'nope': expected a heading, or a number from 1 to 4" -f iris.csv -label_column nope
refused "words for a regression" 4 "iris.csv: the labels are words, but -bmrm_loss leastsquares needs numbers" -f iris.csv -label_column species -bmrm_loss leastsquares
refused "words in a feature" 4 "iris.csv:2" -f iris.csv -label_column sepal -bmrm_loss leastsquares
sed '5s/^[0-9.]*,/NA,/' iris.csv >missing.csv
refused "a missing value" 4 "missing.csv:5: the value of column 1, sepal is missing" -f missing.csv -label_column species "${many[@]}"
sed '8s/setosa/unknown/' iris.csv >other.csv
refused "a class that the model does not know" 4 "other.csv:8: the model has no class 'unknown'" -model m1 -test other.csv -label_column species
cut -d, -f1,2 iris.csv >narrow.csv
refused "a feature that is missing" 4 "narrow.csv: no column has the heading 'noise', a feature of the model" -model m1 -predict narrow.csv
