static char help[] = "Products of sparse matrices have the pattern and the values of a reference, equal bits in every run and with new values, and refuse what they cannot compute.\n\n";

#include "bench/matrices.h"
#include "gpucsr.h"
#include "mat/impls/gpucsr/spgemm/gpspgemm.h"
#include "sys/gpucsrsys.h"
#include <petscsys.h>

/* Sets values that are not exact in sums; every seventh is an explicit zero. */
static void SetValues(BenchMatrix *A, uint64_t seed)
{
  for (int32_t k = 0; k < A->nnz; k++) A->val[k] = k % 7 == 3 ? 0 : 2 * BenchUniform(&seed) - 1;
}

/* Rows with `least` to `most` nonzeros in random columns, before duplicates are removed. Of 50 rows, one has `longest`. */
static void CreateRandom(BenchMatrix *A, int32_t m, int32_t n, int32_t least, int32_t most, int32_t longest, uint64_t seed)
{
  int32_t nnz = 0;

  BenchMatrixCreate(A, m, n, (int64_t)m * most + (int64_t)(m / 50 + 1) * longest);
  for (int32_t i = 0; i < m; i++) {
    const int32_t start = nnz, length = !n ? 0 : i % 50 == 7 ? longest : least + (int32_t)(BenchUniform(&seed) * (most - least + 1));

    for (int32_t k = 0; k < length; k++) A->col[nnz++] = (int32_t)(BenchUniform(&seed) * n);
    nnz              = BenchFinishRow(A, start, nnz, &seed);
    A->rowptr[i + 1] = nnz;
  }
  A->nnz = nnz;
}

static void CreateTranspose(const BenchMatrix *A, BenchMatrix *T)
{
  BenchMatrixCreate(T, A->n, A->m, A->nnz);
  for (int32_t k = 0; k < A->nnz; k++) T->rowptr[A->col[k] + 1]++;
  for (int32_t j = 0; j < A->n; j++) T->rowptr[j + 1] += T->rowptr[j];
  for (int32_t i = 0; i < A->m; i++) {
    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
      const int32_t to = T->rowptr[A->col[k]]++;

      T->col[to] = i;
      T->val[to] = A->val[k];
    }
  }
  for (int32_t j = A->n; j > 0; j--) T->rowptr[j] = T->rowptr[j - 1];
  T->rowptr[0] = 0;
}

/* The aggregates of a k x k x k grid have 3 x 3 x 3 points. smooth: a point interpolates from its aggregate and the next one. */
static void CreateProlongator(BenchMatrix *P, int k, int smooth)
{
  const int c   = (k + 2) / 3;
  int32_t   nnz = 0;

  BenchMatrixCreate(P, k * k * k, c * c * c, 2 * (int64_t)k * k * k);
  for (int32_t i = 0; i < P->m; i++) {
    const int32_t at = i / (k * k) / 3 * c * c + i / k % k / 3 * c + i % k / 3;

    P->col[nnz++] = at;
    if (smooth && i % 3 == 2 && at + 1 < P->n) P->col[nnz++] = at + 1;
    P->rowptr[i + 1] = nnz;
  }
  P->nnz = nnz;
  SetValues(P, 3);
}

/* --- the device ------------------------------------------------------------------------------------------------------------------------------ */

