/* The CUDA implementation of a mean over the examples. The including file defines, for one example: BMRMRowRisk(), BMRMRowCut(), which stores the slopes and returns
   the offset, BMRMRowSlopes(), and BMRM_NAME(). For nvcc only. Sums are added in an order that depends only on n and on the device. */
#ifndef BMRM_ROWS_H
#define BMRM_ROWS_H

#include "solvers/bmrm/bmrmsum.h"

/* The scores, with the parameters of the loss by value */
struct BMRMRows {
  double     p[BMRM_LOSS_PARAMETERS];
  BMRMScores x;

  explicit BMRMRows(const BMRMScores *scores) : x(*scores)
  {
    for (int k = 0; k < BMRM_LOSS_PARAMETERS; k++) p[k] = scores->p[k];
  }
  __device__ BMRMScores get() const { return {x.n, x.k, p, x.f, x.e, x.y}; }
};

struct BMRMRiskRule {
  static constexpr int K = 1;
  BMRMRows             rows;
  double               s;
  __device__ void      add(double (&sum)[K], int64_t i) const { sum[0] += BMRMRowRisk(rows.get(), i, s); }
};

struct BMRMCutRule {
  static constexpr int K = 1;
  BMRMRows             rows;
  double               s, scale;
  int64_t              first;
  int                  nblock, block;
  double              *r;
  __device__ void      add(double (&sum)[K], int64_t i) const
  {
    if ((first + i) % nblock == block) sum[0] += BMRMRowCut(rows.get(), i, s, scale, r);
    else
      for (int c = 0; c < rows.x.k; c++) r[c * rows.x.n + i] = 0;
  }
};

struct BMRMSlopesRule {
  static constexpr int K = 2 * BMRM_SLOPES;
  BMRMRows             rows;
  int                  nt;
  double               t[BMRM_SLOPES];
  __device__ void      add(double (&sum)[K], int64_t i) const { BMRMRowSlopes(rows.get(), i, nt, t, sum); }
};

static GpErr BMRMRowsRisk(BMRMWork *work, const BMRMScores *x, double s)
{
  return BMRMSumRows(work, x->n, BMRMRiskRule{BMRMRows(x), s}, 1, "risk");
}

static GpErr BMRMRowsCut(BMRMWork *work, const BMRMScores *x, double s, int64_t first, int nblock, int block, double scale, double *r)
{
  return BMRMSumRows(work, x->n, BMRMCutRule{BMRMRows(x), s, scale, first, nblock, block, r}, 1, "cut");
}

static GpErr BMRMRowsSlopes(BMRMWork *work, const BMRMScores *x, int nt, const double t[])
{
  BMRMSlopesRule rule = {BMRMRows(x), nt, {}};

  for (int k = 0; k < nt; k++) rule.t[k] = t[k];
  return BMRMSumRows(work, x->n, rule, 2 * nt, "slopes");
}

extern "C" const BMRMKernels BMRM_NAME(LOSS, CUDA);
const BMRMKernels            BMRM_NAME(LOSS, CUDA) = {BMRMRowsRisk, BMRMRowsCut, BMRMRowsSlopes};

#endif
