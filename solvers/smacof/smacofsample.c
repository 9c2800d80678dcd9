/* A sample of the pairs, for diagrams. */
#include "solvers/smacof/smacofimpl.h"
#include "app/text/appcollective.h"

/* Returns the number of pairs (i, j), i > j, in the local rows. */
static PetscInt64 SMACOFCountLocalPairs(const SMACOFPairs *D)
{
  PetscInt64 n = 0;

  for (PetscInt i = 0; i < D->last - D->first; i++) {
    if (!D->start) n += D->first + i;
    else
      for (int64_t k = D->start[i]; k < D->start[i + 1]; k++) n += D->column[k] < D->first + i;
  }
  return n;
}

/* Collects every k-th pair of the local rows.  The pairs of this rank are numbered from `pair` on. */
static PetscErrorCode SMACOFSampleLocalPairs(SMACOF s, PetscInt64 k, PetscInt64 pair, const double x[], PetscInt *n, SMACOFPair sample[])
{
  const SMACOFPairs *D = &s->D;
  const int         *column;
  double            *delta;
  PetscInt           entries;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscMalloc1(D->N, &delta));
  for (PetscInt i = D->first; i < D->last; i++) {
    const size_t at = D->start ? (size_t)D->start[i - D->first] : (size_t)(i - D->first) * (size_t)D->N;

    PetscCall(SMACOFPairsGetRow_Private(D, i - D->first, &entries, &column, delta, NULL));
    for (PetscInt e = 0; e < entries; e++) {
      const PetscInt j = column ? column[e] : e;

      if (j >= i || pair++ % k) continue;
      sample[(*n)++] = (SMACOFPair){(double)i, (double)j, delta[e], s->regression.D ? s->regression.dhat[at + (size_t)e] : delta[e], SMACOFGetDistance_Private(D->N, s->dim, x, i, j)};
    }
  }
  PetscCall(PetscFree(delta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  SMACOFGetSample - Gets dissimilarities, disparities and distances of a sample of the pairs, as a Shepard diagram shows them

  Collective

  Input Parameters:
+ s    - the solver
- most - maximum number of pairs, at least 1

  Output Parameters:
+ n     - number of pairs, the same on all ranks
- pairs - every k-th pair, where k is the smallest number that gives at most that many; free the array with `PetscFree()`

  Level: intermediate

.seealso: `SMACOFSolve()`, `SMACOFPair`
@*/
PetscErrorCode SMACOFGetSample(SMACOF s, PetscInt most, PetscInt *n, SMACOFPair **pairs)
{
  PetscInt64    before, total;
  SMACOFPair   *local;
  const double *x;
  PetscInt      found;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(s, SMACOF_CLASSID, 1);
  SMACOFCheckPointer(n, 3);
  SMACOFCheckPointer(pairs, 4);
  PetscCheck(most >= 1, PetscObjectComm((PetscObject)s), PETSC_ERR_ARG_OUTOFRANGE, "At most %" PetscInt_FMT " pairs: expected at least 1", most);
  PetscCheck(s->outcome.start >= 0, PetscObjectComm((PetscObject)s), PETSC_ERR_ORDER, "There is no result yet: call SMACOFSolve() first");
  PetscCall(VecGetArrayRead(s->best.x, &x));
  if (s->regression.D) PetscCall(SMACOFRegressionFit_Private(&s->regression, x));
  PetscCall(GpAppSumBefore(s->D.comm, SMACOFCountLocalPairs(&s->D), &before, NULL));
  PetscCall(PetscMalloc1(most + 1, &local));
  PetscCall(SMACOFSampleLocalPairs(s, (s->D.npairs + most - 1) / most, before, x, &found, local));
  PetscCall(VecRestoreArrayRead(s->best.x, &x));
  PetscCall(GpAppAllgather(s->D.comm, local, found, sizeof(*local), pairs, &total));
  *n = (PetscInt)total;
  PetscCall(PetscFree(local));
  PetscFunctionReturn(PETSC_SUCCESS);
}
