/* Tables on several ranks: values, names and words of all rows; categories; the line that says how a file was understood. */
#include "app/table/apptablefield.h"
#include <stdlib.h>
#include <string.h>

/* counts of all ranks for a gather of n items of a type; the same refusal on all ranks where a message cannot count them */
static PetscErrorCode GatherCounts(const GpAppTable *T, PetscInt64 n, PetscMPIInt **counts, PetscMPIInt **displs)
{
  PetscMPIInt size;
  PetscInt64  total = 0, *all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  PetscCall(PetscMalloc1(size, &all));
  PetscCallMPI(MPI_Allgather(&n, 1, MPIU_INT64, all, 1, MPIU_INT64, T->comm));
  PetscCall(PetscMalloc2(size, counts, size + 1, displs));
  for (PetscMPIInt r = 0; r < size; r++) {
    (*counts)[r] = (PetscMPIInt)all[r];
    (*displs)[r] = (PetscMPIInt)total;
    total += all[r];
  }
  (*displs)[size] = (PetscMPIInt)total;
  PetscCall(PetscFree(all));
  PetscCheck(total <= PETSC_MPI_INT_MAX, T->comm, PETSC_ERR_FILE_UNEXPECTED, "%s: names of %" PetscInt64_FMT " bytes; at most 2147483647 are read", T->file, total);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppTableGatherValues - All values, [N][cols], on every rank

  Collective

  Output Parameter:
. all - the values, to be freed with PetscFree()
*/
PetscErrorCode GpAppTableGatherValues(const GpAppTable *T, double **all)
{
  PetscMPIInt *counts, *displs, n;
  MPI_Datatype row;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)T->N * (size_t)T->cols, all));
  PetscCall(GatherCounts(T, T->rows, &counts, &displs));
  PetscCall(PetscMPIIntCast(T->cols, &n));
  PetscCallMPI(MPI_Type_contiguous(n, MPI_DOUBLE, &row));
  PetscCallMPI(MPI_Type_commit(&row));
  PetscCall(PetscMPIIntCast(T->rows, &n));
  PetscCallMPI(MPI_Allgatherv(T->value, n, row, *all, counts, displs, row, T->comm));
  PetscCallMPI(MPI_Type_free(&row));
  PetscCall(PetscFree2(counts, displs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* lines of the file of all rows, on every rank, to be freed with PetscFree() */
PetscErrorCode GpAppTableGatherLines(const GpAppTable *T, PetscInt64 **all)
{
  PetscMPIInt *counts, *displs;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(T->N, all));
  PetscCall(GatherCounts(T, T->rows, &counts, &displs));
  PetscCallMPI(MPI_Allgatherv(T->line, (PetscMPIInt)T->rows, MPIU_INT64, *all, counts, displs, MPIU_INT64, T->comm));
  PetscCall(PetscFree2(counts, displs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* strings of all rows, one after another, each with its final 0, on every rank */
static PetscErrorCode GatherStrings(const GpAppTable *T, const char *const string[], PetscInt stride, char **all)
{
  PetscMPIInt *counts, *displs, size;
  size_t       bytes = 0;
  char        *mine, *to;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(T->comm, &size));
  for (PetscInt i = 0; i < T->rows; i++) bytes += strlen(string[i * stride]) + 1;
  PetscCall(GatherCounts(T, (PetscInt64)bytes, &counts, &displs));
  PetscCall(PetscMalloc1(bytes, &mine));
  to = mine;
  for (PetscInt i = 0; i < T->rows; i++) {
    const size_t n = strlen(string[i * stride]) + 1;

    memcpy(to, string[i * stride], n);
    to += n;
  }
  PetscCall(PetscMalloc1((size_t)displs[size], all));
  PetscCallMPI(MPI_Allgatherv(mine, (PetscMPIInt)bytes, MPI_CHAR, *all, counts, displs, MPI_CHAR, T->comm));
  PetscCall(PetscFree(mine));
  PetscCall(PetscFree2(counts, displs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
  GpAppTableGatherNames - All row names, one after another, each with its final 0, on every rank

  Collective

  Output Parameter:
. names - the names, to be freed with PetscFree(); NULL: rows have none
*/
PetscErrorCode GpAppTableGatherNames(const GpAppTable *T, char **names)
{
  PetscFunctionBegin;
  *names = NULL;
  if (T->named) PetscCall(GatherStrings(T, T->name, 1, names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the fields of the k-th column of text, as GpAppTableGatherNames() gives names */
PetscErrorCode GpAppTableGatherWords(const GpAppTable *T, PetscInt k, char **words)
{
  PetscFunctionBegin;
  PetscCheck(k >= 0 && k < T->ntext, T->comm, PETSC_ERR_ARG_OUTOFRANGE, "Column of text %" PetscInt_FMT " of %" PetscInt_FMT, k, T->ntext);
  PetscCall(GatherStrings(T, T->word ? T->word + k : NULL, T->ntext, words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int CompareStrings(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
  GpAppTableCategorize - Replaces the missing values of a column of text by codes: 0, 1, ... in the order of the different strings, by bytes

  Collective

  Input Parameters:
+ T - the table
- k - which column of text

  Output Parameters:
+ n      - how many strings are different
- levels - these strings in order, each with its final 0, on every rank; to be freed with PetscFree()
*/
PetscErrorCode GpAppTableCategorize(GpAppTable *T, PetscInt k, PetscInt *n, char **levels)
{
  const char **sorted, *at;
  char        *to, *copy;
  size_t       bytes = 0;

  PetscFunctionBegin;
  PetscCall(GpAppTableGatherWords(T, k, levels));
  PetscCall(PetscMalloc1(T->N, &sorted));
  at = *levels;
  for (PetscInt i = 0; i < T->N; i++, at += strlen(at) + 1) sorted[i] = at;
  qsort(sorted, (size_t)T->N, sizeof(*sorted), CompareStrings);
  *n = 0;
  for (PetscInt i = 0; i < T->N; i++)
    if (!i || strcmp(sorted[i], sorted[*n - 1])) sorted[(*n)++] = sorted[i];
  for (PetscInt i = 0; i < T->rows; i++) {
    const char *const *found = (const char *const *)bsearch(&T->word[i * T->ntext + k], sorted, (size_t)*n, sizeof(*sorted), CompareStrings);

    T->value[(size_t)i * (size_t)T->cols + (size_t)T->text[k]] = (double)(found - (const char *const *)sorted);
  }
  for (PetscInt i = 0; i < *n; i++) bytes += strlen(sorted[i]) + 1;
  PetscCall(PetscMalloc1(bytes, &copy));
  to = copy;
  for (PetscInt i = 0; i < *n; i++) {
    const size_t length = strlen(sorted[i]) + 1;

    memcpy(to, sorted[i], length);
    to += length;
  }
  PetscCall(PetscFree(sorted));
  PetscCall(PetscFree(*levels));
  *levels = copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* how the file was understood, in one line without the file's name */
PetscErrorCode GpAppTableDescribe(const GpAppTable *T, char line[], size_t room)
{
  const char *delimiter   = T->delimiter == ',' ? "commas" : T->delimiter == ';' ? (T->decimal_comma ? "semicolons and decimal commas" : "semicolons") : T->delimiter == '\t' ? "tabs" : T->delimiter == '\n' ? "lines" : "blanks";
  char        missing[64] = "", comments[64] = "";

  PetscFunctionBegin;
  if (T->missing) PetscCall(PetscSNPrintf(missing, sizeof(missing), ", %" PetscInt64_FMT " missing", T->missing));
  if (T->comments) PetscCall(PetscSNPrintf(comments, sizeof(comments), ", %" PetscInt64_FMT " comment line%s", T->comments, T->comments > 1 ? "s" : ""));
  PetscCall(PetscSNPrintf(line, room, "%" PetscInt_FMT " rows, %" PetscInt_FMT " columns%s, %s, %s, separated by %s%s%s%s", T->N, T->cols, T->shape == GP_TABLE_RECTANGLE ? "" : ", lower triangle", T->heading ? "headings" : "no headings",
                          T->named ? (T->quoted_names ? "quoted row names" : "row names") : "no row names", delimiter, T->quoted_numbers ? ", quoted numbers" : "", missing, comments));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* prints how the file was understood, once */
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
  static const char *const choices[] = {"auto", "yes", "no"}, *const delimiters[] = {"auto", "comma", "semicolon", "tab", "blank"};
  PetscInt  header = spec->header, names = spec->names, delimiter = 0;
  PetscBool set;

  PetscFunctionBegin;
  PetscOptionsBegin(comm, NULL, "Tables in text", "GPUCSR");
  PetscCall(PetscOptionsEList("-table_header", "Whether the first line of the main table holds headings", "", choices, 3, choices[header], &header, NULL));
  PetscCall(PetscOptionsEList("-table_names", "Whether the first column of the main table holds row names", "", choices, 3, choices[names], &names, NULL));
  PetscCall(PetscOptionsEList("-table_delimiter", "What separates the fields of the main table", "", delimiters, 5, delimiters[0], &delimiter, &set));
  PetscOptionsEnd();
  spec->header = (GpAppTableChoice)header;
  spec->names  = (GpAppTableChoice)names;
  if (set) spec->delimiter = "\0,;\t "[delimiter];
  PetscFunctionReturn(PETSC_SUCCESS);
}
