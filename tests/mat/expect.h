/* Counts what is not as expected, and prints it. */
#ifndef GPUCSR_TESTS_MAT_EXPECT_H
#define GPUCSR_TESTS_MAT_EXPECT_H

#include <petscsys.h>

static PetscInt Failures = 0;

static PetscErrorCode Expect(PetscBool right, const char what[], const char where[])
{
  PetscFunctionBeginUser;
  if (!right) {
    Failures++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %s\n", where, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
