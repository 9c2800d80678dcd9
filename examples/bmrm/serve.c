/* The service of a trained model: reads lines, and answers each with a line, except the headings of a table. Lines that arrive together are answered together. */
#include "serve.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SERVE_READ  65536              /* bytes that are read at once */
#define SERVE_LINE  ((size_t)16 << 20) /* longest line in bytes */
#define SERVE_BATCH 1024               /* most lines that are answered together */

/* The state of the service */
typedef struct {
  const BMRMModel   *model;
  BMRMPredictionLine out;
  PetscBool          table;
  BMRMServeColumns   columns;
  BMRMServeRow       row;
  PetscInt64         line;                    /* number of lines read */
  PetscInt           n;                       /* lines of the batch */
  PetscReal         *score;                   /* [k SERVE_BATCH] scores of the lines, those of a line one after another */
  PetscInt           errors;                  /* number of lines of the batch with an error */
  GpAppComplaint     complaint[SERVE_BATCH];  /* code 0: the line has a prediction */
  char              *text;                    /* [capacity] input that was read */
  size_t             length, capacity, begin; /* bytes in text; bytes allocated; bytes at the beginning of text that have been processed */
  PetscBool          skipping;                /* the rest of a line that is too long is skipped */
} BMRMService;

/* Divides a row by its norm. */
static void ServeNormalizeRow(BMRMServeRow *row)
{
  PetscReal largest = 0, sum = 0;

  for (PetscInt k = 0; k < row->n; k++) largest = PetscMax(largest, PetscAbsScalar(row->a[k]));
  if (largest == 0) return;
  for (PetscInt k = 0; k < row->n; k++) sum += PetscSqr(PetscRealPart(row->a[k]) / largest); /* the division avoids overflow and underflow */
  for (PetscInt k = 0; k < row->n; k++) row->a[k] = row->a[k] / largest / PetscSqrtReal(sum);
}

/* Computes the scores of the row as line n of the batch. */
static void ServeComputeScores(BMRMService *s, GpAppComplaint *C)
{
  const BMRMModel *model = s->model;

  if (model->unit_rows) ServeNormalizeRow(&s->row);
  for (PetscInt c = 0; c < s->out.k; c++) {
    const PetscReal *w   = model->w + (size_t)c * (size_t)model->n;
    PetscReal        sum = 0;

    for (PetscInt k = 0; k < s->row.n; k++) sum += w[s->row.j[k]] * PetscRealPart(s->row.a[k]);
    sum += model->nclass ? model->shift[c] : model->offset;
    s->score[s->n * s->out.k + c] = sum;
    if (PetscIsInfOrNanReal(sum)) GpAppComplainAbout(C, PETSC_ERR_FILE_UNEXPECTED, s->line, "a score overflows: use smaller values");
  }
}

/* Writes the answers of a batch. */
static PetscErrorCode ServeWriteBatch(BMRMService *s)
{
  const PetscInt     k = s->out.k, m = s->n - s->errors;
  const PetscScalar *ba, *pa         = NULL;
  PetscScalar       *fa;
  PetscReal         *value;
  PetscInt           row = 0;
  Vec                f, p = NULL, best;

  PetscFunctionBegin;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, k * m, &f));
  PetscCall(VecGetArrayWrite(f, &fa));
  for (PetscInt i = 0; i < s->n; i++) {
    for (PetscInt c = 0; c < k && !s->complaint[i].code; c++) fa[c * m + row] = s->score[i * k + c];
    row += !s->complaint[i].code;
  }
  PetscCall(VecRestoreArrayWrite(f, &fa));
  PetscCall(BMRMFindClasses(f, k, &best));
  if (s->out.likely) PetscCall(BMRMModelComputeProbabilities(s->model, f, &p));
  PetscCall(VecGetArrayRead(best, &ba));
  if (p) PetscCall(VecGetArrayRead(p, &pa));
  PetscCall(PetscMalloc1(1 + 2 * k, &value));
  row = 0;
  for (PetscInt i = 0; i < s->n; i++) {
    const GpAppComplaint *C = &s->complaint[i];

    if (C->code && C->column) (void)fprintf(stdout, "error: line %lld, column %lld: %s\n", (long long)C->line, (long long)C->column, C->what);
    else if (C->code) (void)fprintf(stdout, "error: line %lld: %s\n", (long long)C->line, C->what);
    if (C->code) continue;
    value[0] = PetscRealPart(ba[row]);
    for (PetscInt c = 0; c < k; c++) value[1 + c] = s->score[i * k + c];
    for (PetscInt c = 0; c < k && pa; c++) value[1 + k + c] = PetscRealPart(pa[c * m + row]);
    BMRMPredictionsWriteLine(stdout, &s->out, value);
    row++;
  }
  PetscCall(PetscFree(value));
  if (p) PetscCall(VecRestoreArrayRead(p, &pa));
  PetscCall(VecRestoreArrayRead(best, &ba));
  PetscCall(VecDestroy(&best));
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&f));
  s->n = s->errors = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the current line of the batch, which has its scores or a complaint. */
