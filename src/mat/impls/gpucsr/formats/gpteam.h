/* Rows with teams of lanes: what the formats team and teamcluster share.

   A team has a power of two of lanes, as many as its row needs for each to have at most `longest` nonzeros; class k is the rows
   whose teams have 2^k.  Nonzero j of the row is slot j >> k of lane j mod 2^k, so that neighbouring lanes read neighbouring
   nonzeros.  32 lanes are a slice, GP_TEAM_SLICES slices a thread block; slot j of slice s begins at 32*(base[s]+j) of codes and
   values.  Code c > 0 is column c-1, code 0 is padding and reads no entry of x (it may be infinite).

   The largest teams come first: those of several blocks, then those of several slices, then those within a slice, so that a team that
   fits a slice or a block never crosses the end of one, and every block holds teams of one of these three kinds.  All of a row is
   together, so that one launch finishes it. */
#ifndef GPTEAM_H
#define GPTEAM_H

#include "mat/impls/gpucsr/formats/gpformat.h"
#include "mat/impls/gpucsr/formats/gplanes.h"

#define GP_TEAM_LEAST   8  /* nonzeros that a lane may have in a small matrix: loads that are on their way together */
#define GP_TEAM_LONGEST 64 /* in a large one, of which all lanes do not run at once anyway */
#define GP_TEAM_SLICES  8  /* of a thread block */
#define GP_TEAM_SLICE   5  /* the class whose teams are a slice */
#define GP_TEAM_BLOCK   8  /* that whose teams are a block */
#define GP_TEAM_CLUSTER 11 /* that whose teams are a cluster of 8 blocks, the most that any GPU with clusters must offer */
#define GP_TEAM_MOST    14 /* that whose teams are 64 blocks */
#define GP_TEAM_CLASSES (GP_TEAM_MOST + 1)

typedef struct {
  int32_t   longest;                /* most nonzeros of a lane, except in the largest teams */
  int32_t   most;                   /* class of the largest teams */
  int32_t   cluster;                /* blocks that can reach each other's shared memory; 1: none */
  int32_t   nslices;                /* some are there to fill blocks */
  int32_t   ngangs;                 /* the first blocks hold teams of several blocks */
  int32_t   nbigs;                  /* the first blocks hold teams of several slices, gangs among them */
  int       codebytes;              /* 2 or 4 */
  int       same;                   /* do all nonzeros have the one value in val? */
  int64_t   slots;                  /* of codes and values */
  int32_t   first[GP_TEAM_CLASSES]; /* first slice of a class */
  int32_t   begin[GP_TEAM_CLASSES]; /* its first row in order */
  int32_t   end[GP_TEAM_CLASSES];   /* behind its last */
  size_t    bytes;                  /* of all arrays, which stand in one piece of memory */
  void     *memory;
  int32_t  *order;  /* [m] the rows */
  int32_t  *base;   /* [nslices+1] */
  void     *code;   /* [slots] */
  void     *val;    /* [slots], or [1] */
  double   *zero;   /* what code 0 reads */
  double   *part;   /* [ngangs] without clusters: sums of blocks */
  uint32_t *ticket; /* [ngangs] likewise: blocks of a team that have left theirs, at its first block; zero before and after a product */
} GpTeams;

#define GpTeamsValues(T) ((T)->same ? (size_t)1 : (size_t)(T)->slots)

/* the class of the rows in a slice; slices that fill a block have one too, without a row */
GP_LANEFN int32_t GpTeamClass(const GpTeams *T, int32_t slice)
{
  int32_t k = 0;

#if defined(__CUDACC__)
  #pragma unroll
#endif
  for (int c = 0; c < GP_TEAM_MOST; c++) k += slice < T->first[c];
  return k;
}

/* the place in order of the row of a lane, which is behind end[k] where there is none */
GP_LANEFN int32_t GpTeamPlace(const GpTeams *T, int32_t k, int32_t slice, int32_t lane)
{
  return T->begin[k] + (int32_t)(((int64_t)(slice - T->first[k]) * GP_WARP + lane) >> k);
}

#if defined(__cplusplus)
extern "C" {
#endif
/* a format that is teams and nothing else is built so, and does as team in the rest */
GpErr  GpTeamsBuild(GpFmt *A, int32_t most, int32_t cluster); /* class of the largest teams; blocks of a cluster */
GpErr  GpFmtRefill_team(GpFmt *A);
void   GpFmtDestroy_team(GpFmt *A);
double GpFmtBytes_team(const GpFmt *A);
double GpFmtTraffic_team(const GpFmt *A);
#if defined(__cplusplus)
}
#endif

#endif
