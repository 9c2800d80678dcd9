/* The command line of the programs. Private to src/app/. */
#ifndef GPUCSR_APPCOMMAND_H
#define GPUCSR_APPCOMMAND_H

#include "app/program/apperror.h"

/* The options of the library, which every program has */
PETSC_INTERN const GpAppOption GpAppLibraryOptions[];

PETSC_INTERN const GpAppOption *GpAppOptionFind(const GpAppOption options[], const char name[]);
PETSC_INTERN const GpAppOption *GpAppOptionFindNearest(const GpAppManual *manual, const char name[]);
PETSC_INTERN PetscBool          GpAppOptionCheck(const GpAppOption *option, const char value[], size_t size, char expected[]);
PETSC_INTERN PetscBool          GpAppOptionIsBool(const char value[]);
PETSC_INTERN PetscBool          GpAppPetscKnows(const GpAppManual *manual, const char name[], PetscBool *system);
PETSC_INTERN PetscBool          GpAppOptionIsKnown(const GpAppManual *manual, const char name[]);
PETSC_INTERN const char        *GpAppCommandFindMissing(int argc, char **argv);
PETSC_INTERN PetscErrorCode     GpAppCommandCheck(MPI_Comm comm, const GpAppManual *manual, int argc, char **argv);
PETSC_INTERN PetscErrorCode     GpAppCommandReportUnused(MPI_Comm comm, const GpAppManual *manual, int argc, char **argv);
PETSC_INTERN PetscBool          GpAppHelpForTools(const GpAppProgram *program, int argc, char **argv);
PETSC_INTERN PetscBool          GpAppHelp(const GpAppProgram *program, int argc, char **argv, PetscBool print);

#endif
