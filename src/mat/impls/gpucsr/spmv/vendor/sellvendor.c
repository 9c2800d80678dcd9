/* Sliced ELL with cuSPARSE's algorithm. */
#include "mat/impls/gpucsr/spmv/vendor/gpvendor.h"

GP_VENDOR_FORMAT(sellvendor, GP_VENDOR_SELL)
