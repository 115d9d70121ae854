#include "matches.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    /* The last but one level. The last one takes much longer and gains almost nothing. */
    LEVEL = 11,
    SCRATCH_BYTES = 32 << 10,
};

void darkroom_matcher_free(darkroom_matcher *matcher)
{
    libdeflate_free_compressor(matcher->compressor);
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
    /* If there is one, its state is suitable for inflateReset. */
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

/* Finds the first bit of the last block, and the bit after its end. zlib stops at the boundaries of blocks
 * and returns how many bits of the last byte it has not used. */
static darkroom_strip_result find_last_block(
    darkroom_matcher *matcher, uint8_t *bytes, size_t count, size_t *start, size_t *end)
{
    if (!make_walker(matcher))
        return DARKROOM_STRIP_MEMORY;
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
        /* zlib allocates its window only here. */
        const int status = inflate(walker, Z_BLOCK);
        if (status != Z_OK)
            return status == Z_MEM_ERROR ? DARKROOM_STRIP_MEMORY : DARKROOM_STRIP_BROKEN;
        const int at_boundary = (walker->data_type & 128) != 0;
        const int in_last = (walker->data_type & 64) != 0;
        if (!at_boundary)
            continue;
        const size_t used = (size_t)(walker->next_in - bytes);
        const size_t place = 8 * used - (size_t)(walker->data_type & 7);
        if (in_last) {
            *end = place;
            return DARKROOM_STRIP_OK;
        }
        *start = place;
    }
}

darkroom_strip_result darkroom_match(
    darkroom_matcher *matcher, const uint8_t *bytes, size_t count, uint8_t *out, size_t room,
    size_t *written)
{
    enum { ALIGNMENT = 5 }; /* an empty stored block of at most three bits more than four bytes */
    *written = 0;
    if (matcher->compressor == NULL)
        matcher->compressor = libdeflate_alloc_compressor(LEVEL);
    if (matcher->compressor == NULL)
        return DARKROOM_STRIP_MEMORY;
    if (room <= ALIGNMENT)
        return DARKROOM_STRIP_OK;
    const size_t length =
        libdeflate_deflate_compress(matcher->compressor, bytes, count, out, room - ALIGNMENT);
    if (length == 0)
        return DARKROOM_STRIP_OK;
    size_t start, end;
    const darkroom_strip_result result = find_last_block(matcher, out, length, &start, &end);
    if (result != DARKROOM_STRIP_OK)
        return result;
    out[start / 8] &= (uint8_t)~(1u << start % 8);
    /* The three bits of the stored block's header are 0, and so are the bits that fill the last byte. */
    size_t at = (end + 3 + 7) / 8;
    out[length] = 0;
    out[at++] = 0;
    out[at++] = 0;
    out[at++] = 0xff;
    out[at++] = 0xff;
    *written = at;
    return DARKROOM_STRIP_OK;
}
