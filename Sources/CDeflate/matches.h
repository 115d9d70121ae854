/* The smallest that a search for matches makes, by libdeflate. */
#ifndef DARKROOM_MATCHES_H
#define DARKROOM_MATCHES_H

#include <darkroom_strip.h>
#include <stddef.h>
#include <stdint.h>

/* What is made when it is first needed. */
typedef struct {
    struct libdeflate_compressor *compressor;
    /* What the compressed bytes are decompressed with, and where to. */
    struct z_stream_s *walker;
    uint8_t *scratch;
} darkroom_matcher;

void darkroom_matcher_free(darkroom_matcher *matcher);

/*
 * Compresses `count` bytes to whole blocks that end on a byte's boundary, none of them the last
 * one. Tells in `written` how many bytes that are: 0 where they would be more than `room`.
 */
darkroom_strip_result darkroom_match(
    darkroom_matcher *matcher, const uint8_t *bytes, size_t count, uint8_t *out, size_t room,
    size_t *written);

#endif
