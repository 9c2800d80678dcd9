static char help[] = "Every vector kernel of vec.def on the device, compared with its host implementation: sizes around the size of a block, two runs with the same bits, operands that are the same vector.\n\n";

#include "bench/matrices.h"
#include "sys/gpucsrsys.h"
#include "vec/kernels/gpveckernel.h"

#define MANY 8

typedef struct {
  GpDev   dev;
  size_t  n;
  double *host[MANY + 3], *device[MANY + 3], *result, *gold;
} Data;

static PetscErrorCode Create(GpDev dev, size_t n, Data *d)
{
  uint64_t seed = n + 5;

  PetscFunctionBeginUser;
  *d = (Data){.dev = dev, .n = n};
  PetscCall(PetscMalloc2(n + 1, &d->result, n + 1, &d->gold));
  for (int k = 0; k < MANY + 3; k++) {
    PetscCall(PetscMalloc1(n + 1, &d->host[k]));
    for (size_t i = 0; i < n; i++) d->host[k][i] = (i * 13 + (size_t)k) % 29 == 0 ? 0 : 2 * BenchUniform(&seed) - 1;
    PetscCallGp(dev, "allocation", GpDevAlloc(dev, (n + 1) * sizeof(double), &d->device[k]));
    PetscCallGp(dev, "values", GpDevUpload(dev, d->device[k], d->host[k], n * sizeof(double)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Data *d)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < MANY + 3; k++) {
    PetscCall(PetscFree(d->host[k]));
    GpDevFree(d->dev, &d->device[k], (d->n + 1) * sizeof(double));
  }
  PetscCall(PetscFree2(d->result, d->gold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares device vector 2 with gold. Both start with the values of host vector 2. */
static PetscErrorCode Compare(Data *d, const char *name, double tolerance)
{
  PetscFunctionBeginUser;
  PetscCallGp(d->dev, name, GpDevDownload(d->dev, d->result, d->device[2], d->n * sizeof(double)));
  for (size_t i = 0; i < d->n; i++) PetscCheck(fabs(d->result[i] - d->gold[i]) <= tolerance * (1 + fabs(d->gold[i])), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s of %zu: entry %zu is %.17g, not %.17g", name, d->n, i, d->result[i], d->gold[i]);
  PetscCallGp(d->dev, name, GpDevUpload(d->dev, d->device[2], d->host[2], d->n * sizeof(double)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Maps(Data *d)
{
  const double  scalars[3] = {1.25, -0.3, 0.7};
  const int64_t n          = (int64_t)d->n;

  PetscFunctionBeginUser;
  for (int m = 0; m < GP_VEC_MAPS; m++) {
    for (int alias = 0; alias < 3; alias++) { /* z is another vector, z is x, z is y */
      const int x = alias == 1 ? 2 : 0, y = alias == 2 ? 2 : 1;

      if (d->n) memcpy(d->gold, d->host[2], d->n * sizeof(double));
      PetscCallGp(d->dev, GpVecMapRows[m].name, GpVecKernelsOf(d->dev)->map[m](d->dev, n, scalars, d->device[x], d->device[y], d->device[2]));
      PetscCallGp(d->dev, GpVecMapRows[m].name, GpVecKernels_Host.map[m](d->dev, n, scalars, alias == 1 ? d->gold : d->host[0], alias == 2 ? d->gold : d->host[1], d->gold));
      PetscCall(Compare(d, GpVecMapRows[m].name, 1e-15));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Value(const char *name, size_t n, double expected, double got, double again, double scale)
{
  PetscFunctionBeginUser;
  PetscCheck(expected == got || fabs(expected - got) <= 1e-14 * scale, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s of %zu is %.17g, not %.17g", name, n, got, expected);
  PetscCheck(got == again, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s of %zu is %.17g, then %.17g", name, n, got, again);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Reductions(Data *d, GpVecWork *work, GpVecWork *hostwork)
{
  const int64_t n = (int64_t)d->n;

  PetscFunctionBeginUser;
  for (int r = 0; r < GP_VEC_REDUCTIONS; r++) {
    for (int slot = 0; slot < 8; slot += 4) PetscCallGp(d->dev, GpVecReduceRows[r].name, GpVecKernelsOf(d->dev)->reduce[r](work, n, d->device[0], d->device[1], slot));
    PetscCallGp(d->dev, GpVecReduceRows[r].name, GpVecWait(work)); /* one wait for both reductions */
    PetscCallGp(d->dev, GpVecReduceRows[r].name, GpVecKernels_Host.reduce[r](hostwork, n, d->host[0], d->host[1], 0));
    for (int k = 0; k < GpVecReduceRows[r].results; k++) PetscCall(Value(GpVecReduceRows[r].name, d->n, hostwork->result[k], work->result[k], work->result[4 + k], (double)d->n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Many(Data *d, GpVecWork *work, GpVecWork *hostwork)
{
  const double         alpha[MANY] = {1, -2, 0.5, 0, 3, 0.1, -0.7, 0.2};
  const double *const *host = (const double *const *)d->host + 3, *const *device = (const double *const *)d->device + 3;
  const int64_t        n = (int64_t)d->n;

  PetscFunctionBeginUser;
  for (int many = 1; many <= MANY; many++) {
    for (int slot = 0; slot < 32; slot += 16) PetscCallGp(d->dev, "mdot", GpVecKernelsOf(d->dev)->mdot(work, n, many, d->device[0], device, slot));
    PetscCallGp(d->dev, "mdot", GpVecWait(work));
    PetscCallGp(d->dev, "mdot", GpVecKernels_Host.mdot(hostwork, n, many, d->host[0], host, 0));
    for (int k = 0; k < many; k++) PetscCall(Value("mdot", d->n, hostwork->result[k], work->result[k], work->result[16 + k], (double)d->n));
    if (d->n) memcpy(d->gold, d->host[2], d->n * sizeof(double));
    PetscCallGp(d->dev, "maxpy", GpVecKernelsOf(d->dev)->maxpy(d->dev, n, many, alpha, device, d->device[2]));
    PetscCallGp(d->dev, "maxpy", GpVecKernels_Host.maxpy(d->dev, n, many, alpha, host, d->gold));
    PetscCall(Compare(d, "maxpy", 1e-14));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves of entries: consecutive entries or index lists, destinations with several sources, blocks, all operations. */
static PetscErrorCode Moves(Data *d)
{
  const int32_t n = (int32_t)PetscMin(d->n / 6, 100000); /* entries of blocks of up to 3, with twice as many sources */
  int32_t      *list[3], *device[3];

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) PetscCall(PetscMalloc1(2 * n + 2, &list[k]));
  list[2][0] = 0;
  for (int32_t k = 0; k < n; k++) {
    list[0][k]     = n - 1 - k;                         /* destinations, descending */
    list[2][k + 1] = list[2][k] + (k % 4 == 3 ? 3 : 1); /* first source of each destination: some have three */
  }
  for (int32_t j = 0; j < 2 * n; j++) list[1][j] = (int32_t)(((int64_t)j * 7919) % (2 * n)); /* sources, permuted */
  for (int k = 0; k < 3; k++) {
    PetscCallGp(d->dev, "allocation", GpDevAlloc(d->dev, (2 * (size_t)n + 2) * sizeof(int32_t), &device[k]));
    PetscCallGp(d->dev, "lists", GpDevUpload(d->dev, device[k], list[k], (2 * (size_t)n + 2) * sizeof(int32_t)));
  }
  for (int given = 0; given < 8; given++)
    for (int bs = 1; bs < 4; bs += 2)
      for (int op = GP_VEC_REPLACE; op <= GP_VEC_MIN; op++) {
        const GpVecMove h = {n, given & 1 ? list[0] : NULL, given & 2 ? list[1] : NULL, given & 4 ? list[2] : NULL};
        const GpVecMove m = {n, given & 1 ? device[0] : NULL, given & 2 ? device[1] : NULL, given & 4 ? device[2] : NULL};

        if (d->n) memcpy(d->gold, d->host[2], d->n * sizeof(double));
        PetscCallGp(d->dev, "move", GpVecKernelsOf(d->dev)->move(d->dev, (GpVecMoveOp)op, bs, &m, d->device[0], d->device[2]));
        PetscCallGp(d->dev, "move", GpVecKernels_Host.move(d->dev, (GpVecMoveOp)op, bs, &h, d->host[0], d->gold));
        PetscCall(Compare(d, "move", 0));
      }
  for (int k = 0; k < 3; k++) {
    PetscCall(PetscFree(list[k]));
    GpDevFree(d->dev, &device[k], (2 * (size_t)n + 2) * sizeof(int32_t));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* GP_VEC_maxabs returns a NaN and its position, wherever the NaN is. */
static PetscErrorCode Special(Data *d, GpVecWork *work)
{
  const size_t at[] = {0, d->n / 3, d->n - 1};

  PetscFunctionBeginUser;
  for (int k = 0; k < 3 && d->n; k++) {
    double *x = d->host[0], kept = x[at[k]];

    x[at[k]] = NAN;
    PetscCallGp(d->dev, "values", GpDevUpload(d->dev, d->device[0], x, d->n * sizeof(double)));
    PetscCallGp(d->dev, "maxabs", GpVecKernelsOf(d->dev)->reduce[GP_VEC_maxabs](work, (int64_t)d->n, d->device[0], NULL, 0));
    PetscCallGp(d->dev, "square", GpVecKernelsOf(d->dev)->reduce[GP_VEC_square](work, (int64_t)d->n, d->device[0], NULL, 2));
    PetscCallGp(d->dev, "wait", GpVecWait(work));
    PetscCheck(isnan(work->result[0]) && work->result[1] == (double)at[k] && isnan(work->result[2]), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A NaN at %zu of %zu gives %g at %g and %g", at[k], d->n, work->result[0], work->result[1], work->result[2]);
    x[at[k]] = kept;
    PetscCallGp(d->dev, "values", GpDevUpload(d->dev, d->device[0], x, d->n * sizeof(double)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const size_t sizes[] = {0, 1, 2, 7, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 4097, 100003, 2500001};
  GpDev        dev, host;
  GpVecWork    work, hostwork;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCheck(!GpDevOpen(GP_DEV_HOST, 0, &host, NULL, 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The host backend cannot be opened");
  PetscCallGp(dev, "work", GpVecWorkCreate(dev, &work));
  PetscCallGp(host, "work", GpVecWorkCreate(host, &hostwork));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++) {
    Data d;

    PetscCall(Create(dev, sizes[s], &d));
    PetscCall(Maps(&d));
    PetscCall(Reductions(&d, &work, &hostwork));
    PetscCall(Many(&d, &work, &hostwork));
    PetscCall(Moves(&d));
    PetscCall(Special(&d, &work));
    PetscCall(Destroy(&d));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "every vector kernel agrees\n"));
  GpVecWorkDestroy(&work);
  GpVecWorkDestroy(&hostwork);
  GpDevClose(&host);
  PetscCheck(GpDevBytesHeld(dev) == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%g bytes of device memory were not freed", GpDevBytesHeld(dev));
  PetscCall(PetscGPUCSRCloseDevice_Private());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   test:
      suffix: 1

TEST*/
