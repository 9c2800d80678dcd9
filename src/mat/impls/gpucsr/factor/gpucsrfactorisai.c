/* Incomplete sparse approximate inverses of unit triangles (Anzt, Huckle, Braeckle, Dongarra, Parallel Computing 71, 2018).

   T = I - S is a unit triangle, and M = I + R has its pattern. Row i of M is the solution of m T(J,J) = e_i, where J are the columns of row i of T. This is a solve with a small triangle, by
   substitution from i towards the columns that are farthest from it. The rows are independent of each other, so the result does not depend on the number of threads. */
#include "mat/impls/gpucsr/factor/gpucsrfactorimpl.h"
#include "device/gpfillers.h"
#include <stdlib.h>

#define MAT_GPUCSR_ISAI_NONZEROS 20000 /* number of nonzeros that is worth a thread */

typedef struct {
  const MatGPUCSRFactorArrays *a;
  const int32_t               *begin, *end;
  PetscBool                    reverse;
  const double                *strict;
  double                      *inverse;
  PetscInt                    *first; /* [jobs + 1] rows of each job */
} Inverter;

/* Computes one row.  place: [n] -1; the position of each column of this row while it is computed */
static void MatGPUCSRFactorInvertRow(const Inverter *v, PetscInt row, int32_t place[])
{
  const PetscInt *j      = v->a->j + v->begin[row];
  const int64_t   length = v->end[row] - v->begin[row];
  double         *m      = v->inverse + v->begin[row];

  for (int64_t k = 0; k < length; k++) {
    place[j[k]] = (int32_t)k;
    m[k]        = v->strict[v->begin[row] + k]; /* the product of the diagonal entry 1 with row i of S */
  }
  for (int64_t k = 0; k < length; k++) {
    const int64_t  at    = v->reverse ? k : length - 1 - k; /* the columns nearest to the diagonal come first; all products for this one have been added */
    const PetscInt other = j[at];

    for (int64_t e = v->begin[other]; e < v->end[other]; e++) {
      const int32_t to = place[v->a->j[e]];

      if (to >= 0) m[to] += m[at] * v->strict[e];
    }
  }
  for (int64_t k = 0; k < length; k++) place[j[k]] = -1;
}

static GpErr MatGPUCSRFactorInvertRows(void *context, int64_t job, void *destination, char *why, size_t whylen)
{
  const Inverter *v     = (const Inverter *)context;
  int32_t        *place = (int32_t *)malloc(((size_t)v->a->n + 1) * sizeof(*place));

  (void)destination;
  if (!place) {
    (void)snprintf(why, whylen, "out of host memory");
    return GP_ERR_MEMORY;
  }
  for (PetscInt i = 0; i < v->a->n; i++) place[i] = -1;
  for (PetscInt row = v->first[job]; row < v->first[job + 1]; row++) MatGPUCSRFactorInvertRow(v, row, place);
  free(place);
  return GP_SUCCESS;
}

/* Divides the rows among the jobs by their numbers of nonzeros. */
static void MatGPUCSRFactorDivide(const Inverter *v, int64_t nnz, int jobs)
{
  int64_t sum = 0;
  int     job = 1;

  v->first[0] = 0;
  for (PetscInt row = 0; row < v->a->n; row++) {
    while (job < jobs && sum >= nnz * job / jobs) v->first[job++] = row;
    sum += v->end[row] - v->begin[row];
  }
  while (job <= jobs) v->first[job++] = v->a->n;
}

/* Computes R from S. */
PetscErrorCode MatGPUCSRFactorInvert_Private(const MatGPUCSRFactorArrays *a, const int32_t begin[], const int32_t end[], PetscBool reverse, const double strict[], double inverse[])
{
  Inverter    v       = {a, begin, end, reverse, strict, inverse, NULL};
  GpFillers   threads = NULL;
  int64_t     nnz     = 0;
  int         jobs, code;
  GpErr       err                 = GP_SUCCESS;
  char        why[GP_FILLERS_WHY] = "";
  const char *text;

  PetscFunctionBegin;
  for (PetscInt row = 0; row < a->n; row++) nnz += end[row] - begin[row];
  jobs = (int)PetscMin(GpFillersCount(0), 1 + nnz / MAT_GPUCSR_ISAI_NONZEROS);
  PetscCall(PetscMalloc1(jobs + 1, &v.first));
  MatGPUCSRFactorDivide(&v, nnz, jobs);
  code = GpFillersCreate(jobs > 1 ? jobs : 0, jobs, &threads);
  for (int job = 0; job < jobs && !code; job++) (void)GpFillersPost(threads, &(GpFillJob){.fill = MatGPUCSRFactorInvertRows, .context = &v, .item = job});
  for (int job = 0; job < jobs && !code; job++) {
    GpErr one;

    (void)GpFillersWait(threads, job, -1);
    one = GpFillersResult(threads, job, &text);
    if (one && !err) PetscCall(PetscStrncpy(why, text, sizeof(why)));
    if (one) err = one;
  }
  GpFillersDestroy(&threads);
  PetscCall(PetscFree(v.first));
  PetscCheck(!code, PETSC_COMM_SELF, PETSC_ERR_SYS, "%d threads for approximate inverses of the factor cannot be started: %s; use -mat_gpucsr_trisolve jacobi", jobs, strerror(code));
  PetscCheck(!err, PETSC_COMM_SELF, PetscGPUCSRErrorClass(err), "Approximate inverses of the factor: %s; use -mat_gpucsr_trisolve jacobi", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}
