#include "darkroom_codec_planes.h"

#include <string.h>

#include "darkroom_codec.h"

/* The loops are simple, so that the compiler can take several samples at a time. Sums of eight rows of 12 bits, and of two
 * columns of those, fit into 16 bits. */

/* Numbers of a row. Even, so that what follows in the room is aligned. */
static size_t numbers(const codec_plane *plane) { return ((size_t) plane->width * plane->channels + 1) & ~(size_t) 1; }

size_t codec_average_room(const codec_plane *plane) { return numbers(plane) * 6; }

/* The sums of each column of the rows `first` to `end`. */
CODEC_INLINED void add_rows(const codec_plane *plane, uint32_t first, uint32_t end, uint16_t *restrict sums)
{
    size_t count = (size_t) plane->width * plane->channels;
    memset(sums, 0, count * sizeof *sums);
    for (uint32_t y = first; y < end; y++) {
        const uint8_t *row = (const uint8_t *) plane->samples + plane->stride * y;
        const uint8_t *restrict narrow = row;
        const uint16_t *restrict wide = (const void *) row;
        if (plane->is_wide) for (size_t index = 0; index < count; index++) sums[index] = (uint16_t) (sums[index] + wide[index]);
        else for (size_t index = 0; index < count; index++) sums[index] = (uint16_t) (sums[index] + narrow[index]);
    }
}

/* A function for the sums of two neighbours each, which become `count` pixels. */
#define ADD_PAIRS(name, from_type, to_type)                                                                             \
    CODEC_INLINED void name(const from_type *restrict from, size_t count, uint32_t channels, to_type *restrict to)      \
    {                                                                                                                   \
        if (channels == 1)                                                                                              \
            for (size_t x = 0; x < count; x++) to[x] = (to_type) (from[2 * x] + from[2 * x + 1]);                       \
        else                                                                                                            \
            for (size_t x = 0; x < count; x++, from += 6, to += 3) {                                                    \
                to[0] = (to_type) (from[0] + from[3]);                                                                  \
                to[1] = (to_type) (from[1] + from[4]);                                                                  \
                to[2] = (to_type) (from[2] + from[5]);                                                                  \
            }                                                                                                           \
    }

ADD_PAIRS(add_pairs, uint16_t, uint16_t)
ADD_PAIRS(add_pairs_wider, uint16_t, uint32_t)
ADD_PAIRS(add_wide_pairs, uint32_t, uint32_t)

static unsigned logarithm(uint32_t power) { return (unsigned) __builtin_ctz(power); }

/* Sums of whole blocks of `samples` pixels become averages. */
#define DIVIDE(name, type)                                                                                              \
    CODEC_INLINED void name(const type *restrict sums, size_t count, uint32_t samples, uint32_t scale, uint16_t *restrict to)\
    {                                                                                                                   \
        if ((samples & (samples - 1)) != 0) {                                                                           \
            for (size_t index = 0; index < count; index++) to[index] = (uint16_t) (sums[index] * scale / samples);      \
        } else if (samples <= scale) {                                                                                  \
            unsigned shift = logarithm(scale / samples);                                                                \
            for (size_t index = 0; index < count; index++) to[index] = (uint16_t) (sums[index] << shift);               \
        } else {                                                                                                        \
            unsigned shift = logarithm(samples / scale);                                                                \
            for (size_t index = 0; index < count; index++) to[index] = (uint16_t) (sums[index] >> shift);               \
        }                                                                                                               \
    }

DIVIDE(divide, uint16_t)
DIVIDE(divide_wide, uint32_t)

DARKROOM_FOR_PROCESSOR void codec_average(const codec_plane *plane, uint32_t y, void *room, uint16_t *averages)
{
    size_t count = numbers(plane);
    uint32_t channels = plane->channels, first = y * plane->down, whole = plane->width / plane->across;
    uint32_t rows = plane->height - first < plane->down ? plane->height - first : plane->down;
    uint32_t samples = plane->across * rows;
    size_t reduced = (size_t) whole * channels;
    uint16_t *sums = room, *pairs = sums + count;
    uint32_t *fours = (uint32_t *) room + count, *eights = (uint32_t *) (void *) pairs;
    add_rows(plane, first, first + rows, sums);
    if (plane->across == 1) divide(sums, reduced, samples, plane->scale, averages);
    if (plane->across > 1) add_pairs(sums, plane->width / 2, channels, pairs);
    if (plane->across == 2) divide(pairs, reduced, samples, plane->scale, averages);
    if (plane->across > 2) add_pairs_wider(pairs, plane->width / 4, channels, fours);
    if (plane->across == 4) divide_wide(fours, reduced, samples, plane->scale, averages);
    if (plane->across == 8) {
        add_wide_pairs(fours, whole, channels, eights);
        divide_wide(eights, reduced, samples, plane->scale, averages);
    }
    uint32_t columns = plane->width - whole * plane->across;
    for (uint32_t channel = 0; columns > 0 && channel < channels; channel++) {
        const uint16_t *rest = sums + (size_t) whole * plane->across * channels + channel;
        uint32_t sum = 0;
        for (uint32_t column = 0; column < columns; column++) sum += rest[(size_t) column * channels];
        averages[reduced + channel] = (uint16_t) (sum * plane->scale / (columns * rows));
    }
}
