static char help[] = "SMACOF with streamed dissimilarities: the bits of the ordinary run, whatever is resident; sequences of calls; faults.\n\n";

#include "solvers/smacof/smacofimpl.h"
#include "solvers/smacof/pass/passstream.h"
#include "device/gpdeviceimpl.h"
#include <string.h>
#include <gpucsr.h>

static const GpDevOps *Real;
static GpDevOps        Ops;
static PetscInt        Largest = 2300; /* larger data are left out */

static GpErr RefusePin(GpDev dev, void *memory, size_t bytes)
{
  return GpDevFail(dev, GP_ERR_MEMORY, "%zu bytes of host memory cannot be pinned: the test refuses", bytes);
}

/* Makes the host backend keep device memory apart from host memory for the pipeline, so that blocks are copied as on a GPU. */
static GpErr Holds(GpDev dev, const void *pointer, int *holds)
{
  *holds = 0;
  return GP_SUCCESS;
}

typedef enum {
  DENSE,
  WEIGHTS,
  SPARSE,
  FEATURES,
  KINDS
} Kind;

static const char *const Kinds[] = {"dense", "weights", "sparse", "features"};

/* a reproducible number in (0, 1) */
static PetscReal Number(PetscInt i, PetscInt j)
{
  return (PetscReal)((104729 * i + 7919 * j + i * j % 1009) % 99991 + 1) / 99992;
}

static PetscReal Distance(PetscInt i, PetscInt j)
{
  PetscReal d = 0;

  for (PetscInt c = 0; c < 4; c++) d += PetscSqr(Number(i, c) - Number(j, c));
  return PetscSqrtReal(d);
}

