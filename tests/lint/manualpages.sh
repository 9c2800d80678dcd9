#!/usr/bin/env bash
# Every public function and type has a manual page in PETSc's form: see tools/manualpages.py.
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || { echo "SKIP python3 is not installed"; exit 77; }
exec python3 tools/manualpages.py --check
