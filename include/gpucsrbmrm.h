/* Public interface of BMRM, bundle methods for regularised risk minimisation of linear models.  The implementation of a new loss or regulariser
   also includes solvers/bmrm/bmrmloss.h or solvers/bmrm/bmrmregularizer.h. */
#ifndef GPUCSRBMRM_H
#define GPUCSRBMRM_H

/* MANSEC = BMRM */
#include <petscmat.h>
#include "gpucsrbmrmtypes.h"

/*S
  BMRM - Trains a regularised linear model by a bundle method

  Level: beginner

.seealso: `BMRMCreate()`, `BMRMSetData()`, `BMRMSolve()`, `BMRMDestroy()`
S*/
typedef struct _p_BMRM *BMRM;

/*S
  BMRMLoss - The loss function of a `BMRM`

  Level: developer

.seealso: `BMRMLossRegister()`, `BMRMSetLossType()`
S*/
typedef struct _n_BMRMLoss *BMRMLoss;

/*S
  BMRMRegularizer - The regulariser of a `BMRM`

  Level: developer

.seealso: `BMRMRegularizerRegister()`, `BMRMSetRegularizerType()`
S*/
typedef struct _n_BMRMRegularizer *BMRMRegularizer;

struct _p_Tao;

PETSC_EXTERN PetscClassId BMRM_CLASSID;

PETSC_EXTERN const char *const *const BMRMConvergedReasons;

/* A monitor, called once before the first pass and after every pass.  Arguments: the solver, the number of the pass, the objective, the lower
   bound, the user's context. */
typedef PetscErrorCode (*BMRMMonitorFn)(BMRM, PetscInt, PetscReal, PetscReal, void *);

/* A convergence test, which decides whether to stop.  Arguments: the solver, the number of the pass, the objective, the lower bound, the reason
   to be set, the user's context. */
typedef PetscErrorCode (*BMRMConvergenceTestFn)(BMRM, PetscInt, PetscReal, PetscReal, BMRMConvergedReason *, void *);

PETSC_EXTERN PetscErrorCode BMRMInitializePackage(void);
PETSC_EXTERN PetscErrorCode BMRMFinalizePackage(void);

PETSC_EXTERN PetscErrorCode BMRMLossRegister(const char[], PetscErrorCode (*)(BMRMLoss));
PETSC_EXTERN PetscErrorCode BMRMRegularizerRegister(const char[], PetscErrorCode (*)(BMRMRegularizer));

