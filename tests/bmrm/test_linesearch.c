static char help[] = "The exact line search for the hinge loss against sorted breakpoints and samples, on any number of ranks.\n\n";

#include "bmrmimpl.h"

typedef struct {
  const char *name;
  PetscInt    m;
  PetscReal   A, B;
  PetscReal   grid; /* values are rounded to multiples of it, so that breakpoints coincide; 0 leaves them */
} Case;

/* a number in [-1, 1) that depends on nothing but i and k */
static PetscReal Value(PetscInt i, PetscInt k, PetscReal grid)
{
  PetscInt64 s = 12345 + 7919 * (PetscInt64)i + 104729 * (PetscInt64)k;
  PetscReal  v;

  for (int r = 0; r < 4; r++) s = (s * 1103515245 + 12345) & 0x7fffffff;
  v = (PetscReal)s / (PetscReal)0x40000000 - 1;
  return grid > 0 ? grid * PetscFloorReal(v / grid) : v;
}

static void Row(const Case *c, PetscInt i, PetscReal *f, PetscReal *e, PetscReal *y)
{
  *y = i % 3 ? 1 : -1;
  *f = 2 * Value(i, 0, c->grid);
  *e = Value(i, 1, c->grid) + 0.3 * *y;
}

static PetscReal Along(const Case *c, PetscReal t)
{
  PetscReal sum = 0, f, e, y;

  for (PetscInt i = 0; i < c->m; i++) {
    Row(c, i, &f, &e, &y);
    sum += PetscMax(0, 1 - y * (f + t * e));
  }
  return c->A * t + 0.5 * c->B * t * t + sum / c->m;
}

/* The textbook method: walk over the sorted breakpoints until the derivative is positive. */
static PetscErrorCode Sorted(const Case *c, PetscReal *t)
{
  PetscReal *at, *jump, slope = c->A, f, e, y;
  PetscInt  *order, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(c->m, &at, c->m, &jump, c->m, &order));
  for (PetscInt i = 0; i < c->m; i++) {
    PetscReal loss, s;

    Row(c, i, &f, &e, &y);
    loss = 1 - y * f;
    s    = -y * e;
    if (loss > 0 || (loss == 0 && s > 0)) slope += s / c->m;
    if (loss * s >= 0) continue;
    at[n]    = -loss / s;
    jump[n]  = PetscAbsReal(s) / c->m;
    order[n] = n;
    n++;
  }
  PetscCall(PetscSortRealWithPermutation(n, at, order));
  *t = 0;
  if (slope < 0) {
    PetscInt k = 0;

    for (; k < n; k++) {
      const PetscInt p = order[k];

      if (slope + c->B * at[p] >= 0) break;
      slope += jump[p];
      if (slope + c->B * at[p] >= 0) {
        *t = at[p];
        break;
      }
    }
    if (*t == 0) *t = -slope / c->B;
  }
  PetscCall(PetscFree3(at, jump, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(const Case *c)
{
  BMRM         b;
  BMRMPieces   pieces = {.end = PETSC_INFINITY};
  Vec          f, e, y;
  PetscScalar *fa, *ea, *ya;
  PetscReal    t, expected = 0, J, extreme[2], all[2];
  PetscInt     start, end;

  PetscFunctionBegin;
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, c->m, &f));
  PetscCall(VecDuplicate(f, &e));
  PetscCall(VecDuplicate(f, &y));
  PetscCall(VecGetOwnershipRange(f, &start, &end));
  PetscCall(VecGetArray(f, &fa));
  PetscCall(VecGetArray(e, &ea));
  PetscCall(VecGetArray(y, &ya));
  for (PetscInt i = start; i < end; i++) {
    PetscReal fi, ei, yi;

    Row(c, i, &fi, &ei, &yi);
    fa[i - start] = fi;
    ea[i - start] = ei;
    ya[i - start] = yi;
  }
  PetscCall(VecRestoreArray(f, &fa));
  PetscCall(VecRestoreArray(e, &ea));
  PetscCall(VecRestoreArray(y, &ya));
  PetscCall(BMRMCreate(PETSC_COMM_WORLD, &b)); /* for its hinge loss */
  b->loss->scale = (PetscReal)1 / c->m;
  PetscCall((*b->loss->ops->pieces)(b->loss, f, e, y, &pieces));
  PetscCall(BMRMPiecesMinimize(PETSC_COMM_WORLD, &pieces, c->A, c->B, &t));
  PetscCall(BMRMPiecesDestroy_Private(&pieces));
  PetscCall(BMRMDestroy(&b));
  PetscCall(Sorted(c, &expected));
  PetscCheck(PetscAbsReal(t - expected) <= 1e-12 * (1 + expected), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: step %.17g, the sorted breakpoints give %.17g", c->name, (double)t, (double)expected);
  J = Along(c, t);
  for (PetscInt k = 0; k <= 400; k++) {
    const PetscReal s = (k % 2 ? 4 : 4 * (t + 1e-3)) * k / 400;

    PetscCheck(Along(c, s) >= J - 1e-14, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %.17g at the step %g, %.17g at %g", c->name, (double)J, (double)t, (double)Along(c, s), (double)s);
  }
  extreme[0] = t;
  extreme[1] = -t;
  PetscCallMPI(MPI_Allreduce(extreme, all, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCheck(all[0] == -all[1], PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the ranks disagree: %.17g and %.17g", c->name, (double)all[0], (double)-all[1]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s\n", c->name, t > 0 ? "a step" : "no step"));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Case cases[] = {{"typical", 5000, -0.01, 0.5, 0},
                        {"hardly curved", 5000, -0.01, 1e-9, 0},
                        {"not curved", 5000, 0, 0, 0},
                        {"strongly curved", 5000, 0, 1000, 0},
                        {"breakpoints coincide", 5000, -0.01, 0.1, 0.25},
                        {"breakpoints coincide, no curve", 3000, 0.01, 0, 0.5},
                        {"uphill", 1000, 5, 0.5, 0},
                        {"two examples", 2, -0.5, 1e-3, 0},
                        {"one example", 1, -0.5, 1e-3, 0},
                        {"steep regulariser", 400, -3, 0.01, 0}};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) PetscCall(Run(&cases[k]));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: double
      output_file: output/test_linesearch_1.out
      test:
         suffix: 1
      test:
         suffix: 3
         nsize: 3

TEST*/
