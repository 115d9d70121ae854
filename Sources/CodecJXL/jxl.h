#ifndef DARKROOM_CODEC_JXL_H
#define DARKROOM_CODEC_JXL_H

#include "darkroom_codec.h"

void jxl_decode(darkroom_codec_call *call);
void jxl_encode(darkroom_codec_call *call);

#endif
