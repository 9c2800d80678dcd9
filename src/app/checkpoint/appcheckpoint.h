/*
  Checkpoints: the state of a computation in a file that is verified as a whole before any value of it is used.

  The file holds a header (magic, byte order, version, program), the values, their number of bytes and a CRC-64 of everything before it. The same functions write and read the
  state, so that variables have the same order in both.
*/
#ifndef GPUCSR_APPCHECKPOINT_H
#define GPUCSR_APPCHECKPOINT_H

#include "app/output/appoutput.h"
#include <stdint.h>

/* The kind of checkpoint that a program reads and writes */
typedef struct {
  const char *program; /* at most 15 characters */
  uint32_t    version; /* version of the state; increase it with every change of the state */
} GpAppCheckpointKind;

typedef struct {
  MPI_Comm    comm;
  char        file[PETSC_MAX_PATH_LEN];
  const char *program;
  PetscBool   writing;
  PetscInt64  left; /* reading: bytes of values not yet read; writing: bytes of values written */

  /* private to the module, on the first rank */
  GpAppOutput out;
  FILE       *fp;
  int         bad; /* errno of the first failed read */
  uint64_t    crc;
} GpAppCheckpoint;

PETSC_EXTERN PetscErrorCode GpAppCheckpointCreate(MPI_Comm, const char file[], const GpAppCheckpointKind *, GpAppCheckpoint *);
PETSC_EXTERN PetscErrorCode GpAppCheckpointCommit(GpAppCheckpoint *, PetscBool *written);
PETSC_EXTERN PetscErrorCode GpAppCheckpointOpen(MPI_Comm, const char file[], const GpAppCheckpointKind *, GpAppCheckpoint *);
PETSC_EXTERN PetscErrorCode GpAppCheckpointClose(GpAppCheckpoint *);
PETSC_EXTERN PetscErrorCode GpAppCheckpointRefuse(GpAppCheckpoint *, PetscErrorCode, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(3, 4);
PETSC_EXTERN PetscErrorCode GpAppCheckpointReplicated(GpAppCheckpoint *, void *, size_t bytes);
PETSC_EXTERN PetscErrorCode GpAppCheckpointDistributed(GpAppCheckpoint *, void *, PetscInt n, size_t each);

PETSC_EXTERN uint64_t GpAppChecksum(uint64_t crc, const void *data, size_t bytes);

#endif
