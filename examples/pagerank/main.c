/* The main program pagerank: reads or generates a graph, computes the ranks of its nodes with a bound on the error, and writes the results. */
#include "solvers/pagerank/pagerankimpl.h"
#include "app/report/appescape.h"
#include "app/program/appmain.h"
#include "mainoptions.h"
#include <gpucsr.h>
#include <petsctime.h>

/* The options of the command line. An empty file name means that the option was not given. */
typedef struct {
  char         file[PETSC_MAX_PATH_LEN], ranks[PETSC_MAX_PATH_LEN], binary[PETSC_MAX_PATH_LEN], picture[PETSC_MAX_PATH_LEN], report[PETSC_MAX_PATH_LEN];
  char         personalize[PETSC_MAX_PATH_LEN], dangling_file[PETSC_MAX_PATH_LEN], start[PETSC_MAX_PATH_LEN];
  PetscInt     rmat[2], nrmat, seed, topk;
  PetscReal    damping;
  Dangling     dangling;
  GraphOptions graph;
  SolveOptions solve;
} Request;

/* The results of a run, for the summary and for the report. */
typedef struct {
  SolveResult    result;
  PetscReal      sum;
  PetscInt       vectors, matmults, ndangling, ntop; /* vectors: number of rank vectors, one for each personalisation. ntop: length of the list of each vector. */
  PetscBool      loop;                               /* the device loop was used */
  TopEntry      *top;                                /* [vectors * ntop], highest ranks of each vector */
  PetscLogDouble load, setup, solve;                 /* seconds */
  GpAppRounding  rounding;
} Outcome;

/* Returns the text of an option for -help. */
static const char *GetOptionText(const char name[])
{
  return GpAppOptionGetText(options, name);
}

