#ifndef DARKROOM_CODEC_HEIF_H
#define DARKROOM_CODEC_HEIF_H

#include <libheif/heif.h>

#include "darkroom_codec.h"

void heif_codec_decode(darkroom_codec_call *call);
void heif_codec_encode(darkroom_codec_call *call);

/* What is encoded next. */
typedef struct {
    unsigned bits;
    /* 420, 422 or 444. */
    unsigned chroma;
    /* Whether libaom may look for parts that repeat, for which the daemon then has reserved memory. */
    bool searches_repetition;
} heif_expectation;

void heif_codec_expect(heif_expectation expected);

/* Before and after an HEVC picture is decoded: what libde265 warned of fails the picture. */
void heif_codec_begin_hevc(void);
void heif_codec_check_hevc(darkroom_codec_call *call);

/* The library's function of a name that the program has, too; NULL if it is not loaded. */
void *heif_codec_function(const char *name, const char *library);

#endif
