static char help[] = "Times PageRank after loading: the product, and iterations to an error of 1e-8, by the kernel chosen and by others.\n\
  -graphs a,b,...   web-Stanford, web-NotreDame, web-BerkStan, web-Google: made with the degrees of these graphs, links lead anywhere;\n\
                    the same with -hosts: a third to a half of the links stay in a host; rmat-<scale>-<links a node>; default: the web's\n\
  -kernels a,b,...  default auto,balanced,hybrid,csrvendor: the chosen one, the seeds' formats, cuSPARSE's CSR\n\
  -blocks a,b,...   Gauss-Seidel iterations by so many blocks of rows, 0: power iterations; default 0,2\n\
  -order given|degree  rows as the graphs number their nodes, or by descending number of links out; given\n\
  -streams a,b,...  never: the matrix is on the device; none, half, all: it is streamed, and this share of its chunks stays on the device;\n\
                    default options: as the options of the matrix say\n\
  -repeats n        of each measurement, of which the median is printed; 11\n\
  -write name       ranks of the last graph by the first kernel, in PETSc's binary format\n\
Prints CSV; order: of the rows; moved_bytes: bytes of the matrix that a product transfers to the device.  Several processes time the slowest of them, by the kernels chosen.\n\n";

#include "examples/pagerank/pagerank.h"
#include "device/gpdeviceimpl.h"
#include <gpucsrdevice.h>
#include "bench/webgraph.h"
#include <gpucsr.h>
#include <petsctime.h>

enum {
  MOST  = 16,
  BATCH = 10,       /* products */
  FLUSH = 256 << 20 /* bytes; larger than the caches */
};

/* Share of the chunks of a streamed matrix that stays on the device. */
typedef enum {
  SHARE_OPTIONS, /* the options of the matrix decide */
  SHARE_NEVER,   /* the matrix is not streamed */
  SHARE_NONE,
  SHARE_HALF,
  SHARE_ALL
} Share;

static const char *const Shares[] = {"options", "never", "none", "half", "all", "Share", "SHARE_", NULL};

typedef struct {
  PetscInt       repeats, blocks[MOST], nblocks;
  GpAppLinkOrder order;
  char           write[PETSC_MAX_PATH_LEN];
} Options;

/* medians in seconds; 0 if this device has no such loop */
typedef struct {
  PetscLogDouble warm, cold, host, device, setup;
} Times;

