static char help[] = "Richardson's iteration for the Laplacian on an n x n grid. The loop runs on the device: it is captured in a graph, and the host waits for two numbers.\n\n";

#include "richardson.h"
#include <gpucsr.h>
#include <gpucsrdevice.h>

typedef struct {
  Mat                A;
  GpDev              dev;
  PetscInt           n;
  const PetscScalar *b; /* device arrays */
  PetscScalar       *x, *y;
  double            *partial, *norm; /* partial: device; norm: [2] pinned memory */
  RichardsonState   *state;          /* device */
} Richardson;

/* Launches one iteration. */
static PetscErrorCode RichardsonLaunch(void *ctx)
{
  Richardson *R = (Richardson *)ctx;

  PetscFunctionBeginUser;
  PetscCall(MatGPUCSRMultArray(R->A, PETSC_FALSE, R->x, R->y));
  PetscCallGp(R->dev, "Richardson's iteration", GpDevSelect(R->dev, RichardsonStep_Host, RichardsonStep_CUDA)(R->dev, R->n, R->b, R->y, R->x, R->partial, R->state, R->norm));
  PetscFunctionReturn(0);
}

/* Iterates on the device's own stream. The first iteration is not captured, because the first launch of a kernel loads its code. */
static PetscErrorCode RichardsonSolve(Richardson *R, RichardsonState *state)
{
  PetscGPUCSRGraph graph;

  PetscFunctionBeginUser;
  PetscCall(PetscGPUCSRDevicePushStream(R->dev));
  PetscCall(PetscGPUCSRDeviceCopyIn(R->dev, R->state, state, sizeof(*state)));
  PetscCall(RichardsonLaunch(R));
  PetscCall(PetscGPUCSRGraphCreate(R->dev, PETSC_TRUE, RichardsonLaunch, R, &graph));
  PetscCall(PetscGPUCSRGraphGetLoop(graph, &state->loop));
  PetscCall(PetscGPUCSRDeviceCopyIn(R->dev, &R->state->loop, &state->loop, sizeof(state->loop)));
  do {
    PetscCall(PetscGPUCSRDeviceSynchronize(R->dev));
    PetscCall(PetscGPUCSRWatchReset(2, R->norm));
    PetscCall(PetscGPUCSRGraphLaunch(graph));
    PetscCall(PetscGPUCSRWatchWait(R->dev, 2, R->norm));
  } while (R->norm[1] == 0);
  PetscCall(PetscGPUCSRDeviceCopyOut(R->dev, state, R->state, sizeof(*state)));
  PetscCall(PetscGPUCSRDevicePopStream(R->dev)); /* waits for the copy */
  PetscCall(PetscGPUCSRGraphDestroy(&graph));
  PetscFunctionReturn(0);
}

/* The 5-point Laplacian on an n x n grid, with the right-hand side of ones */
static PetscErrorCode CreateProblem(PetscInt n, Mat *A, Vec *x, Vec *b, Vec *y)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n * n, n * n, n * n, n * n));
  PetscCall(MatSetType(*A, MATGPUCSR));
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  for (PetscInt i = 0; i < n * n; i++) {
    const PetscInt    column[5] = {i >= n ? i - n : -1, i % n ? i - 1 : -1, i, (i + 1) % n ? i + 1 : -1, i + n < n * n ? i + n : -1};
    const PetscScalar value[5]  = {-1, -1, 4, -1, -1};

    PetscCall(MatSetValues(*A, 1, &i, 5, column, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGPUCSRSetVecType(*A, VECGPU));
  PetscCall(MatCreateVecs(*A, x, b));
  PetscCall(VecDuplicate(*b, y));
  PetscCall(VecSet(*x, 0));
  PetscCall(VecSet(*b, 1));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  RichardsonState state = {.omega = 0.25, .max_it = 10000};
  Richardson      R     = {NULL};
  PetscInt        n     = 20;
  Vec             x, b, y;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(CreateProblem(n, &R.A, &x, &b, &y));
  PetscCall(MatGPUCSRUpload(R.A));
  PetscCall(VecGPUGetRuntime(x, &R.dev));
  PetscCall(VecGPUGetDeviceArrayRead(b, &R.b));
  PetscCall(VecGPUGetDeviceArray(x, &R.x));
  PetscCall(VecGPUGetDeviceArrayWrite(y, &R.y));
  PetscCall(PetscGPUCSRDeviceMalloc(R.dev, "the workspace of the iteration", GP_DEV_PARTS * sizeof(double), &R.partial));
  PetscCall(PetscGPUCSRDeviceMalloc(R.dev, "the state of the iteration", sizeof(*R.state), &R.state));
  PetscCall(PetscGPUCSRDeviceMallocPinned(R.dev, 2 * sizeof(double), &R.norm));
  R.n          = n * n;
  state.target = 1e-8 * n; /* n is the norm of b */
  PetscCall(RichardsonSolve(&R, &state));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%d iterations, residual %.1e\n", (int)state.it, R.norm[0]));
  PetscCall(PetscGPUCSRDeviceFreePinned(R.dev, &R.norm));
  PetscCall(PetscGPUCSRDeviceFree(R.dev, sizeof(*R.state), &R.state));
  PetscCall(PetscGPUCSRDeviceFree(R.dev, GP_DEV_PARTS * sizeof(double), &R.partial));
  PetscCall(VecGPURestoreDeviceArrayWrite(y, &R.y));
  PetscCall(VecGPURestoreDeviceArray(x, &R.x));
  PetscCall(VecGPURestoreDeviceArrayRead(b, &R.b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&R.A));
  PetscCall(PetscFinalize());
  return 0;
}
