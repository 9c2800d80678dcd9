/* All rows of an approximate inverse, computed by threads (inverserows.h).  The rows are divided into blocks.  Each thread repeatedly takes the next
   block, and writes its results to memory of the block. */
#include "pc/inverse/inverserows.h"

#include <stdlib.h>
#include <string.h>

#define GP_INV_BLOCK 64 /* number of rows of a block */

/* Results of a block of rows. */
typedef struct {
  PetscInt *col; /* columns and values of the rows; NULL if they are written to an existing factor */
  double   *val;
  size_t    n, capacity;
  GpInvCode code;
  PetscInt  failed; /* first row that has failed, or -1 */
  PetscReal pivot;
  double    flops, measure;
} GpInvBlock;

typedef struct {
  const GpInvMatrix *A;
  GpInvRowFn        *row;
  const void        *options;
  GpInvRows         *rows;
  PetscBool          refill; /* the pattern is kept */
  GpInvBlock        *block;
  int64_t            blocks, next; /* number of blocks, and the next block to begin */
  int64_t            last;         /* first block with a failed row; later blocks are skipped.  INT64_MAX: none */
} GpInvJob;

static void GpInvScratchDestroy(GpInvScratch *s)
{
  free(s->position);
  free(s->list);
  free(s->sum);
  free(s->touched);
  free(s->g);
  free(s->L);
}

static GpInvCode GpInvScratchCreate(const GpInvMatrix *A, GpInvScratch *s)
{
  const size_t n = (size_t)A->n + 1;

  *s = (GpInvScratch){.A = A, .position = (PetscInt *)malloc(n * sizeof(PetscInt)), .list = (PetscInt *)malloc(n * sizeof(PetscInt))};
  if (!s->position || !s->list) return GP_INV_MEMORY;
  for (PetscInt c = 0; c < A->n; c++) s->position[c] = -1;
  return GP_INV_SUCCESS;
}

/* Appends the current row to the results of a block. */
static GpInvCode GpInvStoreRow(const GpInvScratch *s, PetscInt m, GpInvBlock *b)
{
  if (b->n + (size_t)m > b->capacity) {
    const size_t capacity = 2 * b->capacity + (size_t)m * 8;
    PetscInt    *col      = (PetscInt *)realloc(b->col, capacity * sizeof(*col));
    double      *val;

    if (col) b->col = col;
    val = (double *)realloc(b->val, capacity * sizeof(*val));
    if (val) b->val = val;
    if (!col || !val) return GP_INV_MEMORY;
    b->capacity = capacity;
  }
  memcpy(b->col + b->n, s->list, (size_t)m * sizeof(*b->col));
  memcpy(b->val + b->n, s->g, (size_t)m * sizeof(*b->val));
  b->n += (size_t)m;
  return GP_INV_SUCCESS;
}

/* Computes a row and stores it. */
static GpInvCode GpInvComputeRow(const GpInvJob *job, GpInvScratch *s, PetscInt r, GpInvBlock *b)
{
  GpInvRows     *F     = job->rows;
  const PetscInt begin = job->refill ? F->rowptr[r] : 0;
  PetscInt       m     = job->refill ? F->rowptr[r + 1] - begin : 0;
  GpInvCode      code;

  if (job->refill) memcpy(s->list, F->col + begin, (size_t)m * sizeof(*s->list));
  code = (*job->row)(s, job->options, job->refill, job->A->first + r, &m);
  if (code) return code;
  if (job->refill) memcpy(F->val + begin, s->g, (size_t)m * sizeof(*F->val));
  else {
    code             = GpInvStoreRow(s, m, b);
    F->rowptr[r + 1] = m;
  }
  return code;
}

/* Computes the rows of a block, up to the first row that fails. */
static void GpInvComputeBlock(const GpInvJob *job, GpInvScratch *s, int64_t n)
{
  GpInvBlock    *b     = &job->block[n];
  const PetscInt begin = (PetscInt)(n * GP_INV_BLOCK), end = PetscMin(begin + GP_INV_BLOCK, job->A->rows);

  s->flops = s->measure = 0;
  b->failed             = -1;
  for (PetscInt r = begin; !b->code && r < end; r++) {
    b->code = GpInvComputeRow(job, s, r, b);
    if (b->code == GP_INV_PIVOT) {
      b->failed = r;
      b->pivot  = s->pivot;
    }
  }
  b->flops   = s->flops;
  b->measure = s->measure;
}

