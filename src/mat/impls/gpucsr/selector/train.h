/* What the parts of train share: the table of measured times, and what is learnt from it.  A program of its own: nothing of the library is in it but
   the names of the features and the terms that are made of them. */
#ifndef TRAIN_H
#define TRAIN_H

#include "mat/impls/gpucsr/selector/gpmodel.h"
#include "mat/impls/gpucsr/selector/gpterms.h"

#include <stddef.h>

#define TRAIN_NAMES 96   /* columns of each sort at most */
#define TRAIN_WORST 20.0 /* a loss of this factor is as bad as any */
#define TRAIN_CLOSE 0.15 /* relative errors of a time below this are as good as none */

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

typedef struct {
  int    candidates, candidate[GP_SEL_MODELLED];
  double law[GP_SEL_MODELLED][GP_TERMS];
} Model;

void   LawFit(const Table *T, const int which[], int n, int kernel, double law[GP_TERMS]); /* trainlaw.c: to the kernel's times */
double LawNearness(const Case *c, int kernel);                                             /* how much a time counts: 1 for the best, 0 for one that was not measured */
void   LawsTogether(Model *M, const Table *T, const int which[], int n);                   /* traintogether.c: to what a choice by all laws loses */

/* trainmodel.c */
void ModelLearn(Model *M, const Table *T, const int which[], int n, int together);
int  ModelChoose(const Model *M, const Case *c, int *refused); /* the kernel that the selector ends with; refused: how many before it */

/* trainheldout.c */
typedef struct {
  double mean, worst, loss, median, over10, refused; /* geometric mean and worst of best/chosen; mean and median loss, share that loses over 10 %; refusals a choice */
} Score;

Score Summarise(double share[], int n); /* of best/chosen; sorts them */
Score Judge(const Table *T, const int chosen[], const int refused[]);
Score HeldOut(const Table *T, int together, int kinds, int chosen[]); /* families (kinds) */

int ModelWrite(const Model *M, const Table *T, const char *path, const char *source); /* trainwrite.c; 0: could not */

#endif
