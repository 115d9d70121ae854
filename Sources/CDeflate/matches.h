/* The smallest result of a search for matches, by libdeflate. */
#ifndef DARKROOM_MATCHES_H
#define DARKROOM_MATCHES_H

#include <darkroom_strip.h>
#include <stddef.h>
#include <stdint.h>

/* Members are created when they are first needed. */
typedef struct {
    struct libdeflate_compressor *compressor;
    /* The decompressor for the compressed bytes, and its output. */
    struct z_stream_s *walker;
    uint8_t *scratch;
} darkroom_matcher;

void darkroom_matcher_free(darkroom_matcher *matcher);

/*
 * Compresses `count` bytes to whole blocks that end at a byte boundary, none of them the last one. Sets
 * `written` to their size in bytes, or to 0 if they do not fit into `room`.
 */
darkroom_strip_result darkroom_match(
    darkroom_matcher *matcher, const uint8_t *bytes, size_t count, uint8_t *out, size_t room,
    size_t *written);

#endif
