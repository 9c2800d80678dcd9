/* Interface of a regulariser: a convex function Omega of the weights, with Omega(0) = 0 and Omega >= 0.

   The solver uses its value, its derivatives along a line, and the minimiser of the model of the objective. The latter is computed from the
   proximal point and the conjugate of Omega. BMRMRegularizerRegister() registers a regulariser under a name. */
#ifndef BMRM_REGULARIZER_H
#define BMRM_REGULARIZER_H

#include "solvers/bmrm/bmrmloss.h"

struct _BMRMRegularizerOps {
  PetscErrorCode (*setup)(BMRMRegularizer, Vec like); /* Prepares the regulariser; weights is set, and like has the layout of w. */
  PetscErrorCode (*value)(BMRMRegularizer, Vec w, PetscReal *omega);
  /* Along w + t d: A and B of the part A t + B t^2/2, the same on all ranks. Adds lambda times this rank's share of the rest to the pieces. NULL
     if Omega is not piecewise quadratic. */
  PetscErrorCode (*pieces)(BMRMRegularizer, PetscReal lambda, Vec w, Vec d, PetscReal *A, PetscReal *B, BMRMPieces *);
  /* This rank's part of the first derivative, right of t, and of the second derivative of lambda Omega(w + t d). */
  PetscErrorCode (*derivative)(BMRMRegularizer, PetscReal lambda, Vec w, Vec d, PetscReal t, PetscReal out[2]);

  /* If Omega is half a squared norm with matrix M, and pieces() adds no pieces: overwrites a by M^-1 a, with 0 at free weights. NULL for other
     regularisers, which have the following four operations instead. */
  PetscErrorCode (*solve)(BMRMRegularizer, Vec a);
  /* w = argmin lambda Omega(w) + <v, w> + rho/2 ||w - c||^2. rho may be 0 if Omega is strictly convex. */
  PetscErrorCode (*proximal)(BMRMRegularizer, PetscReal lambda, PetscReal rho, Vec c, Vec v, Vec w);
  /* Adds this rank's part of <a_i, D a_j> to the lower triangle of the n × n matrix H. D is the derivative of that w with respect to -v. */
  PetscErrorCode (*hessian)(BMRMRegularizer, PetscReal lambda, PetscReal rho, Vec c, Vec v, PetscInt n, const Vec a[], PetscReal H[]);
  /* The largest t in [0, 1] for which lambda Omega(w) + t <v, w> is bounded from below. Free weights are ignored. */
  PetscErrorCode (*shrink)(BMRMRegularizer, PetscReal lambda, Vec v, PetscReal *t);
  /* The minimum over w of lambda Omega(w) + <v, w>, for a v that was scaled by shrink(). Free weights are ignored. */
  PetscErrorCode (*least)(BMRMRegularizer, PetscReal lambda, Vec v, PetscReal *value);

  PetscErrorCode (*destroy)(BMRMRegularizer);
};

struct _n_BMRMRegularizer {
  struct _BMRMRegularizerOps ops[1];
  PetscBool                  euclidean; /* solve() is the identity */
  PetscBool                  proximal;  /* Omega is not strictly convex: its models need a proximal term */
  Vec                        weights;   /* factor of each weight, or NULL for ones */
  PetscInt                   nfree;     /* number of free weights on all ranks: weights whose factor is zero */
  PetscInt                   freestart; /* number of free weights on lower ranks */
  VecScatter                 tofree;    /* copies the free weights of this rank to freepart; NULL if no weight is free */
  Vec                        freepart;
  Vec                        groups;    /* group of each feature, or NULL */
  PetscInt                   groupsize; /* if groups is NULL: number of consecutive features in a group */
  PetscInt                   outputs;   /* weights per feature */
  PetscReal                  ratio;     /* elastic net: weight of the absolute values */
  void                      *data;      /* data of the type of regulariser */
};

PETSC_EXTERN PetscErrorCode BMRMRegularizerSetSeparable(BMRMRegularizer, PetscReal, PetscReal);

#endif
