/* Output of values of the nodes: list of the highest values, text and binary files, picture of the distribution. */
#include "app/linkmatrix/appnodes.h"
#include "app/output/appoutput.h"
#include "app/picture/appplot.h"
#include "app/text/appcollective.h"
#include <stdlib.h>
#include <string.h>

/* Order of the list: descending value, equal values by ascending row. This order does not depend on the number of processes. */
static int NodesComparePlaces(const void *a, const void *b)
{
  const GpAppTopNode *p = (const GpAppTopNode *)a, *q = (const GpAppTopNode *)b;

  if (p->value != q->value) return p->value > q->value ? -1 : 1;
  return (p->node > q->node) - (p->node < q->node);
}

/* Inserts an entry into a sorted list of at most k entries. n is the current length. */
static void NodesInsertPlace(GpAppTopNode *list, PetscInt k, PetscInt *n, GpAppTopNode e)
{
  PetscInt at;

  if (*n == k && NodesComparePlaces(&e, &list[k - 1]) > 0) return;
  for (at = *n < k ? (*n)++ : k - 1; at > 0 && NodesComparePlaces(&e, &list[at - 1]) < 0; at--) list[at] = list[at - 1];
  list[at] = e;
}

/* Whether the exact value of an entry is higher than that of the next entry. Absolute errors with the sum b change the difference of two values by at most b. */
static PetscBool NodesIsCertain(const GpAppTopNode *e, const GpAppTopNode *next, GpAppNodeErrors errors)
{
  return (PetscBool)(e->value - next->value > errors.absolute + errors.relative * (PetscAbsReal(e->value) + PetscAbsReal(next->value)));
}

/* Finds the k nodes of highest value, on all processes. `found` is the length of the list. If a place is certain, all nodes up to this place have
   higher exact values than all nodes after it. */
PetscErrorCode GpAppNodesFindTop(Vec x, GpAppNodeErrors errors, PetscInt k, GpAppTopNode top[], PetscInt *found)
{
  MPI_Comm           comm   = PetscObjectComm((PetscObject)x);
  const PetscInt     wanted = k + 1; /* one more than wanted, to decide whether the last place is certain */
  const PetscScalar *a;
  GpAppTopNode      *mine, *all;
  PetscInt           first, m, n = 0;
  PetscInt64         total;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(wanted, &mine));
  PetscCall(VecGetOwnershipRange(x, &first, NULL));
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < m; i++) NodesInsertPlace(mine, wanted, &n, (GpAppTopNode){PetscRealPart(a[i]), first + i, PETSC_FALSE});
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(GpAppAllgather(comm, mine, n, sizeof(*mine), &all, &total));
  qsort(all, (size_t)total, sizeof(*all), NodesComparePlaces);
  *found = (PetscInt)PetscMin(k, total);
  for (PetscInt i = 0; i < *found; i++) {
    top[i]         = all[i];
    top[i].certain = (PetscBool)(i + 1 == total || NodesIsCertain(&all[i], &all[i + 1], errors));
  }
  PetscCall(PetscFree(mine));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the sum of the values in extended precision. In double precision the sum of a million numbers may be wrong in the eleventh digit. */
PetscErrorCode GpAppNodesSum(Vec x, PetscReal *sum)
{
  const PetscScalar *a;
  long double        mine = 0, all;
  PetscInt           m;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &m));
  PetscCall(VecGetArrayRead(x, &a));
  for (PetscInt i = 0; i < m; i++) mine += PetscRealPart(a[i]);
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_LONG_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)x)));
  *sum = (PetscReal)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the whole vector to the first process. */
