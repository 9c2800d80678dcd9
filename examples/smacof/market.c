/* Matrix Market files: the header; the lines behind it are a table without headings and names. */
#include "smacof.h"
#include <string.h>

/*
  MarketBegin - Reads the header of a Matrix Market file: "%%MatrixMarket matrix <coordinate|array> <real|integer> <general|symmetric>", comments, a line of sizes

  Collective

  Input Parameter:
. X - the lines of a file; where it has such a header, the line of sizes becomes a comment, so that GpAppTableParse() reads the entries

  Output Parameter:
. M - the header; M->market says whether there is one

  Note:
  X is destroyed if the header is refused.
*/
PetscErrorCode MarketBegin(GpAppText *X, Market *M)
{
  GpAppComplaint C = {0};
  char          *p = X->text, *end = X->text + X->length, line[96], object[16], format[16], field[16], symmetry[20];
  PetscMPIInt    rank;
  int            n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(M, sizeof(*M)));
  PetscCallMPI(MPI_Comm_rank(X->comm, &rank));
  if (!rank && X->length > 14 && !strncmp(p, "%%MatrixMarket", 14)) {
    PetscInt64 number = 0;

    M->market = PETSC_TRUE;
    GpAppTextLine(p + 14, end, line, sizeof(line));
    if (sscanf(line, "%15s %15s %15s %19s", object, format, field, symmetry) != 4 || strcmp(object, "matrix") || (strcmp(format, "coordinate") && strcmp(format, "array")) || (strcmp(field, "real") && strcmp(field, "integer")) ||
        (strcmp(symmetry, "general") && strcmp(symmetry, "symmetric")))
      GpAppComplain(&C, 1, p + 15, end, "expected: %%MatrixMarket matrix <coordinate|array> <real|integer> <general|symmetric>");
    else {
      M->coordinates = (PetscBool)!strcmp(format, "coordinate");
      M->symmetric   = (PetscBool)!strcmp(symmetry, "symmetric");
      for (number = 1; p < end && (*p == '%' || strspn(p, " \t\r") == strcspn(p, "\n")); number++) p = (char *)memchr(p, '\n', (size_t)(end - p)) + 1;
      GpAppTextLine(p, end, line, sizeof(line));
      n = sscanf(line, "%" PetscInt64_FMT " %" PetscInt64_FMT " %" PetscInt64_FMT, &M->rows, &M->columns, &M->entries);
      if (n < (M->coordinates ? 3 : 2)) GpAppComplain(&C, number, p, end, M->coordinates ? "expected <rows> <columns> <entries>" : "expected <rows> <columns>");
      else if (M->rows != M->columns) GpAppComplain(&C, number, p, end, "expected as many rows as columns");
      else if (M->rows < 1 || M->rows >= PETSC_MPI_INT_MAX) GpAppComplain(&C, number, p, end, "expected from 1 to 2147483646 rows");
      else *p = '%';
      M->line = number;
    }
  }
  PetscCall(GpAppTextRaise(X, &C));
  PetscCallMPI(MPI_Bcast(M, (PetscMPIInt)sizeof(*M), MPI_BYTE, 0, X->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
