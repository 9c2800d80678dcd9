/* Parallel reader of examples: every rank parses its own lines, block by block. */
#include "examples.h"
#include <stdint.h>
#include <string.h>

/* Computes the sizes over all ranks. Refuses numbers of rows that exceed PetscInt. */
static PetscErrorCode SumUp(BMRMExamples *ex, PetscInt nz)
{
  PetscInt64 mine[2], all[2], widest;
  PetscInt   N      = ex->N;
  int        ranked = ex->ranked, any; /* int, because the MPI type of PetscBool has different names in different versions of PETSc */

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&ranked, &any, 1, MPI_INT, MPI_LOR, ex->comm));
  ex->ranked = (PetscBool)(any != 0);
  mine[0]    = ex->m;
  mine[1]    = nz;
  PetscCallMPI(MPI_Allreduce(mine, all, 2, MPIU_INT64, MPI_SUM, ex->comm));
  PetscCallMPI(MPI_Allreduce(&N, &ex->N, 1, MPIU_INT, MPI_MAX, ex->comm));
  widest = N && N == ex->N ? ex->widest + ex->before : INT64_MAX;
  PetscCallMPI(MPI_Allreduce(&widest, &ex->widest, 1, MPIU_INT64, MPI_MIN, ex->comm));
  if (!ex->N) ex->widest = 0;
  PetscCheck(all[0] > 0, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the file holds no examples, expected lines of the form: <label> <index>:<value> ...", ex->file);
  PetscCheck(all[0] <= PETSC_MAX_INT, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt64_FMT " examples do not fit PetscInt: use a PETSc with 64-bit indices", ex->file, all[0]);
  ex->M   = (PetscInt)all[0];
  ex->nnz = all[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parses the lines of this rank. If the length of the text is known, memory for the largest possible content is reserved at the start: the system supplies only pages that are written. */
static PetscErrorCode ParseAll(BMRMParser *ps)
{
  const size_t     block = (size_t)1 << 20; /* small enough for the cache */
  const PetscInt64 bytes = ps->text.left + (PetscInt64)ps->text.ahead;

  PetscFunctionBegin;
  PetscCall(BMRMParserReserve(ps, 1024 + bytes / 32, 1 + BMRM_MOST_ENTRIES(bytes))); /* few rows take less than 32 bytes of text */
  ps->ex->i[0] = 0;
  do {
    PetscCall(GpAppTextNext(&ps->text, block));
    PetscCall(BMRMParseLines(ps));
  } while (ps->text.length && !ps->wrong.code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMExamplesLoad - Reads a LIBSVM file, or a matrix and labels in PETSc's binary format or Matrix Market's, every rank a part of it

  Collective

  Input Parameters:
+ comm - the communicator
- file - a file or a pipe, plain or compressed by gzip, xz, bzip2 or zstd; `-` is standard input

  Output Parameter:
. ex - the examples, to be freed with `BMRMExamplesDestroy()`; empty after an error

  Level: developer

  Note:
  A line holds a label and, in ascending order of the indices, features as <index>:<value>, counted from 1. Blank lines,
  comments from # to the end of a line and carriage returns are ignored. The label may be followed by qid:<number>. Anything else is an error
  that names the line and the column, raised on all ranks.

  A file whose name ends with .mtx is a Matrix Market file: a general matrix in coordinates, or an array. Its labels, one a line, are in a file of the same name
  with .labels instead of .mtx.

.seealso: `BMRMExamplesCreateMat()`, `BMRMExamplesGetClasses()`
@*/
PetscErrorCode BMRMExamplesLoad(MPI_Comm comm, const char file[], BMRMExamples *ex)
{
  PetscFunctionBegin;
  PetscCall(BMRMExamplesLoadAs(comm, file, "", PETSC_FALSE, ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a text that was just opened, LIBSVM or a table. */
static PetscErrorCode LoadText(BMRMExamples *ex, BMRMParser *ps, const char label[], PetscBool optional)
{
  PetscBool table;

  PetscFunctionBegin;
  PetscCall(BMRMExamplesIsTable_Private(ex, &ps->text, label, &table));
  if (table) {
    PetscCall(BMRMExamplesLoadTable_Private(ex, &ps->text, label, optional));
    ps->nz = ex->i[ex->m];
  } else {
    PetscCall(ParseAll(ps));
    PetscCall(GpAppTextRaise(&ps->text, &ps->wrong));
    ex->lined  = PETSC_TRUE;
    ex->before = ps->text.before;
    PetscCall(GpAppTextDestroy(&ps->text));
    PetscCall(PetscStrncpy(ex->what, "LIBSVM text", sizeof(ex->what)));
  }
  PetscCall(SumUp(ex, ps->nz));
  if (table) ex->widest = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMExamplesLoadAs - Reads examples as `BMRMExamplesLoad()` does, and from tables too

  Collective

  Input Parameters:
+ comm     - the communicator
. file     - the file
. label    - heading or number, counted from 1, of the column of a table that holds the labels; "" for none
- optional - whether a table may lack that column

  Output Parameter:
. ex - the examples, to be freed with `BMRMExamplesDestroy()`; empty after an error

  Level: developer

.seealso: `BMRMExamplesLoad()`, `BMRMExamplesMatchModel()`
@*/
PetscErrorCode BMRMExamplesLoadAs(MPI_Comm comm, const char file[], const char label[], PetscBool optional, BMRMExamples *ex)
{
  BMRMParser     ps;
  PetscErrorCode ierr;
  PetscBool      binary;

  PetscFunctionBegin;
  memset(ex, 0, sizeof(*ex));
  memset(&ps, 0, sizeof(ps));
  ex->comm = comm;
  ps.ex    = ex;
  PetscCall(PetscStrncpy(ex->file, file, sizeof(ex->file)));
  if (BMRMExamplesIsMarket_Private(file)) {
    PetscCall(BMRMExamplesLoadMarket_Private(ex));
    PetscCall(PetscStrncpy(ex->what, "Matrix Market, labels in the file beside it", sizeof(ex->what)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GpAppIsBinary(comm, file, MAT_FILE_CLASSID, &binary, NULL));
  if (binary) {
    PetscCall(BMRMExamplesLoadBinary_Private(ex));
    PetscCall(PetscStrncpy(ex->what, "PETSc's binary format", sizeof(ex->what)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GpAppTextOpen(comm, file, &ps.text));
  PetscCall(PetscStrncpy(ex->file, ps.text.file, sizeof(ex->file))); /* messages say "standard input" instead of "-" */
  ierr = LoadText(ex, &ps, label, optional);
  if (ierr) PetscCall(BMRMExamplesDestroy(ex));
  PetscCall(ierr);
  PetscCall(BMRMExamplesMergeClasses_Private(ex, ex->before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMExamplesPrint - Prints the format and the sizes of a file in one line

  Collective

  Input Parameter:
. ex - the examples

  Level: developer

.seealso: `BMRMExamplesLoad()`
@*/
PetscErrorCode BMRMExamplesPrint(const BMRMExamples *ex)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(ex->comm, "%s: %s; %" PetscInt_FMT " examples, %" PetscInt_FMT " features, %" PetscInt64_FMT " nonzeros%s%s\n", ex->file, ex->what, ex->M, ex->N, ex->nnz, ex->class_names ? ", classes by name" : "",
                        ex->unlabelled ? ", no labels" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
