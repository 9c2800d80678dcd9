/* Sorts the rows of formats team and teamcluster. The key of a row is its class and the number of nonzeros of its first lane: large teams first,
   then lanes with many nonzeros. The number of rows with each key determines all positions, so the host waits only for these counts. */
#ifndef GPTEAMROWS_H
#define GPTEAMROWS_H

#include "mat/impls/gpucsr/spmv/team/gpteam.h"

#define GP_TEAM_THREADS 1024                                                         /* number of rows that a block sorts at once */
#define GP_TEAM_KEYS    (GP_TEAM_MOST * (GP_TEAM_LONGEST / 2) + GP_TEAM_LONGEST + 1) /* maximum number of keys */

typedef struct {
  int32_t other;              /* 1 if a value differs from the first */
  int32_t longs;              /* nonzeros per lane, added over all rows of key 0; only these rows may exceed GpTeams.longest */
  int32_t rows[GP_TEAM_KEYS]; /* number of rows with each key */
} GpTeamTally;

typedef struct {
  GpTeams      T;
  GpCsr        C;
  int32_t      keys, tiles, many; /* number of keys; number of tiles of rows; rows of a tile, a multiple of GP_TEAM_THREADS */
  GpTeamTally *tally;             /* in device memory */
  int32_t     *rows;              /* [keys][tiles] in device memory: rows of each key in each tile */
} GpTeamRows;

/* Start of the rows of each key in GpTeams.order. */
typedef struct {
  GpTeamRows R;
  int32_t    first[GP_TEAM_KEYS + 1];
} GpTeamPlaces;

/* Number of nonzeros of a row, and of its first lane, which has the most. */
GP_INLINE int32_t GpTeamLength(const GpCsr *C, int32_t row)
{
  return C->rowptr[row + 1] - C->rowptr[row];
}

GP_INLINE int32_t GpTeamShare(int32_t length, int32_t k)
{
  return length ? ((length - 1) >> k) + 1 : 0;
}

/* Returns the key of a row. Lanes of classes above 0 have more than half of `longest` nonzeros. Rows of the largest teams with more than
   `longest` nonzeros per lane share key 0; their order does not matter. */
GP_INLINE int32_t GpTeamKey(const GpTeams *T, int32_t length)
{
  int32_t k = 0, share;

  while (k < T->most && GpTeamShare(length, k) > T->longest) k++;
  share = GpTeamShare(length, k);
  return (T->most - k) * (T->longest / 2) + (share < T->longest ? T->longest - share : 0);
}

GpErr GpTeamsCount(const GpTeamRows *R);   /* adds to the tally, which must be zero before */
GpErr GpTeamsPlace(const GpTeamPlaces *P); /* fills order, where rows of equal key ascend, and clears zero and ticket */

#endif
