/* The lambdas of -bmrm_path, and the table of their results. */
#include "model.h"

/* Reads -bmrm_path into a list in descending order, and -bmrm_path_together. *n is the capacity on entry, and the number of lambdas on return. */
PetscErrorCode BMRMPathGetLambdas(MPI_Comm comm, PetscInt *n, PetscReal lambda[], PetscBool *together)
{
  PetscReal all[BMRM_MAX_PATH + 1] = {0}; /* one entry more than the maximum, since PETSc ignores excess values silently */
  PetscInt  count                  = PETSC_STATIC_ARRAY_LENGTH(all);
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsBegin(comm, NULL, "Options of the path over lambda", "BMRM");
  PetscCall(PetscOptionsRealArray("-bmrm_path", "train for these lambdas, separated by commas, with one bundle", "BMRMSetWarmStart", all, &count, &set));
  *together = PETSC_FALSE;
  PetscCall(PetscOptionsBool("-bmrm_path_together", "train for all lambdas of the path, or of a fold with -cv, in step, so that a pass reads a gpucsr matrix once", "BMRMSolveMany", *together, together, NULL));
  PetscOptionsEnd();
  if (!set) count = 0;
  PetscCheck(count <= *n, comm, PETSC_ERR_ARG_OUTOFRANGE, "-bmrm_path: there are more than %" PetscInt_FMT " lambdas", *n);
  for (PetscInt k = 0; k < count; k++) PetscCheck(all[k] > 0 && !PetscIsInfOrNanReal(all[k]), comm, PETSC_ERR_ARG_OUTOFRANGE, "-bmrm_path: lambda is %g, it must be positive", (double)all[k]);
  PetscCall(PetscSortReal(count, all));
  for (PetscInt k = 0; k < count; k++) lambda[k] = all[count - 1 - k];
  *n = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the table of a path; the row best is marked, none for -1. */
PetscErrorCode BMRMPathPrint(MPI_Comm comm, PetscBool classify, PetscInt best, PetscInt n, const BMRMPathPoint point[])
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(comm, "    lambda       objective     gap         passes  nonzero  %s train / validation\n", classify ? "accuracy" : "error"));
  for (PetscInt k = 0; k < n; k++) {
    const BMRMPathPoint *p = &point[k];

    PetscCall(PetscPrintf(comm, "  %c %-11.4e  %.10f  %.4e  %6" PetscInt_FMT "  %7" PetscInt_FMT "  %.6f", k == best ? '*' : ' ', (double)p->lambda, (double)p->objective, (double)(p->objective - p->lower_bound), p->iterations, p->nonzeros,
                          (double)p->train));
    if (PetscIsInfOrNanReal(p->validation)) PetscCall(PetscPrintf(comm, " / -"));
    else PetscCall(PetscPrintf(comm, " / %.6f", (double)p->validation));
    PetscCall(PetscPrintf(comm, "%s\n", p->reason > 0 ? "" : "  NOT CONVERGED"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
