#!/usr/bin/env bash
# Installs gpucsr, or removes it. The makefile calls this script with its variables in the environment: make install, make uninstall
#
#   packaging/install.sh install | uninstall
#
# All files are recorded in <prefix>/share/gpucsr/manifest, without DESTDIR. A folder (with a slash at its end) is recorded if it did not exist before.
# shellcheck disable=SC2034,SC2154 # variables of the makefile, and variables that fill() reads by name
set -eu
export LC_ALL=C # sort by bytes: a folder comes before its contents
cd "$(dirname "$0")/.."
fail() { echo "make $what: $*" >&2; exit 1; }
what=$1
for variable in prefix libdir; do
  [[ ${!variable} != *[[:space:]]* ]] || fail "$variable has a space, which the flags of compilers in gpucsr.pc cannot have: '${!variable}'. Use a path without spaces"
  [[ ${!variable} == /* ]] || declare "$variable=$PWD/${!variable}"
  declare "$variable=$(realpath -ms "${!variable}")"
done
[[ $libdir == "$prefix"/* ]] || fail "libdir=$libdir is not below prefix=$prefix. Use a folder below prefix"
docdir=$prefix/share/doc/gpucsr
manifest=$DESTDIR$prefix/share/gpucsr/manifest

if [ "$what" = uninstall ]; then
  [ -f "$manifest" ] || fail "there is no file $manifest, so gpucsr is not installed there. Use the prefix and DESTDIR of the installation"
  mapfile -t paths < <(sort -r "$manifest") # a folder comes after its contents
  for path in "${paths[@]}"; do
    if [[ $path == */ ]]; then rmdir --ignore-fail-on-non-empty "$DESTDIR$path" 2>/dev/null || true; else rm -f "$DESTDIR$path"; fi
  done
  exit 0
fi


if [ -n "$DESTDIR" ]; then mkdir -p "$DESTDIR"; fi
installed=()
folder() { # makes a folder and its parents
  [ ! -d "$DESTDIR$1" ] || return 0
  folder "${1%/*}"
  install -d -m 755 "$DESTDIR$1"
  installed+=("$1/")
}
put() { # put MODE FOLDER FILE...
  local mode=$1 to=$2 file
  shift 2
  folder "$to"
  install -m "$mode" "$@" "$DESTDIR$to"
  for file; do installed+=("$to/${file##*/}"); done
}
link() { # link FOLDER NAME TARGET
  ln -sfn "$3" "$DESTDIR$1/$2"
  installed+=("$1/$2")
}
tree() { # tree FOLDER SOURCE: the files below a folder of the sources, without what was built there
  local sub
  while read -r sub; do
    mapfile -t files < <(find "$2/$sub" -maxdepth 1 -type f ! -name '*.o' ! -name '.*' ! -executable | sort)
    [ ${#files[@]} -eq 0 ] || put 644 "$1/${2##*/}/$sub" "${files[@]}"
  done < <(cd "$2" && find . -type d ! -name __pycache__ -printf '%P\n' | sort)
}
fill() { # fill FOLDER FILE: a file made from its template, in which @name@ stands for the value of a variable
  local text name
  text=$(<"packaging/$2.in")
  for name in prefix libdir pc_libdir prefix_from_cmake release soversion petsc_dir petsc_arch petsc_version cc client_cflags client_libs petsc_library mpi_libs rpath cuda; do
    text=${text//@$name@/"${!name}"}
  done
  folder "$1"
  printf '%s\n' "$text" >"$work/$2"
  put 644 "$1" "$work/$2"
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stripped() { # copies files to the working folder, without debugging information
  [ "$STRIP" != none ] || return 0
  cp "$@" "$work"
  "$STRIP" --strip-unneeded "${@/#*\//$work/}"
}

real=libgpucsr.so.$release
stripped "$BUILD/lib/libgpucsr.so"
if [ "$STRIP" = none ]; then cp "$BUILD/lib/libgpucsr.so" "$work/$real"; else mv "$work/libgpucsr.so" "$work/$real"; fi
put 755 "$libdir" "$work/$real"
link "$libdir" "libgpucsr.so.$soversion" "$real"
link "$libdir" libgpucsr.so "libgpucsr.so.$soversion"

programs=()
for program in $programs_built; do programs+=("$BUILD/bin/$program"); done
stripped "${programs[@]}"
if [ "$STRIP" = none ]; then put 755 "$prefix/bin" "${programs[@]}"; else put 755 "$prefix/bin" "${programs[@]/#*\//$work/}"; fi

put 644 "$prefix/include" include/*.h include/*.cuh
put 644 "$prefix/include/gpucsr" src/gpucsrcompat.h
put 644 "$prefix/include/gpucsr/solvers/bmrm" solvers/bmrm/bmrm{formula,pointwise,sum,rows,loss,regularizer,classes,classrows,grouped,lists}.h

pc_libdir="\${prefix}${libdir#"$prefix"}"
rpath="-Wl,-rpath,$libdir -Wl,-rpath,${petsc_library%/*}"
prefix_from_cmake=$(realpath -ms --relative-to="$libdir/cmake/GPUCSR" "$prefix")
fill "$libdir/pkgconfig" gpucsr.pc
fill "$libdir/cmake/GPUCSR" GPUCSRConfig.cmake
fill "$libdir/cmake/GPUCSR" GPUCSRConfigVersion.cmake

put 644 "$prefix/share/man/man1" "$BUILD"/man/man1/*.1
put 644 "$prefix/share/man/man3" "$BUILD"/man/man3/*.3
put 644 "$prefix/share/bash-completion/completions" "${programs[@]/#*\//$BUILD/completion/}"
put 644 "$docdir" LICENSE CHANGELOG.md README.md
tree "$docdir" docs
for example in tutorials notebooks deviceloop petsc4py; do tree "$docdir/examples" "examples/$example"; done
put 644 "$prefix/share/gpucsr/data" solvers/bmrm/data/*.libsvm solvers/bmrm/data/*.md

if [ -f "$manifest" ]; then # keep the folders that an earlier installation made, and remove the files that this one does not have
  while read -r path; do
    if [[ $path == */ ]]; then installed+=("$path"); else rm -f "$DESTDIR$path"; fi
  done < <(comm -23 <(sort "$manifest") <(printf '%s\n' "${installed[@]}" "${manifest#"$DESTDIR"}" | sort))
fi
printf '%s\n' "${installed[@]}" "${manifest#"$DESTDIR"}" | sort -u >"$manifest"
