/*
 * Kernels for rows of pixels.
 *
 * A row holds `pixels` pixels of `channels` interleaved samples: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and
 * alpha. A sample is a uint8_t if `depth` is 8, and a uint16_t in the machine's byte order if it is 16. Rows
 * without gaps between them may be passed as one long row. Colour is not multiplied by alpha, except in rows
 * of floats.
 *
 * Rows of floats hold samples on the scale of their original depth (0…255 or 0…65535), or light from 0 to 1
 * if a transfer function was applied. If there is alpha, colour is multiplied by the alpha sample itself (not
 * divided by 255), which loses nothing.
 */
#ifndef CDARKROOM_PIXELS_H
#define CDARKROOM_PIXELS_H

#include <stdbool.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "darkroom_cpu.h"
#include "darkroom_unfilter.h"
#include "darkroom_choose.h"

/* ---- Colour (colour.c) ----------------------------------------------------------------------- */

/* Replaces RGB by `matrix` · RGB in place. The matrix is given row by row. 3 or 4 channels. */
void darkroom_matrix(
    void *samples, size_t pixels, int channels, int depth, const double matrix[9]);

/*
 * Converts RGB to gray: weights[0]·R + weights[1]·G + weights[2]·B + weights[3]; the last is on the scale of
 * the samples. `channels` are the input's, 3 or 4. The output has two fewer. `out` may be `in`.
 */
void darkroom_luma(
    const void *in, void *out, size_t pixels, int channels, int depth, const double weights[4]);

/* Converts gray to RGB. Each channel is the gray times its factor. `channels` are the input's, 1 or 2. */
void darkroom_tint(
    const void *in, void *out, size_t pixels, int channels, int depth, const double factors[3]);

/* Fills `table`, of 256 or 65536 samples of `depth` bits, with scale·v + offset for each v. */
void darkroom_affine_table(void *table, int depth, double scale, double offset);

/* Replaces the samples of channels `first`, …, `first + count - 1` by their values in `table`. */
void darkroom_map(
    void *samples, size_t pixels, int channels, int depth, int first, int count,
    const void *table);

/* ---- Tone (tone.c) --------------------------------------------------------------------------- */

/* Fills `table`, as above, with max · (v / max)^exponent for each v. */
void darkroom_power_table(void *table, int depth, double exponent);

/* Fills `table` with the nearest of `levels` evenly spaced samples, including 0 and the largest one: with n =
 * levels - 1 and k = v·n / max, rounded, it is k·max / n, rounded; halves are rounded up both times. */
void darkroom_level_table(void *table, int depth, uint32_t levels);

/*
 * Converts pixels to black and white: white if the luminance in ten thousandths of a sample, 2126·R + 7152·G
 * + 722·B or 10000·gray, is at least `least`. `channels` are the input's. The output is gray, with alpha if
 * the input has it. `out` may be `in`.
 */
void darkroom_threshold(
    const void *in, void *out, size_t pixels, int channels, int depth, uint32_t least);

/*
 * Lays pixels with alpha over one colour: (alpha·v + (max - alpha)·background) / max, rounded. `channels` are
 * the input's, 2 or 4. The output has one fewer. `out` may be `in`.
 */
void darkroom_flatten(
    const void *in, void *out, size_t pixels, int channels, int depth, const void *background);

/*
 * The factors of a vignette for one row: 1 - amount·s. s is the smooth step 3t² - 2t³ of t = (d - radius) /
 * softness, clamped to 0…1, and d is the distance of a pixel from the picture's centre, 1 in the corners.
 * `row` is twice the distance of the row from the centre in pixels, `size` is width² + height².
 */
void darkroom_vignette_row(
    double *factors, size_t width, double row, double size, double amount, double radius,
    double softness);

/* Multiplies the colour of each pixel by its factor, from 0 to 1. */
void darkroom_scale_row(
    void *row, size_t pixels, int channels, int depth, const double *factors);

/* ---- Two pictures (overlay.c) ---------------------------------------------------------------- */

/*
 * Lays pixels over others in place, with the operator `over` of Porter and Duff.
 *
 * `over` has the colour channels of `base` and alpha, with its own depth. With o for its alpha times
 * `opacity`, and b for the alpha of `base` (1 if it has none), all from 0 to 1, alpha becomes o + b·(1 - o)
 * and colour becomes (o·over + b·(1 - o)·base) divided by that, each rounded once. If o is 0, a pixel does
 * not change.
 */
void darkroom_over(
    void *base, int channels, int depth, const void *over, int over_depth, size_t pixels,
    double opacity);

/*
 * Counts the pixels at both ends of a row that look like the pixel at `corner`: no sample differs by more
 * than `tolerance`, or both are transparent. A row of only such pixels counts as left.
 */
