#ifndef DARKROOM_CODEC_WEBP_H
#define DARKROOM_CODEC_WEBP_H

#include "darkroom_codec.h"

void webp_decode(darkroom_codec_call *call);
void webp_encode(darkroom_codec_call *call);

#endif
