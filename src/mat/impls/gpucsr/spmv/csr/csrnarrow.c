/* Uploads the arrays of an AIJ matrix: indices as 32 bits, values in the stored precision, with the rounding error of the conversion. Several threads convert large arrays. */
#include "mat/impls/gpucsr/spmv/csr/csrnarrow.h"
#include "device/gpclones.h"
#include "device/gpupload.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define GP_INDEX_BLOCK 4096 /* number of indices that are checked and then copied while they are in the L1 cache */

typedef struct {
  const PetscInt *in;
  PetscInt        n;   /* number of columns */
  int             bad; /* 1: an index is wrong */
} GpIndices;

static GpErr GpIndicesFail(GpIndices *from)
{
  __atomic_store_n(&from->bad, 1, __ATOMIC_RELAXED);
  return GP_ERR_ARGUMENT;
}

/* Returns 1 if all indices are in 0 to n - 1. The sign bit of c | (n - 1 - c) is set if and only if c is out of range. Without a branch the
   compiler vectorises the loop. */
GP_CLONES static int GpIndicesInRange(size_t count, const PetscInt in[], PetscInt n)
{
#if defined(PETSC_USE_64BIT_INDICES)
  typedef uint64_t Word;
#else
  typedef uint32_t Word;
#endif
  const Word last = (Word)n - 1;
  Word       any  = 0;

  for (size_t i = 0; i < count; i++) any |= (Word)in[i] | (last - (Word)in[i]);
  return !(any >> (8 * sizeof(Word) - 1));
}

static void GpCopyIndices(size_t count, const PetscInt in[], int32_t out[])
{
  if (sizeof(PetscInt) == sizeof(int32_t)) GpDevCopyPast(out, in, count * sizeof(int32_t));
  else
    for (size_t i = 0; i < count; i++) out[i] = (int32_t)in[i];
}

/* Converts and checks columns. A PETSc without debugging does not check the columns that a program or a file provides, and kernels use them as
   addresses. */
static GpErr GpFillColumns(void *context, size_t offset, size_t bytes, void *destination)
{
  GpIndices   *from  = (GpIndices *)context;
  const size_t first = offset / sizeof(int32_t), count = bytes / sizeof(int32_t);

  for (size_t k = 0; k < count; k += GP_INDEX_BLOCK) {
    const size_t many = count - k < GP_INDEX_BLOCK ? count - k : GP_INDEX_BLOCK;

    if (!GpIndicesInRange(many, from->in + first + k, from->n)) return GpIndicesFail(from);
    GpCopyIndices(many, from->in + first + k, (int32_t *)destination + k);
  }
  return GP_SUCCESS;
}

/* Converts and checks row pointers. They must ascend from 0. The caller has checked that the last one fits 32 bits, so all do. */
static GpErr GpFillRows(void *context, size_t offset, size_t bytes, void *destination)
{
  GpIndices      *from  = (GpIndices *)context;
  const PetscInt *in    = from->in + offset / sizeof(int32_t);
  const size_t    count = bytes / sizeof(int32_t);
  int             falls = offset ? in[0] < in[-1] : in[0] != 0;

  for (size_t i = 1; i < count; i++) falls |= in[i] < in[i - 1];
  if (falls) return GpIndicesFail(from);
  GpCopyIndices(count, in, (int32_t *)destination);
  return GP_SUCCESS;
}

GpErr GpCsrSetPattern(GpCsr *A, const PetscInt rowptr[], const PetscInt col[])
{
  GpIndices       rows = {.in = rowptr}, columns = {.in = col, .n = A->n};
  const GpDevPart part[] = {{A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t), GpFillRows, &rows}, {A->col, (size_t)A->nnz * sizeof(int32_t), GpFillColumns, &columns}};

  return GpDevUploadParts(A->dev, 0, 2, part);
}

GpErr GpCsrGetIndices(GpDev dev, const int32_t device[], size_t n, PetscInt out[])
{
  if (sizeof(PetscInt) == sizeof(int32_t)) return GpDevDownloadByThreads(dev, 0, out, device, n * sizeof(int32_t));
  GpDevAdviseHuge(out, n * sizeof(PetscInt));
  return GpDevDownloadDrained(dev, 0, device, n * sizeof(int32_t), GpDevDrainWiden, out);
}

