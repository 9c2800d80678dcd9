/* The main program pagerank: reads or generates a graph, computes the ranks of its nodes with a bound on the error, and writes the results. */
#include "pagerank.h"
#include "app/report/appescape.h"
#include "app/program/appmain.h"
#include "app/linkmatrix/applinkrequest.h"
#include "mainoptions.h"
#include <gpucsr.h>
#include <petsctime.h>

/* The options of the command line. An empty file name means that the option was not given. */
typedef struct {
  char             ranks[PETSC_MAX_PATH_LEN], binary[PETSC_MAX_PATH_LEN], picture[PETSC_MAX_PATH_LEN], report[PETSC_MAX_PATH_LEN];
  char             personalize[PETSC_MAX_PATH_LEN], dangling_file[PETSC_MAX_PATH_LEN], start[PETSC_MAX_PATH_LEN];
  PetscInt         topk;
  GpAppLinkRequest graph;
  PageRank         pr; /* the solver, with its options */
} Request;

/* The results of a run, for the summary and for the report. */
typedef struct {
  PetscReal               damping, tolerance, residual, bound, sum;
  PageRankConvergedReason reason;
  PetscInt                iterations, matmults, ndangling;
  PetscInt                vectors, ntop; /* vectors: number of rank vectors, one for each personalisation. ntop: length of the list of each vector. */
  PetscBool               loop;          /* the device loop was used */
  const char             *method;
  const Vec              *x;                  /* [vectors] the ranks */
  GpAppTopNode           *top;                /* [vectors * ntop], highest ranks of each vector */
  PetscLogDouble          load, setup, solve; /* seconds */
  GpAppRounding           rounding;
  GpAppStreamed           streamed;
} Outcome;

