#!/usr/bin/env bash
# make check-packages: builds the Debian packages for the host in a copy of the tree, runs lintian, and checks the recipes of other package managers.
#
# As root, it also installs the packages, runs their tests by autopkgtest, and removes them. This happens in a mount namespace of its own, whose changes of
# /usr, /etc and /var are not seen by other processes and are lost at its end.
#
#   GPUCSR_PACKAGES=<folder>     keeps the packages there; if they are there already, they are not built again
set -u
. "$(dirname "$0")/../env.sh"
if [ "${1:-}" = --in-namespace ]; then # with the folder of the packages
  work=$2
else
  work=$(mktemp -d)
fi
[ "${1:-}" = --in-namespace ] || trap 'rm -rf "$work"' EXIT
log=$work/log
tap=$work/tap
cd "$ROOT" || exit 1
unset PETSC_DIR PETSC_ARCH BUILD LDFLAGS CFLAGS CPPFLAGS
python=$(command -v python3)

recipes() {
  check "PETSc's configure package is valid Python" "$python" -m py_compile packaging/petsc/gpucsr.py
  check "Spack's recipe is valid Python, and its directives have known names" "$python" tests/packages/recipe.py spack packaging/spack/package.py
  if "$python" -c 'import jinja2, yaml' 2>/dev/null; then
    check "conda's recipe is valid after its templates are filled" "$python" tests/packages/recipe.py conda packaging/conda/meta.yaml
  else
    skip "conda's recipe is valid" "jinja2 or yaml is not installed"
  fi
  check "conda's build script has valid syntax" bash -n packaging/conda/build.sh
}

build() {
  if ! command -v dpkg-buildpackage >/dev/null || ! command -v dh >/dev/null; then
    skip "the Debian packages build" "devscripts' base is missing: apt-get install dpkg-dev debhelper chrpath lintian"
    return 1
  fi
  local version missing
  version=$(dpkg-parsechangelog -S Version)
  missing=$(dpkg-checkbuilddeps 2>&1) || { skip "the Debian packages build" "$missing"; return 1; }
  mkdir "$work/gpucsr-$version"
  git ls-files -z --cached --others --exclude-standard | xargs -0 tar cf - --ignore-failed-read 2>/dev/null | tar xf - -C "$work/gpucsr-$version"
  if [ -f "${GPUCSR_PACKAGES:-/nonexistent}/libgpucsr0_${version}_$(dpkg --print-architecture).deb" ]; then
    cp "$GPUCSR_PACKAGES"/* "$work"
    skip "the Debian packages build" "they are in $GPUCSR_PACKAGES"
  elif (cd "$work/gpucsr-$version" && CUDA_DIR=none dpkg-buildpackage -us -uc -b -j"${JOBS:-$CORES}") >"$log" 2>&1; then
    ok "the Debian packages build"
    if grep -q '^[^ ]*: warning: ' "$log"; then not_ok "without warnings" "$log"; fi
  else
    not_ok "the Debian packages build" "$log"
    return 1
  fi
  (cd "$work" && stat -c '# %s bytes: %n' ./*.deb)
  local names
  names=$(cd "$work" && printf '%s\n' *.deb | sed '/dbgsym/d; s/_.*//' | xargs)
  if [ "$names" = "gpucsr-doc gpucsr-tools libgpucsr-dev libgpucsr0 python3-gpucsr" ]; then ok "the packages are $names"; else not_ok "the packages are gpucsr-doc gpucsr-tools libgpucsr-dev libgpucsr0 python3-gpucsr (found: $names)"; fi
  if ! command -v lintian >/dev/null; then skip "lintian" "lintian is not installed"; else
    if lintian --allow-root --tag-display-limit 0 --fail-on error "$work"/*.changes >"$log" 2>&1; then ok "lintian finds no errors"; else not_ok "lintian finds no errors" "$log"; fi
    sed 's/^/#   /' "$log"
  fi
  if [ -n "${GPUCSR_PACKAGES:-}" ]; then mkdir -p "$GPUCSR_PACKAGES" && cp "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$GPUCSR_PACKAGES"; fi
}

overlay() { # writes below a folder go to a file system in memory
  mkdir -p "$work/overlay" && { mountpoint -q "$work/overlay" || mount -t tmpfs none "$work/overlay"; } && mkdir -p "$work/overlay$1/upper" "$work/overlay$1/work" &&
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$work/overlay$1/upper,workdir=$work/overlay$1/work" "$1"
}
installation() { # installs, tests and removes
  local packages=() script names
  for script in "$work"/*.deb; do [[ $script == *-dbgsym_* ]] || packages+=("$script"); done
  names=$(for script in "${packages[@]}"; do dpkg-deb -f "$script" Package; done)
  export DEBIAN_FRONTEND=noninteractive
  if apt-get install -y --no-install-recommends "${packages[@]}" >"$log" 2>&1; then ok "the packages install"; else
    not_ok "the packages install" "$log"
    return
  fi
  if command -v autopkgtest >/dev/null; then
    if autopkgtest -B "$work"/gpucsr-*/ -- null >"$log" 2>&1; then
      ok "autopkgtest passes"
      grep -E ' (PASS|FAIL|SKIP)' "$log" | sort -u | sed 's/^/#   /'
    else
      not_ok "autopkgtest passes" "$log"
    fi
  else
    for script in programs client plugin python; do check "the packages' test $script" "$work"/gpucsr-*/debian/tests/$script; done
  fi
  if man -w MatGPUCSRSetStorage bmrm >"$log" 2>&1; then ok "man finds the manual pages"; else not_ok "man finds the manual pages" "$log"; fi
  # shellcheck disable=SC2086
  if apt-get purge -y $names >"$log" 2>&1 && [ -z "$(find /usr/include /usr/lib/*-linux-gnu /usr/share/doc /usr/share/man /usr/share/gpucsr /usr/share/bash-completion /usr/lib/python3 -iname '*gpucsr*' 2>/dev/null)" ] && [ ! -e /usr/bin/bmrm ]; then
    ok "the packages are removed and leave nothing"
  else
    not_ok "the packages are removed and leave nothing" "$log"
  fi
}

if [ "${1:-}" = --in-namespace ]; then
  if overlay /usr && overlay /etc && overlay /var; then installation; else skip "the packages install, pass their tests and are removed" "this machine does not permit overlays"; fi
  exit 0
fi
: >"$tap"
{
  recipes
  if build; then
    if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then unshare -m "$ROOT/tests/packages/check_packages.sh" --in-namespace "$work" 2>&1; else
      skip "the packages install, pass their tests and are removed" "it needs root and a mount namespace"
    fi
  fi
} | tee "$tap"
tap_total "$tap"
