/* Reader of the file of a model. The first rank checks the complete file before the model is created. */
#include "app/text/appcollective.h"
#include "app/text/appscan.h"
#include "model.h"
#include <stddef.h>
#include <string.h>

#define BMRM_MODEL_BLOCK ((size_t)1 << 20)

/* The reader of the file, on the first rank */
typedef struct {
  GpAppText     *text;
  char          *next, *end; /* lines in memory that have not been parsed */
  char          *line;       /* the current line, zero-terminated, without its newline; "" after the end of the file */
  PetscInt64     lines;      /* number of the current line, counted from 1 */
  PetscBool      ended;      /* the end of the file is reached */
  GpAppComplaint wrong;
} ModelReader;

/* The nonzero weights, in the order of the file */
typedef struct {
  PetscInt n, capacity;
  struct {
    PetscInt  at; /* index in the array of all weights */
    PetscReal value;
  } * weight;
} ModelWeights;

static PetscErrorCode BMRMModelNextLine(ModelReader *r)
{
  static char empty[] = "";
  char       *eol;

  PetscFunctionBegin;
  r->lines++;
  if (r->next == r->end) {
    r->text->lines = r->lines - 1;
    PetscCall(GpAppTextNext(r->text, BMRM_MODEL_BLOCK));
    r->next = r->text->text;
    r->end  = r->next + r->text->length;
  }
  r->line  = empty;
  r->ended = (PetscBool)(r->next == r->end);
  if (r->ended) PetscFunctionReturn(PETSC_SUCCESS);
  eol     = (char *)memchr(r->next, '\n', (size_t)(r->end - r->next));
  *eol    = 0;
  r->line = r->next;
  r->next = eol + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records what was expected in the current line. */
static void BMRMModelExpect(ModelReader *r, const char expected[])
{
  char line[64];

  (void)snprintf(line, sizeof(line), "%.40s", r->line);
  for (char *p = line; *p; p++) *p = *p < ' ' || *p > '~' ? '?' : *p;
  GpAppComplainAbout(&r->wrong, PETSC_ERR_FILE_UNEXPECTED, r->lines, "expected %s, got '%s'", expected, line);
}

/* Leaves the function if the current line is not what is expected. */
#define BMRMModelRequire(r, condition, expected) \
  do { \
    if (!(condition)) { \
      BMRMModelExpect(r, expected); \
      PetscFunctionReturn(PETSC_SUCCESS); \
    } \
  } while (0)

/* Parses a line that holds a word and n finite numbers, each after one blank. */
static PetscBool BMRMModelScan(const char line[], const char word[], int n, double v[])
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

/* Returns whether v is an integer in [low, high]. */
static PetscBool BMRMModelIsCount(double v, double low, double high)
{
  return (PetscBool)(v >= low && v <= high && v == PetscFloorReal((PetscReal)v));
}

/* Reads the first lines: format, loss, lambda, number of features. */
static PetscErrorCode BMRMModelReadHead(ModelReader *r, BMRMModel *model, PetscBool *names)
{
  double v;

  PetscFunctionBegin;
  PetscCall(BMRMModelNextLine(r));
  *names = (PetscBool)!strcmp(r->line, BMRM_MODEL_MAGIC_NAMES);
  BMRMModelRequire(r, *names || !strcmp(r->line, BMRM_MODEL_MAGIC), "the first line of a model, '" BMRM_MODEL_MAGIC "' or '" BMRM_MODEL_MAGIC_NAMES "'");
  PetscCall(BMRMModelNextLine(r));
  BMRMModelRequire(r, !strncmp(r->line, "loss ", 5) && r->line[5] && strlen(r->line + 5) < sizeof(model->loss) && !strchr(r->line + 5, ' '), "'loss' and its name");
  PetscCall(PetscStrncpy(model->loss, r->line + 5, sizeof(model->loss)));
  for (const char *c = model->loss; *c; c++) BMRMModelRequire(r, *c >= ' ' && *c <= '~', "'loss' and its name, in letters");
  PetscCall(BMRMModelNextLine(r));
  BMRMModelRequire(r, BMRMModelScan(r->line, "lambda", 1, &v) && v > 0, "'lambda' and a positive number");
  model->lambda = (PetscReal)v;
  PetscCall(BMRMModelNextLine(r));
  BMRMModelRequire(r, BMRMModelScan(r->line, "features", 1, &v) && BMRMModelIsCount(v, 0, PetscMin((double)PETSC_MAX_INT, 9007199254740992.)), "'features' and their number");
  model->n = (PetscInt)v;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the labels and offsets of k classes. The arrays grow with the lines, so that a damaged count cannot cause a large allocation. */
static PetscErrorCode BMRMModelReadClasses(ModelReader *r, PetscInt k, BMRMModel *model)
{
  PetscInt capacity = 0;
  double   v[2];

  PetscFunctionBegin;
  for (PetscInt c = 0; c < k; c++) {
    PetscCall(BMRMModelNextLine(r));
    BMRMModelRequire(r, BMRMModelScan(r->line, "", 2, v) && (!c || v[0] > model->label[c - 1]), "a label, higher than the one before, and an offset");
    if (c == capacity) {
      capacity = PetscMin(k, PetscMax(16, 2 * capacity));
      PetscCall(PetscRealloc((size_t)capacity * sizeof(*model->label), &model->label));
      PetscCall(PetscRealloc((size_t)capacity * sizeof(*model->shift), &model->shift));
    }
    model->label[c] = (PetscReal)v[0];
    model->shift[c] = (PetscReal)v[1];
    model->nclass   = c + 1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the meaning of scores: classes, two labels, an order, or predicted numbers. */
static PetscErrorCode BMRMModelReadLabels(ModelReader *r, BMRMModel *model)
{
  double v[2];

  PetscFunctionBegin;
  PetscCall(BMRMModelNextLine(r));
  if (BMRMModelScan(r->line, "classes", 1, v)) {
    BMRMModelRequire(r, BMRMModelIsCount(v[0], 2, PetscMin((double)PETSC_MAX_INT, 9007199254740992.) / PetscMax(1, model->n)), "'classes' and their number, two or more");
    PetscCall(BMRMModelReadClasses(r, (PetscInt)v[0], model));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  model->order    = (PetscBool)!strcmp(r->line, "labels order");
  model->classify = (PetscBool)(strcmp(r->line, "labels any") != 0 && !model->order);
  if (!model->classify) PetscFunctionReturn(PETSC_SUCCESS);
  BMRMModelRequire(r, BMRMModelScan(r->line, "labels", 2, v) && v[0] < v[1], "'labels' and two numbers in ascending order, 'any' or 'order', or 'classes'");
  model->classes[0] = (PetscReal)v[0];
  model->classes[1] = (PetscReal)v[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a section of n names if the current line begins one. Then the current line is the line after the section. */
static PetscErrorCode BMRMModelReadNames(ModelReader *r, const char section[], PetscInt n, char **names)
{
  size_t used = 0, capacity = 0;

  PetscFunctionBegin;
  if (strcmp(r->line, section)) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < n; k++) {
    size_t bytes;

    PetscCall(BMRMModelNextLine(r));
    bytes = strlen(r->line) + 1;
    BMRMModelRequire(r, !r->ended, "a name");
    if (used + bytes > capacity) {
      capacity = PetscMax(used + bytes, 2 * capacity);
      PetscCall(PetscRealloc(capacity, names));
    }
    PetscCall(PetscMemcpy(*names + used, r->line, bytes));
    used += bytes;
  }
  PetscCall(BMRMModelNextLine(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the optional lines of a model and the number of its nonzero weights. */
static PetscErrorCode BMRMModelReadExtras(ModelReader *r, PetscBool names, BMRMModel *model, PetscInt *count)
{
  double v[2];

  PetscFunctionBegin;
  PetscCall(BMRMModelNextLine(r));
  if (names && (model->classify || model->nclass)) PetscCall(BMRMModelReadNames(r, "class names", model->nclass ? model->nclass : 2, &model->class_names));
  if (names && model->n && !r->wrong.code) PetscCall(BMRMModelReadNames(r, "feature names", model->n, &model->feature_names));
  if (r->wrong.code) PetscFunctionReturn(PETSC_SUCCESS);
  model->unit_rows = (PetscBool)!strcmp(r->line, "rows unit");
  if (model->unit_rows) PetscCall(BMRMModelNextLine(r));
  model->probable = (PetscBool)(model->classify && BMRMModelScan(r->line, "platt", 2, v));
  if (model->probable) {
    model->platt[0] = (PetscReal)v[0];
    model->platt[1] = (PetscReal)v[1];
    PetscCall(BMRMModelNextLine(r));
  }
  if (model->nclass && BMRMModelScan(r->line, "temperature", 1, v)) {
    BMRMModelRequire(r, v[0] >= 1e-100 && v[0] <= 1e100, "'temperature' and a positive number");
    model->temperature = (PetscReal)v[0];
    model->probable    = PETSC_TRUE;
    PetscCall(BMRMModelNextLine(r));
  }
  if (BMRMModelScan(r->line, "offset", 1, v)) {
    model->offset = (PetscReal)v[0];
    PetscCall(BMRMModelNextLine(r));
  }
  BMRMModelRequire(r, BMRMModelScan(r->line, "weights", 1, v) && BMRMModelIsCount(v[0], 0, (double)model->n * PetscMax(1, model->nclass)), "'weights' and the number of those that are not zero");
  *count = (PetscInt)v[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the weights, and the end of the file. */
static PetscErrorCode BMRMModelReadWeights(ModelReader *r, PetscInt count, const BMRMModel *model, ModelWeights *w)
{
  const PetscInt columns  = PetscMax(1, model->nclass);
  const int      numbers  = model->nclass ? 3 : 2; /* of a line: index, class unless there is one only, weight */
  const char    *expected = model->nclass ? "an index and the number of a class, in rising order, and a weight" : "an index, higher than the one before and no more than the features, and a weight";
  double         last     = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < count; k++) {
    double    v[3] = {0, 0, 0};
    PetscBool right;

    PetscCall(BMRMModelNextLine(r));
    right = BMRMModelScan(r->line, "", numbers, v);
    if (!model->nclass) v[2] = v[1];
    if (!model->nclass) v[1] = 1;
    BMRMModelRequire(r, right && BMRMModelIsCount(v[0], 1, model->n) && BMRMModelIsCount(v[1], 1, columns) && v[0] * columns + v[1] > last, expected);
    last = v[0] * columns + v[1];
    if (w->n == w->capacity) {
      w->capacity = PetscMin(count, PetscMax(1024, 2 * w->capacity));
      PetscCall(PetscRealloc((size_t)w->capacity * sizeof(*w->weight), &w->weight));
    }
    w->weight[w->n].at      = ((PetscInt)v[1] - 1) * model->n + (PetscInt)v[0] - 1;
    w->weight[w->n++].value = (PetscReal)v[2];
  }
  PetscCall(BMRMModelNextLine(r));
  if (strcmp(r->line, "end")) BMRMModelExpect(r, "'end'; the file is damaged or truncated");
  while (!r->wrong.code && !r->ended) {
    PetscCall(BMRMModelNextLine(r));
    if (*r->line) BMRMModelExpect(r, "nothing after 'end'");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the file on the first rank, and records the first error. */
static PetscErrorCode BMRMModelParse(ModelReader *r, PetscInt accepted, BMRMModel *model)
{
  ModelWeights w     = {0};
  PetscInt     count = 0;
  PetscBool    names = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(BMRMModelReadHead(r, model, &names));
  if (!r->wrong.code) PetscCall(BMRMModelReadLabels(r, model));
  if (!r->wrong.code) PetscCall(BMRMModelReadExtras(r, names, model, &count));
  if (!r->wrong.code) PetscCall(BMRMModelReadWeights(r, count, model, &w));
  if (!r->wrong.code) {
    const PetscInt64 all = (PetscInt64)model->n * PetscMax(1, model->nclass);

    if (!GpAppFeaturesFit(all, w.n, model->n <= accepted ? all : 0))
      GpAppComplainAbout(&r->wrong, PETSC_ERR_FILE_UNEXPECTED, 4, "%lld features and %lld weights that are not zero: the weights would take %.1f GiB; give -features %lld if that is meant", (long long)model->n, (long long)w.n,
                         (double)all * sizeof(PetscReal) / 1073741824., (long long)model->n);
    else PetscCall(PetscCalloc1(all, &model->w));
  }
  for (PetscInt k = 0; k < w.n && model->w; k++) model->w[w.weight[k].at] = w.weight[k].value;
  PetscCall(PetscFree(w.weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Broadcasts an array from the first rank. The other ranks allocate it; to: the address of its pointer. */
static PetscErrorCode BMRMModelBroadcastArray(MPI_Comm comm, PetscInt64 bytes, void *to)
{
  char **array = (char **)to;

  PetscFunctionBegin;
  if (bytes && !*array) PetscCall(PetscMalloc((size_t)bytes, array));
  PetscCall(GpAppBroadcast(comm, *array, (size_t)bytes, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BMRMModelBroadcastNames(MPI_Comm comm, PetscInt n, char **names)
{
  PetscInt64 bytes = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; *names && k < n; k++) bytes += (PetscInt64)strlen(*names + bytes) + 1;
  PetscCallMPI(MPI_Bcast(&bytes, 1, MPIU_INT64, 0, comm));
  PetscCall(BMRMModelBroadcastArray(comm, bytes, names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Broadcasts the model from the first rank. */
static PetscErrorCode BMRMModelBroadcast(MPI_Comm comm, BMRMModel *model)
{
  const PetscInt64 real = (PetscInt64)sizeof(PetscReal);

  PetscFunctionBegin;
  PetscCall(GpAppBroadcast(comm, model, offsetof(BMRMModel, w), 0));
  PetscCall(BMRMModelBroadcastArray(comm, model->n * PetscMax(1, model->nclass) * real, &model->w));
  PetscCall(BMRMModelBroadcastArray(comm, model->nclass * real, &model->label));
  PetscCall(BMRMModelBroadcastArray(comm, model->nclass * real, &model->shift));
  PetscCall(BMRMModelBroadcastNames(comm, model->nclass ? model->nclass : 2, &model->class_names));
  PetscCall(BMRMModelBroadcastNames(comm, model->n, &model->feature_names));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a model that BMRMModelWrite() wrote, the same on all ranks; it is empty after an error. The file or pipe may be compressed; only the first
   rank opens it.

   The complete file is checked before memory is allocated for the weights. A model of more than 2^24 weights, of which less than one in 64 is in the
   file, is refused unless -features confirms the number of features. */
PetscErrorCode BMRMModelRead(MPI_Comm comm, const char file[], BMRMModel *model)
{
  PetscInt       accepted = 0;
  PetscMPIInt    rank;
  GpAppText      text;
  ModelReader    r = {.text = &text};
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(model, sizeof(*model)));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-features", &accepted, NULL));
  PetscCall(GpAppTextOpenFirst(comm, file, &text));
  if (!rank) PetscCall(BMRMModelParse(&r, accepted, model));
  text.lines = r.lines;
  ierr       = GpAppTextRaise(&text, &r.wrong);
  if (ierr) PetscCall(BMRMModelDestroy(model));
  PetscCall(ierr);
  PetscCall(GpAppTextDestroy(&text));
  PetscCall(BMRMModelBroadcast(comm, model));
  PetscFunctionReturn(PETSC_SUCCESS);
}
