/* The scan and the stable sort that builders of formats use between steps (gpsteps.h). */
#include "device/gpsteps.h"

#if !defined(__CUDACC__)
  #include <stdlib.h>
  #include <string.h>

GpErr GpScan_Host(GpDev dev, int64_t n, int32_t *inout)
{
  int32_t sum = 0;

  (void)dev;
  for (int64_t i = 0; i <= n; i++) {
    const int32_t own = inout[i];

    inout[i] = sum;
    if (i < n) sum += own;
  }
  return GP_SUCCESS;
}

/* Radix sort, least significant digit first. The passes alternate between two pairs of arrays. */
GpErr GpSort_Host(GpDev dev, int64_t n, int bits, uint32_t *keys, int32_t *values)
{
  enum {
    DIGIT = 11,
    MANY  = 1 << DIGIT
  };
  uint32_t *k = (uint32_t *)malloc((size_t)n * sizeof(*k) + 1), *kfrom = keys, *kto = k;
  int32_t  *v = (int32_t *)malloc((size_t)n * sizeof(*v) + 1), *vfrom = values, *vto = v;
  GpErr     err = k && v ? GP_SUCCESS : GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a sort");

  for (int shift = 0; !err && shift < bits; shift += DIGIT) {
    int64_t start[MANY + 1] = {0};

    for (int64_t i = 0; i < n; i++) start[(kfrom[i] >> shift & (MANY - 1)) + 1]++;
    for (int b = 0; b < MANY; b++) start[b + 1] += start[b];
    for (int64_t i = 0; i < n; i++) {
      const int64_t at = start[kfrom[i] >> shift & (MANY - 1)]++;

      kto[at] = kfrom[i];
      vto[at] = vfrom[i];
    }
    kfrom = kto;
    kto   = kfrom == k ? keys : k;
    vfrom = vto;
    vto   = vfrom == v ? values : v;
  }
  if (kfrom != keys) {
    memcpy(keys, kfrom, (size_t)n * sizeof(*k));
    memcpy(values, vfrom, (size_t)n * sizeof(*v));
  }
  free(k);
  free(v);
  return err;
}

#else
  #include <cub/device/device_radix_sort.cuh>
  #include <cub/device/device_scan.cuh>

extern "C" GpErr GpScan_CUDA(GpDev dev, int64_t n, int32_t *inout)
{
  cudaStream_t stream = (cudaStream_t)GpDevStream(dev);
  size_t       bytes  = 0;
  void        *temp   = NULL;
  GpErr        err    = GpCheckCuda(dev, cub::DeviceScan::ExclusiveSum(NULL, bytes, inout, inout, n + 1, stream), "sizing a scan");

  if (!err) err = GpDevBorrow(dev, bytes, &temp);
  if (err) return err;
  err = GpCheckCuda(dev, cub::DeviceScan::ExclusiveSum(temp, bytes, inout, inout, n + 1, stream), "scanning");
  GpDevMarkMatrixWrite(dev);
  GpDevReturn(dev, &temp, bytes);
  return err;
}

extern "C" GpErr GpSort_CUDA(GpDev dev, int64_t n, int bits, uint32_t *keys, int32_t *values)
{
  cudaStream_t                stream = (cudaStream_t)GpDevStream(dev);
  const size_t                each = (size_t)n * sizeof(int32_t), other = (each + 255) / 256 * 256;
  size_t                      bytes = 0;
  char                       *temp  = NULL;
  cub::DoubleBuffer<uint32_t> k(keys, keys);
  cub::DoubleBuffer<int32_t>  v(values, values);
  GpErr                       err;

  if (n < 2 || !bits) return GP_SUCCESS;
  err = GpCheckCuda(dev, cub::DeviceRadixSort::SortPairs(NULL, bytes, k, v, n, 0, bits, stream), "sizing a sort");
  if (err) return err;
  bytes += 2 * other;
  err = GpDevBorrow(dev, bytes, &temp);
  if (err) return err;
  size_t rest    = bytes - 2 * other;
  k.d_buffers[1] = (uint32_t *)temp;
  v.d_buffers[1] = (int32_t *)(temp + other);
  err            = GpCheckCuda(dev, cub::DeviceRadixSort::SortPairs(temp + 2 * other, rest, k, v, n, 0, bits, stream), "sorting");
  GpDevMarkMatrixWrite(dev);
  if (!err && k.Current() != keys) err = GpDevCopyWithin(dev, keys, k.Current(), each);
  if (!err && v.Current() != values) err = GpDevCopyWithin(dev, values, v.Current(), each);
  GpDevReturn(dev, &temp, bytes);
  return err;
}
#endif
