/* The order of work on the device: streams, the rule for early launches, graphs, and numbers that the host polls. */
#include "device/gpdeviceimpl.h"

#include <stdlib.h>
#include <string.h>

void GpDevSetStream(GpDev dev, void *stream)
{
  if (dev->depth) dev->below[0] = stream;
  else dev->stream = stream;
}

GpErr GpDevPushStream(GpDev dev, GpDevStreamKind which)
{
  if (dev->depth == GP_DEV_STREAMS) return GpDevFail(dev, GP_ERR_ARGUMENT, "more than %d streams were pushed; pop each of them, after errors too", GP_DEV_STREAMS);
  dev->below[dev->depth++] = dev->stream;
  dev->stream              = dev->own[which];
  return GP_SUCCESS;
}

GpErr GpDevPopStream(GpDev dev)
{
  if (!dev->depth) return GpDevFail(dev, GP_ERR_ARGUMENT, "no stream is pushed that could be popped");
  dev->stream = dev->below[--dev->depth];
  return GP_SUCCESS;
}

/* --- launches: the only place that knows when a product may be launched early ----------------------------------------------------- */

void GpDevMarkMatrixWrite(GpDev dev)
{
  dev->early_stream = dev;
}

/* A product that waits for all earlier work on its stream also waits for every kernel that may have written a matrix. Later products on this stream may therefore be
   launched early, until another kernel may write a matrix. */
GpHow GpDevPlanLaunch(GpDev dev, GpLaunchRule rule, unsigned blocks, int brief, void **stream)
{
  int early = dev->launches_early;

  *stream = dev->stream;
  if (rule == GP_LAUNCH_PRODUCT) {
    early             = early && dev->early_stream == dev->stream;
    dev->early_stream = dev->stream;
    return !early ? GP_ALONE : brief || blocks <= (unsigned)dev->compute_units ? GP_BRIEF : GP_EARLY;
  }
  if (rule == GP_LAUNCH_ANY || rule == GP_LAUNCH_EARLY_ANY) GpDevMarkMatrixWrite(dev);
  return early && (rule == GP_LAUNCH_EARLY || rule == GP_LAUNCH_EARLY_ANY) ? GP_EARLY : GP_ALONE;
}

/* --- graphs ------------------------------------------------------------------------------------------------------------------------ */

struct GpGraph_ {
  void    *exec; /* a cudaGraphExec_t */
  uint64_t loop; /* handle with which a kernel ends the repetition; 0: the graph does not repeat */
};

/* A graph launch waits for all earlier work on the stream, so the first product of a graph may be launched early. In a graph that repeats, that
   product follows the last kernel of the previous pass, which may have written what a later kernel reads before it waits. */
GpErr GpGraphCaptureBegin(GpDev dev, int repeats)
{
  GpErr err = GpDevPushStream(dev, GP_DEV_STREAM_OWN);

  if (err) return err;
  dev->capture_repeats = repeats;
  dev->early_stream    = repeats ? (void *)dev : dev->stream;
  err                  = dev->ops->graph_begin(dev);
  if (err) (void)GpDevPopStream(dev);
  dev->capturing       = !err;
  dev->capture_refused = 0;
  return err;
}

int GpGraphRefuse(GpDev dev)
{
  dev->capture_refused = dev->capturing;
  return dev->capturing;
}

GpErr GpGraphCaptureEnd(GpDev dev, GpGraph *graph)
{
  void    *exec = NULL;
  uint64_t loop = 0;
  GpErr    err;

  if (graph) *graph = NULL;
  err            = dev->ops->graph_end(dev, dev->capture_repeats, &exec, &loop);
  dev->capturing = 0;
  GpDevMarkMatrixWrite(dev);
  (void)GpDevPopStream(dev);
  if (!err && graph && !dev->capture_refused) {
    *graph = (GpGraph)calloc(1, sizeof(**graph));
    if (!*graph) err = GpDevFail(dev, GP_ERR_MEMORY, "out of host memory for a graph");
  }
  if (graph && *graph) {
    (*graph)->exec = exec;
    (*graph)->loop = loop;
  } else if (exec) dev->ops->graph_destroy(dev, exec);
  return err;
}

GpErr GpGraphLaunch(GpDev dev, GpGraph graph)
{
  return dev->ops->graph_launch(dev, graph->exec);
}

uint64_t GpGraphGetLoop(GpGraph graph)
{
  return graph->loop;
}

void GpGraphDestroy(GpDev dev, GpGraph *graph)
{
  if (!*graph) return;
  dev->ops->graph_destroy(dev, (*graph)->exec);
  free(*graph);
  *graph = NULL;
}

/* --- numbers that the host polls ---------------------------------------------------------------------------------------------------- */

void GpWatchReset(double *places, size_t n)
{
  const int64_t empty = GP_WATCH_EMPTY;

  for (size_t k = 0; k < n; k++) memcpy(&places[k], &empty, sizeof(empty));
}

GpErr GpWatchPoll(GpDev dev, const double *place)
{
  for (uint32_t polls = 1; GpWatchIsEmpty(place); polls++) {
    int   idle = 0;
    GpErr err;

    if (polls % 16384) continue;
    err = dev->ops->poll(dev, &idle);
    if (err) return err;
    if (idle && GpWatchIsEmpty(place)) return GpDevFail(dev, GP_ERR_DEVICE, "a kernel finished without writing its result");
  }
  return GP_SUCCESS;
}
