/* What the parts of train share: the table of measured times, and trees.  A program of its own: nothing of the library is in it. */
#ifndef TRAIN_H
#define TRAIN_H

#include <stddef.h>

#define TRAIN_NAMES   96   /* columns of each sort at most */
#define TRAIN_LEADING 4    /* candidates of a leaf: GP_SEL_LEADING */
#define TRAIN_WORST   20.0 /* a loss of this factor is as bad as any */

/* one matrix, or its transpose */
typedef struct {
  char    name[64], family[48], kind[48], side[4];
  double  m, n, nnz, selection, transpose;
  double *feature;     /* [features] */
  double *warm, *cold; /* [kernels] microseconds; 0: not measured */
  double *build;       /* [formats] microseconds; 0: refused */
  double *traffic;     /* [formats] bytes */
  double *time;        /* [kernels] what is learnt from; TRAIN_WORST times the best for hopeless kernels, 0 for refused */
  double  best;        /* of time */
  double  mixed, dbl;  /* the best rival's warm microseconds with float values, with double values; 0: not measured */
} Case;

typedef struct {
  char   gpu[128];
  int    units, cases, room, features, kernels, formats;
  double cache, copyrate;
  char   feature[TRAIN_NAMES][32], kernel[TRAIN_NAMES][48], format[TRAIN_NAMES][32];
  int    formatof[TRAIN_NAMES];   /* of a kernel */
  int    everywhere[TRAIN_NAMES]; /* does no matrix refuse this kernel? */
  Case  *c;
} Table;

/* traintable.c.  excluded: kernels that are not learnt, separated by commas.  mix: 0 warm times, 1 cold ones, between: their weighted geometric mean */
int  TableRead(Table *T, const char *file, const char *excluded); /* 0: could not; files add up */
void TablePrepare(Table *T, double mix);
void TableFree(Table *T);

/* trainsets.c: the thesis's analysis */
void SetsPrint(const Table *T, int largest);

/* traintree.c */
typedef struct {
  int    feature, low, high; /* feature -1: a leaf */
  double threshold;
  int    leaf[TRAIN_LEADING]; /* kernels, best first; -1: none */
  int    cases;
} Node;

typedef struct {
  Node *node;
  int   nodes, room;
} Tree;

typedef struct {
  int    depth, least; /* deepest leaf, and smallest */
  double gain;         /* of a split, relative to the root's penalty, at least */
} Limits;

void TreeGrow(Tree *tree, const Table *T, const int which[], int n, Limits limits);
void TreeFree(Tree *tree);
int  TreeChoose(const Tree *tree, const Table *T, const Case *c, int *refused); /* the kernel that the selector ends with; refused: how many before it */
int  TreeLeaves(const Tree *tree);

#endif
