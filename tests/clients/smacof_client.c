static char help[] = "Maps of points with the installed headers only, as a program outside the project makes them.\n\n";

#include <gpucsr.h>
#include <gpucsrsmacof.h>

/* The points of a grid of 4 x N/4; their distances are a perfect fit in two dimensions. */
static PetscReal Distance(PetscInt i, PetscInt j)
{
  return PetscSqrtReal(PetscSqr((PetscReal)(i % 4 - j % 4)) + PetscSqr((PetscReal)(i / 4 - j / 4)));
}

/* Creates the distances of N points: a dense matrix, or a sparse one without the pairs whose numbers differ by 7 or more. */
static PetscErrorCode CreateDistances(PetscInt N, PetscBool dense, Mat *A)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, dense ? MATDENSE : MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; i++)
    for (PetscInt j = 0; j < i; j++)
      if (dense || i - j < 7) PetscCall(MatSetValue(*A, i, j, Distance(i, j), INSERT_VALUES));
  if (dense) /* a dense matrix has an entry for every pair in both orders */
    for (PetscInt i = first; i < last; i++)
      for (PetscInt j = i; j < N; j++) PetscCall(MatSetValue(*A, i, j, Distance(i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Checks that the distances of the map are those of the grid. */
static PetscErrorCode Check(SMACOF s, PetscInt N, PetscReal tolerance, const char way[])
{
  SMACOFConvergedReason reason;
  SMACOFInfo            info;
  PetscReal             stress, worst = 0;
  PetscInt              it, n;
  const PetscScalar    *x;
  Vec                   v, points;
  PetscScalar           sum;

  PetscFunctionBeginUser;
  PetscCall(SMACOFGetConvergedReason(s, &reason));
  PetscCall(SMACOFGetIterationNumber(s, &it));
  PetscCall(SMACOFGetStress(s, &stress, NULL));
  PetscCall(SMACOFGetInfo(s, &info));
  PetscCall(SMACOFGetConfiguration(s, &v));
  PetscCall(SMACOFGetPointStress(s, &points));
  PetscCall(VecSum(points, &sum));
  PetscCall(VecGetSize(v, &n));
  PetscCheck(n == N * info.dim && info.points == N && reason == SMACOF_CONVERGED_STRESS && it > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: %s after %d iterations, %d coordinates of %d points", way, SMACOFConvergedReasons[reason], (int)it, (int)n,
             (int)info.points);
  PetscCheck(PetscAbsReal(0.5 * PetscRealPart(sum) - stress * info.sum_squares) <= 1e-9 * info.sum_squares, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the stress of the points sums to %g", way, (double)PetscRealPart(sum));
  PetscCall(VecGetArrayRead(v, &x));
  for (PetscInt i = 0; i < N; i++)
    for (PetscInt j = 0; j < i; j++) {
      PetscReal d = 0;

      for (PetscInt c = 0; c < info.dim; c++) d += PetscSqr(PetscRealPart(x[c * N + i] - x[c * N + j]));
      worst = PetscMax(worst, PetscAbsReal(PetscSqrtReal(d) - Distance(i, j)));
    }
  PetscCall(VecRestoreArrayRead(v, &x));
  PetscCheck(worst <= tolerance, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: distances differ by %g, normalised stress %g", way, (double)worst, (double)stress);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: at the optimum\n", way));
  PetscFunctionReturn(0);
}

/* Counts its calls, and those with a reason. */
static PetscErrorCode Count(SMACOF s, PetscInt start, PetscInt it, PetscReal stress, SMACOFConvergedReason reason, void *ctx)
{
  PetscInt *calls = (PetscInt *)ctx;

  PetscFunctionBeginUser;
  calls[reason != SMACOF_CONVERGED_ITERATING]++;
  PetscFunctionReturn(0);
}

/* The solver with fixed points, which give the map its place, and a first configuration. */
static PetscErrorCode CheckFixed(SMACOF s)
{
  const PetscInt  N = 12, points[] = {0, 3, 8};
  const PetscReal at[] = {0, 0, 3, 0, 0, 2};
  SMACOFInfo      info;
  PetscScalar    *x;
  Mat             D;
  Vec             start, v;

  PetscFunctionBeginUser;
  PetscCall(CreateDistances(N, PETSC_FALSE, &D));
  PetscCall(SMACOFSetDissimilarities(s, D, NULL));
  PetscCall(MatDestroy(&D));
  PetscCall(SMACOFSetFixedPoints(s, 3, points, at));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 2 * N, &start));
  PetscCall(VecGetArrayWrite(start, &x));
  for (PetscInt i = 0; i < N; i++) {
    x[i]     = i % 4 + 0.1 * (i % 3);
    x[N + i] = i / 4 - 0.1 * (i % 2);
  }
  PetscCall(VecRestoreArrayWrite(start, &x));
  PetscCall(SMACOFSetStartConfiguration(s, start));
  PetscCall(VecDestroy(&start));
  PetscCall(SMACOFSolve(s));
  PetscCall(Check(s, N, 1e-3, "fixed points, listed pairs"));
  PetscCall(SMACOFGetConfiguration(s, &v));
  PetscCall(VecGetArray(v, &x));
  PetscCheck(PetscAbsScalar(x[3] - 3) < 1e-12 && PetscAbsScalar(x[N + 8] - 2) < 1e-12 && PetscAbsScalar(x[5] - 1) < 1e-3, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A fixed point has moved");
  PetscCall(VecRestoreArray(v, &x));
  PetscCall(SMACOFGetInfo(s, &info));
  PetscCheck(!info.complete && info.ksp_its > 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Listed pairs without iterations of the KSP");
  PetscFunctionReturn(0);
}

/* Features, stored and not; disparities; a new point on the map. */
static PetscErrorCode CheckFeatures(SMACOF s)
{
  const PetscInt N = 16;
  PetscInt       first, last, n;
  PetscErrorCode err;
  SMACOFPair    *pairs;
  PetscScalar    total;
  Mat            F, G;
  Vec            map, x, stress;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &F));
  PetscCall(MatSetSizes(F, PETSC_DECIDE, PETSC_DECIDE, N, 2));
  PetscCall(MatSetType(F, MATDENSE));
  PetscCall(MatDenseSetLDA(F, N + 3)); /* a gap between the columns */
  PetscCall(MatSetUp(F));
  PetscCall(MatGetOwnershipRange(F, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscCall(MatSetValue(F, i, 0, i % 4, INSERT_VALUES));
    PetscCall(MatSetValue(F, i, 1, i / 4, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(F, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(F, MAT_FINAL_ASSEMBLY));
  for (int free = 0; free < 2; free++) {
    PetscCall(SMACOFSetFeatures(s, F, SMACOF_METRIC_EUCLIDEAN));
    PetscCall(SMACOFSetMatrixFree(s, (PetscBool)free));
    PetscCall(SMACOFSolve(s));
    PetscCall(Check(s, N, 1e-3, free ? "features, matrix-free" : "features"));
  }
  PetscCall(SMACOFGetSample(s, 50, &n, &pairs));
  for (PetscInt k = 0; k < n; k++) PetscCheck(PetscAbsReal(pairs[k].dissimilarity - Distance((PetscInt)pairs[k].i, (PetscInt)pairs[k].j)) < 1e-6, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A pair of the sample has another dissimilarity");
  PetscCall(PetscFree(pairs));
  PetscCall(SMACOFGetConfiguration(s, &map));
  PetscCall(PetscObjectReference((PetscObject)map));
  PetscCall(MatDuplicate(F, MAT_COPY_VALUES, &G));
  PetscCall(SMACOFInterpolate(s, map, F, G, SMACOF_METRIC_EUCLIDEAN, &x, &stress));
  PetscCall(VecSum(stress, &total));
  PetscCheck(PetscRealPart(total) < 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The points of the map, placed as new ones, have the stress %g", (double)PetscRealPart(total));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&stress));
  PetscCall(MatScale(G, PETSC_INFINITY));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  err = SMACOFInterpolate(s, map, F, G, SMACOF_METRIC_EUCLIDEAN, &x, &stress); /* must free the features of the map, which are valid */
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err == PETSC_ERR_ARG_WRONG, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Error %d for features that are infinite", (int)err);
  PetscCall(VecDestroy(&map));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&G));
  PetscFunctionReturn(0);
}

/* Calls in the wrong order, and bad data, raise errors and leave the solver usable. */
static PetscErrorCode CheckErrors(void)
{
  const PetscInt  unsorted[] = {2, 1};
  const PetscReal at[4]      = {0};
  PetscErrorCode  err[5], wrong[6];
  PetscInt        n;
  SMACOFPair     *pairs;
  SMACOF          s;
  Vec             v;
  Mat             A, W;

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &s));
  err[0] = SMACOFSolve(s);
  err[1] = SMACOFGetConfiguration(s, &v);
  err[2] = SMACOFSetDimension(s, 9);
  err[3] = SMACOFSetFixedPoints(s, 2, unsorted, at);
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 3, 9, NULL, &W));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 0, 2, NULL, &A));
  wrong[0] = SMACOFSetFixedPoints(s, -1, unsorted, at);
  wrong[1] = SMACOFSetFixedPoints(s, 2, unsorted, NULL);
  wrong[2] = SMACOFMonitorSet(s, NULL, NULL, NULL);
  wrong[3] = SMACOFGetSample(s, 0, &n, &pairs);
  wrong[4] = SMACOFSetFeatures(s, A, SMACOF_METRIC_EUCLIDEAN); /* no points */
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 3, 3, NULL, &A));
  PetscCall(MatShift(A, 1));                    /* the diagonal must be 0 */
  wrong[5] = SMACOFSetDissimilarities(s, A, W); /* the weights are not square */
  PetscCall(MatDestroy(&W));
  PetscCall(SMACOFSetDissimilarities(s, A, NULL));
  err[4] = SMACOFSolve(s);
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPopErrorHandler());
  PetscCheck(err[0] == PETSC_ERR_ORDER && err[1] == PETSC_ERR_ORDER && err[2] == PETSC_ERR_ARG_OUTOFRANGE && err[3] == PETSC_ERR_ARG_OUTOFRANGE && err[4] == PETSC_ERR_ARG_WRONG, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Errors %d %d %d %d %d", (int)err[0],
             (int)err[1], (int)err[2], (int)err[3], (int)err[4]);
  for (int k = 0; k < 6; k++) PetscCheck(wrong[k], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Wrong argument %d raises no error", k);
  PetscCall(CreateDistances(12, PETSC_TRUE, &A));
  PetscCall(SMACOFSetDissimilarities(s, A, NULL));
  PetscCall(MatDestroy(&A));
  PetscCall(SMACOFSetTolerances(s, 1e-12, PETSC_DEFAULT));
  PetscCall(SMACOFSolve(s));
  PetscCall(Check(s, 12, 1e-3, "after errors"));
  PetscCall(SMACOFDestroy(&s));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt calls[2] = {0, 0};
  SMACOF   s, never;
  Mat      A, B;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &never)); /* destroyed before and after it has data */
  PetscCall(SMACOFDestroy(&never));
  PetscCall(CreateDistances(20, PETSC_TRUE, &A));
  PetscCall(CreateDistances(32, PETSC_TRUE, &B));
  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &never));
  PetscCall(SMACOFSetDissimilarities(never, A, NULL));
  PetscCall(SMACOFDestroy(&never));

  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &s));
  PetscCall(SMACOFSetTolerances(s, 1e-12, 5000));
  PetscCall(SMACOFSetFromOptions(s));
  PetscCall(SMACOFSetFromOptions(s));
  PetscCall(SMACOFMonitorSet(s, Count, calls, NULL));
  PetscCall(SMACOFSetDissimilarities(s, B, NULL)); /* replaced before use */
  PetscCall(SMACOFSetDissimilarities(s, A, A));    /* the weights are the distances */
  PetscCall(SMACOFSetUp(s));
  PetscCall(SMACOFSetUp(s));
  PetscCall(SMACOFSolve(s));
  PetscCall(Check(s, 20, 1e-3, "weights"));
  PetscCheck(calls[0] > 1 && calls[1] == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%d calls of the monitor, %d with a reason", (int)calls[0], (int)calls[1]);
  PetscCall(SMACOFMonitorCancel(s));
  PetscCall(SMACOFSetDissimilarities(s, A, NULL));
  PetscCall(SMACOFSolve(s));
  PetscCall(SMACOFSolve(s));
  PetscCall(Check(s, 20, 1e-3, "solved twice"));
  PetscCall(SMACOFSetDimension(s, 3)); /* the pairs stay, all else is set up anew */
  PetscCall(SMACOFSetAcceleration(s, SMACOF_ACCELERATION_RELAXED));
  PetscCall(SMACOFSetDimension(s, 2));
  PetscCall(SMACOFSetStarts(s, 3, 2, 1));
  PetscCall(SMACOFSetReading(s, SMACOF_READING_ROWS));
  PetscCall(SMACOFSolve(s));
  PetscCall(Check(s, 20, 2e-3, "other settings"));
  PetscCheck(calls[1] == 1, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "A cancelled monitor was called");
  PetscCall(SMACOFSetStarts(s, 1, 8, 0));
  PetscCall(SMACOFSetAcceleration(s, SMACOF_ACCELERATION_ANDERSON));
  PetscCall(SMACOFReset(s));
  PetscCall(SMACOFReset(s));
  PetscCall(SMACOFSetDissimilarities(s, B, NULL));
  PetscCall(SMACOFSetDisparity(s, SMACOF_DISPARITY_SPLINE));
  PetscCall(SMACOFSolve(s));
  PetscCall(SMACOFSetDisparity(s, SMACOF_DISPARITY_RATIO)); /* of pairs that are stored in double precision */
  PetscCall(SMACOFSolve(s));
  PetscCall(Check(s, 32, 1e-3, "another matrix"));
  PetscCall(CheckFixed(s));
  PetscCall(CheckFeatures(s));
  PetscCall(CheckErrors());
  PetscCall(SMACOFView(s, NULL));
  PetscCall(SMACOFDestroy(&s));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscFinalize());
  return 0;
}
