/* The group lasso: the sum over the groups g of c_g sqrt(n_g) ||w_g||, which makes all weights of a group zero together. Source: Yuan and Lin
   (2006).

   n_g is the number of weights of a group. c_g is their factor, the same for all weights of a group. A free weight belongs to no group. A group
   may have weights on several ranks: sums over the weights of groups are reduced over the ranks, one number per group. */
#include "solvers/bmrm/bmrmregularizer.h"

PETSC_INTERN PetscErrorCode BMRMRegularizerCreate_grouplasso(BMRMRegularizer);

typedef struct {
  MPI_Comm   comm;
  PetscInt   n, ngroup; /* number of weights on this rank; number of groups on all ranks */
  PetscInt  *of;        /* group of each weight, -1 for none */
  PetscReal *cost;      /* cost[g] = c_g sqrt(n_g) */
  PetscReal *sum[3];    /* workspace: one number per group in each array */
} BMRMGroups;

static PetscErrorCode BMRMGroupsReset(BMRMGroups *gs)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(gs->of));
  PetscCall(PetscFree4(gs->cost, gs->sum[0], gs->sum[1], gs->sum[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills of[] from the user's vector of groups, or makes groups of consecutive features. */
static PetscErrorCode BMRMGroupsNumber(BMRMRegularizer r, BMRMGroups *gs, Vec like)
{
  const PetscInt     k  = r->outputs;
  const PetscScalar *ga = NULL;
  PetscInt           start, bad = PETSC_MAX_INT, most = -1, all[2];

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(like, &gs->n));
  PetscCall(VecGetOwnershipRange(like, &start, NULL));
  PetscCall(PetscMalloc1(gs->n, &gs->of));
  if (r->groups) PetscCall(VecGetArrayRead(r->groups, &ga));
  for (PetscInt j = 0; j < gs->n / k; j++) {
    const PetscReal g = ga ? PetscRealPart(ga[j]) : (start / k + j) / r->groupsize;

    if (!(g >= 0 && g < PETSC_MAX_INT / 4 && g == PetscFloorReal(g))) bad = PetscMin(bad, start / k + j);
    else most = PetscMax(most, (PetscInt)g);
    for (PetscInt c = 0; c < k && bad == PETSC_MAX_INT; c++) gs->of[c * (gs->n / k) + j] = (PetscInt)g;
  }
  if (r->groups) PetscCall(VecRestoreArrayRead(r->groups, &ga));
  PetscCallMPI(MPI_Allreduce(&bad, &all[0], 1, MPIU_INT, MPI_MIN, gs->comm));
  PetscCallMPI(MPI_Allreduce(&most, &all[1], 1, MPIU_INT, MPI_MAX, gs->comm));
  PetscCheck(all[0] == PETSC_MAX_INT, gs->comm, PETSC_ERR_ARG_OUTOFRANGE, "The group of feature %" PetscInt_FMT ", counted from 0, is not an integer 0, 1, ...", all[0]);
  gs->ngroup = all[1] + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMGroupsReduce(BMRMGroups *gs, int which, MPI_Op op)
{
  PetscMPIInt n;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(gs->ngroup, &n));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, gs->sum[which], n, MPIU_REAL, op, gs->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerSetUp_GroupLasso(BMRMRegularizer r, Vec like)
{
  BMRMGroups        *gs = (BMRMGroups *)r->data;
  const PetscScalar *fa = NULL;

  PetscFunctionBegin;
  PetscCall(BMRMGroupsReset(gs));
  PetscCall(PetscObjectGetComm((PetscObject)like, &gs->comm));
  PetscCall(BMRMGroupsNumber(r, gs, like));
  PetscCall(PetscCalloc4(gs->ngroup, &gs->cost, gs->ngroup, &gs->sum[0], gs->ngroup, &gs->sum[1], gs->ngroup, &gs->sum[2]));
  if (r->weights) PetscCall(VecGetArrayRead(r->weights, &fa));
  for (PetscInt j = 0; j < gs->n; j++) { /* number of weights, largest factor, negative of the smallest factor */
    const PetscReal f = fa ? PetscRealPart(fa[j]) : 1;
    const PetscInt  g = gs->of[j];

    if (f == 0) gs->of[j] = -1;
    else {
      gs->sum[2][g] = gs->sum[0][g] > 0 ? PetscMax(gs->sum[2][g], -f) : -f;
      gs->sum[1][g] = PetscMax(gs->sum[1][g], f);
      gs->sum[0][g]++;
    }
  }
  if (r->weights) PetscCall(VecRestoreArrayRead(r->weights, &fa));
  for (PetscInt g = 0; g < gs->ngroup; g++) {
    if (gs->sum[0][g] == 0) gs->sum[2][g] = PETSC_NINFINITY;
  }
  PetscCall(BMRMGroupsReduce(gs, 0, MPIU_SUM));
  PetscCall(BMRMGroupsReduce(gs, 1, MPIU_MAX));
  PetscCall(BMRMGroupsReduce(gs, 2, MPIU_MAX));
  for (PetscInt g = 0; g < gs->ngroup; g++) {
    PetscCheck(gs->sum[0][g] == 0 || gs->sum[1][g] == -gs->sum[2][g], gs->comm, PETSC_ERR_ARG_INCOMP, "The weights of group %" PetscInt_FMT " have different factors, %g and %g: for the group lasso they must be the same", g, (double)-gs->sum[2][g],
               (double)gs->sum[1][g]);
    gs->cost[g] = gs->sum[1][g] * PetscSqrtReal(gs->sum[0][g]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sum[0][g] = ||v_g||^2, summed over all ranks */
static PetscErrorCode BMRMGroupsComputeSquares(BMRMGroups *gs, Vec v)
{
  const PetscScalar *va;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(gs->sum[0], gs->ngroup));
  PetscCall(VecGetArrayRead(v, &va));
  for (PetscInt j = 0; j < gs->n; j++) {
    const PetscReal x = PetscRealPart(va[j]);

    if (gs->of[j] >= 0) gs->sum[0][gs->of[j]] += x * x;
  }
  PetscCall(VecRestoreArrayRead(v, &va));
  PetscCall(BMRMGroupsReduce(gs, 0, MPIU_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerValue_GroupLasso(BMRMRegularizer r, Vec w, PetscReal *omega)
{
  BMRMGroups *gs = (BMRMGroups *)r->data;

  PetscFunctionBegin;
  PetscCall(BMRMGroupsComputeSquares(gs, w));
  *omega = 0;
  for (PetscInt g = 0; g < gs->ngroup; g++) *omega += gs->cost[g] * PetscSqrtReal(gs->sum[0][g]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums are known on all ranks, so rank 0 alone contributes the result; the caller adds the parts of all ranks. */
static PetscErrorCode BMRMRegularizerDerivative_GroupLasso(BMRMRegularizer r, PetscReal lambda, Vec w, Vec d, PetscReal step, PetscReal out[2])
{
  BMRMGroups        *gs = (BMRMGroups *)r->data;
  const PetscScalar *wa, *da;
  PetscMPIInt        rank;

  PetscFunctionBegin;
  for (int s = 0; s < 3; s++) PetscCall(PetscArrayzero(gs->sum[s], gs->ngroup));
  PetscCall(VecGetArrayRead(w, &wa));
  PetscCall(VecGetArrayRead(d, &da));
  for (PetscInt j = 0; j < gs->n; j++) {
    const PetscReal v = PetscRealPart(da[j]), x = PetscRealPart(wa[j]) + step * v;
    const PetscInt  g = gs->of[j];

    if (g < 0) continue;
    gs->sum[0][g] += x * x;
    gs->sum[1][g] += x * v;
    gs->sum[2][g] += v * v;
  }
  PetscCall(VecRestoreArrayRead(d, &da));
  PetscCall(VecRestoreArrayRead(w, &wa));
  for (int s = 0; s < 3; s++) PetscCall(BMRMGroupsReduce(gs, s, MPIU_SUM));
  PetscCallMPI(MPI_Comm_rank(gs->comm, &rank));
  out[0] = out[1] = 0;
  for (PetscInt g = 0; g < gs->ngroup && !rank; g++) {
    const PetscReal c = lambda * gs->cost[g], xx = gs->sum[0][g], xv = gs->sum[1][g], vv = gs->sum[2][g];

    if (xx > 0) {
      out[0] += c * xv / PetscSqrtReal(xx);
      out[1] += c * PetscMax(0, vv - xv * xv / xx) / PetscSqrtReal(xx);
    } else out[0] += c * PetscSqrtReal(vv);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w = rho c - v, sum[0][g] = ||w_g||^2 */
static PetscErrorCode BMRMGroupsComputeUnshrunk(BMRMGroups *gs, PetscReal rho, Vec c, Vec v, Vec w)
{
  PetscFunctionBegin;
  PetscCall(VecWAXPY(w, -1 / rho, v, c));
  PetscCall(VecScale(w, rho));
  PetscCall(BMRMGroupsComputeSquares(gs, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerProximal_GroupLasso(BMRMRegularizer r, PetscReal lambda, PetscReal rho, Vec c, Vec v, Vec w)
{
  BMRMGroups  *gs = (BMRMGroups *)r->data;
  PetscScalar *wa;

  PetscFunctionBegin;
  PetscCall(BMRMGroupsComputeUnshrunk(gs, rho, c, v, w));
  for (PetscInt g = 0; g < gs->ngroup; g++) gs->sum[0][g] = PetscMax(0, 1 - lambda * gs->cost[g] / PetscSqrtReal(PetscMax(gs->sum[0][g], PETSC_MIN_REAL))) / rho;
  PetscCall(VecGetArray(w, &wa));
  for (PetscInt j = 0; j < gs->n; j++) wa[j] *= gs->of[j] < 0 ? 1 / rho : gs->sum[0][gs->of[j]];
  PetscCall(VecRestoreArray(w, &wa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  For a group whose weights are not all zero, with u = rho c - v and kappa = lambda cost[g]:
    D = (1/rho) ((1 - kappa/||u||) I + kappa/||u||^3 u u').
  The first term is a product over the weights of this rank. The second term needs the products of u with every cut, one number per cut and active
  group. They are reduced over the ranks, and rank 0 alone adds the term.
*/
static PetscErrorCode BMRMRegularizerHessian_GroupLasso(BMRMRegularizer r, PetscReal lambda, PetscReal rho, Vec c, Vec v, PetscInt n, const Vec a[], PetscReal H[])
{
  BMRMGroups        *gs = (BMRMGroups *)r->data;
  const PetscScalar *ua, *aa;
  PetscReal         *row, *along; /* row: cuts × active weights. along: cuts × active groups */
  PetscInt          *place, k = 0, m = 0;
  PetscMPIInt        rank, count;
  Vec                u;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(gs->comm, &rank));
  PetscCall(VecDuplicate(v, &u));
  PetscCall(BMRMGroupsComputeUnshrunk(gs, rho, c, v, u));
  PetscCall(PetscMalloc1(gs->ngroup, &place));
  for (PetscInt g = 0; g < gs->ngroup; g++) {
    const PetscReal norm = PetscSqrtReal(gs->sum[0][g]), kappa = lambda * gs->cost[g];

    place[g] = norm > kappa ? k++ : -1;
    if (place[g] < 0) continue;
    gs->sum[1][g] = PetscSqrtReal((1 - kappa / norm) / rho);
    gs->sum[2][g] = PetscSqrtReal(kappa / (rho * norm)) / norm;
  }
  for (PetscInt j = 0; j < gs->n; j++) m += gs->of[j] < 0 || place[gs->of[j]] >= 0;
  PetscCall(PetscMalloc2((size_t)n * m, &row, (size_t)n * k, &along));
  PetscCall(PetscArrayzero(along, (size_t)n * k));
  PetscCall(VecGetArrayRead(u, &ua));
  for (PetscInt i = 0; i < n; i++) {
    PetscReal *to = row + (size_t)i * m;

    PetscCall(VecGetArrayRead(a[i], &aa));
    for (PetscInt j = 0; j < gs->n; j++) {
      const PetscInt g = gs->of[j];

      if (g >= 0 && place[g] < 0) continue;
      *to++ = PetscRealPart(aa[j]) * (g < 0 ? PetscSqrtReal(1 / rho) : gs->sum[1][g]);
      if (g >= 0) along[(size_t)i * k + place[g]] += gs->sum[2][g] * PetscRealPart(ua[j]) * PetscRealPart(aa[j]);
    }
    PetscCall(VecRestoreArrayRead(a[i], &aa));
  }
  PetscCall(VecRestoreArrayRead(u, &ua));
  PetscCall(GpCompatMPIIntCast((PetscInt64)n * k, &count));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, along, count, MPIU_REAL, MPIU_SUM, gs->comm));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt l = 0; l <= i; l++) {
      PetscReal sum = 0;

      for (PetscInt j = 0; j < m; j++) sum += row[(size_t)i * m + j] * row[(size_t)l * m + j];
      for (PetscInt g = 0; g < k && !rank; g++) sum += along[(size_t)i * k + g] * along[(size_t)l * k + g];
      H[(size_t)i * n + l] += sum;
    }
  }
  PetscCall(PetscLogFlops((PetscLogDouble)n * n * (m + k)));
  PetscCall(PetscFree2(row, along));
  PetscCall(PetscFree(place));
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerShrink_GroupLasso(BMRMRegularizer r, PetscReal lambda, Vec v, PetscReal *shrink)
{
  BMRMGroups *gs = (BMRMGroups *)r->data;

  PetscFunctionBegin;
  PetscCall(BMRMGroupsComputeSquares(gs, v));
  *shrink = 1;
  for (PetscInt g = 0; g < gs->ngroup; g++) {
    const PetscReal bound = lambda * gs->cost[g], norm = PetscSqrtReal(gs->sum[0][g]);

    if (norm > bound) *shrink = PetscMin(*shrink, bound / norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where lambda Omega(w) + <v, w> is bounded from below, its minimum is 0, at w = 0. */
static PetscErrorCode BMRMRegularizerLeast_GroupLasso(BMRMRegularizer r, PetscReal lambda, Vec v, PetscReal *value)
{
  PetscFunctionBegin;
  *value = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMRegularizerDestroy_GroupLasso(BMRMRegularizer r)
{
  PetscFunctionBegin;
  PetscCall(BMRMGroupsReset((BMRMGroups *)r->data));
  PetscCall(PetscFree(r->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BMRMRegularizerCreate_grouplasso(BMRMRegularizer r)
{
  BMRMGroups *gs;

  PetscFunctionBegin;
  PetscCall(PetscNew(&gs));
  r->data            = gs;
  r->proximal        = PETSC_TRUE;
  r->ops->setup      = BMRMRegularizerSetUp_GroupLasso;
  r->ops->value      = BMRMRegularizerValue_GroupLasso;
  r->ops->derivative = BMRMRegularizerDerivative_GroupLasso;
  r->ops->proximal   = BMRMRegularizerProximal_GroupLasso;
  r->ops->hessian    = BMRMRegularizerHessian_GroupLasso;
  r->ops->shrink     = BMRMRegularizerShrink_GroupLasso;
  r->ops->least      = BMRMRegularizerLeast_GroupLasso;
  r->ops->destroy    = BMRMRegularizerDestroy_GroupLasso;
  PetscFunctionReturn(PETSC_SUCCESS);
}
