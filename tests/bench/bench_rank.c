static char help[] = "Times PageRank on R-MAT graphs of given sizes: the product and the power iterations after loading, by the kernel chosen and by others.\n\
  -sizes n1,m1,n2,m2,...  nodes and links drawn (equal ones count once); default: those of the public graphs web-Stanford and web-Google\n\
  -kernels a,b,...        default auto,balanced,hybrid,csrvendor: the chosen one, the seeds' formats, cuSPARSE's CSR\n\
  -seconds s              for each measurement, 0.2\n\
  -write name             ranks of the last graph by the first kernel, in PETSc's binary format\n\
Prints CSV; the least of several times counts.  One process.\n\n";

#include "examples/pagerank/pagerank.h"
#include "device/gpdevice.h"
#include <gpucsr.h>
#include <petsctime.h>

enum {
  MOST = 16
};

typedef struct {
  PetscReal seconds;
  char      write[PETSC_MAX_PATH_LEN];
} Options;

/* R-MAT links whose ends are folded into n nodes, which keeps their skew */
static PetscErrorCode Make(PetscInt n, PetscInt m, Graph *G)
{
  const GraphOptions options = {PETSC_FALSE, PETSC_TRUE, PETSC_FALSE};
  Links              L       = {0};
  PetscInt           scale   = 1;

  PetscFunctionBegin;
  PetscCheck(n > 1 && m > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-sizes: %" PetscInt_FMT " nodes and %" PetscInt_FMT " links make no graph", n, m);
  while (scale < 30 && (PetscInt64)1 << scale < n) scale++;
  PetscCall(PetscMemzero(G, sizeof(*G)));
  PetscCall(PetscStrncpy(G->file, "R-MAT", sizeof(G->file)));
  PetscCall(GraphMakeRMAT(PETSC_COMM_SELF, scale, (PetscInt)(((PetscInt64)m + ((PetscInt64)1 << scale) - 1) >> scale), 1, &L));
  L.n = m; /* each link is drawn by itself */
  for (PetscInt64 k = 0; k < m; k++) {
    L.from[k] %= n;
    L.to[k] %= n;
  }
  PetscCall(GraphFromLinks(PETSC_COMM_SELF, &options, &L, n, G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Wait(Vec x)
{
  GpDev dev;

  PetscFunctionBegin;
  PetscCall(VecGPUGetRuntime(x, &dev));
  if (dev) PetscCheck(!dev->ops->sync(dev), PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", dev->error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the least time of a product, of runs of 10 */
static PetscErrorCode TimeProduct(const Graph *G, PetscReal seconds, PetscLogDouble *least)
{
  PetscLogDouble start, begin, end;
  Vec            x, y;

  PetscFunctionBegin;
  *least = PETSC_MAX_REAL;
  PetscCall(VecDuplicate(G->out, &x));
  PetscCall(VecDuplicate(G->out, &y));
  PetscCall(VecSet(x, 1.0 / G->N));
  PetscCall(MatMult(G->A, x, y));
  PetscCall(Wait(y));
  PetscCall(PetscTime(&start));
  do {
    PetscCall(PetscTime(&begin));
    for (int k = 0; k < 10; k++) PetscCall(MatMult(G->A, x, y));
    PetscCall(Wait(y));
    PetscCall(PetscTime(&end));
    *least = PetscMin(*least, (end - begin) / 10);
  } while (end - start < seconds);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the least time of ranks to 1e-8, led by the device where it can, or by the host */
static PetscErrorCode TimeRanks(const Graph *G, PetscBool device, PetscReal seconds, const char write[], SolveResult *R, PetscLogDouble *setup, PetscLogDouble *least)
{
  const SolveOptions o = {METHOD_POWER, 1e-8, 10000, 0.5, 1e-2, 0, PETSC_FALSE, PETSC_FALSE, device};
  PetscLogDouble     start, begin, end;
  Google             g;
  Vec                x;

  PetscFunctionBegin;
  *least = PETSC_MAX_REAL;
  PetscCall(PetscTime(&begin));
  PetscCall(GoogleCreate(G, 0.85, DANGLING_TELEPORT, NULL, NULL, &g));
  PetscCall(SolveSetUp(&g, &o));
  PetscCall(VecDuplicate(G->out, &x));
  PetscCall(Wait(x));
  PetscCall(PetscTime(&start));
  *setup = start - begin;
  do {
    PetscCall(VecCopy(g.v, x));
    PetscCall(Wait(x));
    PetscCall(PetscTime(&begin));
    PetscCall(Solve(&g, &o, x, R));
    PetscCall(Wait(x));
    PetscCall(PetscTime(&end));
    *least = PetscMin(*least, end - begin);
  } while (end - start < seconds);
  PetscCheck(R->converged, PETSC_COMM_SELF, PETSC_ERR_NOT_CONVERGED, "%s", R->reason);
  if (device && !g.loop) *least = 0; /* there is no such loop here */
  if (write[0]) PetscCall(RanksWriteBinary(1, &x, write));
  PetscCall(VecDestroy(&x));
  PetscCall(GoogleDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a kernel that does not take this matrix, or this device, has a line that says so */
static PetscErrorCode Choose(Mat A, const char kernel[], PetscBool *taken)
{
  PetscErrorCode failed;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  failed = MatGPUCSRSetKernel(A, kernel);
  if (!failed) failed = MatGPUCSRUpload(A);
  PetscCall(PetscPopErrorHandler());
  *taken = (PetscBool)!failed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(const Graph *G, const char kernel[], const char write[], const Options *o)
{
  PetscLogDouble product, setup, device, host;
  PetscBool      taken = PETSC_FALSE;
  SolveResult    R;
  MatGPUCSRInfo  info;

  PetscFunctionBegin;
  PetscCall(Choose(G->A, kernel, &taken));
  if (!taken) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT ",%" PetscInt64_FMT ",%s,refused,,,,,,\n", G->N, G->M, kernel));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGPUCSRGetInfo(G->A, &info));
  PetscCall(TimeProduct(G, o->seconds, &product));
  PetscCall(TimeRanks(G, PETSC_FALSE, o->seconds, "", &R, &setup, &host));
  PetscCall(TimeRanks(G, PETSC_TRUE, o->seconds, write, &R, &setup, &device));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%" PetscInt_FMT ",%" PetscInt64_FMT ",%s,%s,%.3f,%.3f,%" PetscInt_FMT ",%.4f,%.4f,%.4f\n", G->N, G->M, kernel, info.kernel, 1e6 * product, 1e-9 * (PetscLogDouble)G->M / product, R.iterations, 1e3 * device,
                        1e3 * host, 1e3 * setup));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *standard[] = {"auto", "balanced", "hybrid", "csrvendor"}, *device;
  char       *kernels[MOST];
  PetscInt    sizes[2 * MOST] = {281903, 2312497, 875713, 5105039}, nsizes = 2 * MOST, nkernels = MOST;
  PetscBool   given;
  PetscMPIInt size;
  Options     o = {0.2, ""};
  Graph       G;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCheck(size == 1, PETSC_COMM_WORLD, PETSC_ERR_WRONG_MPI_SIZE, "One process measures, not %d", size);
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-sizes", sizes, &nsizes, &given));
  if (!given) nsizes = 4;
  PetscCheck(nsizes % 2 == 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-sizes wants nodes and links in turn");
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-kernels", kernels, &nkernels, &given));
  if (!given) nkernels = PETSC_STATIC_ARRAY_LENGTH(standard);
  for (PetscInt k = 0; k < nkernels && !given; k++) PetscCall(PetscStrallocpy(standard[k], &kernels[k]));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-seconds", &o.seconds, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-write", o.write, sizeof(o.write), NULL));
  PetscCall(GraphRegisterEvents());
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "# %s\nnodes,links,asked,kernel,product_us,glinks_per_s,iterations,device_loop_ms,host_loop_ms,setup_ms\n", device));
  for (PetscInt s = 0; s < nsizes; s += 2) {
    PetscCall(Make(sizes[s], sizes[s + 1], &G));
    for (PetscInt k = 0; k < nkernels; k++) PetscCall(Measure(&G, kernels[k], k || s + 2 < nsizes ? "" : o.write, &o));
    PetscCall(GraphDestroy(&G));
  }
  for (PetscInt k = 0; k < nkernels; k++) PetscCall(PetscFree(kernels[k]));
  PetscCall(PetscFinalize());
  return 0;
}
