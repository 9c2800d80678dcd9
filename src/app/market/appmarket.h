/* Matrices in the Matrix Market exchange format (docs/formats.md). */
#ifndef GPUCSR_APPMARKET_H
#define GPUCSR_APPMARKET_H

#include "app/text/apptext.h"
#include <petscmat.h>

/* Requirements of the caller. 0: any real matrix with finite values. */
enum {
  GP_MARKET_SQUARE      = 1, /* as many rows as columns */
  GP_MARKET_NONNEGATIVE = 2, /* no value below zero */
  GP_MARKET_NAN         = 4, /* a value may be nan */
  GP_MARKET_NONZERO     = 8  /* zeros of an array are left out */
};

/* Each rank holds the entries in its lines of the file, rows and columns counted from 0.  Duplicate entries are kept. */
typedef struct {
  MPI_Comm    comm;
  char        file[PETSC_MAX_PATH_LEN];
  PetscBool   array, pattern, integer, symmetric, skew;
  PetscInt64  M, N;    /* rows, columns; they fit PetscInt */
  PetscInt64  entries; /* number of entries of the file according to its header; for an array, the number of its values */
  PetscInt64  n;       /* entries on this rank */
  PetscInt64 *i, *j;   /* [n] */
  double     *a;       /* [n]; NULL: a pattern, without values */
} GpAppMarket;

PETSC_EXTERN PetscErrorCode GpAppTextIsMarket(const GpAppText *, PetscBool *);
PETSC_EXTERN PetscErrorCode GpAppMarketParse(GpAppText *, int wants, GpAppMarket *);
PETSC_EXTERN PetscErrorCode GpAppMarketRead(MPI_Comm, const char[], int wants, GpAppMarket *);
PETSC_EXTERN PetscErrorCode GpAppMarketExpand(GpAppMarket *);
PETSC_EXTERN PetscErrorCode GpAppMarketCreateAIJ(const GpAppMarket *, Mat *);
PETSC_EXTERN PetscErrorCode GpAppMarketDescribe(const GpAppMarket *, char[], size_t);
PETSC_EXTERN PetscErrorCode GpAppMarketDestroy(GpAppMarket *);

#endif
