/* SMACOFSetUp(): the pairs, and what the iterations need for the data and the settings. */
#include "solvers/smacof/smacofimpl.h"
#include <gpucsr.h>

static PetscErrorCode SMACOFConfigurationCreate(Vec like, Vec stress, SMACOFConfiguration *c)
{
  PetscFunctionBegin;
  PetscCall(VecDuplicate(like, &c->x));
  PetscCall(VecDuplicate(like, &c->g));
  PetscCall(VecDuplicate(stress, &c->stress));
  c->xfactor = c->gfactor = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SMACOFConfigurationDestroy(SMACOFConfiguration *c)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&c->x));
  PetscCall(VecDestroy(&c->g));
  PetscCall(VecDestroy(&c->stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a sequential vector of a default type, which -smacof_vec_type changes. */
static PetscErrorCode SMACOFCreateVec(PetscInt n, VecType type, const char prefix[], Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, n, n));
  PetscCall(VecSetOptionsPrefix(*v, prefix));
  PetscCall(VecSetType(*v, type));
  PetscCall(VecSetFromOptions(*v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SMACOFAddRangeOfRank(SMACOFPass *p, PetscInt r0, PetscInt r1, PetscInt c0, PetscInt c1, int kind)
{
  SMACOFPassRange *before = p->nranges ? &p->range[p->nranges - 1] : NULL;

  if (r0 >= r1 || c0 >= c1) return;
  if (before && before->kind == kind && before->c1 == c0 && before->r0 == r0 && before->r1 == r1) before->c1 = (int)c1;
  else p->range[p->nranges++] = (SMACOFPassRange){(int)r0, (int)r1, (int)c0, (int)c1, kind};
}

/* Sets the ranges of this rank.  With SMACOF_READING_HALVES, each pair is read by one rank: a rank reads its own triangle, and all pairs with the points
   of the (size - 1) / 2 ranks that follow it cyclically.  If the number of ranks is even, opposite ranks share their pairs equally. */
static PetscErrorCode SMACOFSetRanges(const SMACOFPairs *D, SMACOFReading reading, SMACOFPass *p)
{
  const PetscInt m = D->last - D->first;
  PetscMPIInt    rank, size;
  PetscInt      *begin;

  PetscFunctionBegin;
  if (reading == SMACOF_READING_ROWS) {
    SMACOFAddRangeOfRank(p, 0, m, 0, D->N, PASS_ROWS);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_rank(D->comm, &rank));
  PetscCallMPI(MPI_Comm_size(D->comm, &size));
  PetscCall(PetscMalloc1(size + 1, &begin));
  PetscCallMPI(MPI_Allgather(&D->first, 1, MPIU_INT, begin, 1, MPIU_INT, D->comm));
  begin[size] = D->N;
  SMACOFAddRangeOfRank(p, 0, m, D->first, D->last, PASS_TRIANGLE);
  for (PetscMPIInt after = 1; 2 * after < size; after++) {
    const PetscMPIInt other = (rank + after) % size;

    SMACOFAddRangeOfRank(p, 0, m, begin[other], begin[other + 1], PASS_BOTH);
  }
  if (size % 2 == 0) {
    const PetscMPIInt other = (rank + size / 2) % size, upper = PetscMax(rank, other);
    const PetscInt    middle = begin[upper] + (begin[upper + 1] - begin[upper]) / 2; /* the lower rank reads the pairs with the first half of the points of the upper rank */

    if (rank < other) SMACOFAddRangeOfRank(p, 0, m, begin[other], middle, PASS_BOTH);
    else SMACOFAddRangeOfRank(p, middle - D->first, m, begin[other], begin[other + 1], PASS_BOTH);
  }
  PetscCall(PetscFree(begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the pass on host arrays, without coordinates and sums. */
static PetscErrorCode SMACOFSetPass(SMACOF s, SMACOFPass *p)
{
  const SMACOFPairs *D = &s->D;

  PetscFunctionBegin;
  *p = (SMACOFPass){.N        = (int)D->N,
                    .rows     = (int)(D->last - D->first),
                    .dim      = (int)s->dim,
                    .first    = (int)D->first,
                    .single   = D->single,
                    .ldrow    = (size_t)D->N,
                    .delta    = D->delta,
                    .ld       = (size_t)D->N,
                    .feature  = D->feature,
                    .frow     = D->feature ? D->feature + D->first : NULL,
                    .nfeature = (int)D->nfeature,
                    .metric   = (int)D->metric,
                    .start    = D->start,
                    .column   = D->column,
                    .weight   = D->weight,
                    .ldsum    = (size_t)D->N};
  PetscCall(SMACOFSetRanges(D, s->reading, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SMACOFPathCreate(SMACOF s, Vec like, Vec stress, SMACOFPath *P)
{
  const PetscInt history = s->acceleration == SMACOF_ACCELERATION_ANDERSON ? s->history : 0;

  PetscFunctionBegin;
  PetscCall(SMACOFConfigurationCreate(like, stress, &P->now));
  PetscCall(SMACOFConfigurationCreate(like, stress, &P->next));
  PetscCall(VecDuplicate(like, &P->bx));
  PetscCall(SMACOFSumsCreate_Private(s->device.dev, history, &P->sums));
  if (history) PetscCall(SMACOFHistoryCreate_Private(like, history, &P->history));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the size of the vectors of all paths in bytes. */
static double SMACOFGetVectorBytes(SMACOF s)
{
  const PetscInt history = s->acceleration == SMACOF_ACCELERATION_ANDERSON ? 2 * s->history + 6 : 0;

  return (double)sizeof(double) * (double)s->D.N * (double)(s->dim + 1) * (double)((5 + history) * s->npaths + 2);
}

/* Frees what SMACOFSetUp() created for the settings; the pairs stay. */
PetscErrorCode SMACOFWorkDestroy_Private(SMACOF s)
{
  PetscFunctionBegin;
  PetscCall(SMACOFDevicePassDestroy_Private(&s->device));
  PetscCall(SMACOFTransformDestroy_Private(&s->transform));
  PetscCall(SMACOFRegressionDestroy_Private(&s->regression));
  for (PetscInt k = 0; s->path && k < s->npaths; k++) {
    SMACOFPath *P = &s->path[k];

    PetscCall(SMACOFConfigurationDestroy(&P->now));
    PetscCall(SMACOFConfigurationDestroy(&P->next));
    PetscCall(SMACOFHistoryDestroy_Private(&P->history));
    PetscCall(SMACOFSumsDestroy_Private(&P->sums));
    PetscCall(VecDestroy(&P->bx));
  }
  PetscCall(SMACOFConfigurationDestroy(&s->best));
  PetscCall(PetscFree(s->path));
  PetscCall(PetscFree3(s->active, s->pass, s->sum));
  s->outcome = (SMACOFProgress){.start = -1};
  s->reason  = SMACOF_CONVERGED_ITERATING;
  s->setup   = PETSC_FALSE;
  s->printed = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the sum of squares of the distances between features, which is the stress if all points coincide. */
static PetscErrorCode SMACOFComputeSumSquares(SMACOF s)
{
  SMACOFPath *only = s->path;
  PetscScalar sum;

  PetscFunctionBegin;
  PetscCall(VecSet(only->next.x, 0));
  PetscCall(SMACOFRunPass_Private(s, 1, &only));
  PetscCall(VecSum(only->next.stress, &sum));
  s->D.sumsquares = 0.5 * PetscRealPart(sum);
  PetscCheck(!PetscIsInfOrNanScalar(sum), s->D.comm, PETSC_ERR_FILE_UNEXPECTED, "-features: the sum of the squares of the distances is beyond the range of %s precision: scale the features%s", s->D.single ? "single" : "double",
             s->D.single ? ", or use -storage double" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the pairs from the user's matrices, which are then dropped. */
static PetscErrorCode SMACOFSetUpPairs(SMACOF s)
{
  PetscFunctionBegin;
  if (s->dissimilarities || s->features) PetscCall(SMACOFPairsDestroy_Private(&s->D));
  if (s->dissimilarities) PetscCall(SMACOFPairsCreateFromMat_Private(s));
  else if (s->features) PetscCall(SMACOFPairsCreateFromFeatures_Private(s));
  PetscCheck(s->D.comm != MPI_COMM_NULL, PetscObjectComm((PetscObject)s), PETSC_ERR_ORDER, "There are no data: call SMACOFSetDissimilarities() or SMACOFSetFeatures() first");
  PetscCall(MatDestroy(&s->dissimilarities));
  PetscCall(MatDestroy(&s->weights));
  PetscCall(MatDestroy(&s->features));
  PetscCheck(!s->fixed.n || s->fixed.point[s->fixed.n - 1] < s->D.N, s->D.comm, PETSC_ERR_ARG_OUTOFRANGE, "Fixed point %" PetscInt_FMT ", but there are %" PetscInt_FMT " points", s->fixed.point[s->fixed.n - 1], s->D.N);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates what a solve needs: the paths, the transform and the pass. dev: the device of `like`, or NULL if the pass runs on the host. */
static PetscErrorCode SMACOFSetUpWork(SMACOF s, const char prefix[], Vec like, Vec stress, GpDev *dev)
{
  SMACOFPass p;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(s->npaths, &s->path));
  PetscCall(PetscMalloc3(s->npaths, &s->active, s->npaths, &s->pass, 2 * s->npaths, &s->sum));
  if (s->disparity == SMACOF_DISPARITY_RATIO) PetscCall(VecGPUGetRuntime(like, dev));
  if (!*dev) PetscCall(SMACOFPairsStoreDistances_Private(&s->D));
  PetscCall(SMACOFTransformCreate_Private(&s->D, s->dim, s->fixed.n ? &s->fixed : NULL, prefix, &s->transform));
  PetscCall(SMACOFSetPass(s, &p));
  PetscCall(SMACOFDevicePassCreate_Private(*dev, &s->D, &p, &s->stream, s->npaths, SMACOFGetVectorBytes(s), &s->device));
  for (PetscInt k = 0; k < s->npaths; k++) PetscCall(SMACOFPathCreate(s, like, stress, &s->path[k]));
  PetscCall(SMACOFConfigurationCreate(like, stress, &s->best));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  SMACOFSetUp - Converts the data to the form that passes read, and copies them to the device

  Collective

  Input Parameter:
. s - the solver

  Level: advanced

  Notes:
  `SMACOFSolve()` calls it. Afterwards the solver needs the matrices of `SMACOFSetDissimilarities()` and `SMACOFSetFeatures()` no longer and drops its references to them.

  Disparities other than ratio depend on the configuration, so each start has its own. Starts then iterate one after the other.

.seealso: `SMACOFSolve()`, `SMACOFReset()`
@*/
PetscErrorCode SMACOFSetUp(SMACOF s)
{
  VecType        type;
  GpDev          dev = NULL;
  Vec            like, stress;
  const char    *own;
  char           prefix[PETSC_MAX_OPTION_NAME];
  PetscErrorCode err;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  if (s->setup) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SMACOFWorkDestroy_Private(s));
  PetscCall(SMACOFSetUpPairs(s));
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)s, &own));
  PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "%ssmacof_", own ? own : ""));
  type      = s->disparity == SMACOF_DISPARITY_RATIO ? VECGPU : VECSEQ; /* the pass runs where the vectors are */
  s->npaths = s->disparity == SMACOF_DISPARITY_RATIO ? PetscMin(s->batch, s->starts) : 1;
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(SMACOFCreateVec(s->D.N * s->dim, type, prefix, &like));
  PetscCall(SMACOFCreateVec(s->D.N, type, prefix, &stress));
  err = SMACOFSetUpWork(s, prefix, like, stress, &dev);
  PetscCall(VecDestroy(&like));
  PetscCall(VecDestroy(&stress));
  PetscCall(err);
  if (s->D.nfeature) PetscCall(SMACOFComputeSumSquares(s));
  s->unit = s->D.sumsquares > 0 ? s->D.sumsquares : 1;
  if (dev) PetscCall(SMACOFDevicePassSelectArithmetic_Private(&s->device, &s->D, s->arithmetic));
  if (s->disparity != SMACOF_DISPARITY_RATIO) PetscCall(SMACOFRegressionCreate_Private(s, &s->regression));
  s->setup = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