PETSC_EXTERN PetscErrorCode BMRMCreate(MPI_Comm, BMRM *);
PETSC_EXTERN PetscErrorCode BMRMDuplicate(BMRM, BMRM *);
PETSC_EXTERN PetscErrorCode BMRMSetData(BMRM, Mat, Vec);
PETSC_EXTERN PetscErrorCode BMRMSetQueries(BMRM, Vec);
PETSC_EXTERN PetscErrorCode BMRMSetExampleWeights(BMRM, Vec);
PETSC_EXTERN PetscErrorCode BMRMSetClasses(BMRM, PetscInt);
PETSC_EXTERN PetscErrorCode BMRMSetLossType(BMRM, const char[]);
PETSC_EXTERN PetscErrorCode BMRMSetLossParameter(BMRM, const char[], PetscReal);
PETSC_EXTERN PetscErrorCode BMRMSetRegularizerType(BMRM, const char[]);
PETSC_EXTERN PetscErrorCode BMRMSetElasticNetRatio(BMRM, PetscReal);
PETSC_EXTERN PetscErrorCode BMRMSetWeights(BMRM, Vec);
PETSC_EXTERN PetscErrorCode BMRMSetGroups(BMRM, Vec);
PETSC_EXTERN PetscErrorCode BMRMSetGroupSize(BMRM, PetscInt);
PETSC_EXTERN PetscErrorCode BMRMSetCuts(BMRM, PetscInt);
PETSC_EXTERN PetscErrorCode BMRMSetMaxCuts(BMRM, PetscInt);
PETSC_EXTERN PetscErrorCode BMRMSetCheckpoint(BMRM, const char[], PetscInt);
PETSC_EXTERN PetscErrorCode BMRMSetRestart(BMRM, const char[]);
PETSC_EXTERN PetscErrorCode BMRMSetWarmStart(BMRM, PetscBool);
PETSC_EXTERN PetscErrorCode BMRMSetLambda(BMRM, PetscReal);
PETSC_EXTERN PetscErrorCode BMRMSetTolerances(BMRM, PetscReal, PetscReal, PetscInt);
PETSC_EXTERN PetscErrorCode BMRMSetConvergenceTest(BMRM, BMRMConvergenceTestFn, void *);
PETSC_EXTERN PetscErrorCode BMRMConvergedDefault(BMRM, PetscInt, PetscReal, PetscReal, BMRMConvergedReason *, void *);
PETSC_EXTERN PetscErrorCode BMRMSetLineSearch(BMRM, PetscBool);
PETSC_EXTERN PetscErrorCode BMRMSetMu(BMRM, PetscReal, PetscBool);
PETSC_EXTERN PetscErrorCode BMRMSetBestCut(BMRM, PetscBool);
PETSC_EXTERN PetscErrorCode BMRMSetIdleAge(BMRM, PetscInt);
PETSC_EXTERN PetscErrorCode BMRMSetQPTolerance(BMRM, PetscReal);
PETSC_EXTERN PetscErrorCode BMRMSetErrorIfNotConverged(BMRM, PetscBool);
PETSC_EXTERN PetscErrorCode BMRMSetOptionsPrefix(BMRM, const char[]);
PETSC_EXTERN PetscErrorCode BMRMSetFromOptions(BMRM);
PETSC_EXTERN PetscErrorCode BMRMSetUp(BMRM);
PETSC_EXTERN PetscErrorCode BMRMSolve(BMRM);
PETSC_EXTERN PetscErrorCode BMRMSolveMany(PetscInt, BMRM[]);
PETSC_EXTERN PetscErrorCode BMRMReset(BMRM);
PETSC_EXTERN PetscErrorCode BMRMDestroy(BMRM *);

PETSC_EXTERN PetscErrorCode BMRMGetLossType(BMRM, const char *[]);
PETSC_EXTERN PetscErrorCode BMRMGetLossParameter(BMRM, const char[], PetscReal *);
PETSC_EXTERN PetscErrorCode BMRMGetClasses(BMRM, PetscInt *);
PETSC_EXTERN PetscErrorCode BMRMGetTask(BMRM, BMRMTask *);
PETSC_EXTERN PetscErrorCode BMRMCheckLabel(BMRM, PetscReal, PetscBool *, const char *[]);
PETSC_EXTERN PetscErrorCode BMRMGetRegularizerType(BMRM, const char *[]);
PETSC_EXTERN PetscErrorCode BMRMGetLambda(BMRM, PetscReal *);
PETSC_EXTERN PetscErrorCode BMRMGetSolution(BMRM, Vec *);
PETSC_EXTERN PetscErrorCode BMRMGetScores(BMRM, Vec *);
PETSC_EXTERN PetscErrorCode BMRMGetObjective(BMRM, PetscReal *, PetscReal *);
PETSC_EXTERN PetscErrorCode BMRMGetIterationNumber(BMRM, PetscInt *);
PETSC_EXTERN PetscErrorCode BMRMGetMatMults(BMRM, PetscInt *);
PETSC_EXTERN PetscErrorCode BMRMGetCuts(BMRM, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode BMRMGetConvergedReason(BMRM, BMRMConvergedReason *);

PETSC_EXTERN PetscErrorCode BMRMMonitorSet(BMRM, BMRMMonitorFn, void *, PetscErrorCode (*)(void **));
PETSC_EXTERN PetscErrorCode BMRMMonitorCancel(BMRM);
PETSC_EXTERN PetscErrorCode BMRMView(BMRM, PetscViewer);
PETSC_EXTERN PetscErrorCode BMRMViewFromOptions(BMRM, PetscObject, const char[]);

PETSC_EXTERN PetscErrorCode TaoLSBMRMSetBMRM(struct _p_Tao *, BMRM);
PETSC_EXTERN PetscErrorCode TaoLSBMRMGetBMRM(struct _p_Tao *, BMRM *);

#endif
