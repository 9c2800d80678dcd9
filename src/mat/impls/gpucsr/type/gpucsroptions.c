/* Reads the options of a gpucsr matrix, listed in gpucsroptions.def, from the options database. */
#include "mat/impls/gpucsr/type/gpucsrtype.h"
#include "sys/gpucsrbytes.h"
#include "vec/gpuvecimpl.h"
#include <string.h>

/* "auto", then the names of the kernels in the order of the kernel table */
const char *const MatGPUCSRKernels_Private[] = {
  "auto",
#define SPMV(name, format, lanes, tier, help) #name,
#include "mat/impls/gpucsr/spmv/common/kernels.def"
#undef SPMV
};

typedef enum {
  ENUM,
  KERNEL,
  BYTES,
  COUNT,
  FLAG,
  TYPE,
  PATH,
  VIEWER
} OptionKind;

typedef struct {
  const char        *name, *setter, *help;
  OptionKind         kind;
  const char *const *names;  /* ENUM only: names of the values, name of the type, prefix, NULL */
  size_t             offset; /* offset of the member of MatGPUCSROptions */
} OptionRow;

#define NAMES_ENUM(type)   type##s
#define NAMES_KERNEL(type) NULL
#define NAMES_BYTES(type)  NULL
#define NAMES_COUNT(type)  NULL
#define NAMES_FLAG(type)   NULL
#define NAMES_TYPE(type)   NULL
#define NAMES_PATH(type)   NULL
#define NAMES_VIEWER(type) NULL

static const OptionRow Table[] = {
#define OPTION(name, kind, type, setter, help) {#name, setter, help, kind, NAMES_##kind(type), offsetof(MatGPUCSROptions, name)},
#include "mat/impls/gpucsr/image/gpucsroptions.def"
#undef OPTION
};

/* Where options are read: the options of one matrix, or the process-wide defaults. */
typedef struct {
  PetscOptions  database;
  const char   *prefix, *start; /* the name of an option is -<prefix><start><name> */
  GpOptionItems items;          /* PETSc's object that prints -help; NULL: no help is printed */
  Mat           A;              /* the matrix; NULL: process-wide defaults */
} OptionSource;

#define OF_MATRIX  "mat_gpucsr_"
#define OF_PROCESS "gpucsr_"

/* Tells whether a memory limit is valid: 0, at least 1, or -1 for the default.  NaN and infinity are rejected as errors of the caller. */
PetscBool MatGPUCSRIsLimit_Private(PetscReal bytes)
{
  return (PetscBool)(!PetscIsInfOrNanReal(bytes) && (bytes >= 1 || bytes == 0 || bytes == -1));
}

