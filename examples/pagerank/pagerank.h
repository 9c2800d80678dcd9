/* The program pagerank: the reader of distributions over the nodes, and the method eps. */
#ifndef GPUCSR_PAGERANK_H
#define GPUCSR_PAGERANK_H

#include "app/app.h"
#include "app/linkmatrix/appnodes.h"
#include <gpucsrpagerank.h>

PETSC_INTERN PetscErrorCode PersonalizeRead(const GpAppLinkMatrix *, const char[], PetscInt *n, Vec **v);
PETSC_INTERN PetscErrorCode PageRankSolve_EPS(PageRank, Vec x); /* the method eps */

#endif
