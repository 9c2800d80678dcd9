#!/usr/bin/env bash
# Programs that know nothing of gpucsr, with the library named in their options: PETSc's own examples, petsc4py, SLEPc, DOLFINx.
#
# A case is skipped if it fails with plain aij too.
set -u
. "$(dirname "$0")/../env.sh"
here=$ROOT/tests/clients
work=$BUILD/tests/clients
mkdir -p "$work"
log=$work/log
examples=
for dir in "$PETSC_DIR/$PETSC_ARCH/share/petsc/examples" "$PETSC_DIR"; do
  if [ -z "$examples" ] && [ -f "$dir/src/ksp/ksp/tutorials/ex2.c" ]; then examples=$dir/src; fi
done
load="-dll_append $GPUCSR_LIB"
device="-gpucsr_device $GPUCSR_DEVICE"
havegpu=$(ls /dev/nvidia0 /dev/nvidia[1-9] 2>/dev/null | head -1)

program() { # build an example of PETSc's as anyone would, unless it is there
  [ -x "$work/$(basename "$1")" ] && return
  [ -n "$examples" ] && [ -f "$examples/$1.c" ] || return
  make -s --no-print-directory BUILD="$BUILD" client SOURCE="$examples/$1.c" TARGET="$work/$(basename "$1")" >"$log" 2>&1
}
run() { # ranks, command...; one line of output is wanted: the reason and the number of iterations
  local n=$1
  shift
  timeout 120 "$MPIEXEC" -n "$n" "$@" >"$log" 2>&1
}
alike() { # two reasons: the same words, counts that differ by one at most, since sums may be taken in another order
  awk -v a="$1" -v b="$2" 'BEGIN { n = split(a, x, " "); if (n != split(b, y, " ")) exit 1
    for (i = 1; i <= n; i++) { if (x[i] == y[i]) continue; d = x[i] - y[i]; if (x[i] !~ /^[0-9]+/ || d > 1 || d < -1) exit 1 } }'
}
reason() { grep -oE '(Linear|Nonlinear) solve (converged|did not converge) due to [A-Z_]+ iterations [0-9]+' "$log" | paste -sd'|'; }

