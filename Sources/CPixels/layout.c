/* The positions of pixels: adds channels, fills, mirrors, picks and rotates. */
#include "CDarkroomPixels.h"
#include "samples.h"

INLINE void expand_loop(
    int depth, int in_channels, int out_channels, const void *in, void *out, size_t pixels,
    uint16_t alpha)
{
    for (size_t i = 0; i < pixels; i++) {
        const size_t from = i * (size_t)in_channels;
        const size_t to = i * (size_t)out_channels;
        /* Gray has one colour sample, which is used for all three. */
        const size_t step = in_channels < 3 ? 0 : 1;
        for (size_t c = 0; c < (out_channels < 3 ? 1 : 3); c++)
            put_sample(out, to + c, depth, sample_at(in, from + c * step, depth));
        if (has_alpha(out_channels)) {
            uint32_t a = alpha;
            if (has_alpha(in_channels))
                a = sample_at(in, from + (size_t)in_channels - 1, depth);
            put_sample(out, to + (size_t)out_channels - 1, depth, a);
        }
    }
}

void darkroom_expand(
    const void *in, int in_channels, void *out, int out_channels, size_t pixels, int depth,
    uint16_t alpha)
{
    if (in_channels == out_channels) {
        memcpy(out, in, pixels * (size_t)in_channels * (size_t)depth / 8);
        return;
    }
    switch (in_channels * 10 + out_channels) {
    case 12: BY_DEPTH(expand_loop, depth, 1, 2, in, out, pixels, alpha); break;
    case 13: BY_DEPTH(expand_loop, depth, 1, 3, in, out, pixels, alpha); break;
    case 14: BY_DEPTH(expand_loop, depth, 1, 4, in, out, pixels, alpha); break;
    case 24: BY_DEPTH(expand_loop, depth, 2, 4, in, out, pixels, alpha); break;
    default: BY_DEPTH(expand_loop, depth, 3, 4, in, out, pixels, alpha); break;
    }
}

/* Calls `loop` with a constant pixel size: 1 to 4 samples of 1 or 2 bytes. */
#define BY_PIXEL_SIZE(loop, bytes, ...)                                                            \
    do {                                                                                           \
        switch (bytes) {                                                                           \
        case 1: loop(1, __VA_ARGS__); break;                                                       \
        case 2: loop(2, __VA_ARGS__); break;                                                       \
        case 3: loop(3, __VA_ARGS__); break;                                                       \
        case 4: loop(4, __VA_ARGS__); break;                                                       \
        case 6: loop(6, __VA_ARGS__); break;                                                       \
        default: loop(8, __VA_ARGS__); break;                                                      \
        }                                                                                          \
    } while (0)

INLINE void fill_loop(size_t bytes, uint8_t *out, size_t pixels, const uint8_t *pixel)
{
    for (size_t i = 0; i < pixels; i++)
        copy_pixel(out + i * bytes, pixel, bytes);
}

void darkroom_fill(void *out, size_t pixels, size_t pixel_bytes, const void *pixel)
{
    BY_PIXEL_SIZE(fill_loop, pixel_bytes, out, pixels, pixel);
}

INLINE void reverse_loop(size_t bytes, uint8_t *row, size_t pixels)
{
    uint8_t *left = row;
    uint8_t *right = row + (pixels - 1) * bytes;
    while (left < right) {
        uint8_t pixel[8];
        copy_pixel(pixel, left, bytes);
        copy_pixel(left, right, bytes);
        copy_pixel(right, pixel, bytes);
        left += bytes;
        right -= bytes;
    }
}

void darkroom_reverse(void *row, size_t pixels, size_t pixel_bytes)
{
    BY_PIXEL_SIZE(reverse_loop, pixel_bytes, row, pixels);
}

INLINE void gather_loop(
    size_t bytes, const uint8_t *in, uint8_t *out, size_t pixels, const uint32_t *indices)
{
    for (size_t i = 0; i < pixels; i++)
        copy_pixel(out + i * bytes, in + indices[i] * bytes, bytes);
}

void darkroom_gather(
    const void *in, void *out, size_t pixels, size_t pixel_bytes, const uint32_t *indices)
{
    BY_PIXEL_SIZE(gather_loop, pixel_bytes, in, out, pixels, indices);
}

INLINE void columns_loop(
    size_t bytes, const uint8_t *picture, size_t width, size_t height, size_t first,
    ptrdiff_t step, int from_bottom, uint8_t *out, size_t out_rows)
{
    for (size_t y = 0; y < height; y++) {
        const uint8_t *in = picture + (y * width + first) * bytes;
        uint8_t *pixel = out + (from_bottom ? height - 1 - y : y) * bytes;
        for (size_t k = 0; k < out_rows; k++)
            copy_pixel(
                pixel + k * height * bytes, in + (ptrdiff_t)k * step * (ptrdiff_t)bytes, bytes);
    }
}

void darkroom_columns(
    const void *picture, size_t width, size_t height, size_t pixel_bytes, size_t first,
    ptrdiff_t step, int from_bottom, void *out, size_t out_rows)
{
    BY_PIXEL_SIZE(
        columns_loop, pixel_bytes, picture, width, height, first, step, from_bottom, out,
        out_rows);
}
