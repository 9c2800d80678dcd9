/* Points from a file in any of the formats, or generated. */
#include "points.h"
#include "app/binary/appbinary.h"
#include "app/program/apphash.h"

const char *const PointSetFormats[] = {"auto", "table", "libsvm", "market", "petsc", "idx", "minebench", "PointSetFormat", "POINTS_", NULL};

/* Uniform points in the unit cube, of 24 bits, which single precision holds. They depend on the seed and on the number of the value, not on the number of ranks. */
static PetscErrorCode PointSetGenerate(MPI_Comm comm, const PointSetOptions *o, Mat *X)
{
  PetscInt     start, end, lda;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(MatCreateDense(comm, PETSC_DECIDE, PETSC_DECIDE, o->generate[0], o->generate[1], NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &start, &end));
  PetscCall(MatDenseGetLDA(*X, &lda));
  PetscCall(MatDenseGetArrayWrite(*X, &a));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < o->generate[1]; j++) a[(i - start) + (size_t)j * lda] = (double)(GpAppHash64(((uint64_t)o->seed << 40) + ((uint64_t)i * (uint64_t)o->generate[1] + (uint64_t)j) * 0x9e3779b97f4a7c15) >> 40) * 0x1p-24;
  PetscCall(MatDenseRestoreArrayWrite(*X, &a));
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Recognises binary formats. From a pipe or standard input, which can be read only once, points are text unless the options give the format. */
static PetscErrorCode PointSetFindFormat(MPI_Comm comm, const PointSetOptions *o, PointSetFormat *format)
{
  PetscBool binary;

  PetscFunctionBegin;
  *format = o->format;
  if (*format != POINTS_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GpAppIsBinary(comm, o->file, MAT_FILE_CLASSID, &binary, NULL));
  if (binary) *format = POINTS_PETSC;
  else PetscCall(PointSetRecognise(comm, o->file, format));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points from a file. */
static PetscErrorCode PointSetRead(MPI_Comm comm, const PointSetOptions *o, PointSet *P)
{
  PointSetFormat format;

  PetscFunctionBegin;
  PetscCall(PointSetFindFormat(comm, o, &format));
  if (format == POINTS_PETSC) {
    PetscCall(GpAppMatLoad(comm, o->file, NULL, &P->X));
    PetscCall(PetscSNPrintf(P->source, sizeof(P->source), "%s: PETSc binary", o->file));
  } else if (format == POINTS_IDX || format == POINTS_MINEBENCH) {
    PetscCall(PointSetReadBinary(comm, o->file, format, &P->X));
    PetscCall(PetscSNPrintf(P->source, sizeof(P->source), "%s: %s", o->file, format == POINTS_IDX ? "idx" : "MineBench binary"));
  } else {
    PetscCall(PointSetReadText(comm, o, P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PointSetSelectColumns(comm, o, &P->X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Loads or generates the points. Nothing is left to destroy after an error. Collective. */
PetscErrorCode PointSetLoad(MPI_Comm comm, const PointSetOptions *o, PointSet *P)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(P, sizeof(*P)));
  if (o->ngenerate) {
    PetscCall(PointSetGenerate(comm, o, &P->X));
    if (o->columns[0]) PetscCall(PointSetSelectColumns(comm, o, &P->X));
    PetscCall(PetscSNPrintf(P->source, sizeof(P->source), "uniform points in the unit cube, seed %" PetscInt_FMT, o->seed));
  } else {
    ierr = PointSetRead(comm, o, P);
    if (ierr) PetscCall(PointSetDestroy(P));
    PetscCall(ierr);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PointSetDestroy(PointSet *P)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&P->X));
  PetscCall(PetscFree(P->names));
  PetscCall(PetscFree(P->headings));
  PetscFunctionReturn(PETSC_SUCCESS);
}
