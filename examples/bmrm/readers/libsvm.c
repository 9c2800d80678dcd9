/* Parallel reader of examples: every rank parses its own lines, block by block. */
#include "app/text/appcollective.h"
#include "examples.h"
#include <stdint.h>
#include <string.h>

/* Computes the sizes over all ranks. Refuses numbers of rows that exceed PetscInt. */
static PetscErrorCode BMRMExamplesSumSizes(BMRMExamples *ex, PetscInt nz)
{
  PetscInt64 rows, widest;
  PetscInt   N = ex->N;

  PetscFunctionBegin;
  PetscCall(GpAppFindAny(ex->comm, ex->ranked, &ex->ranked));
  PetscCall(GpAppSumBefore(ex->comm, ex->m, NULL, &rows));
  PetscCall(GpAppSumBefore(ex->comm, nz, NULL, &ex->nnz));
  PetscCallMPI(MPI_Allreduce(&N, &ex->N, 1, MPIU_INT, MPI_MAX, ex->comm));
  widest = N && N == ex->N ? ex->widest + ex->before : INT64_MAX;
  PetscCallMPI(MPI_Allreduce(&widest, &ex->widest, 1, MPIU_INT64, MPI_MIN, ex->comm));
  if (!ex->N) ex->widest = 0;
  PetscCheck(rows > 0, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: the file holds no examples, expected lines of the form: <label> <index>:<value> ...", ex->file);
  PetscCheck(rows <= PETSC_MAX_INT, ex->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %" PetscInt64_FMT " examples do not fit PetscInt: use a PETSc with 64-bit indices", ex->file, rows);
  ex->M = (PetscInt)rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parses the lines of this rank. If the length of the text is known, memory for the largest possible content is reserved at the start: the system supplies only pages that are written. */
static PetscErrorCode BMRMParseText(BMRMParser *ps)
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

PetscErrorCode BMRMExamplesLoad(MPI_Comm comm, const char file[], BMRMExamples *ex)
{
  PetscFunctionBegin;
  PetscCall(BMRMExamplesLoadAs(comm, file, "", PETSC_FALSE, ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a text that was just opened, LIBSVM or a table. */
static PetscErrorCode BMRMExamplesLoadText(BMRMExamples *ex, BMRMParser *ps, const char label[], PetscBool optional)
{
  PetscBool table;

  PetscFunctionBegin;
  PetscCall(BMRMExamplesIsTable(ex, &ps->text, label, &table));
  if (table) {
    PetscCall(BMRMExamplesLoadTable(ex, &ps->text, label, optional));
    ps->nz = ex->i[ex->m];
  } else {
    PetscCall(BMRMParseText(ps));
    PetscCall(GpAppTextRaise(&ps->text, &ps->wrong));
    ex->lined  = PETSC_TRUE;
    ex->before = ps->text.before;
    PetscCall(GpAppTextDestroy(&ps->text));
    PetscCall(PetscStrncpy(ex->what, "LIBSVM text", sizeof(ex->what)));
  }
  PetscCall(BMRMExamplesSumSizes(ex, ps->nz));
  if (table) ex->widest = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads examples, every rank a part of them: LIBSVM text or a table, PETSc's binary format, or Matrix Market (.mtx, with the labels in a file whose
   name ends with .labels instead). Text may be compressed, and - is standard input. label: heading or number, counted from 1, of the column of a
   table that holds the labels, "" for none; optional: the table may lack it. The examples are empty after an error.

   A line of LIBSVM text holds a label, qid:<number> or nothing, and in ascending order of the indices, which are counted from 1, features as
   <index>:<value>. Blank lines, comments from # to the end of a line and carriage returns are ignored. Anything else is an error that names the line
   and the column, raised on all ranks. */
PetscErrorCode BMRMExamplesLoadAs(MPI_Comm comm, const char file[], const char label[], PetscBool optional, BMRMExamples *ex)
{
  BMRMParser     ps;
  PetscErrorCode ierr;
  PetscBool      market = BMRMExamplesIsMarket(file), binary = PETSC_FALSE;

  PetscFunctionBegin;
  memset(ex, 0, sizeof(*ex));
  memset(&ps, 0, sizeof(ps));
  ex->comm = comm;
  ps.ex    = ex;
  PetscCall(PetscStrncpy(ex->file, file, sizeof(ex->file)));
  if (!market) PetscCall(GpAppIsBinary(comm, file, MAT_FILE_CLASSID, &binary, NULL));
  if (market || binary) {
    PetscCall(market ? BMRMExamplesLoadMarket(ex) : BMRMExamplesLoadBinary(ex));
    PetscCall(PetscStrncpy(ex->what, market ? "Matrix Market, labels in the file beside it" : "PETSc's binary format", sizeof(ex->what)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GpAppTextOpen(comm, file, &ps.text));
  PetscCall(PetscStrncpy(ex->file, ps.text.file, sizeof(ex->file))); /* messages say "standard input" instead of "-" */
  ierr = BMRMExamplesLoadText(ex, &ps, label, optional);
  if (ierr) PetscCall(BMRMExamplesDestroy(ex));
  PetscCall(ierr);
  PetscCall(BMRMExamplesMergeClasses(ex, ex->before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the format and the sizes of a file in one line. */
PetscErrorCode BMRMExamplesPrint(const BMRMExamples *ex)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(ex->comm, "%s: %s; %" PetscInt_FMT " examples, %" PetscInt_FMT " features, %" PetscInt64_FMT " nonzeros%s%s\n", ex->file, ex->what, ex->M, ex->N, ex->nnz, ex->class_names ? ", classes by name" : "",
                        ex->unlabelled ? ", no labels" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
