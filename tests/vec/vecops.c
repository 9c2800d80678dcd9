static char help[] = "Every operation of a VECGPU, compared with that of a standard vector: sizes from 0 to many thread blocks, operands of another type, zero factors.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"

#define MANY 19 /* number of vectors: more than two launches of a kernel for several vectors */

/* the same values in standard vectors and in vectors of type gpu */
typedef struct {
  Vec a[4], b[4]; /* a: standard, b: gpu */
  Vec manya[MANY], manyb[MANY];
} Pair;

static PetscRandom Rnd;
static int         Checks = 0;

static PetscErrorCode Create(PetscInt n, Pair *p)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, &p->a[0]));
  PetscCall(VecSetSizes(p->a[0], PETSC_DECIDE, n));
  PetscCall(VecSetType(p->a[0], VECSTANDARD));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &p->b[0]));
  PetscCall(VecSetSizes(p->b[0], PETSC_DECIDE, n));
  PetscCall(VecSetType(p->b[0], VECGPU));
  for (int k = 1; k < 4; k++) {
    PetscCall(VecDuplicate(p->a[0], &p->a[k]));
    PetscCall(VecDuplicate(p->b[0], &p->b[k]));
  }
  for (int k = 0; k < MANY; k++) {
    PetscCall(VecDuplicate(p->a[0], &p->manya[k]));
    PetscCall(VecDuplicate(p->b[0], &p->manyb[k]));
    PetscCall(VecSetRandom(p->manya[k], Rnd));
    PetscCall(VecCopy(p->manya[k], p->manyb[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Pair *p)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 4; k++) {
    PetscCall(VecDestroy(&p->a[k]));
    PetscCall(VecDestroy(&p->b[k]));
  }
  for (int k = 0; k < MANY; k++) {
    PetscCall(VecDestroy(&p->manya[k]));
    PetscCall(VecDestroy(&p->manyb[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets random values, some of them zero. */
static PetscErrorCode Reset(Pair *p)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < 4; k++) {
    PetscScalar *a;
    PetscInt     n;

    PetscCall(VecSetRandom(p->a[k], Rnd));
    PetscCall(VecGetLocalSize(p->a[k], &n));
    PetscCall(VecGetArray(p->a[k], &a));
    for (PetscInt i = 0; i < n; i++) a[i] = (i + k) % 11 == 3 ? 0 : a[i] - 0.4;
    PetscCall(VecRestoreArray(p->a[k], &a));
    PetscCall(VecCopy(p->a[k], p->b[k])); /* from standard to gpu */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* tolerance: in rounding errors of numbers up to 10. 0: the values must be bitwise equal. */
static PetscErrorCode Same(const char what[], Vec expected, Vec got, PetscReal tolerance)
{
  const PetscScalar *e, *g;
  PetscInt           n;
  PetscReal          error = 0;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(expected, &n));
  PetscCall(VecGetArrayRead(expected, &e));
  PetscCall(VecGetArrayRead(got, &g));
  for (PetscInt i = 0; i < n; i++) error = PetscMax(error, PetscAbsScalar(e[i] - g[i]));
  for (PetscInt i = 0; i < n; i++) PetscCheck(g[i] == g[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %" PetscInt_FMT " is not a number", what, i);
  PetscCall(VecRestoreArrayRead(expected, &e));
  PetscCall(VecRestoreArrayRead(got, &g));
  PetscCheck(error <= tolerance * 4e-15, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: differs by %g", what, (double)error);
  Checks++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Number(const char what[], PetscScalar expected, PetscScalar got, PetscReal scale)
{
  PetscFunctionBeginUser;
  PetscCheck(PetscAbsScalar(expected - got) <= 1e-14 * scale, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %.17g, not %.17g", what, (double)got, (double)expected);
  Checks++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the call with the standard vectors v = p->a, then with the gpu vectors v = p->b. The vector w must have the same values afterwards. */
#define Both(tolerance, w, call) \
  do { \
    Vec *v = p->a, *many = p->manya; \
    (void)many; \
    PetscCall(Reset(p)); \
    PetscCall(call); \
    v    = p->b; \
    many = p->manyb; \
    PetscCall(call); \
    PetscCall(Same(#call, p->a[w], p->b[w], tolerance)); \
  } while (0)

/* As Both(), but the second operand of the gpu vector is a standard vector. */
#define Foreign(tolerance, w, call) \
  do { \
    Vec *v = p->a, *f = p->a, *many = p->manya; \
    (void)f, (void)many; \
    PetscCall(Reset(p)); \
    PetscCall(call); \
    PetscCall(VecCopy(p->b[1], p->a[1])); \
    PetscCall(VecCopy(p->b[2], p->a[2])); \
    v = p->b; \
    PetscCall(call); \
    PetscCall(Same(#call, p->a[w], p->b[w], tolerance)); \
  } while (0)

static PetscErrorCode TestElementwise(Pair *p)
{
  PetscScalar alpha[MANY];

  PetscFunctionBeginUser;
  for (int k = 0; k < MANY; k++) alpha[k] = k % 5 == 4 ? 0 : 0.3 * k - 2;
  Both(0, 0, VecSet(v[0], 3.5));
  Both(0, 0, VecSet(v[0], 0));
  Both(0, 0, VecZeroEntries(v[0]));
  Both(0, 0, VecCopy(v[1], v[0]));
  Both(0, 0, VecSwap(v[0], v[1]));
  Both(0, 1, VecSwap(v[0], v[1]));
  Both(0, 0, VecScale(v[0], -1.7));
  Both(0, 0, VecScale(v[0], 0));
  Both(0, 0, VecShift(v[0], 0.3));
  Both(1, 0, VecAXPY(v[0], 1.3, v[1]));
  Both(0, 0, VecAXPY(v[0], -1, v[1]));
  Both(1, 0, VecAYPX(v[0], 1.3, v[1]));
  Both(0, 0, VecAYPX(v[0], 0, v[1]));
  Both(0, 0, VecAYPX(v[0], 1, v[1]));
  Both(0, 0, VecAYPX(v[0], -1, v[1]));
  Both(1, 0, VecAXPBY(v[0], 1.3, -0.7, v[1]));
  Both(0, 0, VecAXPBY(v[0], 1.3, 0, v[1]));
  Both(0, 0, VecAXPBY(v[0], 0, 1.1, v[1]));
  Both(1, 0, VecAXPBYPCZ(v[0], 1.3, -0.7, 0.2, v[1], v[2]));
  Both(1, 0, VecAXPBYPCZ(v[0], 1, -0.7, 1, v[1], v[2]));
  Both(1, 0, VecAXPBYPCZ(v[0], 1.3, -0.7, 0, v[1], v[2]));
  Both(1, 0, VecWAXPY(v[0], 1.3, v[1], v[2]));
  Both(0, 0, VecWAXPY(v[0], 0, v[1], v[2]));
  Both(0, 0, VecWAXPY(v[0], 1, v[1], v[2]));
  Both(0, 0, VecWAXPY(v[0], -1, v[1], v[2]));
  Both(8, 0, VecMAXPY(v[0], 1, alpha, many));
  Both(8, 0, VecMAXPY(v[0], 8, alpha, many));
  Both(40, 0, VecMAXPY(v[0], MANY, alpha, many));
  Both(0, 0, VecPointwiseMult(v[0], v[1], v[2]));
  Both(0, 0, VecPointwiseMult(v[0], v[0], v[2]));
  Both(0, 0, VecPointwiseMult(v[0], v[1], v[0]));
  Both(0, 0, VecPointwiseMult(v[0], v[0], v[0]));
  Both(0, 0, VecPointwiseDivide(v[0], v[1], v[2]));
  Both(0, 0, VecPointwiseDivide(v[0], v[0], v[2]));
  Both(0, 0, VecPointwiseDivide(v[0], v[0], v[0]));
  Both(0, 0, VecPointwiseMax(v[0], v[1], v[2]));
  Both(0, 0, VecPointwiseMin(v[0], v[1], v[2]));
  Both(0, 0, VecPointwiseMaxAbs(v[0], v[1], v[2]));
  Both(0, 0, VecReciprocal(v[0]));
  Both(0, 0, VecAbs(v[0]));
  Both(0, 0, VecSqrtAbs(v[0]));
  Both(0, 0, VecConjugate(v[0]));
  Both(0, 0, VecExp(v[0])); /* has no kernel and runs on the host */
  Foreign(1, 0, VecAXPY(v[0], 1.3, f[1]));
  Foreign(1, 0, VecAYPX(v[0], 1.3, f[1]));
  Foreign(1, 0, VecAXPBY(v[0], 1.3, -0.7, f[1]));
  Foreign(1, 0, VecAXPBYPCZ(v[0], 1.3, -0.7, 0.2, v[1], f[2]));
  Foreign(1, 0, VecWAXPY(v[0], 1.3, f[1], v[2]));
  Foreign(0, 0, VecCopy(f[1], v[0]));
  Foreign(0, 0, VecPointwiseMult(v[0], v[1], f[2]));
  Foreign(40, 0, VecMAXPY(v[0], MANY, alpha, many));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reductions of gpu vectors, compared with standard vectors. A repetition must give the same bits, and standard operands the same value. */
static PetscErrorCode TestSums(Pair *p)
{
  PetscScalar e[2], g[2], again[2], ge[MANY], gg[MANY], gagain[MANY];
  PetscReal   norm[2], gnorm[2], nm;
  NormType    types[] = {NORM_1, NORM_2, NORM_FROBENIUS, NORM_INFINITY, NORM_1_AND_2};

  PetscFunctionBeginUser;
  PetscCall(Reset(p));
  PetscCall(VecNorm(p->a[0], NORM_2, &nm));
  nm = 1 + nm * nm;
#define Sum(call) \
  do { \
    Vec         *v = p->a, *f = p->a; \
    PetscScalar *r = e; \
    (void)f; \
    e[1] = g[1] = again[1] = 0; \
    PetscCall(call); \
    v = f = p->b; \
    r     = g; \
    PetscCall(call); \
    r = again; \
    PetscCall(call); \
    for (int t = 0; t < 2; t++) PetscCall(Number(#call, e[t], g[t], 4 * nm)); \
    PetscCheck(g[0] == again[0] && g[1] == again[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %.17g, then %.17g", #call, (double)g[0], (double)again[0]); \
    f = p->a; \
    PetscCall(call); \
    PetscCall(Number(#call, e[0], again[0], 4 * nm)); \
  } while (0)
  Sum(VecDot(v[0], f[1], r));
  Sum(VecTDot(v[0], f[1], r));
  Sum(VecSum(v[0], r));
  Sum(VecDotNorm2(v[0], f[1], r, r + 1));
  Sum(VecDot(v[0], v[0], r));
  for (int k = 0; k < 5; k++) {
    norm[1] = gnorm[1] = 0;
    PetscCall(VecNorm(p->a[2], types[k], norm));
    PetscCall(VecNorm(p->b[2], types[k], gnorm));
    for (int t = 0; t < 2; t++) PetscCall(Number(NormTypes[types[k]], norm[t], gnorm[t], types[k] == NORM_INFINITY ? 0 : nm + 4 * norm[0]));
  }
  for (int many = 1; many <= MANY; many += 6) {
    PetscCall(VecMDot(p->a[0], many, p->manya, ge));
    PetscCall(VecMDot(p->b[0], many, p->manyb, gg));
    PetscCall(VecMTDot(p->b[0], many, p->manyb, gagain));
    for (int j = 0; j < many; j++) PetscCall(Number("VecMDot", ge[j], gg[j], 4 * nm));
    for (int j = 0; j < many; j++) PetscCheck(gg[j] == gagain[j], PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecMDot: two runs differ");
    PetscCall(VecMDot(p->b[0], many, p->manya, gg));
    for (int j = 0; j < many; j++) PetscCall(Number("VecMDot with standard vectors", ge[j], gg[j], 4 * nm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSplit(Pair *p)
{
  PetscScalar e[3 + MANY], g[3 + MANY];

  PetscFunctionBeginUser;
  PetscCall(Reset(p));
  for (int side = 0; side < 2; side++) {
    Vec         *v = side ? p->b : p->a, *many = side ? p->manyb : p->manya;
    PetscScalar *r = side ? g : e;
    PetscReal    n1, ni;

    PetscCall(VecDotBegin(v[0], v[1], r));
    PetscCall(VecTDotBegin(v[1], v[2], r + 1));
    PetscCall(VecNormBegin(v[0], NORM_2, &n1));
    PetscCall(VecMDotBegin(v[2], MANY, many, r + 3));
    PetscCall(VecDotEnd(v[0], v[1], r));
    PetscCall(VecTDotEnd(v[1], v[2], r + 1));
    PetscCall(VecNormEnd(v[0], NORM_2, &n1));
    PetscCall(VecMDotEnd(v[2], MANY, many, r + 3));
    PetscCall(VecNormBegin(v[3], NORM_INFINITY, &ni));
    PetscCall(VecNormEnd(v[3], NORM_INFINITY, &ni));
    r[2] = n1 + ni;
  }
  for (int k = 0; k < 3 + MANY; k++) PetscCall(Number("split reductions", e[k], g[k], 1 + 10 * PetscAbsScalar(e[k]) + 1000));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestExtremes(Pair *p)
{
  PetscReal e, g, h;
  PetscInt  i, j, n, start, end;

  PetscFunctionBeginUser;
  PetscCall(Reset(p));
  PetscCall(VecGetSize(p->a[0], &n));
  for (int tie = 0; tie < 2; tie++) {
    if (tie && n > 3) { /* of equal values the first one is returned */
      PetscCall(VecGetOwnershipRange(p->a[0], &start, &end));
      for (int side = 0; side < 2; side++) {
        Vec            x    = side ? p->b[0] : p->a[0];
        const PetscInt at[] = {n - 1, n / 2, n - 2, 1};

        for (int k = 0; k < 4; k++)
          if (at[k] >= start && at[k] < end) PetscCall(VecSetValue(x, at[k], k < 2 ? 7 : -7, INSERT_VALUES));
        PetscCall(VecAssemblyBegin(x));
        PetscCall(VecAssemblyEnd(x));
      }
    }
    for (int most = 0; most < 2; most++) {
      PetscCall(most ? VecMax(p->a[0], &i, &e) : VecMin(p->a[0], &i, &e));
      PetscCall(most ? VecMax(p->b[0], &j, &g) : VecMin(p->b[0], &j, &g));
      PetscCall(most ? VecMax(p->b[0], NULL, &h) : VecMin(p->b[0], NULL, &h));
      PetscCheck(e == g && e == h && (i == j || !n), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is %g at %" PetscInt_FMT ", not %g at %" PetscInt_FMT, most ? "VecMax" : "VecMin", (double)g, j, (double)e, i);
    }
  }
  PetscCall(VecMaxPointwiseDivide(p->a[1], p->a[2], &e));
  PetscCall(VecMaxPointwiseDivide(p->b[1], p->b[2], &g));
  PetscCall(VecMaxPointwiseDivide(p->b[1], p->a[2], &h));
  PetscCheck(e == g && e == h, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecMaxPointwiseDivide is %g, %g, not %g", (double)g, (double)h, (double)e);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VecSetRandom() gives the same sequence. A NaN appears in norms. */
static PetscErrorCode TestSpecial(Pair *p)
{
  PetscRandom r;
  PetscReal   norm;
  PetscScalar sum;
  PetscInt    n;

  PetscFunctionBeginUser;
  for (int side = 0; side < 2; side++) {
    PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &r));
    PetscCall(PetscRandomSetType(r, PETSCRAND48));
    PetscCall(VecSetRandom(side ? p->b[0] : p->a[0], r));
    PetscCall(PetscRandomDestroy(&r));
  }
  PetscCall(Same("VecSetRandom", p->a[0], p->b[0], 0));
  PetscCall(VecGetSize(p->b[0], &n));
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSet(p->b[0], 1));
  PetscCall(VecSetValue(p->b[0], n / 2, NAN, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(p->b[0]));
  PetscCall(VecAssemblyEnd(p->b[0]));
  PetscCall(VecNorm(p->b[0], NORM_2, &norm));
  PetscCheck(norm != norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The norm of a vector with a NaN is not NaN");
  PetscCall(VecScale(p->b[0], 0)); /* PETSc scales the cached norm, which would stay NaN */
  PetscCall(VecSum(p->b[0], &sum));
  PetscCheck(sum == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "After VecScale() by zero the norm is %g", (double)sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt sizes[] = {0, 1, 2, 31, 257, 1000, 5003, 300007};

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &Rnd));
  PetscCall(PetscRandomSetFromOptions(Rnd));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++) {
    Pair p;

    PetscCall(Create(sizes[s], &p));
    PetscCall(TestElementwise(&p));
    PetscCall(TestSums(&p));
    PetscCall(TestSplit(&p));
    PetscCall(TestExtremes(&p));
    PetscCall(TestSpecial(&p));
    PetscCall(Destroy(&p));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " entries: equal\n", sizes[s]));
  }
  PetscCall(PetscInfo(NULL, "%d comparisons\n", Checks));
  PetscCall(PetscRandomDestroy(&Rnd));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/vecops.out
      nsize: {{1 2 3}}
      test:
         suffix: 1
      test:
         suffix: separate
         args: -vec_gpu_separate

TEST*/