static PetscErrorCode GetRequest(MPI_Comm comm, void *context)
{
  Request  *rq    = (Request *)context;
  PetscBool loops = PETSC_TRUE, chosen;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rq, sizeof(*rq)));
  rq->damping      = 0.85;
  rq->topk         = 10;
  rq->nrmat        = 2;
  rq->graph.blocks = 2;
  rq->solve        = (SolveOptions){METHOD_GAUSSSEIDEL, 1e-8, 10000, 0.5, 1e-2, 0, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE};
  PetscOptionsBegin(comm, NULL, "Options of the pagerank program", "PageRank");
  PetscCall(PetscOptionsString("-f", GetOptionText("-f"), "", rq->file, rq->file, sizeof(rq->file), NULL));
  PetscCall(PetscOptionsIntArray("-rmat", GetOptionText("-rmat"), "", rq->rmat, &rq->nrmat, NULL));
  PetscCall(PetscOptionsInt("-seed", GetOptionText("-seed"), "", rq->seed, &rq->seed, NULL));
  PetscCall(PetscOptionsBool("-undirected", GetOptionText("-undirected"), "", rq->graph.undirected, &rq->graph.undirected, NULL));
  PetscCall(PetscOptionsBool("-loops", GetOptionText("-loops"), "", loops, &loops, NULL));
  PetscCall(PetscOptionsBool("-count_duplicates", GetOptionText("-count_duplicates"), "", rq->graph.count_duplicates, &rq->graph.count_duplicates, NULL));
  PetscCall(PetscOptionsEnum("-order", GetOptionText("-order"), "", Orders, (PetscEnum)rq->graph.order, (PetscEnum *)&rq->graph.order, NULL));
  PetscCall(PetscOptionsReal("-damping", GetOptionText("-damping"), "", rq->damping, &rq->damping, NULL));
  PetscCall(PetscOptionsEnum("-dangling", GetOptionText("-dangling"), "", Danglings, (PetscEnum)rq->dangling, (PetscEnum *)&rq->dangling, NULL));
  PetscCall(PetscOptionsString("-dangling_file", GetOptionText("-dangling_file"), "", rq->dangling_file, rq->dangling_file, sizeof(rq->dangling_file), NULL));
  PetscCall(PetscOptionsString("-personalize", GetOptionText("-personalize"), "", rq->personalize, rq->personalize, sizeof(rq->personalize), NULL));
  PetscCall(PetscOptionsString("-start", GetOptionText("-start"), "", rq->start, rq->start, sizeof(rq->start), NULL));
  PetscCall(PetscOptionsEnum("-method", GetOptionText("-method"), "", Methods, (PetscEnum)rq->solve.method, (PetscEnum *)&rq->solve.method, &chosen));
  PetscCall(PetscOptionsReal("-tol", GetOptionText("-tol"), "", rq->solve.tolerance, &rq->solve.tolerance, NULL));
  PetscCall(PetscOptionsInt("-max_it", GetOptionText("-max_it"), "", rq->solve.max_it, &rq->solve.max_it, NULL));
  PetscCall(PetscOptionsInt("-extrapolate", GetOptionText("-extrapolate"), "", rq->solve.extrapolate, &rq->solve.extrapolate, NULL));
  PetscCall(PetscOptionsInt("-blocks", GetOptionText("-blocks"), "", rq->graph.blocks, &rq->graph.blocks, NULL));
  PetscCall(PetscOptionsReal("-inner_damping", GetOptionText("-inner_damping"), "", rq->solve.inner_damping, &rq->solve.inner_damping, NULL));
  PetscCall(PetscOptionsReal("-inner_tol", GetOptionText("-inner_tol"), "", rq->solve.inner_tolerance, &rq->solve.inner_tolerance, NULL));
  PetscCall(PetscOptionsBool("-assemble", GetOptionText("-assemble"), "", rq->solve.assemble, &rq->solve.assemble, NULL));
  PetscCall(PetscOptionsBool("-device_loop", GetOptionText("-device_loop"), "", rq->solve.device_loop, &rq->solve.device_loop, NULL));
  PetscCall(PetscOptionsBool("-monitor", GetOptionText("-monitor"), "", rq->solve.monitor, &rq->solve.monitor, NULL));
  PetscCall(PetscOptionsInt("-topk", GetOptionText("-topk"), "", rq->topk, &rq->topk, NULL));
  PetscCall(PetscOptionsString("-ranks", GetOptionText("-ranks"), "", rq->ranks, rq->ranks, sizeof(rq->ranks), NULL));
  PetscCall(PetscOptionsString("-ranks_binary", GetOptionText("-ranks_binary"), "", rq->binary, rq->binary, sizeof(rq->binary), NULL));
  PetscCall(PetscOptionsString("-picture", GetOptionText("-picture"), "", rq->picture, rq->picture, sizeof(rq->picture), NULL));
  PetscCall(PetscOptionsString("-report", GetOptionText("-report"), "", rq->report, rq->report, sizeof(rq->report), NULL));
  PetscOptionsEnd();
  PetscCall(GpAppGraphOptions(comm, &rq->graph.spec));
  rq->graph.keep_loops = loops;
  rq->solve.warm       = (PetscBool)(rq->start[0] != 0);
  if (!chosen && rq->personalize[0]) rq->solve.method = METHOD_POWER; /* power iterations compute several vectors at once */
  if (rq->solve.method != METHOD_GAUSSSEIDEL) rq->graph.blocks = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Registers all files of the run, so that none destroys another, and checks that the outputs can be written. */
