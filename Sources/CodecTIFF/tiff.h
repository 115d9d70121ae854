#ifndef DARKROOM_CODEC_TIFF_H
#define DARKROOM_CODEC_TIFF_H

#include <tiffio.h>

#include "darkroom_codec.h"

/* The last thing that libtiff said was wrong; "" for nothing. */
extern char tiff_words[DARKROOM_CODEC_TEXT];

void tiff_decode(darkroom_codec_call *call);
void tiff_encode(darkroom_codec_call *call);

#endif
