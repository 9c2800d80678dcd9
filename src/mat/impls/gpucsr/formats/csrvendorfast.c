/* cuSPARSE on compressed sparse rows, its default algorithm. */
#include "mat/impls/gpucsr/formats/gpvendor.h"

GP_VENDOR_FORMAT(csrvendorfast, GP_VENDOR_CSR1)
