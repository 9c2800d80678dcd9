#!/usr/bin/env bash
# The Python package gpucsr: its modules beside SciPy, networkx and scikit-learn, how it loads the library, how pip installs it.
set -u
. "$(dirname "$0")/../env.sh"
here=$ROOT/tests/python
work=$BUILD/tests/python
rm -rf "$work"
mkdir -p "$work"
log=$work/log
python=/usr/bin/python3
petsc_dir=$PETSC_DIR petsc_arch=$PETSC_ARCH
unset PETSC_DIR PETSC_ARCH # petsc4py knows its own
export PYTHONDONTWRITEBYTECODE=1

ours=$(ldd "$GPUCSR_LIB" | sed -n 's/.*libpetsc[^ ]* => \([^ ]*\) .*/\1/p' | xargs -r readlink -f)
theirs=$($python -c 'import sys, petsc4py; petsc4py.init(sys.argv[:1])
from petsc4py import PETSc
print([l.split()[-1] for l in open("/proc/self/maps") if "libpetsc" in l and ".so" in l][0])' 2>"$log" | xargs -r readlink -f)
if [ -z "$theirs" ]; then skip "python" "$python has no petsc4py"; exit 0; fi
if [ "$ours" != "$theirs" ]; then skip "python" "petsc4py has another PETSc ($theirs)"; exit 0; fi
if ! $python -c 'import scipy.sparse' 2>/dev/null; then skip "python" "$python has no SciPy"; exit 0; fi
export PYTHONPATH=$ROOT/python GPUCSR_LIBRARY=$GPUCSR_LIB
device="-gpucsr_device $GPUCSR_DEVICE"

# --- the modules ---------------------------------------------------------------------------------------------------
PYTHONPATH=$PYTHONPATH:$here PETSC_OPTIONS=$device timeout 300 $python "$here/tap.py" test_interface test_linalg test_pagerank test_network test_estimators test_ranking test_progress test_plot 2>"$log"
rc=$?
[ $rc -le 1 ] || not_ok "python: the tests of the modules ended with code $rc" "$log"
if grep -q . "$log"; then not_ok "python: the tests print nothing on stderr" "$log"; fi

run() { PETSC_OPTIONS=$device timeout 120 "$@" >"$log" 2>&1; }
says() { # name, words, program: the program prints the words
  local name="python: $1" words=$2
  shift 2
  if run $python -c "$@" && grep -qE -- "$words" "$log"; then ok "$name"; else not_ok "$name: no words like '$words'" "$log"; fi
}
# --- how the library is loaded ---------------------------------------------------------------------------------------
# shellcheck disable=SC2016
typed='A = PETSc.Mat().create(PETSc.COMM_SELF); A.setSizes(2); A.setType("gpucsr"); print(A.getType(), PETSc.Options().getString("alpha", "none"))'
says "load() before petsc4py starts" '^seqaijgpucsr 1$' 'import gpucsr; gpucsr.load(); import petsc4py; petsc4py.init(["program", "-alpha", "1"])
from petsc4py import PETSc; '"$typed"
says "load() after petsc4py has started" '^seqaijgpucsr none$' 'from petsc4py import PETSc; import gpucsr; gpucsr.load(); gpucsr.load(); '"$typed"
says "an import starts nothing" '^False$' 'import gpucsr, sys; print("petsc4py" in sys.modules or "sklearn" in sys.modules or "scipy" in sys.modules)'
if command -v cc >/dev/null; then
  printf '#include <stdio.h>\nint PetscDLLibraryRegister_other(void) { puts("other"); fflush(stdout); return 0; }\n' >"$work/other.c"
  cc -shared -fPIC -o "$work/libother.so" "$work/other.c"
  device="$device -dll_append $work/libother.so" says "load() keeps other libraries of -dll_append" '^other$' 'import gpucsr; gpucsr.load(); from petsc4py import PETSc; '"$typed"
  if grep -q '^seqaijgpucsr' "$log"; then ok "python: load() adds to -dll_append"; else not_ok "python: load() adds to -dll_append" "$log"; fi
fi
says "a second library" '^seqaijgpucsr none$' 'import gpucsr; gpucsr.device(); gpucsr.load("/nosuch/libgpucsr.so"); from petsc4py import PETSc; '"$typed"
GPUCSR_LIBRARY=/nosuch/libgpucsr.so says "a library that does not exist" 'FileNotFoundError GPUCSR_LIBRARY=/nosuch/libgpucsr.so: there is no such file' 'import gpucsr
try: gpucsr.load()
except Exception as error: print(type(error).__name__, error)'
if command -v cc >/dev/null; then # a library whose functions exist, with a PETSc that has not started
  $python -c 'from gpucsr import _signatures as s
for line in (s.SIGNATURES + s.PETSC).split("\n"):
    if line: print("int %s(int *flag) { return 0; }" % line.split()[0] if "Initialized" not in line else "int PetscInitialized(int *flag) { *flag = 0; return 0; }")' >"$work/other.c"
  cc -w -shared -fPIC -o "$work/libgpucsr.so" "$work/other.c"
  GPUCSR_LIBRARY=$work/libgpucsr.so says "a library for another PETSc" '^ImportError .*libgpucsr.so was built for another PETSc than petsc4py .*Build gpucsr with the PETSc of petsc4py$' 'import gpucsr
try: gpucsr.device()
except Exception as error: print(type(error).__name__, error)'
fi
printf 'raise ImportError("no module")\n' >"$work/sklearn.py"
PYTHONPATH=$work:$PYTHONPATH says "an estimator without scikit-learn" '^ImportError the estimators of gpucsr need scikit-learn, which is not installed' 'import gpucsr
try: gpucsr.KMeans()
except ImportError as error: print(type(error).__name__, error)'
rm -f "$work/sklearn.py"

# --- several processes -------------------------------------------------------------------------------------------------
for n in 1 2 4; do
  if PETSC_OPTIONS=$device timeout 120 "$MPIEXEC" -n $n $python "$here/parallel.py" >"$log" 2>&1 && grep -q '^right$' "$log"; then ok "python: a distributed matrix on $n"; else not_ok "python: a distributed matrix on $n" "$log"; fi
done

# --- pip -----------------------------------------------------------------------------------------------------------------
if [ "${GPUCSR_PREBUILT:-}" = 1 ]; then skip "python: pip install" "the programs were built elsewhere"; exit 0; fi
for module in pip setuptools wheel venv; do
  if ! $python -c "import $module" 2>/dev/null; then skip "python: pip install" "$python has no $module"; exit 0; fi
done
# A copy of the sources with the same times: pip leaves files in the folder that it builds.
tree=$work/tree
mkdir "$tree"
for name in LICENSE makefile include src solvers python; do cp -a "$ROOT/$name" "$tree/$name"; done
rm -rf "$tree"/python/{build,dist,*.egg-info}
before=$(cksum <"$GPUCSR_LIB")
library=$GPUCSR_LIB
unset PYTHONPATH GPUCSR_LIBRARY
$python -m venv --system-site-packages --without-pip "$work/venv" >"$log" 2>&1
# The folder BUILD has the library already, so that the makefile has nothing to compile.
if PETSC_DIR=$petsc_dir PETSC_ARCH=$petsc_arch timeout 300 "$work/venv/bin/python" -m pip --disable-pip-version-check install --no-build-isolation --no-index --no-deps "$tree/python" >"$log" 2>&1; then
  if [ "$(cksum <"$library")" = "$before" ]; then ok "python: pip install"; else not_ok "python: pip install does not link the library again" "$log"; fi
  five() { (cd / && OMP_NUM_THREADS=1 PETSC_OPTIONS=$device timeout 120 "$work/venv/bin/python" "$here/five.py"); }
  if ! $python -c 'import sklearn, networkx' 2>/dev/null; then
    skip "python: five lines" "scikit-learn or networkx is missing"
  elif five >"$log" 2>&1 && [ "$(cat "$log")" = "solved, trained, ranked, mapped, clustered" ]; then
    ok "python: five lines solve, train, rank, map and cluster"
  else
    not_ok "python: five lines solve, train, rank, map and cluster" "$log"
  fi
else
  not_ok "python: pip install" "$log"
fi
if (cd "$tree/python" && $python -W ignore setup.py -q sdist -d "$work/sdist") >"$log" 2>&1 && tar xzf "$work"/sdist/gpucsr-*.tar.gz -C "$work/sdist" 2>>"$log"; then
  source=$(echo "$work"/sdist/gpucsr-*/)
  grep -q '^petsc4py' "$source/gpucsr.egg-info/requires.txt" || echo "petsc4py is not a dependency" >>"$log"
  for name in "License: BSD-2-Clause" "Description-Content-Type: text/markdown" "Requires-Python"; do
    grep -q "^$name" "$source/PKG-INFO" || echo "PKG-INFO has no line '$name'" >>"$log"
  done
  for name in LICENSE README.md gpucsr/py.typed csrc/include/gpucsr.h; do [ -f "$source/$name" ] || echo "$name is missing" >>"$log"; done
  (cd "$ROOT" && find include src solvers -name '*.[ch]' -o -name '*.cu*' -o -name '*.def') | while read -r name; do cmp -s "$name" "$source/csrc/$name" || echo "csrc/$name differs" >>"$log"; done
  # every file that the library needs is there
  make -s -n -C "$source/csrc" PETSC_DIR="$petsc_dir" PETSC_ARCH="$petsc_arch" CUDA_DIR=none BUILD="$work/none" "$work/none/lib/libgpucsr.so" 2>>"$log" | grep -q 'libgpucsr' || echo "make does not know how to build the library" >>"$log"
  if grep -q . "$log"; then not_ok "python: the source distribution is complete" "$log"; else ok "python: the source distribution is complete"; fi
else
  not_ok "python: the source distribution is made" "$log"
fi
exit 0
