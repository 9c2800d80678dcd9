/* Panels of the pictures of qualities and paths: plots side by side or one above the other. */
#ifndef BMRM_PANELS_H
#define BMRM_PANELS_H

#include "app/picture/appaxes.h"

#define BMRM_PANEL_RIGHT 20 /* pixels between a panel and what is right of it */

typedef struct {
  const char *heading; /* above the frame */
  GpAppAxis   x, y;    /* set by GpAppAxisFit() */
  GpAppFrame  F;       /* set by BMRMPanelDraw() */
} BMRMPanel;

/* How a curve looks */
typedef struct {
  int       style; /* of colour, dashes and markers, as in a legend */
  PetscBool marked;
} BMRMPanelCurve;

PETSC_INTERN PetscErrorCode BMRMPanelDraw(GpAppCanvas *, BMRMPanel *, double left, double right, double top, double height, double *bottom);
PETSC_INTERN PetscErrorCode BMRMPanelDrawHeading(GpAppCanvas *, const char heading[], double left, double right, double *top);
PETSC_INTERN PetscErrorCode BMRMPanelDrawCurve(GpAppCanvas *, const BMRMPanel *, PetscInt n, const double x[], const double y[], const BMRMPanelCurve *);
PETSC_INTERN PetscErrorCode BMRMPanelDrawReference(GpAppCanvas *, const BMRMPanel *, const double x[2], const double y[2]);

#endif
