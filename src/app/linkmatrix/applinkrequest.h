/* The options of the programs for the graph, which is read from a file or generated. */
#ifndef GPUCSR_APPLINKREQUEST_H
#define GPUCSR_APPLINKREQUEST_H

#include "app/linkmatrix/applinkmatrix.h"
#include "app/output/appoutput.h"
#include "app/program/appoptions.h"

/* The rows of these options in the table of options of a program. */
#define GP_APP_LINK_OPTIONS \
  {"Graph"}, {"-f", GP_APP_FILE_IN, "file", NULL, NULL, PETSC_TRUE, "Graph to read. Formats: edge list, METIS, Pajek, GML, GraphML, DIMACS, Matrix Market or PETSc binary. Text may be compressed by gzip, xz, bzip2 or zstd."}, \
    {"-graph_format", GP_APP_CHOICE, "auto|edges|metis|pajek|gml|graphml|dimacs|market|binary", NULL, "auto", PETSC_FALSE, "Format of the graph. auto decides by the content."}, \
    {"-graph_sizes", GP_APP_CHOICE, "auto|yes|no", NULL, "auto", PETSC_FALSE, "Whether the first line of an edge list holds the numbers of nodes and edges."}, \
    {"-graph_header", GP_APP_CHOICE, "auto|yes|no", NULL, "auto", PETSC_FALSE, "Whether the first line of an edge list holds headings."}, \
    {"-graph_names", GP_APP_CHOICE, "auto|yes|no", NULL, "auto", PETSC_FALSE, "Whether the nodes of an edge list have names instead of numbers."}, \
    {"-rmat", GP_APP_INTS, "scale,degree", "[1,inf)", NULL, PETSC_TRUE, "Generates an R-MAT graph. It has 2^scale nodes and this mean number of links a node."}, {"-seed", GP_APP_INT, "n", NULL, "0", PETSC_FALSE, "Seed of the R-MAT graph."}, \
    {"-undirected", GP_APP_BOOL, NULL, NULL, "false", PETSC_TRUE, "Takes every link in both directions."}, {"-loops", GP_APP_BOOL, NULL, NULL, "true", PETSC_FALSE, "Keeps links of a node to itself."}, \
    {"-count_duplicates", GP_APP_BOOL, NULL, NULL, "false", PETSC_FALSE, "Gives a link that is listed k times the weight k. Otherwise it counts once."}, \
  { \
    "-order", GP_APP_CHOICE, "given|degree", NULL, "given", PETSC_FALSE, "Order of the rows: by ascending number of the node, or by descending number of links out." \
  }

typedef struct {
  char             file[PETSC_MAX_PATH_LEN]; /* empty: generate an R-MAT graph */
  PetscInt         rmat[2], nrmat, seed;     /* nrmat: number of values that -rmat has */
  GpAppLinkOptions links;
} GpAppLinkRequest;

PETSC_EXTERN PetscErrorCode GpAppLinkRequestGetFile(GpOptionItems, const GpAppOption table[], GpAppFileRole, const char option[], char path[PETSC_MAX_PATH_LEN]);
PETSC_EXTERN PetscErrorCode GpAppLinkRequestGet(GpOptionItems, const GpAppOption table[], GpAppLinkRequest *); /* to be called between PetscOptionsBegin() and PetscOptionsEnd() */
PETSC_EXTERN PetscErrorCode GpAppLinkRequestCheck(MPI_Comm, const GpAppLinkRequest *);
PETSC_EXTERN PetscErrorCode GpAppLinkRequestLoad(MPI_Comm, const GpAppLinkRequest *, GpAppLinkMatrix *);

#endif
