/* The model of NVIDIA H200, written by train; do not edit.
   Learnt from tests/bench/results/2026-11-21-h200/corpus, commit 40e1770: 590 matrices and transposes, 35 kernels. */
/* clang-format off */
static const short GpSelLeaves_h200[][GP_SEL_LEADING] = {
  {GP_SPMV_csrvector32, GP_SPMV_dense, GP_SPMV_csrblock, GP_SPMV_bin}, /* 57 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrvector32, GP_SPMV_rowcode, GP_SPMV_dia}, /* 19 cases */
  {GP_SPMV_csrvector8, GP_SPMV_sell8, GP_SPMV_csrvector16, GP_SPMV_rowcode}, /* 24 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 17 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 34 cases */
  {GP_SPMV_bin, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_block}, /* 29 cases */
  {GP_SPMV_csrvector32, GP_SPMV_csrvector16, GP_SPMV_csrshort16, GP_SPMV_bin}, /* 42 cases */
  {GP_SPMV_csrvector8, GP_SPMV_csrshort8, GP_SPMV_bin, GP_SPMV_csrvector32}, /* 27 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrshort16, GP_SPMV_bin, GP_SPMV_csrvector8}, /* 20 cases */
  {GP_SPMV_csrvector4, GP_SPMV_csrvector2, GP_SPMV_csrvector8, GP_SPMV_rowcode}, /* 26 cases */
  {GP_SPMV_rowcode, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 32 cases */
  {GP_SPMV_block, GP_SPMV_csrvector4, GP_SPMV_csrvector16, GP_SPMV_csrvector8}, /* 16 cases */
  {GP_SPMV_dia, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 46 cases */
  {GP_SPMV_block, GP_SPMV_csrvector4, GP_SPMV_csrvector8, GP_SPMV_bin}, /* 19 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 16 cases */
  {GP_SPMV_csrvector4, GP_SPMV_csrvector2, GP_SPMV_csrblock, GP_SPMV_bin}, /* 16 cases */
  {GP_SPMV_csrvector2, GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8}, /* 19 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 27 cases */
  {GP_SPMV_bin, GP_SPMV_block, GP_SPMV_rowcode, GP_SPMV_dia}, /* 18 cases */
  {GP_SPMV_bin, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_block}, /* 50 cases */
  {GP_SPMV_block, GP_SPMV_bin, GP_SPMV_panel, GP_SPMV_csrvector8}, /* 16 cases */
  {GP_SPMV_panel, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 20 cases */
};

static const GpSelNode GpSelNodes_h200[] = {
  {GP_SEL_xcache, 1, 20, 0.003225965},
  {GP_SEL_upto32, 2, 13, 0.999941},
  {GP_SEL_heavy, 3, 10, 0.002599145},
  {GP_SEL_rowsperunit, 4, 7, 76.1288},
  {GP_SEL_rowsperunit, 5, 6, 53.2311},
  {-1, 0, 0, 0},
  {-1, 1, 0, 0},
  {GP_SEL_longest, 8, 9, 5.26684},
  {-1, 2, 0, 0},
  {-1, 3, 0, 0},
  {GP_SEL_deviation, 11, 12, 2.17844},
  {-1, 4, 0, 0},
  {-1, 5, 0, 0},
  {GP_SEL_rowsperunit, 14, 15, 41.2424},
  {-1, 6, 0, 0},
  {GP_SEL_rowsperunit, 16, 19, 136.288},
  {GP_SEL_longshare, 17, 18, 0.0177849},
  {-1, 7, 0, 0},
  {-1, 8, 0, 0},
  {-1, 9, 0, 0},
  {GP_SEL_diagonals, 21, 26, 35},
  {GP_SEL_values, 22, 23, 3},
  {-1, 10, 0, 0},
  {GP_SEL_tilesectors, 24, 25, 0.0547726},
  {-1, 11, 0, 0},
  {-1, 12, 0, 0},
  {GP_SEL_diagonals, 27, 30, 922},
  {GP_SEL_delta8, 28, 29, 0.997099},
  {-1, 13, 0, 0},
  {-1, 14, 0, 0},
  {GP_SEL_mean, 31, 40, 45.19275},
  {GP_SEL_deviation, 32, 39, 3.01398},
  {GP_SEL_nnzperunit, 33, 38, 22268.85},
  {GP_SEL_longest, 34, 35, 2.90403},
  {-1, 15, 0, 0},
  {GP_SEL_longshare, 36, 37, 0.01215465},
  {-1, 16, 0, 0},
  {-1, 17, 0, 0},
  {-1, 18, 0, 0},
  {-1, 19, 0, 0},
  {GP_SEL_slicesectors, 41, 42, 21.00905},
  {-1, 20, 0, 0},
  {-1, 21, 0, 0},
};

static const GpSelModel GpSelModel_h200 = {"NVIDIA H200", 132, 62914560, "tests/bench/results/2026-11-21-h200/corpus, commit 40e1770", GpSelNodes_h200, GpSelLeaves_h200};
/* clang-format on */
