#!/usr/bin/env bash
# make demo: train a linear support vector machine on real data with a gpucsr matrix, and test it; then divide the training data into clusters.
#
# The data are a9a (32561 training examples, 123 features) if $GPUCSR_DATA has it, else the breast cancer data of the project.
set -u
. "$(dirname "$0")/env.sh"
train=${GPUCSR_DATA:-}/svm/a9a test=${GPUCSR_DATA:-}/svm/a9a.t
if [ ! -f "$train" ] || [ ! -f "$test" ]; then
  train=solvers/bmrm/data/breast-cancer.libsvm test=solvers/bmrm/data/breast-cancer.t.libsvm
fi
run=("$BMRM" -f "$train" -test "$test" -mat_type gpucsr -bmrm_lambda 1e-5 -bmrm_eps 1e-4 -bmrm_monitor "$@")
echo "${run[*]}"
"${run[@]}" || exit
run=("$BUILD/bin/kmeans" -f "$train" -kmeans_clusters 5 -silhouette 1000)
echo "${run[*]}"
exec "${run[@]}"
