static char help[] = "The order of the rows of a triangle, and transposes, agree with plain references, for sizes at which several threads share the work.\n\n";

#include "gpucsr.h"
#include "mat/impls/gpucsr/trisolve/gptrisolve.h"
#include "sys/gpucsrsys.h"
#include <petscsys.h>

typedef struct {
  const char *name;
  int32_t     n, band, length; /* rows; columns are at most `band` rows away; up to `length` entries */
} Shape;

/* The transpose of "scattered" is done by one thread, because all parts of the rows use all columns. A "chain" has one level for each row. */
static const Shape Shapes[] = {
  {"none", 0, 1, 1}, {"one", 1, 1, 1}, {"diagonal", 200000, 1, 0}, {"chain", 200000, 1, 1}, {"narrow", 200000, 900, 5}, {"scattered", 200000, 199999, 4}, {"small", 3000, 40, 7}, {"long", 3000, 2900, 1500},
};

static uint32_t Next(uint32_t *s)
{
  *s = *s * 1664525u + 1013904223u;
  return *s >> 8;
}

/* Creates rows whose lengths vary. The columns are distinct and do not ascend. */
static PetscErrorCode Create(const Shape *shape, int reverse, int32_t **begin, int32_t **col)
{
  const int32_t n    = shape->n;
  uint32_t      seed = 3;
  int32_t       at   = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n + 1, begin, (size_t)n * (size_t)shape->length + 1, col));
  for (int32_t i = 0; i < n; i++) {
    const int32_t before = reverse ? n - 1 - i : i, reach = PetscMin(before, shape->band), most = shape->length > 1 ? (int32_t)(Next(&seed) % (uint32_t)(shape->length + 1)) : shape->length;
    const int32_t step = reach ? PetscMax(1, reach / PetscMax(most, 1)) : 1;

    (*begin)[i] = at;
    for (int32_t k = 0; k < most && reach; k++) {
      const int32_t distance = 1 + k * step + (int32_t)(Next(&seed) % (uint32_t)step);

      if (distance > reach) break;
      (*col)[at++] = reverse ? i + distance : i - distance;
    }
  }
  (*begin)[n] = at;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each row has one level more than the highest row on which it depends. A level holds its rows by descending length; rows of equal length, or of 1024 entries and more, are in the order of the solve. */
static PetscErrorCode CheckOrder(const Shape *shape, const GpTriRows *rows)
{
  const int32_t n = rows->n;
  int32_t      *level, levels = 0;
  GpTriOrder    order;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &level));
  PetscCheck(!GpTriOrderRows(rows, &order), PETSC_COMM_SELF, PETSC_ERR_MEM, "%s: no memory", shape->name);
  for (int32_t k = 0; k < n; k++) {
    const int32_t i = rows->reverse ? n - 1 - k : k;

    level[i] = 0;
    for (int32_t e = rows->begin[i]; e < rows->end[i]; e++) level[i] = PetscMax(level[i], level[rows->col[e]] + 1);
    levels = PetscMax(levels, level[i] + 1);
  }
  PetscCheck(order.levels == levels && order.levelptr[0] == 0 && order.levelptr[levels] == n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, reverse %d: %d levels instead of %d", shape->name, rows->reverse, (int)order.levels, (int)levels);
  for (int32_t l = 0; l < levels; l++) {
    for (int32_t s = order.levelptr[l]; s < order.levelptr[l + 1]; s++) {
      const int32_t i = order.row[s], before = s > order.levelptr[l] ? order.row[s - 1] : -1;

      PetscCheck(i >= 0 && i < n && order.slot[i] == s && level[i] == l, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, reverse %d: slot %d has row %d", shape->name, rows->reverse, (int)s, (int)i);
      if (before >= 0) {
        const int32_t a = PetscMin(rows->end[before] - rows->begin[before], 1024), b = PetscMin(rows->end[i] - rows->begin[i], 1024);

        PetscCheck(a > b || (a == b && (rows->reverse ? before > i : before < i)), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, reverse %d: row %d follows row %d", shape->name, rows->reverse, (int)i, (int)before);
      }
    }
  }
  GpTriFreeOrder(&order);
  PetscCall(PetscFree(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows ascend in each column, and each entry of the rows is found once. */
static PetscErrorCode CheckTranspose(const Shape *shape, const GpTriRows *rows)
{
  const int32_t   n     = rows->n;
  int32_t         count = 0;
  GpTriTransposed t;

  PetscFunctionBeginUser;
  PetscCheck(!GpTriTranspose(rows, &t), PETSC_COMM_SELF, PETSC_ERR_MEM, "%s: no memory", shape->name);
  for (int32_t c = 0; c < n; c++) {
    PetscCheck(t.begin[c] == count, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: column %d begins at %d", shape->name, (int)c, (int)t.begin[c]);
    for (; count < t.begin[c + 1]; count++) {
      const int32_t i = t.col[count], k = t.source[count];

      PetscCheck(i >= 0 && i < n && k >= rows->begin[i] && k < rows->end[i] && rows->col[k] == c && (count == t.begin[c] || i > t.col[count - 1]), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: entry %d of the transpose is (%d, %d)", shape->name, (int)count,
                 (int)c, (int)i);
    }
  }
  PetscCheck(t.begin[n] == count && count == (n ? rows->end[n - 1] : 0), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the transpose has %d entries", shape->name, (int)count);
  GpTriFreeTransposed(&t);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscGPUCSRInitialize());
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(Shapes); s++) {
    for (int reverse = 0; reverse < 2; reverse++) {
      int32_t *begin, *col;

      PetscCall(Create(&Shapes[s], reverse, &begin, &col));
      PetscCall(CheckOrder(&Shapes[s], &(GpTriRows){Shapes[s].n, reverse, begin, begin + 1, col, NULL, NULL}));
      PetscCall(CheckTranspose(&Shapes[s], &(GpTriRows){Shapes[s].n, reverse, begin, begin + 1, col, NULL, NULL}));
      PetscCall(PetscFree2(begin, col));
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "all orders and transposes agree\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    suffix: all

TEST*/
