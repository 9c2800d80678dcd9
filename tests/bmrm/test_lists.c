static char help[] = "Losses of long lists of examples: against their definitions, and against the same on the host.\n\n\
  -n <n>    examples, 1500\n\
  -time     say how long risk, cut and slope take here and on the host\n\n";

#include "bmrmimpl.h"
#include "nested.h"
#include <gpucsr.h>
#include <petsctime.h>

#define PLACE 0.25 /* on the line */
#define MOST  4000 /* up to as many examples are compared with the definitions */

typedef struct {
  PetscInt   n;
  PetscReal *f, *e, *y, *query, *z, *u;
} Data;

static const char *const names[] = {"rocarea", "fbeta", "ordinal", "preference"};

/* Few digits, so that differences are exact and many scores are equal. */
static PetscReal Coarse(PetscInt seed, PetscInt i, PetscInt which)
{
  return PetscFloorReal(128 * Value(seed, i, which)) / 64;
}

static void Make(Data *x, int loss)
{
  for (PetscInt i = 0; i < x->n; i++) {
    const PetscReal chance = 0.5 + 0.5 * Value(loss, i, 3);

    x->f[i]     = Coarse(loss, i, 1);
    x->e[i]     = Coarse(loss, i, 2);
    x->z[i]     = x->f[i] + PLACE * x->e[i];
    x->y[i]     = loss < 2 ? (chance < 0.3 ? 1 : -1) : loss == 2 ? (i % 3 ? chance : 0.5) : PetscFloorReal(4.999 * chance);
    x->query[i] = i < x->n / 4 ? 7 : (PetscReal)((i / 3) * (i / 3) % (x->n / 20 + 1)); /* long ones and short ones */
  }
}

/* the risk of pairs by its definition, and u */
static PetscReal PairRisk(Data *x, PetscBool distance, PetscBool queries)
{
  PetscReal risk = 0, lists = 0;

  for (PetscInt i = 0; i < x->n; i++) x->u[i] = 0;
  for (PetscInt i = 0; i < x->n; i++) {
    PetscReal pairs = 0, cost = 0, done = 0;

    for (PetscInt j = 0; queries && j < i && !done; j++) done = x->query[j] == x->query[i];
    if (done || (i && !queries)) continue;
    lists++;
    for (int pass = 0; pass < 2; pass++) { /* the number of pairs comes first */
      for (PetscInt a = i; a < x->n; a++) {
        if (queries && x->query[a] != x->query[i]) continue;
        for (PetscInt b = i; b < x->n; b++) {
          const PetscReal c = distance ? x->y[a] - x->y[b] : 1;

          if (!(x->y[a] > x->y[b]) || (queries && x->query[b] != x->query[i])) continue;
          if (!pass) pairs++;
          else if (1 - (x->z[a] - x->z[b]) > 0) {
            cost += c * (1 - (x->z[a] - x->z[b])) / pairs;
            x->u[a] -= c / pairs;
            x->u[b] += c / pairs;
          }
        }
      }
    }
    risk += cost;
  }
  for (PetscInt i = 0; i < x->n; i++) x->u[i] /= lists;
  return risk / lists;
}

/* the F score's: over all numbers of labels that are changed */
static PetscReal FbetaRisk(Data *x)
{
  PetscInt  positives = 0, negatives = 0;
  PetscReal worst = 0, taken = 0;

  for (PetscInt i = 0; i < x->n; i++) {
    if (x->y[i] > 0) x->u[positives++] = x->z[i];
    else x->u[x->n - 1 - negatives++] = x->z[i];
  }
  (void)PetscSortReal(positives, x->u);
  (void)PetscSortReal(negatives, x->u + positives);
  for (PetscInt k = 0; k <= positives; k++) {
    PetscReal given = 0;

    for (PetscInt b = 0; b <= negatives; b++) {
      worst = PetscMax(worst, 1 - 2 * (PetscReal)(positives - k) / (positives - k + b + positives) + (given - taken) / x->n);
      if (b < negatives) given += x->u[x->n - 1 - b];
    }
    if (k < positives) taken += x->u[k];
  }
  return worst;
}

static PetscErrorCode Fill(Vec v, const PetscReal from[])
{
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = from[i];
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a solver whose scores are where a type of matrix has its vectors */
static PetscErrorCode Prepare(const Data *x, int loss, MatType type, BMRM *b)
{
  Mat X;
  Vec y, q;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &X));
  PetscCall(MatSetSizes(X, x->n, 1, x->n, 1));
  PetscCall(MatSetType(X, type));
  PetscCall(MatSeqAIJSetPreallocation(X, 1, NULL));
  for (PetscInt i = 0; i < x->n; i++) PetscCall(MatSetValue(X, i, 0, x->f[i], INSERT_VALUES));
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(X, NULL, &y));
  PetscCall(VecDuplicate(y, &q));
  PetscCall(Fill(y, x->y));
  PetscCall(Fill(q, x->query));
  PetscCall(BMRMCreate(PETSC_COMM_SELF, b));
  PetscCall(BMRMSetData(*b, X, y));
  PetscCall(BMRMSetQueries(*b, q));
  PetscCall(BMRMSetLossType(*b, names[loss]));
  PetscCall(BMRMSetUp(*b));
  PetscCall(Fill((*b)->f, x->f));
  PetscCall(Fill((*b)->e, x->e));
  PetscCall(MatDestroy(&X));
  PetscCall(VecDestroy(&q));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* risk, offset and slope, seconds that each took, and the cut's slopes in b->r[0]; the last of some times */
