/* Files in PETSc's binary format, whose integers are as wide as those of the PETSc that wrote them. */
#define _POSIX_C_SOURCE 200809L
#include "app/app.h"
#include <string.h>
#include <sys/stat.h>

/*
  GpAppIsBinary - Tells a file in PETSc's binary format; one by a PETSc with other integers is an error

  Collective

  Input Parameters:
+ comm    - the communicator; its first rank looks
. file    - the file; one that cannot be opened is left to the reader of text, which says why
- classid - of what the file begins with: `MAT_FILE_CLASSID`, `VEC_FILE_CLASSID`

  Output Parameters:
+ binary - whether it begins so
- bytes  - how long it is, or NULL

  Note:
  Only a regular file is opened: PETSc opens it again, which would lose the first bytes of a pipe, or wait for ever.
*/
PetscErrorCode GpAppIsBinary(MPI_Comm comm, const char file[], int classid, PetscBool *binary, PetscInt64 *bytes)
{
  const int   bits  = 8 * (int)sizeof(PetscInt);
  PetscInt64  at[2] = {0, 0}; /* bits of an integer, 0: another format; bytes */
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    const unsigned char id[8]    = {0, 0, 0, 0, (unsigned char)(classid >> 24), (unsigned char)(classid >> 16), (unsigned char)(classid >> 8), (unsigned char)classid};
    unsigned char       begin[8] = {0};
    struct stat         st;
    FILE               *fp = stat(file, &st) || !S_ISREG(st.st_mode) ? NULL : fopen(file, "rb");

    if (fp && fread(begin, 1, sizeof(begin), fp) >= 4) {
      at[0] = !memcmp(begin, id + 4, 4) ? 32 : !memcmp(begin, id, 8) ? 64 : 0;
      at[1] = (PetscInt64)st.st_size;
    }
    if (fp) (void)fclose(fp);
  }
  PetscCallMPI(MPI_Bcast(at, 2, MPIU_INT64, 0, comm));
  PetscCheck(!at[0] || at[0] == bits, comm, PETSC_ERR_FILE_UNEXPECTED, "%s: a PETSc with %d-bit indices wrote this binary file, this one has %d bits: write it anew for this one", file, (int)at[0], bits);
  *binary = (PetscBool)(at[0] != 0);
  if (bytes) *bytes = at[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}
