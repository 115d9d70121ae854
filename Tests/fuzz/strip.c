/* Encodes made-up pictures in strips, and holds what zlib and PNG's filters, undone here, make of them
 * against the pictures; every instruction set must give the same bytes.
 *
 * An input's first bytes say what the picture is: its kind of pixels, its size, how it is drawn and
 * how hard to compress it. */
#include "CDarkroomDeflate.h"
#include "darkroom_cpu.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SETTINGS = 10, MOST_BYTES = 1 << 18, HEAD = 8, TAIL = 4 };

typedef struct {
    size_t row_bytes, height, rows_per_strip;
    int pixel_bytes, depth;
    darkroom_effort effort;
    uint8_t *rows; /* as a stage lends them: samples of 16 bits in the machine's order */
} picture;

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Noise of few or many values, slopes, one colour's shades, pieces of what is further up, rows of
 * a pattern, or a smooth surface. */
static void draw(picture *p, const uint8_t *settings, uint64_t *state)
{
    const size_t count = p->row_bytes * p->height, pixel = (size_t)p->pixel_bytes;
    const unsigned mask = (1u << settings[5] % 9) - 1;
    const size_t tile = p->row_bytes * (2 + settings[9] % 100);
    for (size_t i = 0; i < count;) {
        const unsigned how = settings[6 + i * 3 / count % 3] % 8;
        const uint8_t noise = (uint8_t)(next_random(state) & mask);
        const size_t start = i;
        size_t length = pixel * (1 + next_random(state) % 40);
        length = length < count - i ? length : count - i;
        for (; i < start + length; i++) {
            const size_t channel = i % p->row_bytes % pixel;
            switch (how) {
            case 0: p->rows[i] = (uint8_t)(next_random(state) & mask); break;
            case 1: p->rows[i] = noise; break;
            case 2: p->rows[i] = (uint8_t)((i % p->row_bytes) / pixel + noise); break;
            case 3:
                p->rows[i] = channel == 0 ? (uint8_t)next_random(state)
                                          : (uint8_t)(p->rows[i - 1] * (10 - channel) / 10);
                break;
            case 4: p->rows[i] = start < 4096 ? noise : p->rows[i - 1 - 4095 * noise / 255]; break;
            case 5: p->rows[i] = i < tile ? (uint8_t)(next_random(state) & mask) : p->rows[i - tile]; break;
            case 6: p->rows[i] = i < p->row_bytes ? noise : p->rows[i - p->row_bytes]; break;
            default: {
                const size_t x = i % p->row_bytes / pixel, y = i / p->row_bytes, bend = 1 + settings[5] % 9;
                p->rows[i] = (uint8_t)((x * x >> bend) / 16 + x * y / 300 + (y * y >> bend) / 16 + 40 * channel);
                break;
            }
            }
        }
    }
}

/* All chunks' data, one after the other, checked and taken out of their frames. */
typedef struct {
    uint8_t *bytes;
    size_t count;
} stream;

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void append(stream *s, const darkroom_strip *strip)
{
    size_t count = 0;
    const uint8_t *chunk = darkroom_strip_chunk(strip, &count);
    if (count < HEAD + TAIL || big_endian(chunk) != count - HEAD - TAIL
        || memcmp(chunk + 4, "IDAT", 4) != 0
        || big_endian(chunk + count - TAIL) != crc32(0, chunk + 4, (uInt)(count - HEAD)))
        abort();
    s->bytes = realloc(s->bytes, s->count + count);
    memcpy(s->bytes + s->count, chunk + HEAD, count - HEAD - TAIL);
    s->count += count - HEAD - TAIL;
}

static stream encode(const picture *p)
{
    stream result = {NULL, 0};
    darkroom_strip *strips[2];
    for (int i = 0; i < 2; i++)
        strips[i] = darkroom_strip_new(
            p->row_bytes, p->pixel_bytes, p->depth, p->rows_per_strip, p->effort);
    const darkroom_strip *above = NULL;
    uint32_t adler = 1;
    for (size_t row = 0, turn = 0; row < p->height; turn++) {
        /* Now and then the strip above is the same. */
        darkroom_strip *strip = strips[turn / 2 % 2];
        darkroom_strip_begin(strip, above);
        row += darkroom_strip_fill(strip, p->rows + row * p->row_bytes, p->height - row);
        if (darkroom_strip_encode(strip) != DARKROOM_STRIP_OK)
            abort();
        uint64_t filtered = 0;
        const uint32_t own = darkroom_strip_adler(strip, &filtered);
        adler = darkroom_adler32_combine(adler, own, filtered);
        if (row == p->height)
            darkroom_strip_end(strip, adler);
        append(&result, strip);
        above = strip;
    }
    for (int i = 0; i < 2; i++)
        darkroom_strip_free(strips[i]);
    return result;
}

