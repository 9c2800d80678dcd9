/* Results that have a value for each node of a graph: list of the highest values, text and binary files, picture of the distribution. */
#ifndef GPUCSR_APPNODES_H
#define GPUCSR_APPNODES_H

#include "app/linkmatrix/applinkmatrix.h"
#include "app/report/appjson.h"

/* An entry of the list of highest values. node: a row of the matrix. certain: the exact values of this node and of all nodes above it in the list are higher than
   those of all other nodes. */
typedef struct {
  PetscReal value;
  PetscInt  node;
  PetscBool certain;
} GpAppTopNode;

/* Bounds on the errors of values. absolute: bound on the sum of the absolute errors of all values. relative: bound on the relative error of each value. */
typedef struct {
  PetscReal absolute, relative;
} GpAppNodeErrors;

PETSC_EXTERN PetscErrorCode GpAppNodesFindTop(Vec x, GpAppNodeErrors, PetscInt k, GpAppTopNode top[], PetscInt *found); /* the result is on all processes */
PETSC_EXTERN PetscErrorCode GpAppNodesSum(Vec x, PetscReal *sum);
PETSC_EXTERN void           GpAppNodeWriteName(FILE *, const char name[]); /* quoted if necessary */
PETSC_EXTERN void           GpAppNodeWriteJSON(GpAppJSON *, const char key[], const GpAppLinkMatrix *, PetscInt row);
PETSC_EXTERN PetscErrorCode GpAppNodesWriteText(const GpAppLinkMatrix *, PetscInt n, const Vec x[], const char[]);
PETSC_EXTERN PetscErrorCode GpAppNodesWriteBinary(const GpAppLinkMatrix *, PetscInt n, const Vec x[], const char[]);
PETSC_EXTERN PetscErrorCode GpAppNodesWritePicture(Vec x, const char axis[], const char note[], const char[]);

#endif
