/* Compression that searches for matches, by libdeflate. */
#ifndef DARKROOM_MATCHES_H
#define DARKROOM_MATCHES_H

#include <stddef.h>
#include <stdint.h>

/* Which of libdeflate's levels have been made so far. */
enum { MATCH_LEVELS = 13 };
typedef struct {
    struct libdeflate_compressor *levels[MATCH_LEVELS];
    /* What the compressed bytes are decompressed with, and where to. */
    struct z_stream_s *walker;
    uint8_t *scratch;
} darkroom_matcher;

enum { SCRATCH_BYTES = 32 << 10 };

void darkroom_matcher_free(darkroom_matcher *matcher);

/*
 * Compresses `count` bytes to whole blocks that end on a byte's boundary, none of them the last
 * one. Returns how many bytes that are: 0 where they would be more than `room`, SIZE_MAX where
 * there is no memory.
 */
size_t darkroom_match(
    darkroom_matcher *matcher, int level, const uint8_t *bytes, size_t count, uint8_t *out,
    size_t room);

/* How many bytes that are, about, which takes less time than to have them: `room` where they would be
 * more, SIZE_MAX where there is no memory. */
size_t darkroom_match_size(
    darkroom_matcher *matcher, int level, const uint8_t *bytes, size_t count, uint8_t *out,
    size_t room);

#endif
