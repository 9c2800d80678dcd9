/* Examples from a table: one row an example, a column of labels, and names of features and classes. */
#include "app/table/apptable.h"
#include "app/text/appscan.h"
#include "examples.h"
#include <string.h>

/* Tells the format of a line, without its newline: -1 for LIBSVM, 1 for a table, 0 if the line does not decide. Removes the comment of the line. */
static int BMRMTableGuessFormat(char *line)
{
  const char *p, *q; /* the first field, the second field */

  line[strcspn(line, "#")] = 0;
  p                        = line + strspn(line, " \t");
  q                        = p + strcspn(p, " \t");
  q += strspn(q, " \t\r");
  if (GpAppIsDigit(*q) && q[strspn(q, "0123456789")] == ':') return -1;
  if (!strncmp(q, "qid:", 4) && q[4]) return -1;
  if (strpbrk(p, ",;")) return 1;
  if (strchr(p, ':')) return -1;
  return *q != 0;
}

/* Tells whether a text is a table rather than LIBSVM, by its first lines. If these do not decide, it is a table exactly if a column of labels is named. */
PetscErrorCode BMRMExamplesIsTable(const BMRMExamples *ex, const GpAppText *text, const char label[], PetscBool *table)
{
  char begin[4097];
  int  format = 0;

  PetscFunctionBegin;
  PetscCall(GpAppTextBeginning(text, begin, sizeof(begin)));
  for (char *p = begin, *end; *p && !format; p = end) {
    end = p + strcspn(p, "\n");
    if (*end) *end++ = 0;
    format = BMRMTableGuessFormat(p);
  }
  *table = (PetscBool)(format > 0 || (!format && label[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
    PetscCall(BMRMExamplesNoteLine(ex, T->line[r]));
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
  PetscCall(GpAppTextNext(text, (size_t)-1));
  for (size_t k = 0; k < text->length; k++) text->lines += text->text[k] == '\n';
  PetscCall(GpAppTextRaise(text, NULL));
  PetscCall(GpAppTableParse(text, &spec, &T));
  PetscCall(GpAppTableDescribe(&T, ex->what, sizeof(ex->what)));
  if (T.ntext) PetscCall(GpAppTableCategorize(&T, 0, &n, &ex->class_names)); /* the column of labels is the only one that may hold words */
  ierr = BMRMTableCopyNames(&T, &ex->feature_names);
  if (!ierr) ierr = BMRMTableCopyRows(ex, &T, &C);
  PetscCall(GpAppTableDestroy(&T));
  PetscCall(ierr);
  PetscCall(GpAppComplaintRaise(ex->comm, ex->file, &C));
  ex->lined = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
