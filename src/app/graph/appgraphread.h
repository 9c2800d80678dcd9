/* Declarations that the readers of graph formats share.  Internal to the graph reader. */
#ifndef GPUCSR_APPGRAPHREAD_H
#define GPUCSR_APPGRAPHREAD_H

#include "app/graph/appgraph.h"
#include "app/text/appscan.h"

/* The form of an edge list, or of a text that may be METIS; the same on all ranks */
typedef struct {
  PetscInt64 line;    /* of the first line of data, counted from 1 over the whole file */
  PetscBool  heading; /* that line holds headings */
  PetscBool  named;   /* nodes have names */
  PetscBool  fields;  /* fields have to be found one by one: names, chosen columns, quotes */
  char       delimiter;
  int        column[3]; /* of from, to, weight; -1: there is none */
  int        nfirst;    /* whole numbers in the first line, if it holds nothing else; else 0 */
  PetscInt64 first[5];  /* these */
  int        jlg;       /* the first line is that of JuliaGraphs: 'd' or 'u'; 0: it is not */
  int        metis;     /* 1: it can only be METIS, 2: METIS or an edge list */
  char       ignored[64];
} GpAppGraphForm;

/* Readers of one format each. They record errors in the complaint. All ranks return the same error code. */
PETSC_INTERN PetscErrorCode GpAppGraphFindForm(const GpAppText *, const GpAppGraphSpec *, GpAppGraphForm *);
PETSC_INTERN PetscErrorCode GpAppGraphReadEdges(const GpAppText *, const GpAppGraphSpec *, const GpAppGraphForm *, GpAppGraph *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode GpAppGraphReadMetis(const GpAppText *, const GpAppGraphForm *, GpAppGraph *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode GpAppGraphReadDimacs(const GpAppText *, GpAppGraph *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode GpAppGraphReadPajek(const GpAppText *, GpAppGraph *, GpAppComplaint *);   /* a text that every rank has */
PETSC_INTERN PetscErrorCode GpAppGraphReadGML(const GpAppText *, GpAppGraph *, GpAppComplaint *);     /* a text that every rank has */
PETSC_INTERN PetscErrorCode GpAppGraphReadGraphML(const GpAppText *, GpAppGraph *, GpAppComplaint *); /* a text that every rank has */

/* The text of a complaint about a weight */
#define GP_GRAPH_EXPECTED_WEIGHT "expected a weight that is finite and not negative"

PETSC_INTERN PetscBool      GpAppGraphRefuseNodes(PetscInt64 nodes, PetscInt64 bytes, PetscInt64 line, GpAppComplaint *);
PETSC_INTERN PetscErrorCode GpAppGraphAddEdge(GpAppGraph *, PetscInt64 from, PetscInt64 to, double weight, PetscBool both);
PETSC_INTERN PetscErrorCode GpAppGraphCopyLabel(const char label[], size_t length, char **copy);
PETSC_INTERN PetscErrorCode GpAppGraphSetLabels(GpAppGraph *, PetscInt64 n, char *const label[], PetscInt64 base);

/* An edge between two nodes by their places */
typedef struct {
  PetscInt64 from, to, line;
  double     weight; /* NaN: none */
  PetscBool  both;   /* it leads both ways */
} GpAppGraphEdge;

/* Nodes with identities and labels, and edges between them, in any order in the file */
typedef struct {
  GpAppNames     id;       /* identities of the nodes, in the order of their places */
  PetscBool     *declared; /* [capacity] the node itself has been seen, not only an edge to it */
  char         **label;    /* [capacity] NULL: none */
  PetscInt64     capacity, nedges;
  PetscSegBuffer edges;
} GpAppGraphParts;

PETSC_INTERN PetscErrorCode GpAppGraphPartsFind(GpAppGraphParts *, const char id[], size_t length, PetscInt64 *place);
PETSC_INTERN PetscErrorCode GpAppGraphPartsAddEdge(GpAppGraphParts *, const GpAppGraphEdge *);
PETSC_INTERN PetscErrorCode GpAppGraphPartsFinish(GpAppGraphParts *, PetscBool undirected, GpAppGraph *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode GpAppGraphPartsDestroy(GpAppGraphParts *);

#endif
