/* x in constant memory, for El Zein's variants that read it from there. Only one product at a time may use this memory; products on one stream run
   one after another. */
#ifndef GPCONSTANT_H
#define GPCONSTANT_H

#include "mat/impls/gpucsr/spmv/published/gpseeds.h"
#include "mat/impls/gpucsr/spmv/common/gpkernel.h"

__constant__ static double Constant[GP_SMALL_COLUMNS];

struct FromConstant {
  __device__ double operator()(int32_t j) const { return Constant[j]; }
};

static GpErr ToConstant(const GpCsr *C, const double *x)
{
  const cudaError_t code = C->n ? cudaMemcpyToSymbolAsync(Constant, x, (size_t)C->n * sizeof(double), 0, cudaMemcpyDeviceToDevice, (cudaStream_t)GpDevStream(C->dev)) : cudaSuccess;

  return code == cudaSuccess ? GP_SUCCESS : GpDevFail(C->dev, GP_ERR_DEVICE, "cannot copy x to constant memory: %s", cudaGetErrorString(code));
}

#endif
