#!/usr/bin/env bash
set -eu
make -j"${CPU_COUNT:-1}" PETSC_DIR="$PREFIX" PETSC_ARCH= SLEPC_DIR=none CUDA_DIR=none BUILD=build prefix="$PREFIX" LDFLAGS="${LDFLAGS:-}" all man
make PETSC_DIR="$PREFIX" PETSC_ARCH= SLEPC_DIR=none CUDA_DIR=none BUILD=build prefix="$PREFIX" LDFLAGS="${LDFLAGS:-}" install
rm -f "$PREFIX/share/gpucsr/manifest" # conda records the files itself
