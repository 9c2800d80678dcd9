/* Reads the options of a gpucsr matrix, listed in gpucsroptions.def, from the options database. */
#include "mat/impls/gpucsr/image/gpucsrimpl.h"
#include <string.h>

const char *const        MatGPUCSRStorages_Private[] = {"single", "double", "auto"};
static const char *const Transposes[]                = {"eager", "lazy"};
static const char *const Selects[]                   = {"model", "measure", "fixed"}; /* in the order of MatGPUCSRSelect and of GpSelMode */
static const char *const None[]                      = {NULL};

/* "auto", then the names of the kernels in the order of the kernel table */
const char *const MatGPUCSRKernels_Private[] = {
  "auto",
#define SPMV(name, format, lanes, help) #name,
#include "mat/impls/gpucsr/spmv/common/kernels.def"
#undef SPMV
};

typedef enum {
  CHOICE,
  BYTES,
  TYPE,
  VIEWER
} OptionKind;

typedef struct {
  const char        *name, *setter, *help;
  OptionKind         kind;
  const char *const *choices;
  PetscInt           nchoices;
  size_t             offset; /* offset of the member of MatGPUCSROptions */
} OptionRow;

static const OptionRow Table[] = {
#define OPTION(name, kind, choices, setter, help) {#name, setter, help, kind, choices, PETSC_STATIC_ARRAY_LENGTH(choices), offsetof(MatGPUCSROptions, name)},
#include "mat/impls/gpucsr/image/gpucsroptions.def"
#undef OPTION
};

/* Where options are read: the options of one matrix, or the process-wide defaults. */
typedef struct {
  PetscOptions  database;
  const char   *prefix, *start; /* the name of an option is -<prefix><start><name> */
  GpOptionItems items;          /* PETSc's object that prints -help; NULL: no help is printed */
} OptionSource;

#define OF_MATRIX  "mat_gpucsr_"
#define OF_PROCESS "gpucsr_"

