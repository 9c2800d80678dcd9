#!/usr/bin/env bash
# Runs the commands of every tutorial in docs/tutorials/ on the host, and compares their output with that on the page.
# GPUCSR_TUTORIALS=all also runs the blocks "sh build", which compile the library again.
set -u
. "$(dirname "$0")/../env.sh"
command -v python3 >/dev/null || { skip tutorials "python3 is not installed"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
echo "-gpucsr_device host" >"$work/.petscrc"
# The PETSc of the library also compiles the programs of the tutorials.
export HOME=$work PKG_CONFIG_PATH=$PETSC_DIR/$PETSC_ARCH/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH} LD_LIBRARY_PATH=$PETSC_DIR/$PETSC_ARCH/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
run() { # page, folder: the folder looks like that of gpucsr
  if [ "$(basename "$1")" = kernel.md ]; then # its commands change sources
    mkdir "$2" && cp -a makefile include src solvers examples tools "$2" && tar cf - --exclude=results tests | tar xf - -C "$2" || return
    if [ "${GPUCSR_TUTORIALS:-}" = all ]; then mkdir "$2/build" && cp -a "$BUILD/obj" "$2/build/" || return; fi
    (unset BUILD ROOT && python3 tests/tutorials/run_tutorial.py "$1" "$2") >"$log" 2>&1
    return
  fi
  mkdir "$2" && ln -s "$BUILD" "$2/build" && ln -s "$ROOT/solvers" "$2/solvers" && python3 tests/tutorials/run_tutorial.py "$1" "$2" >"$log" 2>&1
}
python=/usr/bin/python3 # that of Debian's DOLFINx
same_petsc() { # whether petsc4py has the PETSc of the library
  local ours theirs
  ours=$(ldd "$GPUCSR_LIB" | sed -n 's/.*libpetsc[^ ]* => \([^ ]*\) .*/\1/p' | xargs -r readlink -f)
  theirs=$(env -u PETSC_DIR -u PETSC_ARCH $python -c 'from petsc4py import PETSc
print([l.split()[-1] for l in open("/proc/self/maps") if "libpetsc" in l and ".so" in l][0])' 2>/dev/null | xargs -r readlink -f)
  [ -n "$ours" ] && [ "$ours" = "$theirs" ]
}
for page in ${PAGES:-docs/tutorials/*.md docs/howto/*.md}; do
  name=$(basename "$page" .md)
  grep -q '^```sh$' "$page" || continue # a page without commands to run
  if [ "$name" = petsc ] && [ ! -f "$PETSC_DIR/$PETSC_ARCH/share/petsc/examples/src/ksp/ksp/tutorials/ex45.c" ]; then
    skip "tutorial $name" "the examples of PETSc are not installed"
  elif [ "$name" = dolfinx ] && ! { same_petsc && $python -c 'import importlib.metadata as m, sys; sys.exit(not m.version("fenics-dolfinx").startswith("0.5."))' 2>/dev/null; }; then
    skip "tutorial $name" "DOLFINx 0.5 is not installed for this PETSc"
  elif PATH=$([ "$name" = dolfinx ] && echo "$(dirname $python):")$PATH run "$page" "$work/$name"; then
    ok "tutorial $name"
  else
    not_ok "tutorial $name" "$log"
  fi
done

# --- the test can fail -----------------------------------------------------------------------------------------------------------
printf '```sh\necho one; echo two\n```\n\n```text\none\nthr...\n```\n' >"$work/output.md"
printf '```sh\nfalse\necho one\n```\n\n```text\none\n```\n' >"$work/command.md"
for name in output command; do
  if ! run "$work/$name.md" "$work/bad-$name" && grep -q 'the output has no line: thr\|a command failed' "$log"; then ok "error: a tutorial with wrong $name"; else not_ok "error: a tutorial with wrong $name" "$log"; fi
done