static int paeth(int left, int above, int corner)
{
    const int guess = left + above - corner;
    const int a = abs(guess - left), b = abs(guess - above), c = abs(guess - corner);
    return a <= b && a <= c ? left : b <= c ? above : corner;
}

/* The pixels' bytes as PNG has them, of the filtered rows, in place. */
static void undo(uint8_t *lines, const picture *p)
{
    const size_t stride = p->row_bytes + 1, pixel = (size_t)p->pixel_bytes;
    for (size_t row = 0; row < p->height; row++) {
        uint8_t *line = lines + row * stride + 1;
        for (size_t i = 0; i < p->row_bytes; i++) {
            const int left = i < pixel ? 0 : line[i - pixel];
            const int above = row == 0 ? 0 : line[(ptrdiff_t)i - (ptrdiff_t)stride];
            const int corner =
                row == 0 || i < pixel ? 0 : line[(ptrdiff_t)(i - pixel) - (ptrdiff_t)stride];
            const int guesses[] = {0, left, above, (left + above) / 2, paeth(left, above, corner)};
            if (line[-1] > 4)
                abort();
            line[i] = (uint8_t)(line[i] + guesses[line[-1]]);
        }
    }
}

static void check(const picture *p, const stream *s)
{
    const size_t stride = p->row_bytes + 1;
    uLongf count = (uLongf)(stride * p->height);
    uint8_t *lines = malloc(count + 1);
    uLong taken = (uLong)s->count;
    if (uncompress2(lines, &count, s->bytes, &taken) != Z_OK || count != stride * p->height
        || taken != s->count)
        abort();
    undo(lines, p);
    /* On a little-endian machine the two bytes of a sample have changed places. */
    const size_t flip = p->depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 1 : 0;
    for (size_t row = 0; row < p->height; row++)
        for (size_t i = 0; i < p->row_bytes; i++)
            if (lines[row * stride + 1 + i] != p->rows[row * p->row_bytes + (i ^ flip)])
                abort();
    free(lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t count)
{
    if (count < SETTINGS)
        return 0;
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++)
        state = (state ^ input[i]) * 0x100000001b3u;
    const size_t channels = 1 + input[0] % 4;
    const int depth = input[0] / 4 % 2 == 0 ? 8 : 16;
    const size_t pixel = channels * (size_t)depth / 8;
    const size_t most = input[1] % 8 == 0 ? MOST_BYTES : 16384;
    const size_t width = 1 + next_random(&state) % (input[2] % 2 == 0 ? 70 : most / pixel);
    const size_t tallest = most / (width * pixel);
    picture p = {
        .row_bytes = width * pixel,
        .height = 1 + next_random(&state) % (tallest == 0 ? 1 : tallest),
        .pixel_bytes = (int)pixel,
        .depth = depth,
        .effort = (darkroom_effort)(input[3] % 3),
    };
    p.rows_per_strip = input[4] % 2 == 0 ? darkroom_strip_rows(p.row_bytes, p.height, p.effort)
                                         : 1 + next_random(&state) % p.height;
    p.rows = malloc(p.row_bytes * p.height);
    draw(&p, input, &state);
    stream streams[2];
    for (int level = DARKROOM_CPU_SCALAR; level <= DARKROOM_CPU_AVX2; level++) {
        darkroom_cpu_limit((darkroom_cpu)level);
        streams[level] = encode(&p);
    }
    check(&p, &streams[0]);
    if (streams[0].count != streams[1].count
        || memcmp(streams[0].bytes, streams[1].bytes, streams[0].count) != 0)
        abort();
    free(streams[0].bytes);
    free(streams[1].bytes);
    free(p.rows);
    return 0;
}
