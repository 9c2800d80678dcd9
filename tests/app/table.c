static char help[] = "Tables in text: what is understood of headings, names, delimiters and numbers, and what is refused with which words.\n\n";

#include "app/table/apptable.h"
#include <gpucsr.h>
#include <stdlib.h>
#include <string.h>

static char message[1024]; /* of the last error */

static PetscErrorCode KeepMessage(MPI_Comm comm, int line, const char *fun, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *ctx)
{
  if (p == PETSC_ERROR_INITIAL) (void)snprintf(message, sizeof(message), "%s", mess);
  return n;
}

/* A text, how it is to be read, and what it says:  <rows>x<columns> [headings: ...] [names: ...] values, rows separated by |.
   S: the caller wants a square matrix, P: pairs, so that words may stand in two columns, N: nan is missing, H/h: header yes/no, R/r: row names yes/no,
   L: words may stand in the column "class", W: a line is one word */
static const struct {
  const char *text, *how, *expected;
} Good[] = {
  {"0,1\n1,0\n", "S", "2x2 , 0 1|1 0"},
  {"0 1\n1 0\n", "S", "2x2 blank 0 1|1 0"},
  {"  0\t 1\n\t1 0  ", "S", "2x2 blank 0 1|1 0"},
  {"0\t1\n1\t0\n", "S", "2x2 tab 0 1|1 0"},
  {"0;1,5\n1,5;0\n", "S", "2x2 ;, 0 1.5|1.5 0"},
  {"0;1.5\n1.5;0\n", "S", "2x2 ; 0 1.5|1.5 0"},
  {"\xEF\xBB\xBF"
   "0,1\r\n1,0\r\n",
   "S", "2x2 , 0 1|1 0"},
  {"# a comment\n\n% another\n0, 1\n   \n1,\t0\n", "S", "2x2 , 0 1|1 0"},
  {"\"0\",\"1\"\n\"1\",\"0\"\n", "S", "2x2 , 0 1|1 0"},
  /* headings */
  {"x,y\n1,2\n3,4\n", "", "2x2 , headings: x y 1 2|3 4"},
  {"\"x\"\t\"y\"\n1\t2\n", "", "1x2 tab headings: x y 1 2"},
  {"x\n1\n2\n", "", "2x1 blank headings: x 1|2"},
  {"NA,1\n1,NA\n", "S", "2x2 , ? 1|1 ?"},
  {"1,2\n3,4\n", "H", "1x2 , headings: 1 2 3 4"},
  {"a,b\n1,2\n", "R", "1x1 , headings: b names: 1 2"},
  {"0,1,2\n0,1,5\n1,0,3\n5,3,0\n", "S", "3x3 , headings: 0 1 2 0 1 5|1 0 3|5 3 0"},
  {"0,1,2\n0,1,5\n1,0,3\n5,3,0\n", "", "4x3 , 0 1 2|0 1 5|1 0 3|5 3 0"},
  /* write.csv(), write.table(), pandas */
  {"\"\",\"434\",\"445\"\n\"434\",0,0.86\n\"445\",0.86,0\n", "S", "2x2 , headings: 434 445 names: 434 445 0 0.86|0.86 0"},
  {"\"\",\"434\",\"445\"\n\"434\",\"0\",\"0.86\"\n\"445\",\"0.86\",\"0\"\n", "S", "2x2 , headings: 434 445 names: 434 445 0 0.86|0.86 0"},
  {"\"434\" \"445\"\n\"434\" 0 0.86\n\"445\" 0.86 0\n", "S", "2x2 blank headings: 434 445 names: 434 445 0 0.86|0.86 0"},
  {"434 445\n434 0 0.86\n445 0.86 0\n", "S", "2x2 blank headings: 434 445 names: 434 445 0 0.86|0.86 0"},
  {",434,445\n434,0,0.86\n445,0.86,0\n", "S", "2x2 , headings: 434 445 names: 434 445 0 0.86|0.86 0"},
  {"wl,434,445\n434,0,0.86\n445,0.86,0\n", "S", "2x2 , headings: 434 445 names: 434 445 0 0.86|0.86 0"},
  {",0,1\n0,0,2\n1,2,0\n", "S", "2x2 , headings: 0 1 names: 0 1 0 2|2 0"},
  {",1,2\n1,,3\n2,3,\n", "S", "3x3 , ? 1 2|1 ? 3|2 3 ?"},
  {"\"\",\"Athens\",\"Hook of Holland\"\n\"Athens\",0,3\n\"Hook of Holland\",3,0\n", "S", "2x2 , headings: Athens Hook of Holland names: Athens Hook of Holland 0 3|3 0"},
  {"\"Athens\" \"Hook of Holland\"\n\"Athens\" 0 3\n\"Hook of Holland\" 3 0\n", "S", "2x2 blank headings: Athens Hook of Holland names: Athens Hook of Holland 0 3|3 0"},
  {"point,x1,x2\n0,5,6\n1,7,8\n", "", "2x2 , headings: x1 x2 names: 0 1 5 6|7 8"},
  {"mass,x1,x2\n0,5,6\n1,7,8\n", "", "2x3 , headings: mass x1 x2 0 5 6|1 7 8"},
  {"\"7\",5,6\n\"9\",7,8\n", "", "2x2 , names: 7 9 5 6|7 8"},
  {"\"7\",5,6\n\"9\",7,8\n", "r", "2x3 , 7 5 6|9 7 8"},
  {"p,5,6\nq,7,8\n", "", "2x2 , names: p q 5 6|7 8"},
  {"1,0,1\n2,1,0\n", "S", "2x3 , 1 0 1|2 1 0"}, /* numbers alone do not say that they are names */
  {"1,0,1\n2,1,0\n", "SR", "2x2 , names: 1 2 0 1|1 0"},
  {"two words\n\"quoted\"\n\"open\n", "W", "3x1 lines two words|quoted|\"open"},
  /* quotes */
  {"\"say \"\"hi\"\"\",0,1\n\"a,b;c\",1,0\n", "S", "2x2 , names: say \"hi\" a,b;c 0 1|1 0"},
  {"O'Brien 0 1\nd'Arc 1 0\n", "S", "2x2 blank names: O'Brien d'Arc 0 1|1 0"},
  /* missing values */
  {"a,1,\nb,NA,2\nc,.,?\nd,null,nan\n", "N", "4x2 , names: a b c d 1 ?|? 2|? ?|? ?"},
  /* triangles */
  {"0\n1 0\n2 3 0\n", "S", "3x3 lower blank 0 ? ?|1 0 ?|2 3 0"},
  {"1\n2 3\n4 5 6\n", "S", "3x3 strict1 blank 1 ? ?|2 3 ?|4 5 6"},
  {"a 0\nb 1 0\nc 2 3 0\n", "S", "3x3 lower blank names: a b c 0 ? ?|1 0 ?|2 3 0"},
  {"a\nb 1\nc 2 3\n", "S", "3x2 strict0 blank names: a b c ? ?|1 ?|2 3"},
  {"  Athens Barcelona\nBarcelona 3313\nBrussels 2963 1318\n", "S", "2x2 strict1 blank headings: Athens Barcelona names: Barcelona Brussels 3313 ?|2963 1318"},
  /* words in columns */
  {"Paris,London,3\nLondon,Rome,4\n", "P", "2x3 , Paris London 3|London Rome 4"},
  {"from,to,km\nParis,London,3\nLondon,Rome,4\n", "P", "2x3 , headings: from to km Paris London 3|London Rome 4"},
  {"\"434\",\"445\",3\n", "P", "1x3 , 434 445 3"},
  {"0 1 3\n1 2 4\n", "P", "2x3 blank 0 1 3|1 2 4"},
  {"0 a 3\n1 b 4\n", "P", "2x3 blank 0 a 3|1 b 4"},
  {"x,class,y\n1,setosa,2\n3,virginica,4\n", "Lr", "2x3 , headings: x class y 1 setosa 2|3 virginica 4"},
  {"x,class,y\n1,0,2\n3,1,4\n", "Lr", "2x3 , headings: x class y 1 0 2|3 1 4"},
  {"1e3,-2.5,+.5,12345678901234567890123,1e-320\n", "", "1x5 , 1000 -2.5 0.5 1.2345678901234568e+22 9.9998886718268301e-321"},
};

