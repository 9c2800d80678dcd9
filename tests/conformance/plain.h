/* Included before a test program that names another vendor's types or functions in its source: the matrix type becomes the
   one that the environment names, dense matrices and vectors become plain ones, whose functions have the same arguments. */
#include <petsc.h>
#include <stdlib.h>
#undef MATAIJCUSPARSE
#undef MATSEQAIJCUSPARSE
#undef MATMPIAIJCUSPARSE
#undef MATAIJHIPSPARSE
#undef MATSEQAIJHIPSPARSE
#undef MATMPIAIJHIPSPARSE
#undef MATAIJKOKKOS
#undef MATSEQAIJKOKKOS
#undef MATMPIAIJKOKKOS
#undef MATAIJVIENNACL
#undef MATSEQAIJVIENNACL
#undef MATMPIAIJVIENNACL
#undef MATDENSECUDA
#undef MATSEQDENSECUDA
#undef MATMPIDENSECUDA
#undef MATDENSEHIP
#undef MATSEQDENSEHIP
#undef MATMPIDENSEHIP
#undef VECCUDA
#undef VECSEQCUDA
#undef VECMPICUDA
#undef VECHIP
#undef VECSEQHIP
#undef VECMPIHIP
#undef VECKOKKOS
#undef VECSEQKOKKOS
#undef VECMPIKOKKOS
#undef VECVIENNACL
#undef VECSEQVIENNACL
#undef VECMPIVIENNACL
#define MATAIJCUSPARSE     getenv("CONFORMANCE_MATAIJ")
#define MATSEQAIJCUSPARSE  getenv("CONFORMANCE_MATSEQAIJ")
#define MATMPIAIJCUSPARSE  getenv("CONFORMANCE_MATMPIAIJ")
#define MATAIJHIPSPARSE    getenv("CONFORMANCE_MATAIJ")
#define MATSEQAIJHIPSPARSE getenv("CONFORMANCE_MATSEQAIJ")
#define MATMPIAIJHIPSPARSE getenv("CONFORMANCE_MATMPIAIJ")
#define MATAIJKOKKOS       getenv("CONFORMANCE_MATAIJ")
#define MATSEQAIJKOKKOS    getenv("CONFORMANCE_MATSEQAIJ")
#define MATMPIAIJKOKKOS    getenv("CONFORMANCE_MATMPIAIJ")
#define MATAIJVIENNACL     getenv("CONFORMANCE_MATAIJ")
#define MATSEQAIJVIENNACL  getenv("CONFORMANCE_MATSEQAIJ")
#define MATMPIAIJVIENNACL  getenv("CONFORMANCE_MATMPIAIJ")
#define MATDENSECUDA       MATDENSE
#define MATSEQDENSECUDA    MATSEQDENSE
#define MATMPIDENSECUDA    MATMPIDENSE
#define MATDENSEHIP        MATDENSE
#define MATSEQDENSEHIP     MATSEQDENSE
#define MATMPIDENSEHIP     MATMPIDENSE
#define VECCUDA            VECSTANDARD
#define VECSEQCUDA         VECSEQ
#define VECMPICUDA         VECMPI
#define VECHIP             VECSTANDARD
#define VECSEQHIP          VECSEQ
#define VECMPIHIP          VECMPI
#define VECKOKKOS          VECSTANDARD
#define VECSEQKOKKOS       VECSEQ
#define VECMPIKOKKOS       VECMPI
#define VECVIENNACL        VECSTANDARD
#define VECSEQVIENNACL     VECSEQ
#define VECMPIVIENNACL     VECMPI
/* unlike VecRestoreArray(), it leaves the caller's pointer as it is */
#undef VecCUDARestoreArray
#define VecCUDARestoreArray(v, a) VecRestoreArray(v, &(PetscScalar *){*(a)})
