#include "jpeg_rows.h"

#include <stdbool.h>
#include <string.h>

/* v · 255 / 65535, rounded. */
static uint8_t narrowed(uint16_t value)
{
    return (uint8_t)((value * 255U + 32767U) / 65535U);
}

/* Laid over white and rounded: (c·a + 255·(255 − a)) / 255. */
static uint8_t over_white_8(unsigned colour, unsigned alpha)
{
    return (uint8_t)((colour * alpha + 255U * (255U - alpha) + 127U) / 255U);
}

/* The same for 16 bits, converted to 8 bits with the same rounding: (c·a + 65535·(65535 − a)) / 65535 · 255 /
 * 65535. */
static uint8_t over_white_16(uint64_t colour, uint64_t alpha)
{
    const uint64_t white = 65535;
    uint64_t sum = colour * alpha + white * (white - alpha);
    return (uint8_t)((sum * 255 + white * white / 2) / (white * white));
}

void darkroom_jpeg_row(const uint8_t *from, uint8_t *to, size_t width, size_t channels, unsigned depth)
{
    bool has_alpha = channels == 2 || channels == 4;
    size_t colours = has_alpha ? channels - 1 : channels;
    for (size_t x = 0; x < width; x++) {
        uint16_t pixel[4];
        if (depth == 16)
            memcpy(pixel, from + x * channels * 2, channels * 2);
        else
            for (size_t i = 0; i < channels; i++)
                pixel[i] = from[x * channels + i];
        for (size_t i = 0; i < colours; i++) {
            if (!has_alpha)
                *to++ = narrowed(pixel[i]);
            else if (depth == 16)
                *to++ = over_white_16(pixel[i], pixel[colours]);
            else
                *to++ = over_white_8(pixel[i], pixel[colours]);
        }
    }
}
