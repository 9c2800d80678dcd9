static char help[] = "Solves with triangles of many shapes agree with a reference, with every number of lanes, in both precisions, and are repeatable.\n\n";

#include "gpucsr.h"
#include "mat/impls/gpucsr/trisolve/gptrisolve.h"
#include "sys/gpucsrsys.h"
#include <petscsys.h>

typedef struct {
  const char *name;
  int32_t     n, band, length; /* rows; columns are at most `band` rows away; up to `length` entries */
  int32_t     most;            /* every 50th row has up to this many entries */
} Shape;

static const Shape Shapes[] = {
  {"none", 0, 1, 1, 1}, {"one", 1, 1, 1, 1}, {"diagonal", 100, 1, 0, 0}, {"chain", 700, 1, 1, 1}, {"narrow", 900, 20, 6, 6}, {"wide", 5000, 4000, 3, 3}, {"long", 2000, 1500, 40, 40}, {"skewed", 2000, 1900, 2, 900}, {"dense", 150, 150, 150, 150},
};

typedef struct {
  int32_t  n;
  int32_t *begin;
  int32_t *col;
  double  *val, *diag, *b, *add, *x;
  int32_t *in, *out;
} Problem;

static uint32_t Next(uint32_t *s)
{
  *s = *s * 1664525u + 1013904223u;
  return *s >> 8;
}

