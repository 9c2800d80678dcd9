#!/usr/bin/env bash
# clang-format 14 (other versions break lines differently) agrees with every source; `make format` arranges them.
cd "$(dirname "$0")/../.." || exit 1
format=$(command -v clang-format-14 || command -v clang-format) || { echo "SKIP clang-format is not installed"; exit 77; }
"$format" --version | grep -q 'version 14\.' || { echo "SKIP this clang-format is not version 14"; exit 77; }
find include src solvers examples tests -name '*.[ch]' -o -name '*.cu' 2>/dev/null | sort | xargs "$format" --dry-run -Werror --ferror-limit=3
