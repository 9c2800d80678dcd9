/* What the program network says about a run: the summary, the report in JSON and the picture. */
#include "network.h"
#include "app/report/appjson.h"
#include <gpucsr.h>

/* Prints the list of the largest groups, each with its first node. */
static PetscErrorCode ReportPrintGroups(const GpAppLinkMatrix *G, const Outcome *out)
{
  char number[24];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < out->ntop; k++) PetscCall(PetscPrintf(G->comm, "%4" PetscInt_FMT " %" PetscInt_FMT " node%s, the first is %s\n", k + 1, out->size[k], out->size[k] == 1 ? "" : "s", GpAppLinkMatrixGetName(G, out->member[k], number)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the lists of the highest values. Only a bound on the error makes a place certain. */
static PetscErrorCode ReportPrintNodes(const GpAppLinkMatrix *G, const Outcome *out)
{
  char number[24];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < out->nresults * out->ntop; k++) {
    const GpAppTopNode *e = &out->top[k];

    if (out->nresults > 1 && k % out->ntop == 0) PetscCall(PetscPrintf(G->comm, "%s:\n", out->names[k / out->ntop]));
    PetscCall(PetscPrintf(G->comm, "%4" PetscInt_FMT " node %-12s %.12g%s\n", k % out->ntop + 1, GpAppLinkMatrixGetName(G, e->node, number), (double)e->value, e->certain || out->bound < 0 ? "" : "  (the next may be higher)"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReportPrintReason(const GpAppLinkMatrix *G, const Outcome *out)
{
  const char *what;

  PetscFunctionBegin;
  if (out->reason == NETWORK_DIVERGED_ZERO) what = strcmp(out->measure, NETWORKEIGENVECTOR) ? "The graph has no links, so that all values are 0" : "The graph has no cycle, so that all values are 0: choose -measure katz with -alpha";
  else if (out->reason == NETWORK_DIVERGED_STAGNATION) what = "The residual no longer falls: reduce -alpha or -damping, increase -tol, or choose another -network_ksp_type";
  else if (out->type == NETWORK_RESULT_GROUP) what = "Labels still changed in the last sweep: increase -max_it";
  else what = "The iteration did not reach -tol: increase -max_it or -tol";
  PetscCall(PetscPrintf(G->comm, "%s\n", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReportPrint(const Request *rq, const GpAppLinkMatrix *G, const Outcome *out)
{
  PetscFunctionBegin;
  if (G->read[0]) PetscCall(PetscPrintf(G->comm, "%s\n", G->read));
  PetscCall(PetscPrintf(G->comm, "graph: %" PetscInt_FMT " nodes, %" PetscInt64_FMT " links%s, loaded in %.2g s\n", G->N, G->M, G->weighted ? " with weights" : "", out->load));
  PetscCall(GpAppRoundingPrint(G->comm, "", &out->rounding));
  PetscCall(GpAppStreamedPrint(G->comm, "", &out->streamed));
  PetscCall(PetscPrintf(G->comm, "%s: %s after %" PetscInt_FMT " iterations, %" PetscInt_FMT " products, %.3g s\n", out->measure, NetworkConvergedReasons[out->reason], out->iterations, out->matmults, out->solve));
  if (out->residual >= 0) PetscCall(PetscPrintf(G->comm, "residual %.3e", (double)out->residual));
  if (out->bound >= 0) PetscCall(PetscPrintf(G->comm, ", relative error of every value at most %.3e", (double)out->bound));
  for (PetscInt k = 0; k < out->nquantities; k++) PetscCall(PetscPrintf(G->comm, "%s%s %.12g", k || out->residual >= 0 ? ", " : "", out->quantityname[k], (double)out->quantity[k]));
  if (out->residual >= 0 || out->nquantities) PetscCall(PetscPrintf(G->comm, "\n"));
  if (out->type == NETWORK_RESULT_GROUP) PetscCall(ReportPrintGroups(G, out));
  else PetscCall(ReportPrintNodes(G, out));
  if (out->reason < 0) PetscCall(ReportPrintReason(G, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void ReportWriteTop(GpAppJSON *J, const GpAppLinkMatrix *G, const Outcome *out)
{
  const PetscBool groups = (PetscBool)(out->type == NETWORK_RESULT_GROUP);

  GpAppJSONOpen(J, groups ? "groups" : "topk", '[', PETSC_TRUE);
  for (PetscInt k = 0; k < (groups ? 1 : out->nresults) * out->ntop; k++) {
    GpAppJSONOpen(J, NULL, '{', PETSC_FALSE);
    if (groups) {
      GpAppJSONWriteInt(J, "group", k + 1);
      GpAppJSONWriteInt(J, "size", out->size[k]);
      GpAppNodeWriteJSON(J, "first", G, out->member[k]);
    } else {
      GpAppJSONWriteString(J, "result", out->names[k / out->ntop]);
      GpAppNodeWriteJSON(J, "node", G, out->top[k].node);
      GpAppJSONWriteReal(J, "value", (double)out->top[k].value);
      if (out->bound >= 0) GpAppJSONWriteBool(J, "certain", out->top[k].certain);
      else GpAppJSONWriteNull(J, "certain");
    }
    GpAppJSONClose(J);
  }
  GpAppJSONClose(J);
}

PetscErrorCode ReportWrite(const Request *rq, const GpAppLinkMatrix *G, const Outcome *out)
{
  const char *device;
  GpAppOutput file;
  GpAppJSON   J;
  MatType     type;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(G->comm, &size));
  PetscCall(MatGetType(G->links, &type));
  PetscCall(PetscGPUCSRGetDeviceName(&device));
  PetscCall(GpAppOutputOpen(G->comm, rq->report, &file));
  if (file.fp) {
    GpAppJSONBegin(&J, file.fp);
    GpAppJSONWriteInt(&J, "nodes", G->N);
    GpAppJSONWriteInt(&J, "edges", G->M);
    GpAppJSONWriteBool(&J, "weighted", G->weighted);
    GpAppJSONWriteString(&J, "measure", out->measure);
    GpAppJSONWriteString(&J, "reason", NetworkConvergedReasons[out->reason]);
    GpAppJSONWriteBool(&J, "converged", (PetscBool)(out->reason > 0));
    GpAppJSONWriteInt(&J, "iterations", out->iterations);
    GpAppJSONWriteInt(&J, "matmults", out->matmults);
    if (out->residual >= 0) GpAppJSONWriteReal(&J, "residual", (double)out->residual);
    else GpAppJSONWriteNull(&J, "residual");
    if (out->bound >= 0) GpAppJSONWriteReal(&J, "error_bound", (double)out->bound);
    else GpAppJSONWriteNull(&J, "error_bound");
    for (PetscInt k = 0; k < out->nquantities; k++) GpAppJSONWriteReal(&J, out->quantityname[k], (double)out->quantity[k]);
    ReportWriteTop(&J, G, out);
    GpAppJSONWriteReal(&J, "seconds_load", out->load);
    GpAppJSONWriteReal(&J, "seconds_setup", out->setup);
    GpAppJSONWriteReal(&J, "seconds_solve", out->solve);
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

/* Writes the distribution of the first result, or of the sizes of the groups, over the place in the list. */
PetscErrorCode ReportWritePicture(const Request *rq, const GpAppLinkMatrix *G, const Outcome *out)
{
  double *place, *size;
  char    title[128], note[128];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(note, sizeof(note), "measure %s", out->measure));
  if (out->residual >= 0) PetscCall(PetscSNPrintf(note, sizeof(note), "measure %s, residual %.2g after %" PetscInt_FMT " iterations%s", out->measure, (double)out->residual, out->iterations, out->reason > 0 ? "" : ", not converged"));
  if (out->type != NETWORK_RESULT_GROUP) {
    PetscCall(GpAppNodesWritePicture(out->x[0], out->names[0], note, rq->picture));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(out->ngroups, &place, out->ngroups, &size));
  for (PetscInt k = 0; k < out->ngroups; k++) {
    place[k] = k + 1;
    size[k]  = out->size[k];
  }
  PetscCall(PetscSNPrintf(title, sizeof(title), "Sizes of %" PetscInt_FMT " groups", out->ngroups));
  PetscCall(GpAppPlotWrite(G->comm, rq->picture, &(GpAppPlot){title, note, "place", "size", PETSC_TRUE, 1, &(GpAppCurve){NULL, out->ngroups, place, size}}));
  PetscCall(PetscFree2(place, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}