static PetscErrorCode Create(const Shape *shape, int reverse, Problem *P)
{
  const int32_t n    = shape->n;
  uint32_t      seed = 7;
  int32_t       at   = 0;

  PetscFunctionBeginUser;
  P->n = n;
  PetscCall(PetscMalloc3(n + 1, &P->begin, (size_t)n * (size_t)(shape->most + 1), &P->col, (size_t)n * (size_t)(shape->most + 1), &P->val));
  PetscCall(PetscMalloc6(n, &P->diag, n, &P->b, n, &P->add, n, &P->x, n, &P->in, n, &P->out));
  for (int32_t i = 0; i < n; i++) {
    const int32_t before = reverse ? n - 1 - i : i, reach = PetscMin(before, shape->band), most = i % 50 == 3 ? shape->most : shape->length;

    P->begin[i] = at;
    for (int32_t k = 0; k < most && reach; k++) {
      const int32_t distance = most >= reach ? k + 1 : 1 + (int32_t)(Next(&seed) % (uint32_t)reach);

      if (distance > reach) break;
      P->col[at]   = reverse ? i + distance : i - distance;
      P->val[at++] = (0.1 + Next(&seed) % 1000 / 1000.) / (1 + most) * (k % 3 ? 1 : -1);
    }
    P->diag[i] = 0.5 + Next(&seed) % 100 / 100.;
    P->b[i]    = 1 + Next(&seed) % 100 / 50.;
    P->add[i]  = Next(&seed) % 100;
    P->in[i]   = (int32_t)(((int64_t)i * 7 + 3) % n); /* a permutation unless n is a multiple of 7, which no shape uses */
    P->out[i]  = n - 1 - i;
  }
  P->begin[n] = at;
  for (int32_t i = 0; i < n && n % 7 == 0; i++) P->in[i] = (i + 5) % n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves in double precision on the host. */
static void Solve(const Problem *P, int reverse, GpTriDiagonal diagonal, double scale, PetscBool add, double w[], double x[])
{
  for (int32_t k = 0; k < P->n; k++) {
    const int32_t i   = reverse ? P->n - 1 - k : k;
    double        sum = P->b[P->in[i]];

    if (diagonal == GP_TRI_BEFORE) sum *= P->diag[i];
    if (diagonal == GP_TRI_BEFORE_ROOT) sum *= PetscSqrtReal(P->diag[i]);
    for (int32_t e = P->begin[i]; e < P->begin[i + 1]; e++) sum -= scale * P->val[e] * w[P->col[e]];
    if (diagonal == GP_TRI_AFTER) sum *= P->diag[i];
    w[i]         = sum;
    x[P->out[i]] = (diagonal == GP_TRI_OUT_ROOT ? sum * PetscSqrtReal(P->diag[i]) : sum) + (add ? P->add[P->out[i]] : 0);
  }
}

typedef struct {
  double  *b, *add, *w, *x;
  int32_t *in, *out;
} Arrays;

static PetscErrorCode Launch(GpDev dev, const GpTri *T, const Arrays *a, GpTriDiagonal diagonal, PetscBool add, double got[])
{
  const GpTriVectors v     = {a->b, a->in, a->w, a->x, a->out, add ? a->x : NULL, diagonal};
  const size_t       bytes = (size_t)T->layout.n * sizeof(double);

  PetscFunctionBeginUser;
  if (add) PetscCallGp(dev, "add", GpDevCopyWithin(dev, a->x, a->add, bytes));
  PetscCallGp(dev, "reset", GpTriReset(dev, a->w, T->layout.n));
  PetscCallGp(dev, "solve", GpTriSolve(T, &v));
  PetscCallGp(dev, "download", GpDevDownload(dev, got, a->x, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(GpDev dev, const Shape *shape, int reverse, int lanes, int single)
{
  const size_t bytes = (size_t)shape->n * sizeof(double);
  Problem      P     = {0};
  Arrays       a     = {0};
  GpTri        T;
  double      *w, *x, *got, *again;

  PetscFunctionBeginUser;
  PetscCall(Create(shape, reverse, &P));
  PetscCall(PetscMalloc4(P.n, &w, P.n, &x, P.n, &got, P.n, &again));
  PetscCallGp(dev, "create", GpTriCreate(dev, &(GpTriRows){P.n, reverse, P.begin, P.begin + 1, P.col, NULL, NULL}, lanes, single, &T));
  PetscCallGp(dev, "b", GpDevAlloc(dev, bytes, &a.b));
  PetscCallGp(dev, "add", GpDevAlloc(dev, bytes, &a.add));
  PetscCallGp(dev, "w", GpDevAlloc(dev, bytes, &a.w));
  PetscCallGp(dev, "x", GpDevAlloc(dev, bytes, &a.x));
  PetscCallGp(dev, "in", GpTriUploadMap(&T, P.in, &a.in));
  PetscCallGp(dev, "out", GpTriUploadMap(&T, P.out, &a.out));
  PetscCallGp(dev, "add", GpDevUpload(dev, a.add, P.add, bytes));
  for (int round = 0; round < 5; round++) { /* one for each use of the diagonal; new values each time; a NaN in the last */
    const GpTriDiagonal diagonal = (GpTriDiagonal)round;
    const PetscBool     add      = (PetscBool)(round % 2);
    const double        scale    = 1 - 0.1 * round;
    double              error    = 0;
    PetscBool           same     = PETSC_TRUE;

    if (round == 4 && P.n) P.b[P.n / 2] = NAN;
    PetscCallGp(dev, "b", GpDevUpload(dev, a.b, P.b, bytes));
    PetscCallGp(dev, "values", GpTriSetValues(&T, P.val, scale, P.diag));
    Solve(&P, reverse, diagonal, scale, add, w, x);
    PetscCall(Launch(dev, &T, &a, diagonal, add, got));
    PetscCall(Launch(dev, &T, &a, diagonal, add, again));
    for (int32_t i = 0; i < P.n; i++) {
      if (PetscIsInfOrNanReal(x[i]) != PetscIsInfOrNanReal(got[i])) error = PETSC_MAX_REAL;
      if (!PetscIsInfOrNanReal(x[i])) error = PetscMax(error, PetscAbsReal(got[i] - x[i]) / (1 + PetscAbsReal(x[i])));
      if (memcmp(&got[i], &again[i], sizeof(double))) same = PETSC_FALSE;
    }
    PetscCheck(error < (single ? 1e-6 : 1e-13), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, reverse %d, lanes %d, single %d, round %d: error %g", shape->name, reverse, lanes, single, round, error);
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, reverse %d, lanes %d, single %d, round %d: the second solve has other bits", shape->name, reverse, lanes, single, round);
  }
  GpDevFree(dev, &a.b, bytes);
  GpDevFree(dev, &a.add, bytes);
  GpDevFree(dev, &a.w, bytes);
  GpDevFree(dev, &a.x, bytes);
  GpDevFree(dev, &a.in, (size_t)P.n * sizeof(int32_t));
  GpDevFree(dev, &a.out, (size_t)P.n * sizeof(int32_t));
  GpTriDestroy(&T);
  PetscCall(PetscFree4(w, x, got, again));
  PetscCall(PetscFree3(P.begin, P.col, P.val));
  PetscCall(PetscFree6(P.diag, P.b, P.add, P.x, P.in, P.out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A value that single precision does not hold is an error. */
static PetscErrorCode Overflow(GpDev dev)
{
  const int32_t begin[3] = {0, 0, 1};
  const int32_t col[1]   = {0};
  const double  value[1] = {1e300};
  GpTri         T;

  PetscFunctionBeginUser;
  for (int single = 0; single < 2; single++) {
    GpErr err;

    PetscCallGp(dev, "create", GpTriCreate(dev, &(GpTriRows){2, 0, begin, begin + 1, col, NULL, NULL}, 0, single, &T));
    err = GpTriSetValues(&T, value, 1, NULL);
    PetscCheck(!err == !single, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A value of 1e300 with single %d gives the error %d", single, (int)err);
    GpTriDestroy(&T);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const int lanes[] = {0, 1, 2, 4, 8, 32};
  GpDev     dev;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Shapes); s++) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(lanes); k++) {
      for (int way = 0; way < 4; way++) PetscCall(Run(dev, &Shapes[s], way % 2, lanes[k], way / 2));
    }
  }
  PetscCall(Overflow(dev));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "all solves agree\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: all

TEST*/