/* Reads the name of a vector type. */
static PetscErrorCode MatGPUCSRReadType(const OptionSource *from, const OptionRow *row, const char option[], char field[], PetscBool *set)
{
  GpOptionItems PetscOptionsObject = from->items; /* the name that PETSc's macros use */
  char          type[sizeof(((MatGPUCSROptions *)0)->vec_type)];
  PetscErrorCode (*create)(Vec);

  PetscFunctionBegin;
  if (PetscOptionsObject) PetscCall(PetscOptionsString(option, row->help, row->setter, field, type, sizeof(type), set));
  else PetscCall(PetscOptionsGetString(from->database, from->prefix, option, type, sizeof(type), set));
  if (!*set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecInitializePackage());
  PetscCall(PetscFunctionListFind(VecList, type, &create));
  PetscCheck(create, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-%s%s %s: there is no such type of vectors; use, for example, standard or " VECGPU, from->prefix ? from->prefix : "", option + 1, type);
  PetscCall(PetscStrncpy(field, type, sizeof(type)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads a number of bytes. */
static PetscErrorCode MatGPUCSRReadBytes(const OptionSource *from, const OptionRow *row, const char option[], PetscReal *field, PetscBool *set)
{
  GpOptionItems PetscOptionsObject = from->items; /* the name that PETSc's macros use */
  char          text[64], now[32];
  PetscReal     bytes = -1;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(now, sizeof(now), "%.0f", (double)*field));
  if (PetscOptionsObject) PetscCall(PetscOptionsString(option, row->help, row->setter, now, text, sizeof(text), set));
  else PetscCall(PetscOptionsGetString(from->database, from->prefix, option, text, sizeof(text), set));
  if (!*set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(PetscGPUCSRParseBytes_Private(text, &bytes) && MatGPUCSRIsLimit_Private(bytes), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-%s%s %s: give " GPUCSR_BYTES_FORM ", 0 or at least 1, or -1 for the default", from->prefix ? from->prefix : "",
             option + 1, text);
  *field = bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads one option.  VIEWER: only prints help; MatMPIAIJGPUCSRGetHalo_Private() reads the option and creates the viewer. */
static PetscErrorCode MatGPUCSRReadOption(const OptionSource *from, const OptionRow *row, const char option[], void *field, PetscBool *set)
{
  GpOptionItems   PetscOptionsObject = from->items;
  const PetscBool help               = (PetscBool)(PetscOptionsObject != NULL);
  PetscInt       *kernel = (PetscInt *)field, *count = (PetscInt *)field;

  PetscFunctionBegin;
  switch (row->kind) {
  case ENUM:
    if (help) PetscCall(PetscOptionsEnum(option, row->help, row->setter, row->names, *(PetscEnum *)field, (PetscEnum *)field, set));
    else PetscCall(PetscOptionsGetEnum(from->database, from->prefix, option, row->names, (PetscEnum *)field, set));
    break;
  case KERNEL:
    if (help) PetscCall(PetscOptionsEList(option, row->help, row->setter, MatGPUCSRKernels_Private, GP_KERNELS + 1, MatGPUCSRKernels_Private[*kernel], kernel, set));
    else PetscCall(PetscOptionsGetEList(from->database, from->prefix, option, MatGPUCSRKernels_Private, GP_KERNELS + 1, kernel, set));
    break;
  case BYTES:
    PetscCall(MatGPUCSRReadBytes(from, row, option, (PetscReal *)field, set));
    break;
  case COUNT:
    if (help) PetscCall(PetscOptionsInt(option, row->help, row->setter, *count, count, set));
    else PetscCall(PetscOptionsGetInt(from->database, from->prefix, option, count, set));
    PetscCheck(*count >= 0 && *count <= MAT_GPUCSR_COUNT_MOST, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-%s%s %" PetscInt_FMT ": give a number from 0 to %d", from->prefix ? from->prefix : "", option + 1, *count, MAT_GPUCSR_COUNT_MOST);
    break;
  case FLAG:
    if (help) PetscCall(PetscOptionsBool(option, row->help, row->setter, *(PetscBool *)field, (PetscBool *)field, set));
    else PetscCall(PetscOptionsGetBool(from->database, from->prefix, option, (PetscBool *)field, set));
    break;
  case TYPE:
    PetscCall(MatGPUCSRReadType(from, row, option, (char *)field, set));
    break;
  case PATH:
    if (help) PetscCall(PetscOptionsString(option, row->help, row->setter, (char *)field, (char *)field, PETSC_MAX_PATH_LEN, set));
    else PetscCall(PetscOptionsGetString(from->database, from->prefix, option, (char *)field, PETSC_MAX_PATH_LEN, set));
    PetscCheck(!*set || *(char *)field, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-%s%s: give the beginning of a file name", from->prefix ? from->prefix : "", option + 1);
    break;
  case VIEWER:
    if (help && !strcmp(from->start, OF_MATRIX)) PetscCall(PetscOptionsName(option, row->help, row->setter, set));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses a setting that a matrix of type gpucsrstream cannot have.  what: the option with its prefix, or the setter. */
static PetscErrorCode MatGPUCSRCheckStreamed(Mat A, const char what[], const OptionRow *row, const void *field)
{
  const ptrdiff_t option = row - Table;
  PetscEnum       value;

  PetscFunctionBegin;
  if (!((Mat_GPUCSR *)A->spptr)->fromrows || row->kind != ENUM) PetscFunctionReturn(PETSC_SUCCESS);
  memcpy(&value, field, sizeof(value));
  PetscCheck(option != MAT_GPUCSR_OPTION_stream || (int)value != MAT_GPUCSR_STREAM_NEVER, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "%s %s: a matrix of type %s is always streamed; use the type %s", what, row->names[value], MATGPUCSRSTREAM,
             MATGPUCSR);
  PetscCheck(option != MAT_GPUCSR_OPTION_stream_transpose || (int)value != MAT_GPUCSR_STREAM_TRANSPOSE_STORED, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "%s %s: a matrix of type %s stores no transpose; use shared, or the type %s", what,
             row->names[value], MATGPUCSRSTREAM, MATGPUCSR);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads all options of the table that are in the database, and marks them as given. */
static PetscErrorCode MatGPUCSRReadOptions(const OptionSource *from, MatGPUCSROptions *options)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Table); k++) {
    char      option[64];
    PetscBool set = PETSC_FALSE;

    PetscCall(PetscSNPrintf(option, sizeof(option), "-%s%s", from->start, Table[k].name));
    PetscCall(MatGPUCSRReadOption(from, &Table[k], option, (char *)options + Table[k].offset, &set));
    if (set && from->A) {
      char name[128];

      PetscCall(PetscSNPrintf(name, sizeof(name), "-%s%s", from->prefix ? from->prefix : "", option + 1));
      PetscCall(MatGPUCSRCheckStreamed(from->A, name, &Table[k], (char *)options + Table[k].offset));
    }
    if (set) options->given |= 1u << k;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatGPUCSRSetVecType - Sets the type of the vectors that `MatCreateVecs()` creates for a `MATGPUCSR` matrix

  Logically Collective

  Input Parameters:
+ A    - the matrix
- type - a `VecType`, for example `standard` or, with a PETSc that has CUDA, `cuda`

  Options Database Key:
. -mat_gpucsr_vec_type <type> - the type

  Level: advanced

.seealso: `MATGPUCSR`, `MatCreateVecs()`
@*/
PetscErrorCode MatGPUCSRSetVecType(Mat A, VecType type)
{
  Mat_GPUCSR *g = NULL;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  PetscCall(PetscFree(A->defaultvectype));
  PetscCall(PetscStrallocpy(type, &A->defaultvectype));
  PetscCall(PetscStrncpy(g->options.vec_type, type, sizeof(g->options.vec_type)));
  g->options.given |= MAT_GPUCSR_GIVEN(vec_type);
  g->setvectype = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGPUCSRUseDeviceVectors_Private(Mat A)
{
  PetscFunctionBegin;
  if (GpDevKindOf(((Mat_GPUCSR *)A->spptr)->dev) == GP_DEV_CUDA) {
    PetscCall(MatGPUCSRSetVecType(A, PetscDefined(HAVE_CUDA) ? VECCUDA : VECGPU));
#if PetscDefined(HAVE_DEVICE)
    A->boundtocpu = PETSC_FALSE; /* otherwise multigrid binds its vectors to the CPU */
#endif
  }
  PetscCall(VecGPUSLEPcCheck()); /* must run before a SLEPc solver selects basis vectors for this matrix */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies options to B if it is a gpucsr matrix.  The vector type is stored in PETSc's part of the matrix, all other options in Mat_GPUCSR. */
PetscErrorCode MatGPUCSRApplyOptions_Private(const MatGPUCSROptions *options, Mat B)
{
  PetscFunctionBegin;
  if (!MatGPUCSRHasData_Private(B)) PetscFunctionReturn(PETSC_SUCCESS);
  if (options->given & MAT_GPUCSR_GIVEN(vec_type)) PetscCall(MatGPUCSRSetVecType(B, options->vec_type));
  PetscCall(MatGPUCSRSetOptions_Private(B, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes `size` bytes to the member of an option and marks the option as given. */
static PetscErrorCode MatGPUCSRSetOption(Mat A, const Mat_GPUCSR *g, int option, const void *value, size_t size)
{
  MatGPUCSROptions options = g->options;

  PetscFunctionBegin;
  memcpy((char *)&options + Table[option].offset, value, size);
  options.given |= 1u << option;
  PetscCall(MatGPUCSRSetOptions_Private(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets an option of the kind ENUM. */
PetscErrorCode MatGPUCSRSetEnum_Private(Mat A, int option, PetscInt value)
{
  const OptionRow *row = &Table[option];
  Mat_GPUCSR      *g   = NULL;
  PetscInt         n   = 0;
  PetscEnum        given;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  while (row->names[n + 2]) n++;
  PetscValidLogicalCollectiveInt(A, value, 2);
  PetscCheck(value >= 0 && value < n, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "Unknown %s %" PetscInt_FMT "; valid values are 0 to %" PetscInt_FMT, row->names[n], value, n - 1);
  given = (PetscEnum)value;
  PetscCall(MatGPUCSRCheckStreamed(A, row->setter, row, &given));
  PetscCall(MatGPUCSRSetOption(A, g, option, &given, sizeof(given)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets an option of the kind BYTES. */
PetscErrorCode MatGPUCSRSetBytes_Private(Mat A, int option, PetscReal bytes)
{
  Mat_GPUCSR *g = NULL;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  PetscValidLogicalCollectiveReal(A, bytes, 2);
  PetscCheck(MatGPUCSRIsLimit_Private(bytes), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "%s(): %g: " MAT_GPUCSR_LIMIT_WANTED, Table[option].setter, (double)bytes);
  PetscCall(MatGPUCSRSetOption(A, g, option, &bytes, sizeof(bytes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets an option of the kind COUNT. */
PetscErrorCode MatGPUCSRSetCount_Private(Mat A, int option, PetscInt count)
{
  Mat_GPUCSR *g = NULL;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  PetscValidLogicalCollectiveInt(A, count, 2);
  PetscCheck(count >= 0 && count <= MAT_GPUCSR_COUNT_MOST, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "%s(): %" PetscInt_FMT ": give a number from 0 to %d", Table[option].setter, count, MAT_GPUCSR_COUNT_MOST);
  PetscCall(MatGPUCSRSetOption(A, g, option, &count, sizeof(count)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets an option of the kind FLAG. */
PetscErrorCode MatGPUCSRSetFlag_Private(Mat A, int option, PetscBool flag)
{
  Mat_GPUCSR *g = NULL;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  PetscValidLogicalCollectiveBool(A, flag, 2);
  PetscCall(MatGPUCSRSetOption(A, g, option, &flag, sizeof(flag)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets an option of the kind PATH. */
PetscErrorCode MatGPUCSRSetPath_Private(Mat A, int option, const char path[])
{
  char        text[PETSC_MAX_PATH_LEN] = "";
  Mat_GPUCSR *g                        = NULL;
  size_t      length                   = 0;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  if (path) PetscCall(PetscStrlen(path, &length));
  PetscCheck(length < sizeof(text), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "%s(): the name has %zu characters; give at most %d", Table[option].setter, length, PETSC_MAX_PATH_LEN - 1);
  if (path) PetscCall(PetscStrncpy(text, path, sizeof(text)));
  PetscCall(MatGPUCSRSetOption(A, g, option, text, sizeof(text)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const MatGPUCSROptions Defaults = {.memory_limit = -1, .stream_chunk = -1, .stream_resident = -1};

/* Prints the help of the process-wide defaults and rejects invalid ones while the library is loaded, collectively on all ranks.  Matrices
   read the defaults again, because a program may change the database later. */
PetscErrorCode MatGPUCSRCheckOptions_Private(void)
{
  MatGPUCSROptions options = Defaults;
  PetscBool        notice  = PETSC_TRUE, wisdom;
  char             file[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "gpucsr options: defaults of all matrices of type gpucsr with any prefix", "Mat");
  PetscCall(MatGPUCSRReadOptions(&(OptionSource){NULL, NULL, OF_PROCESS, PetscOptionsObject, NULL}, &options));
  PetscCall(PetscOptionsBool("-gpucsr_notice", "Report on stderr, once in each process, that the default single storage rounded values of a matrix", "PetscGPUCSRSetNotice", notice, &notice, NULL));
  PetscCall(PetscOptionsString("-gpucsr_wisdom", "File that remembers the kernels that -mat_gpucsr_select measure found to be the fastest", "PetscGPUCSRSetWisdom", "", file, sizeof(file), &wisdom));
  PetscOptionsEnd();
  PetscCall(PetscGPUCSRSetWisdom(wisdom ? file : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the options of a new matrix: the process-wide defaults, then its own.  Its own are read here because not every program calls
   MatSetFromOptions(). */
PetscErrorCode MatGPUCSRReadOptions_Private(Mat A)
{
  MatGPUCSROptions options = Defaults;
  PetscObject      o       = (PetscObject)A;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRReadOptions(&(OptionSource){NULL, NULL, OF_PROCESS, NULL, NULL}, &options));
  PetscCall(MatGPUCSRReadOptions(&(OptionSource){o->options, o->prefix, OF_MATRIX, NULL, A}, &options));
  PetscCall(MatGPUCSRApplyOptions_Private(&options, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetFromOptions_GPUCSR(Mat A, GpOptionItems PetscOptionsObject)
{
  Mat_GPUCSR      *g = (Mat_GPUCSR *)A->spptr;
  MatGPUCSROptions options;

  PetscFunctionBegin;
  if (MatGPUCSRBase_Private(A)->setfromoptions) PetscCall((*MatGPUCSRBase_Private(A)->setfromoptions)(A, PetscOptionsObject));
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  options = g->options;
  PetscCall(PetscStrncpy(options.vec_type, A->defaultvectype, sizeof(options.vec_type)));
  PetscOptionsHeadBegin(PetscOptionsObject, "gpucsr options");
  PetscCall(MatGPUCSRReadOptions(&(OptionSource){((PetscObject)A)->options, ((PetscObject)A)->prefix, OF_MATRIX, PetscOptionsObject, A}, &options));
  PetscOptionsHeadEnd();
  PetscCall(MatGPUCSRApplyOptions_Private(&options, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