/* Creates the links of a graph by its name.  The first process generates all links of a web graph. */
static PetscErrorCode MakeLinks(MPI_Comm comm, const char name[], GpAppLinks *L, PetscInt *N)
{
  const WebProfile *p = NULL;
  PetscMPIInt       rank;
  PetscBool         hosts;
  int32_t          *from, *to, n;
  int               scale, degree;

  PetscFunctionBegin;
  if (sscanf(name, "rmat-%d-%d", &scale, &degree) == 2) {
    PetscCall(GpAppLinksMakeRMAT(comm, scale, degree, 1, L));
    *N = (PetscInt)1 << scale;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(WebProfiles); k++)
    if (!strncmp(name, WebProfiles[k].name, strlen(WebProfiles[k].name))) p = &WebProfiles[k];
  PetscCheck(p, comm, PETSC_ERR_ARG_UNKNOWN_TYPE, "-graphs: %s is not known, see -help", name);
  *N = p->nodes;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrendswith(name, "-hosts", &hosts));
  WebGraph(p, hosts ? 0.75 : 0, &from, &to, &n);
  PetscCall(GpAppLinksReserve(L, n, PETSC_FALSE));
  for (L->n = 0; L->n < n; L->n++) {
    L->from[L->n] = from[L->n];
    L->to[L->n]   = to[L->n];
  }
  free(from);
  free(to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Make(MPI_Comm comm, const char name[], GpAppLinkOrder order, PetscInt blocks, GpAppLinkMatrix *G)
{
  const GpAppLinkOptions options = {.keep_loops = PETSC_TRUE, .order = order, .blocks = PetscMax(blocks, 1)};
  GpAppLinks             L       = {0};
  PetscInt               N       = 0;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(G, sizeof(*G)));
  PetscCall(PetscStrncpy(G->file, name, sizeof(G->file)));
  PetscCall(MakeLinks(comm, name, &L, &N));
  PetscCall(GpAppLinkMatrixCreate(comm, &options, &L, N, G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits until all processes are here and the device is idle. */
static PetscErrorCode Meet(Vec x, GpDev dev)
{
  PetscFunctionBegin;
  if (dev) PetscCall(PetscGPUCSRDeviceSynchronize(dev));
  PetscCallMPI(MPI_Barrier(PetscObjectComm((PetscObject)x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the median of times.  Each time is that of the slowest process. */
static PetscErrorCode Median(MPI_Comm comm, PetscInt n, PetscLogDouble t[], PetscLogDouble *median)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, t, (PetscMPIInt)n, MPI_DOUBLE, MPI_MAX, comm));
  PetscCall(PetscSortReal(n, t));
  *median = t[n / 2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes y[b] = A[b] x for each row block. */
static PetscErrorCode MultiplyBlocks(const GpAppLinkMatrix *G, Vec x, Vec y[])
{
  PetscFunctionBegin;
  for (PetscInt b = 0; b < G->blocks; b++) PetscCall(MatMult(G->A[b], x, y[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times batches of products, and single products after the caches were filled with other data, by events of the device. */
static PetscErrorCode TimeProduct(const GpAppLinkMatrix *G, PetscInt repeats, Times *T)
{
  PetscLogDouble *t;
  GpDevEvent      begin, end;
  GpDev           dev;
  void           *flush;
  Vec            *x, *y;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(repeats, &t));
  PetscCall(GpAppLinkMatrixCreateVecs(G, 1, &x));
  PetscCall(PetscMalloc1(G->blocks, &y));
  for (PetscInt b = 0; b < G->blocks; b++) PetscCall(MatCreateVecs(G->A[b], NULL, &y[b]));
  PetscCall(VecSet(x[0], 1.0 / G->N));
  PetscCall(MultiplyBlocks(G, x[0], y));
  PetscCall(VecGPUGetRuntime(x[0], &dev));
  PetscCheck(dev, G->comm, PETSC_ERR_ARG_WRONG, "Only vectors of type gpu have a clock");
  PetscCallGp(dev, "The measurement on the device", GpDevEventCreate(dev, &begin));
  PetscCallGp(dev, "The measurement on the device", GpDevEventCreate(dev, &end));
  PetscCall(PetscGPUCSRDeviceMalloc(dev, "the measurement", FLUSH, &flush));
  for (int cold = 0; cold < 2; cold++) {
    const int products = cold ? 1 : BATCH;

    for (PetscInt r = 0; r < repeats; r++) {
      PetscCall(Meet(x[0], dev));
      if (cold) PetscCallGp(dev, "The measurement on the device", GpDevZero(dev, flush, FLUSH));
      PetscCallGp(dev, "The measurement on the device", GpDevEventRecord(dev, begin));
      for (int k = 0; k < products; k++) PetscCall(MultiplyBlocks(G, x[0], y));
      PetscCallGp(dev, "The measurement on the device", GpDevEventRecord(dev, end));
      PetscCallGp(dev, "The measurement on the device", GpDevEventWait(dev, end));
      PetscCallGp(dev, "The measurement on the device", GpDevEventSeconds(dev, begin, end, &t[r]));
      t[r] /= products;
    }
    PetscCall(Median(G->comm, repeats, t, cold ? &T->cold : &T->warm));
  }
  GpDevEventDestroy(dev, begin);
  GpDevEventDestroy(dev, end);
  PetscCall(PetscGPUCSRDeviceFree(dev, FLUSH, &flush));
  PetscCall(VecDestroyVecs(1, &x));
  for (PetscInt b = 0; b < G->blocks; b++) PetscCall(VecDestroy(&y[b]));
  PetscCall(PetscFree(y));
  PetscCall(PetscFree(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Times the computation of ranks to 1e-8, controlled by the device if it can, and by the host.  The first run is not measured. */
static PetscErrorCode TimeRanks(const GpAppLinkMatrix *G, const char method[], PetscBool device, PetscInt repeats, const char write[], PetscInt *its, PetscLogDouble *setup, PetscLogDouble *median)
{
  PetscLogDouble          begin, end, *t;
  PageRankConvergedReason reason;
  PetscBool               used;
  GpDev                   dev;
  PageRank                pr;
  const Vec              *ranks;
  Vec                    *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(repeats, &t));
  PetscCall(GpAppLinkMatrixCreateVecs(G, 1, &x));
  PetscCall(VecGPUGetRuntime(x[0], &dev));
  PetscCall(Meet(x[0], dev));
  PetscCall(PetscTime(&begin));
  PetscCall(PageRankCreate(G->comm, &pr));
  PetscCall(PageRankSetGraph(pr, G->links));
  PetscCall(PageRankSetMethod(pr, method));
  PetscCall(PageRankSetDeviceLoop(pr, device));
  PetscCall(PageRankSetUp(pr));
  PetscCall(Meet(x[0], dev));
  PetscCall(PetscTime(&end));
  *setup = end - begin;
  for (PetscInt r = -1; r < repeats; r++) {
    PetscCall(Meet(x[0], dev));
    PetscCall(PetscTime(&begin));
    PetscCall(PageRankSolve(pr));
    if (dev) PetscCall(PetscGPUCSRDeviceSynchronize(dev));
    PetscCall(PetscTime(&end));
    if (r >= 0) t[r] = end - begin;
  }
  PetscCall(PageRankGetConvergedReason(pr, &reason));
  PetscCheck(reason > 0, G->comm, PETSC_ERR_NOT_CONVERGED, "%s", PageRankConvergedReasons[reason]);
  PetscCall(Median(G->comm, repeats, t, median));
  PetscCall(PageRankUsesDeviceLoop(pr, &used));
  if (device && !used) *median = 0;
  PetscCall(PageRankGetIterationNumber(pr, its));
  PetscCall(PageRankGetRanks(pr, NULL, &ranks));
  if (write[0]) PetscCall(GpAppNodesWriteBinary(G, 1, ranks, write));
  PetscCall(PageRankDestroy(&pr));
  PetscCall(VecDestroyVecs(1, &x));
  PetscCall(PetscFree(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half of the chunks can be asked for only when their bytes are known. */
static PetscErrorCode SetShare(Mat A, Share share)
{
  MatGPUCSRStreamInfo info;

  PetscFunctionBegin;
  if (share != SHARE_OPTIONS) {
    PetscCall(MatGPUCSRSetStream(A, share == SHARE_NEVER ? MAT_GPUCSR_STREAM_NEVER : MAT_GPUCSR_STREAM_ALWAYS));
    PetscCall(MatGPUCSRSetStreamResident(A, share == SHARE_ALL ? 1e15 : 0));
  }
  PetscCall(MatGPUCSRUpload(A));
  if (share != SHARE_HALF) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGPUCSRGetStreamInfo(A, &info));
  PetscCall(MatGPUCSRSetStreamResident(A, info.bytes / 2));
  PetscCall(MatGPUCSRUpload(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the bytes of the matrix that a product transferred to the device, on all processes. */
static PetscErrorCode GetMoved(const GpAppLinkMatrix *G, PetscLogDouble *moved)
{
  MatGPUCSRStreamInfo info;

  PetscFunctionBegin;
  *moved = 0;
  for (PetscInt b = 0; b < G->blocks; b++) {
    PetscCall(MatGPUCSRGetStreamInfo(G->A[b], &info));
    *moved += info.moved_last;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, moved, 1, MPI_DOUBLE, MPI_SUM, G->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A kernel that does not support this matrix or this device gets a line with the reason. */
static PetscErrorCode Choose(const GpAppLinkMatrix *G, const char kernel[], Share share, PetscBool *taken)
{
  PetscErrorCode failed = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  for (PetscInt b = 0; b < G->blocks && !failed; b++) {
    failed = MatGPUCSRSetKernel(G->A[b], kernel);
    if (!failed) failed = SetShare(G->A[b], share);
  }
  PetscCall(PetscPopErrorHandler());
  *taken = (PetscBool)!failed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(const GpAppLinkMatrix *G, PetscInt blocks, const char kernel[], Share share, const char write[], const Options *o)
{
  const char *const method = blocks ? PAGERANKGAUSSSEIDEL : PAGERANKPOWER;
  PetscBool         taken  = PETSC_FALSE;
  Times             T;
  PetscInt          its;
  PetscLogDouble    moved;
  MatGPUCSRInfo     info;

  PetscFunctionBegin;
  PetscCall(Choose(G, kernel, share, &taken));
  if (!taken) {
    PetscCall(PetscPrintf(G->comm, "%s,%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt64_FMT ",%s,refused,,,,,,,,,,%s,\n", G->file, GpAppLinkOrders[o->order], blocks, G->N, G->M, kernel, Shares[share]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(TimeProduct(G, o->repeats, &T));
  PetscCall(MatGPUCSRGetInfo(G->A[0], &info));
  PetscCall(GetMoved(G, &moved));
  PetscCall(TimeRanks(G, method, PETSC_FALSE, o->repeats, "", &its, &T.setup, &T.host));
  PetscCall(TimeRanks(G, method, PETSC_TRUE, o->repeats, write, &its, &T.setup, &T.device));
  PetscCall(PetscPrintf(G->comm, "%s,%s,%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt64_FMT ",%s,%s,%.1f,%.3f,%.3f,%.3f,%" PetscInt_FMT ",%.4f,%.4f,%.4f,%.3f,%s,%.0f\n", G->file, GpAppLinkOrders[o->order], blocks, G->N, G->M, kernel, info.kernel,
                        1e3 * info.seconds, 1e6 * T.warm, 1e6 * T.cold, 1e-9 * (PetscLogDouble)G->M / T.warm, its, 1e3 * T.device, 1e3 * T.host, 1e3 * T.setup, 1e6 * (T.device > 0 ? T.device : T.host) / (PetscLogDouble)(its + 1), Shares[share],
                        moved));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets names from an option, otherwise the default names.  The caller frees each name. */
static PetscErrorCode Names(const char option[], PetscInt n, const char *const standard[], char *names[MOST], PetscInt *found)
{
  PetscBool given;

  PetscFunctionBegin;
  *found = MOST;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, option, names, found, &given));
  if (given) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < n; k++) PetscCall(PetscStrallocpy(standard[k], &names[k]));
  *found = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetShares(PetscInt share[MOST], PetscInt *n)
{
  static const char *const standard[] = {"options"};
  char                    *names[MOST];

  PetscFunctionBegin;
  PetscCall(Names("-streams", 1, standard, names, n));
  for (PetscInt k = 0; k < *n; k++) {
    PetscEnum value;
    PetscBool known;

    PetscCall(PetscEnumFind(Shares, names[k], &value, &known));
    PetscCheck(known, PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE, "-streams: %s is not known, see -help", names[k]);
    share[k] = (PetscInt)value;
    PetscCall(PetscFree(names[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const kernelnames[] = {"auto", "balanced", "hybrid", "csrvendor"};
  const char *const graphnames[]  = {"web-Stanford", "web-Stanford-hosts", "web-NotreDame", "web-NotreDame-hosts", "web-BerkStan", "web-BerkStan-hosts", "web-Google", "web-Google-hosts"};
  const char       *device;
  char             *kernels[MOST], *graphs[MOST];
  PetscInt          ngraphs, nkernels, share[MOST], nshares;
  PetscBool         given;
  PetscMPIInt       size;
  Options           o = {11, {0, 2}, MOST, GP_LINK_ORDER_GIVEN, ""};
  GpAppLinkMatrix   G;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Names("-graphs", PETSC_STATIC_ARRAY_LENGTH(graphnames), graphnames, graphs, &ngraphs));
  PetscCall(Names("-kernels", size > 1 ? 1 : PETSC_STATIC_ARRAY_LENGTH(kernelnames), kernelnames, kernels, &nkernels));
  PetscCall(GetShares(share, &nshares));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-order", GpAppLinkOrders, (PetscEnum *)&o.order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeats", &o.repeats, NULL));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-blocks", o.blocks, &o.nblocks, &given));
  if (!given) o.nblocks = 2;
  PetscCheck(o.repeats > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-repeats %" PetscInt_FMT ": must be positive", o.repeats);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-write", o.write, sizeof(o.write), NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_gpucsr_vec_type", &given));
  if (!given) PetscCall(PetscOptionsSetValue(NULL, "-mat_gpucsr_vec_type", "gpu"));
  PetscCall(GpAppLinkMatrixRegisterEvents());
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "# %d x %s\n", size, device));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "graph,order,blocks,nodes,links,asked,kernel,format_ms,product_us,product_cold_us,glinks_per_s,iterations,device_loop_ms,host_loop_ms,setup_ms,us_per_iteration,stream,moved_bytes\n"));
  for (PetscInt s = 0; s < ngraphs; s++) {
    for (PetscInt b = 0; b < o.nblocks; b++) {
      PetscCall(Make(PETSC_COMM_WORLD, graphs[s], o.order, o.blocks[b], &G));
      for (PetscInt k = 0; k < nkernels * nshares; k++) PetscCall(Measure(&G, o.blocks[b], kernels[k / nshares], (Share)share[k % nshares], k || b || s + 1 < ngraphs ? "" : o.write, &o));
      PetscCall(GpAppLinkMatrixDestroy(&G));
    }
    PetscCall(PetscFree(graphs[s]));
  }
  for (PetscInt k = 0; k < nkernels; k++) PetscCall(PetscFree(kernels[k]));
  PetscCall(PetscFinalize());
  return 0;
}
