/* Reads complete text files. */
#include "app/text/apptext.h"
#include <string.h>

static void GpAppTextCountLines(GpAppText *T)
{
  for (const char *p = T->text, *end = p + T->length; p < end; p++) {
    p = (const char *)memchr(p, '\n', (size_t)(end - p));
    T->lines++;
  }
}

/* Reads all lines of a text that was just opened. Collective. */
PetscErrorCode GpAppTextReadRest(GpAppText *T)
{
  PetscFunctionBegin;
  PetscCall(GpAppTextNext(T, (size_t)-1));
  GpAppTextCountLines(T);
  PetscCall(GpAppTextRaise(T, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a text file at once, as GpAppTextOpen() opens it; every rank gets some of its lines. Collective. */
PetscErrorCode GpAppTextRead(MPI_Comm comm, const char file[], GpAppText *T)
{
  PetscFunctionBegin;
  PetscCall(GpAppTextOpen(comm, file, T));
  PetscCall(GpAppTextReadRest(T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives all lines of a text that GpAppTextRead() has read to every rank, with a final 0. Collective. */
PetscErrorCode GpAppTextGather(GpAppText *T)
{
  PetscInt64 all, lines;
  char      *text;

  PetscFunctionBegin;
  PetscCall(GpAppAllgather(T->comm, T->text, (PetscInt64)T->length, 1, &text, &all));
  PetscCall(GpAppSumBefore(T->comm, T->lines, NULL, &lines));
  PetscCall(PetscFree(T->text));
  T->text       = text;
  T->length     = (size_t)all;
  T->lines      = lines;
  T->before     = 0;
  T->everywhere = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a text file at once, as GpAppTextOpen() opens it; every rank gets all of its lines, with a final 0. Collective.
   All ranks parse the same lines, so all of them find the same complaint; GpAppTextRaise() raises that of the first rank. */
PetscErrorCode GpAppTextReadAll(MPI_Comm comm, const char file[], GpAppText *T)
{
  PetscFunctionBegin;
  PetscCall(GpAppTextRead(comm, file, T));
  PetscCall(GpAppTextGather(T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gets the first size - 1 bytes of a text on all ranks, at most 4096 and then a 0, for telling one format from another. The text has just been opened or read. Collective. */
PetscErrorCode GpAppTextBeginning(const GpAppText *T, char begin[], size_t size)
{
  const size_t n = PetscMin(size - 1, T->length + T->ahead);

  PetscFunctionBegin;
  PetscCall(PetscMemzero(begin, size));
  if (n) PetscCall(PetscMemcpy(begin, T->text, n));
  PetscCallMPI(MPI_Bcast(begin, (PetscMPIInt)size, MPI_CHAR, 0, T->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
