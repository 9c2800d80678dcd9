/* What iterations work on, and the pass: stress and Guttman transform of all configurations that are looked at together. */
#include "smacof.h"

static PetscErrorCode ConfigurationCreate(Vec like, Vec stress, Configuration *c)
{
  PetscFunctionBegin;
  PetscCall(VecDuplicate(like, &c->x));
  PetscCall(VecDuplicate(like, &c->g));
  PetscCall(VecDuplicate(stress, &c->stress));
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

/* a vector of this rank alone, of the type that -vec_type asks for */
static PetscErrorCode CreateVec(PetscInt n, const char prefix[], Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(PETSC_COMM_SELF, v));
  PetscCall(VecSetSizes(*v, n, n));
  PetscCall(VecSetOptionsPrefix(*v, prefix));
  PetscCall(VecSetType(*v, VECSEQ));
  PetscCall(VecSetFromOptions(*v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PathCreate(const Scaler *S, Vec like, Vec rows, Vec stress, Path *P)
{
  PetscFunctionBegin;
  PetscCall(ConfigurationCreate(like, stress, &P->now));
  PetscCall(ConfigurationCreate(like, stress, &P->next));
  PetscCall(VecDuplicate(like, &P->bx));
  if (!S->alone) PetscCall(VecDuplicate(rows, &P->mine));
  else {
    P->mine = P->bx;
    PetscCall(PetscObjectReference((PetscObject)P->mine));
  }
  if (S->o.acceleration == ACCELERATION_ANDERSON) PetscCall(HistoryCreate(like, S->o.history, &P->history));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PathDestroy(Path *P)
{
  PetscFunctionBegin;
  PetscCall(ConfigurationDestroy(&P->now));
  PetscCall(ConfigurationDestroy(&P->next));
  PetscCall(HistoryDestroy(&P->history));
  PetscCall(VecDestroy(&P->bx));
  PetscCall(VecDestroy(&P->mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ScalerCreate - Prepares the scaling of dissimilarities

  Collective

  Input Parameters:
+ D      - the dissimilarities, which must stay
. o      - how to scale
. fixed  - points that stay where they are, or NULL
- prefix - of the options of the KSP, of the matrix of weights and of the vectors

  Output Parameter:
. S - the scaler

  Note:
  Disparities other than ratio are different ones for each start: there is nothing that starts could read together.
*/
PetscErrorCode ScalerCreate(const Dissim *D, const ScaleOptions *o, const Fixed *fixed, const char prefix[], Scaler *S)
{
  const PetscInt m = D->last - D->first;
  Vec            like, rows, stress;
  PetscMPIInt    size;
  PetscClassId   id;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(S, sizeof(*S)));
  S->D      = D;
  S->o      = *o;
  S->fixed  = fixed;
  S->unit   = D->sumsquares > 0 ? D->sumsquares : 1;
  S->npaths = o->disparity.type == DISPARITY_RATIO ? PetscMin(o->batch, o->starts) : 1;
  PetscCallMPI(MPI_Comm_size(D->comm, &size));
  S->alone = (PetscBool)(size == 1);
  PetscCall(PetscClassIdRegister("SMACOF", &id));
  PetscCall(PetscLogEventRegister("SMACOFPass", id, &S->event));
  PetscCall(GuttmanCreate(D, o->dim, fixed, prefix, &S->guttman));
  if (o->disparity.type != DISPARITY_RATIO) PetscCall(DisparityCreate(D, o->dim, &o->disparity, &S->disparity));
  PetscCall(CreateVec(D->N * o->dim, prefix, &like));
  PetscCall(CreateVec(m * o->dim, prefix, &rows));
  PetscCall(CreateVec(m, prefix, &stress));
  PetscCall(PetscCalloc1(S->npaths, &S->path));
  PetscCall(PetscMalloc3(S->npaths, &S->live, S->npaths, &S->pass, S->npaths, &S->raw));
  for (PetscInt k = 0; k < S->npaths; k++) PetscCall(PathCreate(S, like, rows, stress, &S->path[k]));
  PetscCall(ConfigurationCreate(like, stress, &S->best));
  S->outcome.start = -1;
  PetscCall(VecDestroy(&like));
  PetscCall(VecDestroy(&rows));
  PetscCall(VecDestroy(&stress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ScalerDestroy(Scaler *S)
{
  PetscFunctionBegin;
  PetscCall(GuttmanDestroy(&S->guttman));
  if (S->o.disparity.type != DISPARITY_RATIO) PetscCall(DisparityDestroy(&S->disparity));
  for (PetscInt k = 0; k < S->npaths; k++) PetscCall(PathDestroy(&S->path[k]));
  PetscCall(ConfigurationDestroy(&S->best));
  PetscCall(PetscFree(S->path));
  PetscCall(PetscFree3(S->live, S->pass, S->raw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the pass for n configurations; their B(X) X, this rank's rows, and the stress of its points */
static PetscErrorCode RunPass(Scaler *S, PetscInt n, Path *live[])
{
  const Dissim *D = S->D;
  const size_t  N = (size_t)D->N, m = (size_t)(D->last - D->first);

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    Pass p = {.N = (int)N, .rows = (int)m, .dim = (int)S->o.dim, .square = 1, .first = (int)D->first, .single = D->single, .ldrow = N, .delta = D->delta};

    p.feature  = D->features.value;
    p.frow     = D->features.value ? D->features.value + D->first : NULL;
    p.nfeature = (int)D->features.n;
    p.metric   = (int)D->metric;
    p.start    = D->start;
    p.column   = D->column;
    p.weight   = D->weight;
    PetscCall(VecGetArrayRead(live[k]->next.x, &p.x));
    PetscCall(VecGetArrayWrite(live[k]->mine, &p.bx));
    PetscCall(VecGetArrayWrite(live[k]->next.stress, &p.stress));
    p.xrow = p.x + D->first;
    if (S->o.disparity.type != DISPARITY_RATIO) {
      PetscCall(DisparityUpdate(&S->disparity, p.x));
      p.delta = S->disparity.dhat;
    }
    S->pass[k] = p;
  }
  PetscCall(PetscLogEventBegin(S->event, 0, 0, 0, 0));
  Pass_Host(S->pass, (int)n);
  PetscCall(PetscLogFlops((double)n * (double)(D->start ? D->start[m] : (int64_t)(m * (N - m / 2))) * (double)(6 * S->o.dim + 5)));
  PetscCall(PetscLogEventEnd(S->event, 0, 0, 0, 0));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecRestoreArrayRead(live[k]->next.x, &S->pass[k].x));
    PetscCall(VecRestoreArrayWrite(live[k]->mine, &S->pass[k].bx));
    PetscCall(VecRestoreArrayWrite(live[k]->next.stress, &S->pass[k].stress));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the rows of all ranks; where there is one rank they are the same vector */
static PetscErrorCode GatherRows(const Dissim *D, PetscInt dim, Vec mine, Vec all)
{
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  if (mine == all) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayRead(mine, &from));
  PetscCall(VecGetArrayWrite(all, &to));
  PetscCall(DissimGather(D, dim, from, to));
  PetscCall(VecRestoreArrayRead(mine, &from));
  PetscCall(VecRestoreArrayWrite(all, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  ScalerEvaluate - One pass over the dissimilarities: stress, B(X) X and Guttman transform of the next configuration of each live path

  Collective

  Input Parameters:
+ S - the scaler
- n - how many are live

  Note:
  Coordinates stay in the memory where the vectors are, but where points are fixed or the transform takes a KSP, and between ranks.
*/
PetscErrorCode ScalerEvaluate(Scaler *S, PetscInt n)
{
  const Dissim *D = S->D;
  PetscScalar   sum;

  PetscFunctionBegin;
  PetscCall(RunPass(S, n, S->live));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecSum(S->live[k]->next.stress, &sum));
    S->raw[k] = 0.5 * PetscRealPart(sum);
  }
  if (!S->alone) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, S->raw, (PetscMPIInt)n, MPIU_REAL, MPIU_SUM, D->comm));
  for (PetscInt k = 0; k < n; k++) {
    Path *P = S->live[k];

    PetscCheck(PetscIsNormalReal(S->raw[k]) || S->raw[k] < 1, D->comm, PETSC_ERR_FP, "The stress of iteration %" PetscInt_FMT " is %g", P->at.it, (double)S->raw[k]);
    P->next.sigma = S->raw[k] / S->unit;
    PetscCall(GatherRows(D, S->o.dim, P->mine, P->bx));
    PetscCall(GuttmanApply(&S->guttman, P->bx, P->next.x, P->next.g));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