static PetscErrorCode CheckFiles(MPI_Comm comm, const Request *rq)
{
  PetscFunctionBegin;
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-f", rq->file));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-dangling_file", rq->dangling_file));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-personalize", rq->personalize));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_INPUT, "-start", rq->start));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-ranks", rq->ranks));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-ranks_binary", rq->binary));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-picture", rq->picture));
  PetscCall(GpAppFilesAdd(GP_APP_FILE_OUTPUT, "-report", rq->report));
  PetscCall(GpAppFilesCheck(comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRequest(MPI_Comm comm, void *context)
{
  const Request *rq = (const Request *)context;

  PetscFunctionBegin;
  PetscCheck((rq->file[0] != 0) != (rq->nrmat > 0), comm, PETSC_ERR_USER_INPUT, "%s", rq->file[0] ? "-f and -rmat exclude each other: give one of them" : "nothing to do: give -f <file> or -rmat <scale>,<degree>");
  PetscCheck(!rq->nrmat || rq->nrmat == 2, comm, PETSC_ERR_USER_INPUT, "-rmat needs two numbers: -rmat <scale>,<degree>");
  PetscCheck(rq->solve.method != METHOD_INNEROUTER || rq->solve.inner_damping < rq->damping, comm, PETSC_ERR_USER_INPUT, "-inner_damping %g: must be less than -damping %g", (double)rq->solve.inner_damping, (double)rq->damping);
  PetscCheck((rq->dangling == DANGLING_VECTOR) == (rq->dangling_file[0] != 0), comm, PETSC_ERR_USER_INPUT, "%s", rq->dangling_file[0] ? "-dangling_file needs -dangling vector" : "-dangling vector needs -dangling_file <file>");
  PetscCall(CheckFiles(comm, rq));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LoadGraph(MPI_Comm comm, const Request *rq, Graph *G)
{
  Links L = {0};

  PetscFunctionBegin;
  if (rq->file[0]) PetscCall(GraphLoad(comm, rq->file, &rq->graph, G));
  else {
    PetscCall(PetscMemzero(G, sizeof(*G)));
    PetscCall(PetscStrncpy(G->file, "R-MAT", sizeof(G->file)));
    PetscCall(GraphMakeRMAT(comm, rq->rmat[0], rq->rmat[1], rq->seed, &L));
    PetscCall(GraphFromLinks(comm, &rq->graph, &L, (PetscInt64)1 << rq->rmat[0], G));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the initial ranks: those of -start, scaled to sum 1, else the teleportation vectors. */
static PetscErrorCode SetInitialRanks(const Request *rq, const Graph *G, PetscInt n, Vec v[], Vec x[])
{
  PetscReal sum;

  PetscFunctionBegin;
  if (!rq->start[0]) {
    if (!n) PetscCall(VecSet(x[0], 1.0 / G->N));
    for (PetscInt k = 0; k < n; k++) PetscCall(VecCopy(v[k], x[k]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GpAppVecLoad(rq->start, PetscMax(n, 1), x));
  for (PetscInt k = 0; k < PetscMax(n, 1); k++) {
    PetscCall(VecNorm(x[k], NORM_1, &sum));
    PetscCheck(sum > 0 && sum <= PETSC_MAX_REAL, G->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the ranks sum to %g, which cannot be scaled to 1", rq->start, (double)sum);
    PetscCall(VecScale(x[k], 1 / sum));
    PetscCall(GraphPermute(G, PETSC_TRUE, x[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls the solver once, for one vector or for all vectors together, and adds its work to out. */
static PetscErrorCode CallSolver(const Request *rq, const Graph *G, PetscInt n, Vec v[], Vec u, Vec x[], Outcome *out)
{
  PetscLogDouble begin, end;
  SolveResult    R, *worst = &out->result;
  Google         g;

  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(GoogleCreate(G, rq->damping, rq->dangling, n ? v[0] : NULL, u, &g));
  if (n <= 1) PetscCall(SolveSetUp(&g, &rq->solve));
  PetscCall(PetscTime(&end));
  out->setup += end - begin;
  out->loop = (PetscBool)(g.loop != NULL);
  PetscCall(PetscTime(&begin));
  if (n > 1) PetscCall(SolveBatch(&g, n, v, &rq->solve, x, &R));
  else PetscCall(Solve(&g, &rq->solve, x[0], &R));
  PetscCall(VecNorm(x[0], NORM_1, &out->sum)); /* waits until the device is idle, so that the time is complete */
  PetscCall(PetscTime(&end));
  out->solve += end - begin;
  out->matmults += g.matmults;
  out->ndangling = g.ndangling;
  R.iterations   = PetscMax(R.iterations, worst->iterations);
  if (!worst->reason || R.bound > worst->bound) *worst = R;
  worst->iterations = R.iterations;
  PetscCall(GoogleDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the ranks for all personalisations. Power iterations without extrapolation compute all vectors at once, other methods one after the other. */
static PetscErrorCode ComputeRanks(const Request *rq, const Graph *G, PetscInt n, Vec v[], Vec x[], Outcome *out)
{
  const PetscBool batch = (PetscBool)(n > 1 && rq->solve.method == METHOD_POWER && !rq->solve.extrapolate);
  Vec            *u     = NULL;
  PetscInt        nu    = 0;

  PetscFunctionBegin;
  if (rq->dangling_file[0]) {
    PetscCall(PersonalizeRead(G, rq->dangling_file, &nu, &u));
    PetscCheck(nu == 1, G->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: expected one line with a distribution, found %" PetscInt_FMT, rq->dangling_file, nu);
  }
  PetscCall(SetInitialRanks(rq, G, n, v, x));
  out->vectors = PetscMax(n, 1);
  if (n <= 1 || batch) PetscCall(CallSolver(rq, G, n, v, u ? u[0] : NULL, x, out));
  else
    for (PetscInt k = 0; k < n; k++) PetscCall(CallSolver(rq, G, 1, v + k, u ? u[0] : NULL, x + k, out));
  PetscCall(RanksSum(x[0], &out->sum));
  PetscCall(VecDestroyVecs(nu, &u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintSummary(const Request *rq, const Graph *G, const Outcome *out)
{
  const SolveResult *R = &out->result;
  char               number[24];

  PetscFunctionBegin;
  if (G->read[0]) PetscCall(PetscPrintf(G->comm, "%s\n", G->read));
  PetscCall(PetscPrintf(G->comm, "graph: %" PetscInt_FMT " nodes (%" PetscInt_FMT " dangling), %" PetscInt64_FMT " links%s, loaded in %.2g s\n", G->N, out->ndangling, G->M, G->weighted ? " with weights" : "", out->load));
  PetscCall(GpAppRoundingPrint(G->comm, "", &out->rounding));
  PetscCall(PetscPrintf(G->comm, "PageRank, damping %g: %s after %" PetscInt_FMT " iterations, %" PetscInt_FMT " products, %.3g s\n", (double)rq->damping, R->reason, R->iterations, out->matmults, out->solve));
  PetscCall(PetscPrintf(G->comm, "residual %.3e, error at most %.3e (1-norm), sum of ranks %.15g\n", (double)R->residual, (double)R->bound, (double)out->sum));
  for (PetscInt k = 0; k < out->vectors * out->ntop; k++) {
    const TopEntry *e = &out->top[k];

    if (out->vectors > 1 && k % out->ntop == 0) PetscCall(PetscPrintf(G->comm, "personalisation %" PetscInt_FMT ":\n", k / out->ntop + 1));
    PetscCall(PetscPrintf(G->comm, "%4" PetscInt_FMT " node %-12s %.12g%s\n", k % out->ntop + 1, GraphName(G, e->node, number), (double)e->rank, e->certain ? "" : "  (the next may be higher)"));
  }
  if (!R->converged) PetscCall(PetscPrintf(G->comm, "The error bound %.3e is above -tol %.3e: increase -max_it or -tol\n", (double)R->bound, (double)rq->solve.tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteReport(const Request *rq, const Graph *G, const Outcome *out)
{
  const SolveResult *R = &out->result;
  const char        *device;
  GpAppOutput        file;
  GpAppJSON          J;
  MatType            type;
  PetscMPIInt        size;

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
    GpAppJSONWriteReal(&J, "damping", (double)rq->damping);
    GpAppJSONWriteString(&J, "method", Methods[rq->solve.method]);
    GpAppJSONWriteString(&J, "reason", R->reason);
    GpAppJSONWriteBool(&J, "converged", R->converged);
    GpAppJSONWriteInt(&J, "vectors", out->vectors);
    GpAppJSONWriteInt(&J, "iterations", R->iterations);
    GpAppJSONWriteInt(&J, "matmults", out->matmults);
    GpAppJSONWriteReal(&J, "residual", (double)R->residual);
    GpAppJSONWriteReal(&J, "error_bound", (double)R->bound);
    GpAppJSONWriteReal(&J, "sum", (double)out->sum);
    GpAppJSONOpen(&J, "topk", '[', PETSC_TRUE);
    for (PetscInt k = 0; k < out->vectors * out->ntop; k++) {
      char        number[24];
      const char *name = GraphName(G, out->top[k].node, number);

      GpAppJSONOpen(&J, NULL, '{', PETSC_FALSE);
      GpAppJSONWriteInt(&J, "vector", k / out->ntop + 1);
      if (G->names.n) GpAppJSONWriteString(&J, "node", name);
      else GpAppJSONWriteInt(&J, "node", (PetscInt64)strtoll(name, NULL, 10));
      GpAppJSONWriteReal(&J, "rank", (double)out->top[k].rank);
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
    GpAppJSONEnd(&J);
  }
  PetscCall(GpAppOutputCommit(&file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(MPI_Comm comm, void *context, PetscBool *converged)
{
  const Request *rq = (const Request *)context;
  PetscLogDouble begin, end;
  PetscLogStage  load, solve;
  Outcome        out = {0};
  Graph          G;
  PetscInt       n = 0, k;
  Vec           *v = NULL, *x;

  PetscFunctionBegin;
  PetscCall(GraphRegisterEvents());
  PetscCall(PetscLogStageRegister("Load graph", &load));
  PetscCall(PetscLogStageRegister("PageRank", &solve));
  PetscCall(PetscLogStagePush(load));
  PetscCall(PetscTime(&begin));
  PetscCall(LoadGraph(comm, rq, &G));
  if (rq->personalize[0]) PetscCall(PersonalizeRead(&G, rq->personalize, &n, &v));
  PetscCall(PetscTime(&end));
  PetscCall(PetscLogStagePop());
  out.load = end - begin;
  PetscCall(VecDuplicateVecs(G.out, PetscMax(n, 1), &x));
  PetscCall(PetscLogStagePush(solve));
  PetscCall(ComputeRanks(rq, &G, n, v, x, &out));
  for (PetscInt b = 0; b < G.blocks; b++) PetscCall(GpAppRoundingAdd(G.A[b], &out.rounding));
  PetscCall(PetscLogStagePop());
  k = PetscMin(rq->topk, G.N);
  PetscCall(PetscMalloc1(k * out.vectors, &out.top));
  for (PetscInt i = 0; i < out.vectors; i++) PetscCall(RanksTop(x[i], out.result.bound, k, out.top + i * k, &out.ntop));
  PetscCall(PrintSummary(rq, &G, &out));
  if (rq->ranks[0]) PetscCall(RanksWriteText(&G, PetscMax(n, 1), x, rq->ranks));
  if (rq->binary[0]) PetscCall(RanksWriteBinary(&G, PetscMax(n, 1), x, rq->binary));
  if (rq->picture[0]) PetscCall(RanksWritePicture(x[0], rq->picture));
  if (rq->report[0]) PetscCall(WriteReport(rq, &G, &out));
  *converged = out.result.converged;
  PetscCall(PetscFree(out.top));
  PetscCall(VecDestroyVecs(PetscMax(n, 1), &x));
  PetscCall(VecDestroyVecs(n, &v));
  PetscCall(GraphDestroy(&G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static Request     rq;
  const GpAppProgram program = {"pagerank", &manual, GetRequest, NULL, CheckRequest, Run, &rq};

  return GpAppMain(argc, argv, &program);
}