void darkroom_border(
    const void *row, const void *corner, size_t pixels, int channels, int depth,
    uint32_t tolerance, size_t *left, size_t *right);

/* ---- Layout (layout.c) ----------------------------------------------------------------------- */

/*
 * Copies pixels into a layout with at least as many channels: gray becomes R, G and B, and missing alpha
 * becomes `alpha`.
 */
void darkroom_expand(
    const void *in, int in_channels, void *out, int out_channels, size_t pixels, int depth,
    uint16_t alpha);

/* Fills a row with copies of `pixel`. */
void darkroom_fill(void *out, size_t pixels, size_t pixel_bytes, const void *pixel);

/* Reverses the order of a row's pixels in place. */
void darkroom_reverse(void *row, size_t pixels, size_t pixel_bytes);

/* Writes for each output pixel the input pixel with the given index. */
void darkroom_gather(
    const void *in, void *out, size_t pixels, size_t pixel_bytes, const uint32_t *indices);

/*
 * Converts columns of a picture to rows.
 *
 * Output row k is column first + k·step (step is 1 or -1), read from the top, or from the bottom if
 * `from_bottom` is set. The picture has `height` rows of `width` pixels, so output rows have `height` pixels.
 */
void darkroom_columns(
    const void *picture, size_t width, size_t height, size_t pixel_bytes, size_t first,
    ptrdiff_t step, int from_bottom, void *out, size_t out_rows);

/* ---- Rows of floats (floats.c) --------------------------------------------------------------- */

/* Converts samples to floats. `light` has the value of each sample, or is NULL to use the sample itself. */
void darkroom_load(
    const void *in, float *out, size_t pixels, int channels, int depth, const float *light);

/*
 * Converts floats to samples: colour divided by alpha, rounded, clamped. If alpha rounds to 0, the colour is
 * not visible, and becomes 0.
 */
void darkroom_store(const float *in, void *out, size_t pixels, int channels, int depth);

/*
 * The same for floats that hold light.
 *
 * thresholds[k] is the least light that becomes the sample k, for k from 1 to the largest sample. starts[i],
 * for i from 0 to cells, is the sample of the light i / cells.
 */
void darkroom_store_light(
    const float *in, void *out, size_t pixels, int channels, int depth, const float *thresholds,
    const uint16_t *starts, uint32_t cells);

/* ---- Resampling (resample.c; from bytes, resample_8.c) ---------------------------------------- */

/*
 * Output pixel i is the sum of input pixels first[i], first[i] + 1, … times the weights from
 * weights[offsets[i]] up to weights[offsets[i + 1]] (exclusive).
 */
void darkroom_convolve(
    const float *in, float *out, size_t out_pixels, int channels, const uint32_t *first,
    const size_t *offsets, const float *weights);

/* out = the sum of rows[k] · weights[k], `samples` floats each. */
void darkroom_blend(
    const float *const *rows, const float *weights, size_t count, float *out, size_t samples);

/*
 * The same from rows of 8 bits, with weights in units of 2^-shift and exact sums. The sum of the absolute
 * values of the weights must be at most 2^23, so that sums fit 32 bits.
 */
void darkroom_blend_8(
    const uint8_t *const *rows, const int16_t *weights, size_t count, int shift, float *out,
    size_t samples);

/*
 * The two passes for rows of 8 bits without alpha and with short kernels (resample_8.c). The first one makes planes of
 * samples in units of 1/64, each `plane` samples after the one before. The sum of the weights is 2^shift, that of their
 * absolute values at most twice as much; `shift` is from 7 to 21.
 */
void darkroom_blend_planes_8(
    const uint8_t *const *rows, const int16_t *weights, size_t count, int shift, int16_t *out,
    size_t plane, size_t pixels, int channels);

/*
 * Pixel i of the result is the sum of the `taps` pixels from first[i] on, times the weights from weights[i * taps] on;
 * `taps` is a multiple of 16, and so many samples can be read from each first one. `shift` is at most 15.
 */
void darkroom_convolve_planes_8(
    const int16_t *in, size_t plane, const uint32_t *first, const int16_t *weights, size_t taps,
    int shift, uint8_t *out, size_t pixels, int channels);

/* ---- Blur (blur.c) --------------------------------------------------------------------------- */

/*
 * A symmetric convolution down the columns: out is a row of floats, weights[0] · rows[radius] +
 * the sum of weights[k] · (rows[radius - k] + rows[radius + k]).
 */
void darkroom_blur_columns(
    const void *const *rows, const float *weights, size_t radius, float *out, size_t pixels,
    int channels, int depth);

/* The same along a row of floats. `in` has `radius` more pixels at each end. `out` must not overlap it. */
void darkroom_blur_row(
    const float *in, const float *weights, size_t radius, float *out, size_t pixels, int channels);

