/*
 * Colours by a table of what colours at equal distances become. Between them: of three channels, the tetrahedron of the
 * cell that contains the colour (Kasson, Nin, Plouffe and Hafner, 1995); of four, two of them, for the steps of cyan
 * below and above.
 */
#include "CDarkroomPixels.h"
#include "samples.h"

enum { PART_BITS = 14 };

/* Where a value lies: the step below it, and how far it is from there to the next one. */
struct place {
    uint32_t step;
    int32_t part;
};

INLINE struct place place_of(uint32_t value, uint32_t most, uint32_t steps)
{
    const uint64_t scaled = (uint64_t)value * (steps - 1);
    struct place place = {(uint32_t)(scaled / most), 0};
    if (place.step >= steps - 1)
        return (struct place){steps - 2, 1 << PART_BITS};
    place.part = (int32_t)(((scaled % most << PART_BITS) + most / 2) / most);
    return place;
}

/* `cell` is the colour of the lower corner; the steps of the three channels are `stride` samples apart. */
INLINE void tetrahedron(
    const uint16_t *cell, const struct place *places, const size_t *stride, int32_t *out)
{
    const int32_t x = places[0].part, y = places[1].part, z = places[2].part;
    /* From the lower corner to the upper one along the channels, the largest part first. */
    size_t first, second;
    int32_t a, b, c;
    if (x >= y) {
        if (y >= z) first = stride[0], second = stride[1], a = x, b = y, c = z;
        else if (x >= z) first = stride[0], second = stride[2], a = x, b = z, c = y;
        else first = stride[2], second = stride[0], a = z, b = x, c = y;
    } else {
        if (x >= z) first = stride[1], second = stride[0], a = y, b = x, c = z;
        else if (y >= z) first = stride[1], second = stride[2], a = y, b = z, c = x;
        else first = stride[2], second = stride[1], a = z, b = y, c = x;
    }
    const uint16_t *one = cell + first, *two = one + second;
    const uint16_t *three = cell + stride[0] + stride[1] + stride[2];
    const int32_t whole = 1 << PART_BITS;
    for (int channel = 0; channel < 3; channel++) {
        const uint32_t sum = (uint32_t)(whole - a) * cell[channel] + (uint32_t)(a - b) * one[channel]
            + (uint32_t)(b - c) * two[channel] + (uint32_t)c * three[channel];
        out[channel] = (int32_t)((sum + (1u << (PART_BITS - 1))) >> PART_BITS);
    }
}

INLINE void put(int depth, void *out, size_t at, int32_t value)
{
    put_sample(out, at, depth, depth == 8 ? ((uint32_t)value * 255 + 32767) / 65535 : (uint32_t)value);
}

INLINE void loop(
    int depth, int channels, const void *in, size_t in_step, void *out, size_t out_step, size_t pixels,
    const uint16_t *table, uint32_t steps)
{
    const uint32_t most = depth == 8 ? 255 : 65535;
    size_t stride[4];
    stride[channels - 1] = 3;
    for (int c = channels - 2; c >= 0; c--) stride[c] = stride[c + 1] * steps;
    struct place of_value[256];
    if (depth == 8)
        for (uint32_t value = 0; value < 256; value++) of_value[value] = place_of(value, most, steps);
    for (size_t i = 0; i < pixels; i++) {
        struct place places[4];
        const uint16_t *cell = table;
        for (int c = 0; c < channels; c++) {
            const uint32_t value = sample_at(in, i * in_step + (size_t)c, depth);
            places[c] = depth == 8 ? of_value[value] : place_of(value, most, steps);
            cell += places[c].step * stride[c];
        }
        int32_t low[3], high[3];
        if (channels == 3) {
            tetrahedron(cell, places, stride, low);
        } else {
            tetrahedron(cell, places + 1, stride + 1, low);
            tetrahedron(cell + stride[0], places + 1, stride + 1, high);
            for (int c = 0; c < 3; c++) {
                const int64_t rise = (int64_t)(high[c] - low[c]) * places[0].part;
                low[c] += (int32_t)((rise + (1 << (PART_BITS - 1))) >> PART_BITS);
            }
        }
        for (int c = 0; c < 3; c++) put(depth, out, i * out_step + (size_t)c, low[c]);
        if (out_step > 3)
            put_sample(out, i * out_step + 3, depth, sample_at(in, i * in_step + (size_t)channels, depth));
    }
}

void darkroom_convert_table(
    const void *in, size_t in_step, void *out, size_t out_step, size_t pixels, int channels, int depth,
    const uint16_t *table, uint32_t steps)
{
    if (channels == 3)
        BY_DEPTH(loop, depth, 3, in, in_step, out, out_step, pixels, table, steps);
    else
        BY_DEPTH(loop, depth, 4, in, in_step, out, out_step, pixels, table, steps);
}
