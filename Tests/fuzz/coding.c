/* Holds what undoes gzip and deflate against zlib, whatever pieces a body arrives in.
 *
 * An input's first two bytes say what the rest is: gzip or deflate as it is, or bytes that are compressed in members of
 * random lengths and then damaged or not. */
#include "CDarkroomShims.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST = 1 << 16, ROOM = 1 << 22 };

typedef struct {
    uint8_t *bytes;
    size_t count;
    int ending; /* a darkroom_coding_result */
    bool is_whole;
} decoded;

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Decodes pieces of up to `most` bytes into pieces of up to `room`. */
static decoded decode(
    const uint8_t *body, size_t count, bool is_gzip, size_t most, size_t room, uint8_t *out)
{
    decoded result = {.bytes = out, .ending = DARKROOM_CODING_MORE};
    darkroom_coding *coding = darkroom_coding_new(is_gzip);
    if (coding == NULL)
        abort();
    for (size_t at = 0; at < count || result.ending == DARKROOM_CODING_ROOM;) {
        const size_t piece = count - at < most ? count - at : most;
        const size_t left = ROOM - result.count < room ? ROOM - result.count : room;
        if (left == 0)
            break;
        /* Of its own, so that the sanitizer sees what is read and written beyond it. */
        uint8_t *in = malloc(piece > 0 ? piece : 1), *space = malloc(left);
        if (in == NULL || space == NULL)
            abort();
        memcpy(in, body + at, piece);
        size_t taken, made;
        result.ending = darkroom_coding_run(coding, in, piece, &taken, space, left, &made);
        if (taken > piece || made > left)
            abort();
        memcpy(out + result.count, space, made);
        free(in);
        free(space);
        at += taken;
        result.count += made;
        if (result.ending > DARKROOM_CODING_ROOM)
            break;
        if (result.ending == DARKROOM_CODING_MORE && taken < piece)
            abort();
    }
    result.is_whole = result.ending == DARKROOM_CODING_MORE && darkroom_coding_is_whole(coding);
    darkroom_coding_free(coding);
    return result;
}

/* Compresses bytes in members; returns the length of all. */
static size_t compress_members(
    const uint8_t *bytes, size_t count, bool is_gzip, uint8_t *body, size_t room, uint64_t *state)
{
    size_t made = 0;
    do {
        size_t part = is_gzip ? next_random(state) % (count + 1) : count;
        z_stream z = {0};
        const int bits = is_gzip ? 31 : next_random(state) % 2 == 0 ? 15 : -15;
        if (deflateInit2(&z, 1 + (int)(next_random(state) % 9), Z_DEFLATED, bits, 8, 0) != Z_OK)
            abort();
        z.next_in = (uint8_t *)(uintptr_t)bytes;
        z.avail_in = (uInt)part;
        z.next_out = body + made;
        z.avail_out = (uInt)(room - made);
        if (deflate(&z, Z_FINISH) != Z_STREAM_END)
            abort();
        made = room - z.avail_out;
        deflateEnd(&z);
        bytes += part;
        count -= part;
    } while (count > 0);
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 10 || size > MOST)
        return 0;
    const bool is_gzip = data[0] % 2 == 0, is_made = data[0] % 4 > 1, is_damaged = data[0] % 8 > 5;
    uint64_t state;
    memcpy(&state, data + 2, sizeof state);
    const uint8_t *rest = data + 10;
    const size_t count = size - 10;
    const size_t space = 64 * (count + 64);
    uint8_t *body = malloc(space), *first = malloc(ROOM), *second = malloc(ROOM);
    if (body == NULL || first == NULL || second == NULL)
        abort();
    size_t length = count;
    if (is_made)
        length = compress_members(rest, count, is_gzip, body, space, &state);
    else
        memcpy(body, rest, count);
    if (is_damaged && length > 0)
        body[next_random(&state) % length] ^= (uint8_t)(1 + data[1] % 255);
    const decoded whole = decode(body, length, is_gzip, length + 1, ROOM, first);
    const decoded pieces = decode(
        body, length, is_gzip, 1 + data[1] % 32, 1 + next_random(&state) % 4096, second);
    if (whole.count != pieces.count || memcmp(first, second, whole.count) != 0)
        abort();
    if (whole.count < ROOM
        && (whole.ending != pieces.ending || whole.is_whole != pieces.is_whole))
        abort();
    if (is_made && !is_damaged
        && (whole.count != count || memcmp(first, rest, count) != 0 || !whole.is_whole))
        abort();
    free(body);
    free(first);
    free(second);
    return 0;
}