static PetscErrorCode ServeEndLine(BMRMService *s)
{
  PetscFunctionBegin;
  s->errors += s->complaint[s->n++].code != 0;
  if (s->n == SERVE_BATCH) PetscCall(ServeWriteBatch(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Processes one line. A heading has no answer, and one that lacks a feature ends the service. */
static PetscErrorCode ServeProcessLine(BMRMService *s, const char *text, const char *eol)
{
  GpAppComplaint *C = &s->complaint[s->n];

  PetscFunctionBegin;
  s->line++;
  if (s->line == 1 && eol - text >= 3 && !strncmp(text, "\357\273\277", 3)) text += 3; /* byte-order mark */
  C->code = 0;
  if (s->table && s->model->feature_names && s->line == 1) {
    PetscCall(BMRMServeParseHeading(s->model, s->line, text, eol, &s->columns, C));
    PetscCall(GpAppComplaintRaise(PETSC_COMM_SELF, "standard input", C));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (s->table) PetscCall(BMRMServeParseFields(s->model, &s->columns, s->line, text, eol, &s->row, C));
  else PetscCall(BMRMServeParseLibsvm(s->model, s->line, text, eol, &s->row, C));
  if (!C->code) ServeComputeScores(s, C);
  PetscCall(ServeEndLine(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Processes the complete lines that were read. The beginning of a line that is too long is answered, and its rest is skipped. */
static PetscErrorCode ServeProcessText(BMRMService *s)
{
  char *eol;

  PetscFunctionBegin;
  while ((eol = (char *)memchr(s->text + s->begin, '\n', s->length - s->begin))) {
    if (!s->skipping) PetscCall(ServeProcessLine(s, s->text + s->begin, eol));
    s->skipping = PETSC_FALSE;
    s->begin    = (size_t)(eol - s->text) + 1;
  }
  if (s->length - s->begin > SERVE_LINE && !s->skipping) {
    s->complaint[s->n].code = 0;
    GpAppComplainAbout(&s->complaint[s->n], PETSC_ERR_FILE_UNEXPECTED, ++s->line, "the line has more than %d bytes", (int)SERVE_LINE);
    PetscCall(ServeEndLine(s));
    s->skipping = PETSC_TRUE;
  }
  if (s->skipping) s->begin = s->length;
  if (s->n) PetscCall(ServeWriteBatch(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends what can be read to the text. *end: the input has ended. */
static PetscErrorCode ServeRead(BMRMService *s, PetscBool *end)
{
  ssize_t n;

  PetscFunctionBegin;
  s->length -= s->begin;
  if (s->begin) (void)memmove(s->text, s->text + s->begin, s->length);
  s->begin = 0;
  if (s->capacity < s->length + SERVE_READ + 1) { /* a byte more, for the newline of a last line without one */
    s->capacity = 2 * s->length + 2 * SERVE_READ;
    PetscCall(PetscRealloc(s->capacity, &s->text));
  }
  do n = read(STDIN_FILENO, s->text + s->length, SERVE_READ);
  while (n < 0 && errno == EINTR);
  PetscCheck(n >= 0, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "standard input cannot be read: %s", strerror(errno));
  *end = (PetscBool)(n == 0);
  if (*end && s->length && !s->skipping) s->text[s->length++] = '\n';
  s->length += (size_t)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Answers all lines of standard input. Runs on one rank. */
PetscErrorCode BMRMServe(MPI_Comm comm, const BMRMRequest *rq, const BMRMModel *model)
{
  BMRMService *s;
  PetscBool    end = PETSC_FALSE;
  PetscMPIInt  size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(size == 1, comm, PETSC_ERR_USER_INPUT, "-serve runs on one process, and there are %d: start it without mpiexec", size);
  PetscCall(BMRMModelCheckProbabilities(comm, model, rq->probabilities, rq->model));
  PetscCall(PetscNew(&s));
  s->model = model;
  s->table = rq->table;
  s->out   = (BMRMPredictionLine){model, PetscMax(1, model->nclass), 0, rq->scores, rq->probabilities};
  if (!model->feature_names) { /* the columns are the features in their order */
    s->columns.n = model->n;
    PetscCall(PetscMalloc1(model->n, &s->columns.feature));
    for (PetscInt j = 0; j < model->n; j++) s->columns.feature[j] = j;
  }
  PetscCall(PetscMalloc1(s->out.k * SERVE_BATCH, &s->score));
  for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++) (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK); /* a program with an event loop may have set this flag */
  while (!end) {
    PetscCall(ServeRead(s, &end));
    PetscCall(ServeProcessText(s));
    PetscCheck(!fflush(stdout) && !ferror(stdout), comm, PETSC_ERR_FILE_WRITE, "cannot write to the standard output stream: %s", strerror(errno));
  }
  PetscCall(PetscFree(s->score));
  PetscCall(PetscFree(s->text));
  PetscCall(PetscFree(s->row.j));
  PetscCall(PetscFree(s->row.a));
  PetscCall(PetscFree(s->columns.feature));
  PetscCall(PetscFree(s->columns.names));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
