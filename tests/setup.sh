#!/usr/bin/env bash
# Set up what is missing for building (setup.sh build) or for building and testing (setup.sh, setup.sh test).
#
# On Debian and Ubuntu, as root, it installs packages; elsewhere it says what to install and fails.  With everything
# installed it returns at once.  Programs that only some tests need (valgrind, clang-format, petsc4py, DOLFINx) are never a
# reason to fail: their tests are skipped.
set -u
what=${1:-test}

have() { command -v "$1" >/dev/null 2>&1; }
havepetsc() { # a PETSc named by the user, or the one that pkg-config finds
  if [ -n "${PETSC_DIR:-}" ]; then [ -f "$PETSC_DIR/${PETSC_ARCH:-}/lib/petsc/conf/petscvariables" ]; else pkg-config --exists PETSc 2>/dev/null || pkg-config --exists petsc 2>/dev/null; fi
}
haveharness() { # PETSc's own test harness: below share in an installed PETSc, at the top of a source tree
  local dir=${PETSC_DIR:-$(pkg-config --variable=prefix PETSc 2>/dev/null || pkg-config --variable=prefix petsc 2>/dev/null)}
  [ -f "$dir/${PETSC_ARCH:-}/share/petsc/examples/gmakefile.test" ] || [ -f "$dir/gmakefile.test" ]
}
havepython() { [ -x /usr/bin/python3 ] && /usr/bin/python3 -c "import importlib.util as u, sys; sys.exit(u.find_spec('$1') is None)" 2>/dev/null; }
newest() { apt-cache pkgnames "$2" | grep -E "$1" | sort -V | tail -1; } # newest package whose name fits a pattern

needed=() wished=()
have cc && have g++ && have make || needed+=(build-essential)
have pkg-config || needed+=(pkg-config)
have mpicc || needed+=(libopenmpi-dev)
have mpiexec || needed+=(openmpi-bin)
have python3 || needed+=(python3-minimal)
if ! { have pkg-config && havepetsc; }; then
  if [ -n "${PETSC_DIR:-}" ]; then echo "PETSC_DIR=$PETSC_DIR PETSC_ARCH=${PETSC_ARCH:-}: no PETSc is installed there" >&2; exit 1; fi
  needed+=(petsc-dev)
fi
if [ "${GPUCSR_CHECK_NEWEST:-0}" != 0 ]; then python3 -m pip --version >/dev/null 2>&1 || wished+=(python3-pip python3-dev); fi # to build PETSc
if [ "$what" = test ]; then
  have pkg-config && haveharness || needed+=(HARNESS)
  have git || wished+=(git)
  have valgrind || wished+=(valgrind)
  have clang-format || wished+=(clang-format)
  ldconfig -p 2>/dev/null | grep -q 'libcairo\.so\.2' || wished+=(libcairo2) # for pictures in PDF and PNG
  havepython matplotlib || wished+=(python3-matplotlib) # for the figures of the documentation
  have pdftotext || wished+=(poppler-utils) # for the tests of pictures
  havepython numpy || wished+=(python3-numpy)
  havepython petsc4py || wished+=(python3-petsc4py-real)
  { have pkg-config && pkg-config --exists SLEPc; } || wished+=(libslepc-real-dev) # for pagerank -method eps
  havepython slepc4py || wished+=(python3-slepc4py-real)
  havepython networkx || wished+=(python3-networkx python3-scipy)
  havepython igraph || wished+=(python3-igraph)
  havepython myst_parser && havepython furo || wished+=(python3-sphinx python3-myst-parser furo) # for make site
  have codespell || wished+=(codespell) # for the spelling of the site
  havepython sklearn || wished+=(python3-sklearn)
  havepython tqdm || wished+=(python3-tqdm)
  { havepython pip && havepython setuptools && havepython wheel; } || wished+=(python3-pip python3-setuptools python3-wheel)
  if [ "${GPUCSR_DOLFINX:-1}" = 1 ]; then
    havepython dolfinx || wished+=(python3-dolfinx-real)
    [ -d /usr/share/dolfinx/demo-python ] || wished+=(dolfinx-doc) # its demos
  fi
fi
[ ${#needed[@]} -gt 0 ] || [ ${#wished[@]} -gt 0 ] || exit 0

tell() {
  [ ${#needed[@]} -eq 0 ] && exit 0
  echo "Missing: ${needed[*]/HARNESS/the examples package of PETSc (libpetsc<version>-dev-examples)}" >&2
  echo "On Debian and Ubuntu: apt-get install build-essential pkg-config libopenmpi-dev openmpi-bin petsc-dev libpetsc<version>-dev-examples" >&2
  echo "Elsewhere: a C compiler, GNU make, pkg-config, MPI and a PETSc of version 3.18 or newer; then set PETSC_DIR and PETSC_ARCH." >&2
  exit 1
}
have apt-get && [ "$(id -u)" -eq 0 ] || tell

export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt-get update >"$log" 2>&1 || { tail -5 "$log" >&2; echo "apt-get update failed; continuing with the existing package lists" >&2; }
packages=()
for p in "${needed[@]}"; do
  if [ "$p" = HARNESS ]; then p=$(newest '^libpetsc[0-9.]+-dev-examples$' libpetsc); fi
  [ -n "$p" ] && packages+=("$p")
done
for p in "${wished[@]}"; do
  apt-cache policy "$p" 2>/dev/null | grep -q 'Candidate: [^(]' && packages+=("$p")
done
[ ${#packages[@]} -gt 0 ] || tell
echo "setting up: ${packages[*]}"
if ! apt-get install -y --no-install-recommends "${packages[@]}" >"$log" 2>&1; then
  tail -20 "$log" >&2
  echo "apt-get install failed" >&2
  [ ${#needed[@]} -eq 0 ] # optional packages may be missing
fi