# --- ksp ex2: solvers and preconditioners -------------------------------------------------------------------------------
same() { # ranks, options: iterations as with aij in double storage; convergence in single
  local n=$1 name reference
  shift
  name="ex2 on $n: $*"
  if ! run "$n" "$work/ex2" -m 30 -n 30 -ksp_converged_reason "$@" -mat_type aij || ! reason | grep -q ' converged'; then
    skip "$name" "plain aij fails too"
    return
  fi
  reference=$(reason)
  # shellcheck disable=SC2086
  if run "$n" "$work/ex2" -m 30 -n 30 -ksp_converged_reason "$@" $load $device -mat_type gpucsr -mat_gpucsr_storage double && [ "$(reason)" = "$reference" ]; then
    ok "$name, double"
  else
    not_ok "$name, double (aij: $reference; gpucsr: $(reason))" "$log"
  fi
  # shellcheck disable=SC2086
  if run "$n" "$work/ex2" -m 30 -n 30 -ksp_converged_reason "$@" $load $device -mat_type gpucsr -mat_gpucsr_storage single && reason | grep -q ' converged'; then
    ok "$name, single"
  else
    not_ok "$name, single" "$log"
  fi
}
if program ksp/ksp/tutorials/ex2 && [ -x "$work/ex2" ]; then
  for options in "cg jacobi" "cg icc" "cg gamg" "gmres ilu" "gmres asm" "gmres hypre" "bicg jacobi" "bicg ilu"; do
    same 1 -ksp_type "${options% *}" -pc_type "${options#* }"
  done
  for options in "cg jacobi" "cg gamg" "gmres bjacobi" "gmres asm" "gmres hypre" "bicg jacobi"; do
    same 2 -ksp_type "${options% *}" -pc_type "${options#* }"
  done

  # --- options that load the library
  viewed() { # name, expected type, command...
    local name=$1 type=$2
    shift 2
    if (cd "$work/ways" && run "$n" "$@") && grep -qE "type: *$type\$" "$log"; then ok "$name"; else not_ok "$name" "$log"; fi
  }
  rm -rf "$work/ways"
  mkdir -p "$work/ways"
  view="-ksp_view_mat ::ascii_info"
  for n in 1 2; do
    type=$([ $n = 1 ] && echo seqaijgpucsr || echo mpiaijgpucsr)
    # shellcheck disable=SC2086
    viewed "on $n: -dll_append on the command line" $type "$work/ex2" $view $load $device -mat_type gpucsr
    # shellcheck disable=SC2086
    PETSC_OPTIONS="$load $device -mat_type gpucsr" viewed "on $n: PETSC_OPTIONS" $type "$work/ex2" $view
    printf '%s\n' "$load" "-mat_type gpucsr" "$device" >"$work/ways/options"
    # shellcheck disable=SC2086
    viewed "on $n: -options_file" $type "$work/ex2" $view -options_file options
    cp "$work/ways/options" "$work/ways/.petscrc"
    # shellcheck disable=SC2086
    viewed "on $n: .petscrc" $type "$work/ex2" $view
    rm "$work/ways/.petscrc"
  done
  n=1
  # shellcheck disable=SC2086
  viewed "-mat_seqaij_type seqaijgpucsr turns aij into ours" seqaijgpucsr "$work/ex2" $view $load $device -mat_type aij -mat_seqaij_type seqaijgpucsr

  # --- messages of errors
  refused() { # name, words, command...
    local name=$1 words=$2
    shift 2
    if run 1 "$@"; then not_ok "$name: it went on" "$log"; elif grep -q 'Segmentation\|SIGSEGV\|signal 11' "$log"; then not_ok "$name: it crashed" "$log"; elif grep -qE -- "$words" "$log"; then ok "$name"; else not_ok "$name: no words like '$words'" "$log"; fi
  }
  if [ -n "$havegpu" ]; then skip "-gpucsr_device cuda without a GPU" "there is a GPU"; else
    # shellcheck disable=SC2086
    refused "-gpucsr_device cuda without a GPU" '-gpucsr_device (cuda|host)' "$work/ex2" $load -mat_type gpucsr -gpucsr_device cuda
  fi
  # shellcheck disable=SC2086
  refused "an unknown kernel" 'csrscalar' "$work/ex2" $load $device -mat_type gpucsr -mat_gpucsr_kernel nosuch
  if command -v cc >/dev/null; then
    echo 'int PetscGetVersionNumber(int *a, int *b, int *c, int *d) { if (a) *a = 3; if (b) *b = 17; if (c) *c = 1; if (d) *d = 1; return 0; }' >"$work/otherversion.c"
    cc -shared -fPIC -o "$work/otherversion.so" "$work/otherversion.c"
    # shellcheck disable=SC2086
    LD_PRELOAD=$work/otherversion.so refused "another version of PETSc" 'built for PETSc' "$work/ex2" $load $device -mat_type gpucsr
    # a PETSc whose Vec structure has another layout than the one that the library was compiled with
    echo 'int VecGetOffloadMask(void *v, int *mask) { *mask = 77; return 0; }' >"$work/otherlayout.c"
    cc -shared -fPIC -o "$work/otherlayout.so" "$work/otherlayout.c"
    # shellcheck disable=SC2086
    LD_PRELOAD=$work/otherlayout.so refused "another layout of PETSc's vectors" 'different layout of Vec' "$work/ex2" $load $device -mat_type gpucsr
  fi
else
  skip "ksp ex2" "PETSc's examples are not installed, or did not compile: $(tail -1 "$log" 2>/dev/null)"
fi

# --- programs in C with what `make install` installs ----------------------------------------------------------------------------
prefix=$work/prefix
rm -rf "$prefix"
if [ "${GPUCSR_PREBUILT:-}" = 1 ]; then
  skip "make install" "the programs were built elsewhere"
