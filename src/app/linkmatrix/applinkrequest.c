/* The options by which programs get a graph. */
#include "app/linkmatrix/applinkrequest.h"

/* Reads the name of a file. All files of the run are registered, so that none destroys another. */
PetscErrorCode GpAppLinkRequestGetFile(GpOptionItems PetscOptionsObject, const GpAppOption table[], GpAppFileRole role, const char option[], char path[PETSC_MAX_PATH_LEN])
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsString(option, GpAppOptionGetText(table, option), "", path, path, PETSC_MAX_PATH_LEN, NULL));
  PetscCall(GpAppFilesAdd(role, option, path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the options, except those about the format of the file, which GpAppGraphOptions() reads. */
PetscErrorCode GpAppLinkRequestGet(GpOptionItems PetscOptionsObject, const GpAppOption table[], GpAppLinkRequest *rq)
{
  PetscBool loops = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rq, sizeof(*rq)));
  rq->nrmat        = 2;
  rq->links.blocks = 1;
  PetscCall(GpAppLinkRequestGetFile(PetscOptionsObject, table, GP_APP_FILE_INPUT, "-f", rq->file));
  PetscCall(PetscOptionsIntArray("-rmat", GpAppOptionGetText(table, "-rmat"), "", rq->rmat, &rq->nrmat, NULL));
  PetscCall(PetscOptionsInt("-seed", GpAppOptionGetText(table, "-seed"), "", rq->seed, &rq->seed, NULL));
  PetscCall(PetscOptionsBool("-undirected", GpAppOptionGetText(table, "-undirected"), "", rq->links.undirected, &rq->links.undirected, NULL));
  PetscCall(PetscOptionsBool("-loops", GpAppOptionGetText(table, "-loops"), "", loops, &loops, NULL));
  PetscCall(PetscOptionsBool("-count_duplicates", GpAppOptionGetText(table, "-count_duplicates"), "", rq->links.count_duplicates, &rq->links.count_duplicates, NULL));
  PetscCall(PetscOptionsEnum("-order", GpAppOptionGetText(table, "-order"), "", GpAppLinkOrders, (PetscEnum)rq->links.order, (PetscEnum *)&rq->links.order, NULL));
  rq->links.keep_loops = loops;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppLinkRequestCheck(MPI_Comm comm, const GpAppLinkRequest *rq)
{
  PetscFunctionBegin;
  PetscCheck((rq->file[0] != 0) != (rq->nrmat > 0), comm, PETSC_ERR_USER_INPUT, "%s", rq->file[0] ? "-f and -rmat exclude each other: give one of them" : "nothing to do: give -f <file> or -rmat <scale>,<degree>");
  PetscCheck(!rq->nrmat || rq->nrmat == 2, comm, PETSC_ERR_USER_INPUT, "-rmat needs two numbers: -rmat <scale>,<degree>");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads or generates the graph. The caller frees it with GpAppLinkMatrixDestroy(). */
PetscErrorCode GpAppLinkRequestLoad(MPI_Comm comm, const GpAppLinkRequest *rq, GpAppLinkMatrix *G)
{
  GpAppLinks L = {0};

  PetscFunctionBegin;
  if (rq->file[0]) {
    PetscCall(GpAppLinkMatrixLoad(comm, rq->file, &rq->links, G));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMemzero(G, sizeof(*G)));
  PetscCall(PetscStrncpy(G->file, "R-MAT", sizeof(G->file)));
  PetscCall(GpAppLinksMakeRMAT(comm, rq->rmat[0], rq->rmat[1], rq->seed, &L));
  PetscCall(GpAppLinkMatrixCreate(comm, &rq->links, &L, (PetscInt64)1 << rq->rmat[0], G));
  PetscFunctionReturn(PETSC_SUCCESS);
}