static PetscErrorCode Evaluate(BMRM b, int times, PetscReal of[3], PetscLogDouble seconds[3])
{
  const PetscReal at = PLACE;
  PetscReal       d[2];
  BMRMLoss        l = b->loss;
  PetscLogDouble  t[4];

  PetscFunctionBegin;
  for (int again = 0; again < times; again++) {
    PetscCall(PetscObjectStateIncrease((PetscObject)b->f));
    PetscCall(PetscTime(&t[0]));
    PetscCall((*l->ops->risk)(l, b->f, b->e, at, b->labels, &of[0]));
    PetscCall(PetscTime(&t[1]));
    PetscCall((*l->ops->cut)(l, b->f, b->e, at, b->labels, 1, 0, b->r[0], &of[1]));
    PetscCall(PetscTime(&t[2]));
    PetscCall((*l->ops->slopes)(l, b->f, b->e, 1, &at, b->labels, d));
    PetscCall(PetscTime(&t[3]));
  }
  of[2] = d[0];
  for (int k = 0; k < 3; k++) seconds[k] = t[k + 1] - t[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Agree(const char loss[], const char what[], PetscReal a, PetscReal b, PetscReal scale)
{
  PetscFunctionBegin;
  PetscCheck(PetscAbsReal(a - b) <= 1e-11 * scale, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s: %.17g, expected %.17g", loss, what, (double)a, (double)b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the cut and the slope belong to the risk; where the slopes of a cut are known they are these */
static PetscErrorCode Check(Data *x, int loss, BMRM b, const PetscReal of[3], const PetscReal u[])
{
  const PetscScalar *r;
  PetscReal          value = of[1], slope = 0, largest = 0;

  PetscFunctionBegin;
  PetscCall(VecGetArrayRead(b->r[0], &r));
  for (PetscInt i = 0; i < x->n; i++) {
    value += PetscRealPart(r[i]) * x->z[i];
    slope += PetscRealPart(r[i]) * x->e[i];
    largest = PetscMax(largest, PetscAbsScalar(r[i]));
  }
  for (PetscInt i = 0; u && i < x->n; i++) PetscCall(Agree(names[loss], "slope of an example", PetscRealPart(r[i]), u[i], largest));
  PetscCall(VecRestoreArrayRead(b->r[0], &r));
  PetscCall(Agree(names[loss], "cut", value, of[0], 1 + of[0]));
  PetscCall(Agree(names[loss], "slope", of[2], slope, 1 + PetscAbsReal(slope)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test(Data *x, int loss, MatType type, PetscBool tell)
{
  const int          times = tell ? 2 : 1; /* the first may take memory and load kernels */
  PetscReal          of[3], host[3], risk;
  PetscLogDouble     seconds[3], hostseconds[3];
  const PetscScalar *r;
  BMRM               b[2];

  PetscFunctionBegin;
  Make(x, loss);
  PetscCall(Prepare(x, loss, type, &b[0]));
  PetscCall(Prepare(x, loss, MATAIJ, &b[1]));
  PetscCall(Evaluate(b[0], times, of, seconds));
  PetscCall(Evaluate(b[1], times, host, hostseconds));
  PetscCall(Agree(names[loss], "risk, on the host", of[0], host[0], 1 + host[0]));
  PetscCall(VecGetArrayRead(b[1]->r[0], &r));
  PetscCall(Check(x, loss, b[0], of, loss == 1 ? NULL : r)); /* several labellings can be as bad */
  PetscCall(VecRestoreArrayRead(b[1]->r[0], &r));
  if (x->n <= MOST) {
    risk = loss == 1 ? FbetaRisk(x) : PairRisk(x, (PetscBool)(loss == 2), (PetscBool)(loss == 3));
    PetscCall(Agree(names[loss], "risk", of[0], risk, 1 + risk));
    PetscCall(Check(x, loss, b[0], of, loss == 1 ? NULL : x->u));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: right\n", names[loss]));
  if (tell)
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s,%" PetscInt_FMT ",risk %.6f,cut %.6f,slope %.6f,on the host: risk %.6f,cut %.6f,slope %.6f\n", names[loss], x->n, seconds[0], seconds[1], seconds[2], hostseconds[0], hostseconds[1], hostseconds[2]));
  PetscCall(BMRMDestroy(&b[0]));
  PetscCall(BMRMDestroy(&b[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      type[64] = MATAIJ;
  PetscBool tell     = PETSC_FALSE;
  Data      x        = {.n = 1500};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &x.n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-time", &tell, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscMalloc6(x.n, &x.f, x.n, &x.e, x.n, &x.y, x.n, &x.query, x.n, &x.z, x.n, &x.u));
  for (int loss = 0; loss < 4; loss++) PetscCall(Test(&x, loss, type, tell));
  PetscCall(PetscFree6(x.f, x.e, x.y, x.query, x.z, x.u));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: double
      output_file: output/test_lists_1.out
      test:
         suffix: 1
      test:
         suffix: gpu
         args: -type gpucsr -mat_gpucsr_vec_type gpu -vec_gpu_separate -n {{20 37 1100}}

TEST*/
