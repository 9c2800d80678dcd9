/* Services that the programs share. */
#ifndef GPUCSR_APP_H
#define GPUCSR_APP_H

#include "app/binary/appbinary.h"
#include "app/output/appoutput.h"
#include "app/picture/appplot.h"
#include "app/report/approunding.h"
#include "app/report/appstreamed.h"
#include "app/text/apptext.h"

#endif
