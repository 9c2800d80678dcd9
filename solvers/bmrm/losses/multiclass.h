/* Losses of several classes for which the cost of a wrong class c grows with its distance to the right one y: as |c - y|^d. */
#ifndef BMRM_MULTICLASS_H
#define BMRM_MULTICLASS_H

#include "solvers/bmrm/bmrmclasses.h"

#define BMRM_CLASS_DISTANCE \
  { \
    "-bmrm_loss_distance", "losses of classes: the cost of a wrong class grows with its distance to the right one to this power", 0, -1e-300, 10 \
  }

/* of taking the example for one of class c */
static inline PetscReal BMRMClassCost(const BMRMExample *x, PetscInt c)
{
  const PetscReal distance = PetscAbsReal(c - x->y[0]);

  return distance == 0 ? 0 : PetscPowReal(distance, x->p[0]);
}

/* The class whose line is highest at z, the right one where none is above 0; u becomes zero. */
static inline PetscInt BMRMClassWorst(const BMRMExample *x, void (*line)(const BMRMExample *, const PetscReal[], PetscInt, PetscReal *, PetscReal *), PetscReal u[])
{
  PetscInt  worst = (PetscInt)x->y[0];
  PetscReal most  = 0, value, slope;

  for (PetscInt c = 0; c < x->k; c++) {
    u[c] = 0;
    (*line)(x, x->z, c, &value, &slope);
    if (value <= most) continue;
    most  = value;
    worst = c;
  }
  return worst;
}

#endif