static PetscErrorCode NodesGather(Vec x, Vec *on0)
{
  VecScatter scatter;

  PetscFunctionBegin;
  PetscCall(VecScatterCreateToZero(x, &scatter, on0));
  PetscCall(VecScatterBegin(scatter, x, *on0, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, *on0, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes a name in the syntax of result files and of -personalize. A name with a blank, a quote, a comma, a colon, # or another delimiter is quoted;
   quotes inside are doubled. */
void GpAppNodeWriteName(FILE *fp, const char name[])
{
  if (*name && !strpbrk(name, " \t\r\n\"',;:#%")) {
    (void)fputs(name, fp);
    return;
  }
  (void)fputc('"', fp);
  for (const char *c = name; *c; c++) (void)fprintf(fp, *c == '"' ? "\"\"" : "%c", *c == '\n' ? ' ' : *c);
  (void)fputc('"', fp);
}

/* Writes the name of the node of a row, or its number, as a value of a JSON document. */
void GpAppNodeWriteJSON(GpAppJSON *J, const char key[], const GpAppLinkMatrix *G, PetscInt row)
{
  char        number[24];
  const char *name = GpAppLinkMatrixGetName(G, row, number);

  if (G->names.n) GpAppJSONWriteString(J, key, name);
  else GpAppJSONWriteInt(J, key, (PetscInt64)strtoll(name, NULL, 10));
}

/* Writes a line for every node, in the order of identities: the name or number of the node, and its value in each of the n vectors. */
PetscErrorCode GpAppNodesWriteText(const GpAppLinkMatrix *G, PetscInt n, const Vec x[], const char file[])
{
  GpAppOutput         out;
  Vec                *on0;
  const PetscScalar **a;
  char                number[24];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &on0, n, &a));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(NodesGather(x[k], &on0[k]));
    PetscCall(VecGetArrayRead(on0[k], &a[k]));
  }
  PetscCall(GpAppOutputOpen(G->comm, file, &out));
  for (PetscInt i = 0; i < G->N && out.fp; i++) {
    const PetscInt row = G->row ? G->row[i] : i;

    GpAppNodeWriteName(out.fp, GpAppLinkMatrixGetName(G, row, number));
    for (PetscInt k = 0; k < n; k++) (void)fprintf(out.fp, " %.17g", (double)PetscRealPart(a[k][row]));
    (void)fputc('\n', out.fp);
  }
  PetscCall(GpAppOutputCommit(&out));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecRestoreArrayRead(on0[k], &a[k]));
    PetscCall(VecDestroy(&on0[k]));
  }
  PetscCall(PetscFree2(on0, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the n vectors one after the other in PETSc's binary format, for VecLoad(). The entries are in the order of identities. */
PetscErrorCode GpAppNodesWriteBinary(const GpAppLinkMatrix *G, PetscInt n, const Vec x[], const char file[])
{
  GpAppOutput        out;
  Vec                bynode;
  const PetscScalar *a;
  const PetscInt     header[] = {VEC_FILE_CLASSID, G->N};
  PetscInt           m;
  PetscMPIInt        rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(G->comm, &rank));
  PetscCall(VecDuplicate(x[0], &bynode));
  PetscCall(VecGetLocalSize(bynode, &m));
  PetscCall(GpAppOutputOpen(G->comm, file, &out));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecCopy(x[k], bynode));
    PetscCall(GpAppLinkMatrixPermute(G, PETSC_FALSE, bynode));
    PetscCall(GpAppOutputBinary(&out, header, rank ? 0 : 2, PETSC_INT));
    PetscCall(VecGetArrayRead(bynode, &a));
    PetscCall(GpAppOutputBinary(&out, a, m, PETSC_SCALAR));
    PetscCall(VecRestoreArrayRead(bynode, &a));
  }
  PetscCall(VecDestroy(&bynode));
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int NodesCompareDescending(const void *a, const void *b)
{
  const PetscScalar x = *(const PetscScalar *)a, y = *(const PetscScalar *)b;

  return (x < y) - (x > y);
}

/* Writes a picture of the distribution of the values: value over place, on logarithmic axes. A power law is a straight line there. axis: the name of the values. note: the result in a few words. */
PetscErrorCode GpAppNodesWritePicture(Vec x, const char axis[], const char note[], const char file[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)x);
  Vec            on0;
  PetscScalar   *a;
  PetscInt       N, points = 0;
  double        *place, *value;
  char           title[128];

  PetscFunctionBegin;
  PetscCall(NodesGather(x, &on0));
  PetscCall(VecGetLocalSize(on0, &N));
  PetscCall(VecGetArray(on0, &a));
  PetscCall(PetscMalloc2(N, &place, N, &value));
  qsort(a, (size_t)N, sizeof(*a), NodesCompareDescending);
  for (double p = 1; p <= N; p = PetscMax(p + 1, PetscFloorReal(p * 1.02))) {
    place[points]   = p;
    value[points++] = PetscRealPart(a[(PetscInt)p - 1]);
  }
  PetscCall(VecGetSize(x, &N));
  PetscCall(PetscSNPrintf(title, sizeof(title), "%s of %" PetscInt_FMT " nodes", axis, N));
  PetscCall(GpAppPlotWrite(comm, file, &(GpAppPlot){title, note, "place", axis, PETSC_TRUE, 1, &(GpAppCurve){NULL, points, place, value}}));
  PetscCall(PetscFree2(place, value));
  PetscCall(VecRestoreArray(on0, &a));
  PetscCall(VecDestroy(&on0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