static PetscErrorCode CreateMatrix(PetscInt N, PetscInt n, Kind kind, PetscBool weight, Mat *A)
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, n == N ? PETSC_DECIDE : PETSC_DETERMINE, N, n));
  PetscCall(MatSetType(*A, kind == SPARSE || kind == WEIGHTS ? MATAIJ : MATDENSE));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; i++)
    for (PetscInt j = 0; j < n; j++) {
      const PetscBool near = (PetscBool)(PetscAbsInt(i - j) < 9 || (i + j) % 5 == 0);

      if (kind == FEATURES) PetscCall(MatSetValue(*A, i, j, Number(i, j), INSERT_VALUES));
      else if (kind == DENSE || near) PetscCall(MatSetValue(*A, i, j, weight ? (i == j ? 0 : 1 + (i + j) % 3) : Distance(i, j), INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets data; the solver keeps its own references to the matrices. */
static PetscErrorCode SetData(SMACOF s, Kind kind, PetscInt N)
{
  Mat A, W = NULL;

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(N, kind == FEATURES ? 5 : N, kind, PETSC_FALSE, &A));
  if (kind == WEIGHTS) PetscCall(CreateMatrix(N, N, kind, PETSC_TRUE, &W));
  if (kind == FEATURES) PetscCall(SMACOFSetFeatures(s, A, SMACOF_METRIC_EUCLIDEAN));
  else PetscCall(SMACOFSetDissimilarities(s, A, W));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&W));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves, and copies the configuration or compares it with the copy. */
static PetscErrorCode Solve(SMACOF s, PetscBool streamed, const char way[], Vec *expected)
{
  SMACOFInfo info;
  PetscBool  same = PETSC_TRUE;
  PetscInt   rows;
  Vec        x;

  PetscFunctionBeginUser;
  PetscCall(SMACOFSolve(s));
  PetscCall(SMACOFGetConfiguration(s, &x));
  PetscCall(SMACOFGetInfo(s, &info));
  rows = s->D.last - s->D.first;
  PetscCheck(info.streamed == (PetscBool)(streamed && rows), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: streamed is %d", way, (int)info.streamed);
  PetscCheck(!info.streamed || (info.stream_blocks > 0 && info.stream_bytes > 0 && info.stream_resident <= info.stream_bytes), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g bytes resident of %g in %d blocks", way, info.stream_resident, info.stream_bytes,
             (int)info.stream_blocks);
  if (info.streamed && GpDevHasMemory(s->device.dev) && s->stream.resident == 0)
    PetscCheck(info.stream_resident == 0 && info.stream_moved == info.stream_bytes, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g bytes resident, %g transferred of %g", way, info.stream_resident, info.stream_moved, info.stream_bytes);
  if (info.streamed && GpDevHasMemory(s->device.dev) && s->stream.resident == -1 && GpDevMemoryLimit(s->device.dev) <= 0)
    PetscCheck(info.stream_resident == info.stream_bytes && info.stream_moved == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %g bytes resident of %g, %g transferred", way, info.stream_resident, info.stream_bytes, info.stream_moved);
  if (*expected) PetscCall(VecEqual(x, *expected, &same));
  else {
    PetscCall(VecDuplicate(x, expected));
    PetscCall(VecCopy(x, *expected));
  }
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the configuration has other bits", way);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ordinary run, then streamed runs with blocks of several sizes. */
static PetscErrorCode TestBits(Kind kind, PetscInt N, SMACOFStorage storage, SMACOFReading reading, PetscInt dim, PetscInt starts)
{
  const PetscReal chunk[] = {1, 100000}, resident[] = {0, 40000, -1};
  SMACOF          s;
  Vec             x = NULL;

  PetscFunctionBeginUser;
  if (N > Largest) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &s));
  PetscCall(SMACOFSetDimension(s, dim));
  PetscCall(SMACOFSetTolerances(s, 0, 4));
  PetscCall(SMACOFSetStarts(s, starts, 8, 0));
  PetscCall(SMACOFSetReading(s, reading));
  PetscCall(SMACOFSetStorage(s, storage));
  PetscCall(SetData(s, kind, N));
  PetscCall(Solve(s, PETSC_FALSE, Kinds[kind], &x));
  PetscCall(SMACOFSetStream(s, SMACOF_STREAM_ALWAYS));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(chunk); c++) {
    for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(resident); r++) {
      PetscCall(SMACOFSetStreamChunk(s, chunk[c]));
      PetscCall(SMACOFSetStreamResident(s, resident[r]));
      PetscCall(SMACOFSetStreamBuffers(s, (PetscInt)(c + r) % 3));
      PetscCall(Solve(s, PETSC_TRUE, Kinds[kind], &x));
    }
  }
  PetscCall(VecDestroy(&x));
  PetscCall(SMACOFDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAllBits(void)
{
  PetscMPIInt size;

  PetscFunctionBeginUser;
  for (int k = 0; k < KINDS; k++) {
    PetscCall(TestBits((Kind)k, 300, SMACOF_STORAGE_SINGLE, SMACOF_READING_HALVES, 2, 1));
    PetscCall(TestBits((Kind)k, 131, SMACOF_STORAGE_DOUBLE, SMACOF_READING_HALVES, 3, 3));
    PetscCall(TestBits((Kind)k, 3, SMACOF_STORAGE_SINGLE, SMACOF_READING_HALVES, 1, 1));
  }
  PetscCall(TestBits(DENSE, 200, SMACOF_STORAGE_SINGLE, SMACOF_READING_ROWS, 2, 1));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) PetscCall(TestBits(FEATURES, 2300, SMACOF_STORAGE_SINGLE, SMACOF_READING_HALVES, 2, 1)); /* more columns than the host processes together */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* SMACOFView() prints the number of blocks and their bytes, summed over the ranks. */
static PetscErrorCode CheckView(SMACOF s)
{
  FILE          *file = tmpfile();
  char           text[4096], words[128];
  PetscLogDouble sum[2];
  SMACOFInfo     info;
  PetscViewer    viewer;
  PetscMPIInt    rank; /* the first rank writes */

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "no temporary file");
  PetscCall(SMACOFGetInfo(s, &info));
  sum[0] = (PetscLogDouble)info.stream_blocks;
  sum[1] = info.stream_bytes;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(SMACOFView(s, viewer));
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  text[fread(text, 1, sizeof(text) - 1, file)] = 0;
  (void)fclose(file);
  PetscCall(PetscSNPrintf(words, sizeof(words), "streamed from host memory: %.0f blocks of %.0f bytes in all", sum[0], sum[1]));
  PetscCheck(rank || strstr(text, words), PETSC_COMM_SELF, PETSC_ERR_PLIB, "the view lacks \"%s\": %s", words, text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solver is used again with other settings and data, reset, and destroyed before its first solve. */
static PetscErrorCode TestSequences(void)
{
  SMACOF s;
  Vec    x2 = NULL, x3 = NULL, y = NULL;

  PetscFunctionBeginUser;
  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &s));
  PetscCall(SMACOFSetTolerances(s, 0, 5));
  PetscCall(SMACOFSetStream(s, SMACOF_STREAM_ALWAYS));
  PetscCall(SMACOFSetStreamChunk(s, 20000));
  PetscCall(SetData(s, DENSE, 150));
  PetscCall(Solve(s, PETSC_TRUE, "first", &x2));
  PetscCall(Solve(s, PETSC_TRUE, "again", &x2));
  PetscCall(SMACOFSetDimension(s, 3));
  PetscCall(Solve(s, PETSC_TRUE, "another dimension", &x3));
  PetscCall(SMACOFSetStream(s, SMACOF_STREAM_NEVER));
  PetscCall(Solve(s, PETSC_FALSE, "no longer streamed", &x3));
  PetscCall(SMACOFSetStream(s, SMACOF_STREAM_ALWAYS));
  PetscCall(SetData(s, FEATURES, 90));
  PetscCall(Solve(s, PETSC_TRUE, "other data", &y));
  PetscCall(CheckView(s));
  PetscCall(SMACOFReset(s));
  PetscCall(SetData(s, DENSE, 150));
  PetscCall(Solve(s, PETSC_TRUE, "after a reset", &x3));
  PetscCall(SMACOFSetDimension(s, 2));
  PetscCall(Solve(s, PETSC_TRUE, "the first dimension", &x2));
  PetscCall(SMACOFSetDisparity(s, SMACOF_DISPARITY_RATIO));
  PetscCall(SMACOFDestroy(&s));
  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &s));
  PetscCall(SMACOFSetStream(s, SMACOF_STREAM_ALWAYS));
  PetscCall(SetData(s, SPARSE, 80));
  PetscCall(SMACOFSetUp(s));
  PetscCall(SMACOFDestroy(&s));
  PetscCall(VecDestroy(&x2));
  PetscCall(VecDestroy(&x3));
  PetscCall(VecDestroy(&y));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sequences of calls: the same bits\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The system refuses to pin: blocks go through staging buffers and are reported.  Buffers that do not fit: an error that names the bytes. */
static PetscErrorCode TestFaults(GpDev dev)
{
  const SMACOFStreamOptions o = {.mode = SMACOF_STREAM_ALWAYS, .chunk = 1, .resident = 1e9, .buffers = 2};
  float                     delta[200 * 200];
  SMACOFPass                p = {.N = 200, .rows = 200, .dim = 2, .single = 1, .delta = delta, .ld = 200, .nranges = 1, .range = {{0, 200, 0, 200, PASS_TRIANGLE}}};
  SMACOFStreamed            W;
  SMACOFInfo                info;
  SMACOF                    s;
  PetscErrorCode            ierr;

  PetscFunctionBeginUser;
  Ops.pin  = RefusePin;
  dev->ops = &Ops;
  PetscCall(TestAllBits());
  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &s));
  PetscCall(SMACOFSetTolerances(s, 0, 2));
  PetscCall(SMACOFSetStream(s, SMACOF_STREAM_ALWAYS));
  PetscCall(SetData(s, DENSE, 100));
  PetscCall(SMACOFSolve(s));
  PetscCall(SMACOFGetInfo(s, &info));
  PetscCheck(info.stream_pageable == info.stream_bytes && info.stream_bytes > 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Refused pins are not reported: %g bytes", info.stream_pageable);
  PetscCall(SMACOFDestroy(&s));
  Ops.pin = Real->pin;
  memset(delta, 0, sizeof(delta));
  GpDevSetMemoryLimit(dev, GpDevBytesHeld(dev) + 1000);
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = SMACOFStreamedCreate_Private(dev, &p, &p, &o, 0, &W);
  PetscCall(PetscPopErrorHandler());
  GpDevSetMemoryLimit(dev, 0);
  PetscCheck(ierr == PETSC_ERR_MEM && strstr(GpDevError(dev), "bytes asked for (2 buffers of ") && strstr(GpDevError(dev), "raise -gpucsr_device_memory"), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Buffers that do not fit: error %d, %s", (int)ierr,
             GpDevError(dev));
  PetscCall(SMACOFStreamedDestroy_Private(&W));
  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &s));
  PetscCall(SMACOFSetTolerances(s, 0, 2));
  PetscCall(SMACOFSetStream(s, SMACOF_STREAM_NEVER));
  PetscCall(SetData(s, DENSE, 100));
  GpDevSetMemoryLimit(dev, GpDevBytesHeld(dev) + 4000);
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = SMACOFSetUp(s);
  PetscCall(PetscPopErrorHandler());
  GpDevSetMemoryLimit(dev, 0);
  PetscCheck(ierr == PETSC_ERR_MEM, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Data that do not fit: error %d", (int)ierr);
  PetscCall(SMACOFSolve(s)); /* memory that the failed set-up has not freed is found by -malloc_dump */
  PetscCall(SMACOFDestroy(&s));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "faults: reported\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -gpucsr_device_memory bounds the device memory: large data are streamed, small data are not. */
static PetscErrorCode TestAuto(GpDev dev)
{
  const PetscBool gpu = (PetscBool)GpDevHasMemory(dev);
  SMACOF          s;
  Vec             x = NULL, y = NULL;

  PetscFunctionBeginUser;
  if (gpu) GpDevSetMemoryLimit(dev, 6e6); /* a GPU needs larger buffers and workspace */
  PetscCall(SMACOFCreate(PETSC_COMM_WORLD, &s));
  PetscCall(SMACOFSetTolerances(s, 0, 3));
  PetscCall(SMACOFSetStreamChunk(s, 10000));
  PetscCall(SetData(s, DENSE, 20));
  PetscCall(Solve(s, PETSC_FALSE, "small data", &x));
  PetscCall(SetData(s, DENSE, gpu ? 2000 : 400));
  PetscCall(Solve(s, PETSC_TRUE, "large data", &y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(SMACOFDestroy(&s));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "what does not fit is streamed\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool automatic = PETSC_FALSE;
  GpDev     dev;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  PetscCall(PetscGPUCSRGetDevice(&dev));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-auto", &automatic, NULL));
  if (automatic) PetscCall(TestAuto(dev));
  else {
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-largest", &Largest, NULL));
    Real = dev->ops;
    Ops  = *Real;
    PetscCall(TestAllBits());
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "streamed runs have the bits of ordinary ones\n"));
    PetscCall(TestSequences());
    Largest = PetscMin(Largest, 131);
    if (!GpDevHasMemory(dev)) Ops.holds = Holds;
    dev->ops = &Ops;
    PetscCall(TestAllBits());
    PetscCall(TestFaults(dev));
    dev->ops = Real;
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: 1
    nsize: {{1 2}}

  test:
    suffix: 4
    nsize: 4
    args: -largest 131
    output_file: output/stream_1.out

  test:
    suffix: auto
    nsize: {{1 2}}
    args: -auto -gpucsr_device_memory 200000

TEST*/
