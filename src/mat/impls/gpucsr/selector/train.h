/* What the parts of train share: the table of measured times, and what is learnt from it.  A program of its own: nothing of the library is in it but
   the names of the features and the terms that are made of them. */
#ifndef TRAIN_H
#define TRAIN_H

#include "mat/impls/gpucsr/selector/gpmodel.h"
#include "mat/impls/gpucsr/selector/gpterms.h"

#include <stddef.h>

#define TRAIN_NAMES 96   /* columns of each sort at most */
#define TRAIN_TREES 100  /* of a model at most */
#define TRAIN_WORST 20.0 /* a loss of this factor is as bad as any */

/* one matrix, or its transpose */
typedef struct {
  char    name[64], family[48], kind[48], side[4];
  int     familyof;
  double  m, n, nnz, selection, transpose;
  double  asked[GP_ASKED]; /* features and terms */
  double *warm, *cold;     /* [kernels] microseconds; 0: not measured */
  double *build;           /* [formats] microseconds; 0: refused */
  double *traffic;         /* [formats] bytes */
  double *time;            /* [kernels] what is learnt from; TRAIN_WORST times the best for hopeless kernels, 0 for refused */
  double  best;            /* of time */
  double  mixed, dbl;      /* the best rival's warm microseconds with float values, with double values; 0: not measured */
} Case;

typedef struct {
  char   gpu[128];
  int    units, cases, room, kernels, formats, families;
  double cache, copyrate;
  int    has[GP_FEATURES]; /* is there a column of this feature? */
  char   kernel[TRAIN_NAMES][48], format[TRAIN_NAMES][32], familyname[TRAIN_NAMES][48];
  int    formatof[TRAIN_NAMES]; /* of a kernel */
  Case  *c;
} Table;

/* traintable.c.  excluded: kernels that are not learnt, separated by commas.  mix: 0 warm times, 1 cold ones, between: their weighted geometric mean */
int         TableRead(Table *T, const char *file, const char *excluded); /* 0: could not; files add up */
const char *TablePrepare(Table *T, double mix);                          /* what is wrong with it, NULL: nothing */
void        TableFree(Table *T);

/* trainsets.c: the thesis's analysis, and which kernels are worth choosing */
void SetsPrint(const Table *T, int largest);
int  SetCover(const Table *T, const int which[], int n, int print, int set[GP_SEL_MODELLED]); /* how many */

/* trainlaw.c */
void LawFit(const Table *T, const int which[], int n, int kernel, double law[GP_TERMS]);

/* trainforest.c, and the model as a whole in trainmodel.c */
typedef struct {
  int    feature, low, high; /* feature: of what is asked, -1: a leaf; low its number */
  double threshold;
} Node;

typedef struct {
  int    trees, depth, least; /* how many, their deepest leaf, the smallest */
  double rate;                /* what a tree takes of what is left */
} Settings;

typedef struct {
  Settings     settings;
  int          candidates, candidate[GP_SEL_MODELLED];
  double       law[GP_SEL_MODELLED][GP_TERMS];
  int          root[TRAIN_TREES], nodes, noderoom, leaves, leafroom;
  Node        *node;
  signed char *leaf; /* [leaves][GP_SEL_MODELLED] in steps of 1/GP_SEL_STEPS */
} Model;

void ForestGrow(Model *M, const Table *T, const int which[], int n, double rest[]); /* rest [n][candidates]: logarithms to be learnt; what is left of them */
void ForestRest(const Model *M, const Case *c, double rest[]);
void ForestFree(Model *M);

void ModelLaws(Model *M, const Table *T, const int which[], int n);                     /* a model without trees */
void ModelTrees(Model *M, const Table *T, const int which[], int n, Settings settings); /* these, or others */
void ModelLearn(Model *M, const Table *T, const int which[], int n, Settings settings);
void ModelTimes(const Model *M, const Case *c, double us[]);   /* microseconds that it expects of the candidates */
int  ModelChoose(const Model *M, const Case *c, int *refused); /* the kernel that the selector ends with; refused: how many before it */
void ModelFree(Model *M);

/* trainheldout.c */
typedef struct {
  double mean, worst, loss, median, over10, refused; /* geometric mean and worst of best/chosen; mean and median loss, share that loses over 10 %; refusals a choice */
  int    fewest, most;                               /* leaves that the models may have */
} Score;

int      SettingsLeaves(Settings settings);
Score    Summarise(double share[], int n); /* of best/chosen; sorts them */
Score    Judge(const Table *T, const int chosen[], const int refused[]);
Settings Tune(const Table *T, const int which[], int n);                             /* by cross-validation among these cases */
Score    HeldOut(const Table *T, const Settings *settings, int kinds, int chosen[]); /* families (kinds); settings NULL: tuned without those held out */

int ModelWrite(const Model *M, const Table *T, const char *path, const char *source); /* trainwrite.c; 0: could not */

#endif
