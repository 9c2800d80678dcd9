/* The main program network: reads or generates a graph, computes a measure of its nodes, and writes the results. */
#include "network.h"
#include "mainoptions.h"
#include "app/program/appmain.h"
#include <petsctime.h>

static PetscErrorCode MainGetRequest(MPI_Comm comm, void *context)
{
  Request *rq = (Request *)context;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rq, sizeof(*rq)));
  rq->topk = 10;
  PetscOptionsBegin(comm, NULL, "Options of the network program", "Network");
  PetscCall(GpAppLinkRequestGet(PetscOptionsObject, options, &rq->graph));
  PetscCall(PetscOptionsInt("-topk", GpAppOptionGetText(options, "-topk"), "", rq->topk, &rq->topk, NULL));
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, options, GP_APP_FILE_OUTPUT, "-values", rq->values));
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, options, GP_APP_FILE_OUTPUT, "-values_binary", rq->binary));
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, options, GP_APP_FILE_OUTPUT, "-picture", rq->picture));
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, options, GP_APP_FILE_OUTPUT, "-report", rq->report));
  PetscOptionsEnd();
  PetscCall(GpAppGraphOptions(comm, &rq->graph.links.spec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the solver, which reads its options without a prefix; those of its linear solver have the prefix network_. */
static PetscErrorCode MainCreateSolver(MPI_Comm comm, Request *rq)
{
  KSP ksp;

  PetscFunctionBegin;
  PetscCall(NetworkCreate(comm, &rq->nw));
  PetscCall(NetworkSetOptionsPrefix(rq->nw, NULL));
  PetscCall(NetworkSetFromOptions(rq->nw));
  PetscCall(NetworkGetKSP(rq->nw, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "network_"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the options of the solver for -help. */
static PetscErrorCode MainShowOptions(MPI_Comm comm, void *context)
{
  Request *rq = (Request *)context;

  PetscFunctionBegin;
  PetscCall(MainCreateSolver(comm, rq));
  PetscCall(NetworkDestroy(&rq->nw));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MainCheckRequest(MPI_Comm comm, void *context)
{
  Request       *rq = (Request *)context;
  NetworkMeasure measure;
  PetscBool      alpha, damping;

  PetscFunctionBegin;
  PetscCall(GpAppLinkRequestCheck(comm, &rq->graph));
  PetscCall(MainCreateSolver(comm, rq));
  PetscCall(NetworkGetMeasure(rq->nw, &measure));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-alpha", &alpha));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-damping", &damping));
  PetscCheck(!(alpha || damping) || !strcmp(measure, NETWORKKATZ), comm, PETSC_ERR_USER_INPUT, "%s needs -measure katz", alpha ? "-alpha" : "-damping");
  PetscCheck(!alpha || !damping, comm, PETSC_ERR_USER_INPUT, "-alpha and -damping exclude each other: give one of them");
  PetscCall(GpAppPlotProbe(comm, rq->picture));
  PetscCall(GpAppFilesCheck(comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses an alpha for which the series of walks diverges. The quantities of katz are the eigenvalue, if alpha was computed from it, and alpha. */
static PetscErrorCode MainRefuseAlpha(MPI_Comm comm, const Outcome *out)
{
  PetscFunctionBegin;
  PetscCheck(out->nquantities == 1, comm, PETSC_ERR_USER_INPUT, "-damping: too large for the accuracy of the largest eigenvalue of this graph, reduce -damping or -tol");
  SETERRQ(comm, PETSC_ERR_USER_INPUT, "-alpha %g: too large for this graph, alpha must be less than 1 divided by the largest eigenvalue, which -measure eigenvector prints", (double)out->quantity[0]);
}

/* Computes the measure, and refuses parameters for which it does not exist. */
static PetscErrorCode MainCompute(const Request *rq, const GpAppLinkMatrix *G, Outcome *out)
{
  const Network nw = rq->nw;
  PetscReal     norm;

  PetscFunctionBegin;
  if (rq->graph.links.undirected && !G->weighted) PetscCall(MatSetOption(G->links, MAT_SYMMETRIC, PETSC_TRUE)); /* sums of weights may round differently in the two directions */
  PetscCall(NetworkSetGraph(nw, G->links));
  PetscCall(PetscTimeSubtract(&out->setup));
  PetscCall(NetworkSetUp(nw));
  PetscCall(PetscTimeAdd(&out->setup));
  PetscCall(PetscTimeSubtract(&out->solve));
  PetscCall(NetworkSolve(nw));
  PetscCall(NetworkGetResults(nw, &out->nresults, &out->names, &out->x));
  PetscCall(VecNorm(out->x[0], NORM_1, &norm)); /* waits until the device is idle, so that the time is complete */
  PetscCall(PetscTimeAdd(&out->solve));
  PetscCall(NetworkGetMeasure(nw, &out->measure));
  PetscCall(NetworkGetResultType(nw, &out->type));
  PetscCall(NetworkGetQuantities(nw, &out->nquantities, &out->quantityname, &out->quantity));
  PetscCall(NetworkGetGroups(nw, &out->ngroups, &out->size, &out->member));
  PetscCall(NetworkGetResidual(nw, &out->residual, &out->bound));
  PetscCall(NetworkGetConvergedReason(nw, &out->reason));
  PetscCall(NetworkGetIterationNumber(nw, &out->iterations));
  PetscCall(NetworkGetMatMults(nw, &out->matmults));
  if (out->reason == NETWORK_DIVERGED_ALPHA) PetscCall(MainRefuseAlpha(G->comm, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MainRun(MPI_Comm comm, void *context, PetscBool *converged)
{
  Request        *rq = (Request *)context;
  PetscLogStage   load, solve;
  Outcome         out = {0};
  GpAppLinkMatrix G;
  PetscInt        k;

  PetscFunctionBegin;
  PetscCall(GpAppLinkMatrixRegisterEvents());
  PetscCall(PetscLogStageRegister("Load graph", &load));
  PetscCall(PetscLogStageRegister("Network", &solve));
  PetscCall(PetscLogStagePush(load));
  PetscCall(PetscTimeSubtract(&out.load));
  PetscCall(GpAppLinkRequestLoad(comm, &rq->graph, &G));
  PetscCall(PetscTimeAdd(&out.load));
  PetscCall(PetscLogStagePop());
  PetscCall(PetscLogStagePush(solve));
  PetscCall(MainCompute(rq, &G, &out));
  PetscCall(GpAppRoundingAdd(G.links, &out.rounding));
  PetscCall(GpAppStreamedAdd(G.links, &out.streamed));
  PetscCall(PetscLogStagePop());
  k = PetscMin(rq->topk, G.N);
  PetscCall(PetscMalloc1(k * out.nresults, &out.top));
  for (PetscInt i = 0; i < out.nresults && out.type != NETWORK_RESULT_GROUP; i++) PetscCall(GpAppNodesFindTop(out.x[i], (GpAppNodeErrors){.relative = PetscMax(out.bound, 0)}, k, out.top + i * k, &out.ntop));
  if (out.type == NETWORK_RESULT_GROUP) out.ntop = PetscMin(k, out.ngroups);
  PetscCall(ReportPrint(rq, &G, &out));
  if (rq->values[0]) PetscCall(GpAppNodesWriteText(&G, out.nresults, out.x, rq->values));
  if (rq->binary[0]) PetscCall(GpAppNodesWriteBinary(&G, out.nresults, out.x, rq->binary));
  if (rq->picture[0]) PetscCall(ReportWritePicture(rq, &G, &out));
  if (rq->report[0]) PetscCall(ReportWrite(rq, &G, &out));
  *converged = (PetscBool)(out.reason > 0);
  PetscCall(PetscFree(out.top));
  PetscCall(NetworkDestroy(&rq->nw));
  PetscCall(GpAppLinkMatrixDestroy(&G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static Request     rq;
  const GpAppProgram program = {"network", &manual, MainGetRequest, MainShowOptions, MainCheckRequest, MainRun, &rq};

  return GpAppMain(argc, argv, &program);
}
