#!/usr/bin/env bash
# Run the /*TEST*/ blocks of tests/<directory>/*.c through PETSc's own test harness and print the results as TAP.
#
#   tests/harness.sh [pattern]      pattern: a name with at most one star, such as 'mat_tests_kernels*'; default all
#
# PETSc's harness accepts only folders named like PETSc's own, so links to the tests are made in $BUILD/tests/src/mat/tests/<directory>.
# Expected outputs are tests/<directory>/output/*.out.  PETSc's harness runs every program with -malloc_dump.  Memory that was not freed is
# printed, and so is a write beyond the bounds of a block when the block is freed; both make the comparison fail.  -malloc_debug would
# check all blocks at every call, which finds no more errors and takes ten times as long.
set -u
. "$(dirname "$0")/env.sh"
# The makefile links the CUDA runtime if it finds CUDA; a library that was built for the host alone has no kernels.
if [ -f "$BUILD/linked" ] && ! grep -q cudart "$BUILD/linked"; then export CUDA_DIR=none; fi
pattern=${1:-}
top=$BUILD/tests
testdir=$top/harness

# In a PETSc with CUDA, -vec_gpu_cuda 0 lets the tests of the type gpu run with that type.
export PETSC_OPTIONS="${PETSC_OPTIONS:-} -options_left no -gpucsr_notice 0 -gpucsr_device $GPUCSR_DEVICE -vec_gpu_cuda 0"
# Fills new memory, so that reads of uninitialised doubles give 1.4e306 and not zeros; a PETSc with debugging fills it with NaN.  Not set for CUDA, where it would affect the driver.
[ "$GPUCSR_DEVICE" = cuda ] || export MALLOC_PERTURB_=128 GLIBC_TUNABLES=glibc.malloc.tcache_count=0
rm -rf "$testdir"/counts "$testdir"/test_*_tap.log "$testdir"/test_*_err.log

# --- programs and scripts that were built elsewhere (tests/petsc/bundle.sh) ---------------------------------------------------
prebuilt() {
  local in scripts=()
  mkdir -p "$testdir/counts"
  for in in $(find "$testdir" -name 'run*.sh.in' | sort); do
    sed -e "s|@BUILD@|$BUILD|g" -e "s|@PETSC@|$PETSC_DIR|g" "$in" >"${in%.in}"
    chmod +x "${in%.in}"
    # shellcheck disable=SC2053 # a pattern
    [ -z "$pattern" ] || [[ mat_tests_$(basename "$(dirname "$in")")-$(basename "$in" | sed 's/^run//') == $pattern* ]] || continue
    scripts+=("${in%.in}")
  done
  printf '%s\0' "${scripts[@]}" | xargs -0 -P"${JOBS:-2}" -I{} bash {} -o err_only -t "${TIMEOUT:-240}" >"$top/harness.log" 2>&1
}

