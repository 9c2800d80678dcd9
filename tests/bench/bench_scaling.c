static char help[] = "Conjugate gradients with Jacobi on a 27-point stencil, on more and more ranks: CSV on standard output.\n\n\
  -ranks <p,...>         of the first p ranks, the first being what efficiencies refer to, default 1,2,4 as far as there are so many\n\
  -weak <k,...>          k x k x k rows a rank, default 64\n\
  -strong <k,...>        k x k x k rows in all, default 64\n\
  -halos <type,...>      halo exchanges of boundary entries, default auto\n\
  -type <type>           Mat type, default gpucsr\n\
  -iterations <n>        of every solve, default 100\n\
  -repeats <n>           solves, of which the median is printed, default 5\n\
  -view                  timelines of products, on standard error\n\n";

#include "bench/order.h"
#include "gpucsr.h"
#include "gpucsrcompat.h"
#include <petscksp.h>

#define MAX      16
#define PRODUCTS 20

typedef struct {
  PetscInt  halos, iterations, repeats;
  char     *halo[MAX], type[64];
  PetscBool view;
} Options;

/* The rows of one rank, which are planes of a grid, and the arrays of the two blocks of its matrix. */
typedef struct {
  PetscInt     nx, nz, first, last; /* the grid is nx x nx x nz, this rank has the planes first <= z < last */
  PetscInt    *i[2], *j[2];
  PetscScalar *a[2];
  Mat          A;
} Problem;

/* Returns the number of neighbours of coordinate c among n, including c. */
static inline PetscInt Near(PetscInt c, PetscInt n)
{
  return PetscMin(c + 1, n - 1) - PetscMax(c - 1, 0) + 1;
}

/* Fills a block.  Columns ascend; they are local in the diagonal block (0) and global in the other (1). */
static void FillRow(Problem *P, PetscInt x, PetscInt y, PetscInt z, PetscInt row, PetscInt at[2])
{
  const PetscInt n = P->nx;

  for (PetscInt w = PetscMax(z - 1, 0); w <= PetscMin(z + 1, P->nz - 1); w++) {
    const int      b     = w < P->first || w >= P->last;
    const PetscInt start = b ? 0 : P->first * n * n;

    for (PetscInt v = PetscMax(y - 1, 0); v <= PetscMin(y + 1, n - 1); v++)
      for (PetscInt u = PetscMax(x - 1, 0); u <= PetscMin(x + 1, n - 1); u++) {
        P->j[b][at[b]]   = (w * n + v) * n + u - start;
        P->a[b][at[b]++] = u == x && v == y && w == z ? 26 : -1;
      }
  }
  for (int b = 0; b < 2; b++) P->i[b][row + 1] = at[b];
}

