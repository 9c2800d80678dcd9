/* What a loss of several classes is: a convex function of the scores of one example, one a class, least 0; the risk is its mean over the examples.

   A file of losses/ defines, for an example x, its state and its parameters x->p, and then includes bmrmclassrows.h:

     ClassState(x, state)        notes what the slopes and the offset want of the scores as a whole
     ClassSlope(x, state, c)     u_c: with the offset, the sum over c of u_c g_c + offset is at most the loss at every g, and equal to it at the scores
     ClassOffset(x, state)
     ClassCurvature(x, state)    the second derivative along the line
     ClassLine(x, c, &value, &slope)  with CLASS_LINES 1: the loss is the largest of k lines; line c at the scores, and its slope along the line
     LOSS, LOSS_TASK, LOSS_PARAMETER  as in bmrmpointwise.h

   The formulas are compiled for the host and for the GPU. */
#ifndef BMRM_CLASSES_H
#define BMRM_CLASSES_H

#include "solvers/bmrm/bmrmformula.h"

#define BMRM_CLASS_STATE 3 /* numbers that a loss may note */

/* one example; entries of one class are m after those of the class before */
typedef struct {
  int           k; /* classes */
  int64_t       m;
  const double *f, *e; /* scores at a point and along a line */
  double        s;     /* the place on it */
  const double *y;     /* its class, a number from 0; or for every class +1 or -1 */
  const double *p;     /* parameters of the loss */
} BMRMExample;

FORMULA double ClassAlong(const BMRMExample *x, int c)
{
  return x->e[c * x->m];
}

FORMULA double ClassScore(const BMRMExample *x, int c)
{
  return x->f[c * x->m] + x->s * x->e[c * x->m];
}

FORMULA int ClassOf(const BMRMExample *x)
{
  return (int)x->y[0];
}

#if defined(__cplusplus)
extern "C" {
#endif

/* Examples i = 0 ... n-1 of k classes, as in BMRMPointwiseKernels; all arrays are on the device of the work. */
typedef struct {
  GpErr (*risk)(BMRMWork *, int64_t n, int k, const double p[], const double *f, const double *e, double s, const double *y);
  GpErr (*cut)(BMRMWork *, int64_t n, int64_t first, int nblock, int block, int k, const double p[], double scale, const double *f, const double *e, double s, const double *y, double *r);
  GpErr (*slopes)(BMRMWork *, int64_t n, int k, const double p[], const double *f, const double *e, int nt, const double t[], const double *y);
} BMRMClassKernels;

typedef struct {
  BMRMClassKernels  kernels; /* the host twins */
  BMRMTask          task;    /* BMRM_TASK_MULTICLASS or BMRM_TASK_MULTILABEL */
  BMRMLossParameter parameter[BMRM_LOSS_PARAMETERS];
  int               nparameter;
  void (*line)(const BMRMExample *, int c, double *value, double *slope); /* NULL where the loss is not the largest of lines */
} BMRMClasses;

#if defined(__cplusplus)
}
#endif

#endif
