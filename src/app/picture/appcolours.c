/* The colours of pictures. */
#include "app/picture/apppainter.h"

static const char *const RGB[GP_APP_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9", "#000000", "#808080", "#e0e0e0", "#ffffff"};

/* Returns a colour as #rrggbb. */
const char *GpAppPainterGetRGB(GpAppColour colour)
{
  return RGB[colour];
}