static PetscErrorCode Create(MPI_Comm comm, PetscInt nx, PetscInt nz, const Options *o, Problem *P)
{
  PetscMPIInt rank, size;
  PetscInt    rows, at[2] = {0, 0}, row = 0;
  size_t      nnz[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  P->nx    = nx;
  P->nz    = nz;
  P->first = nz * rank / size;
  P->last  = nz * (rank + 1) / size;
  rows     = (P->last - P->first) * nx * nx;
  for (PetscInt z = P->first; z < P->last; z++) { /* a plane has (3 nx - 2)^2 neighbours in each of the planes around it */
    const size_t plane = (size_t)(3 * nx - 2) * (size_t)(3 * nx - 2), out = (size_t)((z == P->first && z > 0) + (z == P->last - 1 && z < nz - 1));

    nnz[0] += plane * ((size_t)Near(z, nz) - out);
    nnz[1] += plane * out;
  }
  PetscCheck(nnz[0] < (size_t)PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%zu nonzeros on one rank are more than an index holds; take a smaller grid or more ranks", nnz[0]);
  for (int b = 0; b < 2; b++) {
    PetscCall(PetscMalloc3(rows + 1, &P->i[b], nnz[b], &P->j[b], nnz[b], &P->a[b]));
    P->i[b][0] = 0;
  }
  for (PetscInt z = P->first; z < P->last; z++)
    for (PetscInt y = 0; y < nx; y++)
      for (PetscInt x = 0; x < nx; x++) FillRow(P, x, y, z, row++, at);
  if (size == 1) PetscCall(MatCreateSeqAIJWithArrays(comm, rows, rows, P->i[0], P->j[0], P->a[0], &P->A));
  else PetscCall(MatCreateMPIAIJWithSplitArrays(comm, rows, rows, nz * nx * nx, nz * nx * nx, P->i[0], P->j[0], P->a[0], P->i[1], P->j[1], P->a[1], &P->A));
  PetscCall(MatSetOption(P->A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatConvert(P->A, o->type, MAT_INPLACE_MATRIX, &P->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Problem *P)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&P->A));
  for (int b = 0; b < 2; b++) PetscCall(PetscFree3(P->i[b], P->j[b], P->a[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the microseconds of a product on the slowest rank, the median of several batches. */
static PetscErrorCode TimeProduct(MPI_Comm comm, Mat A, const Options *o, double *us)
{
  Vec            x, y;
  PetscReal      norm;
  PetscLogDouble t0, t1;
  double         times[64];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1));
  for (PetscInt r = -1; r < o->repeats; r++) { /* the first batch is not measured */
    double time;

    PetscCallMPI(MPI_Barrier(comm));
    PetscCall(PetscTime(&t0));
    for (int k = 0; k < PRODUCTS; k++) PetscCall(MatMult(A, x, y));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(PetscTime(&t1));
    time = 1e6 * (t1 - t0) / PRODUCTS;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, comm));
    if (r >= 0) times[r] = time;
  }
  qsort(times, (size_t)o->repeats, sizeof(double), CompareDoubles);
  *us = times[o->repeats / 2];
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the microseconds of an iteration on the slowest rank, and the norm of the solution. */
static PetscErrorCode TimeSolve(MPI_Comm comm, Mat A, const Options *o, double *us, PetscReal *norm)
{
  KSP    ksp;
  PC     pc;
  Vec    x, b;
  double times[64];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(comm, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(KSPSetTolerances(ksp, 1e-300, 1e-300, 1e300, o->iterations));
  PetscCall(KSPSetFromOptions(ksp));
  for (PetscInt r = -1; r < o->repeats; r++) {
    PetscLogDouble t0, t1;
    PetscInt       its;
    double         time;

    PetscCall(VecSet(x, 0));
    PetscCall(VecNorm(x, NORM_2, norm));
    PetscCallMPI(MPI_Barrier(comm));
    PetscCall(PetscTime(&t0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(VecNorm(x, NORM_2, norm));
    PetscCall(PetscTime(&t1));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    time = 1e6 * (t1 - t0) / its;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, comm));
    if (r >= 0) times[r] = time;
  }
  qsort(times, (size_t)o->repeats, sizeof(double), CompareDoubles);
  *us = times[o->repeats / 2];
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measures one grid on the ranks of comm with every type and halo exchange.  *base: the time on ranks[0] ranks, known to the ranks that took part. */
static PetscErrorCode Run(MPI_Comm comm, const char mode[], PetscInt nx, PetscInt nz, const Options *o, double *base, PetscMPIInt *baseranks)
{
  Problem     P;
  Mat         diagonal;
  PetscMPIInt size;
  PetscBool   ours;
  double      local = 0;
  PetscReal   first = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(Create(comm, nx, nz, o, &P));
  PetscCall(PetscStrcmp(o->type, MATGPUCSR, &ours));
  PetscCall(MatGetDiagonalBlock(P.A, &diagonal));
  for (PetscInt h = 0; h < (size == 1 || !ours ? 1 : o->halos); h++) {
    double        us = 0, product = 0;
    PetscReal     norm;
    MatGPUCSRInfo info = {.halo = NULL};

    if (ours && size > 1) {
      PetscCall(PetscOptionsSetValue(NULL, "-mat_gpucsr_halo_type", o->halo[h]));
      PetscCall(MatSetFromOptions(P.A));
    }
    PetscCall(TimeProduct(comm, P.A, o, &product));
    if (!h) PetscCall(TimeProduct(comm, diagonal, o, &local));
    PetscCall(TimeSolve(comm, P.A, o, &us, &norm));
    if (ours) PetscCall(MatGPUCSRGetInfo(P.A, &info));
    if (!h) first = norm;
    PetscCheck(PetscAbsReal(norm - first) <= 1e-9 * first, comm, PETSC_ERR_PLIB, "The solution by halo type %s has norm %.12e, that by the first one %.12e", info.halo ? info.halo : "none", (double)norm, (double)first);
    if (!*baseranks) {
      *base      = us;
      *baseranks = size;
    }
    PetscCall(PetscPrintf(comm, "%s,%d,%" PetscInt_FMT "x%" PetscInt_FMT "x%" PetscInt_FMT ",%s,%.1f,%.3f,%.1f,%.1f,%.12e\n", mode, size, nx, nx, nz, info.halo ? info.halo : "none", us, mode[0] == 'w' ? *base / us : *base * *baseranks / (us * size),
                          product, local, (double)norm));
    if (o->view && info.halo) PetscCall(MatGPUCSRHaloView(P.A, PETSC_VIEWER_STDERR_(comm)));
  }
  PetscCall(Destroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunAll(const char mode[], PetscInt k, PetscInt np, const PetscInt ranks[], const Options *o)
{
  double      base      = 0;
  PetscMPIInt baseranks = 0, rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (PetscInt p = 0; p < np; p++) {
    MPI_Comm comm;

    PetscCallMPI(MPI_Comm_split(PETSC_COMM_WORLD, rank < ranks[p] ? 0 : MPI_UNDEFINED, rank, &comm));
    if (comm != MPI_COMM_NULL) {
      PetscCall(Run(comm, mode, k, mode[0] == 'w' ? k * ranks[p] : k, o, &base, &baseranks));
      PetscCallMPI(MPI_Comm_free(&comm));
    }
    PetscCallMPI(MPI_Bcast(&base, 1, MPI_DOUBLE, 0, PETSC_COMM_WORLD));
    PetscCallMPI(MPI_Bcast(&baseranks, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt    ranks[MAX] = {1, 2, 4}, weak[MAX] = {64}, strong[MAX] = {64}, np = MAX, nw = MAX, ns = MAX, known = 0;
  Options     o = {.halos = MAX, .iterations = 100, .repeats = 5, .type = MATGPUCSR};
  PetscMPIInt size;
  PetscBool   set;
  const char *device;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-ranks", ranks, &np, &set));
  if (!set) np = size >= 4 ? 3 : size >= 2 ? 2 : 1;
  for (PetscInt p = 0; p < np; p++) known += ranks[p] > 0 && ranks[p] <= size;
  PetscCheck(known == np, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-ranks must be 1 to %d, the number of ranks that were started", size);
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-weak", weak, &nw, &set));
  if (!set) nw = 1;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-strong", strong, &ns, &set));
  if (!set) ns = 1;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-halos", o.halo, &o.halos, &set));
  if (!set) {
    o.halos = 1;
    PetscCall(PetscStrallocpy("auto", &o.halo[0]));
  }
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", o.type, sizeof(o.type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-iterations", &o.iterations, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &o.repeats, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-view", &o.view));
  PetscCheck(o.repeats > 0 && o.repeats <= 64 && o.iterations > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-repeats must be 1 to 64 and -iterations positive");
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "# PETSc %d.%d.%d, %s on %s, 27-point stencil in slabs, KSPCG with Jacobi, median of %d solves of %d iterations\nmode,ranks,grid,halo,us_per_iteration,efficiency,us_product,us_local_product,norm\n",
                        PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, o.type, device, (int)o.repeats, (int)o.iterations));
  for (PetscInt w = 0; w < nw; w++) PetscCall(RunAll("weak", weak[w], np, ranks, &o));
  for (PetscInt s = 0; s < ns; s++) PetscCall(RunAll("strong", strong[s], np, ranks, &o));
  for (PetscInt h = 0; h < o.halos; h++) PetscCall(PetscFree(o.halo[h]));
  PetscCall(PetscFinalize());
  return 0;
}