#define GP_NARROW_BLOCK  512
#define GP_NARROW_COPIED 2048 /* number of values that are converted in the L1 cache before they are copied */

typedef struct {
  const double   *in;
  int             exact; /* 1: a value that changes is an error */
  pthread_mutex_t lock;  /* protects *loss */
  GpLoss         *loss;
} GpNarrow;

/* Converts a block to single precision. Counts the values that change and those that lose all digits (GP_LOST), and returns nonzero if a relative
   change exceeds `worst`. Without a branch the compiler vectorises the loop. */
GP_CLONES static int64_t GpNarrowBlock(size_t n, const double in[], float out[], double worst, GpLoss *loss)
{
  int64_t any = 0, rounded = 0, lost = 0;

  for (size_t i = 0; i < n; i++) out[i] = (float)in[i];
  for (size_t i = 0; i < n; i++) {
    const double size = fabs(in[i]), change = fabs(in[i] - (double)out[i]);

    any |= change > worst * size ? (int64_t)1 : (int64_t)0;
    rounded += change > 0 ? (int64_t)1 : (int64_t)0;
    lost += change > GP_LOST * size ? (int64_t)1 : (int64_t)0;
  }
  loss->rounded += rounded;
  loss->lost += lost;
  return any;
}

/* A block with a larger change than any before it is scanned again for the position; this soon becomes rare, since rounding errors are bounded. The
   change of a finite value that overflows is infinite, so one comparison finds both rounding and overflow. */
GpErr GpCsrNarrow(int64_t first, size_t n, const double in[], float out[], GpLoss *loss)
{
  for (size_t block = 0; block < n; block += GP_NARROW_BLOCK) {
    const size_t end = block + GP_NARROW_BLOCK < n ? block + GP_NARROW_BLOCK : n;

    if (!GpNarrowBlock(end - block, in + block, out + block, loss->worst, loss)) continue;
    for (size_t i = block; i < end; i++) {
      const double change = fabs(in[i] - (double)out[i]);

      if (!(change > loss->worst * fabs(in[i]))) continue;
      if (isinf(change)) {
        loss->overflow = first + (int64_t)i;
        return GP_ERR_ARGUMENT;
      }
      loss->worst = change / fabs(in[i]);
      loss->at    = first + (int64_t)i;
    }
  }
  return GP_SUCCESS;
}

void GpCsrAddLoss(GpLoss *sum, const GpLoss *loss, int64_t from)
{
  if (loss->overflow >= 0 && (sum->overflow < 0 || from + loss->overflow < sum->overflow)) sum->overflow = from + loss->overflow;
  sum->rounded += loss->rounded;
  sum->lost += loss->lost;
  if (loss->at < 0 || loss->worst < sum->worst || (loss->worst == sum->worst && sum->at >= 0 && sum->at < from + loss->at)) return;
  sum->worst = loss->worst;
  sum->at    = from + loss->at;
}

/* Threads finish pieces in any order, so that the sum must not depend on it. If a value overflows, all earlier pieces are converted, so that the first one is found. */
static GpErr GpFillNarrow(void *context, size_t offset, size_t bytes, void *destination)
{
  GpNarrow    *N     = (GpNarrow *)context;
  const size_t first = offset / sizeof(float);
  GpLoss       loss  = {.at = -1, .overflow = -1};
  const size_t count = bytes / sizeof(float);
  float        block[GP_NARROW_COPIED];
  GpErr        err = GP_SUCCESS;

  for (size_t k = 0; k < count && !err; k += GP_NARROW_COPIED) {
    const size_t many = count - k < GP_NARROW_COPIED ? count - k : GP_NARROW_COPIED;

    err = GpCsrNarrow((int64_t)k, many, N->in + first + k, block, &loss);
    GpDevCopyPast((float *)destination + k, block, many * sizeof(float));
  }
  pthread_mutex_lock(&N->lock);
  GpCsrAddLoss(N->loss, &loss, (int64_t)first);
  pthread_mutex_unlock(&N->lock);
  return N->exact && loss.rounded ? GP_ERR_ARGUMENT : err;
}

