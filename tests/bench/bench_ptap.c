static char help[] = "Times MatPtAP() of a 7-point operator on a grid and a prolongator with aggregates of 3 x 3 x 3 points: CSV on standard output.\n\
The columns are: matrix type, grid, rows, nonzeros of A, of P and of C, seconds of the first product, median milliseconds of a numeric phase with the same values, with new values of A on the host,\n\
and of a numeric phase with new values followed by MatMult() with C.\n\n\
  -n <k>          the grid has k x k x k points\n\
  -types <list>   matrix types\n\n";

#include "bench/order.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petsctime.h>

#define REPEATS 7

static PetscErrorCode CreateMatrices(PetscInt k, Mat *A, Mat *P)
{
  const PetscInt m = k * k * k, c = (k + 2) / 3, step[7] = {-k * k, -k, -1, 0, 1, k, k * k};

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, m, 7, NULL, A));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, c * c * c, 7, NULL, P));
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt z = i / (k * k), y = i / k % k, x = i % k;

    for (int d = 0; d < 7; d++) {
      const PetscInt j = i + step[d];

      if ((d == 0 && z == 0) || (d == 1 && y == 0) || (d == 2 && x == 0) || (d == 4 && x == k - 1) || (d == 5 && y == k - 1) || (d == 6 && z == k - 1)) continue;
      PetscCall(MatSetValue(*A, i, j, d == 3 ? 6.1 : -1 + 0.001 * (i % 7), INSERT_VALUES));
      PetscCall(MatSetValue(*P, i, j / (k * k) / 3 * c * c + j / k % k / 3 * c + j % k / 3, d == 3 ? 0.7 : 0.05, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountNonzeros(Mat A, double *n)
{
  MatInfo info;

  PetscFunctionBeginUser;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  *n = info.nz_used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* change: new values of A each time; mult: a product with C follows */
static PetscErrorCode Measure(Mat A, Mat P, Mat C, PetscBool change, PetscBool mult, double *ms)
{
  Vec    x, y;
  double times[REPEATS];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(C, &x, &y));
  PetscCall(VecSet(x, 1));
  for (int r = -2; r < REPEATS; r++) {
    PetscLogDouble begin, end;
    PetscReal      norm;

    if (change) { /* the time of the loop on the host does not count */
      PetscScalar *val;
      double       n = 0;

      PetscCall(CountNonzeros(A, &n));
      PetscCall(MatSeqAIJGetArray(A, &val));
      for (PetscInt e = 0; e < (PetscInt)n; e++) val[e] *= 1.01;
      PetscCall(MatSeqAIJRestoreArray(A, &val));
    }
    PetscCall(PetscTime(&begin));
    PetscCall(MatPtAP(A, P, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
    if (mult) {
      PetscCall(MatMult(C, x, y));
      PetscCall(VecNorm(y, NORM_2, &norm));
    }
    PetscCall(PetscTime(&end));
    if (r >= 0) times[r] = 1e3 * (end - begin);
  }
  qsort(times, REPEATS, sizeof(double), CompareDoubles);
  *ms = times[REPEATS / 2];
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Time(const char type[], PetscInt k, Mat A0, Mat P0)
{
  Mat            A, P, C;
  Vec            x, y;
  PetscLogDouble begin, end;
  double         nnz[3] = {0}, ms[3];

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A0, type, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatConvert(P0, type, MAT_INITIAL_MATRIX, &P));
  PetscCall(MatSetFromOptions(P));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, y)); /* the operator of a level is on the device already */
  PetscCall(PetscTime(&begin));
  PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(PetscTime(&end));
  PetscCall(Measure(A, P, C, PETSC_FALSE, PETSC_FALSE, &ms[0]));
  PetscCall(Measure(A, P, C, PETSC_TRUE, PETSC_FALSE, &ms[1]));
  PetscCall(Measure(A, P, C, PETSC_TRUE, PETSC_TRUE, &ms[2]));
  PetscCall(CountNonzeros(A, &nnz[0]));
  PetscCall(CountNonzeros(P, &nnz[1]));
  PetscCall(CountNonzeros(C, &nnz[2]));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%.0f,%.0f,%.0f,%.3f,%.2f,%.2f,%.2f\n", type, k, k * k * k, nnz[0], nnz[1], nnz[2], end - begin, ms[0], ms[1], ms[2]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  k = 64, n = 8;
  PetscBool set;
  char     *types[8];
  Mat       A, P;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &k, NULL));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-types", types, &n, &set));
  if (!set) {
    n = 2;
    PetscCall(PetscStrallocpy(MATSEQAIJGPUCSR, &types[0]));
    PetscCall(PetscStrallocpy(MATSEQAIJ, &types[1]));
  }
  PetscCall(CreateMatrices(k, &A, &P));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "type,grid,rows,nonzeros_a,nonzeros_p,nonzeros_c,first_s,numeric_ms,new_values_ms,with_mult_ms\n"));
  for (PetscInt t = 0; t < n; t++) {
    PetscCall(Time(types[t], k, A, P));
    PetscCall(PetscFree(types[t]));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscCall(PetscFinalize());
  return 0;
}
