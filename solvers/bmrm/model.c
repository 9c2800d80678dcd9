/* The model: a text file of weights, and the scores it gives. */
#include "app/appscan.h"
#include "model.h"
#include <errno.h>
#include <string.h>

#define BMRM_MODEL_MAGIC "bmrm-model 1"

/*@C
  BMRMModelCreate - Makes a model of trained weights; the caller fills in what else it knows

  Collective

  Input Parameters:
+ w - the weights
- n - how many of them belong to features; a further one is that of the bias

  Output Parameter:
. model - the model, the same on all ranks

  Level: developer

.seealso: `BMRMModelWrite()`, `BMRMModelScore()`, `BMRMModelDestroy()`
@*/
PetscErrorCode BMRMModelCreate(Vec w, PetscInt n, BMRMModel *model)
{
  VecScatter         scatter;
  Vec                all;
  const PetscScalar *a;
  PetscInt           N;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(model, sizeof(*model)));
  PetscCall(VecGetSize(w, &N));
  model->n = n;
  PetscCall(PetscMalloc1(model->n, &model->w));
  PetscCall(VecScatterCreateToAll(w, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, w, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, w, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt i = 0; i < n; i++) model->w[i] = PetscRealPart(a[i]);
  if (n < N) model->offset = PetscRealPart(a[n]);
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMModelDestroy - Frees a model

  Not Collective

  Input Parameter:
. model - the model

  Level: developer

.seealso: `BMRMModelCreate()`, `BMRMModelRead()`
@*/
PetscErrorCode BMRMModelDestroy(BMRMModel *model)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(model->w));
  PetscCall(PetscFree2(model->label, model->shift));
  model->n = model->nclass = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMModelWrite - Writes a model as text, digit for digit what it is in memory

  Collective

  Input Parameters:
+ comm  - the communicator
. model - the model
- file  - where to; it appears when it is complete

  Level: developer

