/* Launches of products. A product reads its matrix before GpWait(), so it is launched early only if no kernel that may write a matrix still runs.
   GpDevPlanLaunch() decides this for all launches; gpucsrdevice.cuh has those of other kernels. */
#ifndef GPLAUNCH_H
#define GPLAUNCH_H

#include "device/gpdevice.h"

/* Allows the successor at the start of a kernel if `how` says so. With TELLS, ordinary launches allow it too: they begin after all earlier work,
   so a successor that a program launches early may start at once. This slows a kernel of many blocks a little. */
template <bool TELLS = false>
__device__ static inline void GpBegin(GpHow how)
{
  if (how == GP_BRIEF || (TELLS && how == GP_ALONE)) GpNextMayStart();
}

/* Launches a product. The kernel is compiled in two variants. Variant `early` calls GpWait() before it touches a vector; variant `alone` omits
   the wait and is for ordinary launches. The first parameter of both says how the kernel was launched. */
template <class... Parameters, class... Arguments>
static GpErr GpLaunchProduct(GpDev dev, const char *name, void (*alone)(GpHow, Parameters...), void (*early)(GpHow, Parameters...), const GpGrid &grid, const Arguments &...arguments)
{
  void       *stream;
  const GpHow how = GpDevPlanLaunch(dev, GP_LAUNCH_PRODUCT, grid.blocks.x, grid.brief, &stream);

  return GpLaunchOnStream(dev, name, stream, how != GP_ALONE, how != GP_ALONE ? early : alone, grid, how, arguments...);
}

#endif
