/* The model of NVIDIA H200, written by train; do not edit.
   Learnt from tests/bench/results/2026-11-21-h200/corpus, commit 40e1770: 1766 matrices and transposes, 35 kernels. */
/* clang-format off */
static const short GpSelLeaves_h200[][GP_SEL_LEADING] = {
  {GP_SPMV_csrvector32, GP_SPMV_csrshort32, GP_SPMV_bin, GP_SPMV_csrvector8}, /* 98 cases */
  {GP_SPMV_csrvector8, GP_SPMV_csrvector4, GP_SPMV_csrvector16, GP_SPMV_csrvector32}, /* 11 cases */
  {GP_SPMV_csrshort32, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 8 cases */
  {GP_SPMV_csrvector8, GP_SPMV_csrvector16, GP_SPMV_dense, GP_SPMV_csrvector4}, /* 16 cases */
  {GP_SPMV_bin, GP_SPMV_csrvector4, GP_SPMV_csrshort4, GP_SPMV_csrvector8}, /* 8 cases */
  {GP_SPMV_csrvector4, GP_SPMV_block, GP_SPMV_dense, GP_SPMV_coaconst8}, /* 14 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrshort16, GP_SPMV_bin, GP_SPMV_csrvector8}, /* 14 cases */
  {GP_SPMV_hybrid, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_csrvector8, GP_SPMV_csrshort8, GP_SPMV_bin, GP_SPMV_csrvector32}, /* 88 cases */
  {GP_SPMV_dia, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 6 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrvector4, GP_SPMV_csrshort16, GP_SPMV_bin}, /* 6 cases */
  {GP_SPMV_bin, GP_SPMV_csrvector4, GP_SPMV_csrvector8, GP_SPMV_csrshort8}, /* 10 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrshort16, GP_SPMV_bin, GP_SPMV_csrvector8}, /* 10 cases */
  {GP_SPMV_csrvector4, GP_SPMV_csrvector8, GP_SPMV_block, GP_SPMV_dense}, /* 10 cases */
  {GP_SPMV_csrvector2, GP_SPMV_csrshort2, GP_SPMV_bin, GP_SPMV_csrvector8}, /* 12 cases */
  {GP_SPMV_csrvector4, GP_SPMV_csrshort4, GP_SPMV_bin, GP_SPMV_csrvector8}, /* 5 cases */
  {GP_SPMV_hybrid, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrvector32, GP_SPMV_csrshort32, GP_SPMV_bin}, /* 9 cases */
  {GP_SPMV_csrvector8, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_dense}, /* 121 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrvector8, GP_SPMV_csrvector32, GP_SPMV_csrshort16}, /* 17 cases */
  {GP_SPMV_panel, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 6 cases */
  {GP_SPMV_csrvector4, GP_SPMV_csrvector2, GP_SPMV_rowcode, GP_SPMV_dia}, /* 20 cases */
  {GP_SPMV_csrvector8, GP_SPMV_bin, GP_SPMV_csrvector16, GP_SPMV_csrblock}, /* 6 cases */
  {GP_SPMV_panel, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 6 cases */
  {GP_SPMV_bin, GP_SPMV_panel, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 8 cases */
  {GP_SPMV_csrvector2, GP_SPMV_csrscalar, GP_SPMV_seq, GP_SPMV_bin}, /* 9 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 19 cases */
  {GP_SPMV_csrvector32, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_csrvector16}, /* 71 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 17 cases */
  {GP_SPMV_csrvector32, GP_SPMV_dia, GP_SPMV_block, GP_SPMV_dense}, /* 39 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrvector32, GP_SPMV_csrblock, GP_SPMV_bin}, /* 5 cases */
  {GP_SPMV_bin, GP_SPMV_csrblock, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 107 cases */
  {GP_SPMV_bin, GP_SPMV_panel, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 9 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 11 cases */
  {GP_SPMV_bin, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_block}, /* 7 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrshort16, GP_SPMV_bin, GP_SPMV_csrvector8}, /* 22 cases */
  {GP_SPMV_csrvector8, GP_SPMV_csrvector16, GP_SPMV_csrvector4, GP_SPMV_csrshort8}, /* 9 cases */
  {GP_SPMV_csrvector32, GP_SPMV_csrvector16, GP_SPMV_csrshort16, GP_SPMV_bin}, /* 28 cases */
  {GP_SPMV_csrvector32, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_block}, /* 12 cases */
  {GP_SPMV_bin, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_block}, /* 5 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 6 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 9 cases */
  {GP_SPMV_bin, GP_SPMV_csrblock, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_bin, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_block}, /* 83 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 8 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_panel, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 7 cases */
  {GP_SPMV_bin, GP_SPMV_panel, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_csrvector2, GP_SPMV_csrscalar, GP_SPMV_seq, GP_SPMV_sellvendor}, /* 10 cases */
  {GP_SPMV_seq, GP_SPMV_csrshort2, GP_SPMV_csrscalar, GP_SPMV_csrvector2}, /* 11 cases */
  {GP_SPMV_sell, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_sellvendor, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 12 cases */
  {GP_SPMV_csrvector32, GP_SPMV_csrvector16, GP_SPMV_csrvector8, GP_SPMV_csrvector4}, /* 5 cases */
  {GP_SPMV_csrvector8, GP_SPMV_csrvector4, GP_SPMV_sell, GP_SPMV_bin}, /* 6 cases */
  {GP_SPMV_bin, GP_SPMV_csrblock, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 9 cases */
  {GP_SPMV_sell, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 14 cases */
  {GP_SPMV_csrvector16, GP_SPMV_csrvector32, GP_SPMV_hybrid, GP_SPMV_bin}, /* 5 cases */
  {GP_SPMV_panel, GP_SPMV_bin, GP_SPMV_csrsplit, GP_SPMV_csrvector32}, /* 10 cases */
  {GP_SPMV_sellvendor, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 8 cases */
  {GP_SPMV_csrvector4, GP_SPMV_csrvector2, GP_SPMV_csrvector8, GP_SPMV_csrblock}, /* 24 cases */
  {GP_SPMV_csrvector2, GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8}, /* 8 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 10 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 114 cases */
  {GP_SPMV_csrvector32, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_block}, /* 7 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 6 cases */
  {GP_SPMV_bin, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_block}, /* 5 cases */
  {GP_SPMV_bin, GP_SPMV_csrblock, GP_SPMV_csrsplit, GP_SPMV_csrvector8}, /* 12 cases */
  {GP_SPMV_panel, GP_SPMV_bin, GP_SPMV_rowcode, GP_SPMV_dia}, /* 5 cases */
  {GP_SPMV_csrscalar, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_block}, /* 16 cases */
  {GP_SPMV_csrshort8, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 6 cases */
  {GP_SPMV_csrvector8, GP_SPMV_block, GP_SPMV_rowcode, GP_SPMV_dia}, /* 17 cases */
  {GP_SPMV_block, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_block, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 10 cases */
  {GP_SPMV_block, GP_SPMV_bin, GP_SPMV_csrvector4, GP_SPMV_csrvector8}, /* 26 cases */
  {GP_SPMV_bin, GP_SPMV_panel, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 9 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 6 cases */
  {GP_SPMV_bin, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_block}, /* 84 cases */
  {GP_SPMV_csrblock, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_csrsplit, GP_SPMV_bin, GP_SPMV_sell, GP_SPMV_rowcode}, /* 8 cases */
  {GP_SPMV_hub, GP_SPMV_bin, GP_SPMV_rowcode, GP_SPMV_dia}, /* 9 cases */
  {GP_SPMV_csrsplit, GP_SPMV_bin, GP_SPMV_coovendor, GP_SPMV_rowcode}, /* 7 cases */
  {GP_SPMV_csrsplit, GP_SPMV_rowcode, GP_SPMV_dia, GP_SPMV_sell8}, /* 19 cases */
  {GP_SPMV_panel, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 18 cases */
  {GP_SPMV_rowcode, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 8 cases */
  {GP_SPMV_dia, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 10 cases */
  {GP_SPMV_rowcode, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 52 cases */
  {GP_SPMV_panel, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
  {GP_SPMV_block, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 18 cases */
  {GP_SPMV_dia, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 8 cases */
  {GP_SPMV_hybrid, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 8 cases */
  {GP_SPMV_bin, GP_SPMV_dia, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 6 cases */
  {GP_SPMV_dia, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 82 cases */
  {GP_SPMV_csrvector4, GP_SPMV_csrshort4, GP_SPMV_bin, GP_SPMV_csrvector8}, /* 6 cases */
  {GP_SPMV_panel, GP_SPMV_bin, GP_SPMV_csrvector8, GP_SPMV_csrvector32}, /* 5 cases */
};

static const GpSelNode GpSelNodes_h200[] = {
  {GP_SEL_xcache, 1, 98, 0.005586685},
  {GP_SEL_diagonals, 2, 29, 335.5},
  {GP_SEL_rowsperunit, 3, 10, 49.6439},
  {GP_SEL_diagonalfill, 4, 7, 0.8811735},
  {GP_SEL_upto8, 5, 6, 0.9857145},
  {-1, 0, 0, 0},
  {-1, 1, 0, 0},
  {GP_SEL_upto4, 8, 9, 0.000440917},
  {-1, 2, 0, 0},
  {-1, 3, 0, 0},
  {GP_SEL_longshare, 11, 14, 0.00415368},
  {GP_SEL_mean, 12, 13, 9.616595},
  {-1, 4, 0, 0},
  {-1, 5, 0, 0},
  {GP_SEL_rowsperunit, 15, 16, 59.3712},
  {-1, 6, 0, 0},
  {GP_SEL_nnzperunit, 17, 18, 264.197},
  {-1, 7, 0, 0},
  {GP_SEL_sectors, 19, 26, 12.86905},
  {GP_SEL_tilesectors, 20, 25, 0.115628},
  {GP_SEL_block4, 21, 24, 1.000115},
  {GP_SEL_tilesectors, 22, 23, 0.114288},
  {-1, 8, 0, 0},
  {-1, 9, 0, 0},
  {-1, 10, 0, 0},
  {-1, 11, 0, 0},
  {GP_SEL_rowsperunit, 27, 28, 118.246},
  {-1, 12, 0, 0},
  {-1, 13, 0, 0},
  {GP_SEL_deviation, 30, 79, 2.16248},
  {GP_SEL_longshare, 31, 54, 0.02933985},
  {GP_SEL_rowsperunit, 32, 51, 991.2785},
  {GP_SEL_xcache, 33, 46, 0.00414473},
  {GP_SEL_mean, 34, 43, 59.7554},
  {GP_SEL_longshare, 35, 38, 0.006640365},
  {GP_SEL_xcache, 36, 37, 0.003166455},
  {-1, 14, 0, 0},
  {-1, 15, 0, 0},
  {GP_SEL_nnzperunit, 39, 40, 488.2875},
  {-1, 16, 0, 0},
  {GP_SEL_rowsperunit, 41, 42, 62.8068},
  {-1, 17, 0, 0},
  {-1, 18, 0, 0},
  {GP_SEL_nnzperunit, 44, 45, 18562.1},
  {-1, 19, 0, 0},
  {-1, 20, 0, 0},
  {GP_SEL_slicesectors, 47, 50, 26.4217},
  {GP_SEL_mean, 48, 49, 44.5714},
  {-1, 21, 0, 0},
  {-1, 22, 0, 0},
  {-1, 23, 0, 0},
  {GP_SEL_upto8, 52, 53, 0.814867},
  {-1, 24, 0, 0},
  {-1, 25, 0, 0},
  {GP_SEL_upto32, 55, 74, 0.9998835},
  {GP_SEL_diagonalfill, 56, 71, 0.909336},
  {GP_SEL_deviation, 57, 60, 0.452843},
  {GP_SEL_rowsperunit, 58, 59, 4.48106},
  {-1, 26, 0, 0},
  {-1, 27, 0, 0},
  {GP_SEL_nnzperunit, 61, 66, 399.3865},
  {GP_SEL_upto32, 62, 63, 0.7737955},
  {-1, 28, 0, 0},
  {GP_SEL_rowsperunit, 64, 65, 75.89395},
  {-1, 29, 0, 0},
  {-1, 30, 0, 0},
  {GP_SEL_mean, 67, 68, 4.84363},
  {-1, 31, 0, 0},
  {GP_SEL_nnzperunit, 69, 70, 7416.575},
  {-1, 32, 0, 0},
  {-1, 33, 0, 0},
  {GP_SEL_deviation, 72, 73, 0.5601845},
  {-1, 34, 0, 0},
  {-1, 35, 0, 0},
  {GP_SEL_mean, 75, 78, 10.6752},
  {GP_SEL_upto8, 76, 77, 0.947525},
  {-1, 36, 0, 0},
  {-1, 37, 0, 0},
  {-1, 38, 0, 0},
  {GP_SEL_nnzperunit, 80, 81, 283.519},
  {-1, 39, 0, 0},
  {GP_SEL_xcache, 82, 85, 0.000355657},
  {GP_SEL_block2, 83, 84, 0.289295},
  {-1, 40, 0, 0},
  {-1, 41, 0, 0},
  {GP_SEL_mean, 86, 93, 47.6643},
  {GP_SEL_deviation, 87, 90, 2.515525},
  {GP_SEL_longshare, 88, 89, 1.78679},
  {-1, 42, 0, 0},
  {-1, 43, 0, 0},
  {GP_SEL_tilesectors, 91, 92, 0.820339},
  {-1, 44, 0, 0},
  {-1, 45, 0, 0},
  {GP_SEL_xcache, 94, 95, 0.001753555},
  {-1, 46, 0, 0},
  {GP_SEL_near, 96, 97, 0.2562635},
  {-1, 47, 0, 0},
  {-1, 48, 0, 0},
  {GP_SEL_diagonalfill, 99, 170, 0.7611565},
  {GP_SEL_deviation, 100, 157, 4.3448},
  {GP_SEL_block2, 101, 142, 0.4859825},
  {GP_SEL_longest, 102, 123, 1.882035},
  {GP_SEL_slicesectors, 103, 108, 18.41605},
  {GP_SEL_sectors, 104, 105, 27.80145},
  {-1, 49, 0, 0},
  {GP_SEL_rowsperunit, 106, 107, 3677.53},
  {-1, 50, 0, 0},
  {-1, 51, 0, 0},
  {GP_SEL_mean, 109, 118, 45.6376},
  {GP_SEL_uneven, 110, 111, 0.501367},
  {-1, 52, 0, 0},
  {GP_SEL_xcache, 112, 115, 0.010778875},
  {GP_SEL_xcache, 113, 114, 0.007103855},
  {-1, 53, 0, 0},
  {-1, 54, 0, 0},
  {GP_SEL_rowspan16, 116, 117, 0.00166917},
  {-1, 55, 0, 0},
  {-1, 56, 0, 0},
  {GP_SEL_nnzperunit, 119, 120, 19014.35},
  {-1, 57, 0, 0},
  {GP_SEL_upto8, 121, 122, 1.95e-06},
  {-1, 58, 0, 0},
  {-1, 59, 0, 0},
  {GP_SEL_upto8, 124, 141, 0.9952785},
  {GP_SEL_nnzperunit, 125, 138, 37894.55},
  {GP_SEL_longshare, 126, 137, 0.8449495},
  {GP_SEL_mean, 127, 134, 34.52045},
  {GP_SEL_longest, 128, 133, 3.12715},
  {GP_SEL_block3, 129, 130, 0.120013},
  {-1, 60, 0, 0},
  {GP_SEL_upto4, 131, 132, 0.08782935},
  {-1, 61, 0, 0},
  {-1, 62, 0, 0},
  {-1, 63, 0, 0},
  {GP_SEL_longshare, 135, 136, 0.174164},
  {-1, 64, 0, 0},
  {-1, 65, 0, 0},
  {-1, 66, 0, 0},
  {GP_SEL_rowspan16, 139, 140, 0.293416},
  {-1, 67, 0, 0},
  {-1, 68, 0, 0},
  {-1, 69, 0, 0},
  {GP_SEL_rowsperunit, 143, 152, 743.602},
  {GP_SEL_upto32, 144, 149, 0.736651},
  {GP_SEL_sectors, 145, 148, 15.4734},
  {GP_SEL_delta8, 146, 147, 0.999596},
  {-1, 70, 0, 0},
  {-1, 71, 0, 0},
  {-1, 72, 0, 0},
  {GP_SEL_slicesectors, 150, 151, 7.18617},
  {-1, 73, 0, 0},
  {-1, 74, 0, 0},
  {GP_SEL_empty, 153, 156, 1.877365e-05},
  {GP_SEL_longest, 154, 155, 2.108505},
  {-1, 75, 0, 0},
  {-1, 76, 0, 0},
  {-1, 77, 0, 0},
  {GP_SEL_diagonalfill, 158, 169, 0.0280111},
  {GP_SEL_upto32, 159, 168, 0.9999815},
  {GP_SEL_nnzperunit, 160, 167, 85530.85},
  {GP_SEL_mean, 161, 166, 22.89},
  {GP_SEL_longest, 162, 165, 16900.05},
  {GP_SEL_near, 163, 164, 0.805554},
  {-1, 78, 0, 0},
  {-1, 79, 0, 0},
  {-1, 80, 0, 0},
  {-1, 81, 0, 0},
  {-1, 82, 0, 0},
  {-1, 83, 0, 0},
  {-1, 84, 0, 0},
  {GP_SEL_values, 171, 178, 3},
  {GP_SEL_tilesectors, 172, 177, 0.2997585},
  {GP_SEL_nnzperunit, 173, 176, 6628.735},
  {GP_SEL_deviation, 174, 175, 0.04395985},
  {-1, 85, 0, 0},
  {-1, 86, 0, 0},
  {-1, 87, 0, 0},
  {-1, 88, 0, 0},
  {GP_SEL_tilesectors, 179, 182, 0.0442316},
  {GP_SEL_diagonalfill, 180, 181, 0.9997245},
  {-1, 89, 0, 0},
  {-1, 90, 0, 0},
  {GP_SEL_longest, 183, 190, 1.6501},
  {GP_SEL_mean, 184, 185, 4.49134},
  {-1, 91, 0, 0},
  {GP_SEL_padding, 186, 189, 1.015515},
  {GP_SEL_mean, 187, 188, 4.989485},
  {-1, 92, 0, 0},
  {-1, 93, 0, 0},
  {-1, 94, 0, 0},
  {-1, 95, 0, 0},
};

static const GpSelModel GpSelModel_h200 = {"NVIDIA H200", 132, 62914560, "tests/bench/results/2026-11-21-h200/corpus, commit 40e1770", GpSelNodes_h200, GpSelLeaves_h200};
/* clang-format on */