.seealso: `BMRMModelRead()`
@*/
PetscErrorCode BMRMModelWrite(MPI_Comm comm, const BMRMModel *model, const char file[])
{
  GpAppOutput out;
  PetscInt    nonzeros = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < model->n * PetscMax(1, model->nclass); i++) nonzeros += model->w[i] != 0;
  PetscCall(GpAppOutputOpen(comm, file, &out));
  if (out.fp) {
    (void)fprintf(out.fp, BMRM_MODEL_MAGIC "\nloss %s\nlambda %.17g\nfeatures %lld\n", model->loss, (double)model->lambda, (long long)model->n);
    if (model->nclass) BMRMModelPutClasses_Private(out.fp, model);
    else if (model->classify) (void)fprintf(out.fp, "labels %.17g %.17g\n", (double)model->classes[0], (double)model->classes[1]);
    else (void)fprintf(out.fp, "labels %s\n", model->order ? "order" : "any");
    if (model->unit_rows) (void)fprintf(out.fp, "rows unit\n");
    if (model->probable) (void)fprintf(out.fp, "platt %.17g %.17g\n", (double)model->platt[0], (double)model->platt[1]);
    if (model->offset != 0) (void)fprintf(out.fp, "offset %.17g\n", (double)model->offset);
    (void)fprintf(out.fp, "weights %lld\n", (long long)nonzeros);
    for (PetscInt i = 0; i < model->n; i++) {
      if (!model->nclass && model->w[i] != 0) (void)fprintf(out.fp, "%lld %.17g\n", (long long)i + 1, (double)model->w[i]);
      for (PetscInt c = 0; c < model->nclass; c++) {
        const PetscReal w = model->w[c * model->n + i];

        if (w != 0) (void)fprintf(out.fp, "%lld %lld %.17g\n", (long long)i + 1, (long long)c + 1, (double)w);
      }
    }
    (void)fprintf(out.fp, "end\n");
  }
  PetscCall(GpAppOutputCommit(&out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the file, on the first rank */
typedef struct {
  FILE       *fp;
  PetscInt64  lines; /* read so far */
  char        line[256];
  const char *expected; /* where something else is; NULL: nothing is wrong */
} Reader;

/* Reads a line, without its end; at the end of the file an empty one. */
static void NextLine(Reader *r)
{
  r->lines++;
  if (!fgets(r->line, sizeof(r->line), r->fp)) r->line[0] = 0;
  r->line[strcspn(r->line, "\r\n")] = 0;
}

/* Reads n numbers, each after one blank, that fill the rest of a line after a word. */
static PetscBool ScanNumbers(const char line[], const char word[], int n, double v[])
{
  const size_t length = strlen(word);
  const char  *p      = line + length;

  if (strncmp(line, word, length)) return PETSC_FALSE;
  for (int k = 0; k < n; k++) {
    if (length || k) {
      if (*p++ != ' ') return PETSC_FALSE;
    }
    p = GpAppScanReal(p, v + k);
    if (!p || PetscIsInfOrNanReal((PetscReal)v[k])) return PETSC_FALSE;
  }
  return (PetscBool)(*p == 0);
}

/* Whether v is an integer in [low, high]. */
static PetscBool IsCount(double v, double low, double high)
{
  return (PetscBool)(v >= low && v <= high && v == PetscFloorReal((PetscReal)v));
}

/* What the model is of: loss, lambda, features. */
static PetscErrorCode ReadHead(Reader *r, BMRMModel *model)
{
  double v;

  PetscFunctionBegin;
  NextLine(r);
  if (strcmp(r->line, BMRM_MODEL_MAGIC)) r->expected = "the first line of a model, '" BMRM_MODEL_MAGIC "'";
  if (r->expected) PetscFunctionReturn(PETSC_SUCCESS);
  NextLine(r);
  if (strncmp(r->line, "loss ", 5) || !r->line[5] || strlen(r->line + 5) >= sizeof(model->loss) || strchr(r->line + 5, ' ')) r->expected = "'loss' and its name";
  if (r->expected) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(model->loss, r->line + 5, sizeof(model->loss)));
  NextLine(r);
  if (!ScanNumbers(r->line, "lambda", 1, &v) || !(v > 0)) r->expected = "'lambda' and a positive number";
  if (r->expected) PetscFunctionReturn(PETSC_SUCCESS);
  model->lambda = (PetscReal)v;
  NextLine(r);
  if (!ScanNumbers(r->line, "features", 1, &v) || !IsCount(v, 0, PETSC_MAX_INT)) r->expected = "'features' and their number";
  else model->n = (PetscInt)v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The labels and shifts of several classes. */
static PetscErrorCode ReadClasses(Reader *r, PetscInt k, BMRMModel *model)
{
  double v[2];

  PetscFunctionBegin;
  model->nclass = k;
  PetscCall(PetscMalloc2(k, &model->label, k, &model->shift));
  for (PetscInt c = 0; c < k && !r->expected; c++) {
    NextLine(r);
    if (!ScanNumbers(r->line, "", 2, v) || (c && !(v[0] > model->label[c - 1]))) r->expected = "a label, higher than the one before, and an offset";
    else {
      model->label[c] = (PetscReal)v[0];
      model->shift[c] = (PetscReal)v[1];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What scores stand for: classes, two labels, an order, or themselves. */
static PetscErrorCode ReadLabels(Reader *r, BMRMModel *model)
{
  double v[2];

  PetscFunctionBegin;
  NextLine(r);
  if (ScanNumbers(r->line, "classes", 1, v)) {
    if (!IsCount(v[0], 2, PETSC_MAX_INT / PetscMax(1, model->n))) r->expected = "'classes' and their number, two or more";
    else PetscCall(ReadClasses(r, (PetscInt)v[0], model));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  model->order    = (PetscBool)!strcmp(r->line, "labels order");
  model->classify = (PetscBool)(strcmp(r->line, "labels any") != 0 && !model->order);
  if (!model->classify) PetscFunctionReturn(PETSC_SUCCESS);
  if (!ScanNumbers(r->line, "labels", 2, v) || !(v[0] < v[1])) r->expected = "'labels' and two numbers in ascending order, 'any' or 'order', or 'classes'";
  else {
    model->classes[0] = (PetscReal)v[0];
    model->classes[1] = (PetscReal)v[1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a model may have, and the number of its weights that are not zero. */
static void ReadExtras(Reader *r, BMRMModel *model, PetscInt *count)
{
  double v[2];

  NextLine(r);
  model->unit_rows = (PetscBool)!strcmp(r->line, "rows unit");
  if (model->unit_rows) NextLine(r);
  model->probable = (PetscBool)(model->classify && ScanNumbers(r->line, "platt", 2, v));
  if (model->probable) {
    model->platt[0] = (PetscReal)v[0];
    model->platt[1] = (PetscReal)v[1];
    NextLine(r);
  }
  if (ScanNumbers(r->line, "offset", 1, v)) {
    model->offset = (PetscReal)v[0];
    NextLine(r);
  }
  if (!ScanNumbers(r->line, "weights", 1, v) || !IsCount(v[0], 0, (double)model->n * PetscMax(1, model->nclass))) r->expected = "'weights' and the number of those that are not zero";
  else *count = (PetscInt)v[0];
}

static PetscErrorCode ReadWeights(Reader *r, PetscInt count, BMRMModel *model)
{
  const PetscInt columns = PetscMax(1, model->nclass);
  double         v[3], last = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(model->n * columns, &model->w));
  for (PetscInt k = 0; k < count && !r->expected; k++) {
    NextLine(r);
    if (!model->nclass) {
      if (!ScanNumbers(r->line, "", 2, v) || !IsCount(v[0], last + 1, model->n)) r->expected = "an index, higher than the one before and no more than the features, and a weight";
      else model->w[(PetscInt)(last = v[0]) - 1] = (PetscReal)v[1];
    } else if (!ScanNumbers(r->line, "", 3, v) || !IsCount(v[0], 1, model->n) || !IsCount(v[1], 1, columns) || !(v[0] * columns + v[1] > last)) r->expected = "an index and the number of a class, in rising order, and a weight";
    else {
      last = v[0] * columns + v[1];

      model->w[((PetscInt)v[1] - 1) * model->n + (PetscInt)v[0] - 1] = (PetscReal)v[2];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the first rank does: reads the file, notes the first thing that is wrong. */
static PetscErrorCode ReadText(FILE *fp, BMRMModel *model, GpAppComplaint *err)
{
  Reader   r     = {.fp = fp};
  PetscInt count = 0;

  PetscFunctionBegin;
  PetscCall(ReadHead(&r, model));
  if (!r.expected) PetscCall(ReadLabels(&r, model));
  if (!r.expected) ReadExtras(&r, model, &count);
  if (!r.expected) PetscCall(ReadWeights(&r, count, model));
  if (!r.expected) {
    NextLine(&r);
    if (strcmp(r.line, "end")) r.expected = "'end'; the file is damaged or cut off";
  }
  err->line = r.lines;
  if (r.expected) {
    for (char *p = r.line; *p; p++) *p = *p < ' ' || *p > '~' ? '?' : *p;
    err->code = PETSC_ERR_FILE_UNEXPECTED;
    PetscCall(PetscSNPrintf(err->what, sizeof(err->what), "expected %s, got '%.40s'", r.expected, r.line));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMModelRead - Reads a model that `BMRMModelWrite()` wrote

  Collective

  Input Parameters:
+ comm - the communicator
- file - the file; only the first rank opens it

  Output Parameter:
. model - the model, the same on all ranks; empty after an error

  Level: developer

.seealso: `BMRMModelWrite()`, `BMRMModelScore()`
@*/
PetscErrorCode BMRMModelRead(MPI_Comm comm, const char file[], BMRMModel *model)
{
  GpAppComplaint err;
  PetscMPIInt    rank, count;
  BMRMModel      mine;

  PetscFunctionBegin;
  memset(model, 0, sizeof(*model));
  memset(&err, 0, sizeof(err));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    FILE *fp = fopen(file, "r");

    if (fp) {
      PetscCall(ReadText(fp, model, &err));
      (void)fclose(fp);
    } else {
      err.code = PETSC_ERR_FILE_OPEN;
      PetscCall(PetscStrncpy(err.what, strerror(errno), sizeof(err.what)));
    }
    if (err.code) PetscCall(BMRMModelDestroy(model));
  }
  PetscCallMPI(MPI_Bcast(&err, (PetscMPIInt)sizeof(err), MPI_BYTE, 0, comm));
  PetscCheck(!err.code || err.line, comm, (PetscErrorCode)err.code, "%s: %s", file, err.what);
  PetscCheck(!err.code, comm, (PetscErrorCode)err.code, "%s:%" PetscInt64_FMT ": %s", file, err.line, err.what);
  mine = *model;
  PetscCallMPI(MPI_Bcast(model, (PetscMPIInt)sizeof(*model), MPI_BYTE, 0, comm));
  model->w     = mine.w;
  model->label = mine.label;
  model->shift = mine.shift;
  if (rank) {
    PetscCall(PetscMalloc1(model->n * PetscMax(1, model->nclass), &model->w));
    if (model->nclass) PetscCall(PetscMalloc2(model->nclass, &model->label, model->nclass, &model->shift));
  }
  PetscCall(PetscMPIIntCast(model->n * PetscMax(1, model->nclass), &count));
  PetscCallMPI(MPI_Bcast(model->w, count, MPIU_REAL, 0, comm));
  if (model->nclass) {
    PetscCallMPI(MPI_Bcast(model->label, (PetscMPIInt)model->nclass, MPIU_REAL, 0, comm));
    PetscCallMPI(MPI_Bcast(model->shift, (PetscMPIInt)model->nclass, MPIU_REAL, 0, comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  BMRMModelScore - Multiplies data by the weights of a model

  Collective

  Input Parameters:
+ model - the model
- X     - one example a row, with as many columns as the model has features

  Output Parameter:
. f - the scores; one of zero or more stands for the second class, if there are two; of more classes those of this rank's examples for the first class, then
      for the second, and so on

  Level: developer

.seealso: `BMRMModelRead()`, `BMRMScoreClasses()`, `BMRMPredictionsWrite()`
@*/
PetscErrorCode BMRMModelScore(const BMRMModel *model, Mat X, Vec *f)
{
  Vec          w;
  PetscScalar *a;
  PetscInt     n, start, end;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &n));
  PetscCheck(n == model->n, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_SIZ, "The matrix has %" PetscInt_FMT " columns but the model has %" PetscInt_FMT " features", n, model->n);
  if (model->nclass) {
    PetscCall(BMRMModelScoreClasses_Private(model, X, f));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatCreateVecs(X, &w, f));
  PetscCall(VecGetOwnershipRange(w, &start, &end));
  PetscCall(VecGetArrayWrite(w, &a));
  for (PetscInt i = start; i < end; i++) a[i - start] = model->w[i];
  PetscCall(VecRestoreArrayWrite(w, &a));
  PetscCall(MatMult(X, w, *f));
  if (model->offset != 0) PetscCall(VecShift(*f, model->offset));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}
