/* Holds the inflater against zlib: the same bytes, or damage in both.
 *
 * An input's first bytes say how the rest becomes a zlib stream: as it is, or made into bytes of a
 * skewed distribution with repetitions, compressed by zlib or libdeflate, and damaged or not. So
 * codes of all lengths and distances are met, which mutated streams hardly ever have. */
#include "CDarkroomDeflate.h"
#include "darkroom_cpu.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SETTINGS = 8, MOST = 1 << 18, WINDOW = 32768, STEP = 65536 };

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Bytes of which each is 1.06 to 3 times as frequent as the next one, and repetitions of any kind. */
static size_t make_bytes(uint8_t *bytes, const uint8_t *settings, uint64_t *state)
{
    const size_t count = 1 + (next_random(state) % (settings[1] % 16 == 0 ? MOST : 8192));
    const uint32_t ratio = 22000 + 10000 * (settings[2] % 5);
    const unsigned turn = settings[3];
    for (size_t i = 0; i < count;) {
        if (i > 0 && settings[4] > next_random(state) % 256) {
            const size_t most = settings[5] % 2 == 0 ? 16 : WINDOW;
            const size_t distance = 1 + next_random(state) % (i < most ? i : most);
            size_t length = 3 + next_random(state) % (settings[6] % 2 == 0 ? 8 : 256);
            for (; length > 0 && i < count; length--, i++)
                bytes[i] = bytes[i - distance];
            continue;
        }
        unsigned rank = 0;
        while (rank < 255 && next_random(state) % 65536 > 65536 - ratio)
            rank++;
        bytes[i++] = (uint8_t)(rank * (2 * turn + 1));
    }
    return count;
}

static size_t compress_bytes(
    const uint8_t *bytes, size_t count, uint8_t *stream, size_t room, unsigned how)
{
    if (how % 2 == 0) {
        struct libdeflate_compressor *c = libdeflate_alloc_compressor((int)(how / 2 % 13));
        const size_t size = libdeflate_zlib_compress(c, bytes, count, stream, room);
        libdeflate_free_compressor(c);
        return size;
    }
    static const int strategies[] = {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
    z_stream z = {0};
    if (deflateInit2(&z, (int)(how / 8 % 10), Z_DEFLATED, 15, 1 + (int)(how / 16 % 9),
            strategies[how / 2 % 4]) != Z_OK)
        abort();
    z.next_in = (uint8_t *)(uintptr_t)bytes;
    z.avail_in = (uInt)count;
    z.next_out = stream;
    z.avail_out = (uInt)room;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return room - z.avail_out;
}

/* zlib's opinion: whether the stream is good, what comes out, and whether there is input behind it. */
static bool expand(
    const uint8_t *stream, size_t count, uint8_t *bytes, size_t *made, bool *has_surplus)
{
    z_stream z = {0};
    if (inflateInit2(&z, 15) != Z_OK)
        abort();
    z.next_in = (uint8_t *)(uintptr_t)stream;
    z.avail_in = (uInt)count;
    z.next_out = bytes;
    z.avail_out = 2 * MOST;
    const int result = inflate(&z, Z_FINISH);
    *made = 2 * MOST - z.avail_out;
    *has_surplus = z.avail_in > 0;
    inflateEnd(&z);
    return result == Z_STREAM_END;
}

/* Ours, in pieces; compares what comes out as far as zlib has made something. */
static darkroom_inflate_result compare(
    const uint8_t *stream, size_t count, const uint8_t *expected, size_t expected_count, bool is_good,
    uint64_t *state)
{
    static uint8_t buffer[WINDOW + 2 * STEP];
    darkroom_inflate *inflate = darkroom_inflate_new();
    if (inflate == NULL)
        abort();
    /* Long streams a few bytes at a time take too long. */
    const unsigned chosen = next_random(state) % 4, style = chosen == 1 && count > 4096 ? 2 : chosen;
    size_t from = 0, total = 0, at = 0;
    darkroom_inflate_result result;
    for (;;) {
        size_t piece = style == 0 ? count : 1 + next_random(state) % (style == 1 ? 3 : 3000);
        piece = piece < count - from ? piece : count - from;
        const size_t room = 1 + next_random(state) % (style == 1 ? 5 : style == 2 ? 500 : STEP);
        /* A copy of its own, so that the sanitizer sees what is read behind it. */
        uint8_t *copy = malloc(piece + 1);
        memcpy(copy, stream + from, piece);
        size_t taken = 0, made = 0;
        result = darkroom_inflate_run(inflate, copy, piece, &taken, buffer + at, room, &made);
        free(copy);
        const size_t known = total >= expected_count ? 0
            : made < expected_count - total          ? made
                                                     : expected_count - total;
        if (taken > piece || made > room || memcmp(buffer + at, expected + total, known) != 0
            || (is_good && known < made))
            abort();
        from += taken;
        total += made;
        at += made;
        if (at > WINDOW + STEP) {
            memmove(buffer, buffer + at - WINDOW, WINDOW);
            at = WINDOW;
        }
        const bool goes_on = result == DARKROOM_INFLATE_MORE || result == DARKROOM_INFLATE_ROOM;
        if (!goes_on || (result == DARKROOM_INFLATE_MORE && piece == 0) || total > 2 * MOST)
            break;
    }
    darkroom_inflate_free(inflate);
    if (total > 2 * MOST)
        return DARKROOM_INFLATE_ROOM; /* zlib has stopped there, too */
    if (is_good && total != expected_count)
        abort();
    if (result == DARKROOM_INFLATE_END && from < count)
        result = DARKROOM_INFLATE_SURPLUS;
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t count)
{
    static uint8_t bytes[MOST], stream[2 * MOST], expected[2 * MOST];
    if (count < SETTINGS || count > MOST)
        return 0;
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++)
        state = (state ^ input[i]) * 0x100000001b3u;
    size_t size = count - SETTINGS;
    if (input[0] % 2 == 0) {
        /* Behind a good header, where there is one to be had. */
        static const uint8_t header[2] = {0x78, 0x01};
        memcpy(stream, header, 2);
        memcpy(stream + 2, input + SETTINGS, size);
        size += 2;
    } else {
        size = compress_bytes(
            bytes, make_bytes(bytes, input, &state), stream, sizeof stream, input[7]);
        for (unsigned damage = input[0] / 2 % 4; damage > 1; damage--)
            stream[next_random(&state) % (damage == 3 && size > 100 ? 100 : size)] ^=
                (uint8_t)(1 << next_random(&state) % 8);
    }
    size_t made = 0;
    bool has_surplus = false;
    const bool is_good = expand(stream, size, expected, &made, &has_surplus);
    const darkroom_inflate_result wanted =
        has_surplus ? DARKROOM_INFLATE_SURPLUS : DARKROOM_INFLATE_END;
    for (int level = DARKROOM_CPU_SCALAR; level <= DARKROOM_CPU_AVX512; level++) {
        darkroom_cpu_limit((darkroom_cpu)level);
        const darkroom_inflate_result result =
            compare(stream, size, expected, made, is_good, &state);
        const bool has_ended =
            result == DARKROOM_INFLATE_END || result == DARKROOM_INFLATE_SURPLUS;
        if (has_ended != is_good || (is_good && result != wanted)) {
            fprintf(stderr, "level %d: %d, zlib: good %d\n", level, result, is_good);
            abort();
        }
    }
    return 0;
}