# --- the folder tree that PETSc's harness expects, and its run ---------------------------------------------------------------------------
fromsource() {
  if [ -f "$PETSC_DIR/$PETSC_ARCH/share/petsc/examples/gmakefile.test" ]; then
    from=$PETSC_DIR/$PETSC_ARCH/share/petsc/examples
  elif [ -f "$PETSC_DIR/gmakefile.test" ]; then
    from=$PETSC_DIR
  else
    skip "tests by PETSc's harness" "the harness is not installed with this PETSc ($PETSC_DIR)"
    exit 0
  fi

  mkdir -p "$top/src/mat/tests"
  rm -rf "$top"/src/mat/tests/*
  local others=bench
  [ "${GPUCSR_SUITE:-full}" != petsc ] || others='bench|kernels|selector' # these do not depend on PETSc
  for dir in $(ls tests/*/*.c | xargs -n1 dirname | sort -u | xargs -n1 basename | grep -vxE "$others"); do
    mkdir -p "$top/src/mat/tests/$dir"
    for f in tests/"$dir"/*; do ln -s "$ROOT/$f" "$top/src/mat/tests/$dir/"; done
  done
  if [ "${GPUCSR_SUITE:-full}" = petsc ]; then # nor do these programs
    (cd "$top/src/mat/tests" && rm -f device/{device,memory,stream}.c stream/{chunk,chunkfaults,chunkfile,operator,reclaim}.c
      rm -f smacof/stream.c) # tests/smacof/run_smacof.sh compares streamed with ordinary runs too
  fi
  # a copy of PETSc's gmakefile.test that finds these sources and includes the link commands of tests/harness.mk
  sed -e 's|^TESTSRCDIR.*|TESTSRCDIR := $(dir $(mkfile_path))src|' \
    -e '/gmakegentest.py.*--testdir=/{/--srcdir/!s|--testdir=|--srcdir=$(TESTSRCDIR) --testdir=|}' \
    -e "/^# Test executables/i include $ROOT/tests/harness.mk" "$from/gmakefile.test" >"$top/gmakefile.new"
  cmp -s "$top/gmakefile.new" "$top/gmakefile.test" || cp "$top/gmakefile.new" "$top/gmakefile.test"
  # the harness neither detects added and removed sources, nor deletes the scripts of removed tests
  find "$top/src" -name '*.c' | sort >"$top/sources.new"
  if ! cmp -s "$top/sources.new" "$top/sources" || [ -n "$(find -L "$top/src" -name '*.c' -newer "$testdir/testfiles" 2>&1)" ]; then
    rm -f "$testdir/testfiles" "$testdir"/mat/tests/*/run*.sh
    mv "$top/sources.new" "$top/sources"
  fi

  value() { make -s --no-print-directory "print-$1"; }
  [ ! -f "$PETSC_DIR/lib/petsc/bin/petscdiff" ] || export PETSCDIFF=$ROOT/tests/petscdiff.sh
  # Three programs run per two cores, because the start of a program on several ranks, and the scripts of the harness, mostly wait.
  make -k -j"$((3 * ${JOBS:-2} / 2))" -f "$top/gmakefile.test" V=0 NO_RM=1 \
    PETSC_DIR="$PETSC_DIR" PETSC_ARCH="$PETSC_ARCH" CONFIGDIR="$from/config" TESTDIR="$testdir" \
    GPUCSR_BUILD="$BUILD" GPUCSR_PETSC_LIB="$(value petsclib)" GPUCSR_CUDA_LIB="$(value cudalibs)" \
    GPUCSR_CFLAGS="-I$ROOT -I$ROOT/include -I$ROOT/src -I$ROOT/solvers/bmrm -I$ROOT/tests $(value defs) $(value cudainc)" \
    TIMEOUT="${TIMEOUT:-240}" ${pattern:+gmakesearch="${pattern//\*/%}"} test >"$top/harness.log" 2>&1
}
if [ "${GPUCSR_PREBUILT:-}" = 1 ]; then prebuilt; else fromsource; fi

# --- report: the run of a program and the comparison of its output count as one test ------------------------------------------------------------
awk -v dir="$testdir/" '
  match($0, /^ *(not )?ok +/) {
    bad = /^not ok/; name = substr($0, RLENGTH + 1); why = ""
    if (i = index(name, " # ")) { why = substr(name, i + 3); name = substr(name, 1, i - 1) }
    sub(/^(diff|cmd)-/, "", name); sub(/ +$/, "", name)
    if (!(name in seen)) { seen[name] = ++n; names[n] = name }
    if (bad) fail[name] = 1
    if (why ~ /^(SKIP|TODO)/) off[name] = why
  }
  END { for (i = 1; i <= n; i++) { x = names[i]; sub(/^mat_tests_/, "", x)
    if (names[i] in fail) print "not ok - " x; else if (names[i] in off) { sub(/^TODO/, "SKIP todo", off[names[i]]); print "ok - " x " # " off[names[i]] } else print "ok - " x } }
' "$testdir"/test_*_tap.log 2>/dev/null
cat "$testdir"/test_*_err.log 2>/dev/null | sed 's/^/#   /' | head -n "${TAP_LINES:-400}"
# report programs that do not compile or link, because the harness ran no tests of them
broken=$(sed -nE "s|.*\*\*\* \[[^]]*$testdir/mat/tests/([^] ]*)\.o\] Error.*|\1|p; s|.*\*\*\* \[[^]]*$testdir/mat/tests/([^] .]*)\] Error.*|\1|p" "$top/harness.log" | sort -u)
for b in $broken; do not_ok "$b compiles and links" "$top/harness.log"; done
if grep 'warning:' "$top/harness.log" >"$top/warnings"; then not_ok "the tests compile without warnings" "$top/warnings"; fi
if [ -z "$broken" ] && ! ls "$testdir"/counts/*.counts >/dev/null 2>&1; then not_ok "PETSc's harness runs" "$top/harness.log"; fi
exit 0
