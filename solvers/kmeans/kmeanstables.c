/* The tables of assignments and updates, made from assign.def and update.def, and the selection of an assignment. */
#include "kmeansdata.h"

#define KMEANS_RUN_host(name) \
  { \
    [GP_DEV_HOST] = name##_Host \
  }
#if GP_HAVE_CUDA
  #define KMEANS_RUN_all(name) \
    { \
      [GP_DEV_HOST] = name##_Host, [GP_DEV_CUDA] = name##_CUDA \
    }
#else
  #define KMEANS_RUN_all(name) KMEANS_RUN_host(name)
#endif

#define KMEANS_VARIANT(name, group, where, help) GP_PAIR(KMeansAssign_##name, const KMeansData *);
#include "assign.def"
#undef KMEANS_VARIANT
#define KMEANS_VARIANT(name, group, where, help) GP_PAIR(KMeansUpdate_##name, const KMeansData *);
#include "update.def"
#undef KMEANS_VARIANT

const KMeansVariant KMeansAssignTable[KMEANS_ASSIGNS] = {
#define KMEANS_VARIANT(name, group, where, help) [KMEANS_ASSIGN_##name] = {#name, help, group, 0, KMEANS_RUN_##where(KMeansAssign_##name)},
#include "assign.def"
#undef KMEANS_VARIANT
};

const KMeansVariant KMeansUpdateTable[KMEANS_UPDATES] = {
#define KMEANS_VARIANT(name, properties, where, help) [KMEANS_UPDATE_##name] = {#name, help, 0, properties, KMEANS_RUN_##where(KMeansUpdate_##name)},
#include "update.def"
#undef KMEANS_VARIANT
};
