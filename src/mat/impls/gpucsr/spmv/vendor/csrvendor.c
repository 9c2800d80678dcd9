/* Compressed sparse rows with cuSPARSE's deterministic algorithm. */
#include "mat/impls/gpucsr/spmv/vendor/gpvendor.h"

GP_VENDOR_FORMAT(csrvendor, GP_VENDOR_CSR2)
