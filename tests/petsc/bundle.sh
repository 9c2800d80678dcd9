#!/usr/bin/env bash
# Collect what the tests need to run on a machine that has a GPU and its driver but no PETSc and no MPI.
#
#   tests/petsc/bundle.sh <folder>           fills the folder; tests and clients are built first by: make check
#   tests/petsc/bundle.sh <folder> <file>    and packs it into <file>, a .tar.xz
#
# Taken along: PETSc and every shared library it needs except glibc's, OpenMPI's starter and plug-ins, our library, apps, test
# programs and scripts. There:   . <folder>/env.sh && <folder>/tests/check_gpu.sh
# CUDA's libraries stay behind (GPUCSR_BUNDLE_CUDA=1 takes them along): only a PETSc built with CUDA needs them.
set -eu
. "$(dirname "$0")/../env.sh"
out=${1:?usage: bundle.sh <folder> [<file.tar.xz>]}
rm -rf "$out"
mkdir -p "$out"/lib "$out"/libstdc++ "$out"/petsc "$out"/build/lib "$out"/build/bin "$out"/build/tests/harness
out=$(cd "$out" && pwd)

# --- the project: scripts, data, what was built ----------------------------------------------------------------------------
mkdir -p "$out/solvers/bmrm"
cp -r tests "$out/"
cp -r solvers/bmrm/data "$out/solvers/bmrm/"
cp -d "$BUILD"/lib/libgpucsr.so* "$out/build/lib/"
cp "$BUILD"/bin/* "$out/build/bin/" 2>/dev/null || true
if [ -d "$BUILD/tests/clients" ]; then
  mkdir -p "$out/build/tests/clients"
  find "$BUILD/tests/clients" -maxdepth 1 -type f -executable ! -name '*.so' -exec cp -t "$out/build/tests/clients" {} +
fi
# programs and the scripts made by PETSc's harness; absolute paths in these become @BUILD@ and @PETSC@
config=$(dirname "$(find "$PETSC_DIR/$PETSC_ARCH/share/petsc/examples/config" "$PETSC_DIR/config" -name petsc_harness.sh 2>/dev/null | head -1)")
petscdiff=$(find -L "$PETSC_DIR/$PETSC_ARCH/lib/petsc/bin" "$PETSC_DIR/lib/petsc/bin" -name petscdiff 2>/dev/null | head -1)
cp "$config/petsc_harness.sh" "$petscdiff" "$out/petsc/"
(cd "$BUILD/tests" && find harness -type f \( -name '*.sh' -path '*/tests/*/run*.sh' -prune -o -executable ! -name '*.sh' \) ! -path '*/run*/*' -print; find harness -mindepth 4 -maxdepth 5 -name 'run*.sh') |
  sort -u | (cd "$BUILD/tests" && tar cf - -T -) | tar xf - -C "$out/build/tests"
for script in $(find "$out/build/tests/harness" -name 'run*.sh'); do
  sed -e "s|$BUILD|@BUILD@|g" -e "s|^config_dir=.*|config_dir='@PETSC@'|" -e "s|^petsc_bindir=.*|petsc_bindir='@PETSC@'|" "$script" >"$script.in"
  rm "$script"
done
(cd "$BUILD/tests" && tar chf - --exclude='*.c' src) | tar xf - -C "$out/build/tests"
# the conformance suite: its programs, PETSc's sources of them with the reference outputs, what its scripts read of PETSc
examples=$(dirname "$config")
if [ -d "$BUILD/tests/conformance/bin" ] && [ -d "$examples/src" ]; then
  mkdir -p "$out/build/tests/conformance/bin" "$out/petsc/share/petsc/examples" "$out/petsc/lib/petsc/bin" "$out/petsc/include"
  find "$BUILD/tests/conformance/bin" -type f -executable -exec cp -t "$out/build/tests/conformance/bin" {} +
  (cd "$examples" && tar chf - --exclude='*.F' --exclude='*.F90' --exclude='*.cu' --exclude='*.cxx' config src) | tar xf - -C "$out/petsc/share/petsc/examples"
  cp -rL "$PETSC_DIR/$PETSC_ARCH/lib/petsc/conf" "$out/petsc/lib/petsc/"
  cp -rL "$(dirname "$examples")/datafiles" "$out/petsc/share/petsc/" 2>/dev/null || true # what the tests read
  cp -L "$PETSC_DIR/$PETSC_ARCH"/include/petsc{conf,version}*.h "$out/petsc/include/" 2>/dev/null || cp -L "$PETSC_DIR"/include/petsc{conf,version}*.h "$out/petsc/include/"
  ln -s ../../../petscdiff "$out/petsc/lib/petsc/bin/petscdiff"
fi
find "$out/build" -type f -executable -exec strip --strip-debug {} + 2>/dev/null || true

# --- OpenMPI: the starter, its helper, the plug-ins and the words of its errors -----------------------------------------------
mpi=$out/mpi
mkdir -p "$mpi/bin" "$mpi/lib" "$mpi/share" "$mpi/etc"
if command -v orterun >/dev/null; then
  value() { ompi_info --path "$1" --parsable | cut -d: -f3; }
  cp -L "$(command -v orterun)" "$mpi/bin/"
  cp -L "$(command -v orted)" "$mpi/bin/"
  ln -s orterun "$mpi/bin/mpiexec"
  cp -rL "$(value pkglibdir)" "$mpi/lib/openmpi"
  cp -rL "$(value pkgdatadir)" "$mpi/share/openmpi"
  cp -rL "$(value sysconfdir)" "$mpi/etc/openmpi" 2>/dev/null || mkdir -p "$mpi/etc/openmpi"
  for dir in /usr/lib/*/pmix*/lib/pmix; do [ -d "$dir" ] && cp -rL "$dir" "$mpi/lib/pmix"; done
  for dir in /usr/share/pmix*; do [ -d "$dir" ] && cp -rL "$dir" "$mpi/share/"; done
  # one machine, shared memory: networks, batch systems and OpenSHMEM stay behind, and with them many libraries
  find "$mpi/lib" \( -name '*.la' -o -name 'libompi_dbg*' -o -name '*_ofi*' -o -name '*_ucx*' -o -name '*_uct*' -o -name '*psm*' -o -name '*usnic*' -o -name '*openib*' \
    -o -name '*verbs*' -o -name '*slurm*' -o -name '*_tm.so' -o -name '*monitoring*' -o -name '*_cm.so' -o -name '*sshmem*' -o -name 'mca_spml*' \
    -o -name 'mca_memheap*' -o -name 'mca_scoll*' -o -name 'mca_atomic*' -o -name '*munge*' -o -name '*_lsf*' \) -delete
