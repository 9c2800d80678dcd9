/* NCCL, opened with dlopen() at run time, so that one build works with and without it. The declarations below are valid for NCCL 2.9.6 and
   newer. That is the first version whose operations CUDA graphs can capture. */
#include "device/gpnccl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define NCCL_LIBRARY "libnccl.so.2"
#define NCCL_OLDEST  20906 /* 2.9.6; versions before 2.9 have four digits */
#define NCCL_INTEGER 4     /* ncclInt64 */
#define NCCL_DOUBLE  8     /* ncclFloat64 */
#define NCCL_SUM     0     /* ncclSum */

typedef struct {
  char internal[GP_NCCL_ID_BYTES];
} NcclId;

static struct {
  void *handle;
  int   version;
  int (*GetVersion)(int *);
  int (*GetUniqueId)(NcclId *);
  int (*CommInitRank)(GpNccl *, int size, NcclId, int rank);
  int (*CommDestroy)(GpNccl);
  int (*Send)(const void *, size_t, int type, int peer, GpNccl, void *stream);
  int (*Recv)(void *, size_t, int type, int peer, GpNccl, void *stream);
  int (*AllReduce)(const void *, void *, size_t, int type, int op, GpNccl, void *stream);
  int (*GroupStart)(void);
  int (*GroupEnd)(void);
  const char *(*GetErrorString)(int);
} Nccl;

/* Stores the address of a symbol in a function pointer. dlsym() returns an object pointer; POSIX permits this conversion. */
static int NcclFind(const char *name, void *function)
{
  void *symbol = dlsym(Nccl.handle, name);

  memcpy(function, &symbol, sizeof(symbol));
  return symbol != NULL;
}

GpErr GpNcclLoad(int *version, char *why, size_t whylen)
{
  *version = 0;
  if (!Nccl.handle) {
    int complete;

    Nccl.handle = dlopen(NCCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!Nccl.handle) {
      snprintf(why, whylen, "NCCL cannot be opened: %s", dlerror());
      return GP_ERR_NOT_BUILT;
    }
    complete = NcclFind("ncclGetVersion", &Nccl.GetVersion) && NcclFind("ncclGetUniqueId", &Nccl.GetUniqueId) && NcclFind("ncclCommInitRank", &Nccl.CommInitRank) && NcclFind("ncclCommDestroy", &Nccl.CommDestroy) && NcclFind("ncclSend", &Nccl.Send) &&
               NcclFind("ncclRecv", &Nccl.Recv) && NcclFind("ncclAllReduce", &Nccl.AllReduce) && NcclFind("ncclGroupStart", &Nccl.GroupStart) && NcclFind("ncclGroupEnd", &Nccl.GroupEnd) && NcclFind("ncclGetErrorString", &Nccl.GetErrorString);
    if (!complete || Nccl.GetVersion(&Nccl.version) || Nccl.version < NCCL_OLDEST) {
      dlclose(Nccl.handle);
      Nccl.handle = NULL;
      snprintf(why, whylen, "%s is older than NCCL 2.9.6; install a newer NCCL", NCCL_LIBRARY);
      return GP_ERR_NOT_BUILT;
    }
  }
  *version = Nccl.version;
  return GP_SUCCESS;
}

static GpErr NcclCheck(GpDev dev, int code, const char *what)
{
  return code ? GpDevFail(dev, GP_ERR_DEVICE, "NCCL failed while %s: %s (set NCCL_DEBUG=WARN in the environment for details)", what, Nccl.GetErrorString(code)) : GP_SUCCESS;
}

GpErr GpNcclGetId(GpDev dev, unsigned char id[GP_NCCL_ID_BYTES])
{
  NcclId made;
  GpErr  err = NcclCheck(dev, Nccl.GetUniqueId(&made), "creating the identifier of a communicator");

  if (!err) memcpy(id, &made, sizeof(made));
  return err;
}

GpErr GpNcclCreate(GpDev dev, int size, int rank, const unsigned char id[GP_NCCL_ID_BYTES], GpNccl *nccl)
{
  NcclId made;

  memcpy(&made, id, sizeof(made));
  *nccl = NULL;
  return NcclCheck(dev, Nccl.CommInitRank(nccl, size, made, rank), "connecting the GPUs");
}

void GpNcclDestroy(GpNccl *nccl)
{
  if (*nccl) Nccl.CommDestroy(*nccl);
  *nccl = NULL;
}

GpErr GpNcclExchange(GpDev dev, GpNccl nccl, int many, const GpPeers *to, const double *from, const GpPeers *by, double *into)
{
  const size_t k    = (size_t)many;
  int          code = Nccl.GroupStart(), ended;

  if (code) return NcclCheck(dev, code, "starting an exchange");
  for (int p = 0; p < to->n && !code; p++) code = Nccl.Send(from + k * (size_t)to->offset[p], k * (size_t)(to->offset[p + 1] - to->offset[p]), NCCL_DOUBLE, to->rank[p], nccl, GpDevStream(dev));
  for (int p = 0; p < by->n && !code; p++) code = Nccl.Recv(into + k * (size_t)by->offset[p], k * (size_t)(by->offset[p + 1] - by->offset[p]), NCCL_DOUBLE, by->rank[p], nccl, GpDevStream(dev));
  ended = Nccl.GroupEnd(); /* a group that was started must be ended, also after an error */
  return NcclCheck(dev, code ? code : ended, "exchanging boundary entries");
}

GpErr GpNcclSum(GpDev dev, GpNccl nccl, int n, double *const array[], const size_t count[])
{
  int code = Nccl.GroupStart(), ended;

  if (code) return NcclCheck(dev, code, "starting a sum over the ranks");
  for (int k = 0; k < n && !code; k++) code = Nccl.AllReduce(array[k], array[k], count[k], NCCL_DOUBLE, NCCL_SUM, nccl, GpDevStream(dev));
  ended = Nccl.GroupEnd();
  return NcclCheck(dev, code ? code : ended, "summing over the ranks");
}

GpErr GpNcclSumIntegers(GpDev dev, GpNccl nccl, int64_t n, const int64_t *from, int64_t *to)
{
  return NcclCheck(dev, Nccl.AllReduce(from, to, (size_t)n, NCCL_INTEGER, NCCL_SUM, nccl, GpDevStream(dev)), "summing integers over the ranks");
}