static PetscErrorCode MainGetRequest(MPI_Comm comm, void *context)
{
  Request *rq = (Request *)context;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rq, sizeof(*rq)));
  rq->topk = 10;
  PetscOptionsBegin(comm, NULL, "Options of the pagerank program", "PageRank");
  PetscCall(GpAppLinkRequestGet(PetscOptionsObject, options, &rq->graph));
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, options, GP_APP_FILE_INPUT, "-dangling_file", rq->dangling_file));
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, options, GP_APP_FILE_INPUT, "-personalize", rq->personalize));
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, options, GP_APP_FILE_INPUT, "-start", rq->start));
  PetscCall(PetscOptionsInt("-topk", GpAppOptionGetText(options, "-topk"), "", rq->topk, &rq->topk, NULL));
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, options, GP_APP_FILE_OUTPUT, "-ranks", rq->ranks));
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, options, GP_APP_FILE_OUTPUT, "-ranks_binary", rq->binary));
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, options, GP_APP_FILE_OUTPUT, "-picture", rq->picture));
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, options, GP_APP_FILE_OUTPUT, "-report", rq->report));
  PetscOptionsEnd();
  PetscCall(GpAppGraphOptions(comm, &rq->graph.links.spec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the solver, which reads its options without a prefix; those of its linear solver have the prefix pagerank_. */
static PetscErrorCode MainCreateSolver(MPI_Comm comm, Request *rq)
{
  const char *method;
  KSP         ksp;

  PetscFunctionBegin;
  PetscCall(PageRankRegister("eps", PageRankSolve_EPS));
  PetscCall(PageRankCreate(comm, &rq->pr));
  PetscCall(PageRankSetOptionsPrefix(rq->pr, NULL));
  if (rq->personalize[0]) PetscCall(PageRankSetMethod(rq->pr, PAGERANKPOWER)); /* power iterations compute several vectors at once */
  PetscCall(PageRankSetFromOptions(rq->pr));
  PetscCall(PageRankGetKSP(rq->pr, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "pagerank_"));
  PetscCall(PageRankGetMethod(rq->pr, &method));
  PetscCall(PageRankGetBlocks(rq->pr, &rq->graph.links.blocks));
  if (strcmp(method, PAGERANKGAUSSSEIDEL)) rq->graph.links.blocks = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the options of the solver for -help. */
static PetscErrorCode MainShowOptions(MPI_Comm comm, void *context)
{
  Request *rq = (Request *)context;

  PetscFunctionBegin;
  PetscCall(MainCreateSolver(comm, rq));
  PetscCall(PageRankDestroy(&rq->pr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MainCheckRequest(MPI_Comm comm, void *context)
{
  Request             *rq    = (Request *)context;
  PetscReal            inner = 0.5, damping;
  const char          *method;
  PageRankDanglingType dangling;

  PetscFunctionBegin;
  PetscCall(GpAppLinkRequestCheck(comm, &rq->graph));
  PetscCall(MainCreateSolver(comm, rq));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-inner_damping", &inner, NULL));
  PetscCall(PageRankGetDamping(rq->pr, &damping));
  PetscCall(PageRankGetMethod(rq->pr, &method));
  PetscCheck(strcmp(method, PAGERANKINNEROUTER) || inner < damping, comm, PETSC_ERR_USER_INPUT, "-inner_damping %g: must be less than -damping %g", (double)inner, (double)damping);
  PetscCall(PageRankGetDangling(rq->pr, &dangling, NULL));
  PetscCheck((dangling == PAGERANK_DANGLING_VECTOR) == (rq->dangling_file[0] != 0), comm, PETSC_ERR_USER_INPUT, "%s", rq->dangling_file[0] ? "-dangling_file needs -dangling vector" : "-dangling vector needs -dangling_file <file>");
  PetscCall(GpAppPlotProbe(comm, rq->picture));
  PetscCall(GpAppFilesCheck(comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the initial ranks of -start and scales them to sum 1. */
static PetscErrorCode MainReadInitialRanks(const Request *rq, const GpAppLinkMatrix *G, PetscInt n)
{
  PetscReal sum;
  Vec      *x;

  PetscFunctionBegin;
  PetscCall(GpAppLinkMatrixCreateVecs(G, n, &x));
  PetscCall(GpAppVecLoad(rq->start, n, x));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecNorm(x[k], NORM_1, &sum));
    PetscCheck(sum > 0 && sum <= PETSC_MAX_REAL, G->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the ranks sum to %g, which cannot be scaled to 1", rq->start, (double)sum);
    PetscCall(VecScale(x[k], 1 / sum));
    PetscCall(GpAppLinkMatrixPermute(G, PETSC_TRUE, x[k]));
  }
  PetscCall(PageRankSetInitialRanks(rq->pr, n, x));
  PetscCall(VecDestroyVecs(n, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the distribution of the rank of dangling nodes. */
static PetscErrorCode MainReadDangling(const Request *rq, const GpAppLinkMatrix *G)
{
  PetscInt n;
  Vec     *u;

  PetscFunctionBegin;
  PetscCall(PersonalizeRead(G, rq->dangling_file, &n, &u));
  PetscCheck(n == 1, G->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: expected one line with a distribution, found %" PetscInt_FMT, rq->dangling_file, n);
  PetscCall(PageRankSetDangling(rq->pr, PAGERANK_DANGLING_VECTOR, u[0]));
  PetscCall(VecDestroyVecs(n, &u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the ranks for all personalisations. */
static PetscErrorCode MainComputeRanks(const Request *rq, const GpAppLinkMatrix *G, PetscInt n, Vec v[], Outcome *out)
{
  const PageRank pr = rq->pr;
  PetscReal      norm;

  PetscFunctionBegin;
  PetscCall(PageRankSetGraph(pr, G->links));
  PetscCall(PageRankSetPersonalizations(pr, n, v));
  if (rq->dangling_file[0]) PetscCall(MainReadDangling(rq, G));
  if (rq->start[0]) PetscCall(MainReadInitialRanks(rq, G, PetscMax(n, 1)));
  PetscCall(PetscTimeSubtract(&out->setup));
  PetscCall(PageRankSetUp(pr));
  PetscCall(PetscTimeAdd(&out->setup));
  PetscCall(PetscTimeSubtract(&out->solve));
  PetscCall(PageRankSolve(pr));
  PetscCall(PageRankGetRanks(pr, &out->vectors, &out->x));
  PetscCall(VecNorm(out->x[0], NORM_1, &norm)); /* waits until the device is idle, so that the time is complete */
  PetscCall(PetscTimeAdd(&out->solve));
  PetscCall(PageRankGetDamping(pr, &out->damping));
  PetscCall(PageRankGetMethod(pr, &out->method));
  PetscCall(PageRankGetTolerances(pr, &out->tolerance, NULL));
  PetscCall(PageRankGetResidual(pr, &out->residual, &out->bound));
  PetscCall(PageRankGetConvergedReason(pr, &out->reason));
  PetscCall(PageRankGetIterationNumber(pr, &out->iterations));
  PetscCall(PageRankGetMatMults(pr, &out->matmults));
  PetscCall(PageRankGetDanglingNodes(pr, &out->ndangling));
  PetscCall(PageRankUsesDeviceLoop(pr, &out->loop));
  PetscCall(GpAppNodesSum(out->x[0], &out->sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MainPrintSummary(const GpAppLinkMatrix *G, const Outcome *out)
{
  char number[24];

  PetscFunctionBegin;
  if (G->read[0]) PetscCall(PetscPrintf(G->comm, "%s\n", G->read));
  PetscCall(PetscPrintf(G->comm, "graph: %" PetscInt_FMT " nodes (%" PetscInt_FMT " dangling), %" PetscInt64_FMT " links%s, loaded in %.2g s\n", G->N, out->ndangling, G->M, G->weighted ? " with weights" : "", out->load));
  PetscCall(GpAppRoundingPrint(G->comm, "", &out->rounding));
  PetscCall(GpAppStreamedPrint(G->comm, "", &out->streamed));
  PetscCall(PetscPrintf(G->comm, "PageRank, damping %g: %s after %" PetscInt_FMT " iterations, %" PetscInt_FMT " products, %.3g s\n", (double)out->damping, PageRankConvergedReasons[out->reason], out->iterations, out->matmults, out->solve));
  PetscCall(PetscPrintf(G->comm, "residual %.3e, error at most %.3e (1-norm), sum of ranks %.15g\n", (double)out->residual, (double)out->bound, (double)out->sum));
  for (PetscInt k = 0; k < out->vectors * out->ntop; k++) {
    const GpAppTopNode *e = &out->top[k];

    if (out->vectors > 1 && k % out->ntop == 0) PetscCall(PetscPrintf(G->comm, "personalisation %" PetscInt_FMT ":\n", k / out->ntop + 1));
    PetscCall(PetscPrintf(G->comm, "%4" PetscInt_FMT " node %-12s %.12g%s\n", k % out->ntop + 1, GpAppLinkMatrixGetName(G, e->node, number), (double)e->value, e->certain ? "" : "  (the next may be higher)"));
  }
  if (out->reason < 0) PetscCall(PetscPrintf(G->comm, "The error bound %.3e is above -tol %.3e: increase -max_it or -tol\n", (double)out->bound, (double)out->tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MainWriteReport(const Request *rq, const GpAppLinkMatrix *G, const Outcome *out)
{
  const char *device;
  GpAppOutput file;
  GpAppJSON   J;
  MatType     type;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(G->comm, &size));
  PetscCall(MatGetType(G->A[0], &type));
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(GpAppOutputOpen(G->comm, rq->report, &file));
  if (file.fp) {
    GpAppJSONBegin(&J, file.fp);
    GpAppJSONWriteInt(&J, "nodes", G->N);
    GpAppJSONWriteInt(&J, "edges", G->M);
    GpAppJSONWriteInt(&J, "dangling", out->ndangling);
    GpAppJSONWriteBool(&J, "weighted", G->weighted);
    GpAppJSONWriteReal(&J, "damping", (double)out->damping);
    GpAppJSONWriteString(&J, "method", out->method);
    GpAppJSONWriteString(&J, "reason", PageRankConvergedReasons[out->reason]);
    GpAppJSONWriteBool(&J, "converged", (PetscBool)(out->reason > 0));
    GpAppJSONWriteInt(&J, "vectors", out->vectors);
    GpAppJSONWriteInt(&J, "iterations", out->iterations);
    GpAppJSONWriteInt(&J, "matmults", out->matmults);
    GpAppJSONWriteReal(&J, "residual", (double)out->residual);
    GpAppJSONWriteReal(&J, "error_bound", (double)out->bound);
    GpAppJSONWriteReal(&J, "sum", (double)out->sum);
    GpAppJSONOpen(&J, "topk", '[', PETSC_TRUE);
    for (PetscInt k = 0; k < out->vectors * out->ntop; k++) {
      GpAppJSONOpen(&J, NULL, '{', PETSC_FALSE);
      GpAppJSONWriteInt(&J, "vector", k / out->ntop + 1);
      GpAppNodeWriteJSON(&J, "node", G, out->top[k].node);
      GpAppJSONWriteReal(&J, "rank", (double)out->top[k].value);
      GpAppJSONWriteBool(&J, "certain", out->top[k].certain);
      GpAppJSONClose(&J);
    }
    GpAppJSONClose(&J);
    GpAppJSONWriteReal(&J, "seconds_load", out->load);
    GpAppJSONWriteReal(&J, "seconds_setup", out->setup);
    GpAppJSONWriteReal(&J, "seconds_solve", out->solve);
    GpAppJSONWriteBool(&J, "device_loop", out->loop);
    GpAppJSONWriteInt(&J, "ranks", size);
    GpAppJSONWriteString(&J, "mat_type", type);
    GpAppJSONWriteString(&J, "device", device);
    GpAppRoundingWrite(&J, &out->rounding);
    GpAppStreamedWrite(&J, &out->streamed);
    GpAppJSONEnd(&J);
  }
  PetscCall(GpAppOutputCommit(&file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MainRun(MPI_Comm comm, void *context, PetscBool *converged)
{
  Request        *rq = (Request *)context;
  PetscLogStage   load, solve;
  Outcome         out = {0};
  GpAppLinkMatrix G;
  PetscInt        n = 0, k;
  Vec            *v = NULL;
  char            note[128];

  PetscFunctionBegin;
  PetscCall(GpAppLinkMatrixRegisterEvents());
  PetscCall(PetscLogStageRegister("Load graph", &load));
  PetscCall(PetscLogStageRegister("PageRank", &solve));
  PetscCall(PetscLogStagePush(load));
  PetscCall(PetscTimeSubtract(&out.load));
  PetscCall(GpAppLinkRequestLoad(comm, &rq->graph, &G));
  if (rq->personalize[0]) PetscCall(PersonalizeRead(&G, rq->personalize, &n, &v));
  PetscCall(PetscTimeAdd(&out.load));
  PetscCall(PetscLogStagePop());
  PetscCall(PetscLogStagePush(solve));
  PetscCall(MainComputeRanks(rq, &G, n, v, &out));
  for (PetscInt b = 0; b < G.blocks; b++) {
    PetscCall(GpAppRoundingAdd(G.A[b], &out.rounding));
    PetscCall(GpAppStreamedAdd(G.A[b], &out.streamed));
  }
  PetscCall(PetscLogStagePop());
  k = PetscMin(rq->topk, G.N);
  PetscCall(PetscMalloc1(k * out.vectors, &out.top));
  for (PetscInt i = 0; i < out.vectors; i++) PetscCall(GpAppNodesFindTop(out.x[i], (GpAppNodeErrors){.absolute = out.bound}, k, out.top + i * k, &out.ntop));
  PetscCall(MainPrintSummary(&G, &out));
  if (rq->ranks[0]) PetscCall(GpAppNodesWriteText(&G, out.vectors, out.x, rq->ranks));
  if (rq->binary[0]) PetscCall(GpAppNodesWriteBinary(&G, out.vectors, out.x, rq->binary));
  if (rq->picture[0]) {
    PetscCall(PetscSNPrintf(note, sizeof(note), "damping %g, error bound %.2g after %" PetscInt_FMT " iterations%s", (double)out.damping, (double)out.bound, out.iterations, out.reason > 0 ? "" : ", not converged"));
    PetscCall(GpAppNodesWritePicture(out.x[0], "PageRank", note, rq->picture));
  }
  if (rq->report[0]) PetscCall(MainWriteReport(rq, &G, &out));
  *converged = (PetscBool)(out.reason > 0);
  PetscCall(PetscFree(out.top));
  PetscCall(PageRankDestroy(&rq->pr));
  PetscCall(VecDestroyVecs(n, &v));
  PetscCall(GpAppLinkMatrixDestroy(&G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static Request     rq;
  const GpAppProgram program = {"pagerank", &manual, MainGetRequest, MainShowOptions, MainCheckRequest, MainRun, &rq};

  return GpAppMain(argc, argv, &program);
}