/* Sets a shared number to the smaller of its value and "to". */
static void GpInvLower(int64_t *number, int64_t to)
{
  int64_t now = __atomic_load_n(number, __ATOMIC_RELAXED);

  while (to < now && !__atomic_compare_exchange_n(number, &now, to, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

/* Body of a thread: takes blocks and computes their rows until none is left. */
static GpErr GpInvWork(void *context, int64_t item, void *destination, char *why, size_t whylen)
{
  GpInvJob       *job = (GpInvJob *)context;
  GpInvScratch    s;
  const GpInvCode code = GpInvScratchCreate(job->A, &s);

  for (;;) {
    const int64_t n = __atomic_fetch_add(&job->next, 1, __ATOMIC_RELAXED);

    if (n >= job->blocks || n > __atomic_load_n(&job->last, __ATOMIC_RELAXED)) break;
    if (code) job->block[n].code = code;
    else GpInvComputeBlock(job, &s, n);
    if (job->block[n].code) GpInvLower(&job->last, n);
  }
  GpInvScratchDestroy(&s);
  return GP_SUCCESS;
}

/* Runs the threads.  If the system refuses threads, the calling thread does the work. */
static GpInvCode GpInvRun(GpInvJob *job, int threads)
{
  const int jobs    = (int)PetscMax(PetscMin((int64_t)GpFillersCount(threads), job->blocks), 1);
  GpFillers fillers = NULL;

  if (jobs == 1 || GpFillersCreate(jobs, jobs, &fillers)) {
    if (GpFillersCreate(0, jobs, &fillers)) return GP_INV_MEMORY;
  }
  for (int t = 0; t < jobs; t++) {
    GpFillJob work = {.fill = GpInvWork, .context = job, .item = t};

    (void)GpFillersPost(fillers, &work);
  }
  for (int t = 0; t < jobs; t++) (void)GpFillersWait(fillers, t, -1);
  GpFillersDestroy(&fillers);
  return GP_INV_SUCCESS;
}

/* Joins the rows of all blocks. */
static GpInvCode GpInvJoin(GpInvJob *job)
{
  GpInvRows *F   = job->rows;
  size_t     nnz = 0, n = 0;

  for (int64_t b = 0; b < job->blocks; b++) nnz += job->block[b].n;
  if (nnz > (size_t)PETSC_MAX_INT) return GP_INV_RANGE;
  for (PetscInt r = 0; r < F->rows; r++) F->rowptr[r + 1] += F->rowptr[r];
  F->col = (PetscInt *)malloc((nnz + 1) * sizeof(*F->col));
  F->val = (PetscScalar *)malloc((nnz + 1) * sizeof(*F->val));
  if (!F->col || !F->val) return GP_INV_MEMORY;
  for (int64_t k = 0; k < job->blocks; k++) {
    GpInvBlock *b = &job->block[k];

    if (b->n) memcpy(F->col + n, b->col, b->n * sizeof(*F->col));
    if (b->n) memcpy(F->val + n, b->val, b->n * sizeof(*F->val));
    n += b->n;
    free(b->col);
    free(b->val);
    b->col = NULL;
    b->val = NULL;
  }
  return GP_INV_SUCCESS;
}

/* Adds up what the blocks report, in their order.  The first failure counts. */
static GpInvCode GpInvReportBlocks(const GpInvJob *job, GpInvReport *report)
{
  GpInvCode code = GP_INV_SUCCESS;

  for (int64_t k = 0; k < job->blocks; k++) {
    const GpInvBlock *b = &job->block[k];

    report->flops += b->flops;
    report->measure += b->measure;
    if (!code && b->code == GP_INV_PIVOT) {
      report->failed = b->failed;
      report->pivot  = b->pivot;
    }
    if (b->code == GP_INV_MEMORY || !code) code = b->code;
  }
  return code;
}

GpInvCode GpInvCompute(const GpInvMatrix *A, GpInvRowFn *row, const void *options, int threads, GpInvRows *F, GpInvReport *report)
{
  GpInvJob  job  = {.A = A, .row = row, .options = options, .rows = F, .refill = (PetscBool)(F->rowptr != NULL), .blocks = (A->rows + GP_INV_BLOCK - 1) / GP_INV_BLOCK, .last = INT64_MAX};
  GpInvCode code = GP_INV_MEMORY;

  *report   = (GpInvReport){.failed = -1};
  job.block = (GpInvBlock *)calloc((size_t)job.blocks + 1, sizeof(*job.block));
  if (job.refill) F->val = (PetscScalar *)malloc(((size_t)F->rowptr[F->rows] + 1) * sizeof(*F->val));
  else {
    F->rows   = A->rows;
    F->rowptr = (PetscInt *)calloc((size_t)A->rows + 1, sizeof(*F->rowptr));
  }
  if (job.block && F->rowptr && (F->val || !job.refill)) code = GpInvRun(&job, threads);
  if (!code) code = GpInvReportBlocks(&job, report);
  if (!code && !job.refill) code = GpInvJoin(&job);
  for (int64_t b = 0; job.block && b < job.blocks; b++) {
    free(job.block[b].col);
    free(job.block[b].val);
  }
  free(job.block);
  if (code) GpInvFree(F);
  return code;
}

void GpInvFreeValues(GpInvRows *F)
{
  free(F->val);
  F->val = NULL;
}

void GpInvFree(GpInvRows *F)
{
  free(F->rowptr);
  free(F->col);
  free(F->val);
  *F = (GpInvRows){0};
}
