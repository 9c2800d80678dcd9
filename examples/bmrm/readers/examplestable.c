/* Examples from a table: one row an example, a column of labels, and names of features and classes. */
#include "app/table/apptable.h"
#include "app/text/appcollective.h"
#include "app/text/appscan.h"
#include "examples.h"
#include <string.h>

/* Copies the headings of the features, one after another, without control characters. */
static PetscErrorCode BMRMTableCopyNames(const GpAppTable *T, char **names)
{
  size_t bytes = 0;
  char  *to;

  PetscFunctionBegin;
  if (!T->heading || T->cols < 2) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt j = 0; j < T->cols; j++) bytes += strlen(T->heading[j]) + 1;
  PetscCall(PetscMalloc1(bytes, names));
  to = *names;
  for (PetscInt j = 0; j < T->cols; j++) {
    if (j == T->label) continue;
    for (const char *c = T->heading[j]; *c; c++) *to++ = (unsigned char)*c < ' ' ? '?' : *c;
    *to++ = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the rows of a table into the examples, and notes the first missing value or label. */
static PetscErrorCode BMRMTableCopyRows(BMRMExamples *ex, const GpAppTable *T, GpAppComplaint *C)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < T->rows * T->cols; k++) nz += T->value[k] != 0;
  PetscCall(PetscMalloc1(T->rows + 1, &ex->i));
  PetscCall(PetscMalloc1(nz, &ex->j));
  PetscCall(PetscMalloc1(nz, &ex->a));
  PetscCall(PetscMalloc1(T->rows, &ex->label));
  PetscCall(PetscMalloc1(T->rows, &ex->query));
  ex->i[0] = nz = 0;
  ex->M         = T->N;
  ex->N         = T->cols - (T->label >= 0);
  for (PetscInt r = 0; r < T->rows && !C->code; r++) {
    const double *v = T->value + (size_t)r * (size_t)T->cols;

    for (PetscInt c = 0, j = 0; c < T->cols; c++) {
      if (PetscIsNanReal(v[c])) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, T->line[r], "the value of column %" PetscInt_FMT "%s%.60s is missing: bmrm needs all values", c + 1, T->heading ? ", " : "", T->heading ? T->heading[c] : "");
      if (c == T->label) continue;
      if (v[c] != 0) {
        ex->j[nz]   = j;
        ex->a[nz++] = v[c];
      }
      j++;
    }
    PetscCall(GpAppRowLinesNote(&ex->lines, ex->m, T->line[r]));
    ex->query[r] = -1;
    ex->label[r] = T->label < 0 ? 0 : v[T->label];
    if (T->label >= 0) BMRMExamplesNoteClass(ex, ex->label[r], T->line[r]);
    ex->i[++ex->m] = nz;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  BMRMExamplesLoadTable - Reads examples from a table

  Collective

  Input Parameters:
+ ex       - empty examples
. text     - the opened text; destroyed in any case
. label    - heading or number, counted from 1, of the column of labels
- optional - whether the table may lack that column
*/
PetscErrorCode BMRMExamplesLoadTable(BMRMExamples *ex, GpAppText *text, const char label[], PetscBool optional)
{
  GpAppTableSpec spec = {.label = label};
  GpAppTable     T;
  GpAppComplaint C = {0};
  PetscErrorCode ierr;
  char           begin[4097];
  PetscInt       n;

  PetscFunctionBegin;
  PetscCall(GpAppTextBeginning(text, begin, sizeof(begin)));
  begin[strcspn(begin, "\n")] = 0;
  if (optional && (!label[0] || (!strstr(begin, label) && strspn(label, "0123456789") != strlen(label)))) spec.label = NULL;
  ex->unlabelled = (PetscBool)!spec.label;
  if (spec.label && !label[0]) PetscCall(GpAppTextDestroy(text));
  PetscCheck(!spec.label || label[0], ex->comm, PETSC_ERR_USER_INPUT, "%s: this is a table: give -label_column <heading or number> to say which column holds the labels", ex->file);
  PetscCall(GpAppTextReadRest(text));
  PetscCall(GpAppTableParse(text, &spec, &T));
  PetscCall(GpAppTableDescribe(&T, ex->what, sizeof(ex->what)));
  if (T.ntext) PetscCall(GpAppTableCategorize(&T, 0, &n, &ex->class_names)); /* the column of labels is the only one that may hold words */
  ierr = BMRMTableCopyNames(&T, &ex->feature_names);
  if (!ierr) ierr = BMRMTableCopyRows(ex, &T, &C);
  PetscCall(GpAppTableDestroy(&T));
  PetscCall(ierr);
  PetscCall(GpAppComplaintRaise(ex->comm, ex->file, &C));
  PetscCall(GpAppSumBefore(ex->comm, ex->i[ex->m], NULL, &ex->nnz));
  ex->lined = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
