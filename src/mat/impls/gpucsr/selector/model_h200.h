/* The model of NVIDIA H200, written by train; do not edit.
   Learnt from tests/bench/results/2026-11-21-h200/rehearsal, commit 83653a5: 206 matrices and transposes, 7 kernels. */
/* clang-format off */
static const short GpSelLeaves_h200[][GP_SEL_LEADING] = {
  {GP_SPMV_csrscalar, GP_SPMV_csrvector2, GP_SPMV_csrvector4, GP_SPMV_csrsplit}, /* 28 cases */
  {GP_SPMV_csrvector2, GP_SPMV_csrscalar, GP_SPMV_csrvector4, GP_SPMV_csrsplit}, /* 6 cases */
  {GP_SPMV_csrsplit, GP_SPMV_csrscalar, GP_SPMV_csrvector2, GP_SPMV_csrvector4}, /* 4 cases */
  {GP_SPMV_csrvector4, GP_SPMV_csrvector2, GP_SPMV_csrvector8, GP_SPMV_csrscalar}, /* 8 cases */
  {GP_SPMV_csrvector4, GP_SPMV_csrvector2, GP_SPMV_csrvector8, GP_SPMV_csrvector16}, /* 13 cases */
  {GP_SPMV_csrvector2, GP_SPMV_csrscalar, GP_SPMV_csrvector4, GP_SPMV_csrvector8}, /* 6 cases */
  {GP_SPMV_csrvector8, GP_SPMV_csrvector4, GP_SPMV_csrvector16, GP_SPMV_csrvector2}, /* 14 cases */
  {GP_SPMV_csrvector32, GP_SPMV_csrvector16, GP_SPMV_csrvector4, GP_SPMV_csrvector8}, /* 5 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrvector32, GP_SPMV_csrvector8, GP_SPMV_csrvector4}, /* 9 cases */
  {GP_SPMV_csrvector32, GP_SPMV_csrvector16, GP_SPMV_csrvector8, GP_SPMV_csrvector4}, /* 22 cases */
  {GP_SPMV_csrvector8, GP_SPMV_csrvector16, GP_SPMV_csrvector4, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrvector8, GP_SPMV_csrvector32, GP_SPMV_csrvector4}, /* 7 cases */
  {GP_SPMV_csrvector8, GP_SPMV_csrvector16, GP_SPMV_csrvector4, GP_SPMV_csrvector2}, /* 10 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrvector8, GP_SPMV_csrvector4, GP_SPMV_csrvector2}, /* 5 cases */
  {GP_SPMV_csrvector4, GP_SPMV_csrvector8, GP_SPMV_csrvector2, GP_SPMV_csrscalar}, /* 7 cases */
  {GP_SPMV_csrvector32, GP_SPMV_csrvector16, GP_SPMV_csrsplit, GP_SPMV_csrvector8}, /* 20 cases */
  {GP_SPMV_csrsplit, GP_SPMV_csrvector32, GP_SPMV_csrvector16, GP_SPMV_csrvector8}, /* 6 cases */
  {GP_SPMV_csrsplit, GP_SPMV_csrvector32, GP_SPMV_csrvector16, GP_SPMV_csrvector8}, /* 31 cases */
};

static const GpSelNode GpSelNodes_h200[] = {
  {GP_SEL_heavy, 1, 30, 0.000789155},
  {GP_SEL_longshare, 2, 17, 0.00764238},
  {GP_SEL_mean, 3, 10, 9.276335},
  {GP_SEL_longshare, 4, 9, 0.003472205},
  {GP_SEL_tilesectors, 5, 8, 0.998201},
  {GP_SEL_slicesectors, 6, 7, 12.7516},
  {-1, 0, 0, 0},
  {-1, 1, 0, 0},
  {-1, 2, 0, 0},
  {-1, 3, 0, 0},
  {GP_SEL_mean, 11, 14, 30.7634},
  {GP_SEL_hubs, 12, 13, 0.721953},
  {-1, 4, 0, 0},
  {-1, 5, 0, 0},
  {GP_SEL_sectors, 15, 16, 31.3926},
  {-1, 6, 0, 0},
  {-1, 7, 0, 0},
  {GP_SEL_rowsperunit, 18, 21, 75.22725},
  {GP_SEL_longshare, 19, 20, 0.04631765},
  {-1, 8, 0, 0},
  {-1, 9, 0, 0},
  {GP_SEL_upto32, 22, 25, 0.995869},
  {GP_SEL_longshare, 23, 24, 0.0133759},
  {-1, 10, 0, 0},
  {-1, 11, 0, 0},
  {GP_SEL_rowsperunit, 26, 29, 130.3905},
  {GP_SEL_delta8, 27, 28, 0.8836265},
  {-1, 12, 0, 0},
  {-1, 13, 0, 0},
  {-1, 14, 0, 0},
  {GP_SEL_xcache, 31, 34, 0.0120894},
  {GP_SEL_tilesectors, 32, 33, 0.5533865},
  {-1, 15, 0, 0},
  {-1, 16, 0, 0},
  {-1, 17, 0, 0},
};

static const GpSelModel GpSelModel_h200 = {"NVIDIA H200", 132, 62914560, "tests/bench/results/2026-11-21-h200/rehearsal, commit 83653a5", GpSelNodes_h200, GpSelLeaves_h200};
/* clang-format on */
