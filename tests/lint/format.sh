#!/usr/bin/env bash
# Every source has the layout of clang-format 14; `make format` produces it.  Other versions break lines differently.
cd "$(dirname "$0")/../.." || exit 1
format=$(command -v clang-format-14 || command -v clang-format) || { echo "SKIP clang-format is not installed"; exit 77; }
"$format" --version | grep -q 'version 14\.' || { echo "SKIP this clang-format is not version 14"; exit 77; }
find include src solvers examples tests tools -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' 2>/dev/null | sort | xargs "$format" --dry-run -Werror --ferror-limit=3
