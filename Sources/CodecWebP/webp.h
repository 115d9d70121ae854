#ifndef DARKROOM_CODEC_WEBP_H
#define DARKROOM_CODEC_WEBP_H

#include <webp/decode.h>
#include <webp/encode.h>

#include "darkroom_codec.h"

void webp_decode(darkroom_codec_call *call);
/* Says the rows of a lossy picture without alpha, with its sides divided by 2, 4 or 8. `header` is of the whole picture. */
void webp_say_reduced(
    darkroom_codec_call *call, const uint8_t *bytes, size_t count, const darkroom_codec_header *header, uint32_t divisor);
_Noreturn void webp_fail(darkroom_codec_call *call, VP8StatusCode status, bool is_whole);
void webp_encode(darkroom_codec_call *call);

/* A picture whose rows become brightness and colour while they come. */
typedef struct {
    WebPPicture *picture;
    uint32_t channels;
    bool has_alpha;
    /* Whether a pixel so far is not opaque. */
    bool is_transparent;
    /* A row that waits for the next one, which has the same colours. */
    uint8_t *kept;
    bool has_kept;
    uint16_t *averages;
    uint32_t done;
} webp_planes;

/* Makes tables, which all children then have. In the waiting process. */
void webp_prepare(void);
/* The sides of the picture must be set. */
void webp_begin_planes(
    darkroom_codec_call *call, webp_planes *planes, WebPPicture *picture, const darkroom_codec_header *header);
void webp_add_rows(webp_planes *planes, const uint8_t *rows, uint32_t count);
void webp_end_planes(webp_planes *planes);

#endif
