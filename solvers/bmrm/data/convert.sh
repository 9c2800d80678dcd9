#!/usr/bin/env bash
# convert.sh breast_cancer.csv: make breast-cancer.libsvm and breast-cancer.t.libsvm from the CSV of scikit-learn.
#
# Every fourth case goes into the test file.  Each feature is scaled linearly so that the training cases span [-1,1].
# Labels: +1 malignant, -1 benign.
set -eu
csv=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
LC_ALL=C awk -F, '
NR == 1 { features = $2; next }
{
  n++; label[n] = $(features + 1) == 0 ? "+1" : "-1"; train[n] = n % 4 != 0
  for (j = 1; j <= features; j++) {
    x[n, j] = $j
    if (train[n]) {
      if (!(j in low) || $j < low[j]) low[j] = $j
      if (!(j in high) || $j > high[j]) high[j] = $j
    }
  }
}
END {
  for (i = 1; i <= n; i++) {
    line = label[i]
    for (j = 1; j <= features; j++) {
      v = sprintf("%.6g", 2 * (x[i, j] - low[j]) / (high[j] - low[j]) - 1)
      if (v != 0) line = line " " j ":" v
    }
    print line >(train[i] ? "breast-cancer.libsvm" : "breast-cancer.t.libsvm")
  }
}' "$csv"
