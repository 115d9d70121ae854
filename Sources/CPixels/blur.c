/* Gaussian blur by convolution (blur_cosines.c has the large ones), and the unsharp mask. */
#include "CDarkroomPixels.h"
#include "floats.h"
#include "samples.h"

#pragma STDC FP_CONTRACT OFF

/* The number of pixels whose sums are kept at a time, so that they stay in the first-level cache. */
enum { BLOCK = 256 };

/* sums += weight · (above + below), for samples from `first` on. */
INLINE void add_rows(
    int depth, int channels, const void *above, const void *below, size_t first, float weight,
    float *sums, size_t samples)
{
    size_t i = 0;
    for (; has_alpha(channels) && i + 8 <= samples; i += 8) {
        eight_floats a, b, sum;
        load_eight(depth, channels, above, first + i, &a);
        load_eight(depth, channels, below, first + i, &b);
        memcpy(&sum, sums + i, sizeof sum);
        sum += weight * (a + b);
        memcpy(sums + i, &sum, sizeof sum);
    }
    for (; i < samples; i++)
        sums[i] +=
            weight
            * (load_one(depth, channels, above, first + i)
               + load_one(depth, channels, below, first + i));
}

INLINE void blur_columns_loop(
    int depth, int channels, const void *const *rows, const float *weights, size_t radius,
    float *out, size_t pixels)
{
    const size_t samples = pixels * (size_t)channels;
    for (size_t begin = 0; begin < samples; begin += BLOCK * 4) {
        const size_t length = samples - begin < BLOCK * 4 ? samples - begin : BLOCK * 4;
        float sums[BLOCK * 4];
        load_samples(depth, channels, rows[radius], begin, sums, length);
        for (size_t i = 0; i < length; i++)
            sums[i] *= weights[0];
        for (size_t k = 1; k <= radius; k++)
            add_rows(
                depth, channels, rows[radius - k], rows[radius + k], begin, weights[k], sums,
                length);
        memcpy(out + begin, sums, length * sizeof *sums);
    }
}

BOTH(
    blur_columns,
    (const void *const *rows, const float *weights, size_t radius, float *out, size_t pixels,
     int channels, int depth),
    { BY_CHANNELS(blur_columns_loop, depth, channels, rows, weights, radius, out, pixels); })

void darkroom_blur_columns(
    const void *const *rows, const float *weights, size_t radius, float *out, size_t pixels,
    int channels, int depth)
{
    BEST(blur_columns, rows, weights, radius, out, pixels, channels, depth);
}

INLINE void blur_row_loop(
    const float *in, const float *weights, size_t radius, float *out, size_t pixels, int channels)
{
    const size_t samples = pixels * (size_t)channels;
    const float *centre = in + radius * (size_t)channels;
    for (size_t begin = 0; begin < samples; begin += BLOCK * 4) {
        const size_t length = samples - begin < BLOCK * 4 ? samples - begin : BLOCK * 4;
        float sums[BLOCK * 4];
        for (size_t i = 0; i < length; i++)
            sums[i] = weights[0] * centre[begin + i];
        for (size_t k = 1; k <= radius; k++) {
            const float *left = centre + begin - k * (size_t)channels;
            const float *right = centre + begin + k * (size_t)channels;
            const float weight = weights[k];
            for (size_t i = 0; i < length; i++)
                sums[i] += weight * (left[i] + right[i]);
        }
        memcpy(out + begin, sums, length * sizeof *sums);
    }
}

BOTH(
    blur_row,
    (const float *in, const float *weights, size_t radius, float *out, size_t pixels,
     int channels),
    { blur_row_loop(in, weights, radius, out, pixels, channels); })

void darkroom_blur_row(
    const float *in, const float *weights, size_t radius, float *out, size_t pixels, int channels)
{
    BEST(blur_row, in, weights, radius, out, pixels, channels);
}