/* The functions below have a variable PetscOptionsObject because PETSc's macros for options with help use one of that name. */
static PetscErrorCode MatGPUCSRReadChoice(const OptionSource *from, const OptionRow *row, const char option[], PetscInt *field, PetscBool *set)
{
  GpOptionItems PetscOptionsObject = from->items;

  PetscFunctionBegin;
  if (PetscOptionsObject) PetscCall(PetscOptionsEList(option, row->help, row->setter, row->choices, row->nchoices, row->choices[*field], field, set));
  else PetscCall(PetscOptionsGetEList(from->database, from->prefix, option, row->choices, row->nchoices, field, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRReadBytes(const OptionSource *from, const OptionRow *row, const char option[], PetscReal *field, PetscBool *set)
{
  GpOptionItems PetscOptionsObject = from->items;

  PetscFunctionBegin;
  if (PetscOptionsObject) PetscCall(PetscOptionsReal(option, row->help, row->setter, *field, field, set));
  else PetscCall(PetscOptionsGetReal(from->database, from->prefix, option, field, set));
  PetscCheck(MatGPUCSRIsLimit_Private(*field), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-%s%s %g: " MAT_GPUCSR_LIMIT_WANTED, from->prefix ? from->prefix : "", option + 1, (double)*field);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGPUCSRReadType(const OptionSource *from, const OptionRow *row, const char option[], char field[], PetscBool *set)
{
  GpOptionItems  PetscOptionsObject = from->items;
  MatGPUCSR_TYPE type;

  PetscFunctionBegin;
  if (PetscOptionsObject) PetscCall(PetscOptionsString(option, row->help, row->setter, field, type, sizeof(type), set));
  else PetscCall(PetscOptionsGetString(from->database, from->prefix, option, type, sizeof(type), set));
  if (*set) {
    PetscErrorCode (*create)(Vec);

    PetscCall(VecInitializePackage());
    PetscCall(PetscFunctionListFind(VecList, type, &create));
    PetscCheck(create, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-%s%s %s: there is no such type of vectors; use, for example, standard or " VECGPU, from->prefix ? from->prefix : "", option + 1, type);
    PetscCall(PetscStrncpy(field, type, sizeof(type)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Only prints help: MatGPUCSRHaloViewFromOptions_Private() reads the option and creates the viewer. */
static PetscErrorCode MatGPUCSRReadViewer(const OptionSource *from, const OptionRow *row, const char option[], PetscBool *set)
{
  GpOptionItems PetscOptionsObject = from->items;

  PetscFunctionBegin;
  if (PetscOptionsObject && !strcmp(from->start, OF_MATRIX)) PetscCall(PetscOptionsName(option, row->help, row->setter, set));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads all options of the table that are in the database, and marks them as given. */
static PetscErrorCode MatGPUCSRReadOptions(const OptionSource *from, MatGPUCSROptions *options)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(Table); k++) {
    const OptionRow *row   = &Table[k];
    void            *field = (char *)options + row->offset;
    char             option[64];
    PetscBool        set = PETSC_FALSE;

    PetscCall(PetscSNPrintf(option, sizeof(option), "-%s%s", from->start, row->name));
    if (row->kind == CHOICE) PetscCall(MatGPUCSRReadChoice(from, row, option, (PetscInt *)field, &set));
    else if (row->kind == BYTES) PetscCall(MatGPUCSRReadBytes(from, row, option, (PetscReal *)field, &set));
    else if (row->kind == TYPE) PetscCall(MatGPUCSRReadType(from, row, option, (char *)field, &set));
    else PetscCall(MatGPUCSRReadViewer(from, row, option, &set));
    if (set) options->given |= 1u << k;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies the options.  The vector type is stored in PETSc's part of the matrix, all other options in Mat_GPUCSR. */
static PetscErrorCode MatGPUCSRApplyOptions(Mat A, const MatGPUCSROptions *options)
{
  PetscFunctionBegin;
  if (options->given & MAT_GPUCSR_GIVEN(vec_type)) PetscCall(MatGPUCSRSetVecType(A, options->vec_type));
  PetscCall(MatGPUCSRSetOptions_Private(A, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const MatGPUCSROptions Defaults = {.memory_limit = -1};

/* Prints the help of the process-wide defaults and rejects invalid ones while the library is loaded, collectively on all ranks.  Matrices
   read the defaults again, because a program may change the database later. */
PetscErrorCode MatGPUCSRCheckOptions_Private(void)
{
  MatGPUCSROptions options = Defaults;
  PetscBool        notice  = PETSC_TRUE;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "gpucsr options: defaults of all matrices of type gpucsr with any prefix", "Mat");
  PetscCall(MatGPUCSRReadOptions(&(OptionSource){NULL, NULL, OF_PROCESS, PetscOptionsObject}, &options));
  PetscCall(PetscOptionsBool("-gpucsr_notice", "Report on stderr, once in each process, that the default single storage rounded values of a matrix", "PetscGPUCSRSetNotice", notice, &notice, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the options of a new matrix: the process-wide defaults, then its own.  Its own are read here because not every program calls
   MatSetFromOptions(). */
PetscErrorCode MatGPUCSRGetOptions_Private(Mat A)
{
  MatGPUCSROptions options = Defaults;
  PetscObject      o       = (PetscObject)A;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRReadOptions(&(OptionSource){NULL, NULL, OF_PROCESS, NULL}, &options));
  PetscCall(MatGPUCSRReadOptions(&(OptionSource){o->options, o->prefix, OF_MATRIX, NULL}, &options));
  PetscCall(MatGPUCSRApplyOptions(A, &options));
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
  PetscCall(MatGPUCSRReadOptions(&(OptionSource){((PetscObject)A)->options, ((PetscObject)A)->prefix, OF_MATRIX, PetscOptionsObject}, &options));
  PetscOptionsHeadEnd();
  PetscCall(MatGPUCSRApplyOptions(A, &options));
  PetscFunctionReturn(PETSC_SUCCESS);
}
