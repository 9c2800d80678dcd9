static char help[] = "Events and flops of -log_view: gpucsr, gpu and gpucg log the same as aij, standard vectors and cg.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petsc/private/petscimpl.h>
#include <petscksp.h>

#define ROWS 400

typedef struct {
  PetscInt       count;
  PetscLogDouble flops;
} Logged;

/* Counts and flops that an event has logged so far. */
static PetscErrorCode GetLogged(const char event[], Logged *l)
{
  PetscLogEvent      id;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(event, &id));
  PetscCheck(id >= 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "No event %s", event);
  PetscCall(PetscLogEventGetPerfInfo(0, id, &info));
  l->count = info.count;
  l->flops = info.flops;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MatType type, Mat *A)
{
  PetscInt from, to;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 4, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 4, NULL, 4, NULL));
  PetscCall(MatGetOwnershipRange(*A, &from, &to));
  for (PetscInt i = from; i < to; i++) {
    if (i == 7) continue; /* row 7 is empty */
    PetscCall(MatSetValue(*A, i, i, 2.01 + (i % 3), INSERT_VALUES));
    if (i > 0 && i != 8) PetscCall(MatSetValue(*A, i, i - 1, -1, INSERT_VALUES));
    if (i < ROWS - 1 && i != 6) PetscCall(MatSetValue(*A, i, i + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- cases: each runs with the types of PETSc and of gpucsr -----------------------------------------------------------------*/

static PetscErrorCode Mult(Mat A, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(A, y, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultAdd(Mat A, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(MatMultAdd(A, x, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMat(Mat A, Vec x, Vec y)
{
  Mat B, C;

  PetscFunctionBeginUser;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, ROWS, 20, NULL, &B));
  PetscCall(MatSetRandom(B, NULL));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AXPY(Mat A, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(VecAXPY(x, 0.5, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MAXPY(Mat A, Vec x, Vec y)
{
  Vec               z[2] = {y, y};
  const PetscScalar a[]  = {0.5, 0.25};

  PetscFunctionBeginUser;
  PetscCall(VecMAXPY(x, 2, a, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Dot(Mat A, Vec x, Vec y)
{
  PetscScalar z;

  PetscFunctionBeginUser;
  PetscCall(VecDot(x, y, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Norm(Mat A, Vec x, Vec y)
{
  PetscReal z;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectStateIncrease((PetscObject)x));
  PetscCall(VecNorm(x, NORM_2, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scale(Mat A, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(VecScale(x, 0.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *event;
  PetscErrorCode (*act)(Mat, Vec, Vec);
} Cases[] = {
  {"MatMult", Mult}, {"MatMultAdd", MultAdd}, {"MatMatMultNum", MatMat}, {"VecAXPY", AXPY}, {"VecMAXPY", MAXPY}, {"VecDot", Dot}, {"VecNorm", Norm}, {"VecScale", Scale},
};

/* Counts are the same.  Flops may differ by little: sums of n terms count as n additions or as n - 1, and releases of PETSc count the start and
   the end of a solve differently. */
static PetscErrorCode CompareCounts(const char what[], const Logged l[2][2])
{
  const PetscInt counts[2] = {l[0][1].count - l[0][0].count, l[1][1].count - l[1][0].count};

  PetscFunctionBeginUser;
  PetscCheck(counts[0] == counts[1] && counts[0] > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " times, not %" PetscInt_FMT, what, counts[1], counts[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char what[], const Logged l[2][2])
{
  const PetscLogDouble flops[2] = {l[0][1].flops - l[0][0].flops, l[1][1].flops - l[1][0].flops};

  PetscFunctionBeginUser;
  PetscCall(CompareCounts(what, l));
  PetscCheck(flops[0] > 0 && PetscAbs(flops[0] - flops[1]) <= 0.02 * flops[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g flops, not %g", what, flops[1], flops[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOperations(Mat A[2])
{
  PetscFunctionBeginUser;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(Cases); c++) {
    Logged l[2][2];

    for (int t = 0; t < 2; t++) {
      Vec x, y;

      PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
      PetscCall(VecSetSizes(x, PETSC_DECIDE, ROWS));
      PetscCall(VecSetType(x, t ? VECGPU : VECSTANDARD));
      PetscCall(VecDuplicate(x, &y));
      PetscCall(VecSet(x, 1));
      PetscCall(VecSet(y, 2));
      PetscCall(GetLogged(Cases[c].event, &l[t][0]));
      PetscCall((*Cases[c].act)(A[t], x, y));
      PetscCall(GetLogged(Cases[c].event, &l[t][1]));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
    }
    PetscCall(Compare(Cases[c].event, l));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "operations: the same counts and flops\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, KSPType type, PCType pctype, KSPNormType norm, PetscInt start, Logged mult[2], Logged solve[2])
{
  KSP ksp;
  PC  pc;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(VecSet(x, 0.5));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  PetscCall(KSPSetNormType(ksp, norm));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 25));
  PetscCall(KSPSetInitialGuessNonzero(ksp, (PetscBool)start));
  PetscCall(GetLogged("MatMult", &mult[0]));
  PetscCall(GetLogged("KSPSolve", &solve[0]));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(GetLogged("MatMult", &mult[1]));
  PetscCall(GetLogged("KSPSolve", &solve[1]));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products and flops of iterations that are replayed by a CUDA graph. */
static PetscErrorCode TestSolves(Mat A[2])
{
  const PCType      pcs[]   = {PCNONE, PCJACOBI};
  const KSPNormType norms[] = {KSP_NORM_PRECONDITIONED, KSP_NORM_UNPRECONDITIONED, KSP_NORM_NATURAL, KSP_NORM_NONE};
  Logged            loop;
  PetscMPIInt       size;

  PetscFunctionBeginUser;
  for (int p = 0; p < 2; p++) {
    for (int n = 0; n < 4; n++) {
      for (PetscInt start = 0; start < 2; start++) {
        Logged mult[2][2], solve[2][2];

        for (int t = 0; t < 2; t++) PetscCall(Solve(A[t], t ? KSPGPUCG : KSPCG, pcs[p], norms[n], start, mult[t], solve[t]));
        PetscCall(CompareCounts("MatMult in KSPSolve", mult));
        PetscCall(Compare("KSPSolve", solve));
      }
    }
  }
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(GetLogged("GPUKSPLoop", &loop));
  PetscCheck(size > 1 || loop.count == 16, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%" PetscInt_FMT " loops logged, not 16", loop.count);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solves: the same counts and flops\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that are used on the host and on the device in turn are copied once for each change. The host backend copies with -vec_gpu_separate only. In
   a PETSc with CUDA the type gpu is PETSc's cuda unless -vec_gpu_cuda 0 is given, and the copies are PETSc's. */
static PetscErrorCode TestCopies(void)
{
  Vec          x;
  PetscScalar *a;
  PetscReal    norm;
  PetscBool    ours;
  Logged       up[2], down[2];

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, PETSC_DECIDE, ROWS));
  PetscCall(VecSetType(x, VECGPU));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)x, &ours, VECSEQGPU, VECMPIGPU, ""));
  PetscCall(VecSet(x, 1));
  PetscCall(GetLogged("VecGPUUpload", &up[0]));
  PetscCall(GetLogged("VecGPUDownload", &down[0]));
  for (int k = 0; k < 3; k++) {
    PetscCall(VecGetArray(x, &a));
    PetscCall(VecRestoreArray(x, &a));
    PetscCall(VecNorm(x, NORM_2, &norm));
    PetscCall(VecScale(x, 2));
  }
  PetscCall(GetLogged("VecGPUUpload", &up[1]));
  PetscCall(GetLogged("VecGPUDownload", &down[1]));
  PetscCheck(!ours || (up[1].count - up[0].count == 3 && down[1].count - down[0].count == 3), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " uploads and %" PetscInt_FMT " downloads, not 3 and 3", up[1].count - up[0].count,
             down[1].count - down[0].count);
  PetscCall(VecDestroy(&x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "copies: as many as necessary\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stages of streaming are events with a call, and with times that the device measured, in the stage in which the program multiplies. */
static PetscErrorCode TestStages(Mat A)
{
  const char *const   events[] = {"GPUCSREncode", "GPUCSRDecodeMult"};
  MatGPUCSRStreamInfo info;
  PetscLogStage       stage;
  PetscEventPerfInfo  before, after, inside;
  PetscLogEvent       id;
  Mat                 B;
  Vec                 x, y;
  PetscReal           norm;

  PetscFunctionBeginUser;
  PetscCall(PetscLogStageRegister("products", &stage));
  for (int e = 0; e < 2; e++) {
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(MatCreateVecs(B, &x, &y));
    PetscCall(VecSet(x, 1));
    if (e) PetscCall(MatMult(B, x, y));
    PetscCall(PetscLogEventGetId(events[e], &id));
    PetscCall(PetscLogEventGetPerfInfo(0, id, &before));
    PetscCall(PetscLogStagePush(stage));
    for (int k = 0; k < 3; k++) {
      PetscCall(MatMult(B, x, y));
      PetscCall(VecNorm(y, NORM_2, &norm)); /* waits for the device, so that the next product logs the time of this one */
    }
    PetscCall(PetscLogStagePop());
    PetscCall(PetscLogEventGetPerfInfo(0, id, &after));
    PetscCall(PetscLogEventGetPerfInfo(stage, id, &inside));
    PetscCall(MatGPUCSRGetStreamInfo(B, &info));
    PetscCheck(after.count == before.count && after.time == before.time, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is logged outside its stage", events[e]);
    PetscCheck(info.streamed ? inside.count > 0 && inside.time > 0 : !inside.count, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d calls in %g s in its stage", events[e], (int)inside.count, inside.time);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "stages: as expected\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat A[2], B[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(PetscGPUCSRInitialize());
  for (int t = 0; t < 2; t++) {
    PetscCall(Create(t ? MATGPUCSR : MATAIJ, &A[t]));
    PetscCall(MatDuplicate(A[t], MAT_COPY_VALUES, &B[t]));
    PetscCall(MatSetOption(B[t], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetValue(B[t], 7, 7, 2, INSERT_VALUES)); /* makes the matrix nonsingular */
    PetscCall(MatAssemblyBegin(B[t], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B[t], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(TestOperations(A));
  PetscCall(TestSolves(B));
  PetscCall(TestCopies());
  PetscCall(TestStages(A[1]));
  for (int t = 0; t < 2; t++) {
    PetscCall(MatDestroy(&A[t]));
    PetscCall(MatDestroy(&B[t]));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1
      nsize: {{1 2}}
      args: -vec_gpu_separate -mat_gpucsr_storage double
      output_file: output/logging.out

   test:
      suffix: stream
      nsize: {{1 2}}
      args: -vec_gpu_separate -mat_gpucsr_storage double -gpucsr_stream always -gpucsr_stream_chunk 16384 -gpucsr_stream_resident 20000
      output_file: output/logging.out

TEST*/
