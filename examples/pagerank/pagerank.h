/* The program pagerank: the graph as a matrix (Graph...), the output of ranks (Ranks...), and the method eps. */
#ifndef GPUCSR_PAGERANK_H
#define GPUCSR_PAGERANK_H

#include "app/app.h"
#include "app/graph/appgraph.h"
#include <gpucsrpagerank.h>

/* The links of a graph before the matrix exists. GraphRename() replaces the identities of nodes by their numbers. */
typedef GpAppLinks Links;

typedef struct {
  MPI_Comm    comm;
  char        file[PETSC_MAX_PATH_LEN];
  PetscInt    N;                            /* number of nodes */
  PetscInt64  M;                            /* number of links in the matrix */
  PetscInt64 *id;                           /* [N], the same on every process: identity of each node. NULL: node k has the identity k + idbase. */
  PetscInt64  idbase;                       /* identity of the first node if id is NULL: 1 for Matrix Market, METIS and Pajek, else 0 */
  GpAppNames  names;                        /* the same on every process: name of each node. Empty if identities are numbers. */
  char        read[2 * PETSC_MAX_PATH_LEN]; /* one line about the file: its size and how it was read */
  PetscInt   *row, *node;                   /* [N], the same on every process: row of each node (nodes in the order of identities), and node of each row. NULL: the row is the node. */
  PetscBool   weighted;
  PetscInt    blocks; /* number of row blocks of each process */
  Mat        *A;      /* [blocks], one matrix for each row block. Entry (j,i) is the weight of the link from i to j. */
  Mat         links;  /* A[0], or the MATNEST of all blocks */
} Graph;

typedef enum {
  ORDER_GIVEN, /* rows by ascending identity of the node */
  ORDER_DEGREE /* rows by descending number of outgoing links, so that the entries of x that products read most often are neighbours */
} Order;
extern const char *const Orders[];

typedef struct {
  PetscBool      undirected, keep_loops, count_duplicates;
  Order          order;
  GpAppGraphSpec spec;   /* options about the format of the file */
  PetscInt       blocks; /* number of row blocks of each process, to which GraphInterleave() assigns the rows in turn. 1: the order of the rows stays. */
} GraphOptions;

PETSC_INTERN PetscErrorCode GraphRegisterEvents(void);
PETSC_INTERN PetscErrorCode GraphMakeRMAT(MPI_Comm, PetscInt scale, PetscInt degree, PetscInt seed, Links *);
PETSC_INTERN PetscErrorCode GraphFromLinks(MPI_Comm, const GraphOptions *, Links *, PetscInt64 nodes, Graph *);
PETSC_INTERN PetscErrorCode GraphLoad(MPI_Comm, const char[], const GraphOptions *, Graph *);
PETSC_INTERN PetscErrorCode GraphCompress(Links *, PetscInt N, PetscInt first, PetscInt m, PetscInt **i, PetscInt **j, PetscScalar **a);
PETSC_INTERN PetscErrorCode GraphRename(MPI_Comm, Links *, Graph *);
PETSC_INTERN PetscErrorCode GraphReorder(MPI_Comm, Links *, Graph *);
PETSC_INTERN PetscErrorCode GraphInterleave(PetscLayout, PetscInt blocks, Links *, Graph *);
PETSC_INTERN PetscErrorCode GraphCreateVecs(const Graph *, PetscInt n, Vec **x);                       /* vectors with an entry for each row */
PETSC_INTERN PetscErrorCode GraphPermute(const Graph *, PetscBool byrow, Vec x);                       /* byrow: from node order to row order, else back */
PETSC_INTERN PetscErrorCode GraphFind(const Graph *, const char name[], size_t length, PetscInt *row); /* finds the row of a node by its name or number. -1: no such node. */
PETSC_INTERN const char    *GraphName(const Graph *, PetscInt row, char number[24]);                   /* name or number of the node of a row; number is the buffer */
PETSC_INTERN void           GraphWriteName(FILE *, const char name[]);                                 /* quoted if necessary */
PETSC_INTERN PetscErrorCode GraphDestroy(Graph *);

/* First row of block b, counted from the first of the n rows of a process. For b = blocks it is n. */
static inline PetscInt GraphBlockStart(PetscInt n, PetscInt blocks, PetscInt b)
{
  return b * (n / blocks) + PetscMin(b, n % blocks);
}

/* A row of the list of highest ranks. certain: the exact rank of this node and of all nodes above is higher than that of all nodes below. node is a
   row. */
typedef struct {
  PetscReal rank;
  PetscInt  node;
  PetscBool certain;
} TopEntry;

PETSC_INTERN PetscErrorCode RanksTop(Vec x, PetscReal bound, PetscInt k, TopEntry top[], PetscInt *found); /* the result is on all processes */
PETSC_INTERN PetscErrorCode RanksSum(Vec x, PetscReal *sum);
PETSC_INTERN PetscErrorCode RanksWriteText(const Graph *, PetscInt n, const Vec x[], const char[]);
PETSC_INTERN PetscErrorCode RanksWriteBinary(const Graph *, PetscInt n, const Vec x[], const char[]);
PETSC_INTERN PetscErrorCode RanksWritePicture(Vec x, const char note[], const char file[]);

PETSC_INTERN PetscErrorCode PersonalizeRead(const Graph *, const char[], PetscInt *n, Vec **v);
PETSC_INTERN PetscErrorCode PageRankSolve_EPS(PageRank, Vec x); /* the method eps */

#endif
