#!/usr/bin/env bash
# Installs into a temporary folder; checks the names of the library, clients outside the tree by pkg-config and by CMake, -dll_append, completion, and removal.
set -u
. "$(dirname "$0")/../env.sh"
[ "${GPUCSR_PREBUILT:-}" = 1 ] && { skip "make install" "the programs were built elsewhere"; exit 0; }
unset PREFIX
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
prefix=$work/prefix
device="-gpucsr_device $GPUCSR_DEVICE"
make=(make -s --no-print-directory "BUILD=$BUILD")
listing() { (cd "$1" && find . -printf '%P %M %l\n' | sort); }

if "${make[@]}" DESTDIR= "PREFIX=$prefix" install >"$log" 2>&1; then ok "make install"; else
  not_ok "make install" "$log"
  exit 1
fi
# --- contents ------------------------------------------------------------------------------------------------------------------
missing=()
for file in lib/libgpucsr.so lib/libgpucsr.so.0 include/gpucsr.h include/gpucsrbmrm.h include/gpucsrdevice.cuh include/gpucsr/gpucsrcompat.h lib/pkgconfig/gpucsr.pc lib/cmake/GPUCSR/GPUCSRConfig.cmake \
  lib/cmake/GPUCSR/GPUCSRConfigVersion.cmake bin/{bmrm,kmeans,network,pagerank,smacof} share/man/man1/{bmrm,kmeans,network,pagerank,smacof}.1 share/man/man3/{MATGPUCSR,MatGPUCSRSetStorage,BMRMSolve,GpDev}.3 \
  share/bash-completion/completions/{bmrm,kmeans,network,pagerank,smacof} share/doc/gpucsr/{LICENSE,README.md,CHANGELOG.md} share/doc/gpucsr/docs/{precision.md,dev/device.md} \
  share/doc/gpucsr/examples/{tutorials/{ex_bmrm.c,makefile},deviceloop/makefile,petsc4py/svm.py} share/gpucsr/data/breast-cancer.libsvm; do
  [ -s "$prefix/$file" ] || missing+=("$file")