elif make -s --no-print-directory BUILD="$BUILD" DESTDIR= prefix="$prefix" install >"$log" 2>&1; then
  for source in tests/clients/bmrm_client tests/clients/kmeans_client tests/clients/pagerank_client tests/clients/smacof_client tests/bmrm/test_userloss examples/tutorials/ex_pagerank examples/tutorials/ex_bmrm examples/tutorials/ex_smacof examples/tutorials/ex_kmeans; do # test_userloss brings a loss of its own
    program=$work/$(basename $source)
    if make -s --no-print-directory BUILD="$BUILD" client SOURCE="$ROOT/$source.c" TARGET="$program" FLAGS="-I$prefix/include -I$prefix/include/gpucsr -L$prefix/lib -lgpucsr -Wl,-rpath,$prefix/lib" >"$log" 2>&1; then
      ok "$(basename $source) compiles with the installed headers and library"
    else
      not_ok "$(basename $source) compiles with the installed headers and library" "$log"
      continue
    fi
    for n in 1 2; do
      [ $n = 1 ] || [ $source != tests/bmrm/test_userloss ] || continue # its matrix is sequential
      for vectors in standard gpu; do
        [ $vectors = standard ] || [ $source = tests/clients/pagerank_client ] || continue
        # shellcheck disable=SC2086
        if run $n "$program" $device -mat_gpucsr_vec_type $vectors -malloc_dump && grep -q 'at \(the\|its\) optimum\|accuracy 0\.8[78]\|another graph: at the ranks\|CONVERGED_STRESS after .* stress-1 0\.0\|CONVERGED_LABELS after 2 iterations, inertia 657\.238\|^1: node 1, rank 0.086861' "$log" && ! grep -q '^\[ *[0-9]*\][0-9]* bytes' "$log"; then
          ok "$(basename $source) on $n, vectors $vectors"
        else
          not_ok "$(basename $source) on $n, vectors $vectors" "$log"
        fi
      done
    done
  done
  nvcc=$([ "$GPUCSR_DEVICE" = cuda ] && command -v nvcc) # a copy outside the tree: the program sees only what is installed
  rm -rf "$work/deviceloop" && cp -r examples/deviceloop "$work/deviceloop"
  if make -s --no-print-directory -C "$work/deviceloop" PETSC_DIR="$PETSC_DIR" PETSC_ARCH="$PETSC_ARCH" prefix="$prefix" NVCC="$nvcc" >"$log" 2>&1; then
    ok "deviceloop compiles with the installed headers and library"
    # shellcheck disable=SC2086
    if run 1 "$work/deviceloop/deviceloop" $device -malloc_dump && grep -q '^16[0-9][0-9] iterations, residual 2.0e-07$' "$log" && ! grep -q '^\[ *[0-9]*\][0-9]* bytes' "$log"; then ok "deviceloop converges"; else not_ok "deviceloop converges" "$log"; fi
  else
    not_ok "deviceloop compiles with the installed headers and library" "$log"
  fi
else
  not_ok "make install" "$log"
fi

# --- a nonlinear solver that makes its matrices itself -----------------------------------------------------------------------
if program snes/tutorials/ex19 && [ -x "$work/ex19" ]; then
  for options in "-pc_type ilu" "-pc_type mg -da_refine 1" "-ksp_type bicg -pc_type jacobi -ksp_max_it 500"; do
    # shellcheck disable=SC2086
    if run 1 "$work/ex19" -snes_converged_reason -ksp_converged_reason $options; then
      reference=$(reason)
      # shellcheck disable=SC2086
      if run 1 "$work/ex19" -snes_converged_reason -ksp_converged_reason $options $load $device -mat_seqaij_type seqaijgpucsr -mat_gpucsr_storage double && alike "$(reason)" "$reference"; then
        ok "SNES ex19 $options -mat_seqaij_type seqaijgpucsr"
      else
        not_ok "SNES ex19 $options -mat_seqaij_type seqaijgpucsr (aij: $reference; gpucsr: $(reason))" "$log"
      fi
    else
      skip "SNES ex19 $options" "plain aij fails too"
    fi
  done
