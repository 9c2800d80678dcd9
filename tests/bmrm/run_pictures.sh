#!/usr/bin/env bash
# The pictures of -quality_picture and -path_picture, compared with the numbers of the report (pictures.py) and checked by their structure.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
[ -x "$BMRM" ] || { not_ok "bmrm is built ($BMRM)"; exit 1; }
python=${PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null || { skip "pictures of quality and path" "there is no $python"; exit 0; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
export GPUCSR_CAIRO=none # SVG with texts
run() { # run RANKS ARGUMENTS
  local n=$1
  shift
  timeout 120 "$MPIEXEC" -n "$n" "$BMRM" -gpucsr_device "$GPUCSR_DEVICE" -mat_type aij "$@" >log 2>&1
}
verdict() { if [ "$1" -eq 0 ]; then ok "pictures: $2"; else not_ok "pictures: $2" log; fi }
drawn() { # drawn KIND PICTURE REPORT TEXT...
  local kind=$1 picture=$2 report=$3
  shift 3
  "$python" "$ROOT/tests/bmrm/pictures.py" "$kind" "$picture" "$report" >>log 2>&1 && "$python" "$ROOT/tests/app/picture.py" "$picture" "$@" >>log 2>&1
}
refused() { # refused NAME CODE MESSAGE ARGUMENTS: in one line, and without a picture
  local name=$1 code=$2 message=$3
  shift 3
  rm -f never*
  run 1 "$@"
  [ $? -eq "$code" ] && [ "$(wc -l <log)" -eq 1 ] && grep -qF -- "bmrm: $message" log && ! ls never* >/dev/null 2>&1
  verdict $? "refused: $name"
}

awk -v n=150 -v d=4 -v noise=0.15 -f "$ROOT/tests/bmrm/classes.awk" >three
awk '{ $1 = $1 == 3 ? 1 : -1; print }' three >two
{ echo 'label,a,b,c,d' && awk '{ printf "%s", $1 == 1 ? "<first> & one" : $1 == 3 ? "a class whose name is long" : "Z\303\274rich"; for (k = 2; k <= 5; k++) { split($k, e, ":"); printf ",%s", e[2] }; print "" }' three; } >named.csv

for n in 1 2; do
  run $n -f two -bmrm_loss logistic -bmrm_lambda 1e-2 -test two -quality_picture quality$n.svg -report r.json && drawn quality quality$n.svg r.json "Quality on two" "150 examples of 2 classes; accuracy" "true class" "false positive rate" recall "probability of the larger label"
  verdict $? "quality of two classes, $n rank(s)"
done
cmp -s quality1.svg quality2.svg
verdict $? "equal bytes on one and two ranks"
run 1 -f three -bmrm_loss softmax -bmrm_lambda 1e-3 -model m -test three -quality -quality_picture quality.svg -report r.json && drawn quality quality.svg r.json "highest probability"
verdict $? "quality of three classes"
run 1 -model m -test three -quality_picture again.svg && cmp -s quality.svg again.svg
verdict $? "quality of a saved model"
run 1 -f named.csv -label_column label -bmrm_lambda 1e-2 -bmrm_loss softmax -test named.csv -quality_picture named.svg && "$python" "$ROOT/tests/app/picture.py" named.svg "<first> & one" Zürich "a class who" calibration >>log 2>&1
verdict $? "names of classes"
run 1 -f three -bmrm_lambda 1e-2 -bmrm_loss multiclass -test three -quality_picture bare.svg && grep -q 'confusion matrix' bare.svg && ! grep -q calibration bare.svg
verdict $? "without probabilities, the confusion matrix alone"
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d 1:%g 2:%g\n", i % 40, (i % 40) * 0.7 + i % 3, (i * i) % 41 }' >forty
run 1 -f forty -bias 0 -bmrm_loss softmax -bmrm_lambda 10 -bmrm_eps 1e-1 -test forty -quality_picture forty.svg -report r.json && "$python" "$ROOT/tests/app/picture.py" forty.svg "400 examples of 40 classes" >>log 2>&1
verdict $? "forty classes"
awk '{ $1 = 1; print }' two >ones && run 1 -f two -bmrm_lambda 1e-2 -test ones -quality_picture ones.svg && ! grep -q nan ones.svg log && grep -q 'AUC undefined' log
verdict $? "a file with one class"
for n in 1 2; do
  run $n -f two -bmrm_loss logistic -bmrm_eps 1e-3 -bmrm_path 10,1,0.1,0.01,1e-3 -cv 3 -path_picture path$n.svg -report r.json && drawn path path$n.svg r.json "Path of 5 lambdas, logistic loss, regulariser l2" "chosen in 3 folds" accuracy "number of weights" lambda
  verdict $? "path of a classification with folds, $n rank(s)"
done
run 1 -f two -bmrm_loss leastsquares -bmrm_path 1,0.1,0.01 -path_picture path.svg -report r.json && drawn path path.svg r.json "root mean square error" "of the model, the last one"
verdict $? "path of a regression without folds"
run 1 -f two -bmrm_loss ordinal -bmrm_path 1,0.5 -path_picture order.svg && ! grep -qE 'nan|training' order.svg
verdict $? "path of a loss that predicts an order"

refused "quality: without data" 2 "-quality_picture needs -test or -predict with labelled data" -f two -quality_picture never.svg
refused "quality: numbers" 2 "-quality_picture compares classes, and a model of the loss leastsquares predicts none: leave out -quality_picture" -f two -bmrm_loss leastsquares -test two -quality_picture never.svg
refused "path: without training" 2 "-path_picture shows the training with -f and -bmrm_path" -model m -test three -path_picture never.svg
refused "path: one lambda" 2 "-path_picture shows several lambdas: name them with -bmrm_path" -f two -path_picture never.svg
refused "path: a format without a library" 2 "picture never.pdf: this format needs the library Cairo" -f two -bmrm_path 1,0.1 -path_picture never.pdf
refused "quality: two outputs with one name" 2 "-quality_picture never.svg and -path_picture never.svg are the same file" -f two -bmrm_path 1,0.1 -test two -quality_picture never.svg -path_picture never.svg
