# Sourced by the test scripts: where things are, and a calm environment for MPI programs.
unset MAKEFLAGS MFLAGS MAKELEVEL # what they hold is in the environment too; here it would beat it
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$ROOT" || exit 1
BUILD=$(realpath -m "${BUILD:-build}") # one name for one folder, however it was given: the makefile knows targets by their names
: "${PETSC_DIR:=$(pkg-config --variable=prefix PETSc 2>/dev/null || pkg-config --variable=prefix petsc 2>/dev/null)}"
: "${PETSC_ARCH=}"
: "${GPUCSR_MPIEXEC:=${MPIEXEC:-$(sed -n 's/^MPIEXEC = //p' "$PETSC_DIR/$PETSC_ARCH/lib/petsc/conf/petscvariables" 2>/dev/null)}}"
: "${GPUCSR_MPIEXEC:=mpiexec}"
MPIEXEC=$ROOT/tests/mpiexec.sh # runs it
PETSCMPIEXEC=$MPIEXEC          # what PETSc's harness calls
: "${GPUCSR_DEVICE:=host}" # the runtime that the tests ask for
GPUCSR_LIB=$BUILD/lib/libgpucsr.so
BMRM=$BUILD/bin/bmrm
# public data sets kept beside the project; tests that want them are skipped without them
if [ -z "${GPUCSR_DATA:-}" ] && [ -d ../shared/data ]; then GPUCSR_DATA=$(cd ../shared/data && pwd); fi
export ROOT BUILD PETSC_DIR PETSC_ARCH GPUCSR_MPIEXEC MPIEXEC PETSCMPIEXEC GPUCSR_DEVICE GPUCSR_LIB BMRM GPUCSR_DATA
: "${GPUCSR_INT_BYTES:=$(($(sed -n 's/^PETSC_INDEX_SIZE = //p' "$PETSC_DIR/$PETSC_ARCH/lib/petsc/conf/petscvariables" 2>/dev/null | grep . || echo 32) / 8))}" # of a PetscInt, in PETSc's binary files too
export GPUCSR_INT_BYTES
CORES=$(env -u OMP_NUM_THREADS nproc) # which obeys OpenMP
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 LC_ALL=C
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_ess_singleton_isolated=1 # a program alone starts without Open MPI's daemon, in a tenth of the time
export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent=/bin/false
export OMPI_MCA_odls_base_sigkill_timeout=0 # a run that fails is ended at once; mpiexec would sleep for a second before
. "$ROOT/tests/tap.sh"
