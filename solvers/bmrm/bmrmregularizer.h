/* What a regulariser is, for those who write one: a convex function Omega of the weights, zero at zero and never negative.

   The method meets it in three places: its value, its course along a line, and the minimum of the model of the objective,
   which is found through its proximal point and conjugate.  BMRMRegularizerRegister() makes one known under a name. */
#ifndef BMRM_REGULARIZER_H
#define BMRM_REGULARIZER_H

#include "solvers/bmrm/bmrmloss.h"

struct _BMRMRegularizerOps {
  PetscErrorCode (*setup)(BMRMRegularizer, Vec like); /* knows weights now; like is laid out as w */
  PetscErrorCode (*value)(BMRMRegularizer, Vec w, PetscReal *omega);
  /* along w + t d: the part A t + B t^2/2, the same on all ranks; adds lambda times this rank's part of the rest to the pieces.
     NULL where Omega is not piecewise quadratic */
  PetscErrorCode (*pieces)(BMRMRegularizer, PetscReal lambda, Vec w, Vec d, PetscReal *A, PetscReal *B, BMRMPieces *);
  /* this rank's part of the first derivative right of t, and of the second, of lambda Omega(w + t d) */
  PetscErrorCode (*derivative)(BMRMRegularizer, PetscReal lambda, Vec w, Vec d, PetscReal t, PetscReal out[2]);

  /* when Omega is half a squared norm, whose pieces() adds none: a = M^-1 a with its matrix M; the row of the free weight becomes zero.  NULL for others, which have: */
  PetscErrorCode (*solve)(BMRMRegularizer, Vec a);
  /* w = argmin lambda Omega(w) + <v, w> + rho/2 ||w - c||^2; where Omega is strictly convex without the last term */
  PetscErrorCode (*proximal)(BMRMRegularizer, PetscReal lambda, PetscReal rho, Vec c, Vec v, Vec w);
  /* adds this rank's part of <a_i, D a_j> to H, D the derivative of that w by -v; n rows of n numbers, the lower triangle */
  PetscErrorCode (*hessian)(BMRMRegularizer, PetscReal lambda, PetscReal rho, Vec c, Vec v, PetscInt n, const Vec a[], PetscReal H[]);
  /* t, the largest in [0, 1] for which lambda Omega(w) + t <v, w> is bounded from below; both of these leave the free weight out */
  PetscErrorCode (*shrink)(BMRMRegularizer, PetscReal lambda, Vec v, PetscReal *t);
  /* and its least value over w, for a v so scaled */
  PetscErrorCode (*least)(BMRMRegularizer, PetscReal lambda, Vec v, PetscReal *value);

  PetscErrorCode (*destroy)(BMRMRegularizer);
};

struct _n_BMRMRegularizer {
  struct _BMRMRegularizerOps ops[1];
  PetscBool                  euclidean; /* solve() leaves a vector as it is */
  PetscBool                  proximal;  /* not strictly convex: its models need a proximal term */
  Vec                        weights;   /* a factor for every weight, or NULL for ones */
  PetscInt                   free;      /* the weight whose factor is zero, -1 when there is none */
  Vec                        groups;    /* the group of every feature, or NULL: */
  PetscInt                   groupsize; /* so many features that follow each other are one */
  PetscInt                   outputs;   /* weights of a feature */
  PetscReal                  ratio;     /* of the elastic net: the part of the absolute values */
  void                      *data;      /* of the type */
};

PETSC_EXTERN PetscErrorCode BMRMRegularizerSetSeparable(BMRMRegularizer, PetscReal, PetscReal);

#endif
