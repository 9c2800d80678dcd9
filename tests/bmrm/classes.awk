# Examples of the classes 1, 3 and 7 in LIBSVM format.  n: number of examples; d: number of features, at least 4; noise: fraction of the labels that become 3.
function next_() { s = (16807 * s) % 2147483647; return s / 2147483647 }
BEGIN {
  s = 11
  for (i = 0; i < n; i++) {
    for (j = 0; j < d; j++) x[j] = int(2000 * next_() - 1000) / 1000
    c = x[0] + 0.5 * x[1] > 0.4 ? 3 : x[2] - x[3] > 0.3 ? 7 : 1
    if (next_() < noise) c = 3
    printf "%d", c
    for (j = 0; j < d; j++) printf " %d:%.3f", j + 1, x[j]
    print ""
  }
}
