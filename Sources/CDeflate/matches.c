#include "matches.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

void darkroom_matcher_free(darkroom_matcher *matcher)
{
    for (int level = 0; level < MATCH_LEVELS; level++)
        if (matcher->levels[level] != NULL)
            libdeflate_free_compressor(matcher->levels[level]);
    if (matcher->walker != NULL) {
        inflateEnd(matcher->walker);
        free(matcher->walker);
    }
    free(matcher->scratch);
    memset(matcher, 0, sizeof *matcher);
}

static int make_walker(darkroom_matcher *matcher)
{
    if (matcher->scratch == NULL)
        matcher->scratch = malloc(SCRATCH_BYTES);
    if (matcher->scratch == NULL)
        return 0;
    if (matcher->walker != NULL)
        return inflateReset(matcher->walker) == Z_OK;
    z_stream *walker = calloc(1, sizeof *walker);
    if (walker == NULL)
        return 0;
    if (inflateInit2(walker, -MAX_WBITS) != Z_OK) {
        free(walker);
        return 0;
    }
    matcher->walker = walker;
    return 1;
}

/* Finds the first bit of the last block, and the one after its end. zlib stops at the boundaries of
 * blocks and tells how many bits of the last byte it has not used. */
static int find_last_block(
    darkroom_matcher *matcher, uint8_t *bytes, size_t count, size_t *start, size_t *end)
{
    if (!make_walker(matcher))
        return 0;
    z_stream *walker = matcher->walker;
    walker->next_in = bytes;
    *start = 0;
    for (size_t given = 0;;) {
        if (walker->avail_in == 0 && given < count) {
            const size_t piece = count - given < (1u << 30) ? count - given : 1u << 30;
            walker->next_in = bytes + given;
            walker->avail_in = (uInt)piece;
            given += piece;
        }
        walker->next_out = matcher->scratch;
        walker->avail_out = SCRATCH_BYTES;
        if (inflate(walker, Z_BLOCK) != Z_OK)
            return 0;
        const int at_boundary = (walker->data_type & 128) != 0;
        const int in_last = (walker->data_type & 64) != 0;
        if (!at_boundary)
            continue;
        const size_t used = (size_t)(walker->next_in - bytes);
        const size_t place = 8 * used - (size_t)(walker->data_type & 7);
        if (in_last) {
            *end = place;
            return 1;
        }
        *start = place;
    }
}

static struct libdeflate_compressor *compressor(darkroom_matcher *matcher, int level)
{
    if (matcher->levels[level] == NULL)
        matcher->levels[level] = libdeflate_alloc_compressor(level);
    return matcher->levels[level];
}

size_t darkroom_match_size(
    darkroom_matcher *matcher, int level, const uint8_t *bytes, size_t count, uint8_t *out,
    size_t room)
{
    struct libdeflate_compressor *with = compressor(matcher, level);
    if (with == NULL)
        return SIZE_MAX;
    const size_t length = libdeflate_deflate_compress(with, bytes, count, out, room);
    return length == 0 ? room : length;
}

size_t darkroom_match(
    darkroom_matcher *matcher, int level, const uint8_t *bytes, size_t count, uint8_t *out,
    size_t room)
{
    enum { ALIGNMENT = 5 }; /* an empty stored block of at most three bits more than four bytes */
    struct libdeflate_compressor *with = compressor(matcher, level);
    if (with == NULL)
        return SIZE_MAX;
    if (room <= ALIGNMENT)
        return 0;
    const size_t length =
        libdeflate_deflate_compress(with, bytes, count, out, room - ALIGNMENT);
    if (length == 0)
        return 0;
    size_t start, end;
    if (!find_last_block(matcher, out, length, &start, &end))
        return SIZE_MAX;
    out[start / 8] &= (uint8_t)~(1u << start % 8);
    /* The three bits of the stored block's header are 0, as is what fills the last byte. */
    size_t at = (end + 3 + 7) / 8;
    out[length] = 0;
    out[at++] = 0;
    out[at++] = 0;
    out[at++] = 0xff;
    out[at++] = 0xff;
    return at;
}
