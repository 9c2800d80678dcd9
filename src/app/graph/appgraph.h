/* Graphs in files: edge lists, METIS, Pajek, GML, GraphML, DIMACS, Matrix Market, PETSc's binary format.  docs/formats.md documents them and how the reader detects each. */
#ifndef GPUCSR_APPGRAPH_H
#define GPUCSR_APPGRAPH_H

#include "app/text/apptext.h"

typedef enum {
  GP_GRAPH_AUTO, /* decide by the content */
  GP_GRAPH_EDGES,
  GP_GRAPH_METIS,
  GP_GRAPH_PAJEK,
  GP_GRAPH_GML,
  GP_GRAPH_GRAPHML,
  GP_GRAPH_DIMACS,
  GP_GRAPH_MARKET,
  GP_GRAPH_BINARY
} GpAppGraphFormat;

typedef enum {
  GP_GRAPH_CHOICE_AUTO,
  GP_GRAPH_CHOICE_YES,
  GP_GRAPH_CHOICE_NO
} GpAppGraphChoice;

/* The user's description of the file. All zero: decide everything by the content. */
typedef struct {
  GpAppGraphFormat format;
  GpAppGraphChoice sizes;   /* the first line of an edge list holds the numbers of nodes and edges */
  GpAppGraphChoice heading; /* the first line of an edge list holds headings */
  GpAppGraphChoice names;   /* the nodes of an edge list have names, else numbers */
} GpAppGraphSpec;

/* The links of a graph. Each rank holds the links of its part of the file. */
typedef struct {
  PetscInt64 *from, *to; /* [n] */
  PetscReal  *weight;    /* [n]; NULL: all one */
  PetscInt64  n, capacity;
} GpAppLinks;

/* A set of names, numbered from 0 in the order in which they were added */
typedef struct {
  PetscInt64  n, capacity;
  char       *text; /* each with a final 0 */
  size_t      length, size;
  size_t     *at;           /* [n] where a name begins */
  PetscInt64 *slot, nslots; /* hash table: number + 1, or 0 */
} GpAppNames;

typedef struct {
  MPI_Comm         comm;
  char             file[PETSC_MAX_PATH_LEN];
  GpAppGraphFormat format;
  GpAppLinks       links;      /* the links; an undirected edge is two links, a loop is one */
  PetscInt64       nodes;      /* number of nodes if links number them from 0; 0: nodes are only those that have links, and their numbers are identities */
  PetscInt64       base;       /* the number of node 0, when nodes is not 0 and there are no names */
  PetscInt64       edges;      /* edges in the file */
  PetscBool        named;      /* nodes have names, the same on every rank */
  PetscBool        weighted;   /* edges of the file have weights */
  PetscBool        undirected; /* the format says that edges lead both ways */
  GpAppNames       names;
  char             note[512]; /* further description of the format, for messages */
} GpAppGraph;

PETSC_EXTERN const char *const GpAppGraphFormats[];
PETSC_EXTERN PetscErrorCode    GpAppGraphOptions(MPI_Comm, GpAppGraphSpec *);
PETSC_EXTERN PetscErrorCode    GpAppGraphRead(MPI_Comm, const char[], const GpAppGraphSpec *, GpAppGraph *);
PETSC_EXTERN PetscErrorCode    GpAppGraphDescribe(const GpAppGraph *, PetscInt64 nodes, char[], size_t);
PETSC_EXTERN PetscErrorCode    GpAppGraphDestroy(GpAppGraph *);

PETSC_EXTERN PetscErrorCode GpAppLinksReserve(GpAppLinks *, PetscInt64 more, PetscBool weighted);
PETSC_EXTERN PetscErrorCode GpAppLinksMirror(GpAppLinks *);
PETSC_EXTERN PetscErrorCode GpAppLinksDestroy(GpAppLinks *);

PETSC_EXTERN PetscErrorCode GpAppNamesAdd(GpAppNames *, const char[], size_t, PetscInt64 *);
PETSC_EXTERN PetscInt64     GpAppNamesFind(const GpAppNames *, const char[], size_t); /* -1: there is no such name */
PETSC_EXTERN PetscErrorCode GpAppNamesMerge(MPI_Comm, GpAppNames *, PetscInt64 **);
PETSC_EXTERN PetscErrorCode GpAppNamesDestroy(GpAppNames *);

/* Appends a link, for which GpAppLinksReserve() has made space. */
static inline void GpAppLinksAppend(GpAppLinks *L, PetscInt64 from, PetscInt64 to, double weight)
{
  L->from[L->n] = from;
  L->to[L->n]   = to;
  if (L->weight) L->weight[L->n] = (PetscReal)weight;
  L->n++;
}

static inline const char *GpAppNamesGet(const GpAppNames *N, PetscInt64 k)
{
  return N->text + N->at[k];
}

#endif
