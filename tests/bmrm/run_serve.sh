#!/usr/bin/env bash
# bmrm -serve: a line of standard output for every line of standard input.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
[ -x "$BMRM" ] || { not_ok "bmrm is built ($BMRM)"; exit 1; }
python=${PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null || python=
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
run() { timeout 120 "$BMRM" -gpucsr_device "$GPUCSR_DEVICE" -mat_type aij "$@" >log 2>&1; }
serve() { timeout 60 "$BMRM" -gpucsr_device "$GPUCSR_DEVICE" -serve "$@"; } # serve FORM ARGUMENTS
verdict() { if [ "$1" -eq 0 ]; then ok "serve: $2"; else not_ok "serve: $2" log; fi }
refused() { # refused NAME CODE MESSAGE ARGUMENTS: in one line, and without an answer
  local name=$1 code=$2 message=$3
  shift 3
  timeout 60 "$BMRM" -gpucsr_device "$GPUCSR_DEVICE" "$@" </dev/null >answers 2>log
  [ $? -eq "$code" ] && [ "$(wc -l <log)" -eq 1 ] && grep -qF -- "bmrm: $message" log && [ ! -s answers ]
  verdict $? "refused: $name"
}

awk -v n=150 -v d=4 -v noise=0.15 -f "$ROOT/tests/bmrm/classes.awk" >three
awk '{ $1 = $1 == 3 ? 1 : -1; print }' three >two
awk 'BEGIN { print "label,a,\"b, too\",c,d" } { printf "%s", $1 == 1 ? "first" : $1 == 3 ? "third" : "Z\303\274rich"; for (k = 2; k <= 5; k++) { split($k, e, ":"); printf ",%s", e[2] }; print "" }' three >named.csv
run -f two -bmrm_loss logistic -bmrm_lambda 1e-2 -normalize -model logistic && run -f two -bmrm_lambda 1e-2 -platt 2 -model platt && run -f three -bmrm_loss softmax -bmrm_lambda 1e-3 -model softmax &&
  run -f three -bmrm_loss multiclass -bmrm_lambda 1e-3 -platt 1 -model temperature && run -f two -bmrm_loss leastsquares -bmrm_lambda 1e-3 -model numbers && run -f named.csv -label_column label -bmrm_loss softmax -bmrm_lambda 1e-3 -model named
verdict $? "models"

# --- answers --------------------------------------------------------------------------------------------------------------------------
for pair in "logistic two" "platt two" "softmax three" "temperature three"; do
  read -r model data <<<"$pair"
  serve libsvm -model $model -scores -probabilities <$data >answers 2>log && [ ! -s log ]
  verdict $? "$model: only answers are printed"
  if [ -n "$python" ]; then
    "$python" "$ROOT/tests/bmrm/serve.py" $model $data answers >>log 2>&1
    verdict $? "$model: label, scores and probabilities are those of the formulas"
  else
    skip "serve: $model: formulas" "there is no Python"
  fi
done
run -model numbers -predict two -predictions file && serve libsvm -model numbers <two >answers 2>log && paste -d' ' file answers | awk '{ d = $1 - $2; if (NF != 2 || d > 1e-12 || d < -1e-12) bad = 1 } END { exit bad || NR != 150 }'
verdict $? "numbers: as predictions of a file"
run -model named -predict named.csv -label_column label -predictions file && serve csv -model named <named.csv >answers 2>log && cmp file answers >>log
verdict $? "a table with names"
awk -F, 'NR == 1 { print "d,other,c,\"b, too\",a"; next } { printf "%s,\"a \"\"word\"\", too\",%s,%s,%s\r\n", $5, $4, $3, $2 }' named.csv >moved.csv
serve csv -model named <moved.csv >moved 2>log && cmp answers moved >>log
verdict $? "a table whose columns have another order, with quotes and CRLF"
cut -d, -f2- named.csv | sed 1d >bare.csv && serve csv -model softmax -scores <bare.csv >answers 2>log && serve libsvm -model softmax -scores <three >file && cmp file answers >>log
verdict $? "a table without names"
{ printf '\357\273\277' && head -2 three && printf '1:0.5 2:0.25' && tail -n +151 three; } | serve libsvm -model softmax >answers 2>log && [ "$(wc -l <answers)" = 3 ] && [ "$(head -2 answers)" = "$(head -2 three | serve libsvm -model softmax)" ]
verdict $? "a byte-order mark, no label, no newline at the end"
printf '' | serve libsvm -model softmax >answers 2>log && [ ! -s answers ] && [ ! -s log ]
verdict $? "an empty input"
for k in $(seq 40); do cat three; done >many && serve libsvm -model softmax <many >answers 2>log && for k in $(seq 40); do cat file; done | cut -d' ' -f1 | cmp - answers >>log
verdict $? "6,000 lines"

# --- a conversation: every line is answered before the next one is written ---------------------------------------------------------------
exec 2>/dev/null # bash reports the end of a coprocess
coproc SERVICE { exec "$BMRM" -gpucsr_device "$GPUCSR_DEVICE" -serve libsvm -model softmax -malloc_debug; }
{ exec {question}>&"${SERVICE[1]}" {answer}<&"${SERVICE[0]}"; pid=$SERVICE_PID; }
rc=0
for k in 1 2 3 4 5; do
  sed -n ${k}p three >&"$question"
  read -r -t 60 line <&"$answer" && [ "$line" = "$(sed -n ${k}p file | cut -d' ' -f1)" ] || rc=1
done
echo "1 5:1" >&"$question"
read -r -t 60 line <&"$answer" && [ "$line" = "error: line 6: feature 5, but the model has 4 features" ] || rc=1
sed -n 1p three >&"$question"
read -r -t 60 line <&"$answer" && [ "$line" = "$(sed -n 1p file | cut -d' ' -f1)" ] || rc=1
verdict $rc "a conversation"
kill -TERM "$pid"
wait "$pid"
[ $? -eq 143 ]
verdict $? "SIGTERM ends the service"
exec {question}>&- {answer}<&-

# --- bad lines: one line of answer each, and the service goes on ----------------------------------------------------------------------------
wrong() { # wrong FORM MODEL LINE ANSWER: the line after two good ones (after the heading and one good line), and before a good one
  local good=1:0.5
  if [ "$1" = csv ]; then good=1,2,3,4,5; fi
  { if [ "$1" = csv ]; then echo 'a,"b, too",c,d,x'; else echo $good; fi && echo $good && printf "$3\n" && echo $good; } | serve "$1" -model "$2" >answers 2>log
  [ $? -eq 0 ] && [ "$(grep -c '^error: ' answers)" = 1 ] && [ "$(wc -l <answers)" = "$([ "$1" = csv ] && echo 3 || echo 4)" ] && grep -qxF -- "error: line 3$4" answers
  rc=$?
  cat answers >>log
  verdict $rc "bad line: ${3:-blank}"
}
wrong libsvm softmax "" ": the line holds no example, expected [<label>] <index>:<value> ..."
wrong libsvm softmax "# a comment" ": the line holds no example, expected [<label>] <index>:<value> ..."
wrong libsvm softmax "word 1:1" ", column 1: expected a number as label, or <index>:<value>, got 'word'"
wrong libsvm softmax "1 2:1 2:1" ", column 7: indices are counted from 1 and must ascend within a line, got '2:1'"
wrong libsvm softmax "1 0:1" ", column 3: indices are counted from 1 and must ascend within a line, got '0:1'"
wrong libsvm softmax "1 1:nan" ", column 3: expected <index>:<finite number>, got '1:nan'"
wrong libsvm softmax "1 1:1e999" ", column 3: expected <index>:<finite number>, got '1:1e999'"
wrong libsvm softmax "1 1:2;3" ", column 3: expected <index>:<finite number>, got '1:2;3'"
wrong libsvm softmax "1 99999999999999999999999:1" ", column 3: expected <index>:<value>, got '99999999999999999999999:'"
wrong libsvm softmax "1 1:1e308 2:-1e308 3:1e308 4:1e308" ": a score overflows: use smaller values"
wrong libsvm softmax '1 1:1\000 2:1' ", column 3: expected <index>:<finite number>, got '1:1?'"
wrong csv named "1,2,3,4" ": the number of fields is 4, expected 5"
wrong csv named "1,2,3,4,5,6" ": the number of fields is 6, expected 5"
wrong csv named "1,,3,4,5" ": column 2, b, too: the value is missing: bmrm needs all values"
wrong csv named "1,2,NA,4,5" ": column 3, c: the value is missing: bmrm needs all values"
wrong csv named "1,2,3,four,5" ": column 4, d: expected a finite number, got 'four'"
wrong csv named '1,2,3,4,"5' ": a quote has no end"
wrong csv named '1,2,3,"4"5,5' ": text follows the end of a quote, expected a comma"
{ echo 1:1 && head -c 17000000 /dev/zero | tr '\0' 1 && printf '\n1:1\n'; } | serve libsvm -model softmax >answers 2>log && [ "$(cut -c1-52 answers | sed -n 2p)" = "error: line 2: the line has more than 16777216 bytes" ] && [ "$(wc -l <answers)" = 3 ] && [ "$(sed -n 1p answers)" = "$(sed -n 3p answers)" ]
verdict $? "bad line: more than 16 MiB"

if [ -n "$python" ]; then # a pipe that does not block, as programs with an event loop have
  timeout 60 "$python" - "$BMRM" "$GPUCSR_DEVICE" >log 2>&1 <<'P'
import os, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(r, False)
service = subprocess.Popen([sys.argv[1], "-gpucsr_device", sys.argv[2], "-serve", "libsvm", "-model", "softmax"], stdin=r, stdout=subprocess.PIPE)
os.close(r)
time.sleep(1)
os.write(w, b"1:0.5\n2:1\n")
os.close(w)
answers = service.communicate()[0].decode().split("\n")
assert service.returncode == 0 and len(answers) == 3 and answers[0] in "137", (service.returncode, answers)
P
  verdict $? "an input that does not block"
else
  skip "serve: an input that does not block" "there is no Python"
fi

# --- what ends the service ---------------------------------------------------------------------------------------------------------------------
heading() { # heading TEXT MESSAGE
  echo "$1" | serve csv -model named >answers 2>log
  [ $? -eq 4 ] && [ "$(wc -l <log)" = 1 ] && [ ! -s answers ] && grep -qF "bmrm: standard input:1: $2" log
  verdict $? "heading: $2"
}
heading 'a,"b, too",c' "no column has the heading 'd', a feature of the model"
heading 'a,"b, too",c,d,c' "two columns have the heading 'c', a feature of the model"
heading 'a,"b, too",c,"d' "a quote has no end"
if [ -w /dev/full ]; then
  serve libsvm -model softmax <two >/dev/full 2>log
  [ $? -eq 5 ] && grep -q 'bmrm: cannot write to the standard output stream: No space left on device' log
  verdict $? "a full disk"
fi
timeout 60 "$MPIEXEC" -n 2 "$BMRM" -gpucsr_device "$GPUCSR_DEVICE" -serve libsvm -model softmax <two >log 2>&1
[ $? -eq 2 ] && grep -q 'bmrm: -serve runs on one process, and there are 2: start it without mpiexec' log
verdict $? "refused: two processes"
refused "without a model" 2 "nothing to do: give -f" -serve libsvm
refused "with training" 2 "-serve answers lines of standard input with a trained model: leave out -f, -test and -predict" -f two -serve libsvm -model m
refused "without a model" 2 "nothing to do: give -f <file> to train, or -model <file> and one of -test <file>, -predict <file> and -serve libsvm|csv" -serve libsvm
refused "with details of the quality" 2 "-serve writes its answers to standard output: leave out" -model softmax -serve libsvm -quality
refused "with a file of predictions" 2 "-serve writes its answers to standard output: leave out -predictions, -report, -quality and -quality_picture" -model softmax -serve libsvm -predictions p
refused "another form" 2 "-serve text: expected one of libsvm|csv" -model softmax -serve text
refused "a model without probabilities" 2 "-probabilities: the model numbers gives no probabilities" -model numbers -serve libsvm -probabilities
refused "the model from standard input" 2 "-serve - and -model -: only one input can be standard input" -model - -serve libsvm
refused "a model that does not exist" 4 "missing: No such file or directory (given by -model)" -model missing -serve libsvm
