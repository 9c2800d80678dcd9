/* Interface of losses of several classes: a convex function of the scores of one example, one score per class, with minimum 0. The risk is the
   mean over the examples.

   A file of losses/ defines the following for an example x with parameters x->p, and then includes bmrmclassrows.h:

        ClassState(x, state)        computes from all scores what the functions below need
        ClassSlope(x, state, c)     u_c, such that sum over c of u_c g_c + offset is at most the loss at every g, and equal to it at the scores
        ClassOffset(x, state)       that offset
        ClassCurvature(x, state)    the second derivative along the line
        ClassLine(x, c, &value, &slope)  if CLASS_LINES is 1: the loss is the maximum of k lines; value of line c at the scores, and its slope along the line
        LOSS, LOSS_TASK, LOSS_PARAMETER  as in bmrmpointwise.h

   The formulas are compiled for the host and for CUDA. */
#ifndef BMRM_CLASSES_H
#define BMRM_CLASSES_H

#include "solvers/bmrm/bmrmformula.h"

#define BMRM_CLASS_STATE 3 /* size of the state */

/* One example. The entries of consecutive classes are m apart. */
typedef struct {
  int           k; /* number of classes */
  int64_t       m;
  const double *f, *e; /* scores at a point, and their derivatives along a line */
  double        s;     /* step along the line */
  const double *y;     /* class of the example, counted from 0; or +1 or -1 for each class */
  const double *p;     /* parameters of the loss */
} BMRMExample;

FORMULA BMRMExample ClassGetExample(const BMRMScores *x, int64_t i, double s)
{
  const BMRMExample example = {x->k, x->n, x->f + i, x->e + i, s, x->y + i, x->p};

  return example;
}

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

typedef struct {
  BMRMKernels       kernels; /* the host implementation */
  BMRMTask          task;    /* BMRM_TASK_MULTICLASS or BMRM_TASK_MULTILABEL */
  BMRMLossParameter parameter[BMRM_LOSS_PARAMETERS];
  int               nparameter;
  void (*line)(const BMRMExample *, int c, double *value, double *slope); /* NULL if the loss is not a maximum of lines */
} BMRMClasses;

#endif
