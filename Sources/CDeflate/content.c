#include "content.h"

#include <string.h>

/*
 * How many thousandths of the bytes are in matches of at least eight bytes that begin with a pixel. Place 0
 * is not examined. Measured on unfiltered rows: photographs 0 to 300, drawings from 600 on. Filtered rows of
 * a photograph may have as many as a drawing.
 */
static unsigned repetition(const uint8_t *bytes, size_t count, size_t step)
{
    enum { HASH_BITS = 12 };
    uint16_t last[1 << HASH_BITS] = {0};
    size_t covered = 0;
    /* In the table, 0 means none. */
    for (size_t at = 1; at + 8 <= count;) {
        uint64_t here, there;
        memcpy(&here, bytes + at, sizeof here);
        uint16_t *slot = &last[here * UINT64_C(0x9e3779b97f4a7c15) >> (64 - HASH_BITS)];
        const size_t candidate = *slot;
        *slot = (uint16_t)at;
        memcpy(&there, bytes + candidate, sizeof there);
        if (candidate == 0 || here != there) {
            at += step;
            continue;
        }
        size_t length = 8;
        while (at + length < count && bytes[at + length] == bytes[candidate + length])
            length++;
        covered += length;
        at += length;
    }
    return (unsigned)(covered * 1000 / count);
}

/* Pieces of rows from a whole strip. */
typedef struct {
    size_t pixels, count; /* of a piece, and of all pieces */
} pieces;

static pieces pieces_of(const darkroom_rows *rows, size_t step)
{
    enum { PIXELS = 4096, PIECE = 256 };
    const size_t width = rows->bytes / step;
    const size_t piece = width < PIECE ? width : PIECE;
    return (pieces){piece, rows->count < PIXELS / piece ? rows->count : PIXELS / piece};
}

static const uint8_t *piece_at(const darkroom_rows *rows, pieces all, size_t index, size_t step)
{
    enum { OFFSETS = 8 };
    const size_t row = (2 * index + 1) * rows->count / (2 * all.count);
    const size_t column = (rows->bytes / step - all.pixels) / (OFFSETS - 1) * (index * 5 % OFFSETS);
    return rows->first + row * rows->stride + column * step;
}

/* Whether the pieces have at most as many colours as a palette. In a photograph a few hundred pixels have more. */
static int has_few_colours(const darkroom_rows *plain, size_t step)
{
    enum { COLOURS = 256, HASH_BITS = 10, SLOTS = 1 << HASH_BITS };
    uint32_t colours[SLOTS];
    uint8_t is_used[SLOTS] = {0};
    const pieces all = pieces_of(plain, step);
    unsigned count = 0;
    for (size_t i = 0; i < all.count; i++) {
        const uint8_t *pixel = piece_at(plain, all, i, step);
        const uint8_t *end = pixel + all.pixels * step;
        for (; pixel < end; pixel += step) {
            uint32_t colour = 0;
            for (size_t k = 0; k < step; k++)
                colour |= (uint32_t)pixel[k] << 8 * k;
            uint32_t slot = colour * 0x9e3779b1u >> (32 - HASH_BITS);
            while (is_used[slot] && colours[slot] != colour)
                slot = (slot + 1) % SLOTS;
            if (is_used[slot])
                continue;
            if (++count > COLOURS)
                return 0;
            is_used[slot] = 1;
            colours[slot] = colour;
        }
    }
    return 1;
}

darkroom_foresight darkroom_foresee(
    const darkroom_rows *plain, const darkroom_rows *filtered, int pixel_bytes, int depth)
{
    uint8_t second_of[256] = {0}, third_of[256] = {0};
    uint8_t second = 0, third = 0;
    darkroom_foresight result = {0};
    const size_t step = (size_t)pixel_bytes;
    if (depth != 8 || step < 3)
        return result;
    const pieces all = pieces_of(filtered, step);
    for (size_t i = 0; i < all.count; i++) {
        const uint8_t *pixel = piece_at(filtered, all, i, step);
        const uint8_t *end = pixel + all.pixels * step;
        for (; pixel < end; pixel += step) {
            result.foretold +=
                (unsigned)(second_of[pixel[0]] == pixel[1]) + (third_of[pixel[1]] == pixel[2]);
            result.repeated += (unsigned)(second == pixel[1]) + (third == pixel[2]);
            second_of[pixel[0]] = second = pixel[1];
            third_of[pixel[1]] = third = pixel[2];
        }
    }
    result.told = (unsigned)(2 * all.pixels * all.count);
    result.has_few_colours = has_few_colours(plain, step);
    return result;
}