static const struct {
  const char *text, *how;
  int         line;
  const char *words;
} Bad[] = {
  {"", "", 0, "the file holds no numbers"},
  {"# nothing\n\n", "", 0, "the file holds no numbers"},
  {"a,b\n", "H", 0, "no rows under its headings"},
  {"0,1,2\n1,0\n2,3,0\n", "S", 2, "expected 3 fields as in the first line of data, got 2"},
  {"0,1,2\n1,0,x\n2,3,0\n", "S", 2, "field 3: expected a finite number, got 'x'"},
  {"0,1,2\nx1,0,3\n2,3,0\n", "S", 2, "field 1: expected a finite number, got 'x1'"},
  {"0,0x10\n1,0\n", "h", 1, "field 2: expected a finite number, got '0x10'"},
  {"0,inf\n1,0\n", "S", 1, "field 2: expected a finite number, at most 1.8e308, got 'inf'"},
  {"# c\n0,1\n1e999,0\n", "S", 3, "got '1e999'"},
  {"0,nan\nnan,0\n", "S", 1, "or NA or an empty field for a missing value, got 'nan'"},
  {"p,q\n1,2\n3,four\n", "h", 1, "expected a finite number"},
  {"p,q\n1,2\n3,four\n5,6\n7,8\n", "Hr", 3, "field 2 (q): expected a finite number, got 'four'"},
  {"0\t1,5\n1,5\t0\n", "Sr", 1, "decimal commas are read between semicolons), got '1,5'"},
  {"0;1,5\n1.5;0\n", "S", 2, "with a decimal comma as in other fields, got '1.5'"},
  {"\"a,0,1\nb,1,0\n", "S", 1, "closing quote"},
  {"a,0,1\n\"b\"x,1,0\n", "S", 2, "expected a delimiter behind the closing quote"},
  {"a,0,1\n\"b\nc\",1,0\n", "S", 2, "newlines in quotes are not understood"},
  {"x,y\n1,2\n", "Lr", 0, "no column 'class': expected a heading, or a number from 1 to 2"},
};

