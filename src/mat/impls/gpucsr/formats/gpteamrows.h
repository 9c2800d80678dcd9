/* What sorts the rows of a format of teams.  The key of a row is its class and the nonzeros of its first lane: large teams first, then
   lanes with many nonzeros.  How many rows have each key says where everything goes, so that the host waits for these counts and no more. */
#ifndef GPTEAMROWS_H
#define GPTEAMROWS_H

#include "mat/impls/gpucsr/formats/gpsteps.h"
#include "mat/impls/gpucsr/formats/gpteam.h"

#define GP_TEAM_THREADS 1024                                                         /* rows that a block sorts at once */
#define GP_TEAM_KEYS    (GP_TEAM_MOST * (GP_TEAM_LONGEST / 2) + GP_TEAM_LONGEST + 1) /* at most */

typedef struct {
  int32_t other;              /* is there a value other than the first? */
  int32_t longs;              /* nonzeros of a lane, all rows of key 0 together: they alone may have more than GpTeams.longest */
  int32_t rows[GP_TEAM_KEYS]; /* of every key */
} GpTeamTally;

typedef struct {
  GpTeams      T;
  GpCsr        C;
  int32_t      keys, tiles, many; /* many: rows of a tile, GP_TEAM_THREADS times a whole number */
  GpTeamTally *tally;             /* device memory */
  int32_t     *rows;              /* [keys][tiles] likewise: rows of a key in a tile; the host twin has no tiles */
} GpTeamRows;

/* where the rows of each key begin in order */
typedef struct {
  GpTeamRows R;
  int32_t    first[GP_TEAM_KEYS + 1];
} GpTeamPlaces;

/* nonzeros of a row, and of its first lane, which has most */
GP_INLINE int32_t GpTeamLength(const GpCsr *C, int32_t row)
{
  return C->rowptr[row + 1] - C->rowptr[row];
}

GP_INLINE int32_t GpTeamShare(int32_t length, int32_t k)
{
  return length ? ((length - 1) >> k) + 1 : 0;
}

/* Lanes of the classes above 0 have more than half of the most nonzeros.  In the largest teams, with more than that, the order does not matter. */
GP_INLINE int32_t GpTeamKey(const GpTeams *T, int32_t length)
{
  int32_t k = 0, share;

  while (k < T->most && GpTeamShare(length, k) > T->longest) k++;
  share = GpTeamShare(length, k);
  return (T->most - k) * (T->longest / 2) + (share < T->longest ? T->longest - share : 0);
}

#if defined(__cplusplus)
extern "C" {
#endif
GpErr GpTeamsCount_Host(const GpTeamRows *R); /* the tally, which is zero before */
GpErr GpTeamsCount_CUDA(const GpTeamRows *R);
GpErr GpTeamsPlace_Host(const GpTeamPlaces *P); /* order, of a key the upper rows first, and what is zero when all begins */
GpErr GpTeamsPlace_CUDA(const GpTeamPlaces *P);
#if defined(__cplusplus)
}
#endif

#endif
