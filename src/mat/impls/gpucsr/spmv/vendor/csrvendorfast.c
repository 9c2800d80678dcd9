/* Compressed sparse rows with cuSPARSE's default algorithm. */
#include "mat/impls/gpucsr/spmv/vendor/gpvendor.h"

GP_VENDOR_FORMAT(csrvendorfast, GP_VENDOR_CSR1)