/* every rank gets some of the lines, so that headings, rows and the ends of triangles lie on different ranks */
static PetscErrorCode MakeText(const char text[], size_t length, GpAppText *X)
{
  PetscMPIInt rank, size;
  size_t      begin, end;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  memset(X, 0, sizeof(*X));
  X->comm = PETSC_COMM_WORLD;
  PetscCall(PetscStrncpy(X->file, "t", sizeof(X->file)));
  begin = length * (size_t)rank / (size_t)size;
  end   = length * (size_t)(rank + 1) / (size_t)size;
  while (begin && begin < length && text[begin - 1] != '\n') begin++;
  while (end && end < length && text[end - 1] != '\n') end++;
  X->length = end - begin;
  PetscCall(PetscMalloc1(X->length + 1, &X->text));
  memcpy(X->text, text + begin, X->length);
  if (X->length && X->text[X->length - 1] != '\n') X->text[X->length++] = '\n';
  for (size_t k = 0; k < X->length; k++) X->lines += X->text[k] == '\n';
  PetscCall(GpAppTextRaise(X, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static GpAppTableSpec Spec(const char how[])
{
  GpAppTableSpec spec = {GP_TABLE_AUTO};

  for (; *how; how++) {
    if (*how == 'S') spec.square = PETSC_TRUE;
    if (*how == 'N') spec.nan_missing = PETSC_TRUE;
    if (*how == 'H' || *how == 'h') spec.header = *how == 'H' ? GP_TABLE_YES : GP_TABLE_NO;
    if (*how == 'R' || *how == 'r') spec.names = *how == 'R' ? GP_TABLE_YES : GP_TABLE_NO;
    if (*how == 'W') {
      spec.text_first = 1;
      spec.lines      = PETSC_TRUE;
    }
    if (*how == 'L') spec.label = "class";
    if (*how == 'P') {
      spec.text_first = 2;
      spec.names      = GP_TABLE_NO;
    }
  }
  return spec;
}

/* what was read, in the form of Good[].expected */
static PetscErrorCode Tell(const GpAppTable *T, char told[], size_t size)
{
  const char *const shapes[] = {"", " lower", " strict1", " strict0"};
  char             *names, *words[3] = {NULL, NULL, NULL}, *to = told, *end = told + size;
  double           *all;

  PetscFunctionBegin;
  PetscCall(GpAppTableGatherNames(T, &names));
  PetscCall(GpAppTableGatherValues(T, &all));
  to += snprintf(to, (size_t)(end - to), "%dx%d%s ", (int)T->N, (int)T->cols, shapes[T->shape]);
  to += snprintf(to, (size_t)(end - to), "%s", T->delimiter == ' ' ? "blank" : T->delimiter == '\t' ? "tab" : T->delimiter == '\n' ? "lines" : T->decimal_comma ? ";," : T->delimiter == ';' ? ";" : ",");
  if (T->heading) to += snprintf(to, (size_t)(end - to), " headings:");
  for (PetscInt j = 0; T->heading && j < T->cols; j++) to += snprintf(to, (size_t)(end - to), " %s", T->heading[j]);
  if (names) to += snprintf(to, (size_t)(end - to), " names:");
  for (PetscInt i = 0, at = 0; names && i < T->N; i++, at += (PetscInt)strlen(names + at) + 1) to += snprintf(to, (size_t)(end - to), " %s", names + at);
  for (PetscInt k = 0; k < T->ntext; k++) PetscCall(GpAppTableGatherWords(T, k, &words[k]));
  for (PetscInt i = 0; i < T->N; i++)
    for (PetscInt j = 0, k = 0; j < T->cols; j++) {
      const char *before = j ? " " : i ? "|" : " ";

      if (k < T->ntext && T->text[k] == j) {
        const char *w = words[k++];

        for (PetscInt skip = 0; skip < i; skip++) w += strlen(w) + 1;
        to += snprintf(to, (size_t)(end - to), "%s%s", before, w);
      } else if (PetscIsNanReal(all[i * T->cols + j])) to += snprintf(to, (size_t)(end - to), "%s?", before);
      else if (PetscAbsReal(all[i * T->cols + j]) > 1e6 || PetscAbsReal(all[i * T->cols + j]) < 1e-6) to += snprintf(to, (size_t)(end - to), "%s%.17g", before, all[i * T->cols + j]);
      else to += snprintf(to, (size_t)(end - to), "%s%.6g", before, all[i * T->cols + j]);
    }
  for (int k = 0; k < 3; k++) PetscCall(PetscFree(words[k]));
  PetscCall(PetscFree(names));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestGood(PetscInt *failed)
{
  char told[4096];

  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(Good) / sizeof(Good[0]); k++) {
    const GpAppTableSpec spec = Spec(Good[k].how);
    GpAppText            X;
    GpAppTable           T;
    PetscErrorCode       ierr;

    PetscCall(MakeText(Good[k].text, strlen(Good[k].text), &X));
    message[0] = 0;
    PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
    ierr = GpAppTableParse(&X, &spec, &T);
    PetscCall(PetscPopErrorHandler());
    if (ierr) PetscCall(PetscSNPrintf(told, sizeof(told), "refused: %s", message));
    else {
      PetscCall(Tell(&T, told, sizeof(told)));
      PetscCall(GpAppTableDestroy(&T));
    }
    if (!strcmp(told, Good[k].expected)) continue;
    ++*failed;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n  read as:  %s\n  expected: %s\n", Good[k].text, told, Good[k].expected));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBad(const char text[], size_t length, const char how[], int line, const char words[], PetscInt *failed)
{
  const GpAppTableSpec spec = Spec(how);
  char                 place[2][32];
  int                  good;
  GpAppText            X;
  GpAppTable           T;
  PetscErrorCode       ierr;

  PetscFunctionBegin;
  PetscCall(MakeText(text, length, &X));
  message[0] = 0;
  PetscCall(PetscPushErrorHandler(KeepMessage, NULL));
  ierr = GpAppTableParse(&X, &spec, &T);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscSNPrintf(place[0], sizeof(place[0]), line ? "t: line %d" : "t: ", line));
  PetscCall(PetscSNPrintf(place[1], sizeof(place[1]), line ? "t:%d:" : "t: ", line));
  good = ierr && strstr(message, words) && (!strncmp(message, place[0], strlen(place[0])) || !strncmp(message, place[1], strlen(place[1])));
  if (!ierr) PetscCall(GpAppTableDestroy(&T));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  if (good) PetscFunctionReturn(PETSC_SUCCESS);
  ++*failed;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n  refused:  %s\n  expected: line %d, %s\n", text, ierr ? message : "(it was read)", line, words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* codes of the different words of a column, in the order of the words */
static PetscErrorCode TestCategories(PetscInt *failed)
{
  const char           text[] = "class,x\nb,1\na,2\nb,3\nc,4\n", expected[] = "a\0b\0c";
  const GpAppTableSpec spec    = {.names = GP_TABLE_NO, .label = "1"};
  const double         codes[] = {1, 0, 1, 2};
  GpAppText            X;
  GpAppTable           T;
  PetscInt             n;
  char                *levels;
  double              *all;

  PetscFunctionBegin;
  PetscCall(MakeText(text, strlen(text), &X));
  PetscCall(GpAppTableParse(&X, &spec, &T));
  PetscCall(GpAppTableCategorize(&T, 0, &n, &levels));
  PetscCall(GpAppTableGatherValues(&T, &all));
  if (T.label != 0 || n != 3 || memcmp(levels, expected, sizeof(expected))) ++*failed;
  for (PetscInt i = 0; i < 4; i++) *failed += all[2 * i] != codes[i];
  PetscCall(PetscFree(levels));
  PetscCall(PetscFree(all));
  PetscCall(GpAppTableDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt failed = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TestGood(&failed));
  for (size_t k = 0; k < sizeof(Bad) / sizeof(Bad[0]); k++) PetscCall(TestBad(Bad[k].text, strlen(Bad[k].text), Bad[k].how, Bad[k].line, Bad[k].words, &failed));
  PetscCall(TestCategories(&failed));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " tables of %d were not understood\n", failed, (int)(sizeof(Good) / sizeof(Good[0]) + sizeof(Bad) / sizeof(Bad[0])) + 1));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: 1
    nsize: {{1 2 3 5}}
TEST*/
