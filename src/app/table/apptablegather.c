/* Tables on several ranks: values, names and words of all rows; categories; the line that says how a file was understood. */
#define _POSIX_C_SOURCE 200809L
#include "app/table/apptablefield.h"
#include <stdlib.h>
#include <string.h>

/* Gathers all values, [N][cols], on every rank. The caller frees them with PetscFree(). Collective. */
PetscErrorCode GpAppTableGatherValues(const GpAppTable *T, double **all)
{
  PetscFunctionBegin;
  PetscCall(GpAppAllgather(T->comm, T->value, T->rows, (size_t)T->cols * sizeof(double), all, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the line of the file of each row on every rank. The caller frees them with PetscFree(). Collective. */
PetscErrorCode GpAppTableGatherLines(const GpAppTable *T, PetscInt64 **all)
{
  PetscFunctionBegin;
  PetscCall(GpAppAllgather(T->comm, T->line, T->rows, sizeof(PetscInt64), all, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies n strings one after another, each with its final 0. The caller frees them with PetscFree(). */
static PetscErrorCode TableJoinStrings(const char *const string[], PetscInt n, PetscInt stride, char **joined, size_t *bytes)
{
  char *to;

  PetscFunctionBegin;
  *bytes = 0;
  for (PetscInt i = 0; i < n; i++) *bytes += strlen(string[i * stride]) + 1;
  PetscCall(PetscMalloc1(*bytes, joined));
  to = *joined;
  for (PetscInt i = 0; i < n; i++) to = stpcpy(to, string[i * stride]) + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers strings of all rows, one after another, each with its final 0, on every rank. */
static PetscErrorCode TableGatherStrings(const GpAppTable *T, const char *const string[], PetscInt stride, char **all)
{
  size_t bytes;
  char  *mine;

  PetscFunctionBegin;
  PetscCall(TableJoinStrings(string, T->rows, stride, &mine, &bytes));
  PetscCall(GpAppAllgather(T->comm, mine, (PetscInt64)bytes, 1, all, NULL));
  PetscCall(PetscFree(mine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers all row names, one after another, each with its final 0, on every rank. The caller frees them with PetscFree(). NULL: rows have none. Collective. */
PetscErrorCode GpAppTableGatherNames(const GpAppTable *T, char **names)
{
  PetscFunctionBegin;
  *names = NULL;
  if (T->named) PetscCall(TableGatherStrings(T, T->name, 1, names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the fields of the k-th column of text as GpAppTableGatherNames() gathers names. Collective. */
PetscErrorCode GpAppTableGatherWords(const GpAppTable *T, PetscInt k, char **words)
{
  PetscFunctionBegin;
  PetscCheck(k >= 0 && k < T->ntext, T->comm, PETSC_ERR_ARG_OUTOFRANGE, "Column of text %" PetscInt_FMT " of %" PetscInt_FMT, k, T->ntext);
  PetscCall(TableGatherStrings(T, T->word ? T->word + k : NULL, T->ntext, words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int TableCompareStrings(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Replaces the missing values of the k-th column of text by codes 0, 1, ... in the order of the different strings, by bytes. Collective.
   levels: the n strings in order, each with its final 0, on every rank. The caller frees them with PetscFree(). */
PetscErrorCode GpAppTableCategorize(GpAppTable *T, PetscInt k, PetscInt *n, char **levels)
{
  const char **sorted, *at;
  char        *copy;
  size_t       bytes;

  PetscFunctionBegin;
  PetscCall(GpAppTableGatherWords(T, k, levels));
  PetscCall(PetscMalloc1(T->N, &sorted));
  at = *levels;
  for (PetscInt i = 0; i < T->N; i++, at += strlen(at) + 1) sorted[i] = at;
  qsort(sorted, (size_t)T->N, sizeof(*sorted), TableCompareStrings);
  *n = 0;
  for (PetscInt i = 0; i < T->N; i++)
    if (!i || strcmp(sorted[i], sorted[*n - 1])) sorted[(*n)++] = sorted[i];
  for (PetscInt i = 0; i < T->rows; i++) {
    const char *const *found = (const char *const *)bsearch(&T->word[i * T->ntext + k], sorted, (size_t)*n, sizeof(*sorted), TableCompareStrings);

    T->value[(size_t)i * (size_t)T->cols + (size_t)T->text[k]] = (double)(found - (const char *const *)sorted);
  }
  PetscCall(TableJoinStrings(sorted, *n, 1, &copy, &bytes));
  PetscCall(PetscFree(sorted));
  PetscCall(PetscFree(*levels));
  *levels = copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Describes how the file was understood, in one line without the name of the file. */
PetscErrorCode GpAppTableDescribe(const GpAppTable *T, char line[], size_t size)
{
  const char *delimiter   = T->delimiter == ',' ? "commas" : T->delimiter == ';' ? (T->decimal_comma ? "semicolons and decimal commas" : "semicolons") : T->delimiter == '\t' ? "tabs" : T->delimiter == '\n' ? "lines" : "blanks";
  char        missing[64] = "", comments[64] = "";

  PetscFunctionBegin;
  if (T->missing) PetscCall(PetscSNPrintf(missing, sizeof(missing), ", %" PetscInt64_FMT " missing", T->missing));
  if (T->comments) PetscCall(PetscSNPrintf(comments, sizeof(comments), ", %" PetscInt64_FMT " comment line%s", T->comments, T->comments > 1 ? "s" : ""));
  PetscCall(PetscSNPrintf(line, size, "%" PetscInt_FMT " rows, %" PetscInt_FMT " columns%s, %s, %s, separated by %s%s%s%s", T->N, T->cols, T->shape == GP_TABLE_RECTANGLE ? "" : ", lower triangle", T->heading ? "headings" : "no headings",
                          T->named ? (T->quoted_names ? "quoted row names" : "row names") : "no row names", delimiter, T->quoted_numbers ? ", quoted numbers" : "", missing, comments));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints how the file was understood. Collective. */
PetscErrorCode GpAppTablePrint(const GpAppTable *T)
{
  char line[256];

  PetscFunctionBegin;
  PetscCall(GpAppTableDescribe(T, line, sizeof(line)));
  PetscCall(PetscPrintf(T->comm, "%s: %s\n", T->file, line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppTableOptions - Takes from the options database what the user knows of the main table

  Collective

  Options Database Keys:
+ -table_header auto|yes|no        - whether the first line holds headings
. -table_names auto|yes|no         - whether the first column holds row names
- -table_delimiter auto|comma|semicolon|tab|blank    - what separates fields
*/
PetscErrorCode GpAppTableOptions(MPI_Comm comm, GpAppTableSpec *spec)
{
  static const char *const choices[] = {"auto", "yes", "no", "GpAppTableChoice", "", NULL}, *const delimiters[] = {"auto", "comma", "semicolon", "tab", "blank"};
  PetscInt  delimiter = 0;
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsBegin(comm, NULL, "Tables in text", "GPUCSR");
  PetscCall(PetscOptionsEnum("-table_header", "Whether the first line of the main table holds headings", "", choices, (PetscEnum)spec->header, (PetscEnum *)&spec->header, NULL));
  PetscCall(PetscOptionsEnum("-table_names", "Whether the first column of the main table holds row names", "", choices, (PetscEnum)spec->names, (PetscEnum *)&spec->names, NULL));
  PetscCall(PetscOptionsEList("-table_delimiter", "What separates the fields of the main table", "", delimiters, 5, delimiters[0], &delimiter, &set));
  PetscOptionsEnd();
  if (set) spec->delimiter = "\0,;\t "[delimiter];
  PetscFunctionReturn(PETSC_SUCCESS);
}