done
if [ ${#missing[@]} -eq 0 ]; then ok "headers, library, programs, manual pages, completion, licence, documentation and examples are installed"; else not_ok "installed files (missing: ${missing[*]})"; fi
real=$(readlink -f "$prefix/lib/libgpucsr.so")
release=$(sed -n 's/^#define GPUCSR_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' include/gpucsr.h | paste -sd.)
if [ "${real##*/}" = "libgpucsr.so.$release" ] && [ "$(readlink -f "$prefix/lib/libgpucsr.so.0")" = "$real" ] && readelf -d "$real" | grep -q 'SONAME.*\[libgpucsr\.so\.0\]'; then
  ok "the soname is libgpucsr.so.0, of the file libgpucsr.so.$release"
else
  not_ok "the soname is libgpucsr.so.0 ($(readelf -d "$real" | grep SONAME))"
fi
archs=$("${make[@]}" print-CUDA_ARCHS | wc -w)
[ "$("${make[@]}" print-havecuda)" = 1 ] || archs=0
size=$(stat -c %s "$real")
if [ -n "${LINEINFO:-}" ]; then skip "the library has at most 15 MB for one architecture" "LINEINFO=1 records source lines"; elif [ "$size" -lt $((11000000 + 4000000 * archs)) ]; then ok "the library has at most 15 MB for one architecture"; else not_ok "the library has at most 15 MB for one architecture"; fi
echo "# the library has $size bytes, with kernels for $archs architectures"
if readelf -S "$real" | grep -q '\.debug_info'; then not_ok "the installed library has no debugging information"; else ok "the installed library has no debugging information"; fi
if [ "$("$prefix/bin/pagerank" --version | sed 's/,.*//')" = "pagerank (gpucsr $release)" ] && [ "$(ldd "$prefix/bin/pagerank" | sed -n 's/.*libgpucsr\.so\.0 => \([^ ]*\).*/\1/p' | xargs -r readlink -f)" = "$real" ]; then
  ok "an installed program loads the installed library"
else
  not_ok "an installed program loads the installed library"
fi

# --- clients outside the tree --------------------------------------------------------------------------------------------------
cp -r tests/install/client.c tests/install/cmake "$work"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
cc=$(pkg-config --variable=ccompiler gpucsr)
right() { # right NAME RANKS PROGRAM [OPTION...]
  local name=$1 ranks=$2
  shift 2
  if timeout 60 "$MPIEXEC" -n "$ranks" "$@" $device -malloc_dump >"$log" 2>&1 && [ "$(grep -c "^client: right on $ranks$" "$log")" = 1 ] && ! grep -q '^\[ *[0-9]*\][0-9]* bytes' "$log"; then ok "$name"; else not_ok "$name" "$log"; fi
}
cd "$work" || exit 1
# shellcheck disable=SC2046
if $cc client.c -o client $(pkg-config --cflags --libs gpucsr) $(pkg-config --variable=rpath gpucsr) -lm >"$log" 2>&1 && cc -c client.c -o plain.o $(pkg-config --cflags gpucsr) >>"$log" 2>&1; then
  ok "a client compiles by pkg-config, with $cc and with cc"
  right "the client of pkg-config, 1 rank" 1 ./client
  right "the client of pkg-config, 2 ranks" 2 ./client
else
  not_ok "a client compiles by pkg-config" "$log"
fi
if [ "$(pkg-config --modversion gpucsr)" = "$release" ]; then ok "gpucsr.pc has the version of the header"; else not_ok "gpucsr.pc has the version of the header"; fi
if ! command -v cmake >/dev/null; then
  skip "a client compiles by CMake" "cmake is not installed"
elif cmake -S cmake -B cmake-build -DCMAKE_PREFIX_PATH="$prefix" >"$log" 2>&1 && cmake --build cmake-build >>"$log" 2>&1; then # the plain compiler: the target brings MPI's flags
  ok "a client compiles by find_package(GPUCSR)"
  right "the client of CMake, 1 rank" 1 cmake-build/client
  sed 's/GPUCSR 0.1/GPUCSR 9.9/' -i cmake/CMakeLists.txt
  if cmake -S cmake -B cmake-other -DCMAKE_PREFIX_PATH="$prefix" >"$log" 2>&1; then not_ok "find_package(GPUCSR 9.9) fails"; else
    if grep -q "GPUCSRConfig.cmake, version: $release" "$log"; then ok "find_package(GPUCSR 9.9) fails"; else not_ok "find_package(GPUCSR 9.9) fails with CMake's message on versions" "$log"; fi
  fi
else
  not_ok "a client compiles by find_package(GPUCSR)" "$log"
fi
# shellcheck disable=SC2046
if make -s -C "$prefix/share/doc/gpucsr/examples/tutorials" ex_pagerank >"$log" 2>&1 && ./prefix/share/doc/gpucsr/examples/tutorials/ex_pagerank $device >"$log" 2>&1 && grep -q '^1: node 1, rank 0.086861' "$log"; then
  ok "the makefile of the installed tutorials builds a program that runs"
else
  not_ok "the makefile of the installed tutorials builds a program that runs" "$log"
fi
rm -f "$prefix/share/doc/gpucsr/examples/tutorials/ex_pagerank"

# --- the plug-in: PETSc derives the name of the function to call from each of these names --------------------------------------------
# shellcheck disable=SC2046
if $cc -DCLIENT_PLUGIN client.c -o plugin $(pkg-config --cflags gpucsr) -L"$PETSC_DIR/$PETSC_ARCH/lib" -Wl,-rpath,"$PETSC_DIR/$PETSC_ARCH/lib" $(pkg-config --libs gpucsr | sed 's/-lgpucsr//') -lm >"$log" 2>&1; then
  for file in "$(pkg-config --variable=plugin gpucsr)" "$prefix/lib/libgpucsr.so.0" "$real"; do right "-dll_append ${file##*/}" 1 ./plugin -dll_append "$file"; done
  right "a client that links the library and loads it too" 1 ./client -dll_append "$prefix/lib/libgpucsr.so"
else
  not_ok "a program without the library compiles" "$log"
fi

# --- completion -------------------------------------------------------------------------------------------------------------------
complete() { # complete WORD...: the completions of the last word
  bash -c 'compopt() { :; }; . "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpucsr_$1 && printf "%s\n" "${COMPREPLY[@]}"' "$prefix/share/bash-completion/completions/$1" "$@"
}
touch points.csv
if [ "$(complete kmeans -kmeans_met | xargs)" = -kmeans_metric ] && [ "$(complete kmeans -kmeans_metric e | xargs)" = euclidean ] && [ "$(complete kmeans -f poi | xargs)" = points.csv ] &&
  [ -z "$(complete kmeans -kmeans_clusters 1 | xargs)" ] && complete bmrm -bmrm_loss "" | grep -qx hinge; then
  ok "bash completes options, choices and files"
else
  not_ok "bash completes options, choices and files"
fi
if ! command -v man >/dev/null; then skip "man formats the manual pages of functions" "man is not installed"; else
  warnings=$(cat "$prefix"/share/man/man3/Mat*.3 | LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -E UTF-8 -l - 2>&1 >/dev/null | grep -v 'cannot adjust\|break')
  if [ -z "$warnings" ]; then ok "man formats the manual pages of functions without warnings"; else
    not_ok "man formats the manual pages of functions without warnings"
    sed 's/^/#   /' <<<"$warnings" | head
  fi
fi

# --- again, elsewhere, and away ----------------------------------------------------------------------------------------------------
cd "$ROOT" || exit 1
before=$(listing "$prefix")
echo /"${prefix#/}/share/gpucsr/old-file" >>"$prefix/share/gpucsr/manifest" # as a release installs that has other files
touch "$prefix/share/gpucsr/old-file"
if "${make[@]}" DESTDIR= prefix="$prefix" install >"$log" 2>&1 && [ "$(listing "$prefix")" = "$before" ]; then ok "installing twice gives the same files, and removes those of another release"; else not_ok "installing twice gives the same files" "$log"; fi
touch "$prefix/lib/other"
if "${make[@]}" DESTDIR= prefix="$prefix" uninstall >"$log" 2>&1 && [ "$(cd "$prefix" && find . | sort | xargs)" = ". ./lib ./lib/other" ]; then ok "make uninstall leaves only a file that is not ours"; else not_ok "make uninstall leaves only a file that is not ours" "$log"; fi
if "${make[@]}" DESTDIR= prefix="$prefix" uninstall >"$log" 2>&1; then not_ok "make uninstall of nothing fails"; else check "make uninstall of nothing names the missing manifest" grep -q "there is no file $prefix/share/gpucsr/manifest" "$log"; fi
stage="$work/a stage"
mkdir -p "$stage"
if "${make[@]}" DESTDIR="$stage" prefix=/opt/gpucsr libdir=/opt/gpucsr/lib/multi install >"$log" 2>&1 && [ -f "$stage/opt/gpucsr/lib/multi/libgpucsr.so" ] && ! grep -rlF "$stage" "$stage" >>"$log" &&
  grep -q '^prefix=/opt/gpucsr$' "$stage/opt/gpucsr/lib/multi/pkgconfig/gpucsr.pc"; then
  ok "DESTDIR, with a space in its name, and libdir"
else
  not_ok "DESTDIR, with a space in its name, and libdir" "$log"
fi
if "${make[@]}" DESTDIR="$stage" prefix=/opt/gpucsr libdir=/opt/gpucsr/lib/multi uninstall >"$log" 2>&1 && [ -z "$(ls -A "$stage")" ]; then ok "make uninstall DESTDIR leaves nothing"; else not_ok "make uninstall DESTDIR leaves nothing" "$log"; fi
if "${make[@]}" DESTDIR= prefix="$work/a prefix" install >"$log" 2>&1; then not_ok "a prefix with a space is refused"; else check "a prefix with a space is refused with a remedy" grep -q 'Use a path without spaces' "$log"; fi
exit 0
