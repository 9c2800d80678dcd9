/* The program network: the request, the results, and the report about them. */
#ifndef GPUCSR_NETWORK_H
#define GPUCSR_NETWORK_H

#include "app/app.h"
#include "app/linkmatrix/applinkrequest.h"
#include "app/linkmatrix/appnodes.h"
#include <gpucsrnetwork.h>

/* The options of the command line. An empty file name means that the option was not given. */
typedef struct {
  char             values[PETSC_MAX_PATH_LEN], binary[PETSC_MAX_PATH_LEN], picture[PETSC_MAX_PATH_LEN], report[PETSC_MAX_PATH_LEN];
  PetscInt         topk;
  GpAppLinkRequest graph;
  Network          nw; /* the solver, with its options */
} Request;

/* The results of a run. The arrays of results, quantities and groups belong to the solver. */
typedef struct {
  NetworkMeasure         measure;
  NetworkResultType      type;
  NetworkConvergedReason reason;
  PetscReal              residual, bound; /* -1: there is none */
  PetscInt               iterations, matmults;
  PetscInt               nresults, nquantities, ngroups, ntop; /* ntop: length of the list of each result, or of the list of groups */
  const char *const *names, *const *quantityname;
  const PetscReal *quantity;
  const PetscInt  *size, *member;      /* [ngroups] */
  const Vec       *x;                  /* [nresults] */
  GpAppTopNode    *top;                /* [nresults * ntop], highest values of each result */
  PetscLogDouble   load, setup, solve; /* seconds */
  GpAppRounding    rounding;
  GpAppStreamed    streamed;
} Outcome;

PETSC_INTERN PetscErrorCode ReportPrint(const Request *, const GpAppLinkMatrix *, const Outcome *);
PETSC_INTERN PetscErrorCode ReportWrite(const Request *, const GpAppLinkMatrix *, const Outcome *);
PETSC_INTERN PetscErrorCode ReportWritePicture(const Request *, const GpAppLinkMatrix *, const Outcome *);

#endif
