/* Declarations that the readers of graph formats share.  Internal to the graph reader. */
#ifndef GPUCSR_APPGRAPHREAD_H
#define GPUCSR_APPGRAPHREAD_H

#include "app/graph/appgraph.h"
#include "app/text/appscan.h"

/* the beginning of an edge list or of what could be METIS, the same on all ranks */
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
} GpGraphForm;

/* Readers of one format each. They record errors in the complaint. All ranks return the same error code. */
PETSC_INTERN PetscErrorCode GpGraphFindForm_Private(const GpAppText *, const GpAppGraphSpec *, GpGraphForm *);
PETSC_INTERN PetscErrorCode GpGraphReadEdges_Private(const GpAppText *, const GpAppGraphSpec *, const GpGraphForm *, GpAppGraph *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode GpGraphReadMetis_Private(const GpAppText *, const GpGraphForm *, GpAppGraph *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode GpGraphReadDimacs_Private(const GpAppText *, GpAppGraph *, GpAppComplaint *);
PETSC_INTERN PetscErrorCode GpGraphReadPajek_Private(const GpAppText *, GpAppGraph *, GpAppComplaint *);   /* a text that every rank has */
PETSC_INTERN PetscErrorCode GpGraphReadGML_Private(const GpAppText *, GpAppGraph *, GpAppComplaint *);     /* a text that every rank has */
PETSC_INTERN PetscErrorCode GpGraphReadGraphML_Private(const GpAppText *, GpAppGraph *, GpAppComplaint *); /* a text that every rank has */

/* bounds on what a file may ask for: nodes beside those that its bytes can name */
PETSC_INTERN PetscBool GpGraphTooMany_Private(PetscInt64 nodes, PetscInt64 bytes, PetscInt64 line, GpAppComplaint *);

/* an edge of a text that every rank has, kept by one of them; weight NaN: it has none */
PETSC_INTERN PetscErrorCode GpGraphKeepEdge_Private(GpAppGraph *, PetscInt64 from, PetscInt64 to, double weight, PetscBool both);

/* doubles the capacity of the labels of nodes and of the marks that a node is declared; new entries are NULL and PETSC_FALSE */
PETSC_INTERN PetscErrorCode GpGraphGrowLabels_Private(PetscInt64 *capacity, char ***label, PetscBool **isnode);

/* gives the nodes their names if all of n have one and no two the same, else numbers from base on */
PETSC_INTERN PetscErrorCode GpGraphSetLabels_Private(GpAppGraph *, PetscInt64 n, char *const label[], PetscInt64 base);

/* a whole number that is not negative, and where it ends; NULL: there is none, or it does not fit 63 bits */
static inline const char *GpGraphScanId(const char *p, PetscInt64 *id)
{
  const char *begin = p;
  PetscInt64  value = 0;

  for (; GpAppIsDigit(*p); p++) {
    if (value > (INT64_MAX - (*p - '0')) / 10) return NULL;
    value = 10 * value + (*p - '0');
  }
  *id = value;
  return p == begin ? NULL : p;
}

static inline const char *GpGraphSkipBlanks(const char *p)
{
  while (GpAppIsBlank(*p)) p++;
  return p;
}

#endif