else
  skip "SNES ex19" "PETSc's examples are not installed, or did not compile"
fi

# --- Python ---------------------------------------------------------------------------------------------------------------
python=/usr/bin/python3
unset PETSC_DIR PETSC_ARCH # petsc4py knows its own
ours=$(ldd "$GPUCSR_LIB" | sed -n 's/.*libpetsc[^ ]* => \([^ ]*\) .*/\1/p' | xargs -r readlink -f)
theirs=$($python -c 'import sys, petsc4py; petsc4py.init(sys.argv[:1])
from petsc4py import PETSc
print([l.split()[-1] for l in open("/proc/self/maps") if "libpetsc" in l and ".so" in l][0])' 2>"$log" | xargs -r readlink -f)
if [ -z "$theirs" ]; then
  skip "petsc4py" "$python has no petsc4py"
elif [ "$ours" != "$theirs" ]; then
  skip "petsc4py" "petsc4py has another PETSc ($theirs)"
else
  for n in 1 2; do
    objective=
    if PETSC_OPTIONS="$load $device" run $n $python "$here/petsc4py_client.py"; then
      ok "petsc4py on $n"
    else
      not_ok "petsc4py on $n" "$log"
    fi
    # bin/bmrm reads the files that petsc4py writes, and both find the same minimum
    if PETSC_OPTIONS="$load $device" run $n $python "$ROOT/examples/petsc4py/svm.py" "$work/data.petsc" && objective=$(sed -n 's/^objective //p' "$log") && [ -n "$objective" ] &&
      run $n "$BMRM" -f "$work/data.petsc" -bias 0 -bmrm_lambda 1e-2 -bmrm_eps 1e-7 -mat_gpucsr_storage double $device -report "$work/report.json" &&
      awk -v a="$objective" -v b="$(sed -n 's/^ *"objective": \(.*\),$/\1/p' "$work/report.json")" 'BEGIN { d = a - b; exit !(a > 0 && b > 0 && d < 3e-7 && d > -3e-7) }'; then
      ok "petsc4py trains as bmrm does, on $n"
    else
      not_ok "petsc4py trains as bmrm does, on $n (${objective:-no objective})" "$log"
    fi
  done
fi

if [ -z "$theirs" ] || [ "$ours" != "$theirs" ] || ! $python -c 'import slepc4py' 2>/dev/null; then
  skip "SLEPc" "slepc4py is not installed for this PETSc"
else
  for n in 1 2; do
    if PETSC_OPTIONS="$load $device" run $n $python "$here/slepc4py_client.py"; then ok "SLEPc on $n"; else not_ok "SLEPc on $n" "$log"; fi
  done
fi

demo=/usr/share/dolfinx/demo-python/demo_poisson.py
if [ -z "$theirs" ] || [ "$ours" != "$theirs" ] || ! $python -c 'import dolfinx' 2>/dev/null; then
  skip "DOLFINx" "DOLFINx is not installed for this PETSc"
elif [ ! -f $demo ]; then
  skip "DOLFINx" "its demos (package dolfinx-doc) are not installed"
else
  for n in 1 2; do
    export XDG_CACHE_HOME=$work/cache # of the compiled forms
    if ! (cd "$work" && run $n $python "$here/dolfinx_client.py" $demo); then
      skip "DOLFINx demo_poisson.py on $n" "it fails with plain aij too: $(grep -vE '^ *$' "$log" | tail -1)"
      continue
    fi
    reference=$(sed -n 's/^norms //p' "$log")
    if (cd "$work" && PETSC_OPTIONS="$load $device -mat_type gpucsr" run $n $python "$here/dolfinx_client.py" $demo gpucsr "$reference"); then
      ok "DOLFINx demo_poisson.py on $n"
    else
      not_ok "DOLFINx demo_poisson.py on $n (aij: $reference)" "$log"
    fi
  done
fi
exit 0
