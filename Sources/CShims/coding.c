#include "darkroom_coding.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

enum { WINDOW = 15, GZIP = 16, GZIP_FIRST = 0x1F, GZIP_MAGIC = 2 };

struct darkroom_coding {
    z_stream stream;
    bool is_gzip;
    bool is_open;   /* the stream is initialised */
    bool is_begun;  /* something has been taken */
    bool is_at_end; /* a file or stream has ended, and nothing behind it has been taken */
    bool is_later;  /* another file has ended before this one */
    uint8_t first;  /* the first byte of deflate, until the second one says what it is */
};

darkroom_coding *darkroom_coding_new(bool is_gzip)
{
    darkroom_coding *coding = calloc(1, sizeof *coding);
    if (coding == NULL)
        return NULL;
    coding->is_gzip = is_gzip;
    if (is_gzip) {
        coding->is_open = inflateInit2(&coding->stream, WINDOW + GZIP) == Z_OK;
        if (!coding->is_open) {
            free(coding);
            return NULL;
        }
    }
    return coding;
}

void darkroom_coding_free(darkroom_coding *coding)
{
    if (coding != NULL && coding->is_open)
        inflateEnd(&coding->stream);
    free(coding);
}

bool darkroom_coding_is_whole(const darkroom_coding *coding)
{
    return coding->is_at_end || !coding->is_begun;
}

/* One call of zlib. */
static int step(
    darkroom_coding *coding, const uint8_t *in, size_t count, size_t *taken, uint8_t *out,
    size_t room, size_t *made)
{
    z_stream *stream = &coding->stream;
    const size_t input = count - *taken < UINT_MAX ? count - *taken : UINT_MAX;
    const size_t space = room - *made < UINT_MAX ? room - *made : UINT_MAX;
    stream->next_in = (uint8_t *)(uintptr_t)(in + *taken);
    stream->avail_in = (uInt)input;
    stream->next_out = out + *made;
    stream->avail_out = (uInt)space;
    const int result = inflate(stream, Z_NO_FLUSH);
    *taken += input - stream->avail_in;
    *made += space - stream->avail_out;
    return result;
}

/* Whether two bytes are the header of a zlib stream (RFC 1950, 2.2). */
static bool is_zlib(unsigned first, unsigned second)
{
    return (first & 15) == Z_DEFLATED && first >> 4 <= 7 && (first << 8 | second) % 31 == 0;
}

/* Opens the stream of deflate at its second byte. Its first one gives no output. */
static bool open_deflate(darkroom_coding *coding, uint8_t second, uint8_t *out, size_t room)
{
    const int bits = is_zlib(coding->first, second) ? WINDOW : -WINDOW;
    coding->is_open = inflateInit2(&coding->stream, bits) == Z_OK;
    size_t taken = 0, made = 0;
    return coding->is_open && step(coding, &coding->first, 1, &taken, out, room, &made) == Z_OK;
}

static darkroom_coding_result failure(const darkroom_coding *coding, int result)
{
    if (result == Z_MEM_ERROR)
        return DARKROOM_CODING_MEMORY;
    /* What follows a file and is no other file. */
    if (coding->is_later && coding->stream.total_in <= GZIP_MAGIC)
        return DARKROOM_CODING_SURPLUS;
    return DARKROOM_CODING_DAMAGED;
}

/* Begins the next file where one has ended. */
static bool begin_next(darkroom_coding *coding, uint8_t byte)
{
    if (!coding->is_gzip || byte != GZIP_FIRST || inflateReset(&coding->stream) != Z_OK)
        return false;
    coding->is_at_end = false;
    coding->is_later = true;
    return true;
}

darkroom_coding_result darkroom_coding_run(
    darkroom_coding *coding, const uint8_t *in, size_t count, size_t *taken, uint8_t *out,
    size_t room, size_t *made)
{
    *taken = *made = 0;
    if (!coding->is_open) {
        if (!coding->is_begun && count > 0) {
            coding->first = in[(*taken)++];
            coding->is_begun = true;
        }
        if (*taken == count)
            return DARKROOM_CODING_MORE;
        if (!open_deflate(coding, in[*taken], out, room))
            return coding->is_open ? DARKROOM_CODING_DAMAGED : DARKROOM_CODING_MEMORY;
    }
    for (;;) {
        if (coding->is_at_end) {
            if (*taken == count)
                return DARKROOM_CODING_MORE;
            if (!begin_next(coding, in[*taken]))
                return DARKROOM_CODING_SURPLUS;
        }
        const size_t before = *taken;
        const int result = step(coding, in, count, taken, out, room, made);
        coding->is_begun = coding->is_begun || *taken > before;
        switch (result) {
        case Z_STREAM_END: coding->is_at_end = true; break;
        case Z_OK:
        case Z_BUF_ERROR:
            if (*made == room)
                return DARKROOM_CODING_ROOM;
            if (*taken == count)
                return DARKROOM_CODING_MORE;
            if (result == Z_BUF_ERROR)
                return DARKROOM_CODING_DAMAGED;
            break;
        default: return failure(coding, result);
        }
    }
}