fi

# --- shared libraries: all that ldd names, without glibc ----------------------------------------------------------------------
glibc='^(linux-vdso|ld-linux[^.]*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl|libmvec|libnsl|libnss_.*|libthread_db|libBrokenLocale)\.so'
cuda='^lib(cuda|cudart|cublas|cublasLt|cusparse|cusolver|curand|cufft|nvJitLink|nvidia-ml)\.so'
[ "${GPUCSR_BUNDLE_CUDA:-}" = 1 ] && cuda='^libcuda\.so'
find "$out/build/lib" "$out/build/bin" "$out/build/tests" "$mpi" -type f \( -executable -o -name '*.so*' \) ! -name '*.sh' ! -name '*.in' -print0 |
  xargs -0 ldd 2>/dev/null | sed -n 's|.*=> \(/[^ ]*\) (.*|\1|p' | sort -u | while read -r file; do
  name=$(basename "$file")
  [[ $name =~ $glibc || $name =~ $cuda || $name == libgpucsr.so* ]] && continue
  to=$out/lib
  [[ $name =~ ^(libstdc\+\+|libgcc_s)\.so ]] && to=$out/libstdc++
  cp -L "$file" "$to/$name"
  chmod u+w "$to/$name"
  strip --strip-unneeded "$to/$name" 2>/dev/null || true
done

cat >"$out/env.sh" <<'ENV'
# Sourced on the other machine: programs of this folder, its libraries, its MPI.
bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
LD_LIBRARY_PATH=$bundle/build/lib:$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
ldconfig -p 2>/dev/null | grep -q 'libstdc++.so.6' || LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$bundle/libstdc++
PATH=$bundle/mpi/bin:$PATH
BUILD=$bundle/build PETSC_DIR=$bundle/petsc PETSC_ARCH= GPUCSR_PREBUILT=1
PETSCDIFF=$bundle/petsc/petscdiff MPIEXEC=$bundle/mpi/bin/mpiexec
OPAL_PREFIX=$bundle/mpi OPAL_LIBDIR=$bundle/mpi/lib OPAL_PKGLIBDIR=$bundle/mpi/lib/openmpi OPAL_BINDIR=$bundle/mpi/bin
OPAL_DATADIR=$bundle/mpi/share OPAL_PKGDATADIR=$bundle/mpi/share/openmpi OPAL_SYSCONFDIR=$bundle/mpi/etc/openmpi
PMIX_INSTALL_PREFIX=$bundle/mpi PMIX_PREFIX=$bundle/mpi PMIX_LIBDIR=$bundle/mpi/lib PMIX_PKGLIBDIR=$bundle/mpi/lib/pmix
export LD_LIBRARY_PATH PATH BUILD PETSC_DIR PETSC_ARCH GPUCSR_PREBUILT PETSCDIFF MPIEXEC
export OPAL_PREFIX OPAL_LIBDIR OPAL_PKGLIBDIR OPAL_BINDIR OPAL_DATADIR OPAL_PKGDATADIR OPAL_SYSCONFDIR
export PMIX_INSTALL_PREFIX PMIX_PREFIX PMIX_LIBDIR PMIX_PKGLIBDIR
ENV
echo "export GPUCSR_INT_BYTES=$GPUCSR_INT_BYTES" >>"$out/env.sh"
du -sh "$out" | sed 's/\t/ in /'
if [ -n "${2:-}" ]; then
  tar cf - -C "$(dirname "$out")" "$(basename "$out")" | xz -T0 -6 >"$2"
  du -h "$2" | sed 's/\t/ in /'
fi