static PetscErrorCode Upload(GpDev dev, const BenchMatrix *A, GpPrec prec, GpCsr *D)
{
  PetscFunctionBeginUser;
  PetscCallGp(dev, "create", GpCsrCreate(dev, prec, A->m, A->n, A->nnz, D));
  PetscCallGp(dev, "rows", GpDevUpload(dev, D->rowptr, A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t)));
  PetscCallGp(dev, "columns", GpDevUpload(dev, D->col, A->col, (size_t)A->nnz * sizeof(int32_t)));
  if (prec == GP_F64) PetscCallGp(dev, "values", GpDevUpload(dev, D->val, A->val, (size_t)A->nnz * sizeof(double)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Download(const GpCsr *D, BenchMatrix *A)
{
  PetscFunctionBeginUser;
  BenchMatrixCreate(A, D->m, D->n, D->nnz);
  PetscCallGp(D->dev, "rows", GpDevDownload(D->dev, A->rowptr, D->rowptr, ((size_t)A->m + 1) * sizeof(int32_t)));
  PetscCallGp(D->dev, "columns", GpDevDownload(D->dev, A->col, D->col, (size_t)A->nnz * sizeof(int32_t)));
  PetscCallGp(D->dev, "values", GpDevDownload(D->dev, A->val, D->val, (size_t)A->nnz * sizeof(double)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- the reference ---------------------------------------------------------------------------------------------------------------------------- */

/* Compares C with the product of A and B. A product is rounded before it is added, so the values must have the same bits. */
static PetscErrorCode Compare(const char *name, const BenchMatrix *A, const BenchMatrix *B, const BenchMatrix *C)
{
  double  *sum, *bound;
  int32_t *seen;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(B->n, &sum, B->n, &bound, B->n, &seen));
  for (int32_t j = 0; j < B->n; j++) seen[j] = -1;
  PetscCheck(C->rowptr[0] == 0 && C->rowptr[C->m] == C->nnz, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the row starts go from %d to %d", name, C->rowptr[0], C->rowptr[C->m]);
  for (int32_t i = 0; i < A->m; i++) {
    int32_t count = 0;

    for (int32_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
      for (int32_t b = B->rowptr[A->col[k]]; b < B->rowptr[A->col[k] + 1]; b++) {
        const int32_t         j       = B->col[b];
        const volatile double product = A->val[k] * B->val[b]; /* not contracted with the sum */

        if (seen[j] != i) {
          seen[j] = i;
          sum[j] = bound[j] = 0;
          count++;
        }
        sum[j] += product;
        bound[j] += PetscAbsReal(product);
      }
    }
    PetscCheck(C->rowptr[i + 1] - C->rowptr[i] == count, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d has %d nonzeros, not %d", name, i, C->rowptr[i + 1] - C->rowptr[i], count);
    for (int32_t e = C->rowptr[i]; e < C->rowptr[i + 1]; e++) {
      const int32_t j = C->col[e];

      PetscCheck(j >= 0 && j < B->n && seen[j] == i && (e == C->rowptr[i] || C->col[e - 1] < j), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: row %d has an entry in column %d at position %d", name, i, j, e - C->rowptr[i]);
      PetscCheck(PetscAbsReal(C->val[e] - sum[j]) <= 1e-14 * bound[j], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: (%d, %d) is %.17g, not %.17g", name, i, j, C->val[e], sum[j]);
      PetscCheck(C->val[e] == sum[j], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: (%d, %d) is %.17g, not %.17g: another order of additions", name, i, j, C->val[e], sum[j]);
    }
  }
  PetscCall(PetscFree3(sum, bound, seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- cases ------------------------------------------------------------------------------------------------------------------------------------ */

static PetscInt classes[3]; /* number of products whose positions were all, in part, or not stored */

static PetscErrorCode Replay(const char *name, GpSpgemm plan, BenchMatrix *A, BenchMatrix *B, uint64_t seed, GpCsr *dA, GpCsr *dB, GpCsr *dC)
{
  const GpDev dev = dC->dev;
  BenchMatrix C;

  PetscFunctionBeginUser;
  SetValues(A, seed);
  if (A != B) SetValues(B, seed + 1);
  PetscCallGp(dev, "values", GpDevUpload(dev, dA->val, A->val, (size_t)A->nnz * sizeof(double)));
  PetscCallGp(dev, "values", GpDevUpload(dev, dB->val, B->val, (size_t)B->nnz * sizeof(double)));
  PetscCallGp(dev, "numeric", GpSpgemmNumeric(plan, dA, dB, dC));
  PetscCall(Download(dC, &C));
  PetscCall(Compare(name, A, B, &C));
  BenchMatrixDestroy(&C);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Multiplies twice, each time with two sets of values. */
static PetscErrorCode Multiply(GpDev dev, const char *name, BenchMatrix *A, BenchMatrix *B)
{
  const double held = GpDevBytesHeld(dev);
  GpCsr        dA, dB, dC, dD;
  GpSpgemm     plan, again;
  GpSpgemmInfo info;
  BenchMatrix  C, D;

  PetscFunctionBeginUser;
  PetscCall(Upload(dev, A, GP_F64, &dA));
  PetscCall(Upload(dev, B, GP_F64, &dB));
  PetscCallGp(dev, "symbolic", GpSpgemmSymbolic(&dA, &dB, &plan, &dC));
  PetscCallGp(dev, "numeric", GpSpgemmNumeric(plan, &dA, &dB, &dC));
  PetscCall(Download(&dC, &C));
  PetscCall(Compare(name, A, B, &C));
  GpSpgemmGetInfo(plan, &info);
  classes[info.mapped == info.products ? 0 : info.mapped ? 1 : 2]++;
  PetscCheck(info.bytes <= 24.0 * dC.nnz + 16.0 * (dC.m + 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the plan takes %g bytes, C has %d nonzeros", name, info.bytes, dC.nnz);
  PetscCallGp(dev, "symbolic", GpSpgemmSymbolic(&dA, &dB, &again, &dD));
  PetscCallGp(dev, "numeric", GpSpgemmNumeric(again, &dA, &dB, &dD));
  PetscCall(Download(&dD, &D));
  PetscCheck(C.nnz == D.nnz && !memcmp(C.col, D.col, (size_t)C.nnz * sizeof(int32_t)) && !memcmp(C.val, D.val, (size_t)C.nnz * sizeof(double)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the second product differs", name);
  PetscCall(Replay(name, plan, A, B, 11, &dA, &dB, &dC));
  PetscCall(Replay(name, again, A, B, 23, &dA, &dB, &dC)); /* the plan of the other product, with C of this one */
  BenchMatrixDestroy(&C);
  BenchMatrixDestroy(&D);
  GpSpgemmDestroy(&plan);
  GpSpgemmDestroy(&again);
  GpSpgemmDestroy(&again); /* does nothing */
  GpCsrDestroy(&dA);
  GpCsrDestroy(&dB);
  GpCsrDestroy(&dC);
  GpCsrDestroy(&dD);
  PetscCheck(GpDevBytesHeld(dev) == held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g bytes of device memory are not freed", name, GpDevBytesHeld(dev) - held);
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char *name;
  int32_t     m, k, n;
  int32_t     aleast, amost, alongest; /* nonzeros of a row of A */
  int32_t     bleast, bmost, blongest;
} Case;

static const Case Cases[] = {
  {"no rows", 0, 5, 4, 0, 0, 0, 1, 2, 2},
  {"no columns", 7, 5, 0, 1, 3, 3, 0, 0, 0},
  {"no inner index", 7, 0, 6, 0, 0, 0, 0, 0, 0},
  {"no entries", 90, 80, 70, 0, 0, 0, 0, 3, 3},
  {"one", 1, 1, 1, 1, 1, 1, 1, 1, 1},
  {"one row", 1, 400, 300, 90, 90, 90, 0, 9, 9},
  {"one column", 500, 300, 1, 0, 9, 90, 0, 1, 1},
  {"short rows", 999, 700, 800, 0, 5, 5, 0, 2, 3},
  {"short rows of B", 500, 4000, 3000, 40, 90, 200, 0, 3, 4},
  {"medium rows of B", 700, 900, 950, 0, 9, 30, 3, 9, 30},
  {"rows of 200", 300, 900, 5000, 9, 14, 14, 9, 19, 19},
  {"medium", 130, 600, 6000, 10, 30, 40, 10, 50, 60},
  {"long", 60, 500, 9000, 60, 90, 100, 50, 90, 300},
  {"uneven", 1500, 1500, 20000, 0, 6, 900, 0, 6, 1200},
  {"wide", 4, 60, 1300000, 20, 40, 40, 200, 900, 900},
  {"long, several passes", 5, 60, 500000, 20, 40, 40, 200, 900, 900},
  {"few columns", 200, 300, 40, 60, 90, 90, 10, 20, 20},
  {"dense row", 300, 3000, 2500, 0, 3, 9000, 1, 5, 5},
  {"many products", 120, 2000, 60, 100, 200, 900, 40, 90, 90},
  {"very many products", 60, 3000, 250, 10, 20, 9000, 300, 500, 500},
  {"very many products, medium", 9, 3000, 1500, 10, 20, 9000, 200, 300, 300},
  {"dense", 70, 60, 64, 400, 400, 400, 400, 400, 400},
};

/* every: computes one case of so many. */
static PetscErrorCode MultiplyRandom(GpDev dev, PetscInt every)
{
  PetscFunctionBeginUser;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(Cases); c += (size_t)every) {
    const Case *s = &Cases[c];
    BenchMatrix A, B;

    CreateRandom(&A, s->m, s->k, s->aleast, s->amost, s->alongest, 1 + c);
    CreateRandom(&B, s->k, s->n, s->bleast, s->bmost, s->blongest, 100 + c);
    SetValues(&A, 5);
    SetValues(&B, 6);
    PetscCall(Multiply(dev, s->name, &A, &B));
    BenchMatrixDestroy(&A);
    BenchMatrixDestroy(&B);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of stencils, and those of multigrid: A P, R (A P), and R P with rows of one entry. */
static PetscErrorCode MultiplyGrids(GpDev dev)
{
  PetscFunctionBeginUser;
  for (int g = 0; g < 4; g++) {
    const int   k = 9, dof = g == 2 ? 3 : 1;
    BenchMatrix A, P, R, AP;

    BenchGrid(&A, k, g > 0, dof, 0, 4);
    PetscCall(Multiply(dev, "stencil squared", &A, &A));
    if (dof == 1) {
      GpCsr    dA, dP, dAP;
      GpSpgemm plan;

      CreateProlongator(&P, k, g != 1);
      CreateTranspose(&P, &R);
      PetscCall(Multiply(dev, "A P", &A, &P));
      PetscCall(Multiply(dev, "R P", &R, &P));
      PetscCall(Multiply(dev, "P R", &P, &R));
      PetscCall(Upload(dev, &A, GP_F64, &dA));
      PetscCall(Upload(dev, &P, GP_F64, &dP));
      PetscCallGp(dev, "symbolic", GpSpgemmSymbolic(&dA, &dP, &plan, &dAP));
      PetscCallGp(dev, "numeric", GpSpgemmNumeric(plan, &dA, &dP, &dAP));
      PetscCall(Download(&dAP, &AP));
      PetscCall(Multiply(dev, "R (A P)", &R, &AP));
      GpSpgemmDestroy(&plan);
      GpCsrDestroy(&dA);
      GpCsrDestroy(&dP);
      GpCsrDestroy(&dAP);
      BenchMatrixDestroy(&AP);
      BenchMatrixDestroy(&P);
      BenchMatrixDestroy(&R);
    }
    BenchMatrixDestroy(&A);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- faults ------------------------------------------------------------------------------------------------------------------------------------ */

/* The symbolic phase must fail with this text in its message, and leave nothing behind. */
static PetscErrorCode ExpectRefusal(GpDev dev, const BenchMatrix *A, const BenchMatrix *B, const char *text)
{
  const double held = GpDevBytesHeld(dev);
  GpCsr        dA, dB, dC;
  GpSpgemm     plan;
  GpErr        err;

  PetscFunctionBeginUser;
  PetscCall(Upload(dev, A, GP_F64, &dA));
  PetscCall(Upload(dev, B, GP_F64, &dB));
  err = GpSpgemmSymbolic(&dA, &dB, &plan, &dC);
  PetscCheck(err == GP_ERR_ARGUMENT && strstr(GpDevError(dev), text), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Expected \"%s\", found error %d: %s", text, (int)err, GpDevError(dev));
  PetscCheck(!plan && !dC.rowptr, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A plan remains after an error");
  GpCsrDestroy(&dA);
  GpCsrDestroy(&dB);
  PetscCheck(GpDevBytesHeld(dev) == held, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes of device memory are not freed after an error", GpDevBytesHeld(dev) - held);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refuse(GpDev dev)
{
  BenchMatrix A, B;
  GpCsr       dA, dB, dC, single;
  GpSpgemm    plan;

  PetscFunctionBeginUser;
  CreateRandom(&A, 50000, 2, 1, 1, 1, 1); /* C has 50000 x 50000 nonzeros */
  CreateRandom(&B, 2, 50000, 1, 1, 1, 1);
  PetscCall(ExpectRefusal(dev, &B, &B, "50000 columns, the second 2 rows"));
  BenchMatrixDestroy(&B);
  BenchMatrixCreate(&B, 2, 50000, 100000);
  for (int32_t k = 0; k < 100000; k++) B.col[k] = k % 50000;
  B.rowptr[1] = 50000;
  B.rowptr[2] = B.nnz = 100000;
  SetValues(&B, 1);
  PetscCall(ExpectRefusal(dev, &A, &B, "has 2500000000 nonzeros; a process can have at most 2147418111"));
  BenchMatrixDestroy(&A);
  CreateRandom(&A, 30, 2, 1, 1, 1, 1);
  B.col[70000] = B.col[70001];
  PetscCall(ExpectRefusal(dev, &A, &B, "columns of row 1 of the second matrix"));
  B.col[70000] = 20000;
  B.col[99999] = 50000;
  PetscCall(ExpectRefusal(dev, &A, &B, "columns of row 1 of the second matrix"));
  B.col[99999] = 49999;
  B.col[0]     = -1;
  PetscCall(ExpectRefusal(dev, &A, &B, "columns of row 0 of the second matrix"));
  B.col[0] = 0;
  PetscCall(Upload(dev, &A, GP_F64, &dA));
  PetscCall(Upload(dev, &B, GP_F64, &dB));
  PetscCall(Upload(dev, &A, GP_F32, &single));
  PetscCallGp(dev, "symbolic", GpSpgemmSymbolic(&dA, &dB, &plan, &dC));
  PetscCheck(GpSpgemmNumeric(plan, &single, &dB, &dC) == GP_ERR_ARGUMENT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Values in single precision are accepted");
  PetscCheck(GpSpgemmNumeric(plan, &dB, &dB, &dC) == GP_ERR_ARGUMENT, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A matrix of another size is accepted");
  GpSpgemmDestroy(&plan);
  GpCsrDestroy(&single);
  GpCsrDestroy(&dA);
  GpCsrDestroy(&dB);
  GpCsrDestroy(&dC);
  BenchMatrixDestroy(&A);
  BenchMatrixDestroy(&B);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt every = 1;
  GpDev    dev;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  PetscCall(MultiplyRandom(dev, every));
  PetscCall(MultiplyGrids(dev));
  if (every == 1) PetscCall(Refuse(dev));
  PetscCheck(every > 1 || GpDevKindOf(dev) == GP_DEV_HOST || (classes[0] && classes[1] && classes[2]), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Positions were stored completely, in part and not at all %d, %d and %d times", (int)classes[0], (int)classes[1],
             (int)classes[2]);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "all products agree\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: all

TEST*/
