/* Refused(words, call): the call must fail with these words in the first message of its error. */
#ifndef REFUSED_H
#define REFUSED_H

#include <petscsys.h>

static char RefusedMessage[4096];

static PetscErrorCode RefusedCatch(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type, const char *message, void *context)
{
  (void)comm;
  (void)line;
  (void)function;
  (void)file;
  (void)context;
  if (type == PETSC_ERROR_INITIAL && message) (void)PetscStrncpy(RefusedMessage, message, sizeof(RefusedMessage));
  return code;
}

#define Refused(words, expr) \
  do { \
    PetscErrorCode code_; \
    char          *found_; \
    RefusedMessage[0] = 0; \
    PetscCall(PetscPushErrorHandler(RefusedCatch, NULL)); \
    code_ = (expr); \
    PetscCall(PetscPopErrorHandler()); \
    PetscCall(PetscStrstr(RefusedMessage, words, &found_)); \
    PetscCheck(code_ &&found_, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Expected an error with the words '%s', got %d: '%s'", words, (int)code_, RefusedMessage); \
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "refused: %s\n", words)); \
  } while (0)

#endif
