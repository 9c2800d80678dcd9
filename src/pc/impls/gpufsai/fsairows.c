/* All rows of a factorised sparse approximate inverse, computed by threads (fsairows.h).  The rows are divided into blocks.  Each thread repeatedly takes the next
   block, and writes its results to memory of the block. */
#include "pc/impls/gpufsai/fsairows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GP_FSAI_BLOCK 64 /* number of rows of a block */

/* Results of a block of rows. */
typedef struct {
  PetscInt  *col; /* columns and values of the rows; NULL if they are written to an existing factor */
  double    *val;
  size_t     n, capacity;
  GpFsaiCode code;
  PetscInt   failed; /* first row that has failed, or -1 */
  PetscReal  pivot;
  double     flops, logarithm;
} GpFsaiBlock;

typedef struct {
  const GpFsaiMatrix  *A;
  const GpFsaiOptions *options;
  GpFsaiFactor        *factor;
  PetscBool            refill; /* the pattern of the factor is kept */
  GpFsaiBlock         *block;
  int64_t              blocks, next; /* number of blocks, and the next block to begin */
  int64_t              last;         /* blocks after this one are not needed, because one of its rows has failed */
} GpFsaiJob;

static void GpFsaiScratchDestroy(GpFsaiScratch *s)
{
  free(s->position);
  free(s->list);
  free(s->sum);
  free(s->touched);
  free(s->g);
  free(s->L);
}

static GpFsaiCode GpFsaiScratchCreate(const GpFsaiMatrix *A, PetscBool adaptive, GpFsaiScratch *s)
{
  const size_t n = (size_t)A->n + 1;

  *s = (GpFsaiScratch){.A = A, .position = (PetscInt *)malloc(n * sizeof(PetscInt)), .list = (PetscInt *)malloc(n * sizeof(PetscInt))};
  if (adaptive) {
    s->sum     = (double *)malloc(n * sizeof(*s->sum));
    s->touched = (PetscInt *)malloc(n * sizeof(*s->touched));
  }
  if (!s->position || !s->list || (adaptive && (!s->sum || !s->touched))) return GP_FSAI_MEMORY;
  for (PetscInt c = 0; c < A->n; c++) s->position[c] = -1;
  return GP_FSAI_SUCCESS;
}

/* Appends the current row to the results of a block. */
static GpFsaiCode GpFsaiStoreRow(const GpFsaiScratch *s, PetscInt m, GpFsaiBlock *b)
{
  if (b->n + (size_t)m > b->capacity) {
    const size_t capacity = 2 * b->capacity + (size_t)m * 8;
    PetscInt    *col      = (PetscInt *)realloc(b->col, capacity * sizeof(*col));
    double      *val;

    if (col) b->col = col;
    val = (double *)realloc(b->val, capacity * sizeof(*val));
    if (val) b->val = val;
    if (!col || !val) return GP_FSAI_MEMORY;
    b->capacity = capacity;
  }
  memcpy(b->col + b->n, s->list, (size_t)m * sizeof(*b->col));
  memcpy(b->val + b->n, s->g, (size_t)m * sizeof(*b->val));
  b->n += (size_t)m;
  return GP_FSAI_SUCCESS;
}

/* Computes a row of G and stores it. */
static GpFsaiCode GpFsaiComputeRow(const GpFsaiJob *job, GpFsaiScratch *s, PetscInt r, GpFsaiBlock *b)
{
  const PetscInt row = job->A->first + r;
  GpFsaiFactor  *F   = job->factor;
  PetscInt       m   = 0;
  GpFsaiCode     code;

  if (job->refill) {
    const PetscInt begin = F->rowptr[r];

    m    = F->rowptr[r + 1] - begin;
    code = GpFsaiSolveRow(s, m, F->col + begin);
    if (!code) memcpy(F->val + begin, s->g, (size_t)m * sizeof(*F->val));
  } else {
    if (job->options->adaptive) code = GpFsaiAdaptiveRow(s, job->options, row, &m);
    else {
      code = GpFsaiStaticRow(s, job->options, row, &m);
      if (!code) code = GpFsaiSolveRow(s, m, s->list);
    }
    if (!code) code = GpFsaiFilterRow(s, job->options->filter, &m, s->list);
    if (!code) code = GpFsaiStoreRow(s, m, b);
    F->rowptr[r + 1] = m;
  }
  if (!code) b->logarithm += log(s->g[m - 1] * s->g[m - 1] * job->A->diagonal[row]);
  return code;
}

/* Computes the rows of a block, up to the first row that fails. */
static void GpFsaiComputeBlock(const GpFsaiJob *job, GpFsaiScratch *s, int64_t n)
{
  GpFsaiBlock   *b     = &job->block[n];
  const PetscInt begin = (PetscInt)(n * GP_FSAI_BLOCK), end = PetscMin(begin + GP_FSAI_BLOCK, job->A->rows);

  s->flops  = 0;
  b->failed = -1;
  for (PetscInt r = begin; !b->code && r < end; r++) {
    b->code = GpFsaiComputeRow(job, s, r, b);
    if (b->code == GP_FSAI_PIVOT) {
      b->failed = r;
      b->pivot  = s->pivot;
    }
  }
  b->flops = s->flops;
}

