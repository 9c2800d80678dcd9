/* A team of lanes for each row: the part that formats team and teamcluster have in common.

   A team has 2^k lanes, as many as its row needs for each lane to have at most `longest` nonzeros; the row is in class k. Nonzero j of a row is
   slot j >> k of lane j mod 2^k, so that neighbouring lanes read neighbouring nonzeros. 32 lanes are a slice; GP_TEAM_SLICES slices are a thread
   block. Slot j of slice s begins at 32*(base[s]+j) of codes and values. Code c > 0 is column c-1. Code 0 is padding: it reads a zero and no
   entry of x, which might be infinite.

   The largest teams come first: those of several blocks, then those of several slices, then those within a slice. So a team that fits in a slice
   or a block never crosses its end, and all teams of a block are of one of these three kinds. One launch finishes all rows. */
#ifndef GPTEAM_H
#define GPTEAM_H

#include "mat/impls/gpucsr/spmv/common/gpformat.h"

#define GP_TEAM_LEAST   8  /* nonzeros of a lane in a small matrix; its loads are in flight together */
#define GP_TEAM_LONGEST 64 /* nonzeros of a lane in a large matrix, whose lanes do not all run at once */
#define GP_TEAM_SLICES  8  /* slices of a thread block */
#define GP_TEAM_SLICE   5  /* class whose teams are one slice */
#define GP_TEAM_BLOCK   8  /* class whose teams are one block */
#define GP_TEAM_CLUSTER 11 /* class whose teams are a cluster of 8 blocks, the largest size that all GPUs with clusters support */
#define GP_TEAM_MOST    14 /* class whose teams are 64 blocks */
#define GP_TEAM_CLASSES (GP_TEAM_MOST + 1)

typedef struct {
  int32_t   longest;                /* maximum number of nonzeros of a lane, except in the largest teams */
  int32_t   most;                   /* class of the largest teams */
  int32_t   cluster;                /* number of thread blocks in a cluster; 1: no clusters */
  int32_t   nslices;                /* number of slices, including empty ones that fill blocks */
  int32_t   ngangs;                 /* number of blocks, from the first, that hold teams of several blocks */
  int32_t   nbigs;                  /* number of blocks, from the first, that hold teams of several slices or several blocks */
  int       codebytes;              /* bytes of a code: 2 or 4 */
  int       same;                   /* 1 if all nonzeros have one value, which is val[0] */
  int64_t   slots;                  /* number of slots of codes and values */
  int32_t   first[GP_TEAM_CLASSES]; /* first slice of each class */
  int32_t   begin[GP_TEAM_CLASSES]; /* index in order of the first row of each class */
  int32_t   end[GP_TEAM_CLASSES];   /* index in order behind the last row of each class */
  size_t    bytes;                  /* bytes of `memory`, which contains all arrays below */
  void     *memory;
  int32_t  *order;  /* [m] rows, sorted by class and length */
  int32_t  *base;   /* [nslices+1] first slot of each slice, divided by 32 */
  void     *code;   /* [slots] codes of columns */
  void     *val;    /* [slots], or [1] if `same` is set */
  double   *zero;   /* the entry of x that code 0 reads: zero */
  double   *part;   /* [ngangs] partial sums of blocks; NULL with clusters */
  uint32_t *ticket; /* [ngangs] at the first block of a team: number of its blocks that have written their partial sums; zero before and after a product; NULL with clusters */
} GpTeams;

#define GpTeamsValues(T) ((T)->same ? (size_t)1 : (size_t)(T)->slots)

/* Returns the class of the rows in a slice. A slice that only fills a block has a class too, but no row. */
GP_INLINE int32_t GpTeamClass(const GpTeams *T, int32_t slice)
{
  int32_t k = 0;

#pragma unroll
  for (int c = 0; c < GP_TEAM_MOST; c++) k += slice < T->first[c];
  return k;
}

/* Returns the index in order of the row of a lane. It is at or behind end[k] if the lane has no row. */
GP_INLINE int32_t GpTeamPlace(const GpTeams *T, int32_t k, int32_t slice, int32_t lane)
{
  return T->begin[k] + (int32_t)(((int64_t)(slice - T->first[k]) * GP_WARP + lane) >> k);
}

#endif
