/* How an error of PETSc becomes one line and an exit code. Private to src/app/. */
#ifndef GPUCSR_APPERROR_H
#define GPUCSR_APPERROR_H

#include "app/program/appmain.h"

PETSC_INTERN PetscErrorCode GpAppErrorPush(void);
PETSC_INTERN void           GpAppErrorSet(int code, const char text[]);
PETSC_INTERN void           GpAppErrorSetProgram(const GpAppProgram *program);
PETSC_INTERN void           GpAppErrorSetAsking(PetscBool asking);
PETSC_INTERN const char    *GpAppErrorGetProgram(void);
PETSC_INTERN void           GpAppErrorPrint(const char text[]);
PETSC_INTERN int            GpAppErrorGetExit(void);
PETSC_INTERN int            GpAppErrorAgree(MPI_Comm comm, PetscBool *failed, int code);

#endif
