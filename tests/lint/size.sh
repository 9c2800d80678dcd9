#!/usr/bin/env bash
# Sizes: a file should have at most 400 lines, a function 60, a kernel file 200, the public header 150.  More gives a remark.
# Files with more than 500 lines and functions with more than 150 are errors.
cd "$(dirname "$0")/../.." || exit 1
find include src solvers examples tools -name '*.[ch]' -o -name '*.cu' 2>/dev/null | sort | xargs awk '
function fits(what, n, soft, hard) {
  if (n > hard) { print where what " has " n " lines, more than " hard; bad = 1 }
  else if (n > soft) print where what " has " n " lines; try to have at most " soft " (not an error)"
}
function endfile() {
  where = file ": "
  soft = file ~ /(kernels\/.*|_kernel)\.cu$/ ? 200 : file ~ /^include\// ? 150 : 400
  if (file) fits("it", lines, soft, 500)
}
FNR == 1 { endfile(); file = FILENAME; start = 0 }
{ lines = FNR }
/^\{/ { start = FNR; name = previous }
/^\}/ { if (start) { where = file ":" start ": "; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); fits(name, FNR - start - 1, 60, 150) } start = 0 }
/^[A-Za-z]/ { previous = $0 }
END { endfile(); exit bad }'