static GpErr GpFillCopy(void *context, size_t offset, size_t bytes, void *destination)
{
  GpDevCopyPast(destination, (const char *)((GpNarrow *)context)->in + offset, bytes);
  return GP_SUCCESS;
}

GpErr GpCsrSetValues(GpCsr *A, const double val[], GpLoss *loss)
{
  GpNarrow        N    = {.in = val, .lock = PTHREAD_MUTEX_INITIALIZER, .loss = loss};
  const GpDevPart part = {A->val, (size_t)A->nnz * GpPrecBytes(A->prec), A->prec == GP_F32 ? GpFillNarrow : GpFillCopy, &N};

  *loss = (GpLoss){.worst = 0, .at = -1, .overflow = -1};
  return GpDevUploadParts(A->dev, 0, 1, &part);
}

GpErr GpCsrSetArrays(GpCsr *A, const PetscInt rowptr[], const PetscInt col[], const double val[], int exact, GpLoss *loss, int *wrong)
{
  GpIndices       rows = {.in = rowptr}, columns = {.in = col, .n = A->n};
  GpNarrow        N      = {.in = val, .exact = exact, .lock = PTHREAD_MUTEX_INITIALIZER, .loss = loss};
  const GpDevPart part[] = {
    {A->rowptr, ((size_t)A->m + 1) * sizeof(int32_t), GpFillRows, &rows}, {A->col, (size_t)A->nnz * sizeof(int32_t), GpFillColumns, &columns}, {A->val, (size_t)A->nnz * GpPrecBytes(A->prec), A->prec == GP_F32 ? GpFillNarrow : GpFillCopy, &N}};
  GpErr err;

  *loss  = (GpLoss){.worst = 0, .at = -1, .overflow = -1};
  err    = GpDevUploadParts(A->dev, 0, 3, part);
  *wrong = rows.bad || columns.bad;
  return err;
}

GP_CLONES static int64_t GpCountBlock(size_t n, const double in[])
{
  int64_t rounded = 0;

  for (size_t i = 0; i < n; i++) rounded += fabs(in[i] - (double)(float)in[i]) > 0 ? (int64_t)1 : (int64_t)0;
  return rounded;
}

#define GP_FITS_GRAIN 65536 /* least number of values that a thread scans */

typedef struct {
  const double *val;
  int           rounds; /* 1: a value is known that single precision rounds */
} GpFits;

static void GpFitsScan(void *context, int part, int64_t begin, int64_t end)
{
  GpFits *F = (GpFits *)context;

  (void)part;
  for (int64_t block = begin; block < end && !__atomic_load_n(&F->rounds, __ATOMIC_RELAXED); block += GP_NARROW_BLOCK) {
    if (GpCountBlock((size_t)(end - block < GP_NARROW_BLOCK ? end - block : GP_NARROW_BLOCK), F->val + block)) __atomic_store_n(&F->rounds, 1, __ATOMIC_RELAXED);
  }
}

/* The first block decides for most matrices with rounded values, so that no threads are needed. */
int GpCsrFitsSingle(GpDev dev, size_t n, const double val[])
{
  GpFits F = {.val = val};

  GpFitsScan(&F, 0, 0, n < GP_FITS_GRAIN ? (int64_t)n : GP_FITS_GRAIN);
  if (!F.rounds && n > GP_FITS_GRAIN) GpDevLoop(dev, GpDevLoopParts((int64_t)n, GP_FITS_GRAIN), (int64_t)n, GpFitsScan, &F);
  return !F.rounds;
}

void GpCsrCountRounded(size_t n, const double val[], GpLoss *loss)
{
  float out[GP_NARROW_BLOCK];

  loss->rounded = loss->lost = 0;
  for (size_t block = 0; block < n; block += GP_NARROW_BLOCK) (void)GpNarrowBlock(n - block < GP_NARROW_BLOCK ? n - block : GP_NARROW_BLOCK, val + block, out, 0, loss);
}
