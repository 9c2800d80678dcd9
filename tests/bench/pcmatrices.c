/* Linear systems for benchmarks of preconditioners. */
#include "bench/pcmatrices.h"
#include "bench/corpus.h"
#include "app/market/appmarket.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <stdlib.h>
#include <string.h>

/* The coupling of two neighbours of a grid, from 0.7 to 1.3.  It varies smoothly and is symmetric: the arguments are the sums of the coordinates of both points. */
static PetscReal GridCoupling(PetscInt x, PetscInt y, PetscInt z)
{
  return 1 + 0.3 * PetscSinReal(0.11 * (PetscReal)x + 0.5) * PetscSinReal(0.07 * (PetscReal)y + 0.3) * PetscCosReal(0.05 * (PetscReal)z);
}

/* The additional coupling with the upwind neighbour in direction d, for a flow that turns around the z axis and rises. */
static PetscReal GridFlow(PetscInt n, PetscInt x, PetscInt y, int dx, int dy, int dz)
{
  const PetscReal u = 2 * (PetscReal)(2 * y - n + 1) / (PetscReal)n, v = -2 * (PetscReal)(2 * x - n + 1) / (PetscReal)n, w = 0.5;

  return PetscMax(0, -(dx * u + dy * v + dz * w));
}

/* A grid of n^3 points with homogeneous Dirichlet conditions.  wide: 27 points, otherwise 7.  flow: with convection, so that the matrix is not symmetric. */
static PetscErrorCode GridCreate(PetscInt n, PetscBool wide, PetscBool flow, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n * n * n, n * n * n, wide ? 27 : 7, NULL, A));
  for (PetscInt row = 0; row < n * n * n; row++) {
    const PetscInt x = row % n, y = row / n % n, z = row / (n * n);
    PetscInt       column[27], k = 0, centre = 0;
    PetscScalar    value[27], diagonal = 0;

    for (int dz = -1; dz <= 1; dz++) {
      for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
          const int distance = abs(dx) + abs(dy) + abs(dz);

          if (distance > 1 && !wide) continue;
          if (!distance) {
            centre      = k;
            column[k++] = row;
            continue;
          }
          const PetscScalar v = GridCoupling(2 * x + dx, 2 * y + dy, 2 * z + dz) + (flow ? GridFlow(n, x, y, dx, dy, dz) : 0);

          diagonal += v;
          if (x + dx < 0 || x + dx >= n || y + dy < 0 || y + dy >= n || z + dz < 0 || z + dz >= n) continue;
          column[k]  = row + (dz * n + dy) * n + dx;
          value[k++] = -v;
        }
      }
    }
    value[centre] = diagonal;
    PetscCall(MatSetValues(*A, 1, &row, k, column, value, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the values by those of a symmetric M-matrix whose row sums are positive. */
void PCMatrixSetValues(BenchMatrix *B)
{
  for (int32_t i = 0; i < B->m; i++) {
    int32_t at  = -1;
    double  sum = 0;

    for (int32_t k = B->rowptr[i]; k < B->rowptr[i + 1]; k++) {
      const int32_t j    = B->col[k];
      uint64_t      seed = ((uint64_t)(i < j ? i : j) + 1) * 0x9e3779b97f4a7c15ULL ^ ((uint64_t)(i < j ? j : i) + 1) * 0xc2b2ae3d27d4eb4fULL;

      BenchRandom(&seed);
      if (i == j) at = k;
      else {
        B->val[k] = -0.5 - BenchUniform(&seed);
        sum -= B->val[k];
      }
    }
    if (at >= 0) B->val[at] = 1.01 * sum + 0.01;
  }
}

/* Creates a matrix of type seqaij from compressed rows. */
PetscErrorCode PCMatrixCreateFromRows(const BenchMatrix *B, Mat *A)
{
  PetscInt *ri, *ci;
  Mat       rows;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(B->m + 1, &ri, B->nnz, &ci));
  for (int32_t i = 0; i <= B->m; i++) ri[i] = B->rowptr[i];
  for (int32_t k = 0; k < B->nnz; k++) ci[k] = B->col[k];
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, B->m, B->n, ri, ci, B->val, &rows));
  PetscCall(MatDuplicate(rows, MAT_COPY_VALUES, A)); /* the arrays are freed */
  PetscCall(MatDestroy(&rows));
  PetscCall(PetscFree2(ri, ci));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CorpusRead(const char name[], Mat *A)
{
  const char *at = strchr(name, '@');
  CorpusJob  *jobs;
  BenchMatrix B;
  int         n, found = 0;

  PetscFunctionBeginUser;
  jobs = CorpusList("/nonexistent", at ? atof(at + 1) : 1, &n);
  for (int k = 0; k < n && !found; k++) {
    if (strlen(jobs[k].name) != (at ? (size_t)(at - name) : strlen(name)) || strncmp(jobs[k].name, name, strlen(jobs[k].name))) continue;
    found = jobs[k].make(&jobs[k], &B);
  }
  free(jobs);
  PetscCheck(found, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The corpus has no matrix %s; bench_corpus --list prints the names", name);
  PCMatrixSetValues(&B);
  PetscCall(PCMatrixCreateFromRows(&B, A));
  BenchMatrixDestroy(&B);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FileRead(const char name[], Mat *A)
{
  const size_t length = strlen(name);
  GpAppMarket  market;
  PetscViewer  viewer;

  PetscFunctionBeginUser;
  if ((length > 4 && !strcmp(name + length - 4, ".mtx")) || (length > 3 && !strcmp(name + length - 3, ".mm"))) {
    PetscCall(GpAppMarketRead(PETSC_COMM_SELF, name, GP_MARKET_SQUARE, &market));
    PetscCall(GpAppMarketExpand(&market));
    PetscCall(GpAppMarketCreateAIJ(&market, A));
    PetscCall(GpAppMarketDestroy(&market));
  } else {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, name, FILE_MODE_READ, &viewer));
    PetscCall(MatCreate(PETSC_COMM_SELF, A));
    PetscCall(MatSetType(*A, MATSEQAIJ));
    PetscCall(MatLoad(*A, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCMatrixCreate(const char name[], Mat *A, PetscBool *spd)
{
  const char *dash = strrchr(name, '-');
  PetscInt    n    = dash ? atoi(dash + 1) : 0;
  PetscReal   norm;

  PetscFunctionBeginUser;
  *spd = PETSC_TRUE;
  if (n > 1 && !strncmp(name, "grid7-", 6)) PetscCall(GridCreate(n, PETSC_FALSE, PETSC_FALSE, A));
  else if (n > 1 && !strncmp(name, "grid27-", 7)) PetscCall(GridCreate(n, PETSC_TRUE, PETSC_FALSE, A));
  else if (n > 1 && !strncmp(name, "elasticity-", 11)) PetscCall(PCMatrixCreateElasticity(n, A));
  else if (n > 1 && !strncmp(name, "convection-", 11)) {
    PetscCall(GridCreate(n, PETSC_FALSE, PETSC_TRUE, A));
    *spd = PETSC_FALSE;
  } else {
    if (!strncmp(name, "corpus:", 7)) PetscCall(CorpusRead(name + 7, A));
    else PetscCall(FileRead(name, A));
    PetscCall(MatNorm(*A, NORM_INFINITY, &norm));
    PetscCall(MatIsSymmetric(*A, 1e-12 * norm, spd)); /* files with decimal numbers are symmetric up to rounding */
  }
  if (*spd) PetscCall(MatSetOption(*A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
