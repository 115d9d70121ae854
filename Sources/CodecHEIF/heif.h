#ifndef DARKROOM_CODEC_HEIF_H
#define DARKROOM_CODEC_HEIF_H

#include <libheif/heif.h>

#include "darkroom_codec.h"

void heif_codec_decode(darkroom_codec_call *call);
void heif_codec_encode(darkroom_codec_call *call);

/* The depth and the chroma (420, 422 or 444) of the picture that is encoded next. */
void heif_codec_expect(unsigned bits, unsigned chroma);

#endif
