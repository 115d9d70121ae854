#ifndef DARKROOM_CODEC_WEBP_H
#define DARKROOM_CODEC_WEBP_H

#include <webp/decode.h>

#include "darkroom_codec.h"

void webp_decode(darkroom_codec_call *call);
/* Says the rows of a lossy picture without alpha, with its sides divided by 2, 4 or 8. `header` is of the whole picture. */
void webp_say_reduced(
    darkroom_codec_call *call, const uint8_t *bytes, size_t count, const darkroom_codec_header *header, uint32_t divisor);
_Noreturn void webp_fail(darkroom_codec_call *call, VP8StatusCode status, bool is_whole);
void webp_encode(darkroom_codec_call *call);

#endif
