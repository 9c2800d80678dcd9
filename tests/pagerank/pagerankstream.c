static char help[] = "PageRank with a streamed matrix: the bits of the ranks with the matrix on the device, no product in vain; sequences of calls.\n\n";

#include <gpucsrpagerank.h>
#include "gpucsr.h"
#include "gpucsrcompat.h"

#define NODES 3000

/* Sets the links of every node. A shift gives another pattern. */
static PetscErrorCode SetLinks(Mat A, PetscInt shift)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    for (PetscInt k = 0; k < 1 + (i * 7) % 31; k++) {
      const PetscInt j = (i * (k + 3) + k * k * 11 + shift) % NODES;

      if (j % 17 != 5) PetscCall(MatSetValue(A, i, j, 1, INSERT_VALUES)); /* nodes without links exist too */
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MatGPUCSRStream stream, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, NODES, NODES));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatGPUCSRSetKernel(*A, "csrvector8"));
  PetscCall(MatGPUCSRSetTranspose(*A, MAT_GPUCSR_TRANSPOSE_LAZY));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatGPUCSRSetStream(*A, stream)); /* after the options, so that it overrides them */
  PetscCall(MatSeqAIJSetPreallocation(*A, 40, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 40, NULL, 40, NULL));
  PetscCall(SetLinks(*A, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(Mat A, const char method[], PageRank *pr)
{
  PetscFunctionBeginUser;
  PetscCall(PageRankCreate(PETSC_COMM_WORLD, pr));
  PetscCall(PageRankSetMethod(*pr, method));
  PetscCall(PageRankSetGraph(*pr, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves by both solvers and compares the bits of the ranks. A: the streamed matrix if pr[0] multiplies by it, else NULL. */
static PetscErrorCode Compare(const char what[], PageRank pr[2], Mat A)
{
  MatGPUCSRStreamInfo before = {0}, after = {0};
  const Vec          *x[2];
  PetscInt            its[2], products;
  PetscBool           equal, loop;
  PetscMPIInt         size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int k = 0; k < 2; k++) PetscCall(PageRankSetUp(pr[k]));
  if (A) PetscCall(MatGPUCSRGetStreamInfo(A, &before));
  for (int k = 0; k < 2; k++) {
    PetscCall(PageRankSolve(pr[k]));
    PetscCall(PageRankGetRanks(pr[k], NULL, &x[k]));
    PetscCall(PageRankGetIterationNumber(pr[k], &its[k]));
  }
  PetscCall(VecEqual(x[0][0], x[1][0], &equal));
  PetscCheck(equal && its[0] == its[1] && its[0] > 3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %" PetscInt_FMT " and %" PetscInt_FMT " iterations, ranks %s", what, its[0], its[1], equal ? "equal" : "differ");
  if (A) {
    PetscCall(MatGPUCSRGetStreamInfo(A, &after));
    PetscCall(PageRankGetMatMults(pr[0], &products));
    PetscCall(PageRankUsesDeviceLoop(pr[0], &loop));
    PetscCheck(after.streamed && after.chunks > 2 && loop == (PetscBool)(size == 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d chunks, device loop %d", what, (int)after.chunks, (int)loop);
    /* a parallel matrix counts the products of both blocks */
    PetscCheck(after.products - before.products == (size > 1 ? 2 : 1) * products, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the matrix was streamed %d times in %" PetscInt_FMT " products", what, (int)(after.products - before.products), products);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: equal\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char     method[32] = PAGERANKPOWER;
  Mat      A[2];
  PageRank pr[2];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-method", method, sizeof(method), NULL));
  PetscCall(Create(MAT_GPUCSR_STREAM_ALWAYS, &A[0]));
  PetscCall(Create(MAT_GPUCSR_STREAM_NEVER, &A[1]));
  for (int k = 0; k < 2; k++) {
    PetscCall(CreateSolver(A[k], method, &pr[k]));
    PetscCall(PageRankSetBlocks(pr[k], 1));
  }
  PetscCall(Compare("first solve", pr, A[0]));
  PetscCall(Compare("again", pr, A[0]));
  for (int k = 0; k < 2; k++) PetscCall(PageRankSetDamping(pr[k], 0.7));
  PetscCall(Compare("another damping", pr, A[0]));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatScale(A[k], 3));
    PetscCall(PageRankSetGraph(pr[k], A[k]));
  }
  PetscCall(Compare("other values", pr, A[0]));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatSetOption(A[k], MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(SetLinks(A[k], 19));
    PetscCall(PageRankSetGraph(pr[k], A[k]));
  }
  PetscCall(Compare("another pattern", pr, A[0]));
  PetscCall(MatGPUCSRSetStream(A[0], MAT_GPUCSR_STREAM_NEVER));
  PetscCall(PageRankSetGraph(pr[0], A[0]));
  PetscCall(Compare("no longer streamed", pr, NULL));
  PetscCall(MatGPUCSRSetStream(A[0], MAT_GPUCSR_STREAM_ALWAYS));
  PetscCall(PageRankSetGraph(pr[0], A[0]));
  PetscCall(Compare("streamed again", pr, A[0]));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDestroy(&A[k])); /* the solver still refers to it */
    PetscCall(PageRankSetDamping(pr[k], 0.6));
  }
  PetscCall(Compare("after the matrix was destroyed", pr, NULL));
  for (int k = 0; k < 2; k++) PetscCall(PageRankDestroy(&pr[k]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{1 2 4}}
    args: -method {{power gauss_seidel}} -mat_gpucsr_vec_type gpu -mat_gpucsr_stream_chunk 16384 -mat_gpucsr_stream_resident {{0 60000}}
    output_file: output/pagerankstream_1.out
TEST*/
