static char help[] = "Bytes copied between host and device in products and solves with vectors on the device: none on one rank, the boundary entries on several.\n\n\
  -vec <type> : type of the vectors, default gpu\n\n";

#include "gpucsr.h"
#include "sys/gpucsrsys.h"
#include <petscksp.h>

#define WIDTH 24

/* A nonsymmetric 5-point stencil on a square grid. */
static PetscErrorCode Matrix(MatType type, Mat *A)
{
  const PetscInt n = WIDTH * WIDTH;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt k = start; k < end; k++) {
    const PetscInt i = k / WIDTH, j = k % WIDTH;

    PetscCall(MatSetValue(*A, k, k, 4.5, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(*A, k, k - WIDTH, -1.25, INSERT_VALUES));
    if (i < WIDTH - 1) PetscCall(MatSetValue(*A, k, k + WIDTH, -0.75, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(*A, k, k - 1, -1, INSERT_VALUES));
    if (j < WIDTH - 1) PetscCall(MatSetValue(*A, k, k + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes copied so far to the device [0] and from it [1]. ours: by gpucsr. petscs: by PETSc, if it supports devices; these counters include some
   copies of gpucsr. */
static PetscErrorCode Copied(double ours[2], double petscs[2])
{
  GpDev dev = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  ours[0]   = GpDevBytesIn(dev);
  ours[1]   = GpDevBytesOut(dev);
  petscs[0] = petscs[1] = 0;
#if defined(PETSC_HAVE_DEVICE)
  petscs[0] = petsc_ctog_sz;
  petscs[1] = petsc_gtoc_sz;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef PetscErrorCode (*Work)(void *, PetscInt times);

/* Checks that each of the given number of products copies exactly the given bytes in each direction. */
static PetscErrorCode Test(const char what[], Work work, void *context, PetscInt products, const double once[2])
{
  double ours[2][2], petscs[2][2];

  PetscFunctionBeginUser;
  PetscCall((*work)(context, 1)); /* allocates and uploads everything */
  PetscCall(Copied(ours[0], petscs[0]));
  PetscCall((*work)(context, products));
  PetscCall(Copied(ours[1], petscs[1]));
  for (int d = 0; d < 2; d++) {
    const double got = ours[1][d] - ours[0][d], petsc = petscs[1][d] - petscs[0][d], right = (double)products * once[d];

    PetscCheck(got == right, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s copied %g bytes %s the device, expected %g", what, got, d ? "from" : "to", right);
    PetscCheck(petsc <= right, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: PETSC counts %g bytes copied %s the device, expected at most %g", what, petsc, d ? "from" : "to", right);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  Mat A;
  Vec x, y, z;
  KSP ksp;
} Objects;

static PetscErrorCode Mult(void *context, PetscInt times)
{
  Objects *o = (Objects *)context;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < times; k++) PetscCall(MatMult(o->A, o->x, o->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultAdd(void *context, PetscInt times)
{
  Objects *o = (Objects *)context;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < times; k++) PetscCall(MatMultAdd(o->A, o->x, o->z, o->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultTranspose(void *context, PetscInt times)
{
  Objects *o = (Objects *)context;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < times; k++) PetscCall(MatMultTranspose(o->A, o->x, o->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs the given number of iterations with a zero initial guess. */
static PetscErrorCode Solve(void *context, PetscInt times)
{
  Objects *o = (Objects *)context;

  PetscFunctionBeginUser;
  PetscCall(KSPSetTolerances(o->ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, times));
  PetscCall(KSPSolve(o->ksp, o->z, o->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Apply(void *context, PetscInt times)
{
  Objects *o = (Objects *)context;
  PC       pc;

  PetscFunctionBeginUser;
  PetscCall(KSPSetUp(o->ksp));
  PetscCall(KSPSetUpOnBlocks(o->ksp));
  PetscCall(KSPGetPC(o->ksp, &pc));
  for (PetscInt k = 0; k < times; k++) PetscCall(PCApply(pc, o->x, o->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with preconditioners that are applied on the device.  CG multiplies once in each iteration. */
static PetscErrorCode Solves(Mat A, VecType type, Objects *o, const double forward[2])
{
  const PCType    types[]  = {PCJACOBI, PCPBJACOBI, PCBJACOBI, PCBJACOBI, PCASM}; /* PCASM copies the entries of the overlap, in a scatter */
  const PetscInt  blocks[] = {1, 1, 1, 3, 1};
  const PetscBool gpu      = (PetscBool)!strcmp(type, VECGPU); /* PETSc's type cuda copies if a rank has several blocks */

  double      overlap[2];
  PetscMPIInt rank, size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  overlap[0] = overlap[1] = ((rank > 0) + (rank < size - 1)) * WIDTH * (double)sizeof(double);
  for (int k = 0; k < (gpu ? 5 : 1); k++) {
    PC pc;

    PetscCall(KSPCreate(PETSC_COMM_WORLD, &o->ksp));
    PetscCall(KSPSetOperators(o->ksp, A, A));
    PetscCall(KSPGetPC(o->ksp, &pc));
    PetscCall(PCSetType(pc, types[k]));
    PetscCall(PCBJacobiSetLocalBlocks(pc, blocks[k], NULL));
    PetscCall(KSPSetConvergenceTest(o->ksp, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPSetType(o->ksp, KSPCG));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(k == 4 ? Test(types[k], Apply, o, 5, overlap) : Test(types[k], Solve, o, 20, forward));
    PetscCall(KSPDestroy(&o->ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Products(Mat A, VecType type, const double forward[2], const double backward[2])
{
  Objects   o = {.A = A};
  Mat       plain;
  Vec       x, y, z;
  PetscReal error;

  PetscFunctionBeginUser;
  PetscCall(Matrix(MATAIJ, &plain));
  PetscCall(MatCreateVecs(plain, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecSetRandom(z, NULL));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &o.x));
  PetscCall(VecSetSizes(o.x, PETSC_DECIDE, WIDTH * WIDTH));
  PetscCall(VecSetType(o.x, type));
  PetscCall(VecDuplicate(o.x, &o.y));
  PetscCall(VecDuplicate(o.x, &o.z));
  PetscCall(VecCopy(x, o.x));
  PetscCall(VecCopy(z, o.z));
  PetscCall(VecShift(o.x, 1)); /* after an operation on the device the newest values are only there */
  PetscCall(VecShift(x, 1));
  PetscCall(VecShift(o.z, 1));
  PetscCall(VecShift(z, 1));

  PetscCall(Test("MatMult()", Mult, &o, 5, forward));
  PetscCall(MatMult(plain, x, y));
  PetscCall(VecAXPY(o.y, -1, y));
  PetscCall(VecNorm(o.y, NORM_INFINITY, &error));
  PetscCheck(error < 1e-13, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "MatMult() differs by %g", (double)error);
  PetscCall(Test("MatMultAdd()", MultAdd, &o, 5, forward));
  PetscCall(MatMultAdd(plain, x, z, y));
  PetscCall(VecAXPY(o.y, -1, y));
  PetscCall(VecNorm(o.y, NORM_INFINITY, &error));
  PetscCheck(error < 1e-13, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "MatMultAdd() differs by %g", (double)error);
  PetscCall(Test("MatMultTranspose()", MultTranspose, &o, 5, backward));
  PetscCall(MatMultTranspose(plain, x, y));
  PetscCall(VecAXPY(o.y, -1, y));
  PetscCall(VecNorm(o.y, NORM_INFINITY, &error));
  PetscCheck(error < 1e-13, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "MatMultTranspose() differs by %g", (double)error);

  PetscCall(Solves(A, type, &o, forward));
  PetscCall(VecDestroy(&o.x));
  PetscCall(VecDestroy(&o.y));
  PetscCall(VecDestroy(&o.z));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&plain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat           A;
  MatGPUCSRInfo info;
  PetscMPIInt   rank, size;
  double        bytes, both[2];
  char          type[64] = VECGPU;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-vec", type, sizeof(type), NULL));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Matrix(MATGPUCSR, &A));
  PetscCall(MatGPUCSRSetVecType(A, type)); /* type of the vectors that the KSP creates */
  PetscCall(MatGPUCSRGetInfo(A, &info));
  bytes = ((rank > 0) + (rank < size - 1)) * WIDTH * (double)sizeof(double);
  if (info.halo && info.halo[0] != 'h') bytes = 0; /* the exchange copies from device to device */
  both[0] = both[1] = bytes;
  PetscCall(Products(A, type, both, both));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Products and solves copy only the boundary entries\n"));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/traffic.out
      nsize: {{1 2 3 4}}
      test:
         suffix: gpu
         args: -vec_gpu_separate -mat_gpucsr_halo_type {{auto host}} -mat_gpucsr_vec_type gpu -sub_pc_type ilu -sub_pc_factor_mat_solver_type gpucsr
      test:
         suffix: mpi
         args: -vec_gpu_separate -mat_gpucsr_halo_type mpi -gpucsr_device host -mat_gpucsr_vec_type gpu -sub_pc_type ilu -sub_pc_factor_mat_solver_type gpucsr
      test:
         suffix: cuda
         requires: cuda
         args: -vec cuda -mat_gpucsr_halo_type host

TEST*/
