/* The readers of pagerank: graphs, personalisations. */
#include "examples/pagerank/pagerank.h"
#include "fuzz.h"
#include <string.h>

static GpAppLinkMatrix Small; /* what personalisations are of */
static PetscBool       Registered = PETSC_FALSE;

static PetscErrorCode Register(void)
{
  PetscFunctionBegin;
  if (!Registered) PetscCall(GpAppLinkMatrixRegisterEvents());
  Registered = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareGraph(const char folder[])
{
  PetscFunctionBegin;
  PetscCall(Register());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that flows along the links are finite and not negative. */
static PetscErrorCode CheckGraph(const GpAppLinkMatrix *G, char wrong[FUZZ_WRONG])
{
  Vec      *x;
  PetscReal least, most;

  PetscFunctionBegin;
  FUZZ_EXPECT(G->N >= 1 && G->M >= 0, "%lld nodes, %lld links", (long long)G->N, (long long)G->M);
  for (PetscInt k = 1; G->id && k < G->N; k++) FUZZ_EXPECT(G->id[k] > G->id[k - 1], "node %lld has the identity %lld", (long long)k, (long long)G->id[k]);
  PetscCall(GpAppLinkMatrixCreateVecs(G, 2, &x));
  PetscCall(VecSet(x[0], 1.0));
  PetscCall(MatMult(G->links, x[0], x[1]));
  PetscCall(VecMin(x[1], NULL, &least));
  PetscCall(VecMax(x[1], NULL, &most));
  FUZZ_EXPECT(least >= 0 && !PetscIsInfOrNanReal(most), "flows from %g to %g", (double)least, (double)most);
  PetscCall(VecDestroyVecs(2, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadGraph(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  GpAppLinkOptions options = {.blocks = 1};
  GpAppLinkMatrix  G;

  PetscFunctionBegin;
  options.undirected       = (PetscBool)(choice & 1);
  options.keep_loops       = (PetscBool)(choice >> 1 & 1);
  options.count_duplicates = (PetscBool)(choice >> 2 & 1);
  options.order            = choice >> 3 & 1 ? GP_LINK_ORDER_DEGREE : GP_LINK_ORDER_GIVEN;
  options.blocks           = choice >> 4 & 1 ? 2 : 1;
  PetscCall(GpAppLinkMatrixLoad(PETSC_COMM_SELF, file, &options, &G));
  PetscCall(CheckGraph(&G, wrong));
  PetscCall(GpAppLinkMatrixDestroy(&G));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PreparePersonalisation(const char folder[])
{
  const GpAppLinkOptions options = {.blocks = 1};
  char                   file[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCall(Register());
  PetscCall(FuzzWriteText(folder, "graph", "10 20\n20 30\n30 10\n30 40\n40 50\n50 10\n"));
  (void)snprintf(file, sizeof(file), "%s/graph", folder);
  PetscCall(GpAppLinkMatrixLoad(PETSC_COMM_SELF, file, &options, &Small));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadPersonalisation(const char file[], uint64_t choice, char wrong[FUZZ_WRONG])
{
  PetscInt    n;
  PetscScalar sum;
  PetscReal   least;
  Vec        *v;

  PetscFunctionBegin;
  PetscCall(PersonalizeRead(&Small, file, &n, &v));
  FUZZ_EXPECT(n >= 1, "%lld vectors", (long long)n);
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(VecSum(v[k], &sum));
    PetscCall(VecMin(v[k], NULL, &least));
    FUZZ_EXPECT(PetscAbsScalar(sum - 1) < 1e-9 && least >= 0, "vector %lld has the sum %g and the least entry %g", (long long)k, PetscRealPart(sum), (double)least);
  }
  PetscCall(VecDestroyVecs(n, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FuzzReader FuzzPagerank[] = {{.name = "graph", .suffix = ".graph", .prepare = PrepareGraph, .read = ReadGraph}, {.name = "personalisation", .suffix = ".txt", .prepare = PreparePersonalisation, .read = ReadPersonalisation}, {.name = NULL}};
