static char help[] = "MatGPUCSRPass(): A'(A x) in one pass, compared with two products.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include "gpucsrdevice.h"

#define ROWS    601
#define COLUMNS 401

static PetscErrorCode GetRows(Mat A, PetscInt first, PetscInt n, PetscInt length[], PetscInt col[], PetscScalar val[], void *ctx)
{
  PetscInt k = 0;

  PetscFunctionBeginUser;
  (void)A;
  (void)ctx;
  for (PetscInt i = first; i < first + n; i++) {
    length[i - first] = i % 5 == 3 ? 0 : 1 + i % 29;
    for (PetscInt j = 0; col && j < length[i - first]; j++, k++) {
      col[k] = (i + 7 * j) % COLUMNS;
      val[k] = 1 + (i * 31 + j * 17) % 64 / 32.0;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscScalar *x, *w, *y; /* device memory; w has one entry for each row */
  PetscInt     next, chunks;
  PetscBool    fails;
  Mat          nested; /* multiplied within the pass, which is an error if it is streamed; NULL: none */
  Vec          v, u;   /* vectors of this product */
} Normal;

static PetscErrorCode Use(MatGPUCSRChunk chunk, void *ctx)
{
  Normal  *N = (Normal *)ctx;
  PetscInt first, n;

  PetscFunctionBeginUser;
  PetscCall(MatGPUCSRChunkGetRows(chunk, &first, &n));
  PetscCheck(first == N->next && n > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "chunk begins at row %" PetscInt_FMT ", not %" PetscInt_FMT, first, N->next);
  PetscCheck(!N->fails || N->chunks < 2, PETSC_COMM_SELF, PETSC_ERR_USER, "the function fails");
  N->next = first + n;
  N->chunks++;
  if (N->nested) PetscCall(MatMult(N->nested, N->v, N->u));
  PetscCall(MatGPUCSRChunkMult(chunk, N->x, N->w + first));
  PetscCall(MatGPUCSRChunkMultTransposeAdd(chunk, N->w + first, N->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes A'(A x) in one pass and compares it with two products. Returns the number of chunks. */
static PetscErrorCode Test(Mat A, PetscInt *chunks)
{
  const size_t       bytes[] = {COLUMNS * sizeof(PetscScalar), ROWS * sizeof(PetscScalar)};
  Normal             N       = {.next = 0};
  GpDev              dev;
  Vec                x, w, y, z;
  const PetscScalar *a;
  PetscScalar       *b;
  PetscReal          error, norm;
  PetscErrorCode     err;

  PetscFunctionBeginUser;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(MatCreateVecs(A, &x, &w));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "x", bytes[0], &N.x));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "w", bytes[1], &N.w));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "y", bytes[0], &N.y));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(PetscGPUCSRDeviceCopyIn(dev, N.x, a, bytes[0]));
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(PetscGPUCSRDeviceZero(dev, N.y, bytes[0]));
  PetscCall(MatGPUCSRPass(A, Use, &N));
  *chunks = N.chunks;
  PetscCheck(N.next == ROWS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the pass ended at row %" PetscInt_FMT, N.next);
  PetscCall(VecGetArrayWrite(y, &b));
  PetscCall(PetscGPUCSRDeviceCopyOut(dev, b, N.y, bytes[0]));
  PetscCall(VecRestoreArrayWrite(y, &b));
  if (*chunks > 2) { /* an error of the function ends the pass; the next pass is complete again */
    N.next   = 0;
    N.chunks = 0;
    N.fails  = PETSC_TRUE;
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = MatGPUCSRPass(A, Use, &N);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(err == PETSC_ERR_USER && N.chunks == 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "error %d after %" PetscInt_FMT " chunks", (int)err, N.chunks);
    N = (Normal){.x = N.x, .w = N.w, .y = N.y, .nested = A, .v = x, .u = w};
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = MatGPUCSRPass(A, Use, &N);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(err && N.chunks == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a product with the matrix within the pass returns %d", (int)err);
  }
  PetscCall(MatMult(A, x, w));
  PetscCall(MatMultTranspose(A, w, z));
  PetscCall(VecNorm(z, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_2, &error));
  PetscCheck(norm > 0 && error <= 1e-13 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "error %g of %g", (double)error, (double)norm);
  PetscCall(PetscGPUCSRDeviceFree(dev, bytes[0], &N.x));
  PetscCall(PetscGPUCSRDeviceFree(dev, bytes[1], &N.w));
  PetscCall(PetscGPUCSRDeviceFree(dev, bytes[0], &N.y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix on several processes is refused. */
static PetscErrorCode TestParallel(void)
{
  const char *const type[] = {MATGPUCSRSTREAM, MATGPUCSR};
  Normal            N      = {.next = 0};
  PetscMPIInt       size;
  PetscErrorCode    err;
  Mat               A, B;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int t = 0; size > 1 && t < 2; t++) {
    PetscCall(MatCreateGPUCSRStream(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, ROWS, COLUMNS, GetRows, NULL, &A));
    if (t) {
      PetscCall(MatConvert(A, type[t], MAT_INITIAL_MATRIX, &B));
      PetscCall(MatDestroy(&A));
      A = B;
    }
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    err = MatGPUCSRPass(A, Use, &N);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(err == PETSC_ERR_SUP, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a parallel matrix of type %s returns %d", type[t], (int)err);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat                 A, B;
  MatGPUCSRStreamInfo before, after;
  PetscInt            chunks;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(MatCreateGPUCSRStream(PETSC_COMM_SELF, ROWS, COLUMNS, ROWS, COLUMNS, GetRows, NULL, &A));
  PetscCall(Test(A, &chunks));
  PetscCheck(chunks > 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " chunks", chunks);
  PetscCall(MatGPUCSRGetStreamInfo(A, &before));
  PetscCheck(before.products == 5, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%d visits: three passes and two products are expected", (int)before.products);
  PetscCall(MatConvert(A, MATGPUCSR, MAT_INITIAL_MATRIX, &B));
  PetscCall(Test(B, &chunks));
  PetscCheck(chunks == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a matrix that is not streamed has %" PetscInt_FMT " chunks", chunks);
  PetscCall(MatGPUCSRSetStream(B, MAT_GPUCSR_STREAM_ALWAYS));
  PetscCall(Test(B, &chunks));
  PetscCall(MatGPUCSRGetStreamInfo(B, &after));
  PetscCheck(chunks > 2 && after.streamed, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " chunks", chunks);
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(TestParallel());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ok\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{1 2}}
    args: -mat_gpucsr_stream_chunk 4000
  test:
    suffix: segments
    output_file: output/pass_1.out
    args: -mat_gpucsr_stream_chunk 4000 -mat_gpucsr_kernel csrsegment -gpucsr_stream_transpose shared
TEST*/
