#!/usr/bin/env bash
# Files that bmrm refuses: sizes out of proportion to the file, labels that do not suit the loss, damaged models.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
[ -x "$BMRM" ] || { not_ok "bmrm is built ($BMRM)"; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
run() { # run RANKS ARGUMENTS: with too little memory for a vector of 2^31 weights
  local n=$1
  shift
  (ulimit -v 9000000 && timeout 60 "$MPIEXEC" -n "$n" "$BMRM" -gpucsr_device host -mat_type aij "$@") >log 2>&1
}
verdict() { if [ "$1" -eq 0 ]; then ok "$2"; else not_ok "$2" log; fi }
refused() { # refused NAME MESSAGE ARGUMENTS: on one rank and on two, with code 4 and in one line
  local name=$1 message=$2 n
  shift 2
  for n in 1 2; do
    run $n "$@"
    [ $? -eq 4 ] && grep -qF -- "bmrm: $message" log && ! grep -qE 'Segmentation|PETSC ERROR' log
    verdict $? "refused: $name, $n rank(s)"
  done
}
printf '1 1:1 2:0.5\n-1 1:-1 3:0.25\n1 2:1\n-1 1:-0.5 2:-1\n' >data
run 1 -f data -bias 0 -bmrm_lambda 0.01 -model good
verdict $? "a model to damage"

# --- sizes ------------------------------------------------------------------------------------------------------------------------
printf '+1 1:1\n# 2\n+1 2147483647:1\n-1 1:1\n' >huge
refused "a feature index of 2^31 - 1" "huge:3: feature 2147483647 in data of 3 entries: every vector of weights would take 16.0 GiB; give -features 2147483647 if that is meant" -f huge
printf 'bmrm-model 1\nloss hinge\nlambda 1\nfeatures 2147483647\nlabels -1 1\nweights 0\nend\n' >model
refused "a model of 2^31 - 1 features" "model:4: 2147483647 features and 0 weights that are not zero: the weights would take 16.0 GiB; give -features" -model model -test data
printf 'bmrm-model 1\nloss softmax\nlambda 1\nfeatures 1\nclasses 2000000000\n1 0\n2 0\nweights 0\nend\n' >model
refused "a model of 2e9 classes" "model:8: expected a label, higher than the one before, and an offset, got 'weights 0'" -model model -test data
printf 'bmrm-model 1\nloss hinge\nlambda 1\nfeatures 2000000000\nlabels -1 1\nweights 2000000000\n1 1\nend\n' >model
refused "a model that announces 2e9 weights" "model:8: expected an index" -model model -test data
printf '1 20000000:1\n-1 1:1\n' >wide
refused "20 million features for two entries" "wide:1: feature 20000000 in data of 2 entries" -f wide
run 1 -f wide -features 20000000 -bmrm_max_it 2 -model wide.model
[ $? -ne 4 ] && grep -q '^features 20000000$' wide.model && run 1 -model wide.model -test wide -features 20000000 && grep -q 'of 2 examples' log
verdict $? "-features says that they are meant"
refused "the model of these, without -features" "wide.model:4: 20000000 features" -model wide.model -test wide
printf '%%%%MatrixMarket matrix coordinate real general\n2000000000 3 1\n1 2 1\n' >rows.mtx
printf '1\n' >rows.labels
refused "a Matrix Market file of 2e9 rows and one label" "rows.mtx:2: 2000000000 rows and 3 columns in a file of" -f rows.mtx

# --- labels -----------------------------------------------------------------------------------------------------------------------
printf '# a comment\n3 1:1\n\n-2 2:1\n' >counts
refused "a negative count" "counts:4: label -2 does not suit the loss poisson, which wants" -f counts -bmrm_loss poisson
run 1 -f data -bmrm_lambda 0.01 -save_binary binary
refused "a negative count in a binary file" "binary: row 1, counted from 0: label -1 does not suit the loss poisson, which wants" -f binary -bmrm_loss poisson
awk 'BEGIN { for (i = 0; i < 30000; i++) { if (i % 7 == 0) print "# " i; printf "%d 1:1\n", i == 29000 ? -5 : i } }' >many
refused "a negative count behind many comments" "many:33144: label -5 does not suit the loss poisson" -f many -bmrm_loss poisson
printf '1 1:1 9:1\n' >nine
refused "a feature that the model does not have" "nine:1: feature 9, but the model has 3 features" -model good -test nine

# --- models and groups --------------------------------------------------------------------------------------------------------------
{ cat good && echo more; } >model
refused "a model with something behind its end" "model:11: expected nothing after 'end', got 'more'" -model model -test data
sed 's/^lambda .*/lambda inf/' good >model
refused "a model with an infinite lambda" "model:3: expected 'lambda' and a positive number" -model model -test data
sed '7s/ .*/ nan/' good >model
refused "a model with a weight that is not finite" "model:7: expected an index, higher than the one before and no more than the features, and a weight" -model model -test data
mkdir folder
refused "a directory as model" "folder: Is a directory" -model folder -test data
gzip -c good >packed
run 1 -model packed -test data -predictions one && run 1 -model - -test data -predictions two <good && cmp -s one two
verdict $? "a model is read compressed, and from standard input"
printf '0\n1e300\n0\n' >groups
refused "a group number beyond integers" "groups:2: expected the number of a group" -f data -bmrm_reg grouplasso -groups groups
