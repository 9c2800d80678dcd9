/* Sparse rows: their memory, their lines in the file, and the AIJ matrix that takes them over. */
#include "app/libsvm/applibsvm.h"
#include <gpucsrcompat.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(MADV_HUGEPAGE) || defined(MADV_DONTNEED)
/* Calls madvise() for the whole pages of a range of memory. Failure is ignored. */
static void GpAppAdvisePages(void *start, size_t bytes, int advice)
{
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)start + page - 1) / page * page, end = ((uintptr_t)start + bytes) / page * page;

  if (first < end) (void)madvise((void *)first, end - first, advice);
}
#endif

/* Requests huge pages for memory that will be written from end to end. Page faults of small pages would take a third of the time.
   Small ranges are left out: on average, half of the last huge page is wasted. */
void GpAppWantLargePages(void *start, size_t bytes)
{
#if defined(MADV_HUGEPAGE)
  if (bytes >= (size_t)1 << 22) GpAppAdvisePages(start, bytes, MADV_HUGEPAGE);
#endif
}

/* Returns the pages of memory to the system before the memory itself is freed. The content is lost. */
static void GpAppGiveBackPages(void *start, size_t bytes)
{
#if defined(MADV_DONTNEED)
  GpAppAdvisePages(start, bytes, MADV_DONTNEED);
#endif
}

