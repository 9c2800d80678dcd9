#!/usr/bin/env bash
# Build a PETSc release from PyPI's source package, without Fortran, for the tests and the benchmarks.
#
#   tests/petsc/build.sh debug [prefix]   newest release, debugging on, 64-bit indices, no CUDA: the strictest checks of arguments
#   tests/petsc/build.sh cuda  [prefix]   newest release, optimised, --with-cuda: the baseline aijcusparse
#
# Works where there is a CUDA toolkit but neither GPU nor driver: missing driver libraries are replaced by empty
# stand-ins at link time only; at run time the real ones are found.  Environment: PETSC_RELEASE, CUDA_DIR, CUDA_ARCH.
set -euo pipefail
kind=${1:?usage: build.sh debug|cuda [prefix]}
here=$(cd "$(dirname "$0")" && pwd)
release=${PETSC_RELEASE:-3.26.1}
prefix=${2:-$here/../../build/petsc/$release-$kind}
jobs=${JOBS:-$(env -u OMP_NUM_THREADS nproc)} # nproc obeys OpenMP, which the tests calm down

if [ -f "$prefix/.complete" ]; then echo "PETSc $release ($kind) is in $prefix"; exit 0; fi
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
work=$prefix.src
mkdir -p "$work"
cd "$work"
if [ ! -d "petsc-$release" ]; then
  python3 -m pip download -q --no-deps --no-binary :all: -d . "petsc==$release"
  tar xzf "petsc-$release.tar.gz"
fi

flags=(--prefix="$prefix" --with-cc=mpicc --with-cxx=0 --with-fc=0 --with-mpi=1 --with-x=0 --with-shared-libraries=1 --with-ssl=0 --with-zlib=0)
case $kind in
debug) flags+=(--with-debugging=1 --with-64-bit-indices=1 CFLAGS=-fPIC COPTFLAGS=-O0) ;; # neither warnings nor symbols, which take 13 % of the time
cuda)
  cuda=${CUDA_DIR:-$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")}
  stubs=$work/stubs
  mkdir -p "$stubs/include"
  # the driver's two libraries, empty but for the symbols that configure links against
  echo 'int nvmlInit_v2(void){return 0;} int nvmlDeviceGetCount_v2(unsigned *n){*n=0;return 0;}' | cc -shared -fPIC -Wl,-soname,libnvidia-ml.so.1 -o "$stubs/libnvidia-ml.so" -x c -
  if [ -f "$cuda/lib64/stubs/libcuda.so" ]; then cp "$cuda/lib64/stubs/libcuda.so" "$stubs/"; else
    echo 'int cuInit(unsigned f){return 0;}' | cc -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$stubs/libcuda.so" -x c -; fi
  if [ ! -f "$cuda/include/nvml.h" ]; then cat >"$stubs/include/nvml.h" <<'H'
#pragma once
typedef int nvmlReturn_t;
typedef struct nvmlDevice_st *nvmlDevice_t;
#define NVML_SUCCESS 0
#ifdef __cplusplus
extern "C" {
#endif
nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *);
#ifdef __cplusplus
}
#endif
#define nvmlInit nvmlInit_v2
#define nvmlDeviceGetCount nvmlDeviceGetCount_v2
H
  fi
  libs=""
  for l in cudart cufft cublas cusparse cusolver curand; do libs="$libs$cuda/lib64/lib$l.so,"; done
  flags=("${flags[@]/--with-cxx=0/--with-cxx=mpicxx}")
  flags+=(--with-debugging=0 --with-cuda=1 "--with-cuda-arch=${CUDA_ARCH:-90}" "--with-cuda-include=[$cuda/include,$stubs/include]"
    "--with-cuda-lib=[$libs$stubs/libcuda.so,$stubs/libnvidia-ml.so]" "COPTFLAGS=-O3 -march=x86-64-v3" "CXXOPTFLAGS=-O3" CUDAOPTFLAGS=-O3) ;;
*) echo "build.sh: '$kind' is neither debug nor cuda" >&2; exit 2 ;;
esac

cd "petsc-$release"
unset PETSC_DIR PETSC_ARCH
./configure PETSC_ARCH=arch "${flags[@]}" >"$work/configure.log" 2>&1 || { tail -40 "$work/configure.log"; exit 1; }
make PETSC_DIR="$PWD" PETSC_ARCH=arch MAKE_NP="$jobs" all >"$work/make.log" 2>&1 || { tail -40 "$work/make.log"; exit 1; }
make PETSC_DIR="$PWD" PETSC_ARCH=arch install >"$work/install.log" 2>&1 || { tail -40 "$work/install.log"; exit 1; }
touch "$prefix/.complete"
echo "PETSc $release ($kind) is in $prefix"