INLINE void sharpen_loop(
    int depth, int channels, const void *in, const float *blurred, void *out, size_t pixels,
    double amount, double threshold)
{
    const double max = full_scale(depth);
    const int colours = has_alpha(channels) ? channels - 1 : channels;
    for (size_t i = 0; i < pixels; i++) {
        const size_t at = i * (size_t)channels;
        const uint32_t own_alpha =
            has_alpha(channels) ? sample_at(in, at + (size_t)colours, depth) : 1;
        const double alpha = has_alpha(channels) ? blurred[at + (size_t)colours] : 1;
        const int visible = own_alpha > 0 && alpha > 0;
        for (int c = 0; c < colours; c++) {
            const uint32_t v = sample_at(in, at + (size_t)c, depth);
            const double difference = visible ? v - blurred[at + (size_t)c] / alpha : 0;
            const int applies = difference > threshold || -difference > threshold;
            put_sample(
                out, at + (size_t)c, depth,
                applies ? rounded(v + amount * difference, max) : v);
        }
        if (has_alpha(channels))
            put_sample(out, at + (size_t)colours, depth, own_alpha);
    }
}

/* The same for RGBA, a pixel at a time. */
INLINE void sharpen_pixels(
    int depth, const void *in, const float *blurred, void *out, size_t pixels, double amount,
    double threshold)
{
    const double max = full_scale(depth);
    const four_numbers colours = {-1, -1, -1, 0};
    for (size_t at = 0; at < 4 * pixels; at += 4) {
        four_numbers pixel;
        read_pixel(in, at, depth, &pixel);
        four_floats blur;
        memcpy(&blur, blurred + at, sizeof blur);
        if (pixel[3] > 0 && blur[3] > 0) {
            const double alpha = blur[3];
            const four_doubles v = __builtin_convertvector(pixel, four_doubles);
            const four_doubles difference = v - __builtin_convertvector(blur, four_doubles) / alpha;
            const four_doubles sharp = v + amount * difference;
            four_numbers samples;
            rounded_four(&sharp, max, &samples);
            const four_masks applies = (difference > threshold) | (-difference > threshold);
            const four_numbers changed =
                __builtin_convertvector(applies, four_numbers) & colours;
            pixel = (samples & changed) | (pixel & ~changed);
        }
        write_pixel(out, at, depth, &pixel);
    }
}

INLINE void sharpen_row(
    int depth, int channels, const void *in, const float *blurred, void *out, size_t pixels,
    double amount, double threshold)
{
    if (channels == 4)
        sharpen_pixels(depth, in, blurred, out, pixels, amount, threshold);
    else
        sharpen_loop(depth, channels, in, blurred, out, pixels, amount, threshold);
}

/*
 * 8 bits without alpha, in float. Values reach 255 times `amount`, and the error is 2^-22 of that. It could
 * change a sample only if the value is that close to a tie.
 */
INLINE void sharpen_bytes(
    const uint8_t *in, const float *blurred, uint8_t *out, size_t samples, float amount,
    float threshold)
{
    for (size_t i = 0; i < samples; i++) {
        const float v = in[i];
        const float difference = v - blurred[i];
        float sharp = v + amount * difference;
        sharp = sharp > 0 ? sharp : 0;
        sharp = sharp < 255 ? sharp : 255;
        const int applies = difference > threshold || -difference > threshold;
        out[i] = (uint8_t)(int32_t)((applies ? sharp : v) + 0.5F);
    }
}

BOTH(
    sharpen_8,
    (const uint8_t *in, const float *blurred, uint8_t *out, size_t samples, float amount,
     float threshold),
    { sharpen_bytes(in, blurred, out, samples, amount, threshold); })

BOTH(
    sharpen,
    (const void *in, const float *blurred, void *out, size_t pixels, int channels, int depth,
     double amount, double threshold),
    { BY_CHANNELS(sharpen_row, depth, channels, in, blurred, out, pixels, amount, threshold); })

void darkroom_sharpen(
    const void *in, const float *blurred, void *out, size_t pixels, int channels, int depth,
    double amount, double threshold)
{
    if (depth == 8 && !has_alpha(channels)) {
        const size_t samples = pixels * (size_t)channels;
        BEST(sharpen_8, in, blurred, out, samples, (float)amount, (float)threshold);
        return;
    }
    BEST(sharpen, in, blurred, out, pixels, channels, depth, amount, threshold);
}
