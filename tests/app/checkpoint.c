static char help[] = "Tests checkpoints: a write and a read on any number of ranks, every damaged bit, and files that are none.\n";

#include "app/checkpoint/appcheckpoint.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCAL 37 /* values of a rank */

static const GpAppCheckpointKind Kind = {"test", 2}, Other = {"other", 2}, Newer = {"test", 3};
static char                      File[64], Message[512];

static PetscErrorCode Expect(PetscBool holds, const char what[])
{
  PetscFunctionBegin;
  if (!holds) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "wrong: %s (%s)\n", what, Message));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the message of an error instead of printing it. */
static PetscErrorCode Catch(MPI_Comm comm, int line, const char *fun, const char *file, PetscErrorCode n, PetscErrorType p, const char *text, void *ctx)
{
  if (p == PETSC_ERROR_INITIAL) (void)snprintf(Message, sizeof(Message), "%s", text);
  return n;
}

/* Writes or reads the state: a number that all ranks have and an array of which each has a part. */
static PetscErrorCode Move(GpAppCheckpoint *ck, double *number, double values[], PetscInt n)
{
  PetscFunctionBegin;
  PetscCall(GpAppCheckpointReplicated(ck, number, sizeof(*number)));
  PetscCall(GpAppCheckpointDistributed(ck, values, n, sizeof(*values)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Read(MPI_Comm comm, const GpAppCheckpointKind *kind, PetscInt n, double *number, double values[])
{
  GpAppCheckpoint ck;

  PetscFunctionBegin;
  PetscCall(GpAppCheckpointOpen(comm, File, kind, &ck));
  PetscCall(Move(&ck, number, values, n));
  PetscCall(GpAppCheckpointClose(&ck));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the file refused with an error of this class and these words? */
static PetscErrorCode Refused(MPI_Comm comm, const GpAppCheckpointKind *kind, PetscInt n, PetscErrorCode code, const char words[])
{
  double         number, values[LOCAL + 1];
  PetscErrorCode err;

  PetscFunctionBegin;
  Message[0] = 0;
  PetscCall(PetscPushErrorHandler(Catch, NULL));
  err = Read(comm, kind, n, &number, values);
  PetscCall(PetscPopErrorHandler());
  PetscCall(Expect((PetscBool)(err == code && strstr(Message, words)), words));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Load(char **data, size_t *bytes)
{
  FILE *fp = fopen(File, "rb");

  PetscFunctionBegin;
  PetscCheck(fp && !fseek(fp, 0, SEEK_END), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", File);
  *bytes = (size_t)ftell(fp);
  rewind(fp);
  PetscCall(PetscMalloc1(*bytes, data));
  PetscCheck(fread(*data, 1, *bytes, fp) == *bytes, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s", File);
  (void)fclose(fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Store(const char data[], size_t bytes)
{
  FILE *fp = fopen(File, "wb");

  if (!fp) return;
  (void)fwrite(data, 1, bytes, fp);
  (void)fclose(fp);
}

/* Every bit of the file counts, and so does its length. */
static PetscErrorCode TestDamage(void)
{
  char  *data;
  size_t bytes;

  PetscFunctionBegin;
  PetscCall(Load(&data, &bytes));
  for (size_t bit = 0; bit < 8 * bytes; bit++) {
    data[bit / 8] ^= (char)(1 << bit % 8);
    Store(data, bytes);
    PetscCall(Refused(PETSC_COMM_SELF, &Kind, LOCAL, PETSC_ERR_FILE_UNEXPECTED, ""));
    data[bit / 8] ^= (char)(1 << bit % 8);
  }
  for (size_t length = 0; length < bytes; length += 5) {
    Store(data, length);
    PetscCall(Refused(PETSC_COMM_SELF, &Kind, LOCAL, PETSC_ERR_FILE_UNEXPECTED, ""));
  }
  Store(data, bytes);
  PetscCall(PetscFree(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GpAppCheckpoint ck;
  PetscMPIInt     rank, size;
  PetscBool       written, same = PETSC_TRUE;
  double          number = 17, values[LOCAL + 1];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Expect((PetscBool)(GpAppChecksum(0, "123456789", 9) == 0x995DC9BBDF1939FAu && GpAppChecksum(GpAppChecksum(0, "1234", 4), "56789", 5) == 0x995DC9BBDF1939FAu), "the check value of CRC-64/XZ"));
  if (!rank) {
    int fd;

    PetscCall(PetscStrncpy(File, "/tmp/gpucsr-test-XXXXXX", sizeof(File)));
    fd = mkstemp(File);
    PetscCheck(fd >= 0 && !close(fd), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No file in /tmp");
  }
  PetscCallMPI(MPI_Bcast(File, (PetscMPIInt)sizeof(File), MPI_CHAR, 0, PETSC_COMM_WORLD));
  for (PetscInt i = 0; i < LOCAL; i++) values[i] = rank * LOCAL + i;
  PetscCall(GpAppCheckpointCreate(PETSC_COMM_WORLD, File, &Kind, &ck));
  PetscCall(Move(&ck, &number, values, LOCAL));
  PetscCall(GpAppCheckpointCommit(&ck, &written));
  PetscCall(Expect(written, "written"));
  number = 0;
  PetscCall(PetscArrayzero(values, LOCAL));
  PetscCall(Read(PETSC_COMM_WORLD, &Kind, LOCAL, &number, values));
  for (PetscInt i = 0; i < LOCAL; i++) same = (PetscBool)(same && values[i] == rank * LOCAL + i);
  PetscCall(Expect((PetscBool)(same && number == 17), "read"));
  PetscCall(Refused(PETSC_COMM_WORLD, &Other, LOCAL, PETSC_ERR_FILE_UNEXPECTED, "is a checkpoint of another program than other"));
  PetscCall(Refused(PETSC_COMM_WORLD, &Newer, LOCAL, PETSC_ERR_FILE_UNEXPECTED, "is a checkpoint of another version of test"));
  PetscCall(Refused(PETSC_COMM_WORLD, &Kind, LOCAL + 1, PETSC_ERR_FILE_UNEXPECTED, "holds fewer values than its sizes say"));
  PetscCall(Refused(PETSC_COMM_WORLD, &Kind, LOCAL - 1, PETSC_ERR_FILE_UNEXPECTED, "bytes more than its sizes say"));
  if (size == 1) PetscCall(TestDamage());
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (!rank) (void)unlink(File);
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(Refused(PETSC_COMM_WORLD, &Kind, LOCAL, PETSC_ERR_FILE_OPEN, "cannot be opened: No such file or directory"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "done\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST
  test:
    suffix: format
    nsize: {{1 3}}
    output_file: output/checkpoint_format.out
TEST*/
