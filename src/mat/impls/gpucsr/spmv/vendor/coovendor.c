/* Coordinates (COO) with cuSPARSE's deterministic algorithm. */
#include "mat/impls/gpucsr/spmv/vendor/gpvendor.h"

GP_VENDOR_FORMAT(coovendor, GP_VENDOR_COO2)
