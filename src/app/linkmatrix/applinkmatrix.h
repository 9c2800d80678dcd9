/* The links of a graph as a matrix, and the names of its nodes. */
#ifndef GPUCSR_APPLINKMATRIX_H
#define GPUCSR_APPLINKMATRIX_H

#include "app/graph/appgraph.h"
#include <petscmat.h>

typedef struct {
  MPI_Comm    comm;
  char        file[PETSC_MAX_PATH_LEN];
  PetscInt    N;                            /* number of nodes */
  PetscInt64  M;                            /* number of links in the matrix */
  PetscInt64 *id;                           /* [N], the same on every process: identity of each node: its number in the file, or the number of its name. NULL: node k has the identity k + idbase. */
  PetscInt64  idbase;                       /* identity of the first node if id is NULL: 1 for Matrix Market, METIS and Pajek, else 0 */
  GpAppNames  names;                        /* the same on every process: name of each node. Empty if the nodes have no names. */
  char        read[2 * PETSC_MAX_PATH_LEN]; /* one line about the file: its size and how it was read */
  PetscInt   *row, *node;                   /* [N], the same on every process: row of each node, and node of each row. Nodes are numbered in the order of their identities. NULL: the row is the node. */
  PetscBool   weighted;
  PetscInt    blocks; /* number of row blocks of each process */
  Mat        *A;      /* [blocks], one matrix for each row block. Entry (j,i) is the weight of the link from i to j. */
  Mat         links;  /* A[0], or the MATNEST of all blocks */
} GpAppLinkMatrix;

typedef enum {
  GP_LINK_ORDER_GIVEN, /* rows by ascending identity of the node */
  GP_LINK_ORDER_DEGREE /* rows by descending number of outgoing links. Then the entries of x that products read most often are next to each other. */
} GpAppLinkOrder;
PETSC_EXTERN const char *const GpAppLinkOrders[];

typedef struct {
  PetscBool      undirected, keep_loops, count_duplicates;
  GpAppLinkOrder order;
  GpAppGraphSpec spec;   /* options about the format of the file */
  PetscInt       blocks; /* number of row blocks of each process. GpAppLinkMatrixInterleave() assigns the rows to them in turn. 1: the order of the rows stays. */
} GpAppLinkOptions;

PETSC_EXTERN PetscErrorCode GpAppLinksMakeRMAT(MPI_Comm, PetscInt scale, PetscInt degree, PetscInt seed, GpAppLinks *);
PETSC_INTERN PetscErrorCode GpAppLinksCompress(GpAppLinks *, PetscInt N, PetscInt first, PetscInt m, PetscInt **i, PetscInt **j, PetscScalar **a);

PETSC_EXTERN PetscErrorCode GpAppLinkMatrixRegisterEvents(void);
PETSC_EXTERN PetscErrorCode GpAppLinkMatrixCreate(MPI_Comm, const GpAppLinkOptions *, GpAppLinks *, PetscInt64 nodes, GpAppLinkMatrix *);
PETSC_EXTERN PetscErrorCode GpAppLinkMatrixLoad(MPI_Comm, const char[], const GpAppLinkOptions *, GpAppLinkMatrix *);
PETSC_INTERN PetscErrorCode GpAppLinkMatrixRename(MPI_Comm, GpAppLinks *, GpAppLinkMatrix *); /* replaces the identities of nodes in the links by their numbers */
PETSC_INTERN PetscErrorCode GpAppLinkMatrixReorder(MPI_Comm, GpAppLinks *, GpAppLinkMatrix *);
PETSC_INTERN PetscErrorCode GpAppLinkMatrixInterleave(PetscLayout, PetscInt blocks, GpAppLinks *, GpAppLinkMatrix *);
PETSC_EXTERN PetscErrorCode GpAppLinkMatrixCreateVecs(const GpAppLinkMatrix *, PetscInt n, Vec **x);                           /* vectors with an entry for each row */
PETSC_EXTERN PetscErrorCode GpAppLinkMatrixPermute(const GpAppLinkMatrix *, PetscBool byrow, Vec x);                           /* byrow: from the order of nodes to that of rows, else the reverse */
PETSC_EXTERN PetscErrorCode GpAppLinkMatrixFindNode(const GpAppLinkMatrix *, const char name[], size_t length, PetscInt *row); /* finds the row of a node by its name or number. -1: no such node. */
PETSC_EXTERN const char    *GpAppLinkMatrixGetName(const GpAppLinkMatrix *, PetscInt row, char number[24]);                    /* name or number of the node of a row; number is the buffer */
PETSC_EXTERN PetscErrorCode GpAppLinkMatrixDestroy(GpAppLinkMatrix *);

/* First row of block b, counted from the first of the n rows of a process. For b = blocks it is n. */
static inline PetscInt GpAppLinkBlockStart(PetscInt n, PetscInt blocks, PetscInt b)
{
  return b * (n / blocks) + PetscMin(b, n % blocks);
}

#endif
