/* Examples from a file of any format. */
#include "examples.h"
#include <string.h>

PetscErrorCode BMRMExamplesLoad(MPI_Comm comm, const char file[], BMRMExamples *ex)
{
  PetscFunctionBegin;
  PetscCall(BMRMExamplesLoadAs(comm, file, "", PETSC_FALSE, ex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads LIBSVM text that was just opened. */
static PetscErrorCode BMRMExamplesLoadLibsvm(BMRMExamples *ex, GpAppText *text)
{
  GpAppRows R;

  PetscFunctionBegin;
  PetscCall(GpAppLibsvmParse(text, GP_LIBSVM_NUMBERS, &R));
  ex->m      = R.m;
  ex->M      = R.M;
  ex->N      = R.N;
  ex->i      = R.i;
  ex->j      = R.j;
  ex->a      = R.a;
  ex->label  = R.label;
  ex->query  = R.query;
  ex->ranked = R.ranked;
  ex->nnz    = R.nnz;
  ex->widest = R.widest;
  ex->lines  = R.lines;
  ex->lined  = PETSC_TRUE;
  for (PetscInt row = 0; row < ex->m; row++) BMRMExamplesNoteClass(ex, ex->label[row], GpAppRowLinesGet(&ex->lines, row));
  PetscCall(PetscStrncpy(ex->what, "LIBSVM text", sizeof(ex->what)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a text, LIBSVM or a table. */
static PetscErrorCode BMRMExamplesLoadText(BMRMExamples *ex, const char label[], PetscBool optional)
{
  GpAppText      text;
  PetscErrorCode ierr;
  PetscBool      table;
  int            votes;

  PetscFunctionBegin;
  PetscCall(GpAppTextOpen(ex->comm, ex->file, &text));
  PetscCall(PetscStrncpy(ex->file, text.file, sizeof(ex->file))); /* messages say "standard input" instead of "-" */
  PetscCall(GpAppTextGuessLibsvm(&text, &votes));
  table = (PetscBool)(votes < 0 || (!votes && label[0]));
  ierr  = table ? BMRMExamplesLoadTable(ex, &text, label, optional) : BMRMExamplesLoadLibsvm(ex, &text);
  if (ierr) PetscCall(BMRMExamplesDestroy(ex));
  PetscCall(ierr);
  PetscCall(BMRMExamplesMergeClasses(ex, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads examples, every rank a part of them: LIBSVM text (GpAppLibsvmParse()) or a table, PETSc's binary format, or Matrix Market (.mtx, with the labels in a file whose
   name ends with .labels instead). Text may be compressed, and - is standard input. label: heading or number, counted from 1, of the column of a
   table that holds the labels, "" for none; optional: the table may lack it. The examples are empty after an error, which is raised on all ranks. */
PetscErrorCode BMRMExamplesLoadAs(MPI_Comm comm, const char file[], const char label[], PetscBool optional, BMRMExamples *ex)
{
  PetscBool market = BMRMExamplesIsMarket(file), binary = PETSC_FALSE;

  PetscFunctionBegin;
  memset(ex, 0, sizeof(*ex));
  ex->comm = comm;
  PetscCall(PetscStrncpy(ex->file, file, sizeof(ex->file)));
  if (!market) PetscCall(GpAppIsBinary(comm, file, MAT_FILE_CLASSID, &binary, NULL));
  if (market || binary) {
    PetscCall(market ? BMRMExamplesLoadMarket(ex) : BMRMExamplesLoadBinary(ex));
    PetscCall(PetscStrncpy(ex->what, market ? "Matrix Market, labels in the file beside it" : "PETSc's binary format", sizeof(ex->what)));
  } else PetscCall(BMRMExamplesLoadText(ex, label, optional));
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
