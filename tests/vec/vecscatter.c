static char help[] =
  "Scatters with VECGPUs give bitwise the same values as with standard vectors: insert modes, directions, blocks, values on the host or on the device, destinations with several sources. Counts the bytes copied between host and device.\n\n";

#include "gpucsr.h"
#include "sys/gpucsrsys.h"
#include <petscdmda.h>
#include <petscsf.h>

static PetscRandom Rnd;
static PetscInt    Checks = 0;

static PetscErrorCode Integer(PetscInt bound, PetscInt *k)
{
  PetscReal r;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomGetValueReal(Rnd, &r));
  *k = PetscMin((PetscInt)(r * bound), bound - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where the newest values of a vector are */
typedef enum {
  STANDARD, /* a standard vector, not of type gpu */
  DEVICE,
  HOST,
  BOTH,
  FRESH, /* the vector was never used */
  PLACES
} Place;

static PetscErrorCode Create(MPI_Comm comm, PetscInt n, PetscInt bs, Place place, Vec *x)
{
  PetscFunctionBeginUser;
  PetscCall(VecCreate(comm, x));
  PetscCall(VecSetSizes(*x, n, PETSC_DETERMINE));
  PetscCall(VecSetBlockSize(*x, bs));
  PetscCall(VecSetType(*x, place == STANDARD ? VECSTANDARD : VECGPU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets values that depend on the seed but not on the place. */
static PetscErrorCode Fill(Vec x, Place place, PetscInt seed)
{
  PetscScalar       *a;
  const PetscScalar *r;
  PetscInt           n, start;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &start, NULL));
  if (place == FRESH) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = PetscSinReal((PetscReal)(start + i + 17 * seed)) / 3;
  PetscCall(VecRestoreArrayWrite(x, &a));
  if (place == DEVICE || place == BOTH) { /* two operations that cancel, since one that changes nothing might be skipped */
    PetscCall(VecScale(x, -1));
    PetscCall(VecScale(x, -1));
  }
  if (place == BOTH) {
    PetscCall(VecGetArrayRead(x, &r));
    PetscCall(VecRestoreArrayRead(x, &r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Same(const char what[], Vec expected, Vec got)
{
  const PetscScalar *e, *g;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(expected, &n));
  PetscCall(VecGetArrayRead(expected, &e));
  PetscCall(VecGetArrayRead(got, &g));
  for (PetscInt i = 0; i < n; i++) PetscCheck(e[i] == g[i], PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %" PetscInt_FMT " is %.17g, not %.17g", what, i, (double)g[i], (double)e[i]);
  PetscCall(VecRestoreArrayRead(expected, &e));
  PetscCall(VecRestoreArrayRead(got, &g));
  Checks++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Scatter(VecScatter s, Vec x, Vec y, InsertMode mode, ScatterMode direction)
{
  PetscFunctionBeginUser;
  PetscCall(VecScatterBegin(s, x, y, mode, direction));
  PetscCall(VecScatterEnd(s, x, y, mode, direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs a scatter with x and y of every kind. unique: no entry receives two values, so that INSERT_VALUES is defined. */
static PetscErrorCode Ways(const char what[], VecScatter s, Vec x0, Vec y0, PetscBool unique)
{
  const InsertMode modes[] = {INSERT_VALUES, ADD_VALUES, MAX_VALUES, MIN_VALUES};
  PetscInt         nx, ny, bs;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x0, &nx));
  PetscCall(VecGetLocalSize(y0, &ny));
  PetscCall(VecGetBlockSize(x0, &bs));
  for (int m = unique ? 0 : 1; m < 4; m++)
    for (int px = STANDARD; px < PLACES; px++)
      for (int py = STANDARD; py < PLACES; py++)
        for (int reverse = 0; reverse < 2; reverse++) {
          if (m > 1 && (px != DEVICE || py != DEVICE)) continue; /* the other operators are tested with values on the device only */
          Vec  v[2][2];                                          /* [standard, tested][x, y] */
          char name[128];

          PetscCall(PetscSNPrintf(name, sizeof(name), "%s, mode %d, from %d to %d%s", what, (int)modes[m], reverse ? py : px, reverse ? px : py, reverse ? ", reverse" : ""));
          for (int k = 0; k < 2; k++) {
            PetscCall(Create(PetscObjectComm((PetscObject)x0), nx, bs, k ? (Place)px : STANDARD, &v[k][0]));
            PetscCall(Create(PetscObjectComm((PetscObject)y0), ny, bs, k ? (Place)py : STANDARD, &v[k][1]));
            PetscCall(Fill(v[k][0], px == FRESH ? FRESH : k ? (Place)px : STANDARD, 1));
            PetscCall(Fill(v[k][1], py == FRESH ? FRESH : k ? (Place)py : STANDARD, 2));
            for (int twice = 0; twice < 2; twice++) { /* the second scatter starts with the result of the first */
              PetscCall(Scatter(s, v[k][reverse], v[k][!reverse], modes[m], reverse ? SCATTER_REVERSE : SCATTER_FORWARD));
            }
            if (unique) PetscCall(Scatter(s, v[k][reverse], v[k][!reverse], modes[m], reverse ? SCATTER_REVERSE_LOCAL : SCATTER_FORWARD_LOCAL)); /* PETSc does not support the other cases */
          }
          for (int k = 0; k < 2; k++) PetscCall(Same(name, v[0][k], v[1][k]));
          for (int k = 0; k < 4; k++) PetscCall(VecDestroy(&v[k / 2][k % 2]));
        }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Permutes an array in place. */
static PetscErrorCode Shuffle(PetscInt n, PetscInt a[])
{
  PetscFunctionBeginUser;
  for (PetscInt i = n - 1; i > 0; i--) {
    PetscInt j, t = a[i];

    PetscCall(Integer(i + 1, &j));
    a[i] = a[j];
    a[j] = t;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A scatter with random edges; some ranks have none. unique: the edges are a part of a permutation. */
static PetscErrorCode TestGeneral(PetscInt nblocks, PetscInt bs, PetscBool unique, PetscBool sequential, const char sftype[])
{
  Vec         x, y;
  IS          from, to;
  VecScatter  s;
  PetscInt   *a, *b, N, M, edges, first;
  PetscMPIInt rank, size;
  char        what[128];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Create(PETSC_COMM_WORLD, bs * (nblocks + (rank ? 3 * rank : 0)), bs, STANDARD, &x));
  PetscCall(Create(sequential ? PETSC_COMM_SELF : PETSC_COMM_WORLD, bs * (nblocks + 2), bs, STANDARD, &y));
  PetscCall(VecGetSize(x, &N));
  PetscCall(VecGetSize(y, &M));
  N /= bs;
  M /= bs;
  /* all ranks draw the same random numbers and take their part */
  edges = unique ? PetscMin(N, sequential ? M * size : M) : 2 * M;
  PetscCall(PetscMalloc2(edges, &a, edges, &b));
  if (unique) {
    PetscInt *p;

    PetscCall(PetscMalloc1(PetscMax(N, M * size), &p));
    for (PetscInt i = 0; i < N; i++) p[i] = i;
    PetscCall(Shuffle(N, p));
    PetscCall(PetscArraycpy(a, p, edges));
    for (PetscInt i = 0; i < M * (sequential ? size : 1); i++) p[i] = i;
    if (!sequential) PetscCall(Shuffle(M, p));
    PetscCall(PetscArraycpy(b, p, edges));
    PetscCall(PetscFree(p));
  } else {
    for (PetscInt i = 0; i < edges; i++) {
      PetscCall(Integer(N, &a[i]));
      PetscCall(Integer(M, &b[i]));
    }
  }
  first = 0;
  if (sequential) { /* each rank scatters to a sequential vector; the second rank has none */
    PetscInt n = 0;

    for (PetscInt i = 0; i < edges; i++)
      if (unique ? b[i] / M == rank : i % size == rank) {
        a[n]   = a[i];
        b[n++] = b[i] % M;
      }
    edges = rank == 1 ? 0 : n;
  } else {
    first = edges * PetscMax(rank - 1, 0) / PetscMax(size - 1, 1); /* the first of several ranks specifies no edges */
    edges = rank || size == 1 ? edges * (size == 1 ? 1 : rank) / PetscMax(size - 1, 1) - first : 0;
  }
  PetscCall(ISCreateBlock(sequential ? PETSC_COMM_SELF : PETSC_COMM_WORLD, bs, edges, a + first, PETSC_COPY_VALUES, &from));
  PetscCall(ISCreateBlock(sequential ? PETSC_COMM_SELF : PETSC_COMM_WORLD, bs, edges, b + first, PETSC_COPY_VALUES, &to));
  if (sftype) PetscCall(PetscOptionsSetValue(NULL, "-sf_type", sftype));
  PetscCall(VecScatterCreate(x, from, y, to, &s));
  if (sftype) PetscCall(PetscOptionsClearValue(NULL, "-sf_type"));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%" PetscInt_FMT " blocks of %" PetscInt_FMT "%s%s %s", nblocks, bs, unique ? ", unique" : "", sequential ? ", to one rank" : "", sftype ? sftype : ""));
  PetscCall(Ways(what, s, x, y, unique));
  PetscCall(VecScatterDestroy(&s));
  PetscCall(ISDestroy(&from));
  PetscCall(ISDestroy(&to));
  PetscCall(PetscFree2(a, b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's PetscSF types for global patterns, which use host arrays. */
static PetscErrorCode TestPatterns(void)
{
  PetscFunctionBeginUser;
  for (int zero = 0; zero < 2; zero++) {
    Vec        x, y;
    VecScatter s;

    PetscCall(Create(PETSC_COMM_WORLD, 7, 1, DEVICE, &x));
    PetscCall(zero ? VecScatterCreateToZero(x, &s, &y) : VecScatterCreateToAll(x, &s, &y));
    PetscCall(Ways(zero ? "to zero" : "to all", s, x, y, PETSC_TRUE));
    PetscCall(VecScatterDestroy(&s));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A scatter within one vector, and a scatter that is remapped between two uses. */
static PetscErrorCode TestRemap(void)
{
  Vec         x[2], y[2];
  IS          from, to;
  VecScatter  s;
  PetscInt    n = 9, N, start, map[2][9], *pick;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (int k = 0; k < 2; k++) {
    PetscCall(Create(PETSC_COMM_WORLD, n, 1, k ? DEVICE : STANDARD, &x[k]));
    PetscCall(Create(PETSC_COMM_WORLD, n, 1, k ? DEVICE : STANDARD, &y[k]));
    PetscCall(Fill(x[k], k ? DEVICE : STANDARD, 3));
    PetscCall(Fill(y[k], k ? DEVICE : STANDARD, 4));
  }
  PetscCall(VecGetSize(x[0], &N));
  PetscCall(VecGetOwnershipRange(x[0], &start, NULL));
  PetscCall(PetscMalloc1(n, &pick));
  for (PetscInt i = 0; i < n; i++) pick[i] = (start + i + n / 2) % N; /* some entries of the next rank */
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, rank == 1 ? 0 : n, pick, PETSC_OWN_POINTER, &from));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, rank == 1 ? 0 : n, start, 1, &to)); /* the second rank receives nothing */
  PetscCall(VecScatterCreate(x[0], from, y[0], to, &s));
  for (PetscInt i = 0; i < n; i++) {
    map[0][i] = n - 1 - i;
    map[1][i] = (i * 2) % n;
  }
  for (int step = 0; step < 4; step++) {
    for (int k = 0; k < 2; k++) {
      PetscCall(Scatter(s, x[k], y[k], ADD_VALUES, SCATTER_FORWARD));
      if (step == 0) PetscCall(Scatter(s, y[k], y[k], ADD_VALUES, SCATTER_FORWARD)); /* INSERT_VALUES could copy an entry onto itself, which PETSc rejects */
    }
    PetscCall(Same("VecScatterRemap()", y[0], y[1]));
    if (step == 1 || step == 2) PetscCall(VecScatterRemap(s, map[step - 1], NULL));
  }
  PetscCall(VecScatterDestroy(&s));
  PetscCall(ISDestroy(&from));
  PetscCall(ISDestroy(&to));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&y[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bytes(double *bytes)
{
  GpDev dev = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscGPUCSRGetDevice(&dev));
  *bytes = GpDevBytesIn(dev) + GpDevBytesOut(dev);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Global-to-local, local-to-global and local-to-local scatters of grids. Only boundary entries may be copied between host and device. */
static PetscErrorCode TestDM(PetscInt dim, PetscInt dof, PetscInt width, DMBoundaryType boundary, DMDAStencilType stencil)
{
  DM        da;
  Vec       g[2], l[2], m[2];
  double    before, after, bytes;
  PetscInt  nl, ng;
  PetscBool separate = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-vec_gpu_separate", &separate, NULL));
  if (dim == 2) PetscCall(DMDACreate2d(PETSC_COMM_WORLD, boundary, boundary, stencil, 13, 17, PETSC_DECIDE, PETSC_DECIDE, dof, width, NULL, NULL, &da));
  else PetscCall(DMDACreate3d(PETSC_COMM_WORLD, boundary, DM_BOUNDARY_NONE, boundary, stencil, 9, 8, 11, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, dof, width, NULL, NULL, NULL, &da));
  PetscCall(DMSetUp(da));
  for (int k = 0; k < 2; k++) {
    PetscCall(DMSetVecType(da, k ? VECGPU : VECSTANDARD));
    PetscCall(DMCreateGlobalVector(da, &g[k]));
    PetscCall(DMCreateLocalVector(da, &l[k]));
    PetscCall(VecDuplicate(l[k], &m[k]));
    PetscCall(Fill(g[k], k ? DEVICE : STANDARD, 5));
    PetscCall(DMGlobalToLocal(da, g[k], INSERT_VALUES, l[k]));
    PetscCall(DMLocalToLocalBegin(da, l[k], INSERT_VALUES, m[k]));
    PetscCall(DMLocalToLocalEnd(da, l[k], INSERT_VALUES, m[k]));
    PetscCall(DMLocalToGlobal(da, m[k], ADD_VALUES, g[k]));
    PetscCall(Bytes(&before));
    PetscCall(DMGlobalToLocal(da, g[k], ADD_VALUES, l[k]));
    PetscCall(DMLocalToLocalBegin(da, m[k], INSERT_VALUES, l[k]));
    PetscCall(DMLocalToLocalEnd(da, m[k], INSERT_VALUES, l[k]));
    PetscCall(DMLocalToGlobal(da, l[k], boundary == DM_BOUNDARY_PERIODIC ? ADD_VALUES : INSERT_VALUES, g[k])); /* on one rank PETSc rejects INSERT_VALUES for a periodic grid */
    PetscCall(DMLocalToGlobal(da, l[k], ADD_VALUES, g[k]));
    PetscCall(Bytes(&after));
  }
  PetscCall(Same("DMGlobalToLocal()", l[0], l[1]));
  PetscCall(Same("DMLocalToLocal()", m[0], m[1]));
  PetscCall(Same("DMLocalToGlobal()", g[0], g[1]));
  PetscCall(VecGetLocalSize(l[0], &nl));
  PetscCall(VecGetLocalSize(g[0], &ng));
  bytes = 4. * 2 * 2 * (double)(nl - ng) * sizeof(PetscScalar); /* four scatters, copies in both directions, and about as many entries sent as received */
  PetscCheck(after - before <= bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Scatters of a DMDA copied %g bytes, expected at most %g", after - before, bytes);
  PetscMPIInt size;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) PetscCheck(after == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Scatters on one rank copied %g bytes", after - before);
  else if (separate) PetscCheck(after > before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Scatters between ranks copied nothing");
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&g[k]));
    PetscCall(VecDestroy(&l[k]));
    PetscCall(VecDestroy(&m[k]));
  }
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A parallel gpu vector, and sequential vectors that are of type gpu on the first rank only. All ranks must use the same communication. */
static PetscErrorCode TestUnlike(void)
{
  Vec         x, y[2];
  IS          all;
  VecScatter  s;
  PetscInt    N;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (int ours = 0; ours < 2; ours++) {
    PetscCall(Create(PETSC_COMM_WORLD, 6, 1, ours ? DEVICE : STANDARD, &x));
    PetscCall(Fill(x, ours ? DEVICE : STANDARD, 6));
    PetscCall(VecGetSize(x, &N));
    PetscCall(Create(PETSC_COMM_SELF, N + 1, 1, STANDARD, &y[0]));
    PetscCall(Create(PETSC_COMM_SELF, N + 1, 1, rank ? STANDARD : DEVICE, &y[1]));
    PetscCall(ISCreateStride(PETSC_COMM_SELF, N, 0, 1, &all));
    PetscCall(VecScatterCreate(x, all, y[0], all, &s));
    for (int k = 0; k < 2; k++) {
      PetscCall(Fill(y[k], k && !rank ? DEVICE : STANDARD, 7));
      PetscCall(Scatter(s, x, y[k], ADD_VALUES, SCATTER_FORWARD));
    }
    PetscCall(Same("unlike vectors", y[0], y[1]));
    for (int k = 0; k < 2; k++) PetscCall(Scatter(s, y[k], x, k ? MAX_VALUES : INSERT_VALUES, SCATTER_REVERSE));
    for (int k = 0; k < 2; k++) PetscCall(Scatter(s, x, y[k], INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(Same("unlike vectors, after the reverse", y[0], y[1]));
    PetscCall(VecScatterDestroy(&s));
    PetscCall(ISDestroy(&all));
    PetscCall(VecDestroy(&x));
    for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&y[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A contiguous subvector shares the memory of its vector and copies nothing. Two subvectors are used, one of them written on the host. */
static PetscErrorCode TestWindows(void)
{
  Vec          x, s[2];
  IS           is[2];
  PetscScalar *a, sum;
  PetscInt     start, N;
  double       before, after;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, 12, 1, DEVICE, &x));
  PetscCall(VecSet(x, 2));
  PetscCall(VecGetSize(x, &N));
  PetscCall(VecGetOwnershipRange(x, &start, NULL));
  for (int k = 0; k < 2; k++) PetscCall(ISCreateStride(PETSC_COMM_WORLD, 6, start + 6 * k, 1, &is[k]));
  PetscCall(Bytes(&before));
  for (int k = 0; k < 2; k++) PetscCall(VecGetSubVector(x, is[k], &s[k]));
  PetscCall(VecAXPY(s[0], 3, s[1]));
  for (int k = 0; k < 2; k++) PetscCall(VecRestoreSubVector(x, is[k], &s[k]));
  PetscCall(VecSum(x, &sum));
  PetscCall(Bytes(&after));
  PetscCheck(sum == N * 5 && after == before, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Subvectors: the sum is %g, %g bytes were copied", (double)PetscRealPart(sum), after - before);
  for (int k = 0; k < 2; k++) PetscCall(VecGetSubVector(x, is[k], &s[k]));
  PetscCall(VecGetArray(s[0], &a));
  for (int i = 0; i < 6; i++) a[i] = 1;
  PetscCall(VecRestoreArray(s[0], &a));
  PetscCall(VecScale(s[1], 4));
  PetscCall(VecSwap(s[0], s[1])); /* must swap values, since the memory belongs to x */
  PetscCall(VecScale(s[0], 10));
  for (int k = 0; k < 2; k++) PetscCall(VecRestoreSubVector(x, is[k], &s[k]));
  PetscCall(VecGetArray(x, &a));
  for (int i = 0; i < 12; i++) PetscCheck(a[i] == (i < 6 ? 80 : 1), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Subvectors: entry %d is %g", i, (double)PetscRealPart(a[i]));
  PetscCall(VecRestoreArray(x, &a));
  for (int k = 0; k < 2; k++) PetscCall(ISDestroy(&is[k]));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VecGetArray...AndMemType() returns host memory, except to a scatter. */
static PetscErrorCode TestMemType(void)
{
  Vec                x;
  PetscScalar       *a;
  const PetscScalar *r;
  PetscMemType       type;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_COMM_WORLD, 5, 1, DEVICE, &x));
  PetscCall(VecSet(x, 2));
  PetscCall(VecGetArrayReadAndMemType(x, &r, &type));
  PetscCheck(PetscMemTypeHost(type) && r[4] == 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecGetArrayReadAndMemType()");
  PetscCall(VecRestoreArrayReadAndMemType(x, &r));
  PetscCall(VecGetArrayAndMemType(x, &a, &type));
  PetscCheck(PetscMemTypeHost(type) && a[4] == 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecGetArrayAndMemType()");
  a[4] = 3;
  PetscCall(VecRestoreArrayAndMemType(x, &a));
  PetscCall(VecGetArrayWriteAndMemType(x, &a, &type));
  PetscCheck(PetscMemTypeHost(type), PETSC_COMM_SELF, PETSC_ERR_PLIB, "VecGetArrayWriteAndMemType()");
  for (int i = 0; i < 4; i++) a[i] = -7;
  PetscCall(VecRestoreArrayWriteAndMemType(x, &a));
  PetscCall(VecAbs(x));
  PetscCall(VecGetArrayRead(x, &r));
  PetscCheck(r[0] == 7 && r[4] == 3, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Arrays with memory types: %g %g", (double)r[0], (double)r[4]);
  PetscCall(VecRestoreArrayRead(x, &r));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &Rnd)); /* the same random numbers on all ranks */
  PetscCall(PetscRandomSetSeed(Rnd, 4711));
  PetscCall(PetscRandomSeed(Rnd));
  for (int sequential = 0; sequential < 2; sequential++)
    for (int unique = 0; unique < 2; unique++)
      for (PetscInt bs = 1; bs < 4; bs += 2) PetscCall(TestGeneral(20, bs, (PetscBool)unique, (PetscBool)sequential, NULL));
  PetscCall(TestGeneral(3, 1, PETSC_FALSE, PETSC_FALSE, PETSCSFNEIGHBOR));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "general scatters: right\n"));
  PetscCall(TestPatterns());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "to all, to one: right\n"));
  PetscCall(TestRemap());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "remapped: right\n"));
  PetscCall(TestDM(2, 1, 1, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR));
  PetscCall(TestDM(2, 3, 2, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_BOX));
  PetscCall(TestDM(3, 2, 1, DM_BOUNDARY_GHOSTED, DMDA_STENCIL_STAR));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "grids: right, and only boundary entries are copied\n"));
  PetscCall(TestUnlike());
  PetscCall(TestWindows());
  PetscCall(TestMemType());
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "vectors of different types, arrays with memory types: right\n"));
  PetscCall(PetscInfo(NULL, "%" PetscInt_FMT " vectors compared\n", Checks));
  PetscCall(PetscRandomDestroy(&Rnd));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

   testset:
      requires: !cuda
      output_file: output/vecscatter.out
      nsize: {{1 2 3}}
      test:
         suffix: 1
      test:
         suffix: separate
         args: -vec_gpu_separate

TEST*/
