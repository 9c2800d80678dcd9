/* Files that hold the chunks of a matrix of type gpucsrstream, so that the matrix may exceed host memory. */
/* MANSEC = Mat */
#include "mat/impls/gpucsr/type/gpucsrtype.h"
#include "mat/impls/gpucsr/type/streamed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Encodes the rows into a file and opens it. F also receives the longest row, the number of empty rows and the rounding error, which the file does not contain. */
static GpErr MatGPUCSRStreamWriteRows(const GpRowSource *rows, const GpOpOptions *options, const char path[], GpOpFile *F, PetscBool *written, char *why, size_t whylen)
{
  const double bytes = options->chunks.chunk, before = GpFillersClock();
  char         reason[GP_CHUNK_WHY] = "";
  GpRowChunks  table;
  GpErr        err = GpRowSourceCut(rows, GpStreamGetItemBytes(bytes), &table, reason);

  *F = (GpOpFile){.longest = table.longest, .empty = table.empty};
  free(table.first);
  if (err) (void)PetscStrncpy(why, reason, whylen);
  else err = GpRowSourceWriteChunks(rows, GpStreamGetItemBytes(bytes), GpFillersCount(options->chunks.threads), path, &F->loss, why, whylen);
  *written = (PetscBool)!err;
  if (!err) err = GpChunkFileOpen(path, &F->file, why, whylen);
  F->seconds = GpFillersClock() - before;
  return err;
}

PetscErrorCode MatGPUCSRStreamWriteFile_Private(Mat A, int b, const GpRowSource *rows, const GpOpOptions *options, GpOpFile *F)
{
  Mat_GPUCSRStream *s                                     = (Mat_GPUCSRStream *)A->spptr;
  char              why[GP_CHUNK_FILE_WHY + GP_CHUNK_WHY] = "", path[PETSC_MAX_PATH_LEN + 64];
  PetscMPIInt       rank, size;
  PetscBool         written;
  GpErr             err;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s-%dof%d-%s.chunks", s->common.options.stream_file, (int)rank, (int)size, b ? "offdiagonal" : "diagonal"));
  err = MatGPUCSRStreamWriteRows(rows, options, path, F, &written, why, sizeof(why));
  if (written) PetscCall(PetscStrallocpy(path, &s->file[b]));
  PetscCheck(!err, PETSC_COMM_SELF, err == GP_ERR_FILE ? PETSC_ERR_FILE_WRITE : err == GP_ERR_ARGUMENT ? PETSC_ERR_ARG_OUTOFRANGE : PetscGPUCSRErrorClass(err), "-mat_gpucsr_stream_file: %s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the names of the files. An operator that has opened a file can still read it. */
PetscErrorCode MatGPUCSRStreamRemoveFiles_Private(Mat A)
{
  Mat_GPUCSRStream *s = (Mat_GPUCSRStream *)A->spptr;

  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) {
    if (s->file[b] && unlink(s->file[b])) PetscCall(PetscInfo(A, "gpucsr: %s cannot be removed: %s\n", s->file[b], strerror(errno)));
    PetscCall(PetscFree(s->file[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatGPUCSRSetStreamFile - Stores the chunks of a matrix of type `MATGPUCSRSTREAM` in files instead of host memory

  Logically Collective

  Input Parameters:
+ A      - the matrix
- prefix - beginning of the names of the files, with their folder; `NULL` or empty (default): the chunks are in host memory

  Options Database Key:
. -mat_gpucsr_stream_file <prefix> - beginning of the names of the files

  Level: intermediate

  Notes:
  `MatLoad()` encodes the rows and writes them to files. If a function returns the rows, the first product does so. Each process has a file <prefix>-<rank>of<ranks>-diagonal.chunks. If there are several processes, each also has a file that ends
  in -offdiagonal.chunks. Threads (`MatGPUCSRSetStreamThreads()`) read the chunks in each product and check them. `MatDestroy()` removes the files. Every matrix needs a prefix of its own.

  If a chunk cannot be read or is damaged, the product returns an error on all processes. The matrix can be used again when the file has been restored.

.seealso: `MATGPUCSRSTREAM`, `MatCreateGPUCSRStream()`, `MatGPUCSRSetStreamResident()`, `MatGPUCSRGetStreamInfo()`
@*/
PetscErrorCode MatGPUCSRSetStreamFile(Mat A, const char prefix[])
{
  Mat_GPUCSR *g;

  PetscFunctionBegin;
  PetscCall(MatGPUCSRGetData_Private(A, &g));
  PetscCheck(g->fromrows || !prefix || !prefix[0], PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "The chunks of a matrix of type %s cannot be in files, because its rows are in host memory; use %s", ((PetscObject)A)->type_name, MATGPUCSRSTREAM);
  PetscCall(MatGPUCSRSetPath_Private(A, MAT_GPUCSR_OPTION_stream_file, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}
