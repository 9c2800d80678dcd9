/* Coordinates (COO) with cuSPARSE's default algorithm. */
#include "mat/impls/gpucsr/spmv/vendor/gpvendor.h"

GP_VENDOR_FORMAT(coovendorfast, GP_VENDOR_COO1)