/* From this number of bits for a byte on, being toned does not depend on it. */
enum { MANY_MILLIBITS = 4000 };

/*
 * Whether a pixel's first channel predicts the second, and this the third, much more often than by chance. If
 * the colours depend on each other in this way, as after sepia, whole pixels repeat, at distances that only a
 * search finds. The frequency by chance depends on the number of bits for a byte. Measured on strips of three
 * photographs with 3 to 5.5 bits for a byte: with sepia of 0.8 and 1, it is 15 to 100 thousandths more than
 * required here, and matches make the strips 9 to 21 % smaller. Other strips pass only if they become at
 * least 3 % smaller.
 */
static int is_toned(darkroom_foresight seen, size_t millibits)
{
    if (seen.told == 0)
        return 0;
    const unsigned thousandths = seen.foretold * 1000 / seen.told;
    if (millibits >= MANY_MILLIBITS)
        return thousandths >= 370
            || (thousandths >= 270 && seen.foretold * 10 >= seen.repeated * 31);
    return thousandths * 1000 + 140 * millibits >= (430 * 1000 + 140 * 3170);
}

int darkroom_may_be_toned(darkroom_foresight seen)
{
    return seen.has_few_colours || is_toned(seen, MANY_MILLIBITS);
}

/* The same for a piece in the middle of the strip, where a picture's border is least likely. */
static unsigned repetition_in(const darkroom_rows *rows, size_t step)
{
    enum { SAMPLE = 8192 };
    uint8_t sample[SAMPLE] = {0};
    size_t count = 1;
    for (size_t row = rows->count / 2; row < rows->count && count < SAMPLE; row++) {
        const size_t left = SAMPLE - count;
        const size_t taken = rows->bytes < left ? rows->bytes : left;
        memcpy(sample + count, rows->first + row * rows->stride, taken);
        count += taken;
    }
    return repetition(sample, count, step);
}

enum { PIECE = 48 };

size_t darkroom_repeat_reach(size_t row_bytes)
{
    enum { WINDOW = 32 << 10 };
    return row_bytes < PIECE || row_bytes > WINDOW / 2 ? SIZE_MAX : WINDOW / row_bytes;
}

int darkroom_has_repeated_rows(const darkroom_rows *rows)
{
    enum { PIECES = 32, MOST_MISSES = PIECES / 4 };
    /* And one more row: if a row repeats itself too, its right end is within reach. */
    const size_t reach = darkroom_repeat_reach(rows->bytes);
    if (reach == SIZE_MAX || rows->count <= reach + 1)
        return 0;
    const size_t most = reach + 1;
    unsigned missed = 0;
    for (size_t i = 0; i < PIECES && missed <= MOST_MISSES; i++) {
        const size_t row = most + (rows->count - most) * i / PIECES;
        const size_t column = (rows->bytes - PIECE) * (i * 11 % PIECES) / (PIECES - 1);
        const uint8_t *piece = rows->first + row * rows->stride + column;
        size_t up = 2;
        while (up <= most && memcmp(piece, piece - up * rows->stride, PIECE) != 0)
            up++;
        missed += up > most;
    }
    return missed <= MOST_MISSES;
}

/* From this number of thousandths on, rows repeat themselves. */
enum { MUCH = 400 };

int darkroom_repeats_in_differences(const darkroom_rows *filtered, int pixel_bytes)
{
    return repetition_in(filtered, (size_t)pixel_bytes) >= MUCH;
}

darkroom_content darkroom_look(
    const darkroom_rows *plain, const darkroom_rows *filtered, int pixel_bytes,
    darkroom_foresight seen, int repeats, size_t coded)
{
    enum { SMOOTH_MILLIBITS = 2000 };
    const size_t step = (size_t)pixel_bytes;
    const size_t millibits = 8000 * coded / (filtered->stride * filtered->count);
    if (repetition_in(plain, step) >= MUCH || darkroom_has_repeated_rows(plain))
        return DARKROOM_DRAWN;
    const int toned = is_toned(seen, millibits);
    if (toned && millibits >= SMOOTH_MILLIBITS)
        return DARKROOM_TONED;
    /* So do toned photographs, but these need more bits. */
    if (repeats)
        return DARKROOM_SMOOTH;
    return toned || seen.has_few_colours ? DARKROOM_TONED : DARKROOM_PHOTOGRAPHED;
}