/* Enlarges the array whose address is at `array`. PetscRealloc() may copy the array, and the heap may never return the pages of the old one to the system. */
PetscErrorCode GpAppGrowArray(size_t used, size_t bytes, void *array)
{
  const size_t piece = (size_t)1 << 20;
  char        *from  = *(char **)array, *to;

  PetscFunctionBegin;
  PetscCall(PetscMalloc(bytes, &to));
  GpAppWantLargePages(to, bytes);
  for (size_t done = 0, now; done < used; done += now) {
    now = PetscMin(piece, used - done);
    memcpy(to + done, from + done, now);
    GpAppGiveBackPages(from + done, now);
  }
  PetscCall(PetscFree(from));
  *(char **)array = to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Notes the line of the last row of this rank, counted from 1 on this rank. A pair is stored only where lines without a row, such as comments, come before it. */
PetscErrorCode GpAppRowLinesNote(GpAppRowLines *L, PetscInt row, PetscInt64 line)
{
  const PetscInt64 skipped = line - 1 - row;

  PetscFunctionBegin;
  if (skipped == (L->n ? L->skip[2 * L->n - 1] : 0)) PetscFunctionReturn(PETSC_SUCCESS);
  if (L->n == L->capacity) {
    L->capacity = PetscMax(64, 2 * L->capacity);
    PetscCall(PetscRealloc(2 * (size_t)L->capacity * sizeof(*L->skip), &L->skip));
  }
  L->skip[2 * L->n]     = row;
  L->skip[2 * L->n + 1] = skipped;
  L->n++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The line of the file that holds a row of this rank. */
PetscInt64 GpAppRowLinesGet(const GpAppRowLines *L, PetscInt row)
{
  PetscInt lo = 0, hi = L->n; /* pairs before lo belong to this row or to earlier ones */

  while (lo < hi) {
    const PetscInt mid = lo + (hi - lo) / 2;

    if (L->skip[2 * mid] <= row) lo = mid + 1;
    else hi = mid;
  }
  return L->before + row + 1 + (lo ? L->skip[2 * lo - 1] : 0);
}

/* Makes the matrix own an array: it is freed together with the matrix. */
static PetscErrorCode GpAppRowsComposeArray(Mat A, const char name[], void *array)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, array));
  PetscCall(GpCompatContainerSetFree(container));
  PetscCall(PetscObjectCompose((PetscObject)A, name, (PetscObject)container));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GpAppRowsCompose(Mat A, PetscInt *i, PetscInt *j, PetscScalar *a)
{
  PetscFunctionBegin;
  PetscCall(GpAppRowsComposeArray(A, "GpAppRows_i", i));
  PetscCall(GpAppRowsComposeArray(A, "GpAppRows_j", j));
  PetscCall(GpAppRowsComposeArray(A, "GpAppRows_a", a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the position of the first column of a row that is not below a limit. Columns of a row ascend. */
static inline PetscInt GpAppRowsFindColumn(const PetscInt j[], PetscInt from, PetscInt end, PetscInt limit)
{
  while (from < end && j[from] < limit) from++;
  return from;
}

static inline void GpAppRowsCopyEntries(const GpAppRows *R, PetscInt from, PetscInt end, PetscInt cstart, PetscInt j[], PetscScalar a[])
{
  for (PetscInt k = from; k < end; k++) {
    j[k - from] = R->j[k] - cstart;
    a[k - from] = R->a[k];
  }
}

/* Separates the columns [cstart, cend) from the others. Memory is returned to the system as soon as it has been copied, so that at most one piece exists twice.
   If memory does not suffice, the rows are not changed. */
static PetscErrorCode GpAppRowsSplitColumns(GpAppRows *R, PetscInt cstart, PetscInt cend, PetscInt *i[2], PetscInt *j[2], PetscScalar *a[2])
{
  const PetscInt piece = 1 << 16, m = R->m;
  PetscInt       given = 0, entries[2];
  PetscErrorCode err   = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m + 1, &i[1]));
  i[1][0] = 0;
  for (PetscInt row = 0, k = 0; row < m; row++) {
    const PetscInt end = R->i[row + 1], low = GpAppRowsFindColumn(R->j, k, end, cstart), high = GpAppRowsFindColumn(R->j, low, end, cend);

    i[1][row + 1] = i[1][row] + end - k - (high - low);
    k             = end;
  }
  entries[1] = i[1][m];
  entries[0] = R->i[m] - entries[1];
  for (int side = 0; side < 2; side++) {
    j[side] = NULL;
    a[side] = NULL;
    if (!err) err = PetscMalloc1(entries[side], &j[side]);
    if (!err) err = PetscMalloc1(entries[side], &a[side]);
  }
  if (err) {
    PetscCall(PetscFree(i[1]));
    for (int side = 0; side < 2; side++) {
      PetscCall(PetscFree(j[side]));
      PetscCall(PetscFree(a[side]));
    }
    PetscCall(err);
  }
  for (int side = 0; side < 2; side++) {
    GpAppWantLargePages(j[side], (size_t)entries[side] * sizeof(**j));
    GpAppWantLargePages(a[side], (size_t)entries[side] * sizeof(**a));
  }
  i[0] = R->i;
  for (PetscInt row = 1; row <= m; row++) i[0][row] -= i[1][row];
  for (PetscInt row = 0, k = 0; row < m; row++) {
    const PetscInt end = i[0][row + 1] + i[1][row + 1], low = GpAppRowsFindColumn(R->j, k, end, cstart), high = low + i[0][row + 1] - i[0][row], to = i[1][row];

    GpAppRowsCopyEntries(R, k, low, 0, j[1] + to, a[1] + to);
    GpAppRowsCopyEntries(R, low, high, cstart, j[0] + i[0][row], a[0] + i[0][row]);
    GpAppRowsCopyEntries(R, high, end, 0, j[1] + to + (low - k), a[1] + to + (low - k));
    k = end;
    if (k - given < piece) continue;
    GpAppGiveBackPages(R->j + given, (size_t)(k - given) * sizeof(**j));
    GpAppGiveBackPages(R->a + given, (size_t)(k - given) * sizeof(**a));
    given = k;
  }
  R->i = NULL;
  PetscCall(PetscFree(R->j));
  PetscCall(PetscFree(R->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates an AIJ matrix that uses the arrays of the rows without a copy. */
PetscErrorCode GpAppRowsCreateAIJ(GpAppRows *R, PetscInt N, PetscBool mpi, Mat *X)
{
  PetscInt    *i[2], *j[2], n = PETSC_DECIDE, cend = 0;
  PetscScalar *a[2];
  Mat          A, B;

  PetscFunctionBegin;
  if (!mpi) {
    PetscCall(MatCreateSeqAIJWithArrays(R->comm, R->m, N, R->i, R->j, R->a, X));
    PetscCall(GpAppRowsCompose(*X, R->i, R->j, R->a));
    R->i = NULL;
    R->j = NULL;
    R->a = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSplitOwnership(R->comm, &n, &N));
  PetscCallMPI(MPI_Scan(&n, &cend, 1, MPIU_INT, MPI_SUM, R->comm));
  PetscCall(GpAppRowsSplitColumns(R, cend - n, cend, i, j, a));
  PetscCall(MatCreateMPIAIJWithSplitArrays(R->comm, R->m, n, R->M, N, i[0], j[0], a[0], i[1], j[1], a[1], X));
  PetscCall(MatMPIAIJGetSeqAIJ(*X, &A, &B, NULL));
  PetscCall(GpAppRowsCompose(A, i[0], j[0], a[0]));
  PetscCall(GpAppRowsCompose(B, i[1], j[1], a[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GpAppRowsDestroy(GpAppRows *R)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(R->i));
  PetscCall(PetscFree(R->j));
  PetscCall(PetscFree(R->a));
  PetscCall(PetscFree(R->label));
  PetscCall(PetscFree(R->query));
  PetscCall(PetscFree(R->names));
  PetscCall(PetscFree(R->lines.skip));
  PetscFunctionReturn(PETSC_SUCCESS);
}
