/* Exact line search for the hinge loss: the root of a monotone piecewise linear derivative, without a sort. */
#include "bmrmimpl.h"

/* where the loss of one example changes its slope, and by how much it raises the derivative */
typedef struct {
  PetscReal t, jump;
} Breakpoint;

/* The derivative right of t is slope + B t + the jumps in (lo, t]; the root lies in [lo, hi]. */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt size;
  PetscReal   slope, B, lo, hi;
  PetscInt    n; /* breakpoints of this rank strictly between lo and hi */
  Breakpoint *bp;
  PetscMPIInt nsample; /* candidates that every rank proposes in a round */
  PetscReal  *mine, *candidate, *jumps, *alljumps;
} Bracket;

/* Collects the breakpoints at t > 0; returns the sum of the slopes that act just right of 0. */
static PetscErrorCode CollectBreakpoints(Vec f, Vec e, Vec y, PetscInt m, PetscInt *nbp, Breakpoint *bp, PetscReal *slope)
{
  const PetscScalar *fa, *ea, *ya;
  PetscInt           n, k = 0;
  PetscReal          sum = 0;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayRead(f, &fa));
  PetscCall(VecGetArrayRead(e, &ea));
  PetscCall(VecGetArrayRead(y, &ya));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal yi = PetscRealPart(ya[i]), fi = PetscRealPart(fa[i]);
    const PetscReal c = 1 - yi * fi, s = -yi * PetscRealPart(ea[i]); /* the loss is max(0, c + t s) */
    const PetscBool in = (PetscBool)((c > 0) | ((c == 0) & (s > 0))), kink = (PetscBool)(((c > 0) & (s < 0)) | ((c < 0) & (s > 0)));

    /* no branches: which way they go is anybody's guess */
    sum += in ? s : 0;
    bp[k].t    = -c / (kink ? s : 1);
    bp[k].jump = PetscAbsReal(s) / m;
    k += kink;
  }
  PetscCall(VecRestoreArrayRead(y, &ya));
  PetscCall(VecRestoreArrayRead(e, &ea));
  PetscCall(VecRestoreArrayRead(f, &fa));
  *nbp   = k;
  *slope = sum / m;
  PetscCall(PetscLogFlops(6.0 * n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every rank proposes some of its breakpoints; returns them all, sorted and without doubles. */
static PetscErrorCode GatherCandidates(Bracket *br, PetscInt *ncandidate)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  for (PetscMPIInt k = 0; k < br->nsample; k++) {
    const PetscInt at = (PetscInt)((2 * k + 1) * (PetscReal)br->n / (2 * br->nsample));

    br->mine[k] = br->n ? br->bp[PetscMin(at, br->n - 1)].t : PETSC_INFINITY;
  }
  PetscCallMPI(MPI_Allgather(br->mine, br->nsample, MPIU_REAL, br->candidate, br->nsample, MPIU_REAL, br->comm));
  for (PetscInt k = 0; k < (PetscInt)br->nsample * br->size; k++) {
    if (br->candidate[k] < PETSC_INFINITY) br->candidate[n++] = br->candidate[k];
  }
  PetscCall(PetscSortRemoveDupsReal(&n, br->candidate));
  *ncandidate = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  Sums, over all ranks, the jumps before, at, between and after the candidates: 2 n + 1 numbers in their order on the line.

  The candidates are filled up to one less than a power of two, for a binary search without branches.
*/
static PetscErrorCode SumJumps(Bracket *br, PetscInt n)
{
  PetscInt width = 1;

  PetscFunctionBegin;
  while (width <= n) width *= 2;
  for (PetscInt k = n; k < width; k++) br->candidate[k] = PETSC_INFINITY;
  PetscCall(PetscArrayzero(br->jumps, 2 * n + 1));
  for (PetscInt i = 0; i < br->n; i++) {
    const PetscReal t = br->bp[i].t;
    PetscInt        a = 0; /* so many candidates are below t */

    for (PetscInt half = width / 2; half; half /= 2) a += half * (br->candidate[a + half - 1] < t);
    br->jumps[2 * a + (br->candidate[a] == t)] += br->bp[i].jump;
  }
  PetscCallMPI(MPI_Allreduce(br->jumps, br->alljumps, (PetscMPIInt)(2 * n + 1), MPIU_REAL, MPIU_SUM, br->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shrinks the bracket to one gap between candidates, or to the candidate that is the root. */
static PetscErrorCode Shrink(Bracket *br, PetscInt n)
{
  PetscReal slope = br->slope, lo = br->lo, hi = br->hi;
  PetscInt  k = 0;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < n; j++) {
    const PetscReal t = br->candidate[j], before = slope + br->alljumps[2 * j];

    if (before + br->B * t >= 0) {
      hi = t;
      break;
    }
    slope = before + br->alljumps[2 * j + 1];
    lo    = t;
    if (slope + br->B * t >= 0) {
      hi = t;
      break;
    }
  }
  br->slope = slope;
  br->lo    = lo;
  br->hi    = hi;
  for (PetscInt i = 0; i < br->n; i++) {
    if (br->bp[i].t > lo && br->bp[i].t < hi) br->bp[k++] = br->bp[i];
  }
  br->n = k;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindRoot(Bracket *br, PetscReal *t)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  while (br->lo < br->hi) {
    PetscCall(GatherCandidates(br, &n));
    if (!n) { /* linear from lo to hi */
      const PetscReal root = br->B > 0 ? -br->slope / br->B : br->lo;

      br->lo = br->hi = PetscMax(br->lo, PetscMin(br->hi, root));
      break;
    }
    PetscCall(SumJumps(br, n));
    PetscCall(Shrink(br, n));
  }
  *t = br->lo;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  BMRMHingeLineSearch - minimises A t + B t^2/2 + (1/m) sum_i max(0, 1 - y_i (f_i + t e_i)) over t >= 0

  Collective

  Input Parameters:
+ f - products at t = 0
. e - products with the direction
. y - the labels, +1 or -1
. m - number of examples on all ranks
. A - derivative of the regulariser at t = 0
- B - its curvature, not negative

  Output Parameter:
. t - the minimiser, the same on all ranks

  Notes:
  The derivative is piecewise linear and grows. Each round evaluates it, by one reduction, at up to some tens of
  breakpoints which the ranks propose, and keeps the gap that holds the root. The gap shrinks about as many times, so that
  the work is a few passes over the breakpoints: less than the sort of the textbook method, and nothing is gathered.
*/
PetscErrorCode BMRMHingeLineSearch(Vec f, Vec e, Vec y, PetscInt m, PetscReal A, PetscReal B, PetscReal *t)
{
  Bracket   br;
  PetscInt  n, nall;
  PetscReal slope;

  PetscFunctionBegin;
  *t = 0;
  PetscCall(PetscObjectGetComm((PetscObject)y, &br.comm));
  PetscCallMPI(MPI_Comm_size(br.comm, &br.size));
  br.nsample = PetscMax(1, 31 / br.size);
  nall       = (PetscInt)br.nsample * br.size;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(PetscMalloc1(n + 1, &br.bp));
  PetscCall(PetscMalloc4(br.nsample, &br.mine, 2 * nall + 1, &br.candidate, 2 * nall + 1, &br.jumps, 2 * nall + 1, &br.alljumps));
  PetscCall(CollectBreakpoints(f, e, y, m, &br.n, br.bp, &slope));
  PetscCallMPI(MPI_Allreduce(&slope, &br.slope, 1, MPIU_REAL, MPIU_SUM, br.comm));
  br.slope += A;
  br.B  = B;
  br.lo = 0;
  br.hi = B > 0 ? -br.slope / B : PETSC_MAX_REAL; /* the jumps only raise the derivative */
  if (br.slope < 0) {
    PetscInt k = 0;

    for (PetscInt i = 0; i < br.n; i++) {
      if (br.bp[i].t > 0 && br.bp[i].t < br.hi) br.bp[k++] = br.bp[i];
    }
    br.n = k;
    PetscCall(FindRoot(&br, t));
  }
  PetscCall(PetscFree4(br.mine, br.candidate, br.jumps, br.alljumps));
  PetscCall(PetscFree(br.bp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
