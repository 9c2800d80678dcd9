#!/usr/bin/env bash
# Only src/gpucsrcompat.h tests PETSc's version, the version of the public header has a section in the changelog, and packages have the same version.
cd "$(dirname "$0")/../.." || exit 1
bad=0
grep -rnE 'PETSC_VERSION_(LT|LE|EQ|GE|GT)|^ *#.*if.*PETSC_VERSION_' --include='*.[ch]' --include='*.cu' include src solvers examples 2>/dev/null |
  grep -v '^src/gpucsrcompat.h:' && bad=1
part() { sed -n "s/^#define GPUCSR_VERSION_$1 *//p" include/gpucsr.h; }
version=$(part MAJOR).$(part MINOR).$(part PATCH)
grep -q "^## \[$version\]" CHANGELOG.md || { echo "CHANGELOG.md: no section for version $version of include/gpucsr.h"; bad=1; }
while read -r file pattern; do
  [ ! -f "$file" ] || grep -q "$pattern" "$file" || { echo "$file: it does not have version $version of include/gpucsr.h"; bad=1; }
done <<END
debian/changelog ^gpucsr ($version)
packaging/spack/package.py version("$version"
python/gpucsr/__init__.py __version__ = "$version"
packaging/conda/meta.yaml version = "$version"
END
exit $bad
