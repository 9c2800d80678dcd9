/* The tables of assignments and updates, made from assign.def and update.def. */
#include "kmeansdata.h"

#if GP_HAVE_CUDA
  #define KMEANS_RUN(name) \
    { \
      [GP_DEV_HOST] = name##_Host, [GP_DEV_CUDA] = name##_CUDA \
    }
#else
  #define KMEANS_RUN(name) \
    { \
      [GP_DEV_HOST] = name##_Host \
    }
#endif

#define KMEANS_VARIANT(name, group, help) GP_PAIR(KMeansAssign_##name, const KMeansData *);
#include "assign.def"
#undef KMEANS_VARIANT
#define KMEANS_VARIANT(name, group, help) GP_PAIR(KMeansUpdate_##name, const KMeansData *);
#include "update.def"
#undef KMEANS_VARIANT

const KMeansVariant KMeansAssignTable[KMEANS_ASSIGNS] = {
#define KMEANS_VARIANT(name, group, help) [KMEANS_ASSIGN_##name] = {#name, help, group, KMEANS_RUN(KMeansAssign_##name)},
#include "assign.def"
#undef KMEANS_VARIANT
};

const KMeansVariant KMeansUpdateTable[KMEANS_UPDATES] = {
#define KMEANS_VARIANT(name, group, help) [KMEANS_UPDATE_##name] = {#name, help, group, KMEANS_RUN(KMeansUpdate_##name)},
#include "update.def"
#undef KMEANS_VARIANT
};
