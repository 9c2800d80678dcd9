static char help[] = "Operations of PETSc on a VECGPU other than arithmetic: arrays, subvectors, nests, ghosts, scatters, DMs, files, types.\n\n";

#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscdmda.h>

static PetscErrorCode Create(PetscInt n, Vec *x)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_WORLD, x));
  PetscCall(VecSetSizes(*x, PETSC_DECIDE, n));
  PetscCall(VecSetType(*x, VECGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets x[i] = i on the host. */
static PetscErrorCode Count(Vec x)
{
  PetscScalar *a;
  PetscInt     start, n;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &start, NULL));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = start + i;
  PetscCall(VecRestoreArray(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks x[i] = a + b i on the host and, through a sum, on the device. */
static PetscErrorCode Check(const char what[], Vec x, PetscScalar a, PetscScalar b)
{
  const PetscScalar *v;
  PetscScalar        sum, expected;
  PetscInt           start, n, N;

  PetscFunctionBeginUser;
  PetscCall(VecGetSize(x, &N));
  PetscCall(VecSum(x, &sum));
  expected = a * N + b * 0.5 * N * (N - 1);
  PetscCheck(PetscAbsScalar(sum - expected) <= 1e-12 * (1 + PetscAbsScalar(expected)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the sum is %g, not %g", what, (double)sum, (double)expected);
  PetscCall(VecGetOwnershipRange(x, &start, NULL));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &v));
  for (PetscInt i = 0; i < n; i++) PetscCheck(PetscAbsScalar(v[i] - a - b * (start + i)) < 1e-12 * (1 + N), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %" PetscInt_FMT " is %g", what, start + i, (double)v[i]);
  PetscCall(VecRestoreArrayRead(x, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Norm(const char what[], Vec x, PetscReal expected)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(x, NORM_INFINITY, &norm));
  PetscCheck(PetscAbsReal(norm - expected) < 1e-12 * (1 + expected), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the norm is %g, not %g", what, (double)norm, (double)expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Done(const char what[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: right\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Use on host and device in turn. Cached norms are invalidated. A new vector is zero, whether it is read first on the host or on the device. */
static PetscErrorCode TestSides(void)
{
  Vec                x, y;
  const PetscScalar *r;
  PetscScalar       *w, v;
  PetscInt           n, i = 0, start;

  PetscFunctionBeginUser;
  PetscCall(Create(40, &x));
  PetscCall(Norm("a fresh vector", x, 0));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecAbs(x)); /* first use on the device */
  PetscCall(Check("zero on the device", x, 0, 0));
  PetscCall(Check("zero on the host", y, 0, 0));
  PetscCall(Count(x));
  PetscCall(Norm("written by the host", x, 39));
  PetscCall(VecScale(x, 2));
  PetscCall(Norm("scaled on the device", x, 78));
  PetscCall(Check("scaled on the device", x, 0, 2));
  PetscCall(VecShift(x, 3));
  PetscCall(Norm("VecShift", x, 81));
  PetscCall(VecGetArrayRead(x, &r));
  PetscCall(VecRestoreArrayRead(x, &r));
  PetscCall(VecAbs(x));
  PetscCall(VecReciprocal(x));
  PetscCall(Norm("VecReciprocal", x, 1.0 / 3));
  PetscCall(VecReciprocal(x));
  PetscCall(VecGetOwnershipRange(x, &start, NULL));
  if (!start) PetscCall(VecSetValue(x, 0, 500, ADD_VALUES)); /* written on the host, by another rank too */
  PetscCall(VecSetValue(x, 39, 1000, ADD_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(VecPointwiseMult(y, x, x));
  if (!start) {
    PetscCall(VecGetValues(x, 1, &i, &v));
    PetscCheck(PetscAbsScalar(v - 503) < 1e-10, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecGetValues gives %g", (double)v);
  }
  /* VecGetArrayWrite() keeps the values, because some callers rely on that */
  PetscCall(Count(x));
  PetscCall(VecScale(x, 3));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayWrite(x, &w));
  if (n) PetscCheck(w[0] == 3 * start, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecGetArrayWrite lost the values");
  PetscCall(VecRestoreArrayWrite(x, &w));
  PetscCall(Check("VecGetArrayWrite", x, 0, 3));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(Done("host and device in turn"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestArrays(void)
{
  Vec          x, y, z;
  PetscScalar *a, *b;
  PetscInt     n, start;

  PetscFunctionBeginUser;
  PetscCall(Create(30, &x));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &start, NULL));
  PetscCall(PetscMalloc2(n, &a, n, &b));
  for (int first = 0; first < 2; first++) { /* first a new vector, then one whose values are on the device */
    for (PetscInt i = 0; i < n; i++) a[i] = start + i;
    PetscCall(VecPlaceArray(x, a));
    PetscCall(Check("VecPlaceArray", x, 0, 1));
    PetscCall(VecScale(x, 5));
    PetscCall(Norm("VecPlaceArray", x, 145));
    PetscCall(VecResetArray(x));
    for (PetscInt i = 0; i < n; i++) PetscCheck(a[i] == 5 * (start + i), PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecResetArray left %g in the user's array", (double)a[i]);
    PetscCall(Check("VecResetArray", x, first ? 8 : 0, 0));
    PetscCall(VecSet(x, 8));
  }
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  for (PetscInt i = 0; i < n; i++) a[i] = 1, b[i] = 2;
  PetscCall(VecPlaceArray(x, a));
  PetscCall(VecPlaceArray(y, b));
  PetscCall(VecAXPY(y, 10, x));
  PetscCall(VecSwap(x, y));
  PetscCall(VecWAXPY(z, 1, x, y));
  PetscCall(VecResetArray(x));
  PetscCall(VecResetArray(y));
  for (PetscInt i = 0; i < n; i++) PetscCheck(a[i] == 12 && b[i] == 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecSwap in placed arrays");
  PetscCall(Check("placed arrays", z, 13, 0));
  PetscCall(Check("after placed arrays", x, 8, 0));
  PetscCall(PetscFree2(a, b));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = 7 + start + i;
  PetscCall(VecReplaceArray(x, a));
  PetscCall(Check("VecReplaceArray", x, 7, 1));
  PetscCall(VecScale(x, 2));
  PetscCall(Check("VecReplaceArray", x, 14, 2));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(Done("placed and replaced arrays"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Contiguous subvectors and every other entry, read only and changed on the device, and two at once. */
static PetscErrorCode TestSubvectors(void)
{
  Vec      x, s, t;
  IS       whole[2], odd, low, high;
  PetscInt n, start;

  PetscFunctionBeginUser;
  PetscCall(Create(24, &x));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &start, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, n, start, 1, &whole[0]));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, n / 2, start, 2, &odd));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, n / 2, start, 1, &low));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, n - n / 2, start + n / 2, 1, &high));
  whole[1] = odd;
  for (int k = 0; k < 2; k++) {
    PetscCall(Count(x));
    PetscCall(VecShift(x, 1)); /* the newest values are on the device */
    PetscCall(VecGetSubVector(x, whole[k], &s));
    PetscCall(Norm("VecGetSubVector", s, k ? 23 : 24));
    PetscCall(VecRestoreSubVector(x, whole[k], &s));
    PetscCall(Check("VecRestoreSubVector unchanged", x, 1, 1));
    PetscCall(VecGetSubVector(x, whole[k], &s));
    PetscCall(VecScale(s, -2));
    PetscCall(VecRestoreSubVector(x, whole[k], &s));
    PetscCall(Norm("VecRestoreSubVector", x, k ? 46 : 48));
    if (!k) PetscCall(Check("VecRestoreSubVector", x, -2, -2));
  }
  PetscCall(VecSet(x, 1));
  PetscCall(VecGetSubVector(x, low, &s));
  PetscCall(VecGetSubVector(x, high, &t));
  PetscCall(VecScale(s, 3));
  PetscCall(VecScale(t, 3));
  PetscCall(VecRestoreSubVector(x, high, &t));
  PetscCall(VecRestoreSubVector(x, low, &s));
  PetscCall(Check("two subvectors", x, 3, 0));
  PetscCall(VecDuplicate(x, &s)); /* the duplicate has all operations */
  PetscCall(VecGetSubVector(x, low, &t));
  PetscCall(VecRestoreSubVector(x, low, &t));
  PetscCall(VecDestroy(&s));
  PetscCall(ISDestroy(&whole[0]));
  PetscCall(ISDestroy(&odd));
  PetscCall(ISDestroy(&low));
  PetscCall(ISDestroy(&high));
  PetscCall(VecDestroy(&x));
  PetscCall(Done("subvectors"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestNest(void)
{
  Vec         x[2], nest, other;
  PetscReal   norm;
  PetscScalar dot, *a;
  PetscInt    n;

  PetscFunctionBeginUser;
  PetscCall(Create(10, &x[0]));
  PetscCall(Create(15, &x[1]));
  PetscCall(VecCreateNest(PETSC_COMM_WORLD, 2, NULL, x, &nest));
  PetscCall(VecSet(nest, 2));
  PetscCall(VecDuplicate(nest, &other));
  PetscCall(VecSet(other, 3));
  PetscCall(VecAXPY(other, 2, nest));
  PetscCall(VecDot(nest, other, &dot));
  PetscCall(VecNorm(other, NORM_2, &norm));
  PetscCheck(dot == 350 && PetscAbsReal(norm - 35) < 1e-12, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecNest: %g %g", (double)dot, (double)norm);
  PetscCall(VecGetLocalSize(nest, &n));
  PetscCall(VecGetArray(nest, &a)); /* gets a copy, which is written back afterwards */
  for (PetscInt i = 0; i < n; i++) a[i] += 5;
  PetscCall(VecRestoreArray(nest, &a));
  PetscCall(Check("VecNest", x[0], 7, 0));
  PetscCall(Check("VecNest", x[1], 7, 0));
  PetscCall(VecDestroy(&nest));
  PetscCall(VecDestroy(&other));
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));
  PetscCall(Done("nest"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ghosted vectors of PETSc's types, used together with gpu vectors. */
static PetscErrorCode TestGhost(void)
{
  Vec         g, x, local;
  PetscMPIInt rank, size;
  PetscInt    ghost, n = 6;
  PetscReal   norm;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  ghost = ((rank + 1) % size) * n;
  PetscCall(VecCreateGhost(PETSC_COMM_WORLD, n, PETSC_DECIDE, 1, &ghost, &g));
  PetscCall(Create(n * size, &x));
  PetscCall(Count(x));
  PetscCall(VecShift(x, 1));
  PetscCall(VecCopy(x, g)); /* gpu to ghosted */
  PetscCall(VecGhostUpdateBegin(g, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGhostUpdateEnd(g, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGhostGetLocalForm(g, &local));
  PetscCall(VecNorm(local, NORM_INFINITY, &norm));
  PetscCall(VecGhostRestoreLocalForm(g, &local));
  PetscCheck(norm == PetscMax((rank + 1) * n, ghost + 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The ghosted norm is %g", (double)norm);
  PetscCall(VecScale(g, 2));
  PetscCall(VecAXPY(x, 1, g)); /* ghosted to gpu */
  PetscCall(Check("ghosted to gpu", x, 3, 3));
  PetscCall(VecAXPY(g, 1, x));
  PetscCall(VecCopy(g, x));
  PetscCall(Check("ghosted to gpu", x, 5, 5));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&x));
  PetscCall(Done("ghosted vectors"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestScatter(void)
{
  Vec        x, y, all;
  IS         from, to;
  VecScatter scatter;
  PetscInt   n, start, N = 20;
  PetscReal  norm;

  PetscFunctionBeginUser;
  PetscCall(Create(N, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(Count(x));
  PetscCall(VecScale(x, 2));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &start, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, n, N - 1 - start, -1, &from)); /* reverse order, across ranks */
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, n, start, 1, &to));
  PetscCall(VecScatterCreate(x, from, y, to, &scatter));
  PetscCall(VecScatterBegin(scatter, x, y, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, y, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(Check("VecScatter forward", y, 2 * (N - 1), -2));
  PetscCall(VecScale(y, 3));
  PetscCall(VecScatterBegin(scatter, y, x, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(scatter, y, x, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(Check("VecScatter reverse and add", x, 0, 8));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecScatterCreateToAll(x, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecNorm(all, NORM_INFINITY, &norm));
  PetscCheck(norm == 8 * (N - 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecScatterCreateToAll");
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscCall(ISDestroy(&from));
  PetscCall(ISDestroy(&to));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(Done("scatters"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLocal(void)
{
  PetscFunctionBeginUser;
  for (int ours = 0; ours < 2; ours++) {
    Vec       x, l;
    PetscInt  n, start;
    PetscReal norm;

    PetscCall(Create(18, &x));
    PetscCall(Count(x));
    PetscCall(VecShift(x, 1));
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(VecGetOwnershipRange(x, &start, NULL));
    if (ours) {
      PetscCall(VecCreate(PETSC_COMM_SELF, &l));
      PetscCall(VecSetSizes(l, n, n));
      PetscCall(VecSetType(l, VECGPU));
    } else PetscCall(VecCreateLocalVector(x, &l));
    PetscCall(VecGetLocalVectorRead(x, l));
    PetscCall(VecNorm(l, NORM_INFINITY, &norm));
    PetscCheck(norm == start + n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecGetLocalVectorRead: %g", (double)norm);
    PetscCall(VecRestoreLocalVectorRead(x, l));
    PetscCall(VecGetLocalVector(x, l));
    PetscCall(VecScale(l, 2));
    PetscCall(VecRestoreLocalVector(x, l));
    PetscCall(Check("VecGetLocalVector", x, 2, 2));
    PetscCall(VecDestroy(&l));
    PetscCall(VecDestroy(&x));
  }
  PetscCall(Done("local vectors"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a periodic grid the 5-point sum of a constant vector is 5 times the constant. */
static PetscErrorCode TestDM(void)
{
  DM            da;
  Vec           x, y, l, *several;
  PetscScalar **in, **out;
  PetscInt      xs, ys, xm, ym;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_STAR, 12, 9, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetVecType(da, VECGPU));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(VecDuplicate(x, &y)); /* calls the operation that the DM has replaced */
  PetscCall(DMGetLocalVector(da, &l));
  PetscCall(VecSet(x, 3));
  PetscCall(DMGlobalToLocalBegin(da, x, INSERT_VALUES, l));
  PetscCall(DMGlobalToLocalEnd(da, x, INSERT_VALUES, l));
  PetscCall(VecScale(l, 2));
  PetscCall(DMDAGetCorners(da, &xs, &ys, NULL, &xm, &ym, NULL));
  PetscCall(DMDAVecGetArrayRead(da, l, &in));
  PetscCall(DMDAVecGetArray(da, y, &out));
  for (PetscInt j = ys; j < ys + ym; j++)
    for (PetscInt i = xs; i < xs + xm; i++) out[j][i] = in[j][i] + in[j - 1][i] + in[j + 1][i] + in[j][i - 1] + in[j][i + 1];
  PetscCall(DMDAVecRestoreArrayRead(da, l, &in));
  PetscCall(DMDAVecRestoreArray(da, y, &out));
  PetscCall(VecScale(y, 0.1));
  PetscCall(Check("DMDA", y, 3, 0));
  PetscCall(VecSet(l, 0));
  PetscCall(DMDAVecGetArray(da, l, &out)); /* sets only entries that are not ghosts */
  for (PetscInt j = ys; j < ys + ym; j++)
    for (PetscInt i = xs; i < xs + xm; i++) out[j][i] = 1;
  PetscCall(DMDAVecRestoreArray(da, l, &out));
  PetscCall(VecSet(x, 4));
  PetscCall(DMLocalToGlobal(da, l, ADD_VALUES, x));
  PetscCall(Check("DMLocalToGlobal", x, 5, 0));
  PetscCall(VecDuplicateVecs(x, 3, &several));
  for (int k = 0; k < 3; k++) {
    PetscCall(VecSet(several[k], k));
    PetscCall(Check("VecDuplicateVecs", several[k], k, 0));
  }
  PetscCall(Check("VecDuplicateVecs", several[0], 0, 0));
  PetscCall(VecDestroyVecs(3, &several));
  PetscCall(DMRestoreLocalVector(da, &l));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(DMDestroy(&da));
  PetscCall(Done("DMDA"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFile(void)
{
  Vec         x, y;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(Create(33, &x));
  PetscCall(Count(x));
  PetscCall(VecScale(x, 4));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "vecuse.bin", FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(x, viewer));
  PetscCall(VecShift(x, 1));
  PetscCall(VecView(x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, "vecuse.bin", FILE_MODE_READ, &viewer));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &y));
  PetscCall(VecSetType(y, VECGPU)); /* the type is set before the size */
  PetscCall(VecLoad(y, viewer));
  PetscCall(Check("VecLoad", y, 0, 4));
  PetscCall(VecScale(y, 7));
  PetscCall(VecLoad(y, viewer)); /* overwrites values on the device */
  PetscCall(Check("VecLoad again", y, 1, 4));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(Done("files"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes of the type in both directions, type names, and the option. */
static PetscErrorCode TestTypes(void)
{
  const VecType types[] = {VECSTANDARD, VECGPU, VECSTANDARD, VECGPU, VECGPU};
  Vec           x, y, empty;
  PetscMPIInt   size;
  PetscBool     is;
  PetscInt      n;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, PETSC_DECIDE, 14));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(types); k++) {
    PetscCall(VecSetType(x, types[k]));
    PetscCall(Count(x)); /* older releases of PETSc lose the values */
    PetscCall(VecScale(x, 2));
    PetscCall(Check("VecSetType", x, 0, 2));
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)x, size == 1 ? VECSEQGPU : VECMPIGPU, &is));
  PetscCheck(is, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The type name is wrong");
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecCopy(x, y));
  PetscCall(VecScale(x, 5));
  PetscCall(Check("a duplicate has its own memory", y, 0, 2));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, NULL, &empty)); /* block preconditioners create such a vector */
  PetscCall(VecSetType(empty, VECGPU));
  PetscCall(VecGetLocalVector(x, empty));
  PetscCall(VecScale(empty, 0.1));
  PetscCall(VecRestoreLocalVector(x, empty));
  PetscCall(Check("a vector without an array", x, 0, 1));
  PetscCall(VecDestroy(&empty));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(Done("types"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(TestSides());
  PetscCall(TestArrays());
  PetscCall(TestSubvectors());
  PetscCall(TestNest());
  PetscCall(TestGhost());
  PetscCall(TestScatter());
  PetscCall(TestLocal());
  PetscCall(TestDM());
  PetscCall(TestFile());
  PetscCall(TestTypes());
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      output_file: output/vecuse.out
      nsize: {{1 2 3}}
      test:
         suffix: 1
      test:
         suffix: separate
         args: -vec_gpu_separate

TEST*/
