#!/usr/bin/env bash
# Tests of the program bmrm: training, several ranks, Mat types, saved models, reports, invalid input.  Prints TAP.
#
#   BMRM          the program, default $BUILD/bin/bmrm
#   GPUCSR_DATA   folder of public data sets, default ../shared/data; tests that need a missing one are skipped
set -u
given=${BMRM:-}
. "$(dirname "$0")/../env.sh"
BMRM=${given:-$BMRM}
[ -x "$BMRM" ] || { not_ok "bmrm is built ($BMRM)"; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
svm=${GPUCSR_DATA:-../shared/data}/svm
small=$ROOT/solvers/bmrm/data/breast-cancer.libsvm smalltest=$ROOT/solvers/bmrm/data/breast-cancer.t.libsvm
device=(-gpucsr_device "$GPUCSR_DEVICE" -bias 0) # optima and passes are those without an intercept, unless a test gives -bias

# --- helpers ----------------------------------------------------------------------------------------------------------------
run() { # run RANKS ARGUMENTS: the output goes to $tmp/log; returns the exit code
  local n=$1
  shift
  "$MPIEXEC" -n "$n" "$BMRM" "${device[@]}" "$@" >"$tmp/log" 2>&1
}
value() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1"; } # value REPORT KEY: prints the value of a key
holds() { awk "BEGIN { exit !($1) }"; }                                         # holds CONDITION: tells whether an expression of awk is true
close() { # close A B TOLERANCE: tells whether two numbers agree
  awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !(a != "" && b != "" && a != "null" && b != "null" && (d < 0 ? -d : d) <= t) }'
}
same_model() { # same_model FILE FILE TOLERANCE: tells whether the weights of two models agree
  awk -v t="$3" '
    FNR == 1 { file++; on = 0 }
    $1 == "weights" { on = 1; next }
    $1 == "end" { on = 0; ends++ }
    on { if (file == 1) w[$1] = $2; else { d = $2 - w[$1]; if (d > t || d < -t) bad++; delete w[$1] } }
    END { for (i in w) if (w[i] > t || w[i] < -t) bad++; exit !(ends == 2 && !bad) }' "$1" "$2"
}
verdict() { # verdict NAME [KEY REPORT]: prints the result of the last command; adds the value of the key to the name.  A command substitution in NAME would overwrite the exit code
  local rc=$? name=$1
  shift
  [ $# -eq 0 ] || name="$name ($(value "$2" "$1"))"
  if [ $rc -eq 0 ]; then ok "$name"; else not_ok "$name" "$tmp/log"; fi
}
clean() { [ -z "$(find "$tmp/out" -mindepth 1 2>/dev/null)" ]; } # tells whether the output folder is empty
certified() { # certified NAME OPTIMUM ARGUMENTS: the interval from lower bound to objective is small and contains the optimum, which another program computed
  local name=$1 optimum=$2
  shift 2
  run 1 "$@" -mat_type aij -report "$tmp/certified.json" && [ "$(value "$tmp/certified.json" reason)" = CONVERGED_GAP_ATOL ] &&
    holds "$(value "$tmp/certified.json" lower_bound) <= $optimum + 2e-9 && $(value "$tmp/certified.json" objective) >= $optimum - 2e-9"
  verdict "$name: certified, optimum $optimum" lower_bound "$tmp/certified.json"
}
stops() { # stops RANKS ARGUMENTS: the run writes its results and returns exit code 3, which means not converged
  run "$@"
  [ $? -eq 3 ]
}
writes() { # writes RANKS ARGUMENTS: the run writes its results, converged or not
  run "$@" || [ $? -eq 3 ]
}
refused() { # refused NAME RANKS MESSAGE ARGUMENTS: the run fails with one message, without a crash, and leaves no output
  local name=$1 ranks=$2 message=$3 rc
  shift 3
  rm -rf "$tmp/out"
  mkdir "$tmp/out"
  run "$ranks" "$@"
  rc=$?
  [ $rc -ne 0 ] && [ $rc -lt 124 ] && grep -qF -- "$message" "$tmp/log" && ! grep -qE 'Segmentation|Caught signal number ([4-8]|11) |double free|UNUSUAL' "$tmp/log" && clean
  verdict "$name"
}

# --- the data set of the project -----------------------------------------------------------------------------------
if [ -f "$small" ]; then
  run 1 -f "$small" -test "$smalltest" -mat_type aij -bmrm_lambda 1e-3 -bmrm_monitor -bmrm_view -bmrm_converged_reason -model "$tmp/small" -report "$tmp/small.json"
  verdict "small: trains"
  grep -q 'BMRM objective' "$tmp/log" && grep -q 'BMRM Object' "$tmp/log" && grep -q 'BMRM converged due to CONVERGED_GAP_ATOL' "$tmp/log" && grep -q 'certified gap' "$tmp/log"
  verdict "small: monitor, view and reason are printed"
  missing=
  for key in rows cols nnz objective gap iterations matmults reason train_accuracy test_accuracy seconds_load seconds_solve mat_type device; do
    [ -n "$(value "$tmp/small.json" $key)" ] || missing="$missing $key"
  done
  [ -z "$missing" ]
  verdict "small: the report has all keys${missing:+ but$missing}"
  holds "$(value "$tmp/small.json" gap) <= 1e-4 && $(value "$tmp/small.json" gap) >= 0 && $(value "$tmp/small.json" train_accuracy) > 0.9"
  verdict "small: gap and accuracy"
  for n in 2 3; do
    run $n -f "$small" -mat_type aij -bmrm_lambda 1e-3 -bmrm_eps 1e-9 -model "$tmp/small$n" -report "$tmp/small$n.json"
    verdict "small: trains on $n ranks"
  done
  run 1 -f "$small" -mat_type aij -bmrm_lambda 1e-3 -bmrm_eps 1e-9 -model "$tmp/small1" -report "$tmp/small1.json"
  for n in 2 3; do
    close "$(value "$tmp/small1.json" objective)" "$(value "$tmp/small$n.json" objective)" 1e-9 && same_model "$tmp/small1" "$tmp/small$n" 1e-3
    verdict "small: $n ranks find the same model"
  done
  for type in dense gpucsr; do
    run 1 -f "$small" -mat_type $type -bmrm_lambda 1e-3 -bmrm_eps 1e-9 -mat_gpucsr_storage double -model "$tmp/model_$type" -report "$tmp/$type.json" &&
      close "$(value "$tmp/small1.json" objective)" "$(value "$tmp/$type.json" objective)" 1e-9 && same_model "$tmp/small1" "$tmp/model_$type" 1e-3
    verdict "small: -mat_type $type finds the same model"
  done
  run 1 -f "$small" -bmrm_lambda 1e-3 -report "$tmp/default.json" && case $(value "$tmp/default.json" mat_type) in *gpucsr) ;; *) false ;; esac
  verdict "small: gpucsr is the default type"
  run 1 -f "$small" -mat_type aij -bmrm_lambda 1e-3 -bmrm_line_search 0 -report "$tmp/plain.json" && close "$(value "$tmp/small1.json" objective)" "$(value "$tmp/plain.json" objective)" 1e-4
  verdict "small: BMRM without line search finds the same optimum"
  stops 1 -f "$small" -mat_type aij -bmrm_lambda 1e-3 -bmrm_max_it 3 -report "$tmp/few.json" && grep -q 'NOT CONVERGED' "$tmp/log" && [ "$(value "$tmp/few.json" reason)" = DIVERGED_MAX_IT ]
  verdict "small: a run with too few passes says that it did not converge"
  # optima by scikit-learn 1.7 (liblinear, newton-cg) at tolerance 1e-12, for l1 at 1e-10
  certified "small: logistic, l2" 0.12268188103 -f "$small" -bmrm_lambda 1e-3 -bmrm_eps 1e-8 -bmrm_loss logistic
  certified "small: logistic, l2, free bias" 0.10077056585 -f "$small" -bmrm_lambda 1e-3 -bmrm_eps 1e-8 -bmrm_loss logistic -bias 1
  certified "small: logistic, l2, free bias of another scale" 0.10077056585 -f "$small" -bmrm_lambda 1e-3 -bmrm_eps 1e-8 -bmrm_loss logistic -bias 20
  certified "small: logistic, l1" 0.12073330117 -f "$small" -bmrm_lambda 1e-3 -bmrm_eps 1e-8 -bmrm_loss logistic -bmrm_reg l1
  certified "small: squared hinge, l2" 0.09132334314 -f "$small" -bmrm_lambda 1e-3 -bmrm_eps 1e-8 -bmrm_loss sqhinge
  certified "small: squared hinge, l1, three cuts a pass" 0.09454828695 -f "$small" -bmrm_lambda 1e-3 -bmrm_eps 1e-8 -bmrm_loss sqhinge -bmrm_reg l1 -bmrm_cuts 3
  for n in 1 2; do
    run $n -f "$small" -mat_type aij -bmrm_path 1e-1,1e-2,1e-3 -cv 5 -bias 1 -model "$tmp/path$n" -report "$tmp/path$n.json" && [ "$(grep -c '^  [ *] [0-9.]*e-0' "$tmp/log")" = 3 ] && [ "$(grep -c '^  \* ' "$tmp/log")" = 1 ]
    verdict "small: a path with cross-validation, $n rank(s)"
  done
  close "$(value "$tmp/path1.json" lambda)" "$(value "$tmp/path2.json" lambda)" 0 && close "$(value "$tmp/path1.json" objective)" "$(value "$tmp/path2.json" objective)" 2e-4
  verdict "small: one and several ranks choose the same lambda"
  for n in 1 2; do
    run $n -f "$small" -mat_gpucsr_storage double -bmrm_path 1e-1,1e-2,1e-3 -bmrm_path_together -cv 5 -bias 1 -bmrm_view -report "$tmp/path.json" && close "$(value "$tmp/path.json" lambda)" "$(value "$tmp/path1.json" lambda)" 0 &&
      close "$(value "$tmp/path.json" objective)" "$(value "$tmp/path1.json" objective)" 1e-4 && [ "$(grep -c '^BMRM Object' "$tmp/log")" = 18 ] # for each of three lambdas: five folds and all data. The best lambda is the last, so that it is not solved again
    verdict "small: lambdas that are trained together give the same choice, $n rank(s)"
  done
  run 1 -model "$tmp/path1" -test "$small" -mat_type aij -predictions "$tmp/path.labels" -report "$tmp/path.json" &&
    close "$(value "$tmp/path.json" test_accuracy)" "$(value "$tmp/path1.json" train_accuracy)" 0 && close "$(value "$tmp/path.json" test_auc)" "$(value "$tmp/path1.json" train_auc)" 1e-12 && grep -q '^offset ' "$tmp/path1"
  verdict "small: a model with a bias predicts the labels of the training"
  paste -d' ' "$tmp/path.labels" <(cut -d' ' -f1 "$small") | awk -v f1="$(value "$tmp/path.json" test_f1)" -v mcc="$(value "$tmp/path.json" test_mcc)" '
    { p[NR] = $1 + 0; y[NR] = $2 + 0; if (NR == 1 || y[NR] > plus) plus = y[NR] }
    END { for (i = 1; i <= NR; i++) { if (p[i] == plus) { if (y[i] == plus) tp++; else fp++ } else { if (y[i] == plus) fn++; else tn++ } }
      F = 2 * tp / (2 * tp + fp + fn); M = (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
      exit !(F - f1 < 1e-12 && f1 - F < 1e-12 && M - mcc < 1e-12 && mcc - M < 1e-12) }'
  verdict "small: F1 and Matthews' coefficient are those of the predictions"
  stops 1 -f "$small" -mat_type aij -bmrm_lambda 1e-3 -bmrm_eps 1e-7 -bmrm_max_it 7 -report "$tmp/ours.json" && stops 1 -f "$small" -mat_type aij -bmrm_lambda 1e-3 -bmrm_epsilonTol 1e-7 -bmrm_maxNumOfIter 7 -report "$tmp/theirs.json" -options_left &&
    ! grep -q 'epsilonTol' "$tmp/log" && [ "$(value "$tmp/theirs.json" iterations)" = 7 ] && close "$(value "$tmp/ours.json" gap)" "$(value "$tmp/theirs.json" gap)" 0
  verdict "small: the option names of bmrm-2.1 have the same meaning"
  refused "small: two names of one option" 1 "are two names of one option" -f "$small" -mat_type aij -bmrm_eps 1e-3 -bmrm_epsilonTol 1e-3 -model "$tmp/out/m"
  refused "small: cross-validation without a path" 1 "name them with -bmrm_path" -f "$small" -mat_type aij -cv 3 -model "$tmp/out/m"
  refused "small: an unknown loss" 1 "-bmrm_loss hing: expected one of hinge" -f "$small" -mat_type aij -bmrm_loss hing -model "$tmp/out/m"
  refused "small: labels that do not suit the loss" 1 "does not suit the loss poisson" -f "$small" -mat_type aij -bmrm_loss poisson -model "$tmp/out/m"
  refused "small: no convergence is an error with -bmrm_error_if_not_converged" 1 "BMRM has not converged" -f "$small" -mat_type aij -bmrm_max_it 3 -bmrm_error_if_not_converged -model "$tmp/out/m" -report "$tmp/out/r"
else
  skip "small data set" "$small is missing"
fi

# --- a9a and w8a: optima, passes, accuracy ----------------------------------------------------------------------------------------------
large=$([ "${GPUCSR_SUITE:-full}" = petsc ] || echo 1) # passes and optima on large data do not depend on PETSc's release
if [ -z "$large" ]; then :; elif [ -f "$svm/a9a" ] && [ -f "$svm/a9a.t" ]; then
  for type in aij gpucsr; do
    run 1 -f "$svm/a9a" -test "$svm/a9a.t" -mat_type $type -bmrm_lambda 1e-5 -bmrm_eps 1e-4 -model "$tmp/a9a_$type" -report "$tmp/a9a_$type.json"
    verdict "a9a: trains with -mat_type $type"
    r=$tmp/a9a_$type.json
    [ "$(value "$r" reason)" = CONVERGED_GAP_ATOL ] && holds "$(value "$r" gap) <= 1e-4 && $(value "$r" objective) >= 0.35090 && $(value "$r" objective) <= 0.35103"
    verdict "a9a: $type: certified gap, objective" objective "$r"
    holds "$(value "$r" iterations) <= 80 && $(value "$r" matmults) <= 2 * $(value "$r" iterations) + 6"
    verdict "a9a: $type: at most 80 passes" iterations "$r"
    holds "$(value "$r" train_accuracy) > 0.845 && $(value "$r" test_accuracy) > 0.845"
    verdict "a9a: $type: accuracy above 84.5 %"
  done
  close "$(value "$tmp/a9a_aij.json" objective)" "$(value "$tmp/a9a_gpucsr.json" objective)" 1e-5 && same_model "$tmp/a9a_aij" "$tmp/a9a_gpucsr" 0.5
  verdict "a9a: aij and gpucsr agree"
  for n in 2 4; do
    run $n -f "$svm/a9a" -mat_type aij -bmrm_lambda 1e-5 -model "$tmp/a9a_$n" -report "$tmp/a9a_$n.json" &&
      close "$(value "$tmp/a9a_aij.json" objective)" "$(value "$tmp/a9a_$n.json" objective)" 1e-5 && holds "$(value "$tmp/a9a_$n.json" iterations) <= 85"
    verdict "a9a: $n ranks agree"
  done
  run 2 -f "$svm/a9a" -mat_type gpucsr -bmrm_lambda 1e-5 -report "$tmp/a9a_g2.json" && close "$(value "$tmp/a9a_aij.json" objective)" "$(value "$tmp/a9a_g2.json" objective)" 1e-5
  verdict "a9a: gpucsr on 2 ranks agrees"
  run 1 -model "$tmp/a9a_aij" -test "$svm/a9a.t" -mat_type aij -predictions "$tmp/labels" -report "$tmp/predict.json" &&
    close "$(value "$tmp/predict.json" test_accuracy)" "$(value "$tmp/a9a_aij.json" test_accuracy)" 0 && [ "$(value "$tmp/predict.json" objective)" = null ]
  verdict "a9a: the saved model predicts as the trained one"
  accuracy=$(paste -d' ' "$tmp/labels" <(cut -d' ' -f1 "$svm/a9a.t") | awk '$1 + 0 == $2 + 0 { n++ } END { printf "%.17g", n / NR }')
  close "$accuracy" "$(value "$tmp/predict.json" test_accuracy)" 1e-12
  verdict "a9a: the predictions have this accuracy"
else
  skip "a9a" "the data set is not in $svm"
fi
if [ -z "$large" ]; then :; elif [ -f "$svm/w8a" ]; then
  run 1 -f "$svm/w8a" -mat_type aij -bmrm_lambda 1e-5 -bmrm_eps 1e-4 -report "$tmp/w8a.json" && holds "$(value "$tmp/w8a.json" gap) <= 1e-4 && $(value "$tmp/w8a.json" iterations) <= 115"
  verdict "w8a: at most 115 passes" iterations "$tmp/w8a.json"
  run 1 -f "$svm/w8a" -mat_type aij -bmrm_best_cut 0 -report "$tmp/one.json" && holds "$(value "$tmp/one.json" iterations) <= 115 && $(value "$tmp/w8a.json" iterations) <= 90" &&
    holds "$(value "$tmp/one.json" objective) - $(value "$tmp/w8a.json" objective) <= 1e-4 && $(value "$tmp/w8a.json" objective) >= $(value "$tmp/one.json" lower_bound)"
  verdict "w8a: at most 115 passes with one cut, 90 with a second cut at the best point; both give the same certified optimum" iterations "$tmp/one.json"
else
  skip "w8a" "the data set is not in $svm"
fi

# passes with eight cuts each, and passes on a generated bag of words
if [ -n "$large" ] && [ -f "$svm/a9a" ] && [ -f "$svm/w8a" ]; then
  run 1 -f "$svm/a9a" -mat_type aij -bmrm_cuts 8 -report "$tmp/cuts.json" && holds "$(value "$tmp/cuts.json" gap) <= 1e-4 && $(value "$tmp/cuts.json" iterations) <= 45"
  verdict "a9a: at most 45 passes with eight cuts" iterations "$tmp/cuts.json"
  run 1 -f "$svm/w8a" -mat_type aij -bmrm_cuts 8 -report "$tmp/cuts.json" && holds "$(value "$tmp/cuts.json" gap) <= 1e-4 && $(value "$tmp/cuts.json" iterations) <= 90"
  verdict "w8a: at most 90 passes with eight cuts" iterations "$tmp/cuts.json"
  run 1 -f "$svm/a9a" -mat_type aij -bmrm_max_cuts 20 -report "$tmp/few.json" && holds "$(value "$tmp/few.json" gap) <= 1e-4 && $(value "$tmp/few.json" cuts) <= 23 && $(value "$tmp/few.json" iterations) <= 120"
  verdict "a9a: at most 120 passes with 20 cuts kept" iterations "$tmp/few.json"
  # optima by scikit-learn 1.7, newton-cg and liblinear at tolerance 1e-12
  certified "a9a: logistic, l2" 0.32450692471 -f "$svm/a9a" -bmrm_lambda 1e-4 -bmrm_eps 1e-6 -bmrm_loss logistic
  certified "a9a: squared hinge, l2" 0.42223535281 -f "$svm/a9a" -bmrm_lambda 1e-4 -bmrm_eps 1e-6 -bmrm_loss sqhinge
  certified "a9a: logistic, l2, free bias" 0.32441304411 -f "$svm/a9a" -bmrm_lambda 1e-4 -bmrm_eps 1e-6 -bmrm_loss logistic -bias 1
fi
if [ -z "$large" ]; then :; elif [ -x "$BUILD/bin/textgen" ] || make -s -C "$ROOT" "${BUILD#"$ROOT"/}/bin/textgen" >"$tmp/log" 2>&1; then
  "$BUILD/bin/textgen" "$tmp/text" 200000 10000 20
  for pair in "1 55" "8 40"; do
    run 1 -f "$tmp/text" -mat_type aij -bmrm_cuts "${pair% *}" -report "$tmp/text.json" && holds "$(value "$tmp/text.json" gap) <= 1e-4 && $(value "$tmp/text.json" iterations) <= ${pair#* }"
    verdict "bag of words: at most ${pair#* } passes with ${pair% *} cut(s)" iterations "$tmp/text.json"
  done
elif [ "${GPUCSR_PREBUILT:-}" = 1 ]; then
  skip "bag of words" "the program textgen is missing"
else
  not_ok "bag of words: textgen builds" "$tmp/log"
fi

# --- checkpoints ----------------------------------------------------------------------------------------------------------------------
if [ -f "$small" ]; then
  base=(-f "$small" -mat_type aij -bmrm_lambda 1e-4 -bmrm_eps 1e-8)
  for pair in "1 -bmrm_loss hinge" "2 -bmrm_loss logistic -bmrm_cuts 2 -bias 1" "1 -bmrm_loss sqhinge -bmrm_reg l1 -bmrm_max_cuts 20" "1 -bmrm_reg elasticnet -bmrm_loss huberhinge"; do
    ranks=${pair%% *}
    read -ra set <<<"${pair#* }"
    writes "$ranks" "${base[@]}" "${set[@]}" -model "$tmp/whole" -report "$tmp/whole.json" && stops "$ranks" "${base[@]}" "${set[@]}" -bmrm_max_it 13 -bmrm_checkpoint "$tmp/ck" -bmrm_checkpoint_every 5 &&
      writes "$ranks" "${base[@]}" "${set[@]}" -bmrm_restart "$tmp/ck" -model "$tmp/rest" -report "$tmp/rest.json" && cmp -s "$tmp/whole" "$tmp/rest" &&
      close "$(value "$tmp/whole.json" iterations)" "$(value "$tmp/rest.json" iterations)" 0 && holds "$(value "$tmp/whole.json" iterations) > 13"
    verdict "checkpoint: a restart gives the same bits, $ranks rank(s), ${set[*]}"
  done
  run 1 "${base[@]}" -model "$tmp/whole" && rm -f "$tmp/ck"
  "$BMRM" "${device[@]}" "${base[@]}" -bmrm_eps 0 -bmrm_qp_rtol 0 -bmrm_checkpoint "$tmp/ck" -bmrm_checkpoint_every 1 >/dev/null 2>&1 &
  victim=$!
  for ((k = 0; k < 500; k++)); do
    [ -f "$tmp/ck" ] && break
    sleep 0.01
  done
  kill -9 $victim 2>/dev/null
  wait $victim 2>/dev/null
  run 1 "${base[@]}" -bmrm_restart "$tmp/ck" -report "$tmp/rest.json" && [ "$(value "$tmp/rest.json" reason)" = CONVERGED_GAP_ATOL ]
  verdict "checkpoint: a killed training continues"
  rm -f "$tmp"/.gpucsr-*.part
  run 1 "${base[@]}" -bmrm_max_it 13 -bmrm_checkpoint "$tmp/ck"
  run 2 "${base[@]}" -bmrm_restart "$tmp/ck" -report "$tmp/rest.json" && [ "$(value "$tmp/rest.json" reason)" = CONVERGED_GAP_ATOL ]
  verdict "checkpoint: written on one rank, read on two"
  refused "checkpoint: of another lambda" 2 "was made with another lambda" "${base[@]}" -bmrm_lambda 1e-3 -bmrm_restart "$tmp/ck" -model "$tmp/out/m"
  refused "checkpoint: of another loss" 1 "was made with another loss" "${base[@]}" -bmrm_loss logistic -bmrm_restart "$tmp/ck" -model "$tmp/out/m"
  sed '1s/1:[^ ]*/1:0.123/' "$small" >"$tmp/changed"
  refused "checkpoint: of other data" 2 "belongs to other data: their checksum differs" "${base[@]}" -f "$tmp/changed" -bmrm_restart "$tmp/ck" -model "$tmp/out/m"
  head -c 3000 "$tmp/ck" >"$tmp/ck.cut"
  refused "checkpoint: a truncated file" 2 "is damaged or truncated" "${base[@]}" -bmrm_restart "$tmp/ck.cut" -model "$tmp/out/m"
  { head -c 3000 "$tmp/ck"; printf '\377'; tail -c +3002 "$tmp/ck"; } >"$tmp/ck.flip"
  refused "checkpoint: damaged" 1 "its checksum does not match its contents" "${base[@]}" -bmrm_restart "$tmp/ck.flip" -model "$tmp/out/m"
  refused "checkpoint: a file that is no checkpoint" 1 "is not a checkpoint" "${base[@]}" -bmrm_restart "$small" -model "$tmp/out/m"
  refused "checkpoint: a folder that does not exist" 2 "cannot create $tmp/nowhere/ck" "${base[@]}" -bmrm_checkpoint "$tmp/nowhere/ck" -model "$tmp/out/m"
fi

# --- regression, novelty detection: data generated by this script -----------------------------------------------------------------------------
awk 'BEGIN { srand(7); for (i = 0; i < 200; i++) { a = rand() - 0.5; b = rand() - 0.5; printf "%.6f 1:%.6f 2:%.6f\n", 3 * a - 2 * b + 5 + 0.1 * (rand() - 0.5), a, b } }' >"$tmp/numbers"
for loss in leastsquares absolute quantile epsilon sqepsilon huber; do
  run 1 -f "$tmp/numbers" -test "$tmp/numbers" -mat_type aij -bmrm_loss $loss -bmrm_loss_epsilon 0.01 -bmrm_lambda 1e-6 -bmrm_eps 1e-6 -bias 1 -model "$tmp/numbers.model" -predictions "$tmp/numbers.out" -report "$tmp/numbers.json" &&
    holds "$(value "$tmp/numbers.json" test_rmse) < 0.06 && $(value "$tmp/numbers.json" test_r2) > 0.99" && grep -q '^labels any$' "$tmp/numbers.model" && close "$(sed -n 's/^offset //p' "$tmp/numbers.model")" 5 0.1
  verdict "regression: $loss finds the line" test_rmse "$tmp/numbers.json"
done
run 1 -f "$tmp/numbers" -mat_type aij -bmrm_loss novelty -bmrm_loss_rho 2 -bmrm_lambda 1e-3 -bias 1 -bias_factor 1 -model "$tmp/novelty.model" && run 1 -model "$tmp/novelty.model" -predict "$tmp/numbers" -mat_type aij -predictions "$tmp/novelty.out" -scores &&
  awk '$2 < -0.01 { bad = 1 } END { exit bad || NR != 200 }' "$tmp/novelty.out" # the example nearest to the border may be on it: its sign depends on rounding
verdict "novelty: examples of the training are not novel"

# --- several classes, queries: data generated by this script, optima by linear programs (HiGHS) and scikit-learn (newton-cg, liblinear) -------
awk 'function next_() { s = (16807 * s) % 2147483647; return s / 2147483647 }
  BEGIN { s = 42
    for (i = 0; i < 240; i++) {
      for (j = 0; j < 4; j++) x[j] = int(200 * next_() - 100) / 100
      c = int(2 * (x[0] + x[1]) + 2 + 0.8 * next_())
      if (x[2] > 0.7) c = 5
      if (c < 0) c = 0
      printf "%d qid:%d 1:%.2f 2:%.2f 3:%.2f 4:%.2f\n", 10 * c, 1 + i % 30, x[0], x[1], x[2], x[3] } }' >"$tmp/seven"
awk '{ $1 = $1 == 50 ? 1 : -1; print }' "$tmp/seven" >"$tmp/fifty"
set=(-bmrm_lambda 1e-3 -bmrm_eps 1e-8)
certified "softmax, l2" 1.135041568385 -f "$tmp/seven" "${set[@]}" -bmrm_loss softmax
certified "multiclass, l2" 0.799373187772 -f "$tmp/seven" "${set[@]}" -bmrm_loss multiclass
certified "multiclass, l1" 0.802923329482 -f "$tmp/seven" "${set[@]}" -bmrm_loss multiclass -bmrm_reg l1
certified "multiclass, costs by distance, l1" 1.853142624210 -f "$tmp/seven" "${set[@]}" -bmrm_loss multiclass -bmrm_loss_distance 1 -bmrm_reg l1
certified "slackmulticlass, costs by distance, l1" 1.780325959948 -f "$tmp/seven" "${set[@]}" -bmrm_loss slackmulticlass -bmrm_loss_distance 1 -bmrm_reg l1 -bmrm_cuts 4
certified "preference, l1" 0.253123048778 -f "$tmp/seven" "${set[@]}" -bmrm_loss preference -bmrm_reg l1 -bmrm_cuts 3
certified "ordinal, l1" 3.814339776349 -f "$tmp/seven" "${set[@]}" -bmrm_loss ordinal -bmrm_reg l1
certified "rocarea, l1" 0.185473856107 -f "$tmp/fifty" "${set[@]}" -bmrm_loss rocarea -bmrm_reg l1
for loss in multiclass softmax; do
  for n in 1 3; do
    run $n -f "$tmp/seven" -test "$tmp/seven" -mat_type aij -bmrm_loss $loss "${set[@]}" -bias 1 -bias_factor 0.01 -model "$tmp/seven.$n" -predictions "$tmp/seven.out.$n" -scores -report "$tmp/seven.json.$n" &&
      close "$(paste -d' ' "$tmp/seven.out.$n" <(cut -d' ' -f1 "$tmp/seven") | awk '$1 == $9 { n++ } END { printf "%.17g", n / NR }')" "$(value "$tmp/seven.json.$n" test_accuracy)" 1e-12 && holds "$(value "$tmp/seven.json.$n" test_accuracy) > 0.5"
    verdict "$loss: the predictions have the accuracy of the report, $n rank(s)" test_accuracy "$tmp/seven.json.$n"
  done
  close "$(value "$tmp/seven.json.1" objective)" "$(value "$tmp/seven.json.3" objective)" 2e-8 && # at the optimum two classes of an example can have equal scores; then rounding decides
    paste -d' ' "$tmp/seven.out.1" "$tmp/seven.out.3" | awk '$1 != $9 { d = $($1 / 10 + 2) - $($9 / 10 + 2); if (d > 1e-6) bad = 1 } END { exit bad || NR != 240 }'
  verdict "$loss: ranks agree"
  run 2 -model "$tmp/seven.1" -test "$tmp/seven" -mat_type gpucsr -mat_gpucsr_storage double -predictions "$tmp/seven.again" -report "$tmp/again.json" && grep -q '^classes 7$' "$tmp/seven.1" &&
    close "$(value "$tmp/again.json" test_accuracy)" "$(value "$tmp/seven.json.1" train_accuracy)" 0 && cmp -s "$tmp/seven.again" <(cut -d' ' -f1 "$tmp/seven.out.1")
  verdict "$loss: the saved model predicts as the trained one"
done
for type in gpucsr dense; do
  run 1 -f "$tmp/seven" -mat_type $type -mat_gpucsr_storage double -bmrm_loss softmax "${set[@]}" -bias 1 -bias_factor 0.01 -report "$tmp/type.json" && close "$(value "$tmp/type.json" objective)" "$(value "$tmp/seven.json.1" objective)" 2e-8
  verdict "softmax: -mat_type $type agrees"
done
run 2 -f "$tmp/seven" -mat_type aij -bmrm_loss softmax -bmrm_path 1e-1,1e-3 -cv 4 -report "$tmp/cv.json" && close "$(value "$tmp/cv.json" lambda)" 1e-3 0 && grep -q 'accuracy train / validation' "$tmp/log"
verdict "softmax: cross-validation"
head -n 9 "$tmp/seven.1" >"$tmp/cut.model"
refused "several classes: a truncated model" 2 "cut.model:10: expected a label" -model "$tmp/cut.model" -test "$tmp/seven" -mat_type aij -report "$tmp/out/r"
refused "several classes: unknown labels in a test" 1 "is none of the model's 7 from 0 to 60" -model "$tmp/seven.1" -test "$tmp/fifty" -mat_type aij -report "$tmp/out/r"
refused "queries: cannot be stored in a binary file" 1 "cannot store the queries of qid:" -f "$tmp/seven" -mat_type aij -bmrm_loss preference -save_binary "$tmp/out/cache"
awk '{ printf "%s", $1; for (k = 2; k <= NF; k++) { split($k, e, ":"); printf " %s", e[1] == 2 ? "2:" 8 * e[2] : $k }; print "" }' "$tmp/seven" >"$tmp/large"
for n in 1 2; do
  run $n -f "$tmp/large" -scale -normalize -mat_type aij -bmrm_loss softmax "${set[@]}" -model "$tmp/large.model" -report "$tmp/large.json" && run $n -model "$tmp/large.model" -test "$tmp/large" -mat_type aij -report "$tmp/after.json" &&
    close "$(value "$tmp/large.json" train_accuracy)" "$(value "$tmp/after.json" test_accuracy)" 0
  verdict "several classes: a model trained on scaled features predicts from unscaled ones, $n rank(s)"
done
refused "several classes: one label an example, but a loss for several" 1 "-bmrm_loss multilabel needs several labels an example" -f "$tmp/seven" -mat_type aij -bmrm_loss multilabel -model "$tmp/out/m"
for n in 1 2; do
  run $n -f "$tmp/seven" -test "$tmp/seven" -mat_type aij -bmrm_loss preference "${set[@]}" -model "$tmp/ranking.$n" -predictions "$tmp/ranking.out.$n" -report "$tmp/ranking.json.$n" && grep -q '^labels order$' "$tmp/ranking.$n" && [ "$(value "$tmp/ranking.json.$n" test_rmse)" = null ]
  verdict "preference: trains, $n rank(s)"
done
close "$(value "$tmp/ranking.json.1" objective)" "$(value "$tmp/ranking.json.2" objective)" 2e-8
verdict "preference: ranks agree"
sed 's/qid:[0-9]* //' "$tmp/seven" >"$tmp/unasked"
certified "preference without qid: all examples are one query, l1" 0.230498411929 -f "$tmp/unasked" "${set[@]}" -bmrm_loss preference -bmrm_reg l1
printf '0\n1\n0\n1\n' >"$tmp/groups"
for n in 1 3; do
  run $n -f "$tmp/fifty" -mat_type aij -bmrm_reg grouplasso -groups "$tmp/groups" "${set[@]}" -bias 1 -report "$tmp/groups.json.$n" && [ "$(value "$tmp/groups.json.$n" reason)" = CONVERGED_GAP_ATOL ]
  verdict "group lasso: groups from a file and a free bias, $n rank(s)" objective "$tmp/groups.json.$n"
done
awk '{ print $1, $3, "2" substr($5, 2), "3" substr($4, 2), $6 }' "$tmp/fifty" >"$tmp/sorted" # contiguous groups
run 1 -f "$tmp/sorted" -mat_type aij -bmrm_reg grouplasso -bmrm_reg_group_size 2 "${set[@]}" -bias 1 -report "$tmp/sorted.json" &&
  close "$(value "$tmp/sorted.json" objective)" "$(value "$tmp/groups.json.1" objective)" 2e-8 && close "$(value "$tmp/groups.json.3" objective)" "$(value "$tmp/groups.json.1" objective)" 2e-8
verdict "group lasso: the same groups given by their size, also on several ranks"
printf '0\n1\nx\n' >"$tmp/bad.groups"
refused "group lasso: an invalid group" 2 "bad.groups:3: expected the number of a group" -f "$tmp/fifty" -mat_type aij -bmrm_reg grouplasso -groups "$tmp/bad.groups" -model "$tmp/out/m"
printf '0\n1\n' >"$tmp/few.groups"
refused "group lasso: too few groups" 1 "2 lines with groups, but the data have 4 features" -f "$tmp/fifty" -mat_type aij -bmrm_reg grouplasso -groups "$tmp/few.groups" -model "$tmp/out/m"
refused "preference: more cuts than queries" 1 "5 cuts a pass, but the risk of the loss rocarea has 1 part here" -f "$tmp/fifty" -mat_type aij -bmrm_loss rocarea -bmrm_cuts 5 -model "$tmp/out/m"
run 1 -f "$tmp/seven" -mat_type aij -bmrm_loss softmax -bmrm_reg grouplasso -bmrm_lambda 0.03 -bmrm_eps 1e-7 -bmrm_max_it 13 -bmrm_checkpoint "$tmp/ck7" -bmrm_checkpoint_every 5
run 1 -f "$tmp/seven" -mat_type aij -bmrm_loss softmax -bmrm_reg grouplasso -bmrm_lambda 0.03 -bmrm_eps 1e-7 -bmrm_restart "$tmp/ck7" -model "$tmp/rest7" -report "$tmp/rest.json" &&
  run 1 -f "$tmp/seven" -mat_type aij -bmrm_loss softmax -bmrm_reg grouplasso -bmrm_lambda 0.03 -bmrm_eps 1e-7 -model "$tmp/whole7" && cmp -s "$tmp/whole7" "$tmp/rest7" && holds "$(value "$tmp/rest.json" iterations) > 13"
verdict "softmax: a restart gives the same bits"
refused "softmax: a checkpoint of another number of ranks" 2 "was made on another number of ranks" -f "$tmp/seven" -mat_type aij -bmrm_loss softmax -bmrm_reg grouplasso -bmrm_lambda 0.03 -bmrm_restart "$tmp/ck7" -model "$tmp/out/m"
run 1 -f "$tmp/seven" -mat_type aij -bmrm_loss preference "${set[@]}" -bmrm_max_it 6 -bmrm_checkpoint "$tmp/ckq" -bmrm_checkpoint_every 5
sed '7s/qid:[0-9]*/qid:1/' "$tmp/seven" >"$tmp/asked"
refused "preference: a checkpoint of other queries" 1 "belongs to other data" -f "$tmp/asked" -mat_type aij -bmrm_loss preference "${set[@]}" -bmrm_restart "$tmp/ckq" -model "$tmp/out/m"
refused "softmax: a checkpoint of another group size" 1 "was made with another loss or regulariser" -f "$tmp/seven" -mat_type aij -bmrm_loss softmax -bmrm_reg grouplasso -bmrm_reg_group_size 2 -bmrm_lambda 0.03 -bmrm_restart "$tmp/ck7" -model "$tmp/out/m"

# --- saved models: data of a few lines, written by this script ---------------------------------------------------------------------------------------
printf '2 1:1 2:0.5\n1 1:-1 3:0.25\n2 2:1\n1 1:-0.5 2:-1\n' >"$tmp/tiny"
run 1 -f "$tmp/tiny" -mat_type aij -bmrm_lambda 0.01 -model "$tmp/tiny.model" && grep -q '^labels 1 2$' "$tmp/tiny.model"
verdict "model: labels other than -1 and 1 are kept"
for n in 1 2; do
  run $n -model "$tmp/tiny.model" -predict "$tmp/tiny" -mat_type aij -predictions "$tmp/tiny.out" && [ "$(tr '\n' ' ' <"$tmp/tiny.out")" = "2 1 2 1 " ]
  verdict "model: predicts its labels on $n ranks"
done
printf '7 1:1\n8 1:-1\n' >"$tmp/narrow"
run 1 -model "$tmp/tiny.model" -predict "$tmp/narrow" -mat_type aij -predictions "$tmp/narrow.out" -scores && awk '$1 == 2 && $2 > 0 { a++ } $1 == 1 && $2 < 0 { b++ } END { exit !(a == 1 && b == 1) }' "$tmp/narrow.out"
verdict "model: data with fewer features than the model, unknown labels, written scores"
printf '2 1:1 9:1\n1 1:-1\n' >"$tmp/wide"
refused "model: data with more features than the model" 1 "wide:1: feature 9, but the model has 3 features: train with -features 9" -model "$tmp/tiny.model" -test "$tmp/wide" -mat_type aij -report "$tmp/out/r" -predictions "$tmp/out/p"
run 1 -f "$tmp/tiny" -features 9 -mat_type aij -bmrm_lambda 0.01 -test "$tmp/wide" && grep -q '100.0000 % of 2' "$tmp/log"
verdict "model: -features reserves further features"
refused "model: unknown labels in a test" 1 "narrow:1: label 7 is neither of the model's 1 and 2" -model "$tmp/tiny.model" -test "$tmp/narrow" -mat_type aij -report "$tmp/out/r"
head -n 7 "$tmp/tiny.model" >"$tmp/cut.model"
refused "model: a truncated file" 2 "cut.model:8: expected" -model "$tmp/cut.model" -test "$tmp/tiny" -mat_type aij -report "$tmp/out/r"
refused "model: a file that is no model" 1 "tiny:1: expected the first line of a model" -model "$tmp/tiny" -test "$tmp/tiny" -mat_type aij
refused "model: a missing file" 1 "No such file" -model "$tmp/nowhere" -test "$tmp/tiny" -mat_type aij

# --- pictures ---------------------------------------------------------------------------------------------------------------------
export GPUCSR_CAIRO=none # pictures in SVG with texts; tests/app/run_pictures.sh tests the other formats
if [ -f "$small" ]; then
  for n in 1 2; do
    run $n -f "$small" -mat_type aij -bmrm_lambda 1e-3 -bmrm_monitor -picture "$tmp/picture.svg" && [ "$(grep -c '<polyline.*stroke-width="2"' "$tmp/picture.svg")" = 6 ] && tail -n 1 "$tmp/picture.svg" | grep -q '^</svg>$' &&
      [ "$(sed -n 's/.*"#0072b2" stroke-width="2" points="\([^"]*\)".*/\1/p' "$tmp/picture.svg" | tail -n 1 | wc -w)" = "$(grep -c 'BMRM objective' "$tmp/log")" ]
    verdict "picture: one point for each pass, $n rank(s)"
  done
  run 1 -f "$small" -mat_type aij -bmrm_path 1e-1,1e-2 -cv 2 -picture "$tmp/picture.svg" && grep -q '<polyline' "$tmp/picture.svg"
  verdict "picture: a path"
  refused "picture: a folder that does not exist" 1 "cannot create $tmp/nowhere/p.svg" -f "$small" -mat_type aij -picture "$tmp/nowhere/p.svg" -model "$tmp/out/m"
  refused "picture: prediction without training" 1 "-picture shows the training" -model "$tmp/small" -test "$small" -picture "$tmp/out/p.svg"
  if (cd "$tmp" && run 1 -f "$small" -mat_type aij -bmrm_lambda 1e-3 -bmrm_monitor draw -draw_type image -draw_save drawn.ppm); then # PETSc takes all that follows the first dot for the ending, and $tmp holds one
    [ -n "$(find "$tmp" -name 'drawn*.ppm' -size +1k)" ]
    verdict "picture: -bmrm_monitor draw saves its picture"
  else
    skip "picture: -bmrm_monitor draw" "this PETSc draws no images"
  fi
  run 2 -f "$small" -mat_type aij -bmrm_lambda 1e-3 -bmrm_monitor draw -draw_type null
  verdict "picture: -bmrm_monitor draw on two ranks"
fi

# --- scaling and probabilities ----------------------------------------------------------------------------------------------------
if [ -f "$small" ]; then
  awk '{ s = 0; printf "%s", $1
    for (k = 2; k <= NF; k++) { split($k, e, ":"); s += e[2] * e[2] }
    for (k = 2; k <= NF; k++) { split($k, e, ":"); printf " %s:%.17g", e[1], e[2] / sqrt(s) }
    print "" }' "$small" >"$tmp/unit"
  awk 'FNR == NR { for (k = 2; k <= NF; k++) { split($k, e, ":"); v = e[2] < 0 ? -e[2] : e[2]; if (v > m[e[1]]) m[e[1]] = v }; next }
    { printf "%s", $1; for (k = 2; k <= NF; k++) { split($k, e, ":"); printf " %s:%.17g", e[1], e[2] / m[e[1]] }; print "" }' "$tmp/unit" "$tmp/unit" >"$tmp/scaled"
  set=(-mat_type aij -bmrm_lambda 1e-3 -bmrm_eps 1e-9)
  run 1 -f "$tmp/unit" "${set[@]}" -report "$tmp/unit.json" && run 1 -f "$tmp/scaled" "${set[@]}" -report "$tmp/scaled.json"
  verdict "scaling: the same as data that were scaled before"
  for n in 1 2; do
    run $n -f "$small" -normalize "${set[@]}" -model "$tmp/normalized" -report "$tmp/normalized.json" && close "$(value "$tmp/unit.json" objective)" "$(value "$tmp/normalized.json" objective)" 2e-9 &&
      run $n -model "$tmp/normalized" -test "$small" -mat_type aij -report "$tmp/after.json" && close "$(value "$tmp/normalized.json" train_auc)" "$(value "$tmp/after.json" test_auc)" 1e-9 && close "$(value "$tmp/normalized.json" train_accuracy)" "$(value "$tmp/after.json" test_accuracy)" 0
    verdict "scaling: -normalize is the same as rows of length 1, also in predictions, $n rank(s)"
    run $n -f "$small" -normalize -scale -bias 1 "${set[@]}" -model "$tmp/both" -report "$tmp/both.json" && run 1 -f "$tmp/scaled" -bias 1 "${set[@]}" -report "$tmp/scaled.json" && close "$(value "$tmp/scaled.json" objective)" "$(value "$tmp/both.json" objective)" 2e-9 &&
      run $n -model "$tmp/both" -test "$small" -mat_type aij -report "$tmp/after.json" && close "$(value "$tmp/both.json" train_auc)" "$(value "$tmp/after.json" test_auc)" 1e-9
    verdict "scaling: -normalize, -scale and a bias together, $n rank(s)"
    run $n -f "$small" "${set[@]}" -platt 1 -model "$tmp/platt$n" && run $n -model "$tmp/platt$n" -predict "$small" -mat_type aij -predictions "$tmp/platt.out" -scores -probabilities &&
      paste -d' ' "$tmp/platt.out" <(cut -d' ' -f1 "$small") | awk '
        { f[NR] = $2; p[NR] = $3; y[NR] = $4 + 0; if (NR == 1 || y[NR] > top) top = y[NR] }
        END { for (i = 1; i <= NR; i++) plus += y[i] == top
          for (i = 1; i <= NR; i++) { t = y[i] == top ? (plus + 1) / (plus + 2) : 1 / (NR - plus + 2); g += t - p[i]; h += f[i] * (t - p[i]); if (p[i] < 0 || p[i] > 1) bad++ }
          exit !(NR && !bad && g * g < 1e-12 && h * h < 1e-12) }'
    verdict "probabilities: the cross-entropy is at its minimum, $n rank(s)"
    run $n -f "$small" "${set[@]}" -platt 5 -bias 1 -model "$tmp/held$n" && grep -q '^platt -' "$tmp/held$n"
    verdict "probabilities: fitted by cross-validation, $n rank(s)"
  done
  [ "$(sed -n 's/^platt //p' "$tmp/held1" | cut -c1-7)" = "$(sed -n 's/^platt //p' "$tmp/held2" | cut -c1-7)" ] && [ "$(sed -n 's/^platt -//p' "$tmp/held1" | cut -d. -f1)" -le "$(sed -n 's/^platt -//p' "$tmp/platt1" | cut -d. -f1)" ]
  verdict "probabilities: ranks agree; scores of cross-validation give less certain probabilities than those of the training"
  refused "probabilities: a model without them" 1 "train it with -platt" -model "$tmp/both" -predict "$small" -mat_type aij -predictions "$tmp/out/p" -probabilities
  refused "probabilities: a regression" 2 "which -bmrm_loss leastsquares does not separate" -f "$small" -mat_type aij -bmrm_loss leastsquares -platt 1 -model "$tmp/out/m"
  sed 's/^platt .*/platt nan 1/' "$tmp/platt1" >"$tmp/cut.model"
  refused "probabilities: a model with nan" 1 "cut.model:6: expected 'weights'" -model "$tmp/cut.model" -test "$small" -mat_type aij
fi

# --- invalid input, on one rank and on two ------------------------------------------------------------------------------------------
bad() { # bad NAME TEXT MESSAGE
  printf "$2" >"$tmp/bad"
  for n in 1 2; do refused "bad input: $1, $n rank(s)" $n "$3" -f "$tmp/bad" -mat_type aij -model "$tmp/out/m" -report "$tmp/out/r"; done
}
bad "token" '1 1:1\n-1 1:1 2:x\n' "bad:2:10: expected a finite number as value, got 'x'"
bad "index 0" '1 1:1\n-1 0:1\n' "bad:2:4: indices are counted from 1"
bad "falling indices" '1 1:1\n-1 3:1 2:1\n' "bad:2:8: indices must ascend within a line"
bad "empty file" '' "bad: the file holds no examples"
bad "one class" '1 1:1\n1 2:1\n' "bad: all labels are 1, expected two classes"
bad "three classes" '1 1:1\n2 2:1\n3 2:1\n' "bad: expected two classes, got more"
bad "NaN label" 'nan 1:1\n1 2:1\n' "bad:1:1: expected a finite number as label"
if [ -f "$small" ]; then
  run 1 -f "$small" -mat_type aij -bmrm_lambda 1e-3 -model "$tmp/plain1" && run 2 -f "$small" -mat_type aij -bmrm_lambda 1e-3 -model "$tmp/plain2"
  verdict "compressed: the model of the uncompressed file"
  for pack in gzip xz bzip2 zstd; do
    if command -v $pack >/dev/null; then
      $pack -c <"$small" >"$tmp/pa'cked" && run 1 -f "$tmp/pa'cked" -mat_type aij -bmrm_lambda 1e-3 -model "$tmp/packed1" && cmp -s "$tmp/plain1" "$tmp/packed1" &&
        run 2 -f "$tmp/pa'cked" -mat_type aij -bmrm_lambda 1e-3 -model "$tmp/packed2" && cmp -s "$tmp/plain2" "$tmp/packed2"
      verdict "compressed: $pack gives the same model"
      head -c 500 "$tmp/pa'cked" >"$tmp/cut"
      for n in 1 2; do refused "compressed: $pack, truncated, $n rank(s)" $n "cut: $pack cannot decompress the file" -f "$tmp/cut" -mat_type aij -model "$tmp/out/m"; done
    else
      skip "compressed: $pack" "$pack is not installed"
    fi
  done
fi

# --- PETSc's binary format --------------------------------------------------------------------------------------------------------
if [ -f "$small" ]; then
  for n in 1 2 3; do
    run $n -f "$small" -mat_type aij -bmrm_lambda 1e-3 -bmrm_eps 1e-9 -model "$tmp/text.model" -save_binary "$tmp/cache$n" && run 1 -f "$tmp/cache$n" -mat_type aij -bmrm_lambda 1e-3 -bmrm_eps 1e-9 -model "$tmp/binary.model" &&
      cmp -s "$tmp/cache1" "$tmp/cache$n" && same_model "$tmp/text.model" "$tmp/binary.model" 1e-3
    verdict "binary: $n rank(s) write the same file, which gives the same model"
    run 1 -f "$small" -mat_type aij -bmrm_lambda 1e-3 -bmrm_eps 1e-9 -report "$tmp/text.json" && run $n -f "$tmp/cache1" -mat_type aij -bmrm_lambda 1e-3 -bmrm_eps 1e-9 -test "$tmp/cache1" -report "$tmp/binary.json" &&
      close "$(value "$tmp/text.json" objective)" "$(value "$tmp/binary.json" objective)" 1e-9 && close "$(value "$tmp/text.json" nnz)" "$(value "$tmp/binary.json" nnz)" 0 && close "$(value "$tmp/text.json" train_accuracy)" "$(value "$tmp/binary.json" test_accuracy)" 0
    verdict "binary: read on $n rank(s)"
  done
  damaged() { # damaged NAME MESSAGE: $tmp/damaged is an error on one rank and on two
    for n in 1 2; do refused "binary: $1, $n rank(s)" $n "$2" -f "$tmp/damaged" -mat_type aij -model "$tmp/out/m"; done
  }
  poke() { cp "$tmp/cache1" "$tmp/damaged" && printf "$2" | dd of="$tmp/damaged" bs=1 seek="$1" conv=notrunc 2>/dev/null; } # poke OFFSET BYTES
  rows=$(value "$tmp/text.json" rows) nnz=$(value "$tmp/text.json" nnz)
  head -c 12 "$tmp/cache1" >"$tmp/damaged" && damaged "cut off in the header" "does not hold the header of a PETSc binary matrix"
  head -c 3000 "$tmp/cache1" >"$tmp/damaged" && damaged "cut off" "the file has 3000 bytes, too few for a"
  head -c -8 "$tmp/cache1" >"$tmp/damaged" && damaged "without the last label" "the file is truncated or has no labels"
  columns=$((GPUCSR_INT_BYTES * (4 + rows))) # offset of the column indices
  values=$((columns + GPUCSR_INT_BYTES * nnz))
  vector=$((values + 8 * nnz))
  poke $((5 * GPUCSR_INT_BYTES - 1)) '\377' && damaged "a length of a row" "row 0 has 255 nonzeros, in a matrix of"
  poke $columns '\177' && damaged "a column" "row 0: column index "
  poke $values '\177\370\0\0' && damaged "a NaN" "row 0 has a value that is not finite"
  poke $vector 'x' && damaged "no vector" "bytes after the matrix of"
  poke $((vector + 2 * GPUCSR_INT_BYTES)) '\177\370\0\0' && damaged "a label that is NaN" "the label of row 0 is not finite"
  if [ "$GPUCSR_INT_BYTES" = 4 ]; then { printf '\0\0\0\0'; cat "$tmp/cache1"; } >"$tmp/damaged" && damaged "64-bit indices" "the file was written by a PETSc with 64-bit indices"
  else tail -c +5 "$tmp/cache1" >"$tmp/damaged" && damaged "32-bit indices" "the file was written by a PETSc with 32-bit indices"; fi
  mkdir -p "$tmp/full"
  if mount -t tmpfs -o size=16k tmpfs "$tmp/full" 2>/dev/null; then
    for n in 1 2; do
      refused "binary: a full file system, $n rank(s)" $n "No space left on device; the temporary file was removed" -f "$small" -mat_type aij -save_binary "$tmp/full/cache" -model "$tmp/out/m" && [ -z "$(ls "$tmp/full")" ]
      verdict "binary: no temporary file is left, $n rank(s)"
    done
    cp "$tmp/tiny.model" "$tmp/full/model" && dd if=/dev/zero of="$tmp/full/filler" 2>/dev/null
    for n in 1 2; do
      refused "output: a full file system, $n rank(s)" $n "No space left on device" -f "$small" -mat_type aij -bmrm_lambda 1e-3 -model "$tmp/full/model"
      cmp -s "$tmp/tiny.model" "$tmp/full/model" && [ "$(ls "$tmp/full")" = "$(printf 'filler\nmodel')" ]
      verdict "output: the old model is unchanged, $n rank(s)"
    done
    umount "$tmp/full"
  else
    skip "binary: a full file system" "this user may not mount a small file system"
  fi
fi
# --- Matrix Market ----------------------------------------------------------------------------------------------------------------
if [ -f "$small" ]; then
  awk '{ for (k = 2; k <= NF; k++) { split($k, e, ":"); print NR, e[1], e[2] } }' "$small" | sort -k2,2n -k1,1n >"$tmp/triples" # sorted by columns, as most programs write it
  cut -d' ' -f1 "$small" | tee "$tmp/market.labels" "$tmp/dense.labels" >"$tmp/bad.labels"
  rows=$(wc -l <"$tmp/bad.labels") cols=$(tail -1 "$tmp/triples" | cut -d' ' -f2) nnz=$(wc -l <"$tmp/triples")
  { printf '%%%%MatrixMarket matrix coordinate real general\n%% by columns\n\n%d %d %d\n' "$rows" "$cols" "$nnz" && cat "$tmp/triples"; } >"$tmp/market.mtx"
  { printf '%%%%MatrixMarket matrix array real general\n%d %d\n' "$rows" "$cols" && awk -v m="$rows" -v n="$cols" '{ a[$1, $2] = $3 } END { for (j = 1; j <= n; j++) for (i = 1; i <= m; i++) print (i, j) in a ? a[i, j] : 0 }' "$tmp/triples"; } >"$tmp/dense.mtx"
  set=(-mat_type aij -bmrm_lambda 1e-3 -bmrm_eps 1e-9)
  run 1 -f "$small" "${set[@]}" -report "$tmp/text.json"
  for file in market dense; do
    for n in 1 3; do
      run $n -f "$tmp/$file.mtx" "${set[@]}" -test "$small" -report "$tmp/market.json" && close "$(value "$tmp/text.json" objective)" "$(value "$tmp/market.json" objective)" 1e-9 &&
        close "$(value "$tmp/text.json" nnz)" "$(value "$tmp/market.json" nnz)" 0 && close "$(value "$tmp/text.json" train_accuracy)" "$(value "$tmp/market.json" test_accuracy)" 0
      verdict "Matrix Market: $file.mtx gives the same model as the text, $n rank(s)"
    done
  done
  market() { # market NAME MESSAGE: $tmp/bad.mtx is an error on one rank and on three
    for n in 1 3; do refused "Matrix Market: $1, $n rank(s)" $n "$2" -f "$tmp/bad.mtx" -mat_type aij -model "$tmp/out/m"; done
  }
  sed '1s/general/symmetric/' "$tmp/market.mtx" >"$tmp/bad.mtx" && market "a symmetric matrix that is not square" "bad.mtx:4: expected as many rows as columns"
  sed '1s/general/hermitian/' "$tmp/market.mtx" >"$tmp/bad.mtx" && market "a hermitian matrix" "bad.mtx:1: expected a real matrix"
  sed '4s/ [0-9]*$//' "$tmp/market.mtx" >"$tmp/bad.mtx" && market "sizes that lack one" "bad.mtx:4: expected the sizes <rows> <columns> <entries>"
  head -n -1 "$tmp/market.mtx" >"$tmp/bad.mtx" && market "cut off" "it is truncated or damaged"
  sed '9s/^[0-9]*/4000/' "$tmp/market.mtx" >"$tmp/bad.mtx" && market "no such row" "bad.mtx:9: expected a row from 1 to "
  sed '9s/$/x/' "$tmp/market.mtx" >"$tmp/bad.mtx" && market "no number" "bad.mtx:9: expected a finite value"
  cp "$tmp/market.mtx" "$tmp/bad.mtx" && sed -i '$d' "$tmp/bad.labels" && market "a label too few" "bad.labels: there are $((rows - 1)) labels, the matrix has $rows rows"
  rm "$tmp/bad.labels" && market "no labels" "No such file"
fi
refused "bad input: a missing file" 1 "No such file" -f "$tmp/nowhere" -mat_type aij -model "$tmp/out/m"
refused "bad input: a folder" 1 "Is a directory" -f "$tmp" -mat_type aij -model "$tmp/out/m"

# --- usage, and output that cannot be written -------------------------------------------------------------------------------------
refused "usage: no arguments" 1 "bmrm: nothing to do: give -f"
refused "usage: a model without data" 1 "bmrm: a model alone: give one of -test" -model "$tmp/tiny.model"
refused "usage: predictions without test data" 1 "bmrm: -predictions needs" -f "$tmp/tiny" -predictions "$tmp/out/p"
refused "usage: a negative lambda" 1 "expected a number greater than 0" -f "$tmp/tiny" -mat_type aij -bmrm_lambda -1 -model "$tmp/out/m"
run 1 -help && grep -q -- '-bmrm_idle_age' "$tmp/log" && grep -q -- '-predictions' "$tmp/log"
verdict "usage: -help lists the options"
refused "output: a folder that does not exist" 1 "cannot create $tmp/nowhere/m" -f "$tmp/tiny" -mat_type aij -model "$tmp/nowhere/m"
mkdir -p "$tmp/way/x"
refused "output: a folder of the same name" 2 "cannot create $tmp/way" -f "$tmp/tiny" -mat_type aij -report "$tmp/way"
[ -z "$(find "$tmp" -name '*.part')" ]
verdict "output: no partial file is left"
