/* The Scaler: data of the iterations, and the evaluation of stress and Guttman transform for the configurations of all live paths. */
#include "solvers/smacof/smacofimpl.h"
#include <gpucsr.h>

static PetscErrorCode ConfigurationCreate(Vec like, Vec stress, Configuration *c)
{
  PetscFunctionBegin;
  PetscCall(VecDuplicate(like, &c->x));
  PetscCall(VecDuplicate(like, &c->g));
  PetscCall(VecDuplicate(stress, &c->stress));
  c->xfactor = c->gfactor = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConfigurationDestroy(Configuration *c)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&c->x));
  PetscCall(VecDestroy(&c->g));
  PetscCall(VecDestroy(&c->stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a sequential vector of a default type, which -vec_type changes. */
static PetscErrorCode ScalerCreateVec(PetscInt n, VecType type, const char prefix[], Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, n, n));
  PetscCall(VecSetOptionsPrefix(*v, prefix));
  PetscCall(VecSetType(*v, type));
  PetscCall(VecSetFromOptions(*v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void ScalerAddRange(Pass *p, PetscInt r0, PetscInt r1, PetscInt c0, PetscInt c1, int kind)
{
  PassRange *before = p->nranges ? &p->range[p->nranges - 1] : NULL;

  if (r0 >= r1 || c0 >= c1) return;
  if (before && before->kind == kind && before->c1 == c0 && before->r0 == r0 && before->r1 == r1) before->c1 = (int)c1;
  else p->range[p->nranges++] = (PassRange){(int)r0, (int)r1, (int)c0, (int)c1, kind};
}

/* Sets the ranges of this rank.  With READING_HALVES, each pair is read by one rank: a rank reads its own triangle, and all pairs with the points
   of the (size - 1) / 2 ranks that follow it cyclically.  If the number of ranks is even, opposite ranks share their pairs equally. */
static PetscErrorCode ScalerSetRanges(const Dissim *D, Reading reading, Pass *p)
{
  const PetscInt m = D->last - D->first;
  PetscMPIInt    rank, size;
  PetscInt      *begin;

  PetscFunctionBegin;
  if (reading == READING_ROWS) {
    ScalerAddRange(p, 0, m, 0, D->N, PASS_ROWS);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_rank(D->comm, &rank));
  PetscCallMPI(MPI_Comm_size(D->comm, &size));
  PetscCall(PetscMalloc1(size + 1, &begin));
  PetscCallMPI(MPI_Allgather(&D->first, 1, MPIU_INT, begin, 1, MPIU_INT, D->comm));
  begin[size] = D->N;
  ScalerAddRange(p, 0, m, D->first, D->last, PASS_TRIANGLE);
  for (PetscMPIInt after = 1; 2 * after < size; after++) {
    const PetscMPIInt other = (rank + after) % size;

    ScalerAddRange(p, 0, m, begin[other], begin[other + 1], PASS_BOTH);
  }
  if (size % 2 == 0) {
    const PetscMPIInt other = (rank + size / 2) % size, upper = PetscMax(rank, other);
    const PetscInt    middle = begin[upper] + (begin[upper + 1] - begin[upper]) / 2; /* the lower rank reads the pairs with the first half of the points of the upper rank */

    if (rank < other) ScalerAddRange(p, 0, m, begin[other], middle, PASS_BOTH);
    else ScalerAddRange(p, middle - D->first, m, begin[other], begin[other + 1], PASS_BOTH);
  }
  PetscCall(PetscFree(begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the pass over the dissimilarities on host arrays, without coordinates and sums. */
static PetscErrorCode ScalerSetPass(const Dissim *D, PetscInt dim, Reading reading, Pass *p)
{
  PetscFunctionBegin;
  *p          = (Pass){.N = (int)D->N, .rows = (int)(D->last - D->first), .dim = (int)dim, .first = (int)D->first, .single = D->single, .ldrow = (size_t)D->N, .delta = D->delta, .ld = (size_t)D->N, .ldsum = (size_t)D->N};
  p->feature  = D->features.value;
  p->frow     = D->features.value ? D->features.value + D->first : NULL;
  p->nfeature = (int)D->features.n;
  p->metric   = (int)D->metric;
  p->start    = D->start;
  p->column   = D->column;
  p->weight   = D->weight;
  PetscCall(ScalerSetRanges(D, reading, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PathCreate(const Scaler *S, Vec like, Vec stress, Path *P)
{
  PetscFunctionBegin;
  PetscCall(ConfigurationCreate(like, stress, &P->now));
  PetscCall(ConfigurationCreate(like, stress, &P->next));
  PetscCall(VecDuplicate(like, &P->bx));
  PetscCall(LookCreate(S->device.dev, S->o.acceleration == ACCELERATION_ANDERSON ? S->o.history : 0, &P->look));
  if (S->o.acceleration == ACCELERATION_ANDERSON) PetscCall(HistoryCreate(like, S->o.history, &P->history));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PathDestroy(Path *P)
{
  PetscFunctionBegin;
  PetscCall(ConfigurationDestroy(&P->now));
  PetscCall(ConfigurationDestroy(&P->next));
  PetscCall(HistoryDestroy(&P->history));
  PetscCall(LookDestroy(&P->look));
  PetscCall(VecDestroy(&P->bx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets or restores the arrays of a path that a pass reads and writes, on the device or on the host. */
static PetscErrorCode PathArrays(const Scaler *S, Path *P, PetscErrorCode (*get)(GpDev, Vec, PetscBool, const double **), Pass *p)
{
  GpDev dev = S->device.dev;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < P->form.n; k++) PetscCall(get(dev, P->form.term[k], PETSC_FALSE, &p->form.term[k]));
  PetscCall(get(dev, P->next.x, (PetscBool)(P->form.n > 0), &p->x));
  PetscCall(get(dev, P->bx, PETSC_TRUE, (const double **)&p->bx));
  PetscCall(get(dev, P->next.stress, PETSC_TRUE, (const double **)&p->stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ScalerGetPass(const Scaler *S, Path *P, Pass *p)
{
  PetscFunctionBegin;
  *p = S->device.dev ? S->device.p : S->shape;
  PetscCall(PathArrays(S, P, ArrayGet, p));
  p->form.n = (int)P->form.n;
  PetscCall(PetscArraycpy(p->form.factor, P->form.factor, P->form.n));
  p->form.to = (double *)p->x;
  p->xrow    = p->x + S->D->first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the number of pairs that a pass reads on this rank. */
static double ScalerCountPairs(const Pass *p)
{
  double pairs = p->start ? (double)p->start[p->rows] : 0;

  for (int k = 0; !p->start && k < p->nranges; k++) pairs += (double)(p->range[k].r1 - p->range[k].r0) * (p->range[k].c1 - p->range[k].c0) / (p->range[k].kind == PASS_TRIANGLE ? 2 : 1);
  return pairs;
}

/* Runs the pass for n configurations.  The results are the contributions of the local pairs to B(X) X and to the stress of each point. */
static PetscErrorCode ScalerRunPass(Scaler *S, PetscInt n, Path *live[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) PetscCall(ScalerGetPass(S, live[k], &S->pass[k]));
  if (S->disparity.D) { /* ScalerCreate() allows only one path then, so n is 1 */
    PassForm_Host(S->pass);
    S->pass->form.n = 0;
    PetscCall(DisparityUpdate(&S->disparity, S->pass->x));
    S->pass->delta = S->disparity.dhat;
  }
  PetscCall(PetscLogEventBegin(S->event, 0, 0, 0, 0));
  if (S->device.dev) PetscCall(PassDeviceRun(&S->device, S->pass, n));
  else Pass_Host(S->pass, (int)n);
  PetscCall(PetscLogFlops((double)n * ScalerCountPairs(&S->shape) * (double)(6 * S->o.dim + 5)));
  PetscCall(PetscLogEventEnd(S->event, 0, 0, 0, 0));
  for (PetscInt k = 0; k < n; k++) PetscCall(PathArrays(S, live[k], ArrayRestore, &S->pass[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums the contributions of all ranks. */
static PetscErrorCode ScalerSumRanks(Scaler *S, PetscInt n, Path *live[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    S->sum[2 * k]     = live[k]->bx;
    S->sum[2 * k + 1] = live[k]->next.stress;
  }
  PetscCall(VecGPUSumRanks(S->D->comm, 2 * n, S->sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for the stress and rho of n configurations. */
static PetscErrorCode ScalerWaitForSums(Scaler *S, PetscInt n, Path *live[])
{
  PetscScalar sum[2];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    Configuration *c = &live[k]->next;

    PetscCall(LookEnd(&live[k]->look, sum));
    c->sigma = 0.5 * PetscRealPart(sum[0]) / S->unit;
    c->rho   = PetscRealPart(sum[1]) / S->unit;
    PetscCheck(PetscIsNormalReal(c->sigma) || c->sigma < 1, S->D->comm, PETSC_ERR_FP, "The normalised stress of iteration %" PetscInt_FMT " is %g; scale the dissimilarities or the start", live[k]->at.it, (double)c->sigma);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ScalerEvaluate - Evaluates stress, B(X) X and Guttman transform of the next configuration of each live path, with one pass over the dissimilarities

  Collective

  Input Parameters:
+ S - the scaler
- n - number of live paths

  Note:
  Coordinates stay in the memory of the vectors, with these exceptions\: fixed points and a transform with a KSP copy them to the host, and so does the sum over ranks whose
  GPUs NCCL does not connect.
*/
PetscErrorCode ScalerEvaluate(Scaler *S, PetscInt n)
{
  const PetscBool accelerates = (PetscBool)(S->o.acceleration == ACCELERATION_ANDERSON), first = (PetscBool)(S->guttman.ksp != NULL);

  PetscFunctionBegin;
  PetscCall(ScalerRunPass(S, n, S->live));
  PetscCall(ScalerSumRanks(S, n, S->live));
  for (PetscInt k = 0; k < n; k++) PetscCall(LookBegin(&S->live[k]->look, S->live[k]->next.x, S->live[k]->bx, S->live[k]->next.stress));
  if (first) PetscCall(ScalerWaitForSums(S, n, S->live)); /* check that the stress is finite before the KSP is called */
  for (PetscInt k = 0; k < n; k++) {
    Path *P = S->live[k];

    PetscCall(GuttmanApply(&S->guttman, &P->bx, P->next.x, &P->next.g, &P->next.gfactor));
    if (accelerates) PetscCall(LookAtNewest(&P->look, &P->history, P->next.x, P->next.g, P->next.gfactor, ScalerRescales(S) ? S->unit : 0));
  }
  if (!first) PetscCall(ScalerWaitForSums(S, n, S->live)); /* wait only after all work for the GPU is launched */
  for (PetscInt k = 0; accelerates && k < n; k++) PetscCall(LookProducts(&S->live[k]->look, HistoryPairs(&S->live[k]->history), S->live[k]->history.product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the sum of squares of the distances between features, which is the stress if all points coincide. */
static PetscErrorCode ScalerComputeSumSquares(Scaler *S, Dissim *D)
{
  Path       *only = S->path;
  PetscScalar sum;

  PetscFunctionBegin;
  PetscCall(VecSet(only->next.x, 0));
  PetscCall(ScalerRunPass(S, 1, &only));
  PetscCall(ScalerSumRanks(S, 1, &only));
  PetscCall(VecSum(only->next.stress, &sum));
  D->sumsquares = 0.5 * PetscRealPart(sum);
  PetscCheck(!PetscIsInfOrNanScalar(sum), D->comm, PETSC_ERR_FILE_UNEXPECTED, "-features: the sum of the squares of the distances is beyond the range of %s precision: scale the features%s", D->single ? "single" : "double",
             D->single ? ", or use -storage double" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ScalerCreate - Creates a scaler for dissimilarities

  Collective

  Input Parameters:
+ D      - the dissimilarities; referenced by the scaler. Distances between features are stored here if D->stored is set, and their sum of squares is computed
. o      - options of the scaling
. fixed  - fixed points, or NULL
- prefix - options prefix of the KSP, of the Laplacian of the weights and of the vectors

  Output Parameter:
. S - the scaler

  Note:
  Disparities other than ratio depend on the configuration, so each start has its own. Starts then iterate one after the other.
*/
PetscErrorCode ScalerCreate(Dissim *D, const ScaleOptions *o, const Fixed *fixed, const char prefix[], Scaler *S)
{
  VecType      type = o->disparity.type == DISPARITY_RATIO ? VECGPU : VECSEQ; /* the pass runs where the vectors are */
  GpDev        dev  = NULL;
  Vec          like, stress;
  PetscClassId id;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(S, sizeof(*S)));
  S->D      = D;
  S->o      = *o;
  S->fixed  = fixed;
  S->npaths = o->disparity.type == DISPARITY_RATIO ? PetscMin(o->batch, o->starts) : 1;
  PetscCall(PetscClassIdRegister("SMACOF", &id));
  PetscCall(PetscLogEventRegister("SMACOFPass", id, &S->event));
  PetscCall(ScalerCreateVec(D->N * o->dim, type, prefix, &like));
  if (o->disparity.type == DISPARITY_RATIO) PetscCall(VecGPUGetRuntime(like, &dev));
  if (!dev) PetscCall(DissimStore(D));
  PetscCall(GuttmanCreate(D, o->dim, fixed, prefix, &S->guttman));
  PetscCall(ScalerCreateVec(D->N, type, prefix, &stress));
  PetscCall(ScalerSetPass(D, o->dim, o->device.reading, &S->shape));
  if (dev) PetscCall(PassDeviceCreate(dev, D, &S->shape, &S->device));
  PetscCall(PetscCalloc1(S->npaths, &S->path));
  PetscCall(PetscMalloc3(S->npaths, &S->live, S->npaths, &S->pass, 2 * S->npaths, &S->sum));
  for (PetscInt k = 0; k < S->npaths; k++) PetscCall(PathCreate(S, like, stress, &S->path[k]));
  PetscCall(ConfigurationCreate(like, stress, &S->best));
  S->outcome.start = -1;
  if (D->features.N) PetscCall(ScalerComputeSumSquares(S, D));
  S->unit = D->sumsquares > 0 ? D->sumsquares : 1;
  if (dev) PetscCall(PassDeviceChoose(&S->device, &o->device));
  if (o->disparity.type != DISPARITY_RATIO) PetscCall(DisparityCreate(D, o->dim, &o->disparity, &S->disparity));
  PetscCall(VecDestroy(&like));
  PetscCall(VecDestroy(&stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ScalerDestroy(Scaler *S)
{
  PetscFunctionBegin;
  PetscCall(PassDeviceDestroy(&S->device));
  PetscCall(GuttmanDestroy(&S->guttman));
  if (S->o.disparity.type != DISPARITY_RATIO) PetscCall(DisparityDestroy(&S->disparity));
  for (PetscInt k = 0; k < S->npaths; k++) PetscCall(PathDestroy(&S->path[k]));
  PetscCall(ConfigurationDestroy(&S->best));
  PetscCall(PetscFree(S->path));
  PetscCall(PetscFree3(S->live, S->pass, S->sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}
