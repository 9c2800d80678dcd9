#!/usr/bin/env bash
# Runs the notebooks of examples/notebooks/ on the host, and one of them by nbclient where it is installed.
set -u
. "$(dirname "$0")/../env.sh"
here=$ROOT/tests/notebooks
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
python=/usr/bin/python3
unset PETSC_DIR PETSC_ARCH # petsc4py knows its own
export PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=$BUILD/tests/notebooks # of compiled forms and of fonts
mkdir -p "$XDG_CACHE_HOME"

ours=$(ldd "$GPUCSR_LIB" | sed -n 's/.*libpetsc[^ ]* => \([^ ]*\) .*/\1/p' | xargs -r readlink -f)
theirs=$($python -c 'from petsc4py import PETSc
print([l.split()[-1] for l in open("/proc/self/maps") if "libpetsc" in l and ".so" in l][0])' 2>/dev/null | xargs -r readlink -f)
if [ -z "$ours" ] || [ "$ours" != "$theirs" ]; then skip "notebooks" "$python has no petsc4py for this PETSc"; exit 0; fi
has() { local m; for m in "$@"; do $python -c "import importlib.util as u, sys; sys.exit(u.find_spec('$m') is None)" || return; done; }
if ! has matplotlib scipy; then skip "notebooks" "$python has no matplotlib or SciPy"; exit 0; fi
export PYTHONPATH=$ROOT/python GPUCSR_LIBRARY=$GPUCSR_LIB PETSC_OPTIONS="-gpucsr_device $GPUCSR_DEVICE"
run() { (cd "$work" && timeout 300 $python "$here/run_notebooks.py" "$@" 2>"$log"); }

run "$ROOT"/examples/notebooks/*.ipynb
rc=$?
[ $rc -eq 0 ] || [ $rc -eq 3 ] || not_ok "the notebooks ended with code $rc" "$log"

if has nbclient nbformat ipykernel sklearn && ls /usr/share/jupyter/kernels/python3 >/dev/null 2>&1; then
  run --jupyter "$ROOT/examples/notebooks/image.ipynb"
  rc=$?
  [ $rc -eq 0 ] || [ $rc -eq 3 ] || not_ok "the notebook by nbclient ended with code $rc" "$log"
else
  skip "notebook image, by nbclient" "nbclient or ipykernel is not installed"
fi

# --- the test can fail -----------------------------------------------------------------------------------------------------------
change() { sed "$2" "$ROOT/examples/notebooks/map.ipynb" >"$work/$1.ipynb"; }
change output '0,/"outputs": \[\]/s//"outputs": [1]/'
change result 's/"import csv/"assert False, \\"a wrong result\\"\\n", "import csv/; s,mds/eurodist.tsv.xz,result.ipynb,'
change module 's/"import csv/"import nosuchmodule\\n", "import csv/'
change data 's,mds/eurodist.tsv.xz,nosuchfile,'
GPUCSR_DATA=$work run "$work"/{output,result,module,data}.ipynb >"$work/out"
reports() { # what, line
  if grep -q -- "$2" "$work/out"; then ok "$1"; else not_ok "$1" "$work/out"; fi
}
reports "error: a notebook with stored output" '^not ok - notebook output'
reports "error: a notebook with a wrong result" 'AssertionError: a wrong result'
reports "a notebook whose modules are missing is skipped" '^ok - notebook module # SKIP the module nosuchmodule is not installed'
reports "a notebook whose data are missing is skipped" '^ok - notebook data # SKIP the data nosuchfile are not available'
