/* The stress by dimension: the solves, and their picture. */
#include "smacof.h"
#include "app/picture/appaxes.h"

#define WIDTH  560
#define HEIGHT 300 /* of the plot without title and labels */
#define RIGHT  24

/* Sets the range of dimensions from the n numbers of -scree; n is 0 without the option. */
PetscErrorCode ScreeSetRange(MPI_Comm comm, PetscInt n, const PetscInt bound[], Scree *scree)
{
  PetscFunctionBegin;
  *scree = (Scree){0};
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(n == 2 && bound[0] >= 1 && bound[0] < bound[1] && bound[1] <= SMACOF_MAX_DIMENSION, comm, PETSC_ERR_USER_INPUT, "-scree: expected two dimensions from 1 to %d, the lower one first, such as 1,6", SMACOF_MAX_DIMENSION);
  scree->low  = bound[0];
  scree->high = bound[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ScreePrint(MPI_Comm comm, const Scree *scree, PetscInt d, SMACOFConvergedReason reason)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "dimension %" PetscInt_FMT ": stress-1 %.12g, %s\n", d, (double)scree->stress1[d], SMACOFConvergedReasons[reason]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves in each dimension of the range except the dimension of the solver, which is restored at the end. Each solve uses the starts of the solver.
   ScreeAddMap() sets the values for the omitted dimension. */
PetscErrorCode ScreeSolve(SMACOF s, Scree *scree)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)s);
  SMACOFInfo     info;

  PetscFunctionBegin;
  PetscCall(SMACOFGetInfo(s, &info));
  for (PetscInt d = scree->low; d && d <= scree->high; d++) {
    SMACOFConvergedReason reason;
    PetscReal             sigma;

    if (d == info.dim) continue;
    PetscCall(SMACOFSetDimension(s, d));
    PetscCall(SMACOFSolve(s));
    PetscCall(SMACOFGetStress(s, &sigma, NULL));
    PetscCall(SMACOFGetConvergedReason(s, &reason));
    scree->stress1[d]   = PetscSqrtReal(sigma);
    scree->converged[d] = (PetscBool)(reason > 0);
    PetscCall(ScreePrint(comm, scree, d, reason));
  }
  PetscCall(SMACOFSetDimension(s, info.dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records stress-1 and convergence of the map under its dimension, and prints them. If the dimension is outside the range, nothing is printed and the values are not used. */
PetscErrorCode ScreeAddMap(SMACOF s, Scree *scree)
{
  SMACOFConvergedReason reason;
  SMACOFInfo            info;
  PetscReal             sigma;

  PetscFunctionBegin;
  PetscCall(SMACOFGetInfo(s, &info));
  PetscCall(SMACOFGetStress(s, &sigma, NULL));
  PetscCall(SMACOFGetConvergedReason(s, &reason));
  scree->stress1[info.dim]   = PetscSqrtReal(sigma);
  scree->converged[info.dim] = (PetscBool)(reason > 0);
  if (info.dim >= scree->low && info.dim <= scree->high) PetscCall(ScreePrint(PetscObjectComm((PetscObject)s), scree, info.dim, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Draws the plot, and computes the height of the picture. */
static PetscErrorCode ScreeDraw(GpAppCanvas *C, const Scree *scree, const char note[], double *height)
{
  const GpAppHeader header = {"Stress by dimension", note, "", 0, NULL};
  GpAppFrame        F      = {0, 0, WIDTH - RIGHT, 0};
  GpAppAxis         axis[2];
  double            x[SMACOF_MAX_DIMENSION], y[SMACOF_MAX_DIMENSION], most = 0;
  PetscInt          n = 0;

  PetscFunctionBegin;
  for (PetscInt d = scree->low; d <= scree->high; d++) most = PetscMax(most, (double)scree->stress1[d]);
  GpAppAxisFit(&axis[0], "dimension", PETSC_FALSE, (double)scree->low, (double)scree->high);
  GpAppAxisFit(&axis[1], "stress-1", PETSC_FALSE, 0, most > 0 ? most : 1);
  GpAppAxisSetTicks(C, &axis[1], HEIGHT, PETSC_FALSE);
  F.left = GpAppAxesGetLeft(&axis[1]);
  GpAppAxisSetTicks(C, &axis[0], F.right - F.left, PETSC_TRUE);
  axis[0].step     = 1; /* dimensions are integers */
  axis[0].decimals = 0;
  PetscCall(GpAppHeaderDraw(C, &header, F.left, F.right, &F.top));
  F.bottom = F.top + HEIGHT;
  PetscCall(GpAppAxesDraw(C, &F, &axis[0], &axis[1], height));
  for (PetscInt d = scree->low; d <= scree->high; d++) {
    x[n]   = GpAppAxisPlace(&axis[0], F.left, F.right, (double)d);
    y[n++] = GpAppAxisPlace(&axis[1], F.bottom, F.top, (double)scree->stress1[d]);
  }
  PetscCall(GpAppCanvasDrawCurve(C, n, x, y, GP_APP_BLUE, 2, GP_APP_LINE_SOLID));
  PetscCall(GpAppCanvasDrawMarkers(C, n, x, y, 4, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the picture of the stress by dimension. */
PetscErrorCode WriteScree(SMACOF s, const Scree *scree, const char file[])
{
  GpAppCanvas C;
  SMACOFInfo  info;
  double      height = 0;
  char        note[96];
  PetscInt    open = 0;

  PetscFunctionBegin;
  PetscCall(SMACOFGetInfo(s, &info));
  for (PetscInt d = scree->low; d <= scree->high; d++) open += !scree->converged[d];
  PetscCall(PetscSNPrintf(note, sizeof(note), "%" PetscInt_FMT " points, %s disparities%s", info.points, SMACOFDisparities[info.disparity], open ? ", some not converged" : ""));
  PetscCall(GpAppCanvasCreate(PetscObjectComm((PetscObject)s), file, "scree_", &C));
  if (C.there) PetscCall(ScreeDraw(&C, scree, note, &height)); /* before the canvas is open, this only computes the height */
  PetscCall(GpAppCanvasOpen(&C, WIDTH, height));
  if (C.there) PetscCall(ScreeDraw(&C, scree, note, &height));
  PetscCall(GpAppCanvasClose(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}
