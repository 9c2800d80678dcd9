# Sourced by the test scripts: paths, and an environment in which MPI programs run reproducibly.
unset MAKEFLAGS MFLAGS MAKELEVEL # variables of an outer make are in the environment too; in MAKEFLAGS they would override it
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$ROOT" || exit 1
BUILD=$(realpath -m "${BUILD:-build}") # normalised, because the makefile knows targets by their names
: "${PETSC_DIR:=$(pkg-config --variable=prefix PETSc 2>/dev/null || pkg-config --variable=prefix petsc 2>/dev/null)}"
: "${PETSC_ARCH=}"
: "${GPUCSR_MPIEXEC:=${MPIEXEC:-$(sed -n 's/^MPIEXEC = //p' "$PETSC_DIR/$PETSC_ARCH/lib/petsc/conf/petscvariables" 2>/dev/null)}}"
: "${GPUCSR_MPIEXEC:=mpiexec}"
MPIEXEC=$ROOT/tests/mpiexec.sh # runs $GPUCSR_MPIEXEC
PETSCMPIEXEC=$MPIEXEC          # the variable that PETSc's harness uses
: "${GPUCSR_DEVICE:=host}" # the backend that the tests use
GPUCSR_LIB=$BUILD/lib/libgpucsr.so
BMRM=$BUILD/bin/bmrm
# Folder of public data sets. Tests that need them are skipped if it is missing.
if [ -z "${GPUCSR_DATA:-}" ] && [ -d ../shared/data ]; then GPUCSR_DATA=$(cd ../shared/data && pwd); fi
export ROOT BUILD PETSC_DIR PETSC_ARCH GPUCSR_MPIEXEC MPIEXEC PETSCMPIEXEC GPUCSR_DEVICE GPUCSR_LIB BMRM GPUCSR_DATA
# Size of PetscInt, also in PETSc's binary files. Not taken from the environment, because make check runs the tests with a second PETSc; only programs built elsewhere bring it along.
if [ "${GPUCSR_PREBUILT:-}" != 1 ]; then
  GPUCSR_INT_BYTES=$(($(sed -n 's/^PETSC_INDEX_SIZE = //p' "$PETSC_DIR/$PETSC_ARCH/lib/petsc/conf/petscvariables" 2>/dev/null | grep . || echo 32) / 8))
fi
export GPUCSR_INT_BYTES
CORES=$(env -u OMP_NUM_THREADS nproc) # nproc would otherwise honour OMP_NUM_THREADS
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 LC_ALL=C
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_ess_singleton_isolated=1 # a program without mpiexec starts without Open MPI's daemon, in a tenth of the time
export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_plm_rsh_agent=/bin/false
export OMPI_MCA_pml=ob1 OMPI_MCA_osc=^ucx # without these, every start searches for network adapters for 0.2 s
export OMPI_MCA_odls_base_sigkill_timeout=0 # without this, mpiexec sleeps for a second before it ends a failed run
# The mpiexec of Open MPI 4.1 can miss that a rank has called MPI_Finalize(), and then ends a good run with "exiting improperly" (open-mpi/ompi issues 7833, 9389 and 12607).
# It was seen about once in a thousand runs on two busy cores. With this variable, only the exit codes of the ranks count.
export OMPI_MCA_orte_allowed_exit_without_sync=1
. "$ROOT/tests/tap.sh"