/*
 * The two passes for rows of 8 bits without alpha, with integers (blur_8.c). Weights are in units of 2^-shift
 * with a sum of 1; `shift` is from 7 to 17. Between the passes, samples are in units of 1/64. The last pass
 * rounds, or returns the blurred samples as floats.
 */
void darkroom_blur_columns_8(
    const uint8_t *const *rows, const int16_t *weights, size_t radius, int shift, int16_t *out,
    size_t samples);
void darkroom_blur_row_8(
    const int16_t *in, const int16_t *weights, size_t radius, int shift, uint8_t *out,
    size_t pixels, int channels);
void darkroom_blur_row_8_unrounded(
    const int16_t *in, const int16_t *weights, size_t radius, int shift, float *out,
    size_t pixels, int channels);

/*
 * A Gaussian with a large sigma as a sum of cosines in a window of 2 `radius` + 1 pixels (blur_cosines.c has
 * the formula). `mean` is one divided by the window's width. With w = 2 pi (m + 1) / width, turns[m] is 2
 * cos(w), and gains[m] is cos((m + 1) pi) cos(w / 2) times the weight of the cosine.
 */
enum { DARKROOM_COSINES_FEW = 4, DARKROOM_COSINES_MANY = 8, DARKROOM_COSINE_ROWS = 4 };
struct darkroom_cosines {
    size_t radius;
    /* DARKROOM_COSINES_FEW or DARKROOM_COSINES_MANY. */
    size_t terms;
    double mean;
    double turns[DARKROOM_COSINES_MANY];
    double gains[DARKROOM_COSINES_MANY];
};

/* Makes the kernel whose centre is 1 / (2 radius + 1) · (1 + the sum of `weights`, one for each cosine). */
void darkroom_cosines_make(
    struct darkroom_cosines *kernel, size_t radius, const double *weights, size_t terms);

/*
 * The pass down the columns, DARKROOM_COSINE_ROWS rows at a time.
 *
 * `state` holds 2 + 2 · terms values for each sample; the number of samples is rounded up to a multiple of 4.
 * At the start, all rows in the window are `first`. A step moves the window down by four rows: for the k-th
 * of them, entering[k] enters at the bottom and leaving[k] leaves at the top. `out` gets, for each sample (as
 * many as in `state`), the values of the four rows. `state` and `out` are aligned to 32 bytes, and so are
 * `in` and `out` of the next function.
 */
void darkroom_cosine_start(
    double *state, const struct darkroom_cosines *kernel, const void *first, size_t pixels,
    int channels, int depth);
void darkroom_cosine_step(
    double *state, const struct darkroom_cosines *kernel, const void *const entering[4],
    const void *const leaving[4], double *out, size_t pixels, int channels, int depth);

/* The pass along four rows in the format of a step's output. Edge pixels are repeated beyond the edges. `out`
 * must not overlap `in`. */
void darkroom_cosine_rows(
    const double *in, const struct darkroom_cosines *kernel, double *out, size_t pixels,
    int channels);

/* One of four such rows, from 0 to 3, as floats. */
void darkroom_cosine_row(const double *in, size_t row, float *out, size_t samples);

/*
 * Unsharp mask: in + amount · (in − blurred) if they differ by more than `threshold` samples. Alpha does not
 * change. Pixels that are transparent, or whose blurred alpha is 0, do not change either.
 */
void darkroom_sharpen(
    const void *in, const float *blurred, void *out, size_t pixels, int channels, int depth,
    double amount, double threshold);

/* ---- Colour spaces ---- */

/* How RGB of a space with a curve for each channel and a matrix becomes RGB of another one with sRGB's curve. */
typedef struct darkroom_space darkroom_space;

/* `curves`: for each channel, the light of `count` values from 0 to 1 at equal distances, each from 0 to 1.
 * `matrix`: from the source's light to the result's, by rows.
 *
 * NULL if an element of the matrix has 4 or more or a row 8 or more, or without memory. Freed by `free`. */
darkroom_space *darkroom_space_new(const double *const curves[3], size_t count, const double matrix[9]);

/* Converts RGB or RGBA in place; alpha stays. */
void darkroom_convert_space(void *samples, size_t pixels, int channels, int depth, const darkroom_space *space);

/* Converts RGB or CMYK by a table: for `steps` values of each channel from 0 to the most, the last channel first, the red,
 * green and blue with 16 bits.
 *
 * `in_step`, `out_step`: the samples from one pixel to the next: of the colour and, in both, of alpha, which stays;
 * `channels`: those of the source's colour, 3 or 4. `out` may be `in` if `out_step` is not more than `in_step`. */
void darkroom_convert_table(
    const void *in, size_t in_step, void *out, size_t out_step, size_t pixels, int channels, int depth,
    const uint16_t *table, uint32_t steps);

#endif