/* Lowers a number that several threads share. */
static void GpFsaiLower(int64_t *number, int64_t to)
{
  int64_t now = __atomic_load_n(number, __ATOMIC_RELAXED);

  while (to < now && !__atomic_compare_exchange_n(number, &now, to, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

/* What each thread does. */
static GpErr GpFsaiWork(void *context, int64_t item, void *destination, char *why, size_t whylen)
{
  GpFsaiJob       *job = (GpFsaiJob *)context;
  GpFsaiScratch    s;
  const GpFsaiCode code = GpFsaiScratchCreate(job->A, (PetscBool)(job->options->adaptive && !job->refill), &s);

  for (;;) {
    const int64_t n = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED);

    if (n >= job->blocks || n > __atomic_load_n(&job->last, __ATOMIC_RELAXED)) break;
    if (code) job->block[n].code = code;
    else GpFsaiComputeBlock(job, &s, n);
    if (job->block[n].code) GpFsaiLower(&job->last, n);
  }
  GpFsaiScratchDestroy(&s);
  return GP_SUCCESS;
}

/* Runs the threads.  If the system refuses threads, the calling thread does the work. */
static GpFsaiCode GpFsaiRun(GpFsaiJob *job, int threads)
{
  const int jobs    = (int)PetscMax(PetscMin((int64_t)GpFillersCount(threads), job->blocks), 1);
  GpFillers fillers = NULL;

  if (jobs == 1 || GpFillersCreate(jobs, jobs, &fillers)) {
    if (GpFillersCreate(0, jobs, &fillers)) return GP_FSAI_MEMORY;
  }
  for (int t = 0; t < jobs; t++) {
    GpFillJob work = {.fill = GpFsaiWork, .context = job, .item = t};

    (void)GpFillersPost(fillers, &work);
  }
  for (int t = 0; t < jobs; t++) (void)GpFillersWait(fillers, t, -1);
  GpFillersDestroy(&fillers);
  return GP_FSAI_SUCCESS;
}

/* Joins the rows of all blocks. */
static GpFsaiCode GpFsaiJoin(GpFsaiJob *job)
{
  GpFsaiFactor *F   = job->factor;
  size_t        nnz = 0, n = 0;

  for (int64_t b = 0; b < job->blocks; b++) nnz += job->block[b].n;
  if (nnz > (size_t)PETSC_MAX_INT) return GP_FSAI_RANGE;
  for (PetscInt r = 0; r < F->rows; r++) F->rowptr[r + 1] += F->rowptr[r];
  F->col = (PetscInt *)malloc((nnz + 1) * sizeof(*F->col));
  F->val = (PetscScalar *)malloc((nnz + 1) * sizeof(*F->val));
  if (!F->col || !F->val) return GP_FSAI_MEMORY;
  for (int64_t k = 0; k < job->blocks; k++) {
    GpFsaiBlock *b = &job->block[k];

    if (b->n) memcpy(F->col + n, b->col, b->n * sizeof(*F->col));
    if (b->n) memcpy(F->val + n, b->val, b->n * sizeof(*F->val));
    n += b->n;
    free(b->col);
    free(b->val);
    b->col = NULL;
    b->val = NULL;
  }
  return GP_FSAI_SUCCESS;
}

/* Adds up what the blocks report, in their order.  The first failure counts. */
static GpFsaiCode GpFsaiReportBlocks(const GpFsaiJob *job, GpFsaiReport *report)
{
  GpFsaiCode code = GP_FSAI_SUCCESS;

  for (int64_t k = 0; k < job->blocks; k++) {
    const GpFsaiBlock *b = &job->block[k];

    report->flops += b->flops;
    report->logarithm += b->logarithm;
    if (!code && b->code == GP_FSAI_PIVOT) {
      report->failed = b->failed;
      report->pivot  = b->pivot;
    }
    if (b->code == GP_FSAI_MEMORY || !code) code = b->code;
  }
  return code;
}

GpFsaiCode GpFsaiCompute(const GpFsaiMatrix *A, const GpFsaiOptions *options, int threads, GpFsaiFactor *F, GpFsaiReport *report)
{
  GpFsaiJob  job  = {.A = A, .options = options, .factor = F, .refill = (PetscBool)(F->rowptr != NULL), .blocks = (A->rows + GP_FSAI_BLOCK - 1) / GP_FSAI_BLOCK, .last = INT64_MAX};
  GpFsaiCode code = GP_FSAI_MEMORY;

  *report   = (GpFsaiReport){.failed = -1};
  job.block = (GpFsaiBlock *)calloc((size_t)job.blocks + 1, sizeof(*job.block));
  if (job.refill) F->val = (PetscScalar *)malloc(((size_t)F->rowptr[F->rows] + 1) * sizeof(*F->val));
  else {
    F->rows   = A->rows;
    F->rowptr = (PetscInt *)calloc((size_t)A->rows + 1, sizeof(*F->rowptr));
  }
  if (job.block && F->rowptr && (F->val || !job.refill)) code = GpFsaiRun(&job, threads);
  if (!code) code = GpFsaiReportBlocks(&job, report);
  if (!code && !job.refill) code = GpFsaiJoin(&job);
  for (int64_t b = 0; job.block && b < job.blocks; b++) {
    free(job.block[b].col);
    free(job.block[b].val);
  }
  free(job.block);
  if (code) GpFsaiFree(F);
  return code;
}

void GpFsaiFreeValues(GpFsaiFactor *F)
{
  free(F->val);
  F->val = NULL;
}

void GpFsaiFree(GpFsaiFactor *F)
{
  free(F->rowptr);
  free(F->col);
  free(F->val);
  *F = (GpFsaiFactor){0};
}
